"""Finding one session by path, id, or the start of its id; and deleting it.

Rule: Elyra session format, "Deleting Sessions"; docs/sessions.md, "Finding and deleting".
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from .. import _native
from .._listing import session_at
from ..errors import AmbiguousSessionError, FormatError, InvalidNameError, SessionNotFoundError
from . import paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._types import Layout, StrPath

Deleted: TypeAlias = Literal["trashed", "removed"]
"""What became of a deleted file."""


class Found(NamedTuple):
    """A session, by its header alone."""

    path: Path
    id: str
    cwd: str
    modified_ns: int


def headers(source: tuple[Layout, Path]) -> list[Found]:
    """All sessions there."""
    return [Found(*row) for row in _native.find_headers([source])]


def of_project(cwd: StrPath, session_dir: StrPath | None, agent_dir: StrPath | None) -> list[Found]:
    """The sessions of one project."""
    wanted = paths.absolute_cwd(cwd)
    source, is_own = paths.project_source(cwd, session_dir, agent_dir)
    return [found for found in headers(source) if paths.belongs(found.cwd, wanted, is_own=is_own)]


def locate(name: StrPath, cwd: StrPath | None, session_dir: StrPath | None, agent_dir: StrPath | None) -> Path:
    """The file of the session that goes by that name.

    Raises:
        InvalidNameError: The name is empty.
        FileNotFoundError: It is a path, and nothing is there.
        FormatError: It is a path, and no session is there.
        SessionNotFoundError: No session has such an id.
        AmbiguousSessionError: Several have.
    """
    text = os.fspath(name)
    if not text:
        raise InvalidNameError("the name is empty: expected a path, an id, or the start of an id")
    if not isinstance(name, str) or "/" in text or "\\" in text or text.endswith(".jsonl"):
        return _at(Path(text))
    everywhere = paths.store(session_dir, agent_dir)
    if cwd is None:
        return _one(text, headers(everywhere)) or _fail(text, None)
    return _one(text, of_project(cwd, session_dir, agent_dir)) or _fail(text, _matches(text, headers(everywhere)))


def delete(path: Path) -> Deleted:
    """Move a file to the trash if there is one, else remove it.

    Raises:
        OSError: It can be neither moved nor removed.
    """
    import shutil  # late, and so are the others: hardly any program deletes
    import subprocess

    path = paths.absolute(path)  # a link is deleted, not what it points at
    if (program := shutil.which("trash")) is not None:
        with suppress(OSError):  # a program that cannot be started is none
            subprocess.run([program, str(path)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not os.path.lexists(path):
            return "trashed"
    try:
        from send2trash import send2trash

        send2trash(path)
    except (ImportError, OSError):
        path.unlink()
        return "removed"
    return "trashed"


def _at(path: Path) -> Path:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not headers(("any", path)):
        session_at(path)  # tells why, unless it is a session of another format
        raise FormatError("no session of Elyra's: it has another format", path)
    return path


def _one(name: str, found: Sequence[Found]) -> Path | None:
    """The one that goes by that name; None if there is none."""
    matches = _matches(name, found)
    if len(matches) > 1:
        shown = ", ".join(str(match.path) for match in matches)
        reason = f"{name!r} is the start of several sessions' ids, or several have it: {shown}"
        raise AmbiguousSessionError(reason, candidates=tuple(match.path for match in matches))
    return matches[0].path if matches else None


def _matches(name: str, found: Iterable[Found]) -> list[Found]:
    """A whole id wins over the starts of others."""
    starts = sorted(one for one in found if one.id.startswith(name))
    return [one for one in starts if one.id == name] or starts


def _fail(name: str, elsewhere: Sequence[Found] | None) -> Path:
    if elsewhere:
        other = elsewhere[0].cwd
        reason = f"{name!r} is a session of another project, {other}: fork it to go on with it here"
        raise SessionNotFoundError(reason, other_project=other)
    raise SessionNotFoundError(f"no session has the id {name!r}, or one that begins so")
