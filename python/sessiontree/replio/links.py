"""How the sessions of a folder are linked: parents, and the sessions begun from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from .. import _native
from ..errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class DanglingLink:
    """A link to a session that is not there.

    Attributes:
        session: The session that has the link.
        key: Where in it: `parent_id` or `sub_sessions`.
        missing: The name that no session has.
    """

    session: str
    key: Literal["parent_id", "sub_sessions"]
    missing: str

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return {"session": self.session, "key": self.key, "missing": self.missing}


@dataclass(frozen=True, slots=True)
class Links:
    """What the sessions of a folder say of each other; those that cannot be read say nothing.

    Attributes:
        parents: By the name of each session, its `parent_id`; empty where it has none.
        sub_sessions: By the name of each session, its `sub_sessions`.
        names: The sessions that are there, in order, readable or not.
    """

    parents: dict[str, str]
    sub_sessions: dict[str, tuple[str, ...]]
    names: tuple[str, ...]

    @classmethod
    def read(cls, files: Iterable[tuple[str, Path]], since_ns: int = 0) -> Self:
        """Read them from the files of these names; those that were written before then are only there."""
        parents: dict[str, str] = {}
        sub_sessions: dict[str, tuple[str, ...]] = {}
        names: list[str] = []
        for name, path in files:
            names.append(name)
            try:
                if since_ns and path.stat().st_mtime_ns < since_ns:
                    continue
                row = _native.replio_preview(path)
            except (FormatError, OSError):
                continue
            parents[name], sub_sessions[name] = row["parent_id"], tuple(row["sub_sessions"])
        return cls(parents, sub_sessions, tuple(names))

    def children(self, name: str) -> list[str]:
        """The sessions there that were begun from that one, as they or it say."""
        named = self.sub_sessions.get(name, ())
        return [child for child in self.names if child in named or self.parents.get(child) == name]

    def dangling(self) -> list[DanglingLink]:
        """The links that lead to no session, in the order of the sessions that have them."""
        there = set(self.names)
        found: list[DanglingLink] = []
        for name in self.names:
            parent = self.parents.get(name, "")
            if parent and parent not in there:
                found.append(DanglingLink(name, "parent_id", parent))
            missing = (child for child in self.sub_sessions.get(name, ()) if child not in there)
            found += (DanglingLink(name, "sub_sessions", child) for child in missing)
        return found
