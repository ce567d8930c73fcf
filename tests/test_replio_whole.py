"""A change of a Replio session and its writing are one; and what hangs together is kept together."""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from replio_support import STAMP, contents, document, on_disk, put, store_in, user
from sessiontree import ConflictError, ReadOnlyError
from sessiontree.replio import ReplioSession, ReplioStore

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


class Interrupted(BaseException):
    pass


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such timer")
def test_what_an_interrupt_meets_is_in_memory_and_on_the_disk_or_in_neither(tmp_path: Path) -> None:
    is_armed = False

    def interrupt(_: int, __: FrameType | None) -> None:
        if is_armed:
            raise Interrupted

    session = store_in(tmp_path).create("s")
    session.append("user", "by now all modules are loaded")
    before = signal.signal(signal.SIGALRM, interrupt)
    met = 0
    try:
        for number in range(60):
            try:
                is_armed = True
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + number * 0.00003)
                session.append("user", str(number))
                is_armed = False
            except Interrupted:
                is_armed, met = False, met + 1
            there = contents(on_disk(store_in(tmp_path).read("s"))["messages"])
            assert [message["content"] for message in session.messages] == there
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert met


def test_threads_that_share_a_session_lose_nothing(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    work = [
        threading.Thread(target=lambda n=n: [session.append("user", f"{n}.{i}") for i in range(20)]) for n in range(3)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    there = contents(on_disk(store_in(tmp_path).read("s"))["messages"])
    assert sorted(map(str, there)) == sorted(f"{n}.{i}" for n in range(3) for i in range(20))
    assert [message["content"] for message in session.messages] == there


def test_a_project_of_documents_that_are_no_sessions_is_a_project(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "x", "version": "1"}', encoding="utf-8")
    store = ReplioStore(tmp_path)
    assert (store.project, store.list(), store.delete("package")) == (tmp_path, [], False)
    assert ReplioStore(tmp_path / ".replio").sessions_dir == store.sessions_dir


def test_an_export_takes_the_place_of_no_session_anywhere(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    store, other = store_in(tmp_path / "one"), store_in(tmp_path / "other")
    put(store, "a", document("a", user("hi")))
    there = put(other, "b", document("b"))
    before = there.read_bytes()
    with pytest.raises(ValueError, match="never takes the place"):
        store.export("a", there)
    assert there.read_bytes() == before
    page = tmp_path / "page.md"
    page.write_text("old", encoding="utf-8")
    page.chmod(0o640)
    assert store.export("a", page) == page
    assert page.read_text(encoding="utf-8").startswith("# Session: a")
    assert page.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["page.md"]


def test_a_child_of_another_process_follows_the_slug(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    session = store.create()
    session.append("system", "be brief")
    child = store_in(tmp_path).create(parent=session.name)
    child.append("user", "hi")
    session.append("user", "What is OEE?")
    assert store.parent(child.name) == session.name == f"ses_{STAMP}_what_is_oee"
    assert store.dangling() == []


def test_a_child_in_memory_follows_a_parent_whose_name_was_taken(tmp_path: Path) -> None:
    store, other = store_in(tmp_path), store_in(tmp_path)
    parent = store.create()
    child = store.create(parent=parent.name)
    other.create().append("system", "the other one")
    parent.append("system", "x")
    assert (parent.name, child.parent_id) == (f"ses_{STAMP}_2", f"ses_{STAMP}_2")


def test_a_rename_is_followed_through(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "par", document("par"))
    children = []
    for number in range(3):
        put(store, f"c{number}", document(f"c{number}", parent_id="par"))
        children.append(store.load(f"c{number}"))
    store_in(tmp_path).read("c0").append("user", "elsewhere")
    store.rename("par", "new")
    assert [store.parent(child.name) for child in children] == ["new"] * 3
    assert contents(on_disk(store.read("c0"))["messages"]) == ["elsewhere"]


def test_finishing_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_in(tmp_path)
    put(store, "par", document("par"))
    parent = store.load("par")
    child = store.create(parent="par")
    child.append("user", "hi")
    store_in(tmp_path).read("par").append("user", "elsewhere")
    with pytest.raises(ConflictError):
        store.finish(child)
    assert parent.sub_sessions == ()
    store.load("par")
    store.finish(child)
    assert on_disk(store.read("par"))["sub_sessions"] == [child.name]


@pytest.mark.parametrize("name", ["ses_20260101_000000", "mine"])
def test_a_given_name_is_never_changed(tmp_path: Path, name: str) -> None:
    store = store_in(tmp_path)
    session = store.create(name)
    session.append("system", "x")
    session.append("user", "hello there")
    assert (session.name, store.list()) == (name, [name])
    other = store.create("other")
    other.append("system", "x")
    store.rename("other", "ses_20260101_000001")
    other.append("user", "hello there")
    assert other.name == "ses_20260101_000001"


def test_a_log_of_turns_is_not_summed_up(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    turns = [{"index": n, "parts": [{"type": "user", "text": "x"}]} for n in range(1, 9)]
    put(store, "t", {"turns": turns})
    session = store.read("t")
    with pytest.raises(ReadOnlyError, match="turns"):
        session.compact(lambda _: pytest.fail("nobody is to be called"), keep=1)
    with pytest.raises(ReadOnlyError, match="turns"):
        session.append("user", "x")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right of their own there")
def test_a_link_that_leads_in_a_circle_is_no_session(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "a", document("a"))
    (store.sessions_dir / "l.json").symlink_to("l.json")
    assert (store.list(), store.children("a"), store.dangling()) == (["a"], [], [])


def test_a_session_is_saved_by_its_own_store_alone(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    session = store_in(tmp_path / "one").create("s")
    other = store_in(tmp_path / "other")
    with pytest.raises(ValueError, match="another store's"):
        other.save(session)
    assert other.list() == []


def test_what_is_no_text_is_refused_where_one_is_expected(tmp_path: Path) -> None:
    session: ReplioSession = store_in(tmp_path).create("s")
    odd: list[tuple[str, tuple[object, ...], dict[str, object]]] = [
        ("append", (5, "x"), {}),
        ("append", ("user", "x"), {"id": 7}),
        ("add_error", (500, {}), {}),
        ("add_permission", ("t", 1, "granted"), {}),
        ("compact", ("\ud800",), {"keep": 1}),
    ]
    session.append("user", "a")
    session.append("user", "b")
    for name, arguments, fields in odd:
        with pytest.raises((TypeError, ValueError), match=r"expected (a )?text"):
            getattr(session, name)(*arguments, **fields)
    assert len(session.messages) == 2
    assert session.compact("x", keep=10**30) is None
