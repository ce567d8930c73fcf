"""Reports of what is wrong, as `check` prints them."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from ._output import amount, count, styled
from ._text import visible
from ._times import took

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from .._native import SessionInfo


class Report(Protocol):
    """What is told of something wrong; a `Damage`, say."""

    @property
    def kind(self) -> str:
        """What is wrong, in a word."""
        ...

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def line(self) -> int | None:
        """The line's number, from 1; None for the file as a whole."""
        ...

    @property
    def reason(self) -> str:
        """What was found, in words."""
        ...

    @property
    def is_note(self) -> bool:
        """Whether the file itself is whole."""
        ...


def print_reports(reports: Iterable[Report]) -> None:
    """Print `path:line: kind: reason`; on a terminal, each path once, and what it is about below."""
    if not sys.stdout.isatty():
        for report in reports:
            place = f"{report.path}" if report.line is None else f"{report.path}:{report.line}"
            print(visible(f"{place}: {report.kind}: {report.reason}"))
        return
    for path, of_path in groupby(reports, key=lambda report: report.path):
        print(styled(visible(str(path)), "1"))
        for report in of_path:
            print(visible(f"  {report.line or '':>5}  {report.kind:8}  {report.reason}"))


def counts(reports: Iterable[Report]) -> str:
    """How many reports of each kind there are, in words: `damage: 3 line, 1 bytes; notes: none`."""
    damages: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for report in reports:
        (notes if report.is_note else damages)[report.kind] += 1
    return f"damage: {_counted(damages)}; notes: {_counted(notes)}"


def summary(infos: Sequence[SessionInfo], reports: Iterable[Report], seconds: float) -> str:
    """What was checked, how long that took, and what came of it, on one line."""
    size = amount(sum(info.size_bytes for info in infos))
    return f"{count(len(infos), 'session')}, {size}B, in {took(seconds)}; {counts(reports)}"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) or "none"
