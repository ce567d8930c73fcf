"""`sessiontree check`: what it reports, and how it ends."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from cli_support import DAMAGED, REMARKED, Home, session
from sessiontree import scan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def places(output: str) -> list[str]:
    """What each line tells, without the reason, which it must have."""
    lines = [re.fullmatch(r"(.+): .{10,}", line) for line in output.splitlines()]
    return [line[1] for line in lines if line]


def test_a_whole_store_in_order_says_nothing(home: Home) -> None:
    home.add("1", session())
    home.add("2", session(cwd="/site"), cwd="/site")
    done = home.run("check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_damage_of_the_store_is_listed_by_file(home: Home) -> None:
    site = home.add("1", DAMAGED + b'{"a":1}\n', cwd="/site")
    app = home.add("2", DAMAGED)
    noted = home.add("3", REMARKED)
    done = home.run("check")
    assert (done.returncode, done.stderr) == (4, "")
    assert done.stdout.splitlines() == [
        f"{one.path}:{one.line}: {one.kind}: {one.reason}" for one in scan(home.agent).damage
    ]
    assert places(done.stdout) == [f"{site}:4: line", f"{site}:5: line", f"{app}:4: line", f"{noted}:2: parent"]


def test_notes_are_no_damage(home: Home) -> None:
    path = home.add("1", REMARKED)
    done = home.run("check")
    assert (done.returncode, places(done.stdout)) == (0, [f"{path}:2: parent"])


def test_json_of_damage(home: Home) -> None:
    path = home.add("1", DAMAGED)
    offset = DAMAGED.rindex(b"{")
    for form in ("--json", "--jsonl"):
        done = home.run("check", form)
        assert done.returncode == 4
        [report] = json.loads(done.stdout) if form == "--json" else map(json.loads, done.stdout.splitlines())
        assert report.pop("reason").startswith("the record is cut off")
        assert report == {"kind": "line", "path": str(path), "line": 4, "offset": offset}
    path.write_bytes(session())
    assert [home.run("check", form).stdout for form in ("--json", "--jsonl")] == ["[]\n", ""]


def test_other_stores(home: Home) -> None:
    home.add("1", DAMAGED)
    flat = home.folder / "flat"
    flat.mkdir()
    (flat / "1.jsonl").write_bytes(session())
    assert home.run("check").returncode == 4
    assert home.run("check", "--session-dir", flat).returncode == 0
    assert home.run("check", "--agent-dir", "/nowhere").returncode == 0
    assert home.run("check", "--pi").returncode == 0
    assert home.given(ELYRA_CODING_AGENT_SESSION_DIR=str(flat)).run("check").returncode == 0


# Named files


def test_named_files_and_folders_are_checked_each_once(home: Home) -> None:
    one, two = home.add("1", DAMAGED), home.add("2", DAMAGED)
    link = home.folder / "link.jsonl"
    link.symlink_to(one)
    done = home.run("check", one, one.parent, home.agent, link)
    assert done.returncode == 4
    assert places(done.stdout) == [f"{one}:4: line", f"{two}:4: line"]


def test_a_relative_name_is_taken_from_here(home: Home) -> None:
    path = home.folder / "x.jsonl"
    path.write_bytes(DAMAGED)
    assert places(home.run("check", "x.jsonl").stdout) == [f"{path}:4: line"]


@pytest.mark.parametrize("data", [b"", b" \n", b"\x89PNG\r\n", b'{"type":"message","id":"e"}\n'])
def test_a_named_file_that_is_no_session_is_damage(home: Home, data: bytes) -> None:
    path = home.add("1", data)
    done = home.run("check", path)
    assert done.returncode == 4
    assert done.stdout.splitlines()[-1].startswith(f"{path}: file: no session: ")
    assert home.run("check").returncode == 0, "in a folder it is somebody else's"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_not_waited_for(home: Home) -> None:
    path = home.folder / "pipe.jsonl"
    os.mkfifo(path)
    done = home.run("check", path)
    assert (done.returncode, done.stdout) == (4, f"{path}: file: no session: it is no regular file\n")


def test_a_missing_file_is_told_and_the_others_are_checked(home: Home) -> None:
    good, bad = home.add("1", session()), home.add("2", DAMAGED)
    done = home.run("check", "missing", good, good / "below")
    said = f"sessiontree: missing: No such file or directory\nsessiontree: {good}/below: Not a directory\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", said)
    done = home.run("check", "missing", good, bad, "--json")
    assert (done.returncode, len(json.loads(done.stdout))) == (4, 1)
    assert done.stderr == "sessiontree: missing: No such file or directory\n"


def test_a_folder_without_sessions_is_bad_usage(home: Home) -> None:
    done = home.run("check", home.folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"sessiontree: {home.folder}: expected a folder 'sessions' or '.replio/sessions', ")


def test_files_and_a_store_together_are_bad_usage(home: Home) -> None:
    path = home.add("good", session("good"))
    for where in (("--agent-dir", "/x"), ("--session-dir", "/x"), ("--pi",)):
        checked = home.run("check", path, *where)
        assert (checked.returncode, checked.stdout) == (2, "")
        assert "goes without" in checked.stderr


def test_thousands_of_files(home: Home) -> None:
    files = [home.add(str(number), DAMAGED if number % 100 == 99 else session()) for number in range(2_000)]
    done = home.run("check", *files)
    assert (done.returncode, done.stderr) == (4, "")
    assert len(done.stdout.splitlines()) == 20


def test_hostile_names_and_reasons_come_out_as_text(home: Home) -> None:
    odd = "\x1b]0;owned\x07\u202e\x9b31m\n"
    path = home.add(odd, session().replace(b"null", b'"\\u001b[2J\\u202e\\ud83d"'))
    done = home.run("check", path)
    shown = r"\x1b]0;owned\x07\u202e\x9b31m\n.jsonl"
    assert done.stdout.startswith(f"{path.parent}/{shown}:2: parent: ")
    assert [line for line in done.stdout.splitlines() if not line.isprintable()] == []
    assert done.stdout.count("\n") == 1
    missing = home.run("check", odd)
    assert missing.stderr == f"sessiontree: {shown.removesuffix('.jsonl')}: No such file or directory\n"
    refused = home.run("check", f"--{odd}")
    assert refused.returncode == 2
    assert shown.removesuffix(".jsonl") in refused.stderr
    assert [line for line in refused.stderr.splitlines() if not line.isprintable()] == []
