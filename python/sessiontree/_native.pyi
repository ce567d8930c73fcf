"""The Rust core, as Python sees it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, final

from ._types import Layout, OnProgress, ScanRow, StrPath
from .usage import Usage

__all__ = ["SessionInfo", "restore", "scan"]

@final
class SessionInfo:
    """One session, as a listing shows it.

    Frozen, hashable, and picklable. Equality and `repr` leave `all_messages_text` out.

    Rule: docs/reading.md, "A listing's row".
    """

    @property
    def path(self) -> Path:
        """The session's file."""
    @property
    def id(self) -> str:
        """The id in the header."""
    @property
    def cwd(self) -> str:
        """The project's folder, from the header; empty when it names none."""
    @property
    def name(self) -> str | None:
        """The name someone gave the session, trimmed; None without one."""
    @property
    def parent_session_path(self) -> Path | None:
        """The session that this one was forked or branched from, as the header names it, or None."""
    @property
    def created(self) -> datetime | None:
        """The header's time (UTC); None when it cannot be read."""
    @property
    def modified(self) -> datetime:
        """The newest user or assistant message's time, else the header's, else the file's (UTC)."""
    @property
    def message_count(self) -> int:
        """How many entries are messages, of whatever role."""
    @property
    def first_message(self) -> str:
        """The text of the first user message that has any, else `"(no messages)"`."""
    @property
    def all_messages_text(self) -> str:
        """The texts of all user and assistant messages, joined by blanks.

        Read from the file at each access, unless the listing was told to load it (`text=True`).

        Raises:
            ConflictError: The file has changed or gone since it was listed.
            OSError: The file cannot be read.
        """
    @property
    def size_bytes(self) -> int:
        """How many bytes were read."""
    @property
    def entry_count(self) -> int:
        """How many entries there are, the header left out."""
    @property
    def leaf_id(self) -> str | None:
        """The id of the entry where the session stands, or None when no entry has one."""
    @property
    def tip_count(self) -> int:
        """How many branches end somewhere: entries without children."""
    @property
    def usage(self) -> Usage:
        """Tokens and cost over all entries, abandoned branches included; each record once."""
    @property
    def damage_count(self) -> int:
        """How much damage the file has; notes do not count."""
    @property
    def version(self) -> int:
        """The file's own format version; 1 when it names none."""
    def to_dict(self) -> dict[str, Any]:
        """All but `all_messages_text`, as plain JSON values: paths as strings, times in ISO 8601."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def scan(
    sources: Sequence[tuple[Layout, StrPath]],
    on_progress: OnProgress | None,
    threads: int | None,
    text: bool,
    usage: bool,
    strict: bool,
) -> ScanRow:
    """Read every session that the sources hold; with `usage`, add up what all of them used."""

def restore(state: Mapping[str, Any]) -> SessionInfo:
    """The `SessionInfo` that was pickled."""
