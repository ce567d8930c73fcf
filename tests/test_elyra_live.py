"""Files that grow, shrink, change or vanish while they are read: rows that can be explained, and never an exception."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from reference import Session, read
from sessiontree import ConflictError, Scan, SessionManager, scan
from support import info_facts, reports, session_facts, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECONDS = 1.0


def _session(name: str, sizes: list[int]) -> bytes:
    """A session with one message a size, and some damage."""
    lines = [json.dumps({"type": "session", "version": 3, "id": name, "timestamp": "2026-01-05T10:00:00Z"})]
    for number, size in enumerate(sizes):
        usage = {"input": size, "cost": {"total": 0.1}}
        message = {"role": "assistant", "content": name * size, "timestamp": 1767607200000 + number, "usage": usage}
        parent = f"e{number - 1}" if number else None
        entry = {"type": "message", "id": f"e{number}", "parentId": parent, "message": message}
        lines += [json.dumps(entry), "{" * (number % 3)]
    return "\n".join(lines).encode()


SHORT = _session("short", [1, 2, 3])
LONG = _session("long", [1, 30, 5000, 7, 100_000, 2, 20_000] * 2)
CUTS = [len(LONG) * part // 17 for part in range(18)]


@cache
def _prefix(size: int) -> Session:
    session = read(LONG[:size])
    assert session is not None
    return session


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do this again and again in another thread."""
    done = Event()
    rounds = 0

    def repeat() -> None:
        nonlocal rounds
        while not done.is_set():
            work()
            rounds += 1

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert rounds > 1


def _scans(folder: Path) -> Iterator[Scan]:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        yield scan(folder, threads=1)
        yield scan(folder, threads=4)


def _grow(path: Path) -> None:
    """Put a file of a few lines in place of another, and append to it in torn pieces."""
    write(path.with_name("new"), LONG[: CUTS[1]]).replace(path)
    with path.open("ab", buffering=0) as file:
        for start, end in pairwise(CUTS[1:]):
            file.write(LONG[start:end])


def _shrink(path: Path) -> None:
    write(path.with_name("new"), LONG).replace(path)
    for size in reversed(CUTS):
        os.truncate(path, size)


def test_a_file_that_grows_is_read_up_to_some_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", LONG)
    sizes = set()
    with _meanwhile(lambda: _grow(path)):
        for found in _scans(tmp_path):
            [info] = found
            sizes.add(info.size_bytes)
            session = _prefix(info.size_bytes)
            assert info_facts(info, text=False) == session_facts(session, text=False)
            assert reports(found.damage) == session.damage
    assert len(sizes) > 1


def test_texts_loaded_in_the_same_pass_belong_to_their_row(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", LONG)
    end = time.monotonic() + SECONDS
    with _meanwhile(lambda: _grow(path)):
        while time.monotonic() < end:
            [info] = SessionManager.list_all(session_dir=tmp_path, text=True)
            assert info_facts(info) == session_facts(_prefix(info.size_bytes))


def test_a_file_that_shrinks_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", LONG)
    longest = _prefix(len(LONG))
    with _meanwhile(lambda: _shrink(path)):
        for found in _scans(tmp_path):
            for info in found:
                assert (info.id, info.created is None) == ("long", False)
                assert info.size_bytes <= len(LONG)
                # no more than that holds: a page that is cut while it is read can show NULs
                assert info.entry_count <= longest.entry_count


def test_a_file_that_is_replaced_is_one_or_the_other(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", SHORT)
    expected = {data: read(data) for data in (SHORT, LONG)}

    def replace() -> None:
        for data in (LONG, SHORT):
            write(tmp_path / "new", data).replace(path)

    with _meanwhile(replace):
        for found in _scans(tmp_path):
            [info] = found
            session = expected[SHORT if info.id == "short" else LONG]
            assert session is not None
            assert info_facts(info, text=False) == session_facts(session, text=False)
            assert reports(found.damage) == session.damage


def test_files_that_vanish_are_left_out_without_a_word(tmp_path: Path) -> None:
    data = _session("s", [10])
    session = read(data)
    assert session is not None
    write(tmp_path / "stays.jsonl", data)
    paths = [write(tmp_path / f"{number}.jsonl", data) for number in range(50)]

    def remove_and_restore() -> None:
        for path in paths:
            path.unlink()
        for path in paths:
            write(tmp_path / "new", data).replace(path)

    with _meanwhile(remove_and_restore):
        for found in _scans(tmp_path):
            for info in found:
                assert info_facts(info, text=False) == session_facts(session, text=False)
            assert found.damage == ()


def test_a_file_that_is_overwritten_in_place_is_no_reason_to_raise(tmp_path: Path) -> None:
    path = write(tmp_path / "session.jsonl", LONG)
    garbage = bytes(range(256)) * (len(LONG) // 512)

    def overwrite() -> None:
        with path.open("r+b", buffering=0) as file:
            for data in (SHORT, garbage, LONG):
                file.seek(0)
                file.write(data)

    with _meanwhile(overwrite):
        for found in _scans(tmp_path):
            assert [info.path for info in found] in ([], [path])


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("change", [_append, _remove])
def test_the_text_of_a_file_that_has_changed_is_a_conflict(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = write(tmp_path / "session.jsonl", SHORT)
    [info] = scan(tmp_path)
    assert "shortshort" in info.all_messages_text
    change(path)
    with pytest.raises(ConflictError):
        _ = info.all_messages_text
