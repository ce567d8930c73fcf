"""How every command finds the session and the entry that it is told of, and what it says when it does not."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from cli_support import DAMAGED, REMARKED, Home, ago, conversation, message, session
from sessiontree.cli import main

if TYPE_CHECKING:
    from pathlib import Path

READING = [("show",), ("tree",), ("context",)]
WRITING = [("fork",), ("branch", "e0"), ("name",), ("name", "New"), ("label", "e0"), ("label", "e0", "New")]
DELETING = ("delete", "--yes")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def shown(home: Home, *arguments: str | Path) -> str:
    """The id of the session that `show` finds."""
    done = home.run("show", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return str(json.loads(done.stdout)["header"]["id"])


# Sessions


@pytest.fixture
def projects(home: Home) -> Home:
    """Two projects that share a folder, and one of its own; ids that start alike."""
    home.add("1", session("0199aa01", cwd="/a/b", time=ago(days=3)), cwd="/a/b")
    home.add("2", session("0199aa02", cwd="/a/b", time=ago(days=2)), cwd="/a/b")
    home.add("3", session("0199", cwd="/a/b", time=ago(days=4)), cwd="/a/b")
    home.add("4", session("0199bb01", cwd="/a-b", time=ago(days=1)), cwd="/a-b")
    home.add("5", session("0199cc01", cwd="/site", time=ago(hours=1)), cwd="/site")
    return home


def test_a_session_is_named_by_its_id_a_prefix_of_it_or_its_path(projects: Home) -> None:
    here = ("-C", "/a/b")
    assert shown(projects, "0199aa01", *here) == "0199aa01"
    assert shown(projects, "0199aa02", *here) == "0199aa02"
    assert shown(projects, "0199", *here) == "0199", "a whole id wins"
    [path] = projects.agent.rglob("5.jsonl")
    assert shown(projects, path, *here) == "0199cc01"
    relative = projects.run("show", "5.jsonl", "--json", cwd=path.parent)
    assert json.loads(relative.stdout)["header"]["id"] == "0199cc01"


def test_only_this_projects_sessions_count_unless_all_are_asked_for(projects: Home) -> None:
    assert shown(projects, "0199b", "-C", "/a-b") == "0199bb01"
    assert shown(projects, "0199b", "-C", "/a/b", "--all") == "0199bb01"
    done = projects.run("show", "0199b", "-C", "/a/b")
    assert (done.returncode, done.stdout) == (3, "")
    assert "/a-b" in done.stderr.splitlines()[0]
    assert done.stderr.splitlines()[1] == "sessiontree: --all finds sessions of other projects, too"


def test_without_a_name_it_is_the_newest(projects: Home) -> None:
    assert shown(projects, "-C", "/a/b") == "0199aa02"
    assert shown(projects, "-C", "/a-b") == "0199bb01"
    assert shown(projects, "-C", "/a/b", "--all") == "0199cc01"
    for command in READING:
        done = projects.run(*command, "-C", "/nowhere")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == f"sessiontree: no sessions of /nowhere in {projects.agent}\n"
    done = projects.run("show", "--all", "--session-dir", "/nowhere")
    assert (done.returncode, done.stderr) == (3, "sessiontree: no sessions in /nowhere\n")


def test_other_homes(home: Home) -> None:
    home.add("1", session("pi"), agent=home.folder / ".pi/agent")
    home.add("1", session("other"), agent=home.folder / "other")
    here = ("-C", "/team/app")
    assert shown(home, "--pi", *here) == shown(home, "pi", "--pi", *here) == "pi"
    assert shown(home, "o", "--agent-dir", home.folder / "other", *here) == "other"
    flat = home.folder / "other/sessions/--team-app--"
    assert shown(home, "o", "--session-dir", flat, *here) == "other"
    assert shown(home.given(ELYRA_CODING_AGENT_SESSION_DIR=str(flat)), *here) == "other"
    for arguments in (("show",), ("show", "pi"), ("delete", "pi", "--yes")):
        done = home.run(*arguments, *here)
        said = f"sessiontree: {home.agent} has no sessions; pi's are in {home.folder}/.pi/agent: add --pi"
        assert (done.returncode, done.stderr.splitlines()[-1]) == (3, said)


@pytest.mark.parametrize("command", [*READING, *WRITING, DELETING], ids=" ".join)
def test_every_command_says_what_is_wrong_with_the_name(
    projects: Home, command: tuple[str, ...], tmp_path: Path
) -> None:
    name, *more = command
    before = {path: path.read_bytes() for path in projects.agent.rglob("*.jsonl")}
    paths = sorted(path for path in before if path.name in ("1.jsonl", "2.jsonl"))
    (tmp_path / "text.jsonl").write_text("no session\n")

    done = projects.run(name, "0199a", *more, "-C", "/a/b")
    assert (done.returncode, done.stdout) == (3, "")
    assert "0199a" in done.stderr.splitlines()[0]
    for path in paths:
        assert done.stderr.count(str(path)) == 1

    for missing in (
        "0199x",
        "nothing",
        f"{tmp_path}/missing.jsonl",
        f"{tmp_path}/text.jsonl/below.jsonl",
        f"{tmp_path}",
    ):
        done = projects.run(name, missing, *more, "-C", "/a/b")
        assert (done.returncode, done.stdout) == (3, ""), missing
        assert missing in done.stderr
        assert len(done.stderr.splitlines()) == 1

    done = projects.run(name, f"{tmp_path}/text.jsonl", *more)
    assert (done.returncode, done.stdout) == (4, "")
    assert f"{tmp_path}/text.jsonl" in done.stderr

    done = projects.run(name, "", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert {path: path.read_bytes() for path in projects.agent.rglob("*.jsonl")} == before
    assert (tmp_path / "text.jsonl").read_text() == "no session\n"


def test_an_empty_file_is_no_session(home: Home) -> None:
    path = home.add("1", b"")
    for command in READING:
        done = home.run(*command, path)
        assert (done.returncode, done.stdout) == (4, "")
    assert path.read_bytes() == b""


# Entries


def test_an_entry_is_named_by_its_id_or_a_prefix_of_it(home: Home) -> None:
    texts = ["ab1", "ab2", "ab", "cd"]
    path = home.add("1", conversation(*(message("user", text, id=text) for text in texts)))
    for name, last in [("ab1", "ab1"), ("ab2", "ab2"), ("ab", "ab"), ("c", "cd")]:
        done = home.run("context", path, "--leaf", name)
        assert json.loads(done.stdout)["messages"][-1]["content"] == last
    for command in (("context", path, "--leaf"), ("label", path), ("branch", path)):
        done = home.run(*command, "a")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == f"sessiontree: {path}: 'a' is the start of 3 entries' ids: ab1, ab2, ab\n"
        done = home.run(*command, "ab3")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == f"sessiontree: {path}: no entry has the id 'ab3', or one that begins so\n"
        assert home.run(*command, "").returncode == 2


def test_of_many_entries_that_a_prefix_fits_some_are_named(home: Home) -> None:
    path = home.add("1", conversation(*(message("user", "x") for _ in range(30))))
    done = home.run("label", path, "e")
    assert done.stderr.endswith(
        "'e' is the start of 30 entries' ids: " + ", ".join(f"e{n + 1}" for n in range(20)) + ", …\n"
    )


# Damage


@pytest.mark.parametrize("command", [*READING, ("fork",), ("branch", "e0"), ("name",), ("label", "e0")], ids=" ".join)
def test_a_damaged_session_is_read_and_its_damage_is_told(home: Home, command: tuple[str, ...]) -> None:
    name, *more = command
    path = home.add("1", DAMAGED.replace(b"}\n", b"}\n17\n", 1))
    done = home.run(name, path, *more, "--json")
    assert done.returncode == 4
    assert json.loads(done.stdout)
    assert done.stderr == f"sessiontree: {path}: 2 reports of damage (sessiontree check tells where)\n"


@pytest.mark.parametrize("command", [*READING, *WRITING], ids=" ".join)
def test_notes_are_no_damage(home: Home, command: tuple[str, ...]) -> None:
    name, *more = command
    path = home.add("1", REMARKED)
    done = home.run(name, path, *more, "--json")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_change_of_a_damaged_session_is_no_failure(home: Home) -> None:
    path = home.add("1", DAMAGED)
    for command in (("name", path, "New"), ("label", path, "e0", "New")):
        done = home.run(*command)
        assert (done.returncode, done.stderr) == (0, "")


# What reads does not write


@pytest.mark.parametrize("command", [*READING, ("fork",), ("name",), ("label", "e0")], ids=" ".join)
def test_what_reads_never_writes(home: Home, command: tuple[str, ...]) -> None:
    name, *more = command
    for data in (session(), session()[:-1], session().replace(b'"version": 3', b'"version": 2')):
        path = home.add("1", data)
        path.chmod(0o444)
        before = path.stat()
        done = home.run(name, path, *more, "--session-dir", home.folder / "new")
        assert done.returncode == 0
        assert path.read_bytes() == data
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        path.unlink()


def test_an_old_file_is_read_as_if_it_had_been_migrated(home: Home) -> None:
    old = [
        {"type": "session", "id": "old", "timestamp": "2025-01-05T10:00:00.000Z", "cwd": "/team/app"},
        {"type": "message", "timestamp": "2025-01-05T10:01:00.000Z", "message": {"role": "user", "content": "One"}},
        {"type": "message", "timestamp": "2025-01-05T10:02:00.000Z", "message": {"role": "user", "content": "Two"}},
    ]
    path = home.add("1", b"".join(json.dumps(record).encode() + b"\n" for record in old))
    rows = home.rows("tree", path)
    assert [row["depth"] for row in rows] == [0, 1]
    assert rows[1]["parentId"] == rows[0]["id"]
    document = json.loads(home.run("show", path, "--leaf", rows[0]["id"][:6], "--json").stdout)
    assert document["header"]["version"] == 3
    assert [entry["message"]["content"] for entry in document["entries"]] == ["One"]


# Usage


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "a", "b"),
        ("show", "--json", "--jsonl"),
        ("show", "--ful"),
        ("tree", "--leaf", "e"),
        ("fork",),
        ("fork", "a", "b"),
        ("branch", "a"),
        ("name",),
        ("name", "a", "b", "c"),
        ("label", "a"),
        ("delete",),
        ("delete", "--clear"),
    ],
)
def test_bad_arguments_are_told_and_exit_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("usage: sessiontree ")


@pytest.mark.parametrize("arguments", [("name", "a", "b", "--clear"), ("label", "a", "e", "b", "--clear")])
def test_a_text_is_set_or_taken_away_and_not_both(home: Home, arguments: tuple[str, ...]) -> None:
    done = home.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--clear takes the" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("name", "--json", "s1", "New"),
        ("name", "s1", "--json", "New"),
        ("name", "s1", "New", "--json"),
        ("name", "s1", "-C", "/team/app", "New", "--json"),
    ],
)
def test_options_may_stand_anywhere(home: Home, arguments: tuple[str, ...]) -> None:
    home.add("1", session())
    done = home.run(*arguments, "--all")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["name"] == "New"


def test_what_no_text_can_hold_is_replaced(home: Home) -> None:
    path = home.add("1", session())
    assert home.run("name", path, "caf\udce9").returncode == 0
    assert json.loads(path.read_bytes().splitlines()[-1])["name"] == "caf\ufffd"


def test_an_old_session_stays_as_it_is_where_there_is_nothing_to_do(home: Home) -> None:
    old = b'{"type":"session","id":"old"}\n{"type":"message","message":{"role":"user","content":"Hello"}}\n'
    path = home.add("1", old)
    for arguments in (("branch", path, "zzz"), ("label", path, "zzz", "New")):
        assert home.run(*arguments).returncode == 3
        assert path.read_bytes() == old


def test_json_of_entries_is_spelled_as_the_file_spells_it(home: Home) -> None:
    odd = b'{"type":"custom","id":"e9","data":[1e400,1e2,123456789012345678901234567890,"caf\\u00e9"]}'
    path = home.add("1", session() + odd + b"\n")
    assert home.run("show", path, "--jsonl").stdout.splitlines()[-1] == odd.decode()


@pytest.mark.parametrize("command", ["show", "tree", "context", "fork", "branch", "name", "label", "delete"])
def test_help(home: Home, command: str) -> None:
    done = home.run(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: sessiontree {command} " in done.stdout
    assert "SESSION" in done.stdout
    assert command in home.run("--help").stdout


def test_the_command_loads_late_what_is_slow(home: Home) -> None:
    code = "import sys, sessiontree.cli; print({'rich', 'orjson', 'html', 'send2trash'} & set(sys.modules))"
    assert home.run("-c", code, command=[sys.executable]).stdout == "set()\n"
