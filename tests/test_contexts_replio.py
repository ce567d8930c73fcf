"""`contexts` of Replio's sessions: what a provider is sent, in the words that all formats share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sessiontree import SessionContext, contexts
from sessiontree.context import Model
from support import write
from test_scan import session
from vectors_replio import folders, value

if TYPE_CHECKING:
    from pathlib import Path


def put(project: Path, name: str, *messages: object) -> Path:
    return write(project / f".replio/sessions/{name}.json", json.dumps({"messages": messages}).encode())


def context(project: Path) -> SessionContext:
    [(_, built)] = contexts(project)
    return built


CALLING: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "thinking": "Look first.",
    "reasoning": "high",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": "\\ud83d"}'}}],
}
RESULT = {"role": "tool", "content": None, "tool_call_id": "c1", "tool": "grep", "id": "m3"}
ANSWER = {"role": "assistant", "content": "A ratio.", "provider": "toybox", "model": "toy", "reasoning": None}


def test_what_means_the_same_is_called_the_same(tmp_path: Path) -> None:
    time = "1970-01-01T00:00:01+00:00"
    put(tmp_path, "a", {"role": "user", "content": "What?", "timestamp": time, "odd": 1}, CALLING, RESULT, ANSWER)
    built = context(tmp_path)
    assert built.messages == [
        {"role": "user", "content": "What?", "timestamp": 1000},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Look first."},
                {"type": "toolCall", "id": "c1", "name": "grep", "arguments": {"q": "\ufffd"}},
            ],
        },
        {"role": "toolResult", "content": [], "toolCallId": "c1", "toolName": "grep"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "A ratio."}],
            "provider": "toybox",
            "model": "toy",
        },
    ]
    assert (built.thinking_level, built.model) == ("high", Model("toybox", "toy"))


def test_a_summary_stands_for_what_it_sums_up(tmp_path: Path) -> None:
    record = {"role": "command", "content": "/compact", "result": "All of it.", "compact_from": 2}
    put(tmp_path, "a", {"role": "user", "content": "What?"}, CALLING, RESULT, record, ANSWER)
    assert [message["role"] for message in context(tmp_path).messages] == ["compactionSummary", "assistant"]
    assert context(tmp_path).messages[0] == {"role": "compactionSummary", "summary": "All of it."}


@pytest.mark.parametrize(("reasoning", "level"), [(False, "off"), ("low", "low"), (None, "off")])
def test_reasoning_is_the_thinking_level(tmp_path: Path, reasoning: object, level: str) -> None:
    put(tmp_path, "a", {"role": "assistant", "content": "x", "reasoning": reasoning})
    assert (context(tmp_path).thinking_level, context(tmp_path).model) == (level, None)


ROLES = {"tool": "toolResult"}


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_they_are_what_replio_sends(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / ".replio/sessions/s.json", (folder / "session.json").read_bytes())
    sent = value(folder / "provider_messages.json")
    built = [message.get("role") for message in context(tmp_path).messages]
    if built[:1] == ["compactionSummary"]:
        summary = context(tmp_path).messages[0]
        assert sent.pop(0)["content"] == f"Summary of earlier conversation:\n\n{summary.get('summary')}"
        built.pop(0)
    assert built == [ROLES.get(message.get("role"), message.get("role")) for message in sent]


def test_both_formats_come_in_the_order_of_their_paths(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(40):
        put(tmp_path, f"n{number:02}", {"role": "user", "content": "x" * number})
    put(tmp_path, "cut").write_bytes(b"{")
    write(tmp_path / "a.jsonl", session("a"))
    one = [(info, built.messages) for info, built in contexts(tmp_path, threads=1)]
    assert [info.format for info, _ in one] == ["replio"] * 40 + ["elyra"]
    assert [json.dumps(messages).count("x") for _, messages in one[:40]] == list(range(40))
    assert [(info, built.messages) for info, built in contexts(tmp_path, threads=4)] == one
    assert "could not be read: 1 " in caplog.text
