"""`sessiontree fork`, `branch`, `name`, `label` and `delete`: what they write, and what they tell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import DAMAGED, Home, conversation, message, session

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a folder of its own for programs."""
    (tmp_path / "bin").mkdir()
    return Home(tmp_path).given(PATH=f"{tmp_path}/bin:/usr/bin:/bin")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def texts(path: Path) -> list[str]:
    """What the messages of a session say."""
    return [record["message"]["content"] for record in records(path) if record["type"] == "message"]


def said(home: Home, *arguments: str | Path) -> str:
    """What a command prints, without the line's end; it must have gone well."""
    done = home.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.removesuffix("\n")


BRANCHES = conversation(
    message("user", "root"),
    message("assistant", "left"),
    message("assistant", "right", parentId="e1"),
    {"type": "label", "targetId": "e2", "label": "L"},
    session_id="0199aaaa",
)


# Copies


def test_fork_copies_a_session_into_this_project(home: Home) -> None:
    path = home.add("1", BRANCHES)
    made = Path(said(home, "fork", "0199", "-C", "/team/app"))
    assert made.parent == path.parent
    header, *entries = records(made)
    assert (header["cwd"], header["parentSession"]) == ("/team/app", str(path))
    assert header["id"] != "0199aaaa"
    assert entries == records(path)[1:]
    assert path.read_bytes() == BRANCHES


def test_fork_into_another_project(home: Home) -> None:
    home.add("1", BRANCHES)
    (home.folder / "site").mkdir()
    made = Path(said(home, "fork", "0199", "-C", "/team/app", "--to", "site"))
    assert records(made)[0]["cwd"] == f"{home.folder}/site"
    assert made.parent.parent == home.agent / "sessions"
    assert home.ids("-C", str(home.folder / "site")) == [records(made)[0]["id"]]


def test_fork_finds_sessions_of_other_projects_after_this_ones(home: Home) -> None:
    home.add("1", BRANCHES)
    home.add("2", session("0199b", cwd="/site", text="site"), cwd="/site")
    made = Path(said(home, "fork", "0199", "-C", "/site"))
    assert texts(made)[0] == "site"
    made = Path(said(home, "fork", "0199aa", "-C", "/site"))
    assert (records(made)[0]["cwd"], texts(made)[0]) == ("/site", "root")
    assert home.run("fork", "0199", "-C", "/elsewhere").returncode == 3
    assert home.run("fork", "0199", "-C", "/site", "--all").returncode == 3


def test_copies_go_into_a_flat_folder_that_is_named(home: Home) -> None:
    path = home.add("1", BRANCHES)
    flat = home.folder / "flat"
    made = Path(said(home, "fork", path, "-C", "/site", "--session-dir", flat))
    assert (made.parent, records(made)[0]["cwd"]) == (flat, "/site")
    assert Path(said(home, "fork", path, "--agent-dir", home.folder / "other")).is_relative_to(home.folder / "other")


def test_branch_copies_the_way_to_an_entry(home: Home) -> None:
    path = home.add("1", BRANCHES)
    for entry, expected in [("e2", ["root", "left"]), ("e3", ["root", "right"]), ("e1", ["root"])]:
        made = Path(said(home, "branch", "0199aaaa", entry, "-C", "/team/app"))
        assert made.parent == path.parent
        assert texts(made) == expected
        assert records(made)[0]["parentSession"] == str(path)
        labels = [record["label"] for record in records(made) if record["type"] == "label"]
        assert labels == (["L"] if entry == "e2" else [])
        made.unlink()
    assert path.read_bytes() == BRANCHES


@pytest.mark.parametrize("command", [("fork",), ("branch", "e1")], ids=" ".join)
def test_json_of_a_copy(home: Home, command: tuple[str, ...]) -> None:
    path = home.add("1", BRANCHES)
    name, *more = command
    for form in ("--json", "--jsonl"):
        row = json.loads(said(home, name, path, *more, form))
        assert row == {"path": row["path"], "id": records(Path(row["path"]))[0]["id"]}


def test_what_is_damaged_stays_behind(home: Home) -> None:
    path = home.add("1", DAMAGED)
    done = home.run("fork", path)
    assert done.returncode == 4
    assert home.run("check", done.stdout.strip()).returncode == 0
    assert path.read_bytes() == DAMAGED


# Names


def test_name_tells_and_sets_and_clears(home: Home) -> None:
    path = home.add("1", session())
    assert said(home, "name", path) == ""
    assert said(home, "name", path, "Fix the parser") == ""
    assert said(home, "name", path) == "Fix the parser"
    assert records(path)[-1]["name"] == "Fix the parser"
    assert said(home, "name", "s1", " two\nlines ", "-C", "/team/app") == ""
    assert said(home, "name", path) == "two lines"
    assert said(home, "name", path, "--clear") == ""
    assert said(home, "name", path) == ""
    assert path.read_bytes().startswith(session())
    assert len(records(path)) == len(records(home.add("2", session()))) + 3


def test_json_of_names(home: Home) -> None:
    path = home.add("1", session())
    for arguments, name in [((), None), (("Néw",), "Néw"), ((), "Néw"), (("--clear",), None)]:
        for form in ("--json", "--jsonl"):
            row = json.loads(said(home, "name", path, *arguments, form))
            assert row == {"path": str(path), "id": "s1", "name": name}


@pytest.mark.parametrize("arguments", [("name", "s1", ""), ("name", "s1", " \n"), ("label", "s1", "e0", "")])
def test_an_empty_name_or_label_is_bad_usage(home: Home, arguments: tuple[str, ...]) -> None:
    path = home.add("1", session())
    done = home.run(*arguments, "-C", "/team/app")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--clear" in done.stderr
    assert path.read_bytes() == session()


# Labels


def test_label_tells_and_sets_and_clears(home: Home) -> None:
    path = home.add("1", session())
    assert said(home, "label", path, "e0") == ""
    assert said(home, "label", path, "e0", "start") == ""
    assert said(home, "label", path, "e0") == "start"
    assert (records(path)[-1]["targetId"], records(path)[-1]["label"]) == ("e0", "start")
    assert said(home, "label", path, "e1") == ""
    assert said(home, "label", path, "e0", "--clear") == ""
    assert said(home, "label", path, "e0") == ""
    assert "label" not in records(path)[-1]


def test_json_of_labels(home: Home) -> None:
    path = home.add("1", session(answers=0))
    for arguments, label in [((), None), (("here",), "here"), ((), "here"), (("--clear",), None)]:
        row = json.loads(said(home, "label", path, "e0", *arguments, "--json"))
        assert row == {"path": str(path), "id": "e0", "label": label}


def test_a_change_of_an_entry_that_is_not_there_changes_nothing(home: Home) -> None:
    path = home.add("1", session())
    for command in (("label", path, "x", "here"), ("label", path, "x", "--clear"), ("branch", path, "x")):
        assert home.run(*command).returncode == 3
    assert path.read_bytes() == session()
    assert list(path.parent.iterdir()) == [path]


# Deleting


@pytest.fixture
def no_trash(home: Home) -> Home:
    """A home in which no trash can be: neither a program for it, nor a folder."""
    return home.given(PATH="/nowhere", XDG_DATA_HOME="/dev/null")


def with_trash(home: Home, script: str) -> None:
    """Give the home a program `trash`."""
    program = home.folder / "bin/trash"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always a trash")
def test_delete_removes_what_it_is_told_where_there_is_no_trash(no_trash: Home) -> None:
    paths = [no_trash.add(str(number), session(f"s{number}")) for number in range(4)]
    done = no_trash.run("delete", "s1", paths[2], paths[1], "s2", "-C", "/team/app", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"removed {paths[1]}\nremoved {paths[2]}\n"
    assert [path.exists() for path in paths] == [True, False, False, True]


def test_delete_moves_to_the_trash_where_there_is_one(home: Home) -> None:
    path = home.add("1", session())
    with_trash(home, 'for last; do :; done; mv "$last" "$HOME/trashed"')
    assert said(home, "delete", path, "--yes") == f"trashed {path}"
    assert (home.folder / "trashed").read_bytes() == session()


def test_json_of_what_was_deleted(home: Home) -> None:
    paths = [home.add(str(number), session(f"s{number}")) for number in range(3)]
    with_trash(home, 'for last; do :; done; rm "$last"')
    done = json.loads(said(home, "delete", paths[0], "--yes", "--json"))
    assert done == [{"path": str(paths[0]), "id": "s0", "result": "trashed"}]
    assert [row["id"] for row in home.rows("delete", *paths[1:], "--yes")] == ["s1", "s2"]


def test_nothing_is_deleted_unless_all_are_found(home: Home) -> None:
    path = home.add("1", session())
    diary = home.folder / "text.jsonl"
    diary.write_text("my diary")
    for other, code in [("missing", 3), (str(diary), 4)]:
        assert home.run("delete", path, other, "--yes").returncode == code
        assert path.exists()
        assert diary.exists()


@pytest.mark.parametrize("form", [(), ("--json",)], ids=" ".join)
def test_without_a_terminal_it_deletes_only_when_told_to(home: Home, form: Sequence[str]) -> None:
    path = home.add("1", session())
    done = home.run("delete", path, *form)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--yes" in done.stderr
    assert path.exists()


STUBBORN = """
import pathlib, sys
from sessiontree import cli

unlink = pathlib.Path.unlink

def refuse(path):
    if path.name == "1.jsonl":
        raise PermissionError(13, "Permission denied", str(path))
    unlink(path)

pathlib.Path.unlink = refuse
sys.exit(cli.main())
"""
"""The command, where one file cannot be removed."""


@pytest.mark.skipif(sys.platform == "darwin", reason="there is always a trash")
def test_one_that_cannot_be_deleted_does_not_keep_the_others(no_trash: Home) -> None:
    first, second = no_trash.add("1", session("s1")), no_trash.add("2", session("s2"))
    done = no_trash.run("delete", first, second, "--yes", command=[sys.executable, "-c", STUBBORN])
    assert (done.returncode, done.stdout) == (1, f"removed {second}\n")
    assert done.stderr == f"sessiontree: {first}: Permission denied\n"


# On a terminal


@pytest.mark.parametrize(
    ("typed", "is_deleted"),
    [("y\n", True), (" Yes \n", True), ("n\n", False), ("\n", False), ("\x04", False), ("yesterday\n", False)],
)
def test_on_a_terminal_it_asks(home: Home, typed: str, is_deleted: bool) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    with_trash(home, 'for last; do :; done; rm "$last"')
    path = home.add("1", session(name="Mine"))
    shown = home.on_terminal("delete", path, typed=typed, columns=200)
    assert f"Mine  {path}" in shown.lines
    assert any("Delete 1 session? [y/N] " in line for line in shown.lines)
    assert path.exists() != is_deleted
    assert shown.code == (0 if is_deleted else 1)
    assert shown.lines[-2].endswith(f"trashed {path}" if is_deleted else "nothing was deleted")


def test_on_a_terminal_it_does_not_ask_what_it_was_told(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    path = home.add("1", session())
    with_trash(home, 'for last; do :; done; rm "$last"')
    shown = home.on_terminal("delete", path, "--yes", columns=200)
    assert shown.lines == [f"trashed {path}", ""]


def test_ctrl_c_at_the_question_deletes_nothing(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    path = home.add("1", session())
    shown = home.on_terminal("delete", path, interrupt_at="[y/N]")
    assert (shown.code, path.exists()) == (130, True)


def test_whoever_sits_there_is_told_that_there_is_nothing_to_tell(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    path = home.add("1", session())
    assert home.on_terminal("name", path).lines == ["the session has no name", ""]
    assert home.on_terminal("label", path, "e0").lines == ["the entry has no label", ""]
    assert home.on_terminal("name", path, "New").lines == [""]
    assert home.on_terminal("name", path).lines == ["New", ""]
