"""Pieces of writing that may be broken off or disturbed at any moment, and what must hold of the files then."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from elyra_support import CWD, entry, ids, line, old_session, records, session, user, whole_lines
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Callable

Say: TypeAlias = "Callable[[str], None]"
"""Tells the parent what is safely on disk: an entry's id, or a file's path."""

NAME = "s.jsonl"
SESSION = session() + line(entry("e4000004", "e3000003", "label", targetId="e1000001", label="start"))
TORN = SESSION + b'{"type":"message","id":"torn'
OLD = old_session(4, text="Answer " * 45_000)  # longer than what is written at a time


@dataclass(frozen=True)
class Scenario:
    """A piece of writing.

    Attributes:
        file: What is in the file before; None where there is no such file.
        work: Done in a child; gets the folder and a way to say what has been kept.
        check: What must hold in the folder, whenever the work ended, given what was said; raises `AssertionError`.
        name: The file's name.
    """

    file: bytes | None
    work: Callable[[Path, Say], None]
    check: Callable[[Path, list[str]], None]
    name: str = NAME

    def prepare(self, folder: Path) -> None:
        """Empty the folder, and put the file there."""
        for path in folder.iterdir():
            path.unlink()
        if self.file is not None:
            (folder / self.name).write_bytes(self.file)
            (folder / self.name).chmod(0o600)


def assert_kept(path: Path, said: list[str], *, max_torn: int = 1) -> None:
    """The file opens, what was said is in it, it can be appended to, and at most so many lines are torn."""
    found = [one.get("id") for one in whole_lines(path.read_bytes())]
    assert set(said) <= set(found), f"lost: {set(said) - set(found)}"
    assert len(set(found)) == len(found), "an id is used twice"
    with SessionManager.open(path, read_only=True) as manager:
        assert set(said) <= set(ids(manager)), "not read"
        assert all(one.kind == "line" for one in manager.damage), f"{manager.damage}"
        assert len(manager.damage) <= max_torn, f"{manager.damage}"
        leaf = manager.get_leaf_id()
    with SessionManager.open(path) as manager:
        last = manager.append_custom_entry("after")
    record = whole_lines(path.read_bytes())[-1]
    assert (record["id"], record["parentId"]) == (last, leaf), "what comes next is not whole"


def _append(folder: Path, say: Say) -> None:
    with SessionManager.open(folder / NAME) as manager:
        say(manager.append_message(user("One more")))
        say(manager.append_custom_entry("note", {"text": "two"}))


def _appended(folder: Path, said: list[str]) -> None:
    assert (folder / NAME).read_bytes().startswith(SESSION), "what was there has changed"
    assert_kept(folder / NAME, said)


def _create(folder: Path, say: Say) -> None:
    with SessionManager.create(CWD, folder) as manager:
        kept = [manager.append_model_change("acme", "acme-1"), manager.append_session_info("Named")]
        kept += [manager.append_message(user())]
        for one in kept:
            say(one)
        say(manager.append_message(user("More")))


def _created(folder: Path, said: list[str]) -> None:
    files = list(folder.glob("*.jsonl"))
    assert len(files) <= 1
    assert bool(files) or not said, "lost"
    assert len(SessionManager.list_all(session_dir=folder)) == len(files)
    for path in files:
        kinds = [record["type"] for record in records(path)]
        assert kinds[:4] == ["session", "model_change", "session_info", "message"], kinds
        assert_kept(path, said)


def _create_here(folder: Path, say: Say) -> None:
    with SessionManager.open(folder / NAME, cwd=CWD) as manager:
        say(manager.append_message(user()))


def _created_here(folder: Path, said: list[str]) -> None:
    path = folder / NAME
    assert path.exists() or not said, "lost"
    if path.exists():
        assert [record["type"] for record in records(path)] == ["session", "message"]
        assert_kept(path, said)


def _filled(folder: Path, said: list[str]) -> None:
    path = folder / NAME
    assert path.stat().st_size or not said, "lost"
    if path.stat().st_size:
        assert [record["type"] for record in records(path)] in (["session"], ["session", "message"])
        assert_kept(path, said)


def _migrate(folder: Path, say: Say) -> None:
    with SessionManager.open(folder / NAME) as manager:
        say(manager.get_session_id())


@cache
def migrated(old: bytes) -> bytes:
    """What becomes of an old file when nothing goes wrong."""
    with TemporaryDirectory() as name:
        path = Path(name, NAME)
        path.write_bytes(old)
        SessionManager.open(path).close()
        return path.read_bytes()


def _is_migrated(folder: Path, said: list[str]) -> None:
    path = folder / NAME
    assert path.read_bytes() in ([migrated(OLD)] if said else [OLD, migrated(OLD)]), (
        "neither the old file nor the new one"
    )
    assert list(folder.glob("*.jsonl")) == [path]
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in folder.iterdir()), "others can read it for a while"
    SessionManager.open(path).close()
    assert path.read_bytes() == migrated(OLD)


def _branch(folder: Path, say: Say) -> None:
    with SessionManager.open(folder / NAME) as manager:
        say(str(manager.create_branched_session("e2000002")))


def _fork(folder: Path, say: Say) -> None:
    with SessionManager.fork_from(folder / NAME, "/team/other", folder) as manager:
        say(str(manager.get_session_file()))


def _copied(folder: Path, said: list[str]) -> None:
    assert (folder / NAME).read_bytes() == SESSION, "the source has changed"
    copies = [path for path in folder.glob("*.jsonl") if path.name != NAME]
    assert len(copies) <= 1
    assert not said or said == [str(path) for path in copies], "lost"
    for path in copies:
        kinds = [record["type"] for record in records(path)]
        assert kinds in (["session", *["message"] * 2, "label"], ["session", *["message"] * 3, "label"]), kinds
        assert_kept(path, [])


SCENARIOS = {
    "append": Scenario(SESSION, _append, _appended),
    "append-after-torn": Scenario(TORN, _append, _appended),
    "create": Scenario(None, _create, _created),
    "create-here": Scenario(None, _create_here, _created_here),
    "fill-empty": Scenario(b"", _create_here, _filled),
    "migrate": Scenario(OLD, _migrate, _is_migrated),
    "branch": Scenario(SESSION, _branch, _copied),
    "fork": Scenario(SESSION, _fork, _copied),
}
