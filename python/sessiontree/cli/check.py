"""`sessiontree check`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from .._scan import scan, scan_sources
from ..elyra.paths import store
from . import DAMAGED, DONE
from ._output import add_json_arguments, print_json, wants_json
from ._progress import progress
from ._sessions import amount
from ._text import visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from .._scan import Scan
    from ..errors import Damage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `check` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "Exits with 4 when a file is damaged; notes on what whole files say do not count."
    parser.add_argument("files", metavar="FILE", nargs="*", help="session files or folders of them (the whole store)")
    add_json_arguments(parser, "report")


def run(arguments: argparse.Namespace) -> int:
    """Read everything, and print what is wrong."""
    start = time.perf_counter()
    with progress("Checking") as on_progress:
        if arguments.files:
            checked = scan(arguments.files, on_progress=on_progress)
        else:
            checked = scan_sources([store(arguments.session_dir, arguments.agent_dir)], on_progress=on_progress)
    if wants_json(arguments):
        print_json(arguments, (damage.to_dict() for damage in checked.damage))
    else:
        print_damage(checked.damage)
        if sys.stderr.isatty():
            print(_summary(checked, time.perf_counter() - start), file=sys.stderr)
    return DONE if all(damage.is_note for damage in checked.damage) else DAMAGED


def print_damage(damage: Iterable[Damage]) -> None:
    """Print a line a report: `path:line: kind: reason`."""
    for report in damage:
        place = visible(str(report.path)) + (f":{report.line}" if report.line is not None else "")
        print(f"{place}: {report.kind}: {visible(report.reason)}")


def counts(damage: Iterable[Damage]) -> str:
    """How many reports of each kind there are, in words."""
    kinds = Counter(report.kind for report in damage)
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()) or "none"


def _summary(checked: Scan, seconds: float) -> str:
    size = amount(sum(info.size_bytes for info in checked))
    return f"{len(checked):,} sessions, {size}B in {seconds:.2f} s; reports: {counts(checked.damage)}"
