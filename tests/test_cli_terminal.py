"""The command on a real terminal: what fits, what is never sent, the progress bar."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from cli_support import DAMAGED, SLOW, Home, ago, cells, dangerous, session
from sessiontree import scan

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pty", reason="no pseudo-terminals here")

SLOWLY = (sys.executable, "-c", SLOW)
BOLD_HEAD = "\x1b[1mAGE  PROJECT    SESSION  MSGS  TOKENS  COST\x1b[0m"

WIDE = "日本語のセッション名がここに続きます " * 3
EMOJI = (
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f 1\ufe0f\u20e3 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd "
    * 5
)
ACCENTS = "e\u0301\u0301\u0302" * 60 + "\u200c\u0645\u06cc\u200c"
CONTROLS = "\x1b[31mred\x1b]0;title\x07 \x9b31m \x00\x08\x7f\r\n\t\x0b\u2028\u0085\ufeff\ufffe\ud83d\U000e0041\ue000"
BIDI = "\u202eevil\u202c \u2066isolate\u2069 \u200f\u061c \u202a\u202b\u202d\u2067\u2068\u200e"
ODD = {"wide": WIDE, "emoji": EMOJI, "accents": ACCENTS, "controls": CONTROLS, "bidi": BIDI}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def odd_home(home: Home) -> Home:
    """A home whose sessions have odd texts in all places, and damage that quotes them."""
    for number, text in enumerate(ODD.values()):
        home.add(f"name{number}", session(cwd=f"/team/{text}", name=text, cost=10.0**number))
        home.add(f"text{number}", session(cwd=text, text=text, tokens=10**number) + b"{")
        home.add(f"parent{number}", session().replace(b"null", json.dumps(text).encode()))
    name = "\x1b[31m\u202e\x9b1m\n\x07" if sys.platform == "darwin" else os.fsdecode(b"\x1b[31m\xe2\x80\xae\xff\n\x07")
    home.add(name, DAMAGED)
    return home


# What fits


@pytest.mark.parametrize("columns", [20, 21, 33, 40, 79, 80, 132, 300])
def test_every_line_of_the_table_fits(odd_home: Home, columns: int) -> None:
    shown = odd_home.on_terminal("list", "--all", "--limit", "0", columns=columns, elsewhere="stderr")
    assert (shown.code, shown.elsewhere) == (0, "")
    assert len(shown.lines) == 1 + 16 + 1
    assert [line for line in shown.lines if cells(line) > columns] == []
    assert [line for line in shown.lines if cell_len(line) > columns] == [], "on one that joins emoji"
    assert max(map(cells, shown.lines)) > min(columns, 200) - 4, "it is as wide as it can be"


def test_texts_are_cut_between_characters(home: Home) -> None:
    for number, text in enumerate(["日本語日本語", "é" * 20, "abc" * 9, "👍🏽" * 9]):
        home.add(str(number), session(text=text, time=ago(days=number + 1)))
    lines = home.on_terminal("list", "--all", columns=20).lines
    assert lines[1:-1] == [" 1d  日本語日本語", " 2d  éééééééééééééé…", " 3d  abcabcabcabcab…", " 4d  👍🏽👍🏽👍🏽👍…"]


def test_as_many_sessions_as_the_screen_has_lines(home: Home) -> None:
    for number in range(40):
        home.add(str(number), session(time=ago(days=number + 1), text=f"number {number}"))
    shown = home.on_terminal("list", "--all", lines=24)
    assert len(shown.lines) - 1 == 23, "and one for the prompt"
    assert shown.lines[-3].split()[3] == "20"
    assert shown.lines[-2] == "19 more: --limit 0 lists them"
    assert len(home.on_terminal("list", "--all", "--limit", "30").lines) - 1 == 32
    assert len(home.on_terminal("list", "--all", "--limit", "0").lines) - 1 == 41


# What is never sent


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--all", "--limit", "0"),
        ("list", "--all", "--json"),
        ("list", "--all", "--jsonl"),
        ("list", "-C", f"/{BIDI}"),
        ("list", "--sort", CONTROLS.replace("\0", "").replace("\ud83d", "")),
        ("list", "--all", "--agent-dir", f"/{BIDI}"),
        ("check",),
        ("check", "--json"),
        ("check", "--jsonl"),
        ("check", BIDI, "\x1b]0;title\x07", "\x9b31m"),
        ("check", b"\x1b[31m\xff\n"),
        ("check", f"--{BIDI}"),
        (BIDI,),
    ],
)
def test_a_terminal_is_sent_nothing_that_it_may_act_on(odd_home: Home, arguments: tuple[str | bytes, ...]) -> None:
    shown = odd_home.on_terminal(*arguments, columns=200)
    assert len(shown.lines) > 1
    assert dangerous("".join(shown.lines)) == set()


def test_what_is_hidden_is_named(odd_home: Home) -> None:
    shown = "\n".join(odd_home.on_terminal("list", "--all", "--limit", "0", columns=300).lines)
    assert r"\x1b[31mred\x1b]0;title\x07 \x9b31m \x00\x08\x7f" in shown
    assert r"\u202eevil\u202c \u2066isolate\u2069 \u200f\u061c" in shown
    assert WIDE[:30] in shown


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_styles_where_none_are_wanted(home: Home, plain: dict[str, str]) -> None:
    home.add("1", DAMAGED)
    for arguments in (("list", "--all"), ("check",)):
        assert "\x1b" in home.on_terminal(*arguments).raw
        assert "\x1b" not in home.given(**plain).on_terminal(*arguments).raw


# Notes


def test_notes_go_to_whoever_sits_there(home: Home) -> None:
    home.add("1", session(cwd="/team/app", time="2026-01-05T10:00:00.000Z"))
    home.add("2", DAMAGED)
    app = ("list", "-C", "/team/app")
    store = home.agent
    for arguments, said in [
        ((*app, "--limit", "1"), "1 more: --limit 0 lists them"),
        (
            (*app, "--limit", "1", "--sort", "size"),
            "1 more: --limit 0 lists them; ! is damaged: sessiontree check tells where",
        ),
        ((*app, "--since", "2026-02-01"), "none of 2 sessions was modified then"),
        (("list", "-C", "/site"), f"no sessions of /site in {store} (--all lists every project's)"),
        (("list", "--all", "--session-dir", "/nowhere"), "no sessions in /nowhere"),
        (("check", "--agent-dir", "/nowhere"), "no sessions in /nowhere"),
    ]:
        assert home.on_terminal(*arguments, elsewhere="stdout").lines == [said, ""]
        assert said not in home.run(*arguments).stderr
    checked = home.on_terminal("check", elsewhere="stdout").lines
    assert re.fullmatch(r"2 sessions, \d+B, in \d+ ms; damage: 1 line; notes: none", checked[0])


def test_check_names_each_file_once(home: Home) -> None:
    path = home.add("1", DAMAGED + b"17\n")
    shown = home.on_terminal("check", elsewhere="stderr")
    assert (shown.code, shown.raw.split("\r\n")[0]) == (4, f"\x1b[1m{path}\x1b[0m")
    assert shown.lines[1:] == [
        *(f"  {one.line:5}  line      {one.reason}" for one in scan(home.agent).damage),
        "",
    ]


# The progress bar


def test_a_quick_scan_shows_no_bar(home: Home) -> None:
    home.add("1", session())
    assert home.on_terminal("list", "--all", elsewhere="stdout").raw == ""
    assert "\x1b[?25l" not in home.on_terminal("check").raw


@pytest.mark.parametrize("elsewhere", [None, "stdout"])
def test_a_slow_scan_shows_a_bar_after_half_a_second_and_leaves_nothing(home: Home, elsewhere: str | None) -> None:
    home.add("1", session(time=ago(days=1)))
    shown = home.on_terminal("list", "--all", command=SLOWLY, elsewhere=elsewhere)
    assert re.search("Reading .* 25%", shown.raw)
    table = ["AGE  PROJECT    SESSION  MSGS  TOKENS  COST", " 1d  /team/app  Hello       2"]
    seen = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(shown.screen()))
    assert seen.split("\n") == ([""] if elsewhere else [*table, ""])
    assert shown.elsewhere == ("\n".join([*table, ""]) if elsewhere else "")
    assert shown.raw.rindex("\x1b[?25h") > shown.raw.rindex("\x1b[?25l"), "the cursor is back"
    assert shown.code == 0


def test_the_bar_is_gone_before_a_warning_is_said(home: Home) -> None:
    home.add("1", session(time=ago(days=1)))
    (home.agent / "sessions/--x--").mkdir()
    (home.agent / "sessions/--x--/loop.jsonl").symlink_to("loop.jsonl")
    seen = home.on_terminal("list", "--all", command=SLOWLY, elsewhere="stdout")
    assert "Reading" in seen.raw
    [warning, rest] = seen.screen()
    assert warning.startswith("sessiontree: could not be read: 1")
    assert rest == ""


def test_no_bar_without_a_terminal_that_can_draw_one(home: Home) -> None:
    home.add("1", session())
    for variables, elsewhere in [({"TERM": "dumb"}, None), ({}, "stderr")]:
        shown = home.given(**variables).on_terminal("list", "--all", command=SLOWLY, elsewhere=elsewhere)
        assert "Reading" not in shown.raw + shown.elsewhere
        assert "AGE" in shown.lines[0]


def test_the_bar_fits_a_narrow_terminal(home: Home) -> None:
    home.add("1", session())
    raw = home.on_terminal("list", "--all", command=SLOWLY, columns=20, elsewhere="stdout").raw
    drawn = re.split(r"[\r\n]|\x1b\[2K", re.sub(r"\x1b\[(?!2K)[?\d;]*[A-Za-z]", "", raw))
    assert any("Reading" in line for line in drawn)
    assert max(map(cells, drawn)) <= 20


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("interrupt_at", ["waiting", "Reading"])
def test_a_signal_clears_the_bar_and_ends_at_once(home: Home, interrupt_at: str, interrupt: signal.Signals) -> None:
    home.add("1", session())
    slow = SLOW.replace("time.sleep(1)", 'print("waiting", flush=True); time.sleep(60)')
    start = time.monotonic()
    command = (sys.executable, "-c", slow)
    shown = home.on_terminal("list", "--all", command=command, interrupt_at=interrupt_at, interrupt=interrupt)
    assert shown.code == 128 + interrupt
    assert [row for row in shown.screen() if row] == ["waiting"]
    assert shown.raw.count("\x1b[?25h") == shown.raw.count("\x1b[?25l")
    assert time.monotonic() - start < 20
