"""Scans and openings on several threads: what else runs meanwhile, who works at a long file, and what comes of it."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import pytest

from sessiontree import SessionManager, contexts, scan
from sessiontree.errors import SessionError
from support import TRIES, quickest, reports, write

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from reference import Report

HEADER = b'{"type":"session","version":3,"id":"s"}\n'
LINE = b'{"type":"message","id":"e%07d","parentId":null,"message":{"role":"user","content":"%s"}}\n'
PLAIN = b"".join(LINE % (number, b'say \\"hello\\" ' * 80) for number in range(1000))
"""About 1 MB."""

REGION = 8 << 20
"""How much of a long file a thread reads at a time."""

LONGEST_LINE = 512 << 20

PROCESSORS = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1

in_proc = pytest.mark.skipif(sys.platform != "linux", reason="threads are looked at in /proc")


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of 80 MB, in a folder with fifty short ones."""
    folder = tmp_path_factory.mktemp("long")
    for number in range(50):
        write(folder / f"{number:02}.jsonl", HEADER + PLAIN[: 1130 * number])
    return write(folder / "long.jsonl", HEADER + PLAIN * 70)


def _rate(work: Callable[[], object]) -> float:
    """How far another thread counts in a second, while this one works again and again."""
    counted, is_over = 0, threading.Event()

    def run() -> None:
        nonlocal counted
        while not is_over.is_set():
            counted += 1

    counter = threading.Thread(target=run)
    start = time.monotonic()
    counter.start()
    while time.monotonic() - start < 0.5:
        work()
    is_over.set()
    counter.join()
    return counted / (time.monotonic() - start)


@pytest.mark.skipif(PROCESSORS < 2, reason="the two would take turns")
@pytest.mark.parametrize("name", ["scan", "list_all with texts", "open", "contexts"])
def test_another_thread_counts_on_meanwhile(long_file: Path, name: str) -> None:
    work: dict[str, Callable[[], object]] = {
        "scan": lambda: scan(long_file.parent, threads=1),
        "list_all with texts": lambda: SessionManager.list_all(session_dir=long_file.parent, text=True, threads=1),
        "open": lambda: SessionManager.open(long_file, read_only=True, threads=1).close(),
        "contexts": lambda: sum(1 for _ in contexts(long_file.parent, threads=1)),
    }
    alone = _rate(lambda: time.sleep(0.1))
    rates = (_rate(work[name]) for _ in range(TRIES))
    assert any(rate > alone / 5 for rate in rates), "with the lock held it would be next to nothing"


def _workers() -> Counter[str]:
    """How many of our own threads are in each state: R is running."""
    states = Counter[str]()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            name, state = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            states[state.split()[0]] += name == "sessiontree"
    return states


def _running_during(*scans: threading.Thread) -> list[int]:
    """How many workers are seen to run, a few hundred times a second."""
    seen = list[int]()
    for one in scans:
        one.start()
    while any(one.is_alive() for one in scans):
        seen.append(_workers()["R"])
        time.sleep(0.002)
    return seen


@in_proc
def test_several_scans_at_once_do_not_crowd_the_processors(long_file: Path) -> None:
    def repeat() -> None:
        for _ in range(3):
            scan(long_file.parent, threads=64)
            SessionManager.open(long_file, read_only=True, threads=64).close()

    seen = _running_during(*(threading.Thread(target=repeat) for _ in range(6)))
    # One thread may be seen before, and another after a permit goes from one to the other.
    assert 0 < fmean(seen) < PROCESSORS + 1


@in_proc
@pytest.mark.skipif(PROCESSORS < 2, reason="there is one thread")
@pytest.mark.parametrize("threads", [1, 2])
def test_one_long_file_is_work_for_as_many_threads_as_are_wanted(long_file: Path, threads: int) -> None:
    def repeat() -> None:
        for _ in range(10):
            scan(long_file, threads=threads)

    assert max(_running_during(threading.Thread(target=repeat))) == threads


class _OddFile:
    """A long file of which it is known what there is to say."""

    def __init__(self, seed: int) -> None:
        self._random, self._number = random.Random(seed), count()
        self.data, self.line = bytearray(HEADER), 2
        self.ids = list[str]()
        self.entries, self.reports, self.texts = 0, list["Report"](), list[str]()

    def add(self, text: bytes, *kinds: str, entries: int = 0) -> None:
        self.reports += [(kind, self.line, len(self.data)) for kind in kinds]
        self.entries += entries
        self.line += 1
        self.data += text + self._random.choice([b"\n", b"\r\n", b" \t\n"])

    def message(self, length: int) -> bytes:
        """An entry, whose text holds a bit of everything."""
        parts = [(b"plain words ", "plain words "), ("é\u2028".encode(), "é\u2028"), (rb"\n\"\\", '\n"\\')]
        parts += [(rb"\ud83d", "\ufffd"), (rb"\ud83d\ude00", "\U0001f600"), (rb"\/", "/")]
        chosen = self._random.choices(parts, k=1 + length // 10)
        number = next(self._number)
        self.ids.append(f"e{number:07}")
        self.texts.append("".join(text for _, text in chosen))
        return LINE[:-1] % (number, b"".join(raw for raw, _ in chosen))

    def add_cut_off(self, length: int) -> None:
        self.add(self.message(length)[:-1], "line")
        del self.ids[-1], self.texts[-1]

    def add_any(self) -> None:
        match self._random.randrange(12):
            case 0:
                self.add(self.message(20) + b" " + self.message(5), "joined", entries=2)
            case 1:
                self.add_cut_off(20)
            case 2:
                self.add(b"\0" * self._random.randrange(1, 9), "bytes")
            case 3:
                self.add(b"\0\0" + self.message(20) + b"\0", "bytes", entries=1)
            case 4:
                self.add(b'{"type":"custom","data":"\xff\xc3"}', "bytes", entries=1)
            case 5:
                self.add(b'{"type":"session","id":"t"}', "header")
            case 6:
                self.add(b"")
            case 7:
                self.add(b'{"type":"custom","data":%s%s}' % (b"[" * 5000, b"]" * 5000), entries=1)
            case _:
                self.add(self.message(self._random.choice([10, 100, 3000])), entries=1)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, _OddFile]:
    """Odd lines for about a region, then two that each go through one at least, and the same again."""
    file = _OddFile(seed=4)
    for _ in range(2):
        for _ in range(9000):
            file.add_any()
        file.add(file.message(20_000_000), entries=1)
        file.add_cut_off(9_000_000)
    for _ in range(500):
        file.add_any()
    return write(tmp_path_factory.mktemp("odd") / "odd.jsonl", bytes(file.data)), file


def test_a_long_file_of_odd_lines_is_listed_as_it_was_made(odd: tuple[Path, _OddFile]) -> None:
    path, expected = odd
    assert len(expected.data) > 5 * REGION
    found = scan(path)
    assert found == scan(path, threads=1) == scan(path, threads=7)
    [info] = found
    assert (info.entry_count, info.message_count) == (expected.entries, len(expected.texts))
    assert info.first_message == expected.texts[0]
    assert reports(found.damage) == expected.reports
    [with_text] = SessionManager.list_all(session_dir=path.parent, text=True)
    assert with_text.all_messages_text == " ".join(expected.texts)
    assert info.all_messages_text == with_text.all_messages_text, "read later, by one thread and in one piece"


@pytest.mark.parametrize("threads", [1, None, 7])
def test_a_long_file_of_odd_lines_opens_as_it_was_made(odd: tuple[Path, _OddFile], threads: int | None) -> None:
    path, expected = odd
    with SessionManager.open(path, read_only=True, threads=threads) as manager:
        assert reports(manager.damage) == expected.reports
        entries = manager.get_entries()
        assert len(entries) == expected.entries
        assert [one.id for one in entries if one.type == "message"] == expected.ids


def test_a_line_longer_than_all_limits_is_passed_once_not_once_a_region(tmp_path: Path) -> None:
    """A hole, as a crash may leave it, of 80 regions."""
    path = write(tmp_path / "hole.jsonl", HEADER + PLAIN * 10)
    hole = path.stat().st_size
    os.truncate(path, hole + LONGEST_LINE // 4 * 5)
    with path.open("ab") as file:
        file.write(b"\n" + PLAIN * 10)
    start = time.monotonic()
    found = scan(path)
    assert time.monotonic() - start < 30, "26 GB would take minutes"
    assert [info.entry_count for info in found] == [20_000]
    assert ("line", 10_002, hole) in reports(found.damage)


def test_a_long_line_costs_the_same_wherever_it_stands(tmp_path: Path) -> None:
    """What it took of the buffer is not moved about with every block that is read behind it."""
    long = LINE % (0, b"x" * 100_000_000)
    linear = b'{"type":"session","id":"s"}\n'  # read by one thread, in one piece
    last = write(tmp_path / "last.jsonl", linear + PLAIN * 40 + long)
    first = write(tmp_path / "first.jsonl", linear + long + PLAIN * 40)
    assert quickest(lambda: scan(first)) < 3 * quickest(lambda: scan(last))


@contextmanager
def _changing(path: Path) -> Generator[None]:
    """Truncates the file, lets it grow, writes into it, deletes it, makes it anew, again and again."""
    whole = path.read_bytes()
    is_over = threading.Event()

    def rewrite(part: bytes) -> None:
        with path.open("r+b") as file:
            file.seek(len(HEADER))
            file.write(part)

    def append() -> None:
        with path.open("ab") as file:
            file.write(PLAIN)

    changes: list[Callable[[], object]] = [
        lambda: os.truncate(path, len(whole) // 2 + 7),
        append,
        lambda: rewrite(b"\n" * (9 * len(PLAIN))),
        lambda: rewrite(b"x" * (9 * len(PLAIN))),
        lambda: os.truncate(path, len(HEADER) + 100),
        lambda: os.truncate(path, 0),
        path.unlink,
        lambda: path.write_bytes(whole),
    ]

    def run() -> None:
        while not is_over.is_set():
            for change in changes:
                time.sleep(0.003)
                change()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_long_file_may_change_in_any_way_while_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "changing.jsonl", HEADER + PLAIN * 40)
    write(tmp_path / "another.jsonl", HEADER)
    outcomes = Counter[object]()
    with _changing(path):
        end = time.monotonic() + 3
        while time.monotonic() < end:
            outcomes["listed", len(scan(tmp_path))] += 1
            try:
                with SessionManager.open(path, read_only=True) as manager:
                    outcomes["opened", manager.get_session_id()] += 1
            except (SessionError, FileNotFoundError) as error:
                outcomes[type(error)] += 1
    assert {key for key in outcomes if isinstance(key, tuple)} <= {("listed", 1), ("listed", 2), ("opened", "s")}
    assert [info.entry_count for info in scan(path)] == [40_000]
