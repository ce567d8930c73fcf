"""`sessiontree replio check`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._scan import scan_sources
from ...errors import AmbiguousSessionError, SessionNotFoundError
from .. import DAMAGED, DONE, NO_SUCH_SESSION, fail
from .._arguments import add_json_arguments
from .._find import explain_not_found
from .._output import note, print_json, wants_json
from .._progress import progress
from .._reports import print_reports, summary
from ._arguments import add_name_argument
from ._find import find, open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ..._types import Layout, StrPath
    from ...errors import Damage
    from ...replio import DanglingLink, ReplioStore


@dataclass(frozen=True, slots=True)
class _LinkReport:
    """A link that leads nowhere, as a report: a note on what a whole file says."""

    path: Path
    link: DanglingLink
    kind = "link"
    line = None
    is_note = True

    @property
    def reason(self) -> str:
        return f"{self.link.key} names {self.link.missing!r}: there is no such session"

    def to_dict(self) -> dict[str, Any]:
        place = {"kind": self.kind, "path": str(self.path), "line": None, "offset": None, "reason": self.reason}
        return place | self.link.to_dict()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `check` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "Exits with 4 when a file is damaged; links that lead nowhere do not count."
    add_name_argument(parser, nargs="*")
    add_json_arguments(parser, "report")


def run(arguments: argparse.Namespace) -> int:
    """Read everything, and print what is wrong."""
    store = open_store(arguments)
    names = list(_found(store, arguments))
    start = time.perf_counter()
    with progress("Checking") as on_progress:
        checked = scan_sources(_sources(store, arguments, names), on_progress=on_progress)
        links = [
            _LinkReport(store.sessions_dir / f"{link.session}.json", link)
            for link in store.dangling()
            if not arguments.names or link.session in names
        ]
    reports: list[Damage | _LinkReport] = sorted([*checked.damage, *links], key=lambda report: report.path)
    if wants_json(arguments):
        print_json(arguments, (report.to_dict() for report in reports))
    else:
        print_reports(reports)
    if checked or reports or arguments.names:
        note(summary(checked, reports, time.perf_counter() - start))
    else:
        note(f"no sessions in {store.sessions_dir}")
    if not all(report.is_note for report in reports):
        return DAMAGED
    return DONE if len(names) == len(arguments.names) else NO_SUCH_SESSION


def _found(store: ReplioStore, arguments: argparse.Namespace) -> Iterator[str]:
    """The sessions that were named; says of which there are none: the others are to be checked all the same."""
    for name in arguments.names:
        try:
            yield find(store, name)
        except (SessionNotFoundError, AmbiguousSessionError) as error:
            fail(error, NO_SUCH_SESSION)
            explain_not_found(error, arguments)


def _sources(store: ReplioStore, arguments: argparse.Namespace, names: Iterable[str]) -> list[tuple[Layout, StrPath]]:
    if arguments.names:
        return [("any", store.path_of(name)) for name in names]
    return [("replio", store.sessions_dir)]
