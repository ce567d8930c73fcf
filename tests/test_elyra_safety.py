"""What was written stays: killed writers, writers that meet each other, full disks, folders that are read-only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from elyra_support import old_session, records, session, user
from met import CASES
from scenarios import SCENARIOS
from scripts import own_disk, run
from sessiontree import SessionManager

TESTS = Path(__file__).parent
KILLS = int(os.environ.get("SESSIONTREE_KILLS", "400"))
"""How many writers are killed at random moments; a hundred take a second."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals, limits and permissions of POSIX")


# Killed


@pytest.mark.parametrize("name", SCENARIOS)
def test_work_that_is_killed_at_any_call_leaves_whole_files(tmp_path: Path, name: str) -> None:
    report = run("killed.py", "calls", name, tmp_path)
    assert report["problems"] == []
    assert report["kills"] > 10


@pytest.mark.parametrize("name", ["create", "migrate", "fork"])
def test_work_that_is_killed_at_any_time_leaves_whole_files(tmp_path: Path, name: str) -> None:
    report = run("killed.py", "times", name, tmp_path, str(max(KILLS // 10, 20)))
    assert report["problems"] == []
    assert report["kills"] > 0


def test_writers_that_are_killed_lose_nothing_that_was_written(tmp_path: Path) -> None:
    report = run("killed.py", "endless", tmp_path, str(KILLS))
    assert report["problems"] == []
    assert report["kills"] == KILLS


# On the disk itself


def steps(work: str, folder: Path, *options: str) -> list[str]:
    """The kinds of calls in their order, each once where it is made several times over."""
    return [kind for kind, _ in groupby(run("synced.py", work, folder, *options))]


def test_a_line_is_written_by_one_call_and_synced_on_request(tmp_path: Path) -> None:
    assert run("synced.py", "append", tmp_path) == ["write", "write"]
    assert run("synced.py", "append", tmp_path, "fsync") == ["write", "sync", "write", "sync"]


@pytest.mark.parametrize(("work", "more"), [("create", ["write"]), ("fork", []), ("branch", [])])
def test_a_new_file_gets_its_name_when_it_is_whole(tmp_path: Path, work: str, more: list[str]) -> None:
    assert steps(work, tmp_path) == ["write", "name", *more]
    assert steps(work, tmp_path, "fsync") == ["write", "sync", "name", "sync", *more, *["sync" for _ in more]]


def test_a_migrated_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    assert steps("migrate", tmp_path)[:3] == ["write", "sync", "name"]


# Several writers


def writers(path: Path, count: int, *texts: str) -> list[dict[str, Any]]:
    """Let processes append to one file at a time, one for each text; what they print."""
    command = [sys.executable, str(TESTS / "appender.py"), str(path), str(count)]
    processes = [
        subprocess.Popen([*command, text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for text in texts
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(texts)
    return [json.loads(one) for one in said]


def assert_chains(path: Path, start: str | None, chains: list[list[str]]) -> None:
    """Each writer's entries are in the file, whole, once, each a child of the one before it."""
    found = records(path)[1:]
    parents = {record["id"]: record["parentId"] for record in found}
    assert len(parents) == len(found), "an id is used twice"
    appended = [one for chain in chains for one in chain]
    assert set(appended) <= parents.keys(), "lost"
    for chain in chains:
        assert [parents[one] for one in chain] == [start, *chain[:-1]]
    order = {record["id"]: number for number, record in enumerate(found)}
    assert all(sorted(chain, key=order.__getitem__) == chain for chain in chains)


@pytest.mark.parametrize("end", [b"", b'{"type":"message","id":"torn'], ids=["whole", "torn"])
def test_two_processes_append_to_one_file_and_lose_nothing(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session() + end)
    said = writers(path, 1000, "One", "Two \u2028 \U0001f600")
    assert [one["leaf"] for one in said] == ["e3000003"] * 2
    if end:  # ours to repair, once
        data = path.read_bytes()
        assert data.count(end + b"\n") == 1
        path.write_bytes(data.replace(end + b"\n", b""))
    assert len(records(path)) == 4 + 2000
    assert_chains(path, "e3000003", [one["ids"] for one in said])
    with SessionManager.open(path, read_only=True) as manager:
        assert [one.kind for one in manager.damage] in (["tip"], []), "at most a note that there are two tips"
        assert {one.id for one in manager.get_tips()} == {one["ids"][-1] for one in said}


def test_many_processes_open_an_old_file_and_lose_nothing(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(old_session(50))
        command = [sys.executable, str(TESTS / "appender.py"), str(path), "30", "Text"]
        processes = [
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) for _ in range(3)
        ]
        said = [process.communicate(timeout=60)[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0]
        chains = [json.loads(one.partition("\n")[2])["ids"] for one in said]
        with SessionManager.open(path, read_only=True) as manager:
            assert len(manager.get_entries()) == 53 + 90
            assert all(manager.get_entry(one) is not None for chain in chains for one in chain)
            assert [one.kind for one in manager.damage if not one.is_note] == ["line"] * 2


def test_managers_of_one_file_in_several_threads_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())

    def append(text: str) -> list[str]:
        with SessionManager.open(path) as manager:
            manager.branch("e3000003")
            return [manager.append_message(user(text)) for _ in range(200)]

    with ThreadPoolExecutor(6) as pool:
        chains = list(pool.map(append, "abcdef"))
    assert len(records(path)) == 4 + 1200
    assert_chains(path, "e3000003", chains)


def test_threads_share_a_manager_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())
    with SessionManager.open(path) as manager, ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda number: manager.append_message(user(f"{number}")), range(1200)))
        assert len(manager.get_branch()) == 3 + 1200
    found = records(path)[1:]
    assert {record["id"] for record in found[3:]} == set(made)
    assert [record["parentId"] for record in found[1:]] == [record["id"] for record in found[:-1]]


CALLS_BETWEEN = 2
"""Where a failed line is cut off again, a program that knows no lock can come between the last look and the cut."""


@pytest.mark.parametrize("name", CASES)
def test_a_writer_meets_another_one_at_any_call(tmp_path: Path, name: str) -> None:
    result = run("met.py", name, tmp_path)
    if name == "no-room-foreign":
        assert all("cut off" in problem for problem in result["problems"])
        assert len(result["problems"]) <= CALLS_BETWEEN, result["problems"]
    else:
        assert result["problems"] == []
    assert result["stops"] > 10


# No room


def expected_append(error: dict[str, str], torn: int) -> dict[str, Any]:
    return {
        "error": error,
        "again": error,
        "as_before": True,
        "unchanged": True,
        "whole": True,
        "lines": 5 + torn,
    }


def assert_disk(result: dict[str, Any], folder: Path, error: str) -> None:
    def named(name: str) -> dict[str, str]:
        return {"errno": error, "filename": str(folder / name)}

    for one in result["append"]:
        assert one == expected_append(named("append.jsonl"), torn=0)
    for one in result["append_after_torn"]:
        assert one == expected_append(named("append.jsonl"), torn=1)
    for one in result["create"]:
        assert one == {"error": named("new"), "as_before": True, "unchanged": True, "whole": True}
    for one in result["migrate"]:
        assert one == {"error": named("old"), "unchanged": True, "whole": True}
    for one in result["copy"]:
        assert one == {"error": named("copies"), "again": named("copies"), "unchanged": True, "as_before": True}


def test_a_file_that_may_not_grow_is_as_it_was(tmp_path: Path) -> None:
    assert_disk(run("full_disk.py", "limit", tmp_path), tmp_path, "EFBIG")


def test_a_full_disk_leaves_files_as_they_were(tmp_path: Path) -> None:
    assert_disk(run("full_disk.py", "disk", tmp_path, before=own_disk(tmp_path)), tmp_path, "ENOSPC")


# No permission


def test_a_folder_that_may_only_be_read(open_folder: Path) -> None:
    files = {"current": session(), "old": old_session(), "closed": session()}
    for name, data in files.items():
        path = open_folder / f"{name}.jsonl"
        path.write_bytes(data)
        path.chmod(0 if name == "closed" else 0o444)
    open_folder.chmod(0o555)
    result = run("read_only_folder.py", open_folder)
    current, old, closed = (str(open_folder / f"{name}.jsonl") for name in files)

    assert result["closed"] == result["closed_read_only"] == closed
    assert result["current_ids"] == ["e1000001", "e2000002", "e3000003"]
    assert len(result["old_ids"]) == 5
    assert (result["append"], result["as_before"], result["messages"]) == (current, True, 3)
    assert result["delete"] == current
    assert result["after_branch"]
    assert result["after_create"]
    assert Path(result["old"]).parent == Path(old).parent, "an old file cannot be migrated"
    for work in ("branch", "create", "fork"):
        assert Path(result[work]).parent == open_folder, work
    for path in open_folder.iterdir():
        path.chmod(0o444)
    assert {path.stem: path.read_bytes() for path in open_folder.iterdir()} == files
