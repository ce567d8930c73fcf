"""What a `SessionManager` writes: the form of each entry, the file it goes to, and what is refused."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from elyra_support import answer, ids, no_leftovers, old_session, records, session, state, user
from sessiontree import (
    EntryNotFoundError,
    ReadOnlyError,
    SessionManager,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())
    return path


def appended(path: Path) -> list[str]:
    """The lines behind those that were there."""
    data = path.read_bytes()
    assert data.startswith(session())
    assert data.endswith(b"\n")
    return data[len(session()) : -1].decode().split("\n")


# The form of an entry

USAGE = {"input": 1, "output": 2, "cost": {"total": 0.5}}

APPENDS: list[tuple[Callable[[SessionManager], str], dict[str, Any]]] = [
    (lambda m: m.append_message(user("Hi")), {"type": "message", "message": user("Hi")}),
    (lambda m: m.append_message(answer()), {"type": "message", "message": answer()}),
    (lambda m: m.append_message({"role": "new", "x": 1}), {"type": "message", "message": {"role": "new", "x": 1}}),
    (
        lambda m: m.append_thinking_level_change("high"),
        {"type": "thinking_level_change", "thinkingLevel": "high"},
    ),
    (
        lambda m: m.append_model_change("acme", "acme-1"),
        {"type": "model_change", "provider": "acme", "modelId": "acme-1"},
    ),
    (
        lambda m: m.append_compaction("Sum", "e2000002", 50),
        {"type": "compaction", "summary": "Sum", "firstKeptEntryId": "e2000002", "tokensBefore": 50},
    ),
    (
        lambda m: m.append_compaction("Sum", "unknown", 0, {"readFiles": []}, True),
        {
            "type": "compaction",
            "summary": "Sum",
            "firstKeptEntryId": "unknown",
            "tokensBefore": 0,
            "details": {"readFiles": []},
            "fromHook": True,
        },
    ),
    (
        lambda m: m.append_compaction("Sum", "e2000002", 50, from_hook=False),
        {
            "type": "compaction",
            "summary": "Sum",
            "firstKeptEntryId": "e2000002",
            "tokensBefore": 50,
            "fromHook": False,
        },
    ),
    (lambda m: m.append_custom_entry("state"), {"type": "custom", "customType": "state"}),
    (
        lambda m: m.append_custom_entry("state", {"count": 42}),
        {"type": "custom", "customType": "state", "data": {"count": 42}},
    ),
    (
        lambda m: m.append_custom_entry("state", 0),
        {"type": "custom", "customType": "state", "data": 0},
    ),
    (lambda m: m.append_session_info("Named"), {"type": "session_info", "name": "Named"}),
    (
        lambda m: m.append_session_info(" \tOne\r\n\r\ntwo\nthree\r "),
        {"type": "session_info", "name": "One two three"},
    ),
    (lambda m: m.append_session_info(""), {"type": "session_info", "name": ""}),
    (
        lambda m: m.append_custom_message_entry("memo", "Text", True),
        {"type": "custom_message", "customType": "memo", "content": "Text", "display": True},
    ),
    (
        lambda m: m.append_custom_message_entry("memo", [{"type": "text", "text": "x"}], False, {"a": 1}),
        {
            "type": "custom_message",
            "customType": "memo",
            "content": [{"type": "text", "text": "x"}],
            "display": False,
            "details": {"a": 1},
        },
    ),
    (
        lambda m: m.append_label_change("e1000001", "start"),
        {"type": "label", "targetId": "e1000001", "label": "start"},
    ),
    (lambda m: m.append_label_change("e1000001", None), {"type": "label", "targetId": "e1000001"}),
    (lambda m: m.append_label_change("e1000001", ""), {"type": "label", "targetId": "e1000001"}),
    (
        lambda m: m.append_usage("title", "acme", "acme-1", USAGE),
        {"type": "usage", "kind": "title", "provider": "acme", "model": "acme-1", "usage": USAGE},
    ),
    (
        lambda m: m.append_usage("title", "acme", "acme-1", USAGE, "why"),
        {"type": "usage", "kind": "title", "provider": "acme", "model": "acme-1", "usage": USAGE, "note": "why"},
    ),
    (
        lambda m: m.append_context_edit("e1000001", None),
        {"type": "context_edit", "targetId": "e1000001", "replacement": None},
    ),
    (
        lambda m: m.append_context_edit("e1000001", {"content": "Shorter"}),
        {"type": "context_edit", "targetId": "e1000001", "replacement": {"content": "Shorter"}},
    ),
    (
        lambda m: m.branch_with_summary("e1000001", "Left"),
        {"type": "branch_summary", "fromId": "e3000003", "summary": "Left"},
    ),
    (
        lambda m: m.branch_with_summary("e1000001", "Left", {"a": []}, True),
        {"type": "branch_summary", "fromId": "e3000003", "summary": "Left", "details": {"a": []}, "fromHook": True},
    ),
]


@pytest.mark.parametrize(("append", "payload"), APPENDS)
def test_an_entry_is_written_as_the_format_has_it(
    path: Path, append: Callable[[SessionManager], str], payload: dict[str, Any]
) -> None:
    before = datetime.now(UTC)
    with SessionManager.open(path) as manager:
        made = append(manager)
        assert manager.get_leaf_id() == made
        leaf = manager.get_leaf_entry()
        assert leaf is not None
        [text] = appended(path)
        record = json.loads(text)
        assert leaf.raw == record
        assert (leaf.type, leaf.id, leaf.parent_id) == (record["type"], made, record["parentId"])
    assert re.fullmatch("[0-9a-f]{8}", made)
    parent = "e1000001" if record["type"] == "branch_summary" else "e3000003"
    kind, *rest = payload.items()
    links = [("id", made), ("parentId", parent), ("timestamp", record["timestamp"])]
    assert list(record.items()) == [kind, *links, *rest], "the order of the keys counts"
    assert TIMESTAMP.fullmatch(record["timestamp"])
    now = datetime.fromisoformat(record["timestamp"])
    assert before - timedelta(milliseconds=1) <= now <= datetime.now(UTC)
    assert leaf.timestamp == now
    assert text == json.dumps(record, ensure_ascii=False, separators=(",", ":")), "compact"


def test_texts_are_written_as_they_are(path: Path) -> None:
    text = 'Line\nbreak \u2028 \u0085 \0 \x7f "quoted" \\ caf\u00e9 \U0001f600'
    with SessionManager.open(path) as manager:
        made = manager.append_message(user(text))
    [written] = appended(path)
    assert json.loads(written)["message"] == user(text)
    with SessionManager.open(path) as manager:
        found = manager.get_entry(made)
        assert found is not None
        assert found.raw["message"] == user(text)


def test_numbers_are_written_as_they_are(path: Path) -> None:
    data = [2**53 + 1, 2**63, -(2**63), 0.1, 1e300, -0.0, 10**30, True]
    with SessionManager.open(path) as manager:
        manager.append_custom_entry("numbers", data)
    [written] = appended(path)
    assert repr(json.loads(written)["data"]) == repr(data)


def test_deep_data_is_written(path: Path) -> None:
    data: Any = []
    for _ in range(5000):
        data = [data]
    with SessionManager.open(path) as manager:
        made = manager.append_custom_entry("deep", data)
    assert b"[" * 5001 + b"]" * 5001 in path.read_bytes()
    with SessionManager.open(path) as manager:
        assert manager.get_leaf_id() == made
        assert manager.damage == ()


def test_a_text_that_utf_8_does_not_have_does_no_harm(path: Path) -> None:
    """Refused, or written in some way that is JSON."""
    with SessionManager.open(path) as manager:
        before = state(manager)
        try:
            manager.append_message(user("cut \ud83d off"))
        except ValueError:
            assert (state(manager), path.read_bytes()) == (before, session())
        else:
            assert len(appended(path)) == 1
            assert manager.build_session_context().messages[-1] == user("cut \ufffd off")
    with SessionManager.open(path) as manager:
        assert manager.damage == ()


def test_appends_make_a_chain(path: Path) -> None:
    with SessionManager.open(path) as manager:
        made = [append(manager) for append, payload in APPENDS if payload["type"] != "branch_summary"]
        assert len(set(made)) == len(made)
        assert [one.id for one in manager.get_branch()][3:] == made
        kept = [one.raw for one in manager.get_entries()]
    assert [record["parentId"] for record in records(path)[4:]] == ["e3000003", *made[:-1]]
    with SessionManager.open(path) as manager:
        assert [one.raw for one in manager.get_entries()] == kept
        assert manager.get_leaf_id() == made[-1]
        assert manager.damage == ()


def test_ids_are_unique_where_chance_alone_would_repeat_some() -> None:
    with SessionManager.in_memory() as manager:
        made = [manager.append_thinking_level_change("low") for _ in range(300_000)]
    assert len(set(made)) == len(made)


def test_a_message_stays_the_callers(path: Path) -> None:
    message = user("Before")
    with SessionManager.open(path) as manager:
        made = manager.append_message(message)
        message["content"] = "After"
        found = manager.get_entry(made)
        assert found is not None
        assert found.raw["message"]["content"] == "Before"


def test_a_label_is_set_changed_and_cleared(path: Path) -> None:
    with SessionManager.open(path) as manager:
        for label in ("one", "two", None, "three", ""):
            manager.append_label_change("e1000001", label)
            assert manager.get_label("e1000001") == (label or None)
    with SessionManager.open(path) as manager:
        assert manager.get_label("e1000001") is None


def test_a_name_is_set_and_cleared(path: Path) -> None:
    with SessionManager.open(path) as manager:
        for name, shown in (("One", "One"), (" Two\n", "Two"), ("\n", None), ("Three", "Three"), ("", None)):
            manager.append_session_info(name)
            assert manager.get_session_name() == shown


# The leaf


def test_branch_moves_the_leaf_and_writes_nothing(path: Path) -> None:
    with SessionManager.open(path) as manager:
        manager.branch("e1000001")
        assert manager.get_leaf_id() == "e1000001"
        assert path.read_bytes() == session()
        made = manager.append_message(user())
        assert [one.id for one in manager.get_branch()] == ["e1000001", made]
        assert [one.id for one in manager.get_tips()] == ["e3000003", made]
    assert records(path)[-1]["parentId"] == "e1000001"


def test_after_a_reset_the_next_entry_is_a_root(path: Path) -> None:
    with SessionManager.open(path) as manager:
        manager.reset_leaf()
        assert (manager.get_leaf_id(), manager.get_leaf_entry(), manager.get_branch()) == (None, None, [])
        assert manager.build_session_context().messages == []
        made = manager.append_message(user())
        assert [one.id for one in manager.get_children(None)] == ["e1000001", made]
    assert records(path)[-1]["parentId"] is None


def test_a_branch_summary_names_the_leaf_that_was_left(path: Path) -> None:
    with SessionManager.open(path) as manager:
        first = manager.branch_with_summary("e1000001", "Left the end")
        second = manager.branch_with_summary(None, "Left the summary")
        manager.reset_leaf()
        third = manager.branch_with_summary("e2000002", "Left nothing")
        assert manager.get_leaf_id() == third
    assert [(one["id"], one["parentId"], one["fromId"]) for one in records(path)[4:]] == [
        (first, "e1000001", "e3000003"),
        (second, None, first),
        (third, "e2000002", "root"),
    ]


# What is refused

Call = tuple[str, tuple[Any, ...]]

BAD_CALLS: list[Call] = [
    ("append_message", ({"content": "x"},)),
    ("append_message", ({"role": 5, "content": "x"},)),
    ("append_message", ({"role": None, "content": "x"},)),
    ("append_message", ("text",)),
    ("append_message", (None,)),
    ("append_message", ([("role", "user")],)),
    ("append_message", ({"role": "user", "content": object()},)),
    ("append_message", ({"role": "user", "content": {1, 2}},)),
    ("append_message", ({"role": "user", "content": b"bytes"},)),
    ("append_thinking_level_change", (3,)),
    ("append_thinking_level_change", (None,)),
    ("append_model_change", (1, "m")),
    ("append_model_change", ("p", None)),
    ("append_compaction", (1, "e1000001", 5)),
    ("append_compaction", ("s", None, 5)),
    ("append_compaction", ("s", 7, 5)),
    ("append_compaction", ("s", "e1000001", "5")),
    ("append_compaction", ("s", "e1000001", None)),
    ("append_compaction", ("s", "e1000001", math.nan)),
    ("append_compaction", ("s", "e1000001", math.inf)),
    ("append_compaction", ("s", "e1000001", 5, object())),
    ("append_compaction", ("s", "e1000001", 5, None, "yes")),
    ("append_custom_entry", (5,)),
    ("append_custom_entry", (None,)),
    ("append_custom_entry", ("t", object())),
    ("append_session_info", (5,)),
    ("append_session_info", (None,)),
    ("append_custom_message_entry", (5, "x", True)),
    ("append_custom_message_entry", ("t", 5, True)),
    ("append_custom_message_entry", ("t", None, True)),
    ("append_custom_message_entry", ("t", {"type": "text"}, True)),
    ("append_custom_message_entry", ("t", "x", "yes")),
    ("append_custom_message_entry", ("t", "x", None)),
    ("append_label_change", ("e1000001", 5)),
    ("append_label_change", (5, "x")),
    ("append_label_change", (None, "x")),
    ("append_usage", (5, "p", "m", USAGE)),
    ("append_usage", ("k", None, "m", USAGE)),
    ("append_usage", ("k", "p", 5, USAGE)),
    ("append_usage", ("k", "p", "m", 5)),
    ("append_usage", ("k", "p", "m", None)),
    ("append_usage", ("k", "p", "m", USAGE, 5)),
    ("append_context_edit", (5, None)),
    ("append_context_edit", ("e1000001", 5)),
    ("append_context_edit", ("e1000001", "text")),
    ("append_context_edit", ("e1000001", {})),
    ("append_context_edit", ("e1000001", {"content": 5})),
    ("branch", (None,)),
    ("branch", (5,)),
    ("branch_with_summary", ("e1000001", 5)),
    ("branch_with_summary", ("e1000001", None)),
    ("branch_with_summary", (5, "s")),
    ("branch_with_summary", ("e1000001", "s", object())),
    ("branch_with_summary", ("e1000001", "s", None, "yes")),
    ("create_branched_session", (None,)),
    ("create_branched_session", (5,)),
]


@pytest.mark.parametrize(("call", "arguments"), BAD_CALLS)
def test_a_bad_argument_is_refused_before_anything_changes(path: Path, call: str, arguments: tuple[Any, ...]) -> None:
    with SessionManager.open(path) as manager:
        before = state(manager)
        with pytest.raises((TypeError, ValueError)):
            getattr(manager, call)(*arguments)
        assert state(manager) == before
    assert path.read_bytes() == session()
    assert no_leftovers(path.parent, path)


@pytest.mark.parametrize(
    ("call", "more"),
    [
        ("branch", ()),
        ("append_label_change", ("x",)),
        ("append_label_change", (None,)),
        ("append_context_edit", (None,)),
        ("branch_with_summary", ("s",)),
        ("create_branched_session", ()),
    ],
)
@pytest.mark.parametrize("unknown", ["unknown", "", "E1000001", "s1"])
def test_an_unknown_id_is_an_error_that_names_it(path: Path, call: str, more: tuple[Any, ...], unknown: str) -> None:
    with SessionManager.open(path) as manager:
        before = state(manager)
        with pytest.raises(EntryNotFoundError) as caught:
            getattr(manager, call)(unknown, *more)
        assert caught.value.entry_id == unknown
        assert unknown in str(caught.value)
        assert state(manager) == before
        assert manager.get_entry(unknown) is None
    assert path.read_bytes() == session()
    assert no_leftovers(path.parent, path)


def test_an_id_that_utf_8_does_not_have_is_unknown(path: Path) -> None:
    with SessionManager.open(path) as manager:
        with pytest.raises(EntryNotFoundError) as caught:
            manager.branch("\ud83d")
        assert caught.value.entry_id == "\ud83d"
        assert (manager.get_entry("\ud83d"), manager.get_label("\ud83d")) == (None, None)
        assert manager.get_children("\ud83d") == []


@pytest.mark.parametrize(
    "call",
    [
        lambda m, _: m.append_message(user()),
        lambda m, one: m.append_label_change(one, "x"),
        lambda m, _: m.append_session_info("x"),
        lambda m, one: m.append_context_edit(one, None),
        lambda m, one: m.branch_with_summary(one, "s"),
        lambda m, one: m.create_branched_session(one),
        lambda m, _: m.new_session(),
    ],
)
@pytest.mark.parametrize("data", [session(), old_session()], ids=["current", "old"])
def test_a_read_only_manager_writes_nothing(
    path: Path, data: bytes, call: Callable[[SessionManager, str], object]
) -> None:
    path.write_bytes(data)
    path.chmod(0o444)
    with SessionManager.open(path, read_only=True) as manager:
        before = state(manager)
        first = ids(manager)[0]
        assert first is not None
        with pytest.raises(ReadOnlyError):
            call(manager, first)
        assert state(manager) == before
        manager.branch(first)
        assert manager.get_leaf_id() == first, "walking is no writing"
    assert path.read_bytes() == data
    assert no_leftovers(path.parent, path)
