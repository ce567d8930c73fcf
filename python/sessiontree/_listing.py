"""Rows of sessions by where they are, whichever format they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._catalogue import catalogue_path
from ._log import warn_unread
from .errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

    from ._native import SessionInfo
    from ._types import Layout, OnProgress, StrPath


def list_sessions(
    source: tuple[Layout, Path],
    on_progress: OnProgress | None = None,
    threads: int | None = None,
    *,
    text: bool = False,
    catalogue: bool | StrPath = False,
) -> list[SessionInfo]:
    """The sessions there, newest first; a warning is logged of how many files could not be read.

    Args:
        source: Where they are.
        on_progress: As for `scan`.
        threads: As for `scan`.
        text: Whether to load every `all_messages_text`.
        catalogue: As for `scan`.
    """
    path = catalogue_path(catalogue)
    row = _native.scan([source], on_progress, threads, text, usage=False, strict=False, catalogue=path)
    unread = sum(damage.kind == "file" for damage in row["damage"])
    if unread:
        warn_unread(unread)
    return row["infos"]


def session_at(path: Path, catalogue: bool | StrPath = False) -> SessionInfo:
    """The row of a file that is a session.

    Args:
        path: The file.
        catalogue: As for `scan`.

    Raises:
        FormatError: It is none.
        OSError: It cannot be read.
    """
    known = catalogue_path(catalogue)
    row = _native.scan([("any", path)], None, 1, text=False, usage=False, strict=False, catalogue=known)
    if not row["infos"]:
        _native.scan([("any", path)], None, 1, text=False, usage=False, strict=True)
        raise FormatError("no session", path)
    return row["infos"][0]
