"""Pieces of writing Replio sessions that may be broken off or disturbed at any moment, and what must hold then."""

from __future__ import annotations

import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from replio_support import document, dumped, store_in, user
from scenarios import Scenario
from sessiontree import ConflictError, NameTakenError
from sessiontree.replio import ReplioStore

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios import Say

NAME = "s.json"
MESSAGES = [user(f"{number} " * 2000, id=f"old_{number}") for number in range(9)]
SESSION = dumped(document("s", *MESSAGES))


def kept(folder: Path) -> dict[str, list[str]]:
    """The ids of the messages of each session there; a file that cannot be read is an error."""
    store = ReplioStore(folder)
    return {name: [message["id"] for message in store.read(name).messages] for name in store.list()}


def assert_old_kept(folder: Path) -> list[str]:
    """What was there before has not changed; the ids of what came behind it."""
    messages = ReplioStore(folder).read("s").messages
    assert list(messages[: len(MESSAGES)]) == MESSAGES, "what was there has changed"
    return [message["id"] for message in messages[len(MESSAGES) :]]


def _append(folder: Path, say: Say) -> None:
    session = ReplioStore(folder).load("s")
    say(str(session.append("user", "One")))
    say(str(session.append("assistant", "Two")))


def _appended(folder: Path, said: list[str]) -> None:
    assert set(said) <= set(assert_old_kept(folder)), f"lost: {said}"
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in folder.iterdir()), "others can read it for a while"
    session = ReplioStore(folder).load("s")
    last = session.append("user", "after")
    assert assert_old_kept(folder)[-1] == last, "what comes next is not whole"


def _create(folder: Path, say: Say) -> None:
    session = store_in(folder).create()
    say(str(session.append("system", "Be terse.")))
    say(str(session.append("user", "What is OEE?")))


def _created(folder: Path, said: list[str]) -> None:
    assert not assert_old_kept(folder)
    made = [ids for name, ids in kept(folder).items() if name != "s"]
    assert set(said) <= {one for ids in made for one in ids}, f"lost: {said}"
    session = store_in(folder).create()
    session.append("user", "What is OEE?")
    assert session.name in ReplioStore(folder).list()


def _rename(folder: Path, say: Say) -> None:
    ReplioStore(folder).rename("s", "t")
    say("t")


def _renamed(folder: Path, said: list[str]) -> None:
    store = ReplioStore(folder)
    assert store.list() in ([["t"]] if said else [["s"], ["t"], ["s", "t"]])
    for name in store.list():
        assert list(store.read(name).messages[: len(MESSAGES)]) == MESSAGES


SCENARIOS = {
    "replio-append": Scenario(SESSION, _append, _appended, NAME),
    "replio-create": Scenario(SESSION, _create, _created, NAME),
    "replio-rename": Scenario(SESSION, _rename, _renamed, NAME),
}


# What meets another writer


def append_one(path: Path, say: Say) -> None:
    """Append, if nobody was there first."""
    with suppress(ConflictError):
        say(str(ReplioStore(path.parent).load("s").append("user", "one")))


def rewrite(path: Path, say: Say) -> None:
    """Add a message as a careful program does that knows of no lock."""
    whole = path.with_name("foreign.tmp")
    whole.write_bytes(path.read_bytes().replace(b'"errors"', b'"foreign": 1,\n  "errors"', 1))
    whole.replace(path)
    say("foreign")


def both_kept(path: Path, ours: list[str], theirs: list[str]) -> None:
    """Nothing that was said is lost, and one of the two got through."""
    added = assert_old_kept(path.parent)
    assert set(ours) | set(theirs) <= set(added), "lost"
    assert len(added) == len(ours) + len(theirs) > 0
    assert len(set(added)) == len(added), "twice"


def foreign_kept(path: Path, ours: list[str], theirs: list[str]) -> None:
    assert b'"foreign": 1' in path.read_bytes(), f"lost: {theirs}"
    assert set(ours) <= set(assert_old_kept(path.parent)), f"lost: {ours}"


def create_late(path: Path, say: Say) -> None:
    """Begin a session with a name of one's own, unless someone else has."""
    with suppress(NameTakenError):
        session = ReplioStore(path.parent).create("late")
        say(str(session.append("user", "hi")))


def one_created(path: Path, ours: list[str], theirs: list[str]) -> None:
    assert kept(path.parent)["late"] == [*ours, *theirs], "lost"
    assert len([*ours, *theirs]) == 1


def begin(path: Path, say: Say) -> None:
    """Begin a session in the very second in which the other one does."""
    session = store_in(path.parent).create()
    say(str(session.append("user", "What is OEE?")))


def both_begun(path: Path, ours: list[str], theirs: list[str]) -> None:
    made = [ids for name, ids in kept(path.parent).items() if name != "s"]
    assert sorted(made) == sorted([ours, theirs]), "lost"
