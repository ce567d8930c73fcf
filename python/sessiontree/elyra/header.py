"""The header of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  who asks for a dataclass's types gets them
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """The first line of a session's file: facts about the session.

    Attributes:
        id: The session's id.
        timestamp: When it began (UTC); None when that cannot be read.
        version: Of the format: 3, or what a newer file says.
        cwd: The project's folder; empty when the file names none.
        parent_session: The session that it was forked or branched from, as the file names it, or None.
        raw: The header's own JSON, migrated; do not change it.

    Rule: Elyra session format, "SessionHeader".
    """

    id: str
    timestamp: datetime | None
    version: int
    cwd: str
    parent_session: str | None
    raw: dict[str, Any] = field(hash=False, repr=False)

    @property
    def type(self) -> str:
        """`session`, as the file has it."""
        return "session"

    def to_dict(self) -> dict[str, Any]:
        """The header's own JSON, as a new dict."""
        return dict(self.raw)
