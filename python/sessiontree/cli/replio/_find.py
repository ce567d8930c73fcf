"""A project's store, and its sessions by the names that users give them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ... import _native
from ...elyra.paths import absolute
from ...errors import AmbiguousSessionError, InvalidNameError, SessionNotFoundError
from ...replio import ReplioStore

if TYPE_CHECKING:
    import argparse

_SUFFIX = ".json"


def open_store(arguments: argparse.Namespace) -> ReplioStore:
    """The store of the project that the arguments name; its folder is made when a session is saved.

    A folder is a project whatever `*.json` files lie in it: most projects have some that are no sessions.

    Raises:
        FileNotFoundError: There is no such project.
        NotADirectoryError: It is no folder.
    """
    folder = absolute(arguments.cwd)
    folder = _native.replio_sessions_folder(folder) or folder / ".replio/sessions"
    return ReplioStore(folder, make_folder=False)


def find(store: ReplioStore, name: str) -> str:
    """The name of the session that goes by that name, by a start of it, or by its file's path.

    A whole name wins over the starts of others.

    Raises:
        InvalidNameError: No session can have such a name.
        SessionNotFoundError: There is none.
        AmbiguousSessionError: It is the start of several.
    """
    if not name:
        raise InvalidNameError("the name is empty: expected a name, or the start of one")
    names = store.list()
    if name in names:
        return name
    of_file = _of_file(store, name)
    if of_file is not None:
        if of_file in names:
            return of_file
        raise not_found(of_file)
    starts = [one for one in names if one.startswith(name)]
    if len(starts) == 1:
        return starts[0]
    path = store.path_of(name)
    if starts:
        reason = f"{name!r} is the start of {len(starts):,} sessions' names"
        raise AmbiguousSessionError(reason, candidates=tuple(path.with_name(one + _SUFFIX) for one in starts))
    raise not_found(name)


def not_found(name: str) -> SessionNotFoundError:
    """The error, in Replio's words."""
    return SessionNotFoundError(f"Session not found: {name}")


def _of_file(store: ReplioStore, text: str) -> str | None:
    """The name that a path means; None if it is no path of a session's file in the store."""
    path = Path(text)
    is_there = path.suffix == _SUFFIX and path.parent.resolve() == store.sessions_dir.resolve()
    return path.name.removesuffix(_SUFFIX) if is_there else None
