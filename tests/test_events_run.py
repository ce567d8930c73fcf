"""What a stream comes to: real runs, what has gone wrong in public, and each rule."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from event_support import HEADER, VECTORS, answer, attempt, case, lines, said, stream, stream_file, user
from sessiontree.events import Compaction, Retry, Run, iter_events, read_run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SETTLED = {"type": "agent_settled", "aborted": False}


def fed(*events: dict[str, Any]) -> Run:
    """A run that still goes on."""
    run = Run()
    for event in events:
        run.feed(event)
    return run


def ended(*events: dict[str, Any]) -> Run:
    run = fed(*events)
    run.finish()
    return run


def pick(data: bytes, types: Iterable[str]) -> bytes:
    return lines(event for event in iter_events(data) if event["type"] in types)


def update(event: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": "message_update", "assistantMessageEvent": event, **more}


# Real runs


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_real_runs(folder: Path, tmp_path: Path) -> None:
    right = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    run = read_run(stream_file(folder, tmp_path))
    assert run.session_id == right["sessionId"]
    assert run.status == right["status"]
    assert run.final_answer == (right["finalAnswer"] if run.status == "ok" else None)
    assert run.error_message == right["errorMessage"]
    assert [
        {"id": call.id, "name": call.name, "args": call.args, "state": call.state, "text": call.text}
        for call in run.tool_calls
    ] == [{"text": "", **{key: call[key] for key in call if key != "isError"}} for call in right["toolCalls"]]
    assert len(run.retries) == right["retries"]
    usage = run.usage
    assert [usage.input, usage.output, usage.cache_read, usage.cache_write] == [
        right[key] for key in ("input", "output", "cacheRead", "cacheWrite")
    ]
    assert usage.cost_total == pytest.approx(right["costTotal"])
    assert run.damage == ()


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_a_filtered_stream_still_holds_answer_and_cost(folder: Path) -> None:
    whole = read_run(stream(folder))
    for types in (("session", "message_end", "agent_end"), ("session", "agent_end")):
        run = read_run(pick(stream(folder), types))
        for fact in ("session_id", "status", "final_answer", "error_message", "usage"):
            assert getattr(run, fact) == getattr(whole, fact), (types, fact)


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_what_streams_in_is_what_the_message_says_in_the_end(folder: Path) -> None:
    run, before = Run(), ""
    for event in iter_events(stream(folder)):
        if event["type"] == "message_end" and event["message"]["role"] == "assistant":
            content = event["message"]["content"]
            assert run.partial_text == "".join(block["text"] for block in content if block["type"] == "text")
            calls = [block for block in run.partial_blocks if block["type"] == "toolCall"]
            assert [(call["id"], call["name"], call["arguments"]) for call in calls] == [
                (block["id"], block["name"], block["arguments"]) for block in content if block["type"] == "toolCall"
            ]
        if event["type"] == "message_update":
            assert run.status == "running"
            assert run.partial_text.startswith(before) or before == ""
        run.feed(event)
        before = run.partial_text if event["type"] == "message_update" else ""


# What has gone wrong in public


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 4096, None])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_case_52_separators_and_chunks(size: int | None, end: bytes) -> None:
    data = case("52-stream-u2028-chunks/stream.jsonl").replace(b"\n", end)
    run = read_run(data if size is None else [data[at : at + size] for at in range(0, len(data), size)])
    assert run.session_id == "0199aaaa-0000-7000-8000-000000000052"
    assert run.final_answer == "Part\u2028one \U0001f680\u2029 und f\u00fcnf"
    assert (run.usage.input, run.usage.output, run.usage.cost_total) == (10, 5, 0.01)
    assert (run.status, run.tool_calls, run.error_message) == ("ok", (), None)


def test_case_53_retries() -> None:
    run = Run()
    for event in iter_events(case("53-stream-retry/stream.jsonl")):
        run.feed(event)
        if event["type"] == "agent_end" and run.usage.cost_total < 0.01:
            assert (run.status, run.complete, run.partial_text) == ("running", False, "")
    assert (run.status, run.final_answer, run.error_message) == ("ok", "Done now", None)
    assert [retry.error for retry in run.retries] == ["529 overloaded"]
    assert run.usage.cost_total == pytest.approx(0.013)
    assert (run.usage.input, run.usage.output) == (13, 5)

    run = read_run(case("53-stream-retry/stream-without-willretry.jsonl"))
    assert (run.status, run.error_message, run.final_answer) == ("error", "529 overloaded", None)
    assert run.retries == (Retry(1, 2, 10, "529 overloaded", False),)
    assert run.usage.cost_total == pytest.approx(0.006)


def test_case_55_usage_counts_once() -> None:
    run = read_run(case("55-stream-usage-once/stream.jsonl"))
    assert run.final_answer == "Hello"
    assert (run.usage.input, run.usage.output, run.usage.cache_read) == (1070, 7, 3584)
    assert run.usage.cost_total == pytest.approx(0.025)
    assert run.usage.by_model["tools and summaries"].cost_total == 0.005
    assert len(run.compactions) == 1


def test_case_58_parallel_tools() -> None:
    run = read_run(case("58-stream-parallel-tools/stream.jsonl"))
    assert (run.status, run.final_answer, run.error_message) == ("ok", "Two read.", None)
    facts = [(call.id, call.args, call.state, call.is_error, call.text) for call in run.tool_calls]
    assert facts == [
        ("call_1", {"path": "1.txt"}, "failed", True, "missing file"),
        ("call_2", {"path": "2.txt"}, "running", None, "tw"),
        ("call_3", {"path": "3.txt"}, "done", False, "three"),
        ("call_9", None, "done", False, ""),
    ]


# The outcome


def test_a_run_goes_on_till_nothing_more_can_follow() -> None:
    run = Run()
    for event in [HEADER, *attempt(user(), answer())]:
        run.feed(event)
        assert (run.status, run.final_answer, run.stop_reason) == ("running", None, None)
    run.feed(SETTLED)
    assert (run.status, run.complete, run.final_answer, run.stop_reason) == ("ok", True, "Done", "stop")
    run.feed({"type": "agent_start"})
    assert (run.status, run.final_answer) == ("running", None)
    run.finish()
    assert (run.status, run.complete) == ("incomplete", False)


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([], "incomplete"),
        ([HEADER], "incomplete"),
        (said(user()) + said(answer()), "incomplete"),
        (attempt(user(), answer()), "ok"),
        (attempt(user(), answer(reason="length")), "ok"),
        (attempt(user(), answer(reason="error")), "error"),
        (attempt(user(), answer(reason="aborted")), "aborted"),
        (attempt(user()), "incomplete"),
        ([*attempt(user(), answer()), {"type": "agent_start"}], "incomplete"),
        ([*attempt(user(), answer()), {"type": "turn_start"}], "incomplete"),
        ([*attempt(user(), answer()), *said(answer())], "incomplete"),
        ([*attempt(user(), answer()), update({"type": "text_start"})], "incomplete"),
        ([*attempt(user(), answer()), *said(user())], "ok"),
        ([*attempt(user(), answer()), {"type": "queue_update"}, {"type": "novelty"}], "ok"),
        ([*attempt(user(), answer()), *attempt(user("More"))], "incomplete"),
        ([*attempt(user(), answer()), SETTLED, *attempt(end=[])], "incomplete"),
        ([*attempt(user(), answer(reason="error")), *attempt(end=[])], "error"),
        ([*attempt(user(), answer()), *attempt(answer(reason="aborted"), end=[])], "aborted"),
        ([SETTLED], "incomplete"),
        (
            [{"type": "agent_end", "messages": [user(), answer()]}, {"type": "agent_end", "messages": [user()]}],
            "incomplete",
        ),
        ([{"type": "agent_end", "messages": 7}], "incomplete"),
    ],
)
def test_status(events: list[dict[str, Any]], status: str) -> None:
    run = fed(*events)
    assert run.status in ("running", status)
    run.finish()
    assert run.status == status
    assert run.complete == (status != "incomplete")
    assert (run.final_answer is not None) == (status == "ok")


def test_the_outcome_is_the_last_answer_of_the_last_end_whatever_follows_it() -> None:
    summary = {"role": "custom", "customType": "x", "content": "later"}
    assert ended(*attempt(user(), answer("A"), answer("B"), user("Later"), summary)).final_answer == "B"
    assert ended(*attempt(user(), answer("A"), end=[user(), answer("Told")])).final_answer == "Told"


def test_the_answer_is_its_texts() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "?"}, 7, {"type": "text", "text": "b\n"}]
    assert ended(*attempt(answer(content=blocks))).final_answer == "ab\n"
    assert ended(*attempt(answer(None))).final_answer == ""
    assert ended(*attempt(answer(content="plain"))).final_answer == "plain"
    assert ended(*attempt(answer(content={"odd": 1}))).final_answer == ""


def test_a_failed_run_has_partial_text() -> None:
    run = ended(*attempt(user(), answer("Half a", "error", errorMessage="overloaded")))
    assert (run.final_answer, run.partial_text, run.error_message) == (None, "Half a", "overloaded")
    filtered = ended({"type": "agent_end", "messages": [answer("Half a", "aborted", errorMessage=7)]})
    assert (filtered.partial_text, filtered.error_message, filtered.stop_reason) == ("Half a", None, "aborted")


def test_several_prompts_are_one_run() -> None:
    run = ended(HEADER, *attempt(user(), answer("One")), SETTLED, *attempt(user("Then"), answer("Two")), SETTLED)
    assert (run.status, run.final_answer, run.usage.cost_total) == ("ok", "Two", 2)


def test_the_header_is_the_first_wherever_it_stands() -> None:
    run = ended(*attempt(user(), answer()), HEADER, {**HEADER, "id": "other"})
    assert (run.session_id, run.cwd, run.version) == ("s1", "/team/app", 3)
    assert (fed().session_id, fed().cwd, fed().version) == (None, None, None)
    assert ended({"type": "session", "id": 7}, HEADER).session_id is None


# The message that streams


def test_pieces_are_put_together_by_their_place() -> None:
    run = fed(*said(user()), {"type": "message_start", "message": answer(None, "pending")})
    assert run.partial_text == ""
    for event, text in [
        ({"type": "text_start", "contentIndex": 1}, ""),
        ({"type": "text_delta", "contentIndex": 1, "delta": "b"}, "b"),
        ({"type": "text_delta", "contentIndex": 0, "delta": "a"}, "ab"),
        ({"type": "thinking_delta", "contentIndex": 2, "delta": "hm"}, "ab"),
        ({"type": "text_end", "contentIndex": 1, "content": "B"}, "aB"),
        ({"type": "text_end", "contentIndex": 0}, "aB"),
        ({"type": "toolcall_start", "contentIndex": 3, "id": "c", "toolName": "read"}, "aB"),
        ({"type": "toolcall_delta", "contentIndex": 3, "delta": '{"path":'}, "aB"),
    ]:
        run.feed(update(event))
        assert run.partial_text == text
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {}}
    assert run.partial_blocks == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "B"},
        {"type": "thinking", "thinking": "hm"},
        {**call, "partialArgs": '{"path":'},
    ]
    run.feed(update({"type": "toolcall_delta", "contentIndex": 3, "delta": '"x"}'}))
    run.feed(update({"type": "toolcall_end", "contentIndex": 3}))
    assert run.partial_blocks[3] == {**call, "arguments": {"path": "x"}}
    run.feed(update({"type": "toolcall_end", "contentIndex": 3, "toolCall": {**call, "arguments": {"path": "y"}}}))
    assert run.partial_blocks[3] == {**call, "arguments": {"path": "y"}}
    run.feed({"type": "message_end", "message": answer("All of it")})
    assert run.partial_blocks == [{"type": "text", "text": "All of it"}]


def test_a_whole_message_is_ahead_of_its_event() -> None:
    run = fed({"type": "message_start", "message": answer(None)})
    run.feed(update({"type": "text_delta", "contentIndex": 0, "delta": "Hel"}, message=answer("Hello")))
    assert run.partial_text == "Hello"
    run.feed(update({"type": "text_delta", "contentIndex": 0, "delta": "lo"}, message=answer("Hello wor")))
    assert run.partial_text == "Hello wor"


def test_pieces_whose_start_was_missed_or_that_name_no_place() -> None:
    run = fed(*attempt(user(), answer("Old")), update({"type": "text_delta", "delta": "Ne"}))
    run.feed(update({"type": "text_delta", "delta": "w"}))
    run.feed(update({"type": "thinking_delta", "delta": "?"}))
    assert [block["type"] for block in run.partial_blocks] == ["text", "thinking"]
    assert run.partial_text == "New"
    run.feed(update({"type": "text_delta", "contentIndex": 10**18, "delta": "!"}))
    assert run.partial_text == "New!"
    for odd in (
        {},
        {"type": 7},
        {"type": "text"},
        {"type": "_delta"},
        {"type": "text_delta", "delta": 7, "contentIndex": -1},
    ):
        run.feed(update(odd))
    assert run.partial_text == "New!"


def test_many_pieces_cost_no_more_than_their_length() -> None:
    run = fed({"type": "message_start", "message": answer(None)})
    for _ in range(200_000):
        run.feed(update({"type": "text_delta", "contentIndex": 0, "delta": "abcde"}))
    assert len(run.partial_text) == 1_000_000
    for number in range(100_000):  # a block each
        run.feed(update({"type": f"{('text', 'thinking')[number % 2]}_delta", "delta": "x"}))
    assert len(run.partial_blocks) == 100_000


# Tools, retries and other facts


def tool(step: str, call_id: object = "c", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"type": f"tool_execution_{step}", "toolCallId": call_id, "toolName": "read", **more}


def test_an_id_that_comes_back_is_another_call() -> None:
    run = fed(tool("start", args=1), tool("end", result="one", isError=False), tool("start", args=2))
    assert [(call.args, call.state, call.result) for call in run.tool_calls] == [
        (1, "done", "one"),
        (2, "running", None),
    ]
    run.feed(tool("update", partialResult="half"))
    run.feed(tool("end", result="two", isError=True))
    assert [call.result for call in run.tool_calls] == ["one", "two"]
    assert [call.is_error for call in run.tool_calls] == [False, True]
    run.feed(tool("update", partialResult="late"))
    assert run.tool_calls[1].result == "two"


def test_calls_that_name_nothing() -> None:
    run = ended(tool("start", 7, toolName=None), tool("end", None, isError="yes"), tool("update", "u", args={"a": 1}))
    assert [(call.id, call.name, call.state, call.is_error) for call in run.tool_calls] == [
        ("", "", "done", False),
        ("u", "read", "running", None),
    ]
    assert run.tool_calls[1].args == {"a": 1}


def test_the_text_of_a_call() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}, {"type": "text"}]
    run = fed(
        tool("end", result={"content": content}),
        tool("end", "d", result="odd"),
        tool("end", "e", result={"content": 7}),
    )
    assert [call.text for call in run.tool_calls] == ["a\nb", "", ""]


def test_retries() -> None:
    start = {"type": "auto_retry_start", "maxAttempts": 3, "delayMs": 5, "errorMessage": "busy"}
    run = fed({**start, "attempt": 1})
    assert [*run.retries] == [Retry(1, 3, 5, "busy")]
    run.feed({**start, "attempt": 2})
    run.feed({"type": "auto_retry_end", "success": True, "attempt": 2})
    assert [retry.success for retry in run.retries] == [False, True]
    run.feed({"type": "auto_retry_end", "success": False, "attempt": 1, "finalError": "gone"})
    assert run.retries[2] == Retry(1, error="gone", success=False)


def test_compactions_queues_name_and_thinking_level() -> None:
    result = {"summary": "s", "firstKeptEntryId": "e", "tokensBefore": 9}
    run = fed({"type": "compaction_start", "reason": "overflow"})
    assert [*run.compactions] == [Compaction("overflow")]
    run.feed({"type": "compaction_end", "reason": "overflow", "result": result, "aborted": False, "willRetry": True})
    assert [*run.compactions] == [Compaction("overflow", result, False, True)]
    run.feed({"type": "compaction_end", "reason": "manual", "aborted": True, "errorMessage": "no"})
    assert run.compactions[1] == Compaction("manual", None, True, False, "no")
    run.feed({"type": "queue_update", "steering": ["a", 7], "followUp": ["b"]})
    assert run.queues == {"steering": ["a"], "followUp": ["b"]}
    run.feed({"type": "queue_update", "steering": []})
    assert run.queues == {"steering": [], "followUp": []}
    run.feed({"type": "session_info_changed", "name": "Tidy"})
    run.feed({"type": "thinking_level_changed", "level": "high"})
    assert (run.name, run.thinking_level) == ("Tidy", "high")
    run.feed({"type": "session_info_changed"})
    assert run.name is None


# Cost


def test_tools_compactions_and_entries_count() -> None:
    usage = {"input": 1, "cost": {"total": 0.5}}
    told = {
        "role": "toolResult",
        "toolCallId": "c",
        "content": [],
        "details": {"modelUsage": {"a": {"usage": usage}, "b": usage}},
    }
    run = ended(
        *attempt(user(), answer(), told),
        {"type": "compaction_end", "result": {"usage": usage}},
        {"type": "entry_appended", "entry": {"type": "usage", "provider": "acme", "model": "mini", "usage": usage}},
        {"type": "entry_appended", "entry": {"type": "custom"}},
    )
    assert (run.usage.input, run.usage.cost_total) == (14, 3)
    assert {name: part.cost_total for name, part in run.usage.by_model.items()} == {
        "acme/acme-1": 1,
        "acme/mini": 0.5,
        "tools and summaries": 1.5,
    }


def test_each_message_counts_once_however_often_it_is_told() -> None:
    twice = answer(), answer()
    assert ended(*attempt(user(), *twice)).usage.cost_total == 2
    assert ended({"type": "agent_end", "messages": [user(), *twice]}).usage.cost_total == 2
    assert fed({"type": "agent_start"}, *said(answer())).usage.cost_total == 1
    cut_off = [{"type": "agent_start"}, *said(answer())]
    assert ended(*cut_off, {"type": "agent_start"}, {"type": "agent_end", "messages": [answer()]}).usage.cost_total == 2


def test_numbers_that_do_not_count_are_told() -> None:
    odd = {"input": -1, "output": "7", "cacheRead": True, "totalTokens": 1e999, "cost": 3}
    run = ended(*attempt(answer(usage=odd)), *attempt(answer(usage=7)), *attempt(answer(usage={"input": 1.5})))
    assert (run.usage.input, run.usage.output, run.usage.cost_total) == (1.5, 0, 0)
    assert {one.kind for one in run.damage} == {"value"}
    assert len(run.damage) == 6
    assert all(one.is_note for one in run.damage)
    huge = [event for _ in range(3) for event in attempt(answer(usage={"input": 1.7e308}))]
    assert ended(*huge).usage.input == 1.7976931348623157e308


# The run itself


def test_unknown_and_odd_events_change_nothing() -> None:
    run = ended(HEADER, *attempt(user(), answer()))
    facts = run.to_dict()
    for event in ({"type": "novelty", "x": 1}, {"type": "decisions_extracted"}, {"type": "smart_routing"}):
        run.feed(event)
    assert run.to_dict() == facts
    all_odd: list[Any] = [None, 7, [], {}, {"type": 7}]
    for odd in all_odd:
        run.feed(odd)
    assert len(run.damage) == 5
    assert run.status == "ok"


def test_what_a_process_left_stands_beside_the_result() -> None:
    run = fed(*attempt(user(), answer()))
    run.finish(exit_code=3, stderr="warning")
    assert (run.status, run.exit_code, run.stderr) == ("ok", 3, "warning")


def test_runs_are_equal_when_all_that_they_tell_is() -> None:
    events = [HEADER, *attempt(user(), answer()), tool("start", args={"path": "a"})]
    assert ended(*events) == read_run(lines(events))
    assert ended(*events) != fed(*events)
    assert ended(*events) != "run"
    assert repr(ended(*events)) == "<Run s1: ok, 1 tool calls>"
    assert json.loads(json.dumps(ended(*events).to_dict()))["tool_calls"][0]["args"] == {"path": "a"}
    with pytest.raises(TypeError):
        hash(ended())


def test_a_frontend_can_draw_from_it_at_any_moment() -> None:
    for folder in VECTORS:
        run, texts = Run(), []
        for event in iter_events(stream(folder)):
            run.feed(event)
            assert run.to_dict()["status"] == run.status
            texts.append(len(run.tool_calls))
        assert all(before <= after for before, after in pairwise(texts))
