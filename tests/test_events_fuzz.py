"""Streams of any kind, whole and broken: never an error, and always what the reference says."""

from __future__ import annotations

import json
import os
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import reference_events as reference
from event_support import HEADER, VECTORS, answer, attempt, chunks, lines, said, stream, user
from sessiontree import SessionManager
from sessiontree.events import EventReader, Run, iter_events, read_run
from sessiontree.record import record, replay

EXAMPLES = int(os.environ.get("SESSIONTREE_FUZZ", "150"))

ODD: list[Any] = [None, 7, "x", [], {}, [7], {"role": "assistant"}, {"role": 7}, -1, 1e400, True]
MESSAGES = [
    user(),
    answer("A"),
    answer("B", "error", errorMessage="busy"),
    answer("C", "aborted"),
    answer("D", "toolUse", content=[{"type": "toolCall", "id": "c1", "name": "read", "arguments": {}}]),
    answer(usage={"input": -1, "cost": 3}),
    answer(content="plain", provider=None),
    {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": [], "usage": {"input": 2}},
    {"role": "system", "content": "s"},
    {"role": "custom", "customType": "x", "content": "c", "display": True},
    {"role": "compactionSummary", "summary": "s"},
]

messages = st.sampled_from([*MESSAGES, *ODD])
call_ids = st.sampled_from(["c1", "c2", None, 7])
pieces = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [f"{kind}_{step}" for kind in ("text", "thinking", "toolcall") for step in ("start", "delta", "end")]
        )
    },
    optional={
        "contentIndex": st.sampled_from([0, 1, 2**70, -1, None, "0"]),
        "delta": st.sampled_from(["a", "{", 7]),
        "content": st.sampled_from(["whole", None]),
        "toolCall": st.sampled_from([{"type": "toolCall", "id": "c1"}, 7]),
    },
)


def event(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind)}, optional=fields)


used = st.sampled_from(
    [*ODD, {"usage": {"input": 1, "cost": {"total": 2}}}, {"type": "label", "targetId": "x", "usage": None}]
)
events = st.one_of(
    event("session", id=st.sampled_from(["s", 7]), cwd=st.sampled_from(["/a", None]), version=st.sampled_from([3, ""])),
    *(event(kind) for kind in ("agent_start", "turn_start", "agent_settled", "novelty")),
    *(event(kind, message=messages) for kind in ("message_start", "message_end", "turn_end")),
    *[event("agent_end", messages=st.one_of(st.lists(messages, max_size=3), messages))] * 3,
    event("message_update", assistantMessageEvent=st.one_of(pieces, messages)),
    event("message_update", message=messages, assistantMessageEvent=pieces),
    *(
        event(f"tool_execution_{step}", toolCallId=call_ids, toolName=st.sampled_from(["read", 7]), args=messages,
              partialResult=messages, result=messages, isError=st.sampled_from([True, False, None]))
        for step in ("start", "update", "end")
    ),
    event("compaction_end", result=used, aborted=st.booleans()),
    event("compaction_start", reason=st.sampled_from(["manual", 7])),
    event("entry_appended", entry=used),
    event("queue_update", steering=messages, followUp=st.lists(messages, max_size=2)),
    event("auto_retry_start", attempt=st.sampled_from([1, "1"]), delayMs=messages),
    event("auto_retry_end", success=st.sampled_from([True, None])),
    event("session_info_changed", name=st.sampled_from(["n", None, 7])),
    event("thinking_level_changed", level=st.sampled_from(["high", 7])),
    st.sampled_from([{"type": 7}, {}, {"no": "type"}]),
)  # fmt: skip
attempts = st.lists(st.sampled_from(MESSAGES), max_size=4).map(lambda found: attempt(*found))
streams: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.one_of(events.map(lambda one: [one]), attempts), max_size=12
).map(lambda parts: [*chain.from_iterable(parts)])


@settings(max_examples=EXAMPLES, deadline=None)
@given(streams)
def test_a_stream_comes_to_what_the_reference_says(made: list[dict[str, Any]]) -> None:
    data = lines(made)
    expected_events, damaged = reference.read(data)
    run = read_run(data)
    right = reference.reduce(expected_events)
    assert list(iter_events(data)) == expected_events
    assert [one.line for one in run.damage if not one.is_note] == damaged
    assert run.session_id == right.session_id
    assert (run.status, run.final_answer, run.error_message) == (right.status, right.final_answer, right.error_message)
    assert [(call.id, call.name, call.args, call.state) for call in run.tool_calls] == right.tool_calls
    for name in ("input", "output", "cache_read", "cache_write", "cost_total"):
        assert getattr(run.usage, name) == getattr(right.usage, name), name
    assert json.loads(json.dumps(run.to_dict()))["status"] == run.status


@settings(max_examples=EXAMPLES, deadline=None)
@given(streams, st.lists(st.integers(0, 2000), max_size=10), st.sampled_from([None, {"agent_end", "message_end"}]))
def test_chunks_do_not_show(made: list[dict[str, Any]], cuts: list[int], types: set[str] | None) -> None:
    data = lines(made)
    whole = EventReader(types=types)
    expected = whole.feed(data) + whole.finish()
    for places in ([min(cut, len(data)) for cut in cuts], range(len(data))):
        reader = EventReader(types=types)
        found = [one for piece in chunks(data, list(places)) for one in reader.feed(piece)]
        assert (found + reader.finish(), reader.damage) == (expected, whole.damage)
    assert read_run(chunks(data, list(range(len(data))))) == read_run(data)


@settings(max_examples=EXAMPLES, deadline=None)
@given(streams, st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=3)), max_size=5))
def test_mutated_lines_are_damage_or_events_and_nothing_else(
    made: list[dict[str, Any]], changes: list[tuple[int, bytes]]
) -> None:
    data = bytearray(lines([HEADER, *made, *attempt(user(), answer())]))
    for place, new in changes:
        data[place % len(data) : place % len(data) + 1] = new
    expected, damaged = reference.read(bytes(data))
    reader = EventReader()
    assert [json.dumps(one) for one in reader.feed(data) + reader.finish()] == [json.dumps(one) for one in expected]
    assert [one.line for one in reader.damage] == damaged
    read_run(bytes(data))


@settings(max_examples=EXAMPLES, deadline=None)
@given(streams)
def test_any_stream_can_be_recorded_and_played(made: list[dict[str, Any]]) -> None:
    manager, again = SessionManager.in_memory("/a"), SessionManager.in_memory("/a")
    ids = record(lines(made), manager)
    assert [entry.id for entry in manager.get_branch()] == ids
    assert not [one for one in manager.damage if not one.is_note]
    played = list(replay(manager))
    assert record(played, again) is not None
    kept = [[entry.raw["message"] for entry in one.get_branch() if entry.type == "message"] for one in (manager, again)]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("folder", [one for one in VECTORS if "long" not in one.name], ids=lambda folder: folder.name)
def test_a_real_stream_in_pieces(folder: Any) -> None:  # noqa: ANN401
    data = stream(folder)
    whole = read_run(data)
    for size in (1, 2, 3, 7, 64, 4096):
        assert read_run([data[at : at + size] for at in range(0, len(data), size)]) == whole


@pytest.mark.parametrize("folder", [VECTORS[4], VECTORS[5]], ids=lambda folder: folder.name)
def test_a_stream_that_is_cut_off_is_incomplete(folder: Any) -> None:  # noqa: ANN401
    """After every byte; in the longer stream after some, and around the end."""
    data = stream(folder)
    end = data.index(b'{"type":"agent_end"')
    whole_line = data.index(b"\n", end)
    reader, fed = EventReader(), []
    for at in range(len(data)):
        fed += reader.feed(data[at : at + 1])
        if len(data) > 10_000 and at % 97 and at not in range(whole_line - 3, whole_line + 2):
            continue
        run = read_run(data[: at + 1])
        assert (run.status == "incomplete") == (at + 1 < whole_line), at
        assert (run.final_answer is None) == (at + 1 < whole_line)
        live = Run()
        for one in fed:
            live.feed(one)
        assert live.status in ("running", run.status)


def test_a_short_stream_cut_after_every_byte() -> None:
    data = lines([HEADER, {"type": "agent_start"}, *said(answer("é")), {"type": "agent_end", "messages": []}])
    for at in range(len(data)):
        run = read_run(data[:at])
        assert run.status == ("incomplete" if at < len(data) - 1 else "ok"), at
        assert len(run.damage) <= 1
