"""Kinds of files and folders that have gone wrong in public."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cases
from reference import MAX_LINE_BYTES
from sessiontree import SessionManager, scan
from support import DATA, info_facts, reports, same_facts, write

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00.000Z"}\n'


@pytest.mark.parametrize("name", cases.CASES)
def test_case(name: str, tmp_path: Path) -> None:
    right = cases.CASES[name]
    path = write(tmp_path / "session.jsonl", cases.data(name))
    found = scan(tmp_path)
    if right.row is None:
        assert (list(found), found.damage) == ([], ())
        return
    [info] = found
    assert same_facts(info_facts(info), right.row) == right.row
    assert [(one.kind, one.path, one.line) for one in found.damage] == [(kind, path, n) for kind, n in right.damage]
    assert same_facts(asdict(info.usage), right.usage) == pytest.approx(right.usage)
    costs = {model: usage.cost_total for model, usage in info.usage.by_model.items()}
    assert same_facts(costs, right.cost_by_model) == pytest.approx(right.cost_by_model)
    assert path.read_bytes() == cases.data(name)


def test_two_projects_in_one_folder_are_told_apart_by_their_headers(tmp_path: Path) -> None:
    shutil.copytree(DATA / "cases/40-cwd-collision", tmp_path / "sessions")

    def listed(cwd: str) -> list[str]:
        return [info.path.name for info in SessionManager.list(cwd, agent_dir=tmp_path)]

    assert listed("/home/user/a-b/c") == ["one.jsonl"]
    assert listed("/home/user/a/b-c") == ["two.jsonl"]
    assert listed("/home/user/a-b-c") == []
    infos = SessionManager.list_all(agent_dir=tmp_path)
    assert [(info.path.name, info.cwd) for info in infos] == [
        ("two.jsonl", "/home/user/a/b-c"),
        ("one.jsonl", "/home/user/a-b/c"),
    ]


# Bad neighbours


@pytest.fixture
def agent_dir() -> Iterator[Path]:
    """An agent's folder that other users may enter; pytest's own folders are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def _bad_neighbours(folder: Path) -> None:
    """One good session among files, links and folders that are no sessions or cannot be read."""
    write(folder / "good.jsonl", HEADER)
    (folder / "dangling.jsonl").symlink_to("nowhere.jsonl")
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    write(folder / "notes.jsonl", b'{"a":1}\n{"b":2}\n')
    write(folder / "empty.jsonl", b"")
    write(folder / "half.jsonl.tmp", HEADER)
    write(folder / "UPPER.JSONL", b"{}\n")
    write(folder / "noread.jsonl", HEADER).chmod(0)
    (folder.parent / "noenter").mkdir(mode=0)


def test_bad_neighbours_cost_only_themselves(agent_dir: Path) -> None:
    folder, closed = agent_dir / "sessions/--home-user--", agent_dir / "sessions/noenter"
    _bad_neighbours(folder)
    command = [sys.executable, str(Path(__file__).with_name("as_nobody.py"))]
    arguments = map(str, (agent_dir, folder / "noread.jsonl", closed))
    # the pipe has no writer: opening it would wait for ever
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["listed"] == [str(folder / "good.jsonl")]
    unread = sorted(map(str, (folder / "loop.jsonl", folder / "noread.jsonl", closed)))
    assert result["damage"] == [["file", path, None] for path in unread]
    assert result["refused"] == str(closed)


@contextmanager
def _at_most_open_files(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_skipped_files_are_closed(tmp_path: Path) -> None:
    for number in range(10_000):
        (tmp_path / f"{number}.jsonl").write_bytes(b"{}\n")
    write(tmp_path / "good.jsonl", HEADER)
    with _at_most_open_files(200):
        found = scan(tmp_path)
    assert ([info.path.name for info in found], found.damage) == (["good.jsonl"], ())


# Long lines


@pytest.fixture
def long_line(tmp_path: Path) -> Path:
    """A session with a line just over the limit; it is a hole in the file, and takes no room on the disk."""
    path = write(tmp_path / "session.jsonl", HEADER)
    with path.open("r+b") as file:
        file.seek(len(HEADER) + MAX_LINE_BYTES + 1)
        file.write(b'\n{"type":"custom","id":"after"}\n')
    return path


def test_a_line_beyond_the_limit_costs_only_itself(long_line: Path) -> None:
    found = scan(long_line)
    assert [info.leaf_id for info in found] == ["after"]
    assert reports(found.damage) == [("line", 2, len(HEADER))]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_no_more_of_a_line_is_held_than_the_limit(long_line: Path) -> None:
    os.truncate(long_line, 4 * MAX_LINE_BYTES)
    code = """
import sys, sessiontree
from pathlib import Path
assert sessiontree.scan(sys.argv[1]).damage
(peak,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(peak.split()[1])
"""
    done = subprocess.run([sys.executable, "-c", code, str(long_line)], capture_output=True, text=True, check=True)
    # What is special in the line is noted beside it, in five bits a byte.
    assert int(done.stdout) * 1024 < MAX_LINE_BYTES * 13 // 8 + 256 * 2**20
