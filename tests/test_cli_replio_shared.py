"""`list`, `show` and `check` where Replio's sessions stand beside Elyra's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import Home, session

if TYPE_CHECKING:
    from pathlib import Path

TIME = "2031-03-04T05:%02d:00+00:00"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def document(minute: int, *messages: dict[str, Any], **more: object) -> dict[str, Any]:
    said = messages or ({"role": "user", "content": "hi", "timestamp": TIME % minute, "id": "m1"},)
    return {"name": "s", "created_at": TIME % 0, "updated_at": TIME % minute, "messages": said, **more}


def add(home: Home, name: str, content: dict[str, Any] | bytes, project: str = "app") -> Path:
    """Write a Replio session into a project of the user's."""
    path = home.folder / project / f".replio/sessions/{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=2).encode())
    return path


def add_elyra(home: Home, name: str, time: str) -> None:
    """Write an Elyra session of the same project."""
    cwd = str(home.folder / "app")
    home.add(name, session(name, cwd=cwd, time=time), cwd=cwd)


@pytest.fixture
def project(home: Home) -> Path:
    """A project with sessions of both formats."""
    folder = home.folder / "app"
    add(home, "ses_one", document(1))
    add(home, "ses_two", document(2))
    add_elyra(home, "elyra1", "2031-03-04T05:01:30.000Z")
    home.add("2", session("elsewhere"))
    return folder


# list


def test_both_formats_are_listed_newest_first(home: Home, project: Path) -> None:
    assert home.ids("-C", project) == ["ses_two", "elyra1", "ses_one"]
    assert home.ids("-C", project, "--all") == ["ses_two", "elyra1", "ses_one", "elsewhere"]
    assert home.ids("-C", project, "--sort", "name") == ["elyra1", "ses_one", "ses_two"]
    assert [row["format"] for row in home.rows("list", "-C", project)] == ["replio", "elyra", "replio"]
    table = home.run("list", "-C", project).stdout.splitlines()
    assert [line.split()[1:] for line in table[1:]] == [
        ["~/app", "ses_two", "1"],
        ["~/app", "Hello", "2"],
        ["~/app", "ses_one", "1"],
    ]


def test_a_folder_without_them_has_none(home: Home, project: Path) -> None:
    assert home.ids("-C", project.parent) == []


@pytest.mark.parametrize("folder", ["app", "app/.replio", "app/.replio/sessions"])
def test_a_store_that_is_named_is_the_one_that_is_read(home: Home, project: Path, folder: str) -> None:
    assert home.ids("--session-dir", home.folder / folder) == ["ses_two", "ses_one"]
    assert home.ids("-C", project, "--agent-dir", home.agent) == ["elyra1"]


def test_what_cannot_be_read_is_warned_of(home: Home, project: Path) -> None:
    add(home, "cut", b"{")
    done = home.run("list", "-C", project, "--jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)
    assert "could not be read: 1 " in done.stderr


def test_the_catalogue_knows_them(home: Home, project: Path) -> None:
    first = home.rows("list", "-C", project)
    path = project / ".replio/sessions/ses_one.json"
    path.write_bytes(path.read_bytes().replace(b'"hi"', b'"ho"'))
    assert [row["first_message"] for row in home.rows("list", "-C", project)] == ["hi", "Hello", "ho"]
    assert first[:2] == home.rows("list", "-C", project)[:2]


def test_a_project_without_any_says_where_was_looked(home: Home) -> None:
    sessions = home.folder / "app/.replio/sessions"
    sessions.mkdir(parents=True)
    said = home.on_terminal("list", "-C", sessions.parent.parent, columns=400).lines[0]
    assert f"in {home.agent}, and none in {sessions} (--all" in said


# show


MESSAGES: tuple[dict[str, Any], ...] = (
    {"role": "user", "content": "What is OEE?", "timestamp": TIME % 1, "id": "m1"},
    {
        "role": "assistant",
        "content": None,
        "thinking": "Look first.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": "oee"}'}}],
        "timestamp": TIME % 2,
    },
    {"role": "tool", "content": "One hit.", "tool_call_id": "c1", "tool": "grep", "timestamp": TIME % 3},
    {"role": "command", "content": "/compact", "result": "The user asks of OEE.", "compact_from": 2},
    {"role": "command", "content": "/model toy", "timestamp": TIME % 5},
    {"role": "assistant", "content": "A ratio.", "provider": "toybox", "model": "toy", "timestamp": TIME % 8},
)
ERRORS: list[dict[str, Any]] = [
    {"code": 503, "message": "try\nagain", "timestamp": TIME % 6},
    {"code": 0, "message": "no words"},
]


def test_a_session_is_shown_as_a_transcript(home: Home) -> None:
    path = add(home, "ses_oee", document(9, *MESSAGES, errors=ERRORS))
    done = home.run("show", "ses_o", "-C", home.folder / "app")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "ses_oee",
        "~/app, 4 messages, toybox/toy, 2031-03-04 05:00 to 05:09",
        str(path),
        "",
        "user  2031-03-04 05:01  m1",
        "  What is OEE?",
        "",
        "assistant  05:02",
        "  thinking: Look first.",
        "  → grep  oee",
        "",
        "result of grep  05:03",
        "  One hit.",
        "",
        "compaction",
        "  The user asks of OEE.",
        "",
        "command: /model toy  05:05",
        "error 503: try again  05:06",
        "",
        "assistant  05:08  toy",
        "  A ratio.",
        "",
        "error: no words",
    ]


def test_nothing_is_cut_when_all_is_asked_for(home: Home) -> None:
    calls = [{"function": {"name": "grep", "arguments": text}} for text in ('{"q": "oee", "n": 2}', "{cut\nshort")]
    result = {"role": "tool", "content": "\n".join(map(str, range(20))), "tool": "grep"}
    path = add(home, "s", document(1, {"role": "assistant", "tool_calls": calls}, result))
    assert home.run("show", path, "--full").stdout.splitlines()[5:14] == [
        *("  → grep", "    q: oee", "    n: 2"),
        *("  → grep", "    arguments: {cut", "    short"),
        *("", "result of grep", "  0"),
    ]
    assert "  … 10 more lines" in home.run("show", path).stdout.splitlines()


def test_a_log_of_turns_is_shown_as_its_messages(home: Home) -> None:
    parts = [{"type": "user", "text": "hi"}, {"type": "text", "text": "ho"}]
    add(home, "ses_later", {"session_name": "x", "turns": [{"index": 1, "parts": parts}]})
    assert home.run("show", "-C", home.folder / "app").stdout.splitlines()[4:] == [
        "user",
        "  hi",
        "",
        "assistant",
        "  ho",
    ]


def test_json_is_the_documents_own(home: Home) -> None:
    big = {"role": "user", "content": "x", "n": 2**70, "f": 8.0, "odd": {"a": None}}
    path = add(home, "ses_x", document(1, big, role="keeper"))
    assert json.loads(home.run("show", path, "--json").stdout) == json.loads(path.read_bytes())
    lines = [json.loads(line) for line in home.run("show", path, "--jsonl").stdout.splitlines()]
    assert (lines[0]["role"], "messages" in lines[0]) == ("keeper", False)
    assert lines[1:] == [big]
    path.write_bytes("\ufeff".encode() + b'{"turns": [{"index": 1}], "x": "\\ud83d"}')
    assert json.loads(home.run("show", path, "--json").stdout) == {"turns": [{"index": 1}], "x": "\ufffd"}
    path.write_bytes(b'{"parent_id": "x"}')
    assert json.loads(home.run("show", path, "--json").stdout) == {"parent_id": "x", "messages": []}


def test_without_a_name_the_newest_of_both_is_shown(home: Home, project: Path) -> None:
    assert home.run("show", "-C", project).stdout.splitlines()[0] == "ses_two"
    add_elyra(home, "elyra3", "2031-03-04T06:00:00.000Z")
    assert home.run("show", "-C", project).stdout.splitlines()[0] == "Hello"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ses_one", "ses_one"),
        ("ses_t", "ses_two"),
        ("elyra1", "Hello"),
        ("el", "Hello"),
        ("app/.replio/sessions/ses_one.json", "ses_one"),
    ],
)
def test_names_and_their_starts_are_found_in_both(home: Home, project: Path, name: str, shown: str) -> None:
    done = home.run("show", name, "-C", project)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, shown)


def test_a_whole_name_wins_and_two_of_a_kind_are_ambiguous(home: Home, project: Path) -> None:
    add(home, "el", document(3))
    assert home.run("show", "el", "-C", project).stdout.splitlines()[0] == "el"
    add(home, "elyra2", document(3))
    for name in ("ses_", "ely"):
        done = home.run("show", name, "-C", project)
        assert done.returncode == 3
        assert "may be any of several sessions" in done.stderr
    add(home, "elyra1", document(3))
    assert "may be any of several" in home.run("show", "elyra1", "-C", project).stderr
    add_elyra(home, "elyra9", "2031-03-04T05:00:00.000Z")
    assert "several sessions' ids" in home.run("show", "elyr", "-C", project).stderr
    assert home.run("show", "el", "-C", project).stdout.splitlines()[0] == "el"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["ses_nine"], 3, "no session has the id 'ses_nine'"),
        (["nine.json"], 3, "nine.json: No such file or directory"),
        ([""], 2, "the name is empty"),
        (["ses_one", "--leaf", "m1"], 2, "--leaf: a Replio session has no branches"),
        (["cut"], 4, "cut.json:1: no session: the record is cut off"),
    ],
)
def test_what_is_not_to_be_had_is_told(home: Home, project: Path, options: list[str], code: int, said: str) -> None:
    add(home, "cut", b"{")
    done = home.run("show", *options, "-C", project)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_a_session_with_damage_is_shown_and_told(home: Home, project: Path) -> None:
    path = add(home, "odd", b'{"messages": [5, {"role": "user", "content": "hi"}]}')
    done = home.run("show", path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (4, "  hi")
    assert "1 report of damage" in done.stderr


# check, and commands for trees


def test_check_reports_both(home: Home, project: Path) -> None:
    path = add(home, "cut", b'{\n"messages": [')
    done = home.run("check", "-C", project)
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout == f"{path}:2: file: no session: the record is cut off, at byte 15\n"
    assert home.run("check", project).stdout == done.stdout


def test_commands_for_trees_say_that_it_is_none(home: Home, project: Path) -> None:
    done = home.run("tree", project / ".replio/sessions/ses_one.json")
    assert (done.returncode, done.stdout) == (4, "")
    assert "no session of Elyra's: it has another format" in done.stderr
