"""Made-up files and stores, whole and damaged: the product reads them as the reference does."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import strategies
from reference import merge, read, read_store
from sessiontree import SessionManager, scan
from support import FILE_TIME, info_facts, reports, session_facts, write

if TYPE_CHECKING:
    from sessiontree import Scan


HEADER = b'{"type":"session","version":3,"id":"s"}\n'
LINEAR_HEADER = b'{"type":"session","id":"v1-100488"}\n'  # of 194 derived ids, the last would repeat an earlier one


def _chain(numbers: range) -> bytes:
    """Entries in this order, each the child of the number before its own."""
    return b"".join(b'{"type":"custom","id":"%d","parentId":"%d"}\n' % (number, number - 1) for number in numbers)


_ODD_USAGE = b'{"type":"usage","usage":{"input":-1}}\n'

EXTREMES = {
    "more damage than is kept": HEADER + b"[\n" * 10_000 + b'{"id":"a","parentId":"b"}\n[\n[\n',
    "damage behind more notes than are kept": HEADER + b'{"id":"a","parentId":"b"}\n' + _ODD_USAGE * 10_000 + b"[\n",
    "derived ids that collide": LINEAR_HEADER + b'{"type":"custom"}\n' * 194,
    "deep nesting": HEADER + b'{"id":"a","b":' + b'[{"c":' * 100_000 + b"1" + b"}]" * 100_000 + b"}",
    "deep nesting, cut off": HEADER + b'{"id":"a","b":' + b'[{"c":' * 100_000 + b"1" + b"}]" * 99_999 + b"}",
    "many objects on one line": HEADER + b'{"type":"custom"}' * 50_000,
    "a long chain": HEADER + _chain(range(50_000)),
    "a long chain, children first": HEADER + _chain(range(50_000, 0, -1)),
    "a long circle": HEADER + _chain(range(50_000)) + b'{"id":"-1","parentId":"49999"}',
    "the same id throughout": HEADER + b'{"id":"a","parentId":"a"}\n' * 9_000,
    "a key given many times": HEADER + b'{"id":"a"' + b',"id":"b"' * 50_000 + b"}",
    "NULs alone": b"\0" * 100_000,
    "a tail of NULs": HEADER + b"\0" * 100_000,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each example's file is written, over the one before."""
    return tmp_path_factory.mktemp("fuzz") / "session.jsonl"


def _assert_read_as_the_reference_reads(path: Path, data: bytes) -> None:
    write(path, data)
    session = read(data, mtime_ms=FILE_TIME * 1000)
    found = scan(path)
    if session is None:
        assert (list(found), reports(found.damage)) == ([], [("file", None, None)])
        return
    assert [info_facts(info) for info in found] == [session_facts(session)]
    assert reports(found.damage) == session.damage
    assert asdict(found.usage) == asdict(session.usage)
    assert path.read_bytes() == data


@given(data=strategies.session_files())
@settings(max_examples=strategies.EXAMPLES, deadline=None)
def test_a_file_is_read_as_the_reference_reads_it(path: Path, data: bytes) -> None:
    _assert_read_as_the_reference_reads(path, data)


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_file_is_read_as_the_reference_reads_it(path: Path, name: str) -> None:
    _assert_read_as_the_reference_reads(path, EXTREMES[name])


@pytest.mark.parametrize("block", [2**power for power in (12, 13, 15, 16, 17, 18, 20, 21)])
def test_what_lies_across_the_end_of_a_block_is_read_whole(path: Path, block: int) -> None:
    start = HEADER + b'{"type":"message","id":"a","message":{"role":"user","content":"'
    across = b'\xf0\x9f\x98\x80\\ud83d\\ude00\xff"}}\r\n{"type":"custom","id":"b"}{"type":"custom","id":"c"}\n\0\n{}'
    for shift in range(len(across)):
        _assert_read_as_the_reference_reads(path, start.ljust(block - shift, b"x") + across)


def _write_store(agent_dir: Path, files: list[strategies.StoredFile]) -> None:
    for file in files:
        path = write(agent_dir / "sessions" / file.folder / file.name, file.data, time=file.time)
        (path.parent / f"link-to-{file.name}").symlink_to(path)
    (agent_dir / "sessions/linked").symlink_to(agent_dir / "sessions" / files[0].folder)


def _assert_as_the_reference_reads(found: Scan, agent_dir: Path) -> None:
    rows = read_store(agent_dir)
    assert [info.path for info in found] == [path for path, _ in rows]
    assert [info_facts(info) for info in found] == [session_facts(session) for _, session in rows]
    expected = [
        (path, *report)
        for path, session in sorted(rows, key=lambda row: os.fsencode(row[0]))
        for report in session.damage
    ]
    assert [(one.path, one.kind, one.line, one.offset) for one in found.damage] == expected
    assert asdict(found.usage) == asdict(merge([session for _, session in rows]))


@given(files=strategies.stores())
@settings(max_examples=strategies.EXAMPLES // 5, deadline=None)
def test_a_store_is_read_as_the_reference_reads_it(files: list[strategies.StoredFile]) -> None:
    with TemporaryDirectory() as name:
        agent_dir = Path(name)
        _write_store(agent_dir, files)
        found = scan(agent_dir, threads=1)
        _assert_as_the_reference_reads(found, agent_dir)
        assert scan(agent_dir, threads=4) == found
        assert SessionManager.list_all(agent_dir=agent_dir, text=True) == list(found)
