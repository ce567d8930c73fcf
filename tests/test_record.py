"""A run kept as a session, and a session played as a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from event_support import HEADER, VECTORS, answer, attempt, lines, said, stream, user
from sessiontree import MessageEntry, ReadOnlyError, SessionManager, events
from sessiontree.events import read_run
from sessiontree.record import Recorder, record, replay
from support import vector_file, vectors

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}
OPEN_CALL = {"type": "toolCall", "id": "c2", "name": "ls", "arguments": {}}
RESULT = {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": [], "details": {}, "isError": True}


def recorded(*events: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries that become of events, but for their ids and times."""
    manager = SessionManager.in_memory()
    record(events, manager)
    return [_own(entry.to_dict()) for entry in manager.get_branch()]


def _own(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in ("id", "parentId", "timestamp")}


def messages(manager: SessionManager) -> list[Any]:
    return [entry.raw.get("message") for entry in manager.get_branch() if entry.type == "message"]


def session_of(*kept: dict[str, Any]) -> SessionManager:
    manager = SessionManager.in_memory("/team/app")
    for message in kept:
        manager.append_message(message)
    return manager


def kinds(events: Iterable[Any]) -> list[str]:
    """What events are, in a word each; of messages, whose."""
    return [f"{event['type']}:{event['message']['role']}" if "message" in event else event["type"] for event in events]


# Recording


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_a_real_run_is_kept_as_pi_keeps_it(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with SessionManager.open(path, cwd="/team/app") as manager:
        ids = record(stream(folder), manager)
        assert [entry.id for entry in manager.get_branch()] == ids
        kept = [json.loads(line) for line in (folder / "session.jsonl").read_bytes().split(b"\n") if line]
        assert messages(manager) == [entry["message"] for entry in kept if entry["type"] == "message"]
        used = read_run(stream(folder)).usage
        assert manager.usage() == used
    with SessionManager.open(path, strict=True) as manager:
        assert len(manager.get_branch()) == len(ids)


def test_what_becomes_of_each_event() -> None:
    custom = {"role": "custom", "customType": "x", "content": "c", "display": False, "details": [1], "timestamp": 7}
    result = {"summary": "s", "firstKeptEntryId": "e", "tokensBefore": 9, "usage": {"input": 1}, "new": True}
    assert recorded(
        HEADER,
        *said(user()),
        *said(custom),
        *said({"role": "compactionSummary", "summary": "s"}),
        *said({"role": "branchSummary", "summary": "s"}),
        {"type": "compaction_end", "result": result, "aborted": False},
        {"type": "compaction_end", "result": result, "aborted": True},
        {"type": "compaction_end", "result": None, "aborted": False},
        {"type": "thinking_level_changed", "level": "high"},
        {"type": "thinking_level_changed", "level": 7},
        {"type": "session_info_changed", "name": "Tidy"},
        {"type": "session_info_changed"},
        {"type": "entry_appended", "entry": {"type": "custom", "id": "i", "customType": "y", "data": {"a": 1}}},
        {"type": "entry_appended", "entry": {"type": 'no"velty', "x": 1}},
        {"type": "entry_appended", "entry": {"type": "session", "id": "s"}},
        {"type": "entry_appended", "entry": {"id": "s"}},
        {"type": "entry_appended", "entry": 7},
        {"type": "message_end"},
        *said({"content": "of nobody"}),
    ) == [
        {"type": "message", "message": user()},
        {"type": "custom_message", "customType": "x", "content": "c", "display": False, "details": [1]},
        {"type": "compaction", **result},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "session_info", "name": "Tidy"},
        {"type": "session_info", "name": ""},
        {"type": "custom", "customType": "y", "data": {"a": 1}},
        {"type": 'no"velty', "x": 1},
        {"type": "message", "message": {"content": "of nobody"}},
    ]


def test_a_change_of_the_model_is_told() -> None:
    other = answer(model="acme-2")
    found = recorded(*attempt(user(), answer(), answer(), other, answer(provider=None), other, answer()))
    assert [entry.get("modelId", entry["type"]) for entry in found] == [
        "message",
        "message",
        "message",
        "acme-2",
        "message",
        "message",
        "message",
        "acme-1",
        "message",
    ]
    manager = session_of(user(), answer())
    assert len(record(attempt(user(), answer()), manager)) == 2
    assert len(record(attempt(user(), other), manager)) == 3
    manager.append_model_change("acme", "acme-3")
    assert len(record(attempt(answer(model="acme-3")), manager)) == 1


def test_ids_of_the_other_session_are_mapped_where_they_can_be() -> None:
    manager = session_of(user("before"))
    edit = {"type": "context_edit", "id": "f2", "parentId": "f1", "targetId": "f1", "replacement": None}
    label = {"type": "label", "id": "f3", "parentId": "f2", "targetId": "f2", "label": "l"}
    lost = {"type": "label", "id": "f4", "parentId": "f3", "targetId": "unknown", "label": "l"}
    compacted = {"summary": "s", "firstKeptEntryId": "f1", "tokensBefore": 1}
    ids = record(
        [
            *said(user()),
            *said(answer()),
            *({"type": "entry_appended", "entry": entry} for entry in (edit, label, lost)),
            {"type": "compaction_end", "result": compacted, "aborted": False},
            {"type": "compaction_end", "result": {**compacted, "firstKeptEntryId": "gone"}, "aborted": False},
        ],
        manager,
    )
    found = [entry.to_dict() for entry in manager.get_branch()[1:]]
    assert [entry["id"] for entry in found] == ids
    assert [entry.get("targetId") for entry in found] == [None, None, ids[1], ids[2], "unknown", None, None]
    assert [entry.get("firstKeptEntryId") for entry in found][-2:] == [ids[1], "gone"]
    assert manager.get_label(ids[2]) == "l"


def test_a_recorder_is_fed_while_the_run_goes_on() -> None:
    manager = SessionManager.in_memory()
    recorder = Recorder(manager)
    for number, event in enumerate([HEADER, *said(user()), {"type": "novelty"}, {"type": 7}]):
        recorder.feed(event)
        assert len(recorder.ids) == (number >= 2)


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with SessionManager.open(path) as manager:
        record(attempt(user(), answer()), manager)
    with SessionManager.open(path, read_only=True) as manager, pytest.raises(ReadOnlyError):
        record(attempt(user()), manager)


# Playing


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_a_real_session_plays_as_the_run_that_it_was(folder: Path) -> None:
    with SessionManager.open(folder / "session.jsonl", read_only=True) as manager:
        played = list(replay(manager))
        again = SessionManager.in_memory()
        record(played, again)
        assert messages(again) == messages(manager)
    run, real = read_run(lines(played)), read_run(stream(folder))
    for fact in ("session_id", "status", "final_answer", "error_message", "usage"):
        assert getattr(run, fact) == getattr(real, fact), fact
    assert [(call.id, call.name, call.args, call.state, call.text) for call in run.tool_calls] == [
        (call.id, call.name, call.args, call.state, call.text) for call in real.tool_calls
    ]
    told = [kind for kind in kinds(played) if kind != "entry_appended"]
    sets = {*(kind for kind in kinds(json.loads(line) for line in stream(folder).split(b"\n") if line))}
    assert set(told) <= sets | {"thinking_level_changed"}


def test_the_order_of_events() -> None:
    manager = session_of(user(), answer(None, "toolUse", content=[CALL, OPEN_CALL]), RESULT, answer(), user("More"))
    assert kinds(replay(manager)) == [
        "session",
        "agent_start",
        "turn_start",
        "message_start:user",
        "message_end:user",
        "message_start:assistant",
        "message_end:assistant",
        "tool_execution_start",
        "tool_execution_start",
        "tool_execution_end",
        "message_start:toolResult",
        "message_end:toolResult",
        "turn_end:assistant",
        "turn_start",
        "message_start:assistant",
        "message_end:assistant",
        "turn_end:assistant",
        "agent_end",
        "agent_start",
        "turn_start",
        "message_start:user",
        "message_end:user",
        "agent_end",
    ]
    events: list[Any] = list(replay(manager))
    assert events[12] == {"type": "turn_end", "message": messages(manager)[1], "toolResults": [RESULT]}
    assert events[17]["messages"] == messages(manager)[:4]
    run = read_run(events)
    assert [(call.id, call.state) for call in run.tool_calls] == [("c1", "failed"), ("c2", "running")]
    assert run.status == "incomplete"


def test_when_a_run_ends() -> None:
    def runs(*kept: dict[str, Any]) -> list[int]:
        events: list[Any] = list(replay(session_of(*kept)))
        return [len(event["messages"]) for event in events if event["type"] == "agent_end"]

    system = {"role": "system", "content": "s"}
    assert runs() == []
    assert runs(user(), answer(), user(), answer()) == [2, 2]
    assert runs(user(), answer(reason="toolUse", content=[CALL]), RESULT, user("Steer"), answer()) == [5]
    assert runs(user(), answer(reason="error"), answer(reason="error"), answer()) == [4]
    assert runs(system, user(), answer(), system, user(), answer()) == [3, 3]
    assert runs(user(), user(), answer()) == [3]
    bash = {"role": "bashExecution", "command": "ls", "output": ""}
    assert runs(bash, user(), answer(), bash) == [3]
    assert runs(bash) == []


def test_entries_without_an_event_of_their_own() -> None:
    manager = session_of(user(), answer())
    asked = manager.get_branch()[0].id
    assert asked is not None
    manager.append_model_change("acme", "acme-2")
    manager.append_thinking_level_change("low")
    manager.append_session_info("Tidy")
    manager.append_label_change(asked, "start")
    manager.append_custom_message_entry("x", "c", True)
    manager.append_custom_entry("y", {"a": 1})
    manager.append_usage("warm", "acme", "mini", {"input": 3})
    manager.append_context_edit(asked, None)
    manager.append_compaction("s", asked, 9, {"d": 1}, True)
    manager.append_message({"role": "custom", "customType": "z", "content": "c"})
    events: list[Any] = list(replay(manager))[7:]
    assert [event.get("entry", event)["type"] for event in events] == [
        "model_change",
        "thinking_level_changed",
        "session_info_changed",
        "label",
        "custom_message",
        "custom",
        "usage",
        "context_edit",
        "compaction_start",
        "compaction_end",
        "message",
        "turn_end",
        "agent_end",
    ]
    again = SessionManager.in_memory()
    record(lines(replay(manager)), again)
    ours, theirs = ([entry.to_dict() for entry in one.get_branch()] for one in (again, manager))
    assert [entry["type"] for entry in ours] == [entry["type"] for entry in theirs]
    assert [entry.get("message") for entry in ours] == [entry.get("message") for entry in theirs]
    assert ours[10]["firstKeptEntryId"] == asked  # no event told which message that is
    assert again.usage() == manager.usage()
    assert again.get_session_name() == "Tidy"


def test_a_frontend_gets_a_name_that_was_taken_away() -> None:
    manager = session_of(user())
    manager.append_session_info("")
    assert read_run(replay(manager)).name is None


@pytest.mark.parametrize("folder", vectors(), ids=lambda folder: folder.name)
def test_any_session_plays_and_is_recorded_again(folder: Path) -> None:
    try:
        manager = SessionManager.open(vector_file(folder), read_only=True)
    except ValueError:
        pytest.skip("it is no session")
    again = SessionManager.in_memory()
    record(lines(replay(manager)), again)
    assert _plain(messages(again)) == _plain(messages(manager))
    assert all(isinstance(entry, MessageEntry) for entry in again.get_branch() if entry.type == "message")


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def test_events_answer_to_the_names_too() -> None:
    assert (getattr(events, "record"), getattr(events, "replay")) == (record, replay)  # noqa: B009  types know neither
    with pytest.raises(AttributeError, match="no attribute 'recall'"):
        getattr(events, "recall")  # noqa: B009
