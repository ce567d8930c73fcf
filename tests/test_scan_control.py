"""A scan under way: progress, interruptions, forks, other threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sessiontree import SessionManager, scan
from support import TRIES, write

LINE = b'{"type":"message","id":"e%07d","parentId":null,"message":{"role":"user","content":"%s"}}\n'
PROMPTLY_S = 0.1


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A flat folder that takes a good part of a second to scan: 12 sessions of 32 MB."""
    folder = tmp_path_factory.mktemp("store")
    text = b'say \\"hello\\" ' * 80
    body = b"".join(LINE % (number, text) for number in range(1000))
    for number in range(12):
        write(folder / f"{number:02}.jsonl", b'{"type":"session","id":"%d"}\n' % number + body * 30)
    return folder


def test_progress_is_told_after_each_file_in_the_callers_thread(store: Path) -> None:
    calls: list[tuple[int, int, int]] = []
    scan(store, on_progress=lambda loaded, total: calls.append((loaded, total, threading.get_ident())))
    assert calls == [(loaded, 12, threading.get_ident()) for loaded in range(1, 13)]


def test_files_that_are_left_out_count_in_progress(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", b"")
    write(tmp_path / "b.jsonl", b'{"type":"session","id":"b"}\n')
    calls: list[tuple[int, int]] = []
    assert len(SessionManager.list_all(lambda *call: calls.append(call), session_dir=tmp_path)) == 1
    assert calls == [(1, 2), (2, 2)]


class NoMore(Exception):
    """What a callback raises."""


def test_what_a_callback_raises_ends_the_scan_at_once(store: Path) -> None:
    def seconds_until_it_ends() -> float:
        raised_at = 0.0

        def on_progress(loaded: int, total: int) -> None:
            nonlocal raised_at
            raised_at = time.monotonic()
            raise NoMore(loaded, total)

        with pytest.raises(NoMore) as caught:
            scan(store, on_progress=on_progress)
        assert caught.value.args == (1, 12)
        return time.monotonic() - raised_at

    assert min(seconds_until_it_ends() for _ in range(TRIES)) < PROMPTLY_S


INTERRUPTED = """
import signal, sys, threading, time
from sessiontree import scan

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored

def interrupt():
    global sent
    time.sleep(0.03)
    sent = time.monotonic()
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    while True:
        scan(sys.argv[1], threads=1)
except KeyboardInterrupt:
    print(time.monotonic() - sent)
"""


def test_ctrl_c_ends_the_scan_at_once(store: Path) -> None:
    def seconds_until_it_ends() -> float:
        command = [sys.executable, "-c", INTERRUPTED, str(store)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return float(done.stdout)

    assert min(seconds_until_it_ends() for _ in range(TRIES)) < PROMPTLY_S


def test_other_threads_run_meanwhile(store: Path) -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.monotonic()
    scan(store, threads=1)
    seconds = time.monotonic() - start
    done.set()
    ticker.join()
    assert ticks > 100 * seconds, "with the lock held there would be one or two"


def test_several_scans_at_once_agree(store: Path) -> None:
    expected = scan(store)
    found = [None] * 4

    def run(number: int) -> None:
        found[number] = scan(store)  # type: ignore[call-overload]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_no_more_threads_than_processors_are_at_work(store: Path) -> None:
    """However many a caller asks for, and however many scans there are: a worker at work has its file open."""
    scans = [threading.Thread(target=scan, args=(store,), kwargs={"threads": 64}) for _ in range(3)]
    for one in scans:
        one.start()
    most = 0
    while any(one.is_alive() for one in scans):
        most = max(most, open_files_in(store))
    assert 1 <= most <= len(os.sched_getaffinity(0))


def open_files_in(folder: Path) -> int:
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            count += link.readlink().parent == folder
    return count


def test_hundreds_of_scans_at_once_end(tmp_path: Path) -> None:
    """Those who wait for their turn must not take it from those who work."""
    for number in range(100):
        write(tmp_path / f"{number}.jsonl", b'{"type":"session","id":"s"}\n')
    found: list[int] = []
    scans = [threading.Thread(target=lambda: found.append(len(scan(tmp_path)))) for _ in range(200)]
    for one in scans:
        one.start()
    for one in scans:
        one.join(60)
    assert found == [100] * 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_scans_even_in_the_middle_of_its_parents_scan(store: Path) -> None:
    under_way = threading.Event()
    parents = threading.Thread(target=scan, args=(store,), kwargs={"on_progress": lambda *_: under_way.set()})
    parents.start()
    assert under_way.wait(60)
    child = os.fork()
    if not child:
        try:
            signal.alarm(60)
            os._exit(len(scan(store)))
        finally:
            os._exit(255)
    parents.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 12


@pytest.mark.parametrize(
    "name", ["an id that every derived id is made of", "a response id that every record is known by"]
)
def test_a_long_field_and_many_records_cost_their_sum_not_their_product(tmp_path: Path, name: str) -> None:
    long, many = b"x" * 4_000_000, 8000
    files = {
        "an id that every derived id is made of": b'{"type":"session","id":"%s"}\n' % long + b'{"type":"x"}\n' * many,
        "a response id that every record is known by": (
            b'{"type":"session","id":"s","version":3}\n{"type":"message","id":"a","message":{"role":"toolResult",'
            b'"responseId":"%s","details":{"modelUsage":[%s]}}}\n' % (long, b",".join([b'{"input":1}'] * many))
        ),
    }
    path = write(tmp_path / "1.jsonl", files[name])
    start = time.monotonic()
    assert len(scan(path)) == 1
    assert time.monotonic() - start < 5, "the product would be 32 GB to hash"


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_a_scan_that_was_stopped_gives_up_its_files(tmp_path: Path) -> None:
    """Even in the middle of a line of a terabyte; else its workers would keep others from theirs."""
    endless = write(tmp_path / "endless.jsonl", b'{"type":"session","id":"s"}\n')
    os.truncate(endless, 1 << 40)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            scan(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 10
    while open_files_in(tmp_path):
        assert time.monotonic() < deadline
        time.sleep(0.01)
