"""Links between Replio sessions: who began whom, what renaming does to them, and what has gone."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from replio_support import LATER, STAMP, TIME, Clock, document, on_disk, put, store_in, user
from sessiontree import NameTakenError, SessionNotFoundError
from sessiontree.replio import DanglingLink, ReplioStore
from vectors_replio import value

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def family(tmp_path: Path) -> ReplioStore:
    """A parent with two children, one of which it does not know yet, and a child of someone who has gone."""
    clock = Clock()
    store = store_in(tmp_path, clock=clock)
    put(store, "ses_a", document("ses_a", user("first"), sub_sessions=["sub_known", "sub_gone"]))
    put(store, "sub_known", document("sub_known", user(), parent_id="ses_a"))
    put(store, "sub_new", document("sub_new", user(), parent_id="ses_a"))
    put(store, "sub_orphan", document("sub_orphan", user(), parent_id="ses_gone"))
    clock.tick()
    return store


def test_look_ups_leave_out_what_is_missing(family: ReplioStore) -> None:
    assert sorted(family.children("ses_a")) == ["sub_known", "sub_new"]
    assert family.children("sub_new") == []
    assert family.parent("sub_new") == "ses_a"
    assert family.parent("sub_orphan") is None
    assert family.parent("ses_a") is None
    assert family.children("ses_gone") == ["sub_orphan"]
    with pytest.raises(SessionNotFoundError):
        family.parent("none")


def test_a_child_that_only_its_parent_names_is_one(family: ReplioStore) -> None:
    put(family, "sub_gone", document("sub_gone"))
    assert sorted(family.children("ses_a")) == ["sub_gone", "sub_known", "sub_new"]


def test_broken_neighbours_do_not_cost_the_look_ups(family: ReplioStore) -> None:
    put(family, "sub_broken", b"{")
    assert sorted(family.children("ses_a")) == ["sub_known", "sub_new"]
    assert len(family.dangling()) == 2


def test_links_to_what_is_missing_are_told(family: ReplioStore) -> None:
    told = family.dangling()
    assert sorted(told, key=lambda link: link.session) == [
        DanglingLink("ses_a", "sub_sessions", "sub_gone"),
        DanglingLink("sub_orphan", "parent_id", "ses_gone"),
    ]
    assert pickle.loads(pickle.dumps(told)) == told
    family.delete("ses_a")
    assert {link.missing for link in family.dangling()} == {"ses_a", "ses_gone"}


def test_links_that_no_file_can_have_are_missing(family: ReplioStore) -> None:
    put(family, "sub_odd", document("sub_odd", parent_id="../ses_a", sub_sessions=[".", "a/b"]))
    assert family.parent("sub_odd") is None
    assert family.children("sub_odd") == []
    assert {link.missing for link in family.dangling() if link.session == "sub_odd"} == {"../ses_a", ".", "a/b"}


# Finishing


@pytest.mark.parametrize("by_name", [True, False])
def test_a_child_that_has_finished_is_named_once(family: ReplioStore, by_name: bool) -> None:
    child = "sub_new" if by_name else family.read("sub_new")
    path = family.sessions_dir / "ses_a.json"
    family.finish(child)
    written = path.stat()
    family.finish(child)
    assert path.stat() == written, "there was nothing to write"
    file = value(path)
    assert file["sub_sessions"] == ["sub_known", "sub_gone", "sub_new"]
    assert file["updated_at"] == TIME, "a link does not move the time"


def test_a_parent_that_is_loaded_knows_its_child(family: ReplioStore) -> None:
    parent = family.load("ses_a")
    child = family.create(parent="ses_a")
    child.append("user", "look")
    family.finish(child)
    assert parent.sub_sessions[-1] == child.name == f"sub_{STAMP[:-1]}8_ses_a"
    parent.append("user", "more")
    assert on_disk(parent)["sub_sessions"][-1] == child.name
    assert family.current is child


def test_a_child_of_nobody_here_cannot_finish(family: ReplioStore) -> None:
    with pytest.raises(SessionNotFoundError):
        family.finish("sub_orphan")
    with pytest.raises(SessionNotFoundError):
        family.finish("none")


# Renaming


def test_renaming_takes_the_links_along(family: ReplioStore) -> None:
    data = (family.sessions_dir / "sub_orphan.json").read_bytes()
    family.rename("ses_a", "plan")
    assert family.list() == ["plan", "sub_known", "sub_new", "sub_orphan"]
    assert family.read("plan").name == value(family.sessions_dir / "plan.json")["name"] == "plan"
    assert [family.parent(child) for child in ("sub_known", "sub_new")] == ["plan", "plan"]
    family.rename("sub_known", "sub_better")
    assert family.read("plan").sub_sessions == ("sub_better", "sub_gone")
    assert {link.missing for link in family.dangling()} == {"sub_gone", "ses_gone"}
    assert (family.sessions_dir / "sub_orphan.json").read_bytes() == data


def test_renaming_changes_nothing_else(family: ReplioStore) -> None:
    before = value(family.sessions_dir / "ses_a.json")
    family.rename("ses_a", "plan")
    assert value(family.sessions_dir / "plan.json") == {**before, "name": "plan"}
    child = value(family.sessions_dir / "sub_new.json")
    assert child == document("sub_new", user(), parent_id="plan")


def test_links_of_a_log_that_is_never_written_are_left_dangling(family: ReplioStore) -> None:
    path = put(family, "sub_later", {"turns": [], "parent_id": "ses_a", "sub_sessions": ["sub_new"]})
    data = path.read_bytes()
    family.rename("ses_a", "plan")
    family.rename("sub_new", "sub_renamed")
    assert sorted(family.children("plan")) == ["sub_known", "sub_renamed"]
    dangling = {(link.session, link.missing) for link in family.dangling()}
    assert dangling >= {("sub_later", "ses_a"), ("sub_later", "sub_new")}
    assert path.read_bytes() == data


def test_a_session_in_memory_follows_its_new_name(family: ReplioStore) -> None:
    session = family.load("ses_a")
    family.rename("ses_a", "plan")
    assert (session.name, session.path) == ("plan", family.sessions_dir / "plan.json")
    assert family.current is session
    session.append("user", "more")
    assert family.list() == ["plan", "sub_known", "sub_new", "sub_orphan"]
    assert on_disk(session)["messages"][-1]["content"] == "more"


def test_sessions_in_memory_follow_their_links(family: ReplioStore) -> None:
    child = family.load("sub_new")
    family.rename("ses_a", "plan")
    assert child.parent_id == "plan"
    child.append("user", "more")
    assert on_disk(child)["parent_id"] == "plan"


def test_a_name_that_is_taken_is_not_given(family: ReplioStore) -> None:
    files = {path.name: path.read_bytes() for path in family.sessions_dir.iterdir()}
    with pytest.raises(NameTakenError):
        family.rename("ses_a", "sub_new")
    with pytest.raises(SessionNotFoundError):
        family.rename("none", "new")
    assert {path.name: path.read_bytes() for path in family.sessions_dir.iterdir()} == files


def test_an_automatic_name_takes_the_links_along(tmp_path: Path) -> None:
    clock = Clock()
    store = store_in(tmp_path, clock=clock)
    parent = store.create()
    parent.append("system", "Be terse.")
    child = store.create(parent=parent.name)
    child.append("user", "look")
    store.finish(child)
    clock.tick()
    parent.append("user", "What is OEE?")
    assert parent.name == f"ses_{STAMP}_what_is_oee"
    assert (child.parent_id, store.parent(child.name)) == (parent.name, parent.name)
    assert store.dangling() == []
    assert on_disk(parent)["updated_at"] == LATER
    assert on_disk(child)["updated_at"] == TIME


@pytest.mark.parametrize("name", [None, "explicit"])
@pytest.mark.parametrize("way", ["rename", "append"])
def test_a_child_that_has_no_file_yet_follows_too(tmp_path: Path, way: str, name: str | None) -> None:
    store = store_in(tmp_path)
    parent = store.create()
    parent.append("system", "Be terse.")
    child = store.create(name, parent=parent.name)
    if way == "rename":
        store.rename(parent.name, "plan")
    else:
        parent.append("user", "plan")
    child.append("user", "look")
    assert on_disk(child)["parent_id"] == child.parent_id == parent.name != f"ses_{STAMP}"
    assert store.dangling() == []


def test_a_session_never_names_itself(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", parent_id="s", sub_sessions=["s"]))
    store.rename("s", "t")
    session = store.read("t")
    assert (session.parent_id, session.sub_sessions, store.list()) == ("t", ("t",), ["t"])
