"""Listing a store, against the floor and the reference, in one run.

    pytest benches                      the sizes that are quoted; writes 1.4 GB of stores on the first run
    pytest benches --scale 0.02         a look whether it still works

Each store is listed by the core (on all processors, and on one thread), by `tests/reference.py` with orjson, and read
by the floor. The reference's answer is the one that the core must give. Beside the times, `extra_info` has the bytes,
gigabytes a second, ratios of medians, and peak memory in megabytes.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import reference
from measure import ROUNDS, median, peak_memory_mb
from sessiontree import SessionManager
from support import info_facts, session_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from conftest import MakeStore

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

GIGABYTES_A_SECOND = 0.5
"""What one core must do on store A."""
TIMES_THE_REFERENCE = 2
MEMORY_MB = 150

PEAK = """
from sessiontree import SessionManager

before = status("VmRSS")
infos = SessionManager.list_all(agent_dir=sys.argv[1])
print(beyond(before))
"""


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_list(
    name: str,
    store: MakeStore,
    floor: Callable[[Path, int], Callable[[], int]],
    benchmark: BenchmarkFixture,
    is_full_size: bool,
) -> None:
    corpus = store(name)
    listing, expected, seconds = _answers(corpus.folder)
    assert listing == expected
    assert sum(row["message_count"] for row in listing) == corpus.messages

    arguments = {"agent_dir": corpus.folder}
    core = benchmark.pedantic(SessionManager.list_all, kwargs=arguments, rounds=ROUNDS)  # type: ignore[no-untyped-call]
    assert len(core) == corpus.listed
    assert benchmark.stats is not None
    all_threads = benchmark.stats.stats.median
    one_thread = median(lambda: SessionManager.list_all(agent_dir=corpus.folder, threads=1))
    floors = {}
    for threads in (1, PROCESSORS):
        count_lines = floor(corpus.folder, threads)
        assert count_lines() == sum(path.read_bytes().count(b"\n") for path in corpus.folder.rglob("*.jsonl"))
        floors[threads] = median(count_lines)

    gigabytes = corpus.bytes / 1e9
    info: dict[str, Any] = {
        "gigabytes": gigabytes,
        "gigabytes_a_second": gigabytes / all_threads,
        "gigabytes_a_second_one_thread": gigabytes / one_thread,
        "reference_s": seconds,
        "times_the_reference_one_thread": seconds / one_thread,
        "times_the_reference": seconds / all_threads,
        "floor_s": floors[PROCESSORS],
        "times_the_floor": all_threads / floors[PROCESSORS],
        "times_the_floor_one_thread": one_thread / floors[1],
        "peak_memory_mb": peak_memory_mb(PEAK, corpus.folder)[0],
    }
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.3f}" for key, value in info.items()), sep="\n")
    assert not info["peak_memory_mb"] >= MEMORY_MB
    if is_full_size:
        assert info["times_the_reference_one_thread"] >= TIMES_THE_REFERENCE
        assert name != "A" or info["gigabytes_a_second_one_thread"] >= GIGABYTES_A_SECOND


def _answers(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """The core's rows, the reference's, and how many seconds those took."""
    start = time.perf_counter()
    sessions = reference.read_store(folder, loads=orjson.loads)
    seconds = time.perf_counter() - start
    infos = SessionManager.list_all(agent_dir=folder, text=True)
    core = [{"path": info.path, **info_facts(info)} for info in infos]
    return core, [{"path": path, **session_facts(session)} for path, session in sessions], seconds
