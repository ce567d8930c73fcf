"""Transcripts and trees on a terminal: what fits, what is never sent, and the pager."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from rich.cells import cell_len

from cli_support import Home, cells, conversation, dangerous, message

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pty", reason="no pseudo-terminals here")

EMOJI = (
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd "
)
CONTROLS = "\x1b[31mred\x1b]0;title\x07 \x9b31m \x00\x08\x7f\r\n\t\x0b\u2028\u0085\ufeff\ufffe\ud83d\U000e0041\ue000"
BIDI = "\u202eevil\u202c \u2066isolate\u2069 \u200f\u061c \u202a\u202b\u202d\u2067\u2068\u200e"
ODD = {
    "wide": "日本語のセッション名がここに続きます " * 30,
    "emoji": EMOJI * 50,
    "accents": "e\u0301\u0301\u0302" * 60 + "\u200c\u0645\u06cc\u200c",
    "controls": CONTROLS,
    "bidi": BIDI,
    "words": "many words " * 100,
    "letters": "x" * 3_000,
}
READING = ["show", "tree", "context"]
SLOWLY = """
import sys, time
import rich.progress  # so that on a busy machine, too, there is time left to see the bar
from sessiontree import SessionManager, cli

open = SessionManager.open

def slow(path, **options):
    time.sleep(1)
    return open(path, **options)

SessionManager.open = slow
sys.exit(cli.main())
"""
"""The command, where a session takes more than a second to open."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def everything(text: str) -> list[dict[str, Any]]:
    """An entry of every type and a message of every role, with a text in every place."""
    blocks = [
        {"type": "text", "text": text},
        {"type": "thinking", "thinking": text},
        {"type": "toolCall", "name": text, "arguments": {text: text, "more": [text]}},
        {"type": "toolCall", "name": text, "arguments": {text: text}},
        {"type": "toolCall", "name": text, "arguments": text},
        {"type": "image", "mimeType": text},
        {"type": text},
    ]
    fields = {
        **dict.fromkeys(
            ("toolName", "customType", "fromId", "summary", "command", "output", "model", "provider"), text
        ),
        **dict.fromkeys(("errorMessage", "stopReason"), text),
    }
    roles = ["user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", text]
    entries = [message(role, content, **fields) for role in roles for content in (text, blocks)]
    own = {
        **dict.fromkeys(("provider", "modelId", "thinkingLevel", "summary", "fromId", "customType", "content"), text),
        **dict.fromkeys(("targetId", "label", "name", "kind", "model", "note", "data"), text),
        "replacement": {"content": text},
    }
    types = [
        *("model_change", "thinking_level_change", "branch_summary", "custom", "custom_message", "label"),
        *("session_info", "usage", "context_edit", text),
    ]
    entries += [{"type": one, **own} for one in types]
    entries += [
        {**message("user", text, id=text), "timestamp": text},
        {"type": "label", "targetId": text, "label": text},
    ]
    return entries


# What fits, and what is never sent


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("command", READING)
def test_every_line_fits_and_none_is_dangerous(home: Home, command: str, text: str) -> None:
    path = home.add("1", conversation(*everything(text), cwd=f"/{text}"))
    for columns in (20, 33, 80, 300):
        shown = home.on_terminal(command, path, "--full", "--no-pager", columns=columns)
        assert shown.code == 0
        assert len(shown.lines) > 20
        assert dangerous("".join(shown.lines)) == set()
        assert [line for line in shown.lines if cells(line) > columns] == []
        assert [line for line in shown.lines if cell_len(line) > columns] == [], "on one that joins emoji"


@pytest.mark.parametrize("text", [CONTROLS, BIDI], ids=["controls", "bidi"])
@pytest.mark.parametrize("form", ["--json", "--jsonl"])
@pytest.mark.parametrize("command", READING)
def test_json_on_a_terminal_is_not_dangerous(home: Home, command: str, form: str, text: str) -> None:
    path = home.add("1", conversation(*everything(text)))
    shown = home.on_terminal(command, path, form)
    assert shown.code == 0
    assert dangerous("".join(shown.lines)) == set()
    said = "".join(shown.lines)
    assert json.loads(said if form == "--json" else shown.lines[0])


def test_what_names_say_is_not_dangerous(home: Home) -> None:
    odd = "\x1b[31m\u202e\x9b1m\x07"
    path = home.add("1", conversation(message("user", "x"), message("user", "y", id=odd)))
    for arguments in (
        ("show", odd),
        ("show", f"/{odd}.jsonl"),
        ("show", path, "--leaf", f"{odd}x"),
        ("label", path, odd, odd),
        ("label", path, odd),
        ("name", path, odd),
        ("name", path),
        ("branch", path, odd),
        ("fork", path, "--to", f"/{odd}"),
        ("delete", path, "--yes"),
    ):
        shown = home.on_terminal(*arguments, columns=300)
        assert shown.lines[0] or arguments[-1] == odd
        assert dangerous("".join(shown.lines)) == set(), arguments


def test_texts_are_broken_between_words(home: Home) -> None:
    text = "One two three\n    four five six seven\n" + "x" * 45 + " y\n\n日本語日本語日本語日本語"
    path = home.add("1", conversation(message("user", text), message("toolResult", text + "\n" * 20 + "z")))
    lines = home.on_terminal("show", path, "--no-pager", columns=20).lines
    start = lines.index("") + 2
    broken = [
        *("  One two three", "      four five six", "  seven"),
        *("  " + "x" * 18, "  " + "x" * 18, "  " + "x" * 9 + " y", "", "  日本語日本語日本語", "  日本語"),
    ]
    assert lines[start : start + 9] == broken
    end = lines.index("", start + 8)
    assert lines[end + 2 : end + 11] == broken
    assert lines[-2] == "  … 15 more lines"


def test_what_is_hidden_is_named(home: Home) -> None:
    path = home.add("1", conversation(message("user", "\x1b[31mred\u202e \x9b\x00\n\ta\rb\r\n")))
    said = home.run("show", path).stdout
    assert said.endswith("\n  \\x1b[31mred\\u202e \\x9b\\x00\n      a\\rb\n")


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_styles_where_none_are_wanted(home: Home, plain: dict[str, str]) -> None:
    path = home.add("1", conversation(message("user", "x"), message("user", "y")))
    for command in READING:
        assert "\x1b" in home.on_terminal(command, path).raw
        assert "\x1b" not in home.given(**plain).on_terminal(command, path).raw


def test_the_leaf_and_the_active_branch_stand_out(home: Home) -> None:
    path = home.add("1", conversation(*(message("user", "x", parentId=one) for one in (None, "e1", "e1"))))
    assert home.on_terminal("tree", path).raw.split("\r\n") == [
        "● e1 user: x",
        "\x1b[2m├─○ e2 user: x\x1b[0m",
        "\x1b[1m◉ e3 (leaf) user: x\x1b[0m",
        "",
    ]


def test_damage_is_told_after_the_transcript(home: Home) -> None:
    path = home.add("1", conversation(message("user", "x")) + b"{")
    shown = home.on_terminal("show", path, columns=300)
    assert shown.code == 4
    assert shown.lines[-2] == f"sessiontree: {path}: 1 report of damage (sessiontree check tells where)"


def test_a_slow_opening_shows_a_bar_and_leaves_nothing(home: Home) -> None:
    path = home.add("1", conversation(message("user", "x")))
    slow = (sys.executable, "-c", SLOWLY)
    shown = home.on_terminal("show", path, command=slow, columns=300)
    assert "Reading" in shown.raw
    assert re.sub(r"\x1b\[[\d;]*m", "", shown.screen()[0]) == "x"
    piped = home.on_terminal("show", path, "--jsonl", command=slow, elsewhere="stdout")
    assert "Reading" in piped.raw
    assert [json.loads(line)["id"] for line in piped.elsewhere.splitlines()] == ["s1", "e1"]
    assert home.run("show", path, command=slow).stderr == ""


# The pager


@pytest.fixture
def long(home: Home) -> Path:
    """A session whose transcript has 603 lines."""
    return home.add("1", conversation(*(message("user", f"text {number}") for number in range(200))))


def test_what_fits_is_not_paged(home: Home) -> None:
    path = home.add("1", conversation(*(message("user", "x") for _ in range(6))))
    paged = home.given(PAGER="sh -c 'echo paged; cat'")
    lines = paged.on_terminal("show", path, lines=22, columns=300).lines
    assert (len(lines), lines[0]) == (22, "x"), "and the prompt's is the last"
    assert paged.on_terminal("show", path, lines=21, columns=300).lines[0] == "paged"
    assert paged.on_terminal("tree", path, lines=7).lines[0] == "● e1 user: x"
    assert paged.on_terminal("tree", path, lines=6).lines[0] == "paged"
    assert paged.on_terminal("context", path, lines=6).lines[0] == "paged"


def test_the_pager_gets_all_of_it(home: Home, long: Path) -> None:
    plain = home.on_terminal("show", long, "--no-pager", columns=300).lines
    assert len(plain) == 604
    shown = home.given(PAGER="cat -n").on_terminal("show", long, columns=300)
    assert shown.code == 0
    assert [re.sub(r"^ *\d+\t", "", line) for line in shown.lines] == plain
    for variables in (
        {"PAGER": ""},
        {"PAGER": "cat"},
        {"PAGER": "/no/such/program"},
        {"TERM": "dumb", "PAGER": "true"},
    ):
        shown = home.given(**variables).on_terminal("show", long, columns=300)
        assert (shown.code, shown.lines) == (0, plain)


def test_the_default_is_less_that_shows_styles(home: Home, long: Path) -> None:
    less = home.folder / "bin/less"
    less.parent.mkdir()
    less.write_text('#!/bin/sh\necho "$0 $* $LESS"\ncat\n')
    less.chmod(0o755)
    home = home.given(PATH=f"{less.parent}:/usr/bin:/bin")
    assert home.on_terminal("show", long).lines[0] == f"{less} -R R"
    assert home.given(PAGER="less -S", LESS="FX").on_terminal("show", long).lines[0] == f"{less} -S FX"


def test_only_for_reading_on_a_terminal(home: Home, long: Path) -> None:
    paged = home.given(PAGER="sh -c 'echo paged; cat'")
    for arguments in (
        ("show", long, "--json"),
        ("show", long, "--jsonl"),
        ("tree", long, "--json"),
        ("show", long, "--no-pager"),
    ):
        assert "paged" not in paged.on_terminal(*arguments).raw
    elsewhere = paged.on_terminal("show", long, elsewhere="stdout")
    assert (elsewhere.raw, len(elsewhere.elsewhere.splitlines())) == ("", 603)


def test_a_pager_that_ends_first_is_no_failure(home: Home, long: Path) -> None:
    long.write_bytes(conversation(*(message("user", "x" * 1_000) for _ in range(1_000))) + b"{")
    shown = home.given(PAGER="head -n 1").on_terminal("show", long, columns=300)
    assert shown.code == 4
    assert len(shown.lines) == 3
    assert "1 report of damage" in shown.lines[1]


@pytest.mark.parametrize("count", [200, 5_000])
def test_ctrl_c_is_the_pagers(home: Home, long: Path, count: int) -> None:
    """It goes to all who have the terminal; whether we wait for the pager or still write, we stay until it ends."""
    long.write_bytes(conversation(*(message("user", f"text {number}") for number in range(count))))
    pager = home.folder / "pager"
    pager.write_text("#!/bin/sh\nread one\necho waiting\nsleep 1\nwc -l\n")
    pager.chmod(0o755)
    shown = home.given(PAGER=str(pager)).on_terminal("show", long, interrupt_at="waiting", columns=300)
    assert [line.strip() for line in shown.lines] == ["waiting", str(2 + 3 * count), ""]
    assert shown.code == 0


def test_ctrl_c_that_ends_the_pager_ends_us(home: Home, long: Path) -> None:
    shown = home.given(PAGER="sh -c 'kill -INT $$'").on_terminal("show", long)
    assert (shown.code, shown.raw) == (130, "")
