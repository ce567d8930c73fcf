"""A small file, once for each side, and what each makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from interop.driven import RefusedError
from interop.sides import OurSide, our_rows
from support import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interop.sides import Pi, Side

    Make: TypeAlias = Callable[..., Side]

TIME = "2026-01-05T10:00:01.000Z"
TIME_MS = 1_767_607_201_000
REFUSED = {"refused": True}


def header(**fields: object) -> str:
    """A header's line."""
    facts = {"type": "session", "version": 3, "id": "0199", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/p"}
    return json.dumps({**facts, **fields}) + "\n"


def entry(id_: str, parent: str | None, **fields: object) -> str:
    """An entry's line; of type `custom` unless another is given."""
    return json.dumps({"type": "custom", "id": id_, "parentId": parent, "timestamp": TIME, **fields}) + "\n"


def said(id_: str, parent: str | None, content: object = "x", **fields: object) -> str:
    """A message's line; a user's unless another role is given."""
    message = {"role": "user", "content": content, "timestamp": TIME_MS, **fields}
    return entry(id_, parent, type="message", message=message)


HEADER = header()
A, B = said("aaaaaaaa", None), said("bbbbbbbb", "aaaaaaaa")


class Both:
    """A file, once for each side."""

    def __init__(self, pi: Pi, folder: Path) -> None:
        self._pi = pi
        self._folders = folder / "ours", folder / "theirs"

    def read(self, data: str | bytes, *parts: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What each side makes of the file: parts of the session, or `REFUSED`."""
        ours, theirs = self.write(data)
        return parts_of(OurSide.make, ours, parts), parts_of(self._pi.make, theirs, parts)

    def rows(self, data: str | bytes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The rows that each side's listing has of the file."""
        self.write(data)
        return our_rows(self._folders[0]), self._pi.rows(self._folders[1])

    def sides(self, data: str | bytes) -> list[tuple[Make, Path]]:
        """How each side makes a manager, and its file."""
        ours, theirs = self.write(data)
        return [(OurSide.make, ours), (self._pi.make, theirs)]

    def after_open(self, data: str | bytes) -> tuple[bytes, bytes]:
        """The two files after each side has opened its own."""
        sides = self.sides(data)
        for make, path in sides:
            make("open", path).close()
        ours, theirs = (path.read_bytes() for _, path in sides)
        return ours, theirs

    def write(self, data: str | bytes) -> tuple[Path, Path]:
        """Write the two files."""
        data = data.encode() if isinstance(data, str) else data
        ours, theirs = (write(folder / "session.jsonl", data) for folder in self._folders)
        return ours, theirs


def parts_of(make: Make, path: Path, parts: tuple[str, ...]) -> dict[str, Any]:
    """Parts of the session in a file, or `REFUSED`."""
    try:
        side = make("open", path)
    except RefusedError:
        return REFUSED
    found = side.parts(*parts)
    side.close()
    return found


def ids(parts: dict[str, Any]) -> list[str]:
    """The ids of a session's entries."""
    return [one["id"] for one in parts["entries"]]
