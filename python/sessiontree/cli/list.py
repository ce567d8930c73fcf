"""`sessiontree list`."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..elyra import SessionManager
from ..elyra.paths import absolute_cwd, pi_agent_dir, store
from . import DONE
from ._output import add_json_arguments, print_json, wants_json
from ._progress import progress
from ._sessions import print_sessions
from ._text import visible

if TYPE_CHECKING:
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
    "name": (lambda info: (info.name or info.first_message).casefold(), False),
}
"""By what to sort, and whether the greatest comes first."""

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `list` takes."""
    parser.set_defaults(run=run)
    parser.add_argument("--all", action="store_true", help="the sessions of all projects")
    parser.add_argument("--sort", choices=_SORTS, default="modified", help="by what to sort (modified)")
    parser.add_argument(
        "--limit", type=_count, metavar="N", help="at most N sessions, 0 for all (as many as the terminal has lines)"
    )
    when = "2026-01-31, 2026-01-31T12:00 (local time, unless it has a zone) or an age: 90m, 12h, 7d, 2w"
    parser.add_argument("--since", type=_since, metavar="WHEN", help=f"modified then or later: {when}")
    parser.add_argument("--until", type=_until, metavar="WHEN", help="modified before then; of a date, to its end")
    add_json_arguments(parser, "session")


def run(arguments: argparse.Namespace) -> int:
    """List, and print."""
    infos = _chosen(_listed(arguments), arguments)
    if wants_json(arguments):
        print_json(arguments, (info.to_dict() for info in infos[: arguments.limit or None]))
        return DONE
    shown = infos[: _limit(arguments)]
    print_sessions(shown)
    if len(shown) < len(infos):
        print(f"{len(infos) - len(shown):,} more: --limit 0 lists them", file=sys.stderr)
    if not infos:
        _explain_none(arguments)
    return DONE


def _listed(arguments: argparse.Namespace) -> list[SessionInfo]:
    where = {"session_dir": arguments.session_dir, "agent_dir": arguments.agent_dir}
    with progress("Reading") as on_progress:
        if arguments.all:
            return SessionManager.list_all(on_progress, **where)
        return SessionManager.list(arguments.cwd, on_progress=on_progress, **where)


def _chosen(infos: list[SessionInfo], arguments: argparse.Namespace) -> list[SessionInfo]:
    key, descending = _SORTS[arguments.sort]
    since, until = arguments.since, arguments.until
    chosen = (info for info in infos if (not since or info.modified >= since) and (not until or info.modified < until))
    return sorted(chosen, key=key, reverse=descending)


def _limit(arguments: argparse.Namespace) -> int | None:
    if arguments.limit is None and sys.stdout.isatty():
        return max(10, shutil.get_terminal_size().lines - 3)  # the head, the note below, the prompt
    return arguments.limit or None


def _explain_none(arguments: argparse.Namespace) -> None:
    """Says where was looked, and where else there may be some."""
    layout, folder = store(arguments.session_dir, arguments.agent_dir)
    whose = "" if arguments.all else f" of {absolute_cwd(arguments.cwd)}"
    hint = "" if arguments.all else " (--all lists every project's)"
    if layout == "agent" and arguments.agent_dir is None and not folder.exists() and pi_agent_dir().exists():
        hint = f"; pi's are in {pi_agent_dir()}: add --pi"
    print(visible(f"no sessions{whose} in {folder}{hint}"), file=sys.stderr)


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{text}: expected 0 or more")
    return count


def _since(text: str) -> datetime:
    return _time(text, end_of_day=False)


def _until(text: str) -> datetime:
    return _time(text, end_of_day=True)


def _time(text: str, *, end_of_day: bool) -> datetime:
    try:
        age = re.fullmatch(r"(\d+)([mhdw])", text)
        if age:
            return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
        time = datetime.fromisoformat(text).astimezone()
        return time + timedelta(days=1) if end_of_day and re.fullmatch(r"\d{4}-?\d\d-?\d\d", text) else time
    except (ValueError, OverflowError) as error:
        expected = "expected a date, a time, or an age such as 90m, 12h, 7d, 2w"
        raise argparse.ArgumentTypeError(f"{text!r}: {expected}") from error
