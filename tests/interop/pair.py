"""Both sides in lockstep: the same steps, and after each the same answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from interop.driven import RefusedError
from interop.same import Names, assert_same
from interop.sides import HEALTHY_PARTS, OurSide, our_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from interop.sides import Pi, Side

REFUSED = "refused"
"""What a step gives that both sides refuse."""


class EntryAt(NamedTuple):
    """An argument that is the id of the entry with that number, counted over all sessions of a pair."""

    number: int


class FileAt(NamedTuple):
    """An argument that is a path below the side's own folder."""

    name: str


class FileOf(NamedTuple):
    """An argument that is the file of the session with that number, in the order in which the pair had them."""

    number: int


class _Half:
    """One side, what it has called things, and the files it was in."""

    def __init__(self, make: Callable[..., Side], root: Path) -> None:
        root.mkdir(parents=True)
        self.root = root
        self.names = Names(root)
        self.files: list[str] = []
        self._make = make
        self._side: Side | None = None

    @property
    def side(self) -> Side:
        assert self._side is not None, "the first step makes a manager"
        return self._side

    def make(self, how: str, *args: object) -> object:
        side = self._make(how, *map(self._own, args))  # before the old one is let go: it may be refused
        self.close()
        self._side = side
        return None

    def call(self, name: str, *args: object) -> object:
        return self.side.call(name, *map(self._own, args))

    def parts(self, *names: str) -> dict[str, Any]:
        """Parts of the session, in the words of both sides."""
        found = self.side.parts("entries", *names)
        self.names.know_all(found["entries"])
        replaced: dict[str, Any] = self.names.replace(found)
        return replaced

    def close(self) -> None:
        if self._side is not None:
            self._side.close()
            self._side = None

    def look(self) -> None:
        """Take note of new ids, of entries and of the session, and of the file."""
        found = self.side.parts("entries", "facts")
        self.names.know_all(found["entries"])
        self.names.replace(found["facts"]["id"])
        file = found["facts"]["file"]
        if file is not None and file not in self.files:
            self.files.append(file)

    def _own(self, arg: object) -> object:
        match arg:
            case EntryAt(number):
                return self.names.ids[number]
            case FileAt(name):
                return str(self.root / name)
            case FileOf(number):
                return self.files[number]
            case dict():
                return {key: self._own(value) for key, value in arg.items()}
        return arg


class Pair:
    """A session that both sides have."""

    def __init__(self, pi: Pi, folder: Path) -> None:
        self._pi = pi
        self.ours = _Half(OurSide.make, folder / "ours")
        self.theirs = _Half(pi.make, folder / "theirs")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.ours.close()
        if self._pi.is_running:
            self.theirs.close()

    def make(self, how: str, *args: object) -> object:
        """Take a manager from a static method, in place of the one before."""
        return self._both(lambda half: half.make(how, *args), f"{how}{args}")

    def do(self, name: str, *args: object) -> object:
        """Call a method; gives what it gave, in the words of both sides, or `REFUSED`."""
        return self._both(lambda half: half.call(name, *args), f"{name}{args}")

    def entries(self) -> list[dict[str, Any]]:
        """The session's entries, their ids "#" and their number."""
        entries: list[dict[str, Any]] = self.ours.parts()["entries"]
        return entries

    def compare(self, *parts: str) -> None:
        """Hold the sessions against each other."""
        assert_same(self.ours.parts(*parts or HEALTHY_PARTS), self.theirs.parts(*parts or HEALTHY_PARTS))

    def compare_rows(self, folder: str) -> None:
        """Hold the listings of a folder against each other; equal times may stand in any order.

        A branched session in which nothing was said is on disk here at once, and not in pi's listing yet.
        """
        ours = [row for row in our_rows(self.ours.root / folder) if _has_conversation(row)]
        theirs = self._pi.rows(self.theirs.root / folder)
        assert [row["modified"] for row in ours] == sorted((row["modified"] for row in ours), reverse=True)
        assert_same(_by_path(self.ours.names.replace(ours)), _by_path(self.theirs.names.replace(theirs)), folder)

    def _both(self, step: Callable[[_Half], object], where: str) -> object:
        ours, theirs = _answer(self.ours, step), _answer(self.theirs, step)
        assert_same(ours, theirs, where)
        return ours


def _answer(half: _Half, step: Callable[[_Half], object]) -> object:
    """What the step gives, in the words of both sides."""
    try:
        answer = step(half)
    except RefusedError:
        answer = REFUSED
    half.look()
    return half.names.replace(answer)


def _by_path(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: str(row["path"]))


def _has_conversation(row: dict[str, Any]) -> bool:
    lines = Path(row["path"]).read_bytes().splitlines()
    return any(json.loads(line).get("message", {}).get("role") in ("user", "assistant") for line in lines)
