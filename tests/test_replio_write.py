"""What is written of a Replio session: its layout, what stays as it was, and that nothing that was written is lost."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from full_disk_replio import WORK
from met import REPLIO_CASES
from replio_support import (
    LATER,
    SEED_KEYS,
    TIME,
    Clock,
    command,
    contents,
    document,
    dumped,
    on_disk,
    put,
    result,
    store_in,
    user,
)
from scenarios_replio import SCENARIOS
from scripts import own_disk, run
from sessiontree import ConflictError
from vectors_replio import value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessiontree.replio import ReplioSession, ReplioStore

posix = pytest.mark.skipif(os.name != "posix", reason="signals, limits and permissions of POSIX")


# The layout


def test_a_new_file_is_laid_out_as_the_seed_has_it(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    text = 'Größe \U0001f680 \u2028 \x7f " \\ /\t'
    more: dict[str, Any] = {"empty": [[], {}], "nested": {"a": [1, {"b": 8.0}]}}
    session.append("user", text, id="msg_1", **more)
    assert session.path is not None
    assert session.path.read_bytes() == dumped(document("s", user(text, id="msg_1", **more)))
    assert list(on_disk(session)) == SEED_KEYS


def test_a_file_keeps_the_order_of_its_keys_and_those_that_nobody_knows(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = put(
        store, "s", {"role": "lead", "errors": [], "messages": [], "x": {"y": [1.0]}, "name": "s", "updated_at": TIME}
    )
    store.load("s").append("user", "hi", id="m")
    file = value(path)
    assert list(file)[:6] == ["role", "errors", "messages", "x", "name", "updated_at"]
    assert set(file) == {"role", "x", *SEED_KEYS}
    assert (file["role"], file["x"]) == ("lead", {"y": [1.0]})
    assert path.read_bytes() == dumped(file)


ODD_MESSAGE = (
    b'{ "role":"user" ,\n"n":[1E5,-0,1.50,8.0,123456789012345678901234567890],"c\\u0041":"\\/\\u00e9", "a":1,"a":2}'
)


def test_untouched_messages_keep_their_bytes(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", b'\xef\xbb\xbf{"messages" :[%s,\t5 , %s],"odd": 1.50 }' % (ODD_MESSAGE, ODD_MESSAGE))
    session = store.load("s")
    session.append("user", "hi")
    session.add_error(1, "x")
    store.save()
    data = path.read_bytes()
    assert data.count(ODD_MESSAGE) == 2
    assert b'"odd": 1.50' in data
    assert [value(path)["messages"][number] for number in (1, 3)] == [5, {**session.messages[2]}]


def test_what_was_written_once_is_written_the_same_again(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    session = store.create("s")
    session.append("user", "hi", more={"a": [1, 2.0]})
    first = (store.sessions_dir / "s.json").read_bytes()
    store.load("s")
    store.save()
    assert (store.sessions_dir / "s.json").read_bytes() == first


@posix
def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", document("s"))
    path.chmod(0o640)
    store.load("s").append("user", "hi")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in store.sessions_dir.iterdir()] == ["s.json"]


@posix
def test_a_link_stays_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    kept = tmp_path / "kept.json"
    kept.write_bytes(dumped(document("kept")))
    (store.sessions_dir / "s.json").symlink_to(kept)
    store.load("s").append("user", "hi")
    assert (store.sessions_dir / "s.json").is_symlink()
    assert contents(value(kept)["messages"]) == ["hi"]


# When it is written


def test_a_session_with_nothing_in_it_is_not_written(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    session = store.create()
    assert (store.list(), session.path) == ([], None)
    assert session.append("assistant", None) is None
    assert store.list() == []


@pytest.mark.parametrize("kind", ["error", "permission"])
def test_a_session_of_errors_or_permissions_alone_is_written(tmp_path: Path, kind: str) -> None:
    session = store_in(tmp_path).create("s")
    if kind == "error":
        session.add_error(401, "Unauthorized")
    else:
        session.add_permission("run", "deny", "denied")
    again = store_in(tmp_path).read("s")
    assert (again.errors, again.permissions) == (session.errors, session.permissions)
    assert len(again.errors + again.permissions) == 1


def test_each_message_of_a_turn_is_written_at_once(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    for number, role in enumerate(["user", "assistant", "tool", "command", "system"]):
        session.append(role, "x")
        assert len(store_in(tmp_path).read("s").messages) == number + 1


def test_without_autosave_nothing_is_written_until_it_is_asked_for(tmp_path: Path) -> None:
    store = store_in(tmp_path, autosave=False)
    assert store.save() is None
    session = store.create("s")
    for change in (
        lambda: session.append("user", "hi"),
        lambda: session.add_error(1, "x"),
        lambda: session.compact("S", keep=1),
    ):
        change()
        assert store.list() == []
    path = store.sessions_dir / "s.json"
    assert (store.save(), session.path) == (path, path)
    session.append("user", "more")
    assert contents(on_disk(session)["messages"]) == ["hi"]
    assert store.save(session) == path
    assert contents(on_disk(session)["messages"]) == ["hi", "more"]


def test_saving_does_not_move_the_time(tmp_path: Path) -> None:
    clock = Clock()
    store = store_in(tmp_path, clock=clock)
    put(store, "s", document("s"))
    clock.tick()
    store.load("s")
    store.save()
    assert value(store.sessions_dir / "s.json")["updated_at"] == TIME
    assert clock.now.isoformat() == LATER


# What is written of a tool's result


def test_a_result_is_whole_in_memory_and_shaped_on_disk(tmp_path: Path) -> None:
    session = store_in(tmp_path, session_tool_max_chars=10, noise_tools=["web"]).create("s")
    for role, tool in (("tool", "web"), ("tool", "grep"), ("user", "web"), ("tool", None)):
        session.append(role, "🚀23456789ab", tool=tool, tool_call_id="c", analysis="0123456789ab")
    assert contents(session.messages) == ["🚀23456789ab"] * 4
    assert contents(on_disk(session)["messages"]) == [
        "[web result excluded from log, see tool call above for parameters]",
        "🚀23456789a… (truncated from 11 chars)",
        "🚀23456789ab",
        "🚀23456789a… (truncated from 11 chars)",
    ]
    assert {message["analysis"] for message in on_disk(session)["messages"]} == {"0123456789ab"}


def test_what_is_no_text_is_not_shaped(tmp_path: Path) -> None:
    store = store_in(tmp_path, session_tool_max_chars=2)
    messages = [result("c", None, "open"), result("c", ["long enough"], "open")]
    put(store, "s", document("s", *messages))
    store.load("s")
    store.save()
    assert value(store.sessions_dir / "s.json")["messages"] == messages


@pytest.mark.parametrize(
    ("max_chars", "text"),
    [(0, "x" * 30), (-1, "x" * 30), (10**30, "x" * 30), (30, "x" * 30), (29, "x" * 29 + "… (truncated from 30 chars)")],
)
def test_a_cap_of_exactly_the_length_cuts_nothing(tmp_path: Path, max_chars: int, text: str) -> None:
    session = store_in(tmp_path, session_tool_max_chars=max_chars).create("s")
    session.append("tool", "x" * 30, tool="grep")
    assert contents(on_disk(session)["messages"]) == [text]


def reshaped(project: Path, max_chars: int) -> str:
    """What becomes of the result when the session is loaded and saved with this cap."""
    store = store_in(project, session_tool_max_chars=max_chars)
    session = store.load("s")
    session.append("user", "more")
    text = on_disk(session)["messages"][0]["content"]
    assert isinstance(text, str)
    return text


def test_a_text_that_was_cut_is_not_cut_again(tmp_path: Path) -> None:
    session = store_in(tmp_path, session_tool_max_chars=10).create("s")
    session.append("tool", "x" * 100, tool="grep")
    once = "xxxxxxxxxx… (truncated from 100 chars)"
    assert contents(on_disk(session)["messages"]) == [once]
    assert [reshaped(tmp_path, cap) for cap in (10, 10, 20, 0)] == [once] * 4
    assert [reshaped(tmp_path, cap) for cap in (5, 10)] == ["xxxxx… (truncated from 100 chars)"] * 2


@pytest.mark.parametrize("sign", [",", ";"])
def test_a_result_that_was_left_out_stays_as_it_is(tmp_path: Path, sign: str) -> None:
    marker = f"[grep result excluded from log{sign} see tool call above for parameters]"
    put(store_in(tmp_path), "s", document("s", result("c", marker, "grep")))
    assert reshaped(tmp_path, 5) == marker


# Someone else


CHANGES: dict[str, Callable[[ReplioStore, ReplioSession], object]] = {
    "append": lambda _, session: session.append("user", "mine"),
    "error": lambda _, session: session.add_error(1, "mine"),
    "permission": lambda _, session: session.add_permission("a", "b", "mine"),
    "compact": lambda _, session: session.compact("mine", keep=1),
    "save": lambda store, session: store.save(session),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_another_one_wrote_is_not_overwritten(tmp_path: Path, change: str) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", user("old"), user("older")))
    one, other = store.read("s"), store.read("s")
    one.append("user", "one")
    before, data = (
        (other.messages, other.errors, other.permissions, other.updated_at),
        (store.sessions_dir / "s.json").read_bytes(),
    )
    for _ in range(2):
        with pytest.raises(ConflictError) as caught:
            CHANGES[change](store, other)
        assert caught.value.path == store.sessions_dir / "s.json"
    assert (other.messages, other.errors, other.permissions, other.updated_at) == before
    assert (store.sessions_dir / "s.json").read_bytes() == data
    again = store.read("s")
    again.append("user", "now")
    assert contents(on_disk(again)["messages"]) == ["old", "older", "one", "now"]


def test_a_bare_command_that_was_completed_is_bare_again_where_that_was_not_saved(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", user(), user(), command("/compact")))
    one, other = store.read("s"), store.read("s")
    one.append("user", "one")
    with pytest.raises(ConflictError):
        other.compact("S", keep=1)
    assert (other.messages[-1], other.has_summary) == (command("/compact"), False)


def test_a_change_that_the_size_does_not_show_is_noticed(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", document("s", user("old")))
    session, before = store.load("s"), path.stat()
    changed = path.read_bytes().replace(b'"old"', b'"new"')
    path.write_bytes(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    with pytest.raises(ConflictError):
        session.append("user", "mine")
    assert path.read_bytes() == changed


def test_a_file_that_has_gone_is_not_brought_back(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", document("s", user("old")))
    session = store.load("s")
    path.unlink()
    with pytest.raises(ConflictError):
        session.append("user", "mine")
    assert (store.list(), contents(session.messages)) == ([], ["old"])


def test_threads_share_a_session_and_lose_nothing(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    session.append("system", "start")
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda number: session.append("user", str(number)), range(120)))
    found = [message["id"] for message in on_disk(session)["messages"][1:]]
    assert sorted(found) == sorted(str(one) for one in made)


CALLS_BETWEEN = 2
"""A program that knows no lock can come between the last look at a file and its replacement, of which there is one."""


@posix
@pytest.mark.parametrize("name", REPLIO_CASES)
def test_a_writer_meets_another_one_at_any_call(tmp_path: Path, name: str) -> None:
    result = run("met.py", name, tmp_path)
    if name == "replio-foreign":
        assert all("lost: ['foreign']" in problem for problem in result["problems"])
        assert len(result["problems"]) <= CALLS_BETWEEN, result["problems"]
    else:
        assert result["problems"] == []
    assert result["stops"] > 10


# Broken off, no room, no permission


@posix
@pytest.mark.parametrize("name", SCENARIOS)
def test_work_that_is_killed_at_any_call_leaves_whole_files(tmp_path: Path, name: str) -> None:
    report = run("killed.py", "calls", name, tmp_path)
    assert report["problems"] == []
    assert report["kills"] > 10


@posix
@pytest.mark.parametrize("name", SCENARIOS)
def test_work_that_is_killed_at_any_time_leaves_whole_files(tmp_path: Path, name: str) -> None:
    report = run("killed.py", "times", name, tmp_path, "60")
    assert report["problems"] == []
    assert report["kills"] > 0


def assert_disk(results: dict[str, list[dict[str, Any]]], error: str) -> None:
    assert results.keys() == WORK.keys()
    for name, each in results.items():
        for one in each:
            assert one == {"error": error, "unchanged": True, "as_before": True, "whole": True}, name


@posix
def test_a_file_that_may_not_grow_is_as_it_was(tmp_path: Path) -> None:
    assert_disk(run("full_disk_replio.py", "limit", tmp_path), "EFBIG")


@posix
def test_a_full_disk_leaves_files_as_they_were(tmp_path: Path) -> None:
    assert_disk(run("full_disk_replio.py", "disk", tmp_path, before=own_disk(tmp_path)), "ENOSPC")


@posix
def test_a_folder_that_may_only_be_read(open_folder: Path) -> None:
    for name, mode in (("s", 0o444), ("closed", 0)):
        path = open_folder / f"{name}.json"
        path.write_bytes(dumped(document(name, user())))
        path.chmod(mode)
    open_folder.chmod(0o555)
    found = run("read_only_replio.py", open_folder)
    assert found.pop("export") > 0
    assert (found.pop("list"), found.pop("infos")) == (["closed", "s"], ["s"])
    assert found == dict.fromkeys(found, True)
    assert json.loads((open_folder / "s.json").read_bytes()) == document("s", user())
