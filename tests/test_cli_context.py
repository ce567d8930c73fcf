"""`sessiontree context`: what a model is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import Home, conversation, message
from sessiontree import SessionManager

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


ENTRIES = [
    message("user", "Zero"),
    {"type": "model_change", "provider": "acme", "modelId": "acme-1"},
    {"type": "thinking_level_change", "thinkingLevel": "high"},
    message("user", "One", odd={"é": [1, None]}),
    {"type": "compaction", "summary": "Sum", "firstKeptEntryId": "e4", "tokensBefore": 7},
    message("user", "Two"),
    message("assistant", [{"type": "text", "text": "Aside"}], parentId="e1", provider="acme", model="mini"),
]


def test_json_is_what_the_api_gives(home: Home) -> None:
    path = home.add("1", conversation(*ENTRIES))
    for form in ((), ("--json",)):
        done = home.run("context", path, *form)
        document = json.loads(done.stdout)
        assert (done.returncode, done.stderr) == (0, "")
        assert document == {
            "messages": [{"role": "user", "content": "Zero"}, ENTRIES[-1]["message"]],
            "thinkingLevel": "off",
            "model": {"provider": "acme", "modelId": "mini"},
        }
    with SessionManager.open(path, read_only=True) as session:
        session.branch("e6")
        context = session.build_session_context()
    assert [message["role"] for message in context.messages] == ["compactionSummary", "user", "user"]
    document = json.loads(home.run("context", path, "--leaf", "e6").stdout)
    assert document == {
        "messages": context.messages,
        "thinkingLevel": "high",
        "model": {"provider": "acme", "modelId": "acme-1"},
    }


def test_jsonl_is_a_line_a_message(home: Home) -> None:
    path = home.add("1", conversation(*ENTRIES))
    rows = home.rows("context", path, "--leaf", "e4")
    assert rows == [ENTRIES[0]["message"], ENTRIES[3]["message"]]


def test_the_context_of_nothing(home: Home) -> None:
    path = home.add("1", conversation())
    nothing: dict[str, Any] = {"messages": [], "thinkingLevel": "off", "model": None}
    assert json.loads(home.run("context", path).stdout) == nothing
    assert home.run("context", path, "--jsonl").stdout == ""


def test_json_in_any_encoding(home: Home) -> None:
    text = "\x1b[31m\u202e\U0001f680 \x7f\x9b é"
    path = home.add("1", conversation(message("user", text)))
    for variables in ({}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}):
        assert json.loads(home.given(**variables).run("context", path).stdout)["messages"][0]["content"] == text


def test_on_a_terminal_it_is_for_reading(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    path = home.add("1", conversation(*ENTRIES))
    shown = home.on_terminal("context", path, "--leaf", "e6")
    assert shown.code == 0
    assert shown.lines[:2] == ["Zero", "/team/app, 3 messages, acme/acme-1, thinking high, 2026-01-05 10:00 to 10:07"]
    assert shown.lines[-10:] == [
        "",
        "compaction  7 tokens before",
        "  Sum",
        "",
        "user",
        "  One",
        "",
        "user",
        "  Two",
        "",
    ]
    document = home.on_terminal("context", path, "--json")
    assert json.loads("".join(document.lines))["model"] == {"provider": "acme", "modelId": "mini"}
