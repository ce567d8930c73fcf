"""`sessiontree replio` on a real terminal: whatever sessions hold, only what a terminal may show is sent to it."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

import strategies
from cli_replio_support import CALLS, HOSTILE, SHOWN, Project, call, message, project_in
from cli_support import cells, dangerous
from sessiontree.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pty", reason="no pseudo-terminals here")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path)


@pytest.fixture
def odd_project(project: Project) -> Project:
    """A project whose sessions have a hostile text in all places."""
    project.add(
        "sub_odd",
        7,
        message("user", HOSTILE),
        message(HOSTILE, HOSTILE),
        message("assistant", HOSTILE, thinking=HOSTILE, model=HOSTILE, tool_calls=[call(HOSTILE, HOSTILE, HOSTILE)]),
        message("assistant", None, tool_calls=[call("c", HOSTILE, json.dumps({HOSTILE: HOSTILE, "b": [HOSTILE]}))]),
        message("tool", HOSTILE, tool=HOSTILE, tool_call_id="c", analysis=HOSTILE),
        message("command", HOSTILE, result=HOSTILE, compact_from=1),
        created_at=HOSTILE,
        updated_at=HOSTILE,
        parent_id=HOSTILE,
        sub_sessions=[HOSTILE],
        errors=[{"code": HOSTILE, "message": HOSTILE}],
        **{HOSTILE: HOSTILE},
    )
    project.put("bidi \u202eevil", b'{"\x1b[2J')
    if sys.platform != "darwin":
        project.put("\x1b[31m\x9b1m\n\udcff", b"{")
    return project


@pytest.mark.parametrize(
    "arguments",
    [
        *(("list",), ("list", "--json"), ("list", "--jsonl"), ("list", "--names"), ("list", "-C", "/\u202e\x1b[2J")),
        *(("preview", "sub"), ("preview", "sub", "--json"), ("preview", "\x1b[2J"), ("preview", "bidi")),
        *(("context", "sub", "--no-pager"), ("context", "sub", "--full", "--no-pager"), ("context", "sub", "--json")),
        *(("check",), ("check", "--json"), ("check", "sub", "\u202e"), ("delete", "bidi"), ("delete", "\u202e\u2066")),
        *(("export", "sub", "--out", "-"), ("export", "sub", "--out", "\x1b[2J\u202e"), ("new", "\u202enew")),
    ],
    ids=ascii,
)
def test_a_terminal_is_sent_nothing_that_it_may_act_on(odd_project: Project, arguments: tuple[str, ...]) -> None:
    shown = odd_project.on_terminal(*arguments, columns=200, typed="n\n")
    assert len(shown.lines) > 1
    assert dangerous("".join(shown.lines)) == set()


def test_what_is_hidden_is_named(odd_project: Project) -> None:
    for arguments in (("list",), ("preview", "sub"), ("context", "sub", "--no-pager"), ("export", "sub", "--out", "-")):
        assert SHOWN in "\n".join(odd_project.on_terminal(*arguments, columns=300).lines), arguments


def test_in_a_pipe_texts_are_as_harmless(odd_project: Project) -> None:
    for arguments in (("list",), ("preview", "sub"), ("context", "sub"), ("check",)):
        assert dangerous("".join(odd_project.run(*arguments).stdout.splitlines())) == set(), arguments


def test_a_context_fits_the_terminal_and_goes_through_a_pager(project: Project) -> None:
    project.add("s", *CALLS * 20)
    shown = project.on_terminal("context", "s", "--no-pager", columns=33)
    assert max(map(cells, shown.lines)) <= 33
    assert "\x1b[1m" in shown.raw
    piped = Project(project.home.given(PAGER="sed s/deep/DEEP/"))
    assert any("DEEP" in line for line in piped.on_terminal("context", "s").lines)


def test_notes_go_to_whoever_sits_there(project: Project) -> None:
    for action, said in [
        ("list", f"looked in {project.sessions}"),
        ("check", f"no sessions in {project.sessions}"),
    ]:
        assert project.on_terminal(action, elsewhere="stdout", columns=200).lines == [said, ""]
        assert said not in project.run(action).stderr
    project.add("sound", parent_id="gone")
    project.put("cut", b"{")
    assert project.on_terminal("list", elsewhere="stdout").lines == [
        "sessiontree replio check tells what is damaged",
        "",
    ]
    shown = project.on_terminal("check", elsewhere="stdout").lines
    assert re.fullmatch(r"1 session, \d+B, in \d+ ms; damage: 1 file; notes: 1 link", shown[0])


def test_check_names_each_file_once(project: Project) -> None:
    path = project.add("odd", 1, 2, parent_id="gone")
    lines = project.on_terminal("check", elsewhere="stderr", columns=200).lines
    assert lines[0] == str(path)
    assert [line.split()[:2] for line in lines[1:-1]] == [["6", "line"], ["7", "line"], ["link", "parent_id"]]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.sampled_from([HOSTILE, "x", "sub_odd"]),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.sampled_from([HOSTILE, "text", "type"]), values),
    max_leaves=5,
)
KEYS = ("role", "content", "thinking", "tool_calls", "tool", "tool_call_id", "result", "compact_from", "timestamp")
ROLES = st.sampled_from(["user", "assistant", "tool", "command", "system", HOSTILE])
MESSAGES = st.fixed_dictionaries({"role": ROLES | VALUES}, optional=dict.fromkeys(KEYS[1:], VALUES))
DOCUMENTS = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES | VALUES, max_size=5)},
    optional={key: VALUES for key in ("name", "created_at", "parent_id", "sub_sessions", "errors", "permissions")},
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return project_in(tmp_path_factory.mktemp("fuzz"))


@given(document=DOCUMENTS | VALUES)
@settings(max_examples=strategies.EXAMPLES // 8, deadline=None)
def test_whatever_a_document_holds_is_printed(fuzzed: Project, document: object) -> None:
    fuzzed.put("sub_odd", json.dumps(document).encode())
    codes = set()
    for arguments in (
        *(("list",), ("check",), ("check", "sub_odd"), ("preview", "sub_odd"), ("preview", "sub_odd", "--json")),
        *(("context", "sub_odd"), ("context", "sub_odd", "--full"), ("context", "sub_odd", "--json", "--strip")),
    ):
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            code = main(["replio", *arguments, "-C", str(fuzzed.folder)])
        shown = said.getvalue() if "--json" in arguments else out.getvalue() + said.getvalue()
        assert dangerous("".join(shown.split("\n"))) == set()
        assert "--json" not in arguments or not out.getvalue() or json.loads(out.getvalue())
        if arguments != ("list",):
            codes.add(code)
    assert codes in ({0}, {4}), "all say the same of it"
