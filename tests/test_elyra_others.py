"""Sessions that others change while they are open: growth is noticed, everything else is a conflict."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from elyra_support import answer, entry, header, ids, line, old_session, records, session, state, user
from sessiontree import ConflictError, SessionManager

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

FOREIGN = line(entry("f0000001", "e3000003", message=answer("Foreign")))
LABEL = line(entry("f0000002", "f0000001", "label", targetId="e1000001", label="here"))
NAME = line(entry("f0000003", "f0000002", "session_info", name="Renamed"))


class Interrupted(Exception):
    """What a signal's handler raises."""


def append(path: Path, data: bytes) -> None:
    """Append without a lock, as a program that knows of none."""
    with path.open("ab", buffering=0) as file:
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())
    return path


# Growth


@pytest.mark.parametrize("read_only", [False, True])
def test_what_others_append_is_told_once_and_leaves_the_leaf(path: Path, read_only: bool) -> None:
    with SessionManager.open(path, read_only=read_only) as manager:
        assert manager.refresh() == []
        append(path, FOREIGN + LABEL + NAME)
        assert ids(manager) == ["e1000001", "e2000002", "e3000003"], "not before it is asked for"
        assert [(one.type, one.id) for one in manager.refresh()] == [
            ("message", "f0000001"),
            ("label", "f0000002"),
            ("session_info", "f0000003"),
        ]
        assert manager.refresh() == []
        assert manager.get_leaf_id() == "e3000003"
        assert manager.get_label("e1000001") == "here"
        assert manager.get_session_name() == "Renamed"
        assert [one.id for one in manager.get_children("e3000003")] == ["f0000001"]
        assert [one.id for one in manager.get_tips()] == ["f0000003"]
        assert len(manager.build_session_context().messages) == 3
        manager.branch("f0000003")
        assert manager.build_session_context().messages[-1] == answer("Foreign")


def test_an_append_notices_what_others_appended(path: Path) -> None:
    with SessionManager.open(path) as manager:
        first = manager.append_message(user("One"))
        append(path, FOREIGN)
        second = manager.append_message(user("Two"))
        assert ids(manager)[3:] == [first, "f0000001", second]
        assert manager.get_leaf_id() == second
        assert manager.refresh() == []
    assert [(one["id"], one["parentId"]) for one in records(path)[4:]] == [
        (first, "e3000003"),
        ("f0000001", "e3000003"),
        (second, first),
    ]


def test_our_own_appends_are_not_new(path: Path) -> None:
    with SessionManager.open(path) as manager:
        manager.append_message(user())
        assert manager.refresh() == []


def test_two_managers_see_each_other(path: Path) -> None:
    with SessionManager.open(path) as one, SessionManager.open(path) as other:
        first = one.append_message(user("One"))
        second = other.append_message(user("Other"))
        assert [entry.id for entry in one.refresh()] == [second]
        assert other.refresh() == [], "it noticed when it appended"
        assert ids(one) == ids(other) == ["e1000001", "e2000002", "e3000003", first, second]
        assert (one.get_leaf_id(), other.get_leaf_id()) == (first, second)
        assert [entry.id for entry in one.get_children("e3000003")] == [first, second]
        one.append_label_change(second, "theirs")
        other.refresh()
        assert other.get_label(second) == "theirs"


def test_an_append_waits_for_a_lock_and_can_be_interrupted(path: Path) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with SessionManager.open(path) as manager, path.open("rb") as file:
            expected = state(manager)
            fcntl.flock(file, fcntl.LOCK_EX)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Interrupted):
                manager.append_message(user())
            assert (state(manager), path.read_bytes()) == (expected, session())
            with ThreadPoolExecutor() as pool:
                waiting = pool.submit(manager.append_message, user())
                time.sleep(0.1)
                assert not waiting.done()
                fcntl.flock(file, fcntl.LOCK_UN)
                made = waiting.result(timeout=10)
            assert manager.get_leaf_id() == made
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(records(path)) == 5


def test_a_torn_line_of_others_gets_its_line_break_first(path: Path) -> None:
    with SessionManager.open(path) as manager:
        append(path, FOREIGN[:40])
        made = manager.append_message(user())
        assert (FOREIGN[:40] + b"\n") in path.read_bytes()
        record = json.loads(path.read_bytes().splitlines()[-1])
        assert (record["id"], record["parentId"]) == (made, "e3000003")
        assert [(one.kind, one.line) for one in manager.damage] == [("line", 5)]
        manager.append_message(user())
        assert b"\n\n" not in path.read_bytes()


def test_a_whole_line_without_its_line_break_is_kept(path: Path) -> None:
    with SessionManager.open(path) as manager:
        append(path, FOREIGN.rstrip())
        made = manager.append_message(user())
        assert ids(manager)[3:] == ["f0000001", made]
        assert manager.damage == ()
    assert [one["id"] for one in records(path)[4:]] == ["f0000001", made]


def test_a_missing_last_line_break_is_written_with_the_first_entry(path: Path) -> None:
    path.write_bytes(session().rstrip())
    with SessionManager.open(path) as manager:
        manager.refresh()
        assert path.read_bytes() == session().rstrip(), "reading does not write"
        manager.append_message(user())
    assert path.read_bytes().startswith(session())
    assert len(records(path)) == 5


GROWING = b"".join(
    [
        session(),
        FOREIGN,
        b'{"type":"mess\n',
        b"\r\n",
        LABEL,
        line(header("second")),
        line(entry("f0000001", "e1000001", "custom", customType="again")),
        line(entry("f0000004", "f0000001", message=user("Joined"))).rstrip() + NAME,
        b"\0\0" + line(entry("f0000005", "nowhere", message=user("\u2028 caf\u00e9 \U0001f600"))),
        line(entry("f0000006", "f0000006", "label", targetId="e1000001")),
        b'{"type":"message","id":"f0000007","parentId":"f0000005","message":{"role":"user","content":"\xff"}}\n',
        line(entry("f0000008", "f0000007", message=user("End"))),
    ]
)


def facts(manager: SessionManager) -> dict[str, Any]:
    """All that does not depend on the leaf."""
    return {
        "entries": [one.raw for one in manager.get_entries()],
        "parents": [one.parent_id for one in manager.get_entries()],
        "tips": [one.id for one in manager.get_tips()],
        "roots": [one.id for one in manager.get_children(None)],
        "tree": [one.to_dict() for one in manager.get_tree()],
        "label": manager.get_label("e1000001"),
        "name": manager.get_session_name(),
        "damage": [(one.kind, one.line, one.offset) for one in manager.damage if one.kind != "tip"],
        "usage": manager.usage(),
    }


def test_a_file_that_grows_in_two_pieces_is_read_as_one(path: Path) -> None:
    path.write_bytes(GROWING)
    with SessionManager.open(path, read_only=True) as manager:
        expected = facts(manager)
        assert len(ids(manager)) == 12
    start = len(line(header()))
    for size in range(start, len(GROWING)):
        path.write_bytes(GROWING[:size])
        with SessionManager.open(path, read_only=True) as manager:
            leaf = manager.get_leaf_id()
            append(path, GROWING[size:])
            manager.refresh()
            assert facts(manager) == expected, f"cut at {size}"
            assert manager.get_leaf_id() == leaf


def test_a_line_without_its_end_is_left_for_the_next_time(path: Path) -> None:
    with SessionManager.open(path, read_only=True) as manager:
        for piece in (FOREIGN[:1], FOREIGN[1:40], FOREIGN[40:-1]):
            append(path, piece)
            assert manager.refresh() == []
            assert manager.damage == ()
        append(path, b"\n")
        assert [one.id for one in manager.refresh()] == ["f0000001"]


def test_a_file_that_grows_byte_by_byte_tells_each_entry_once(path: Path) -> None:
    start = len(line(header()))
    path.write_bytes(GROWING[:start])
    told = []
    with SessionManager.open(path, read_only=True) as manager:
        for size in range(start, len(GROWING)):
            append(path, GROWING[size : size + 1])
            told += manager.refresh()
        assert [one.id for one in told] == ids(manager)
        got = facts(manager)
    with SessionManager.open(path, read_only=True) as manager:
        assert got == facts(manager)


# Everything else


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(session("s2", text="Other") + FOREIGN)
    other.replace(path)


def cut(path: Path) -> None:
    os.truncate(path, len(session()) - 10)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def rewrite_shorter(path: Path) -> None:
    path.write_bytes(session("s2", text=""))


def rewrite_longer(path: Path) -> None:
    path.write_bytes(session("another session", text="Other text " * 20) + FOREIGN)


CHANGES = [delete, replace, cut, empty, rewrite_shorter, rewrite_longer]
CALLS: dict[str, Callable[[SessionManager], object]] = {
    "append": lambda manager: manager.append_message(user()),
    "label": lambda manager: manager.append_label_change("e1000001", "x"),
    "branch_with_summary": lambda manager: manager.branch_with_summary("e1000001", "Left"),
    "refresh": lambda manager: manager.refresh(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", CALLS)
def test_a_changed_file_is_a_conflict_and_stays_as_it_is(path: Path, change: Callable[[Path], None], call: str) -> None:
    with SessionManager.open(path) as manager:
        before = state(manager)
        change(path)
        after = path.read_bytes() if path.exists() else None
        for _ in range(2):
            with pytest.raises(FileNotFoundError if change is delete else ConflictError) as caught:
                CALLS[call](manager)
            assert str(path) in str(caught.value)
            assert state(manager) == before
            assert (path.read_bytes() if path.exists() else None) == after, "never written to, never made again"
        assert [one for one in path.parent.iterdir() if one != path] == []


def test_the_error_of_a_deleted_file_names_it(path: Path) -> None:
    with SessionManager.open(path) as manager:
        path.unlink()
        with pytest.raises(FileNotFoundError) as caught:
            manager.append_message(user())
    assert (caught.value.filename, caught.value.errno) == (str(path), 2)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_read_late_is_right_or_a_conflict(path: Path, change: Callable[[Path], None]) -> None:
    with SessionManager.open(path) as manager:
        entries = manager.get_entries()
        change(path)
        if change in (delete, replace):  # what was open is still what it was, though nobody else can see it
            for one, record in zip(entries, session().splitlines()[1:], strict=True):
                try:
                    assert one.raw == json.loads(record)
                except ConflictError:
                    continue
        else:
            with pytest.raises(ConflictError):
                _ = entries[-1].raw
            with pytest.raises(ConflictError):
                manager.build_session_context()


def test_what_is_read_late_is_right_after_growth(path: Path) -> None:
    with SessionManager.open(path) as manager:
        entries = manager.get_entries()
        append(path, FOREIGN)
        made = manager.append_message(user("Ours"))
        assert [one.raw for one in entries] == [json.loads(one) for one in session().splitlines()[1:]]
        found = manager.get_entry(made)
        assert found is not None
        assert found.raw["message"] == user("Ours")
        assert manager.build_session_context().messages[-1] == user("Ours")


@pytest.mark.parametrize("change", [replace, rewrite_shorter, rewrite_longer])
def test_who_opens_the_changed_file_again_goes_on(path: Path, change: Callable[[Path], None]) -> None:
    with SessionManager.open(path) as manager:
        change(path)
        after = path.read_bytes()
        with pytest.raises(ConflictError):
            manager.append_message(user())
        manager.set_session_file(path)
        manager.append_message(user())
    assert path.read_bytes().startswith(after)
    assert len(records(path)) == after.count(b"\n") + 1


def test_a_reader_of_an_old_file_notices_its_migration(path: Path) -> None:
    path.write_bytes(old_session())
    with SessionManager.open(path, read_only=True) as reader:
        before = ids(reader)
        SessionManager.open(path).close()
        with pytest.raises(ConflictError):
            reader.refresh()
        assert ids(reader) == before
    with SessionManager.open(path, read_only=True) as reader:
        assert ids(reader) == before, "migrating in memory and in the file comes to the same"


def test_a_session_that_is_not_there_yet_is_no_conflict(tmp_path: Path) -> None:
    with SessionManager.create("/team/app", tmp_path) as manager:
        assert manager.refresh() == []
        manager.append_model_change("acme", "acme-1")
        assert manager.refresh() == []


def test_a_file_whose_lines_have_moved_is_a_conflict_even_where_its_end_is_the_same(path: Path) -> None:
    lines = [line(header()), *(line(entry(f"a{n}", None, message=user("x" * 9))) for n in range(2))]
    rest = b"".join(line(entry(f"b{n}", "a1", message=user("y" * 600))) for n in range(3))
    path.write_bytes(b"".join(lines) + rest)
    with SessionManager.open(path, read_only=True) as manager:
        first = manager.get_entries()[0]
        longer = line(entry("a0", None, message=user("x" * 12)))
        shorter = line(entry("a1", None, message=user("x" * 6)))
        path.write_bytes(lines[0] + longer + shorter + rest + line(entry("c", "b2", message=user())))
        with pytest.raises(ConflictError):
            _ = first.raw
        manager.branch("b2")
        with pytest.raises(ConflictError):
            manager.build_session_context()
