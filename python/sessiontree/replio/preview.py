"""What a preview shows of a session."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from .._types import PreviewRow


@dataclass(frozen=True, slots=True)
class Preview:
    """The structure of a session: who spoke how often, which tools were called, what it is linked with.

    Attributes:
        name: The session's name.
        created_at: As the file has it, else the time of the first message, else empty.
        updated_at: As the file has it, else the time of the last message, else empty.
        message_count: How many messages there are, commands too.
        roles: How many of each role, in the order of their first message; `?` are those without one.
        tools: The names of the functions that were called, sorted; `?` is a call that names none.
        parent_id: The session that it was begun from; empty if there is none.
        sub_sessions: The sessions that were begun from it.
    """

    name: str
    created_at: str
    updated_at: str
    message_count: int
    roles: dict[str, int]
    tools: tuple[str, ...]
    parent_id: str
    sub_sessions: tuple[str, ...]

    @classmethod
    def _of(cls, row: PreviewRow) -> Self:
        return cls(
            name=row["name"],
            created_at=row["created_at"],
            updated_at=row["updated_at"],
            message_count=row["message_count"],
            roles=dict(row["roles"]),
            tools=tuple(row["tools"]),
            parent_id=row["parent_id"],
            sub_sessions=tuple(row["sub_sessions"]),
        )

    def lines(self) -> list[str]:
        """The preview as Replio prints it, without line ends.

        Texts stand in them as the file has them, control characters and all.
        """
        lines = [
            f"  {self.name} - {self.message_count} messages",
            f"    created {self.created_at} · updated {self.updated_at}",
            f"    roles: {' · '.join(f'{role} {count}' for role, count in self.roles.items())}",
        ]
        if self.tools:
            lines.append(f"    tools: {', '.join(self.tools)}")
        if self.parent_id:
            lines.append(f"    parent: {self.parent_id}")
        if self.sub_sessions:
            lines.append(f"    sub-sessions: {', '.join(self.sub_sessions)}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        row = asdict(self)
        return row | {"tools": list(self.tools), "sub_sessions": list(self.sub_sessions)}
