"""Files with one lesson each: opened by both, listed by both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from interop.driven import RefusedError
from interop.same import Names, assert_same
from interop.sides import PARTS, OurSide, our_rows
from reference_json import decode
from support import vector_file, vectors, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interop.sides import Pi, Side

_WITHOUT_WALKS = ("header", "facts", "entries", "labels")
"""What pi gives of a session in which its walks never end."""

_COMPARED = {
    "bom-at-start": (),
    "non-object-lines": (),
    "duplicate-entry-ids": _WITHOUT_WALKS,
    "parent-cycle": _WITHOUT_WALKS,
    "message-key-missing": tuple(part for part in PARTS if part != "context"),
}
"""What is the same of files of which pi makes something else, or nothing (docs/differences.md says what)."""

_NOT_LISTED_BY_PI = {"bom-at-start", "message-key-missing", "null-and-missing-content"}


class _Copy:
    """One side's copy of a vector's file, and its manager; None where it is refused."""

    def __init__(self, open_: Callable[[Path], Side], vector: Path, folder: Path) -> None:
        self.given = vector_file(vector).read_bytes()
        self.path = write(folder / "session.jsonl", self.given)
        self._names = Names(folder, self.given.decode(errors="replace"))
        try:
            self.side: Side | None = open_(self.path)
        except RefusedError:
            self.side = None

    def parts(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Parts of the session, its invented ids replaced."""
        assert self.side is not None
        found = self.side.parts(*names)
        self._names.know_all(found.get("entries", []))
        replaced: dict[str, Any] = self._names.replace(found)
        return replaced

    def context_at(self, tip: int) -> dict[str, Any]:
        """Branch and context, the leaf being the entry of that number."""
        assert self.side is not None
        self.side.call("branch", self.side.parts("entries")["entries"][tip]["id"])
        return self.parts(("branch", "context"))

    def lines(self) -> list[Any]:
        """The file's JSON as it is now."""
        values = [value for line in self.path.read_bytes().splitlines() for value in decode(line)[0]]
        replaced: list[Any] = self._names.replace(values)
        return replaced


@pytest.fixture(params=vectors(), ids=lambda folder: folder.name)
def vector(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


@pytest.mark.parametrize("read_only", [False, True], ids=["open", "read-only"])
def test_open(pi: Pi, tmp_path: Path, vector: Path, read_only: bool) -> None:
    options = {"read_only": True} if read_only else {}
    compared = _COMPARED.get(vector.name, PARTS)
    if vector.name == "empty-file" and read_only:
        pytest.skip("to open it is to begin a session")
    if not compared:
        pytest.skip("pi refuses it, or takes more for an entry")
    ours = _Copy(lambda path: OurSide.make("open", path, **options), vector, tmp_path / "ours")
    theirs = _Copy(lambda path: pi.make("open", path), vector, tmp_path / "theirs")
    assert (ours.side is None) == (theirs.side is None)
    if ours.side is None or theirs.side is None:
        return
    assert_same(ours.parts(compared), theirs.parts(compared))
    if "context" in compared:
        entries = theirs.parts(("entries",))["entries"]
        parents = {entry.get("parentId") for entry in entries}
        for tip, entry in enumerate(entries):
            if isinstance(entry.get("id"), str) and entry["id"] not in parents:
                assert_same(ours.context_at(tip), theirs.context_at(tip), f"at {entry['id']}")
    ours.side.close()
    theirs.side.close()
    if ours.path.read_bytes() != ours.given:
        assert not read_only
        assert_same(ours.lines(), theirs.lines())
    else:
        assert read_only or theirs.path.read_bytes() in (ours.given, ours.given + b"\n") or not ours.given


def test_list(pi: Pi, tmp_path: Path, vector: Path) -> None:
    path = write(tmp_path / "session.jsonl", vector_file(vector).read_bytes())
    ours, theirs = our_rows(path.parent), pi.rows(path.parent)
    if vector.name in _NOT_LISTED_BY_PI:
        assert (len(ours), len(theirs)) == (1, 0)
    else:
        assert_same(ours, theirs)
