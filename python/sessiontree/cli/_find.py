"""Sessions and entries by the names that users give them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import errors
from .._listing import list_sessions, session_at
from ..elyra import SessionManager
from ..elyra.paths import absolute_cwd, store
from . import DAMAGED, DONE, _documents
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


def find_of_any_format(arguments: argparse.Namespace, name: str) -> SessionInfo:
    """As `find`, of Replio's sessions, too: these by path, by name, or by a unique prefix of it.

    Raises:
        SessionNotFoundError: There is none.
        AmbiguousSessionError: There are several.
        FormatError: The file that is named is no session.
        ValueError: The name is empty.
    """
    if name.endswith(_documents.SUFFIX):
        return _at(Path(name), arguments)
    folder = _documents.sessions_folder(arguments)
    files = _documents.named(folder, name) if folder is not None and name else []
    is_whole = [file.stem for file in files] == [name]
    try:
        found = find(arguments, name)
    except (errors.SessionNotFoundError, errors.AmbiguousSessionError) as error:
        if not files or (isinstance(error, errors.AmbiguousSessionError) and not is_whole):
            raise
        found = None
    if found is not None and (found.id == name or not is_whole):
        if not files:
            return found
        files.insert(0, found.path)
    if len(files) > 1:
        shown = ", ".join(map(str, files))
        raise errors.AmbiguousSessionError(f"{name!r} may be any of several sessions: {shown}", candidates=tuple(files))
    return _at(files[0], arguments)


def _at(path: Path, arguments: argparse.Namespace) -> SessionInfo:
    try:
        return session_at(path, arguments.catalogue)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise errors.SessionNotFoundError(error.strerror or "no such file", path) from error


def find_or_newest(arguments: argparse.Namespace, *, of_any_format: bool = False) -> SessionInfo:
    """The session that the arguments name, or without a name the newest.

    Args:
        arguments: Which session, and where to look.
        of_any_format: Take Replio's sessions, too.

    Raises:
        SessionNotFoundError: There is none.
        AmbiguousSessionError: There are several of that name.
        FormatError: The file that is named is no session.
        ValueError: The name is empty.
    """
    if arguments.session is not None:
        return (find_of_any_format if of_any_format else find)(arguments, arguments.session)
    infos = listed_of_any_format(arguments) if of_any_format else listed(arguments)
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


def listed_of_any_format(arguments: argparse.Namespace) -> list[SessionInfo]:
    """As `listed`, with the Replio sessions of the project."""
    infos = listed(arguments)
    folder = _documents.sessions_folder(arguments)
    if folder is None:
        return infos
    with progress("Reading") as on_progress:
        infos += list_sessions(("replio", folder), on_progress, catalogue=arguments.catalogue)
    infos.sort(key=lambda info: info.path)
    return sorted(infos, key=lambda info: info.modified, reverse=True)


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
