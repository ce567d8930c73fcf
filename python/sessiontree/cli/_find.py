"""Sessions and entries by the names that users give them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import errors
from ..elyra import SessionManager
from ..elyra.paths import absolute_cwd, store
from . import DAMAGED, DONE
from ._arguments import where
from ._output import count, point_to_pi
from ._progress import progress
from ._text import visible

if TYPE_CHECKING:
    import argparse

    from .._native import SessionInfo

_CANDIDATES = 20
"""How many are listed of what a name fits."""


def find(arguments: argparse.Namespace, name: str, *, everywhere: bool = False) -> SessionInfo:
    """The session of that name.

    Args:
        arguments: Where to look.
        name: Its path, its id, or a unique prefix of its id.
        everywhere: Look in all projects where this one has no such session.

    Raises:
        SessionNotFoundError: There is none.
        AmbiguousSessionError: There are several.
        FormatError: The file that is named is no session.
        ValueError: The name is empty.
    """
    cwd = None if arguments.all else arguments.cwd
    options = _options(arguments)
    with progress("Reading"):
        try:
            return SessionManager.find(name, cwd, **options)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise errors.SessionNotFoundError(error.strerror or "no such file", Path(name)) from error
        except errors.SessionNotFoundError as error:
            if not everywhere or error.other_project is None:
                raise
            return SessionManager.find(name, **options)


def find_or_newest(arguments: argparse.Namespace) -> SessionInfo:
    """The session that the arguments name, or without a name the newest.

    Raises:
        SessionNotFoundError: There is none.
        AmbiguousSessionError: There are several of that name.
        FormatError: The file that is named is no session.
        ValueError: The name is empty.
    """
    if arguments.session is not None:
        return find(arguments, arguments.session)
    infos = listed(arguments)
    if infos:
        return infos[0]
    whose = "" if arguments.all else f" of {absolute_cwd(arguments.cwd)}"
    _, folder = store(**where(arguments))
    raise errors.SessionNotFoundError(f"no sessions{whose} in {folder}")


def listed(arguments: argparse.Namespace) -> list[SessionInfo]:
    """The sessions of this project, or of all, newest first."""
    options = _options(arguments)
    with progress("Reading") as on_progress:
        if arguments.all:
            return SessionManager.list_all(on_progress, **options)
        return SessionManager.list(arguments.cwd, on_progress=on_progress, **options)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """What listing and finding take by keyword."""
    return {**where(arguments), "catalogue": arguments.catalogue}


def open_session(info: SessionInfo, leaf: str | None = None) -> SessionManager:
    """Open a session for reading.

    Args:
        info: The session.
        leaf: The entry to stand at, by its id or a unique prefix of it; None for the session's own leaf.

    Raises:
        EntryNotFoundError: It has no such entry, or several.
    """
    with progress("Reading"):
        session = SessionManager.open(info.path, read_only=True)
        if leaf is not None:
            session.branch(entry_id(session, leaf))
        return session


def entry_id(session: SessionManager, name: str) -> str:
    """The id of the entry that has it, or whose id alone starts so.

    Raises:
        EntryNotFoundError: There is none, or there are several.
        ValueError: The name is empty.
    """
    if not name:
        raise ValueError("ENTRY is empty: expected an id, or the start of one")
    if session.get_entry(name) is not None:
        return name
    ids = {entry.id: None for entry in session.get_entries() if entry.id is not None and entry.id.startswith(name)}
    if len(ids) == 1:
        return next(iter(ids))
    reason = f"no entry has the id {name!r}, or one that begins so"
    if ids:
        listed = ", ".join(list(ids)[:_CANDIDATES]) + ", …" * (len(ids) > _CANDIDATES)
        reason = f"{name!r} is the start of {len(ids):,} entries' ids: {listed}"
    raise errors.EntryNotFoundError(reason, session.get_session_file(), entry_id=name)


def read_code(info: SessionInfo) -> int:
    """The exit code after reading a session; tells how much damage it has, if any."""
    if not info.damage_count:
        return DONE
    said = f"{info.path}: {count(info.damage_count, 'report')} of damage (sessiontree check tells where)"
    print(f"sessiontree: {visible(said)}", file=sys.stderr)
    return DAMAGED


def explain_not_found(error: errors.SessionError, arguments: argparse.Namespace) -> None:
    """Tell on standard error what else there is."""
    if isinstance(error, errors.AmbiguousSessionError):
        for path in error.candidates:
            if str(path) not in error.reason:
                print(f"  {visible(str(path))}", file=sys.stderr)
    elif isinstance(error, errors.SessionNotFoundError) and "agent_dir" in arguments:
        if error.other_project is None:
            point_to_pi(arguments)
        else:
            print("sessiontree: --all finds sessions of other projects, too", file=sys.stderr)
