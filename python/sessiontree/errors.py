"""What can be wrong with a session, a name or an edit, and the `Damage` that reading reports instead of raising.

I/O errors stay what Python makes of them (`FileNotFoundError`, `PermissionError`, with `errno` and `filename`); a bad
argument is a `TypeError` or `ValueError`. Everything else that this package raises stands here.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003  who asks for a dataclass's types gets them
from typing import Any, Literal

DamageKind = Literal["line", "joined", "bytes", "header", "repeated", "file", "parent", "circle", "tip", "value"]

_NOTES = frozenset({"parent", "circle", "tip", "value"})


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong in a file that was read all the same.

    Attributes:
        kind: Damage to the file: `line` (skipped), `joined` (several entries on one line), `bytes` (NULs or bad UTF-8),
            `header` (a second one), `repeated` (an id), `file` (it cannot be read, or was named and is no session).
            Notes on what it says: `parent` (unknown), `circle` (of parents), `tip` (newer than the leaf), `value` (a
            usage number that does not count).
        path: The file.
        line: The line's number, from 1; None for the file as a whole.
        offset: Where that line starts in the file, in bytes; None for the file as a whole.
        reason: What was found, in words.

    Rule: docs/reading.md, "Damage".
    """

    kind: DamageKind
    path: Path
    line: int | None
    offset: int | None
    reason: str

    @property
    def is_note(self) -> bool:
        """Whether the file itself is whole: a note counts neither in `damage_count` nor for an exit code."""
        return self.kind in _NOTES

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values, the path as a string."""
        return {
            "kind": self.kind,
            "path": str(self.path),
            "line": self.line,
            "offset": self.offset,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        """`path:line: reason`, as compilers print it."""
        return _located(self.reason, self.path, self.line)


class SessionError(Exception):
    """Base of every error this package raises; `path` and `line` say where, if anywhere.

    Attributes:
        reason: What was found and what was expected.
        path: The file, or None.
        line: The line's number, from 1, or None.
    """

    def __init__(self, reason: str, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(reason, path, line)  # all three, so that pickling keeps them
        self.reason, self.path, self.line = reason, path, line

    def __str__(self) -> str:
        return _located(self.reason, self.path, self.line)


class FormatError(SessionError, ValueError):
    """The bytes are not what the format says.

    `kind` is `corrupt`; or `unsupported`, where they are sound, but of a form that is not known.
    """

    def __init__(
        self,
        reason: str,
        path: Path | None = None,
        line: int | None = None,
        *,
        kind: Literal["corrupt", "unsupported"] = "corrupt",
    ) -> None:
        super().__init__(reason, path, line)
        self.kind = kind


class EntryNotFoundError(SessionError, LookupError):
    """No entry of the session has the id `entry_id`."""

    def __init__(self, reason: str, path: Path | None = None, line: int | None = None, *, entry_id: str = "") -> None:
        super().__init__(reason, path, line)
        self.entry_id = entry_id


class SessionNotFoundError(SessionError, LookupError):
    """No session has that name; `other_project` is the folder of one that has it elsewhere, or None."""

    def __init__(
        self, reason: str, path: Path | None = None, line: int | None = None, *, other_project: str | None = None
    ) -> None:
        super().__init__(reason, path, line)
        self.other_project = other_project


class AmbiguousSessionError(SessionError, LookupError):
    """A name fits several sessions; `candidates` holds their paths."""

    def __init__(
        self, reason: str, path: Path | None = None, line: int | None = None, *, candidates: tuple[Path, ...] = ()
    ) -> None:
        super().__init__(reason, path, line)
        self.candidates = candidates


class InvalidNameError(SessionError, ValueError):
    """A name or id that no path may be built from."""


class NameTakenError(SessionError, FileExistsError):
    """A session of that name exists, and is never overwritten."""

    def __init__(self, reason: str, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(reason, path, line)
        self.errno, self.strerror = errno.EEXIST, reason
        self.filename = None if path is None else str(path)


class ReadOnlyError(SessionError):
    """The session was opened for reading."""


class ConflictError(SessionError):
    """Someone else changed the file, or took it away, since it was read."""


def _located(reason: str, path: Path | None, line: int | None) -> str:
    if path is None:
        return reason
    return f"{path}: {reason}" if line is None else f"{path}:{line}: {reason}"
