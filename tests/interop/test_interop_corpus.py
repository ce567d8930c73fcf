"""Sessions such as programs leave behind, some of them damaged: opened, listed, branched and forked by both."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interop.driven import RefusedError
from interop.same import Names, assert_same
from interop.sides import PARTS, OurSide, our_rows
from reference_json import decode
from sessiontree._corpus import write_corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from interop.sides import Pi, Side

_SESSIONS = 288
"""Each kind of damage that the sample store has occurs at least once in so many."""


_READ_ALIKE = ("none", "no session")
_READ_OTHERWISE = ("NULs", "byte-order mark", "title", "joined", "no entry", "circle", "repeated")
"""Damage of which pi makes something else (docs/differences.md)."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "agent"
    write_corpus(folder, profile="small", sessions=_SESSIONS, mean_bytes=20_000)
    return folder / "sessions"


@pytest.fixture
def files(store: Path, tmp_path: Path) -> list[tuple[str, Path, Path]]:
    """The store, once for each side: what a file's damage is to pi, our copy of the file, pi's."""
    ours, theirs = (Path(shutil.copytree(store, tmp_path / name)) for name in ("ours", "theirs"))
    paths = [path.relative_to(ours) for path in sorted(ours.glob("*/*.jsonl"))]
    assert len(paths) == _SESSIONS
    return [(_damage((ours / path).read_bytes()), ours / path, theirs / path) for path in paths]


def test_the_store_has_every_kind_of_damage(files: list[tuple[str, Path, Path]]) -> None:
    seen = Counter(damage for damage, _, _ in files)
    assert seen.keys() == {*_READ_ALIKE, *_READ_OTHERWISE}
    assert seen["none"] > 0.9 * _SESSIONS


def test_open(pi: Pi, files: list[tuple[str, Path, Path]]) -> None:
    for damage, ours, theirs in files:
        if damage in _READ_ALIKE:
            _compare(pi, ours, theirs)


def test_fork(pi: Pi, files: list[tuple[str, Path, Path]]) -> None:
    """Of the current version alone: pi copies an old one without migrating it."""
    for damage, ours, theirs in files:
        if damage == "none" and ours.read_bytes().startswith(b'{"type":"session","version":3,'):
            _compare(pi, ours, theirs, how="fork")


def test_branch(pi: Pi, files: list[tuple[str, Path, Path]]) -> None:
    """Entries keep their ids and times in the new session, labels their times."""
    for number, (damage, ours, theirs) in enumerate(files):
        if damage == "none":
            _compare(pi, ours, theirs, how="branch", number=number)


def test_list(pi: Pi, files: list[tuple[str, Path, Path]]) -> None:
    listed = 0
    for folders in {(ours.parent, theirs.parent) for _, ours, theirs in files}:
        rows = [
            {Path(row.pop("path")).name: row for row in rows} for rows in (our_rows(folders[0]), pi.rows(folders[1]))
        ]
        for damage, ours, _ in files:
            if damage in _READ_ALIKE and ours.parent == folders[0]:
                listed += ours.name in rows[0]
                assert_same(rows[0].get(ours.name), rows[1].get(ours.name), ours.name)
    assert listed > 0.9 * _SESSIONS


def _compare(pi: Pi, ours: Path, theirs: Path, *, how: str = "open", number: int = 0) -> None:
    """Hold against each other what both sides open, or make of the file."""
    assert_same(_answer(OurSide.make, ours, how, number), _answer(pi.make, theirs, how, number), ours.name)


def _answer(make: Callable[..., Side], path: Path, how: str, number: int) -> Any:  # noqa: ANN401  JSON
    """The session's parts in the words of both sides, or that the file was refused."""
    names = Names(path.parent.parent, path.read_text(errors="replace"))
    try:
        parts = _parts(make, path, how, number)
    except RefusedError:
        return "refused"
    names.know_all(parts["entries"])
    return names.replace(parts)


def _parts(make: Callable[..., Side], path: Path, how: str, number: int) -> dict[str, Any]:
    side = make("fork_from", path, "/home/user/fork", path.parent.parent) if how == "fork" else make("open", path)
    if how == "branch":
        entries = side.parts("entries")["entries"]
        side.call("create_branched_session", entries[-1 - number % min(5, len(entries))]["id"])
    parts = side.parts(*PARTS)
    side.close()
    return parts


def _damage(data: bytes) -> str:
    """What makes pi read the file otherwise than we do; "none" without such, "no session" where neither opens it."""
    if b"\0" in data:
        return "NULs"
    if data.startswith(b"\xef\xbb\xbf"):
        return "byte-order mark"
    lines = [values for line in data.split(b"\n") if (values := _values(line))]
    if any(len(values) > 1 for values in lines):
        return "joined"
    values = [value for [value] in lines if value is not None]
    records = [value for value in values if isinstance(value, dict) and ("type" in value or "id" in value)]
    if len(records) < len(values):
        return "no entry"
    if not records or records[0]["type"] != "session":
        return "title" if records and records[0]["type"] == "title" else "no session"
    entries = [record for record in records if record["type"] != "session" and "id" in record]
    if any(entry["id"] == entry["parentId"] for entry in entries):
        return "circle"
    return "none" if len({entry["id"] for entry in entries}) == len(entries) else "repeated"


def _values(line: bytes) -> list[Any]:
    try:
        return decode(line.strip())[0]
    except ValueError:
        return []
