"""`sessiontree delete`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..elyra import SessionManager
from . import DONE, FAILED, fail
from ._arguments import add_json_arguments, add_session_arguments
from ._asking import can_ask, is_agreed
from ._find import find
from ._output import count, note, print_json, wants_json
from ._table import width
from ._text import cut, one_line, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from .._native import SessionInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `delete` takes."""
    parser.set_defaults(run=run)
    parser.description = (
        "Move sessions to the trash, or remove them where there is none; prints `trashed` or `removed`, and the path."
    )
    add_session_arguments(parser, nargs="+")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json_arguments(parser, "deleted session")


def run(arguments: argparse.Namespace) -> int:
    """Find all of them, ask, and delete."""
    if not arguments.yes and not can_ask():
        raise ValueError("there is no terminal to ask on: --yes deletes all the same")
    found = [find(arguments, name) for name in arguments.sessions]
    infos = list({info.path: info for info in found}.values())
    if not arguments.yes and not _is_agreed(infos):
        note("nothing was deleted")
        return FAILED
    failures: list[OSError] = []
    rows = _deleted(infos, failures)
    if wants_json(arguments):
        print_json(arguments, rows)
    else:
        for row in rows:
            print(visible(f"{row['result']} {row['path']}"))
    for error in failures:
        fail(error, FAILED)
    return FAILED if failures else DONE


def _deleted(infos: Iterable[SessionInfo], failures: list[OSError]) -> Iterator[dict[str, Any]]:
    """Delete each, and tell how; what fails does not keep the others."""
    for info in infos:
        try:
            result = SessionManager.delete(str(info.path))
        except OSError as error:
            failures.append(error)
        else:
            yield {"path": str(info.path), "id": info.id, "result": result}


def _is_agreed(infos: list[SessionInfo]) -> bool:
    """Show what is to go, and ask."""
    for info in infos:
        title = cut(one_line(info.name or info.first_message, width()), width() // 2)
        print(visible(f"{title}  {info.path}"), file=sys.stderr)
    return is_agreed(f"Delete {count(len(infos), 'session')}?")
