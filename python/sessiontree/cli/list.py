"""`sessiontree list`."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..elyra.paths import absolute_cwd
from . import DONE
from ._arguments import add_catalogue_argument, add_json_arguments, add_where_arguments, at_least
from ._find import listed_of_any_format
from ._output import count, explain_none, note, print_json, wants_json
from ._sessions import print_sessions
from ._text import one_line
from ._times import WHEN, since, until

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from .._native import SessionInfo

_SORTS: dict[str, tuple[Callable[[SessionInfo], Any], bool]] = {
    "modified": (lambda info: info.modified, True),
    "created": (lambda info: info.created or datetime.min.replace(tzinfo=UTC), True),
    "messages": (lambda info: info.message_count, True),
    "tokens": (lambda info: info.usage.total_tokens, True),
    "cost": (lambda info: info.usage.cost_total, True),
    "size": (lambda info: info.size_bytes, True),
    "project": (lambda info: info.cwd, False),
    "name": (lambda info: one_line(info.name or info.first_message, 80).casefold(), False),
}
"""By what to sort, and whether the greatest comes first."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `list` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "The Replio sessions of the folder's project are listed, too."
    parser.add_argument("--sort", choices=_SORTS, default="modified", help="by what to sort (modified)")
    limit = "at most N sessions, 0 for all (on a terminal: as many as it has lines)"
    parser.add_argument("--limit", type=at_least(0), metavar="N", help=limit)
    parser.add_argument("--since", type=since, metavar="WHEN", help=f"modified then or later: {WHEN}")
    parser.add_argument("--until", type=until, metavar="WHEN", help="modified before then; of a date, to its end")
    add_json_arguments(parser, "session")
    add_catalogue_argument(parser)
    add_where_arguments(parser, all_projects="the sessions of all projects")


def run(arguments: argparse.Namespace) -> int:
    """List, and print."""
    infos = listed_of_any_format(arguments)
    chosen = _chosen(infos, arguments)
    if wants_json(arguments):
        print_json(arguments, (info.to_dict() for info in chosen[: arguments.limit or None]))
    else:
        _show(chosen, arguments)
    if not infos:
        _explain_none(arguments)
    elif not chosen:
        note(f"none of {count(len(infos), 'session')} was modified then")
    return DONE


def _chosen(infos: list[SessionInfo], arguments: argparse.Namespace) -> list[SessionInfo]:
    key, descending = _SORTS[arguments.sort]
    start, end = arguments.since, arguments.until
    chosen = (info for info in infos if (not start or info.modified >= start) and (not end or info.modified < end))
    return sorted(chosen, key=key, reverse=descending)


def _show(infos: list[SessionInfo], arguments: argparse.Namespace) -> None:
    limit = arguments.limit
    if limit is None and sys.stdout.isatty():
        limit = max(5, shutil.get_terminal_size().lines - 3)  # the head, the note below, the prompt
    shown = infos[: limit or None]
    print_sessions(shown)
    notes: list[str] = []
    if len(shown) < len(infos):
        notes.append(f"{len(infos) - len(shown):,} more: --limit 0 lists them")
    if any(info.damage_count for info in shown):
        notes.append("! is damaged: sessiontree check tells where")
    if notes:
        note("; ".join(notes))


def _explain_none(arguments: argparse.Namespace) -> None:
    if arguments.all:
        explain_none(arguments)
    else:
        explain_none(arguments, f" of {absolute_cwd(arguments.cwd)}", " (--all lists every project's)")
