"""`sessiontree check`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from .._scan import scan, scan_sources
from ..elyra.paths import store
from . import DAMAGED, DONE, NO_SUCH_SESSION, _documents, fail
from ._arguments import add_json_arguments, add_where_arguments
from ._output import explain_none, note, print_json, wants_json
from ._progress import progress
from ._reports import print_reports, summary

if TYPE_CHECKING:
    import argparse

    from .._scan import Scan
    from .._types import OnProgress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `check` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "Exits with 4 when a file is damaged; notes on what whole files say do not count."
    parser.add_argument("files", metavar="FILE", nargs="*", help="session files or folders of them (the whole store)")
    add_json_arguments(parser, "report")
    add_where_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read everything, and print what is wrong."""
    if arguments.files and (arguments.agent_dir or arguments.session_dir):
        raise ValueError("FILE names what to check: it goes without --agent-dir, --pi and --session-dir")
    there = [file for file in arguments.files if _exists(file)]
    start = time.perf_counter()
    with progress("Checking") as on_progress:
        checked = _scan(arguments, there, on_progress)
    seconds = time.perf_counter() - start
    if wants_json(arguments):
        print_json(arguments, (damage.to_dict() for damage in checked.damage))
    else:
        print_reports(checked.damage)
    if checked or checked.damage or arguments.files:
        note(summary(checked, checked.damage, seconds))
    else:
        explain_none(arguments)
    if not all(damage.is_note for damage in checked.damage):
        return DAMAGED
    return DONE if len(there) == len(arguments.files) else NO_SUCH_SESSION


def _exists(file: str) -> bool:
    """Whether there is such a file or folder; if not, says so: the others are to be checked all the same."""
    try:
        Path(file).stat()
    except OSError as error:
        fail(error, NO_SUCH_SESSION)
        return False
    return True


def _scan(arguments: argparse.Namespace, files: list[str], on_progress: OnProgress | None) -> Scan:
    if arguments.files:
        return scan(files, on_progress=on_progress)
    sources = [store(arguments.session_dir, arguments.agent_dir)]
    folder = _documents.sessions_folder(arguments)
    if folder is not None:
        sources.append(("replio", folder))
    return scan_sources(sources, on_progress=on_progress)
