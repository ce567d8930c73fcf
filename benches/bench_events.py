"""Reading the stream of a running agent: a few types of 500 MB, and all of it, against json.loads on every line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from sessiontree.events import iter_events, read_run

from . import streams
from .measure import median

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

TYPES = frozenset({"session", "message_end", "agent_end"})
GB_A_SECOND = 1.5
TIMES_JSON = 6
RUN_MB = 30
"""How much the memory of a process grows that reads the whole stream: what the run itself keeps, and little else."""

MEASURE_RUN = """
import sys
from sessiontree.events import read_run

def peak_kb():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1])

read_run(b'{"type":"agent_start"}')
before = peak_kb()
read_run(sys.argv[1])
print((peak_kb() - before) / 1e3)
"""


def test_a_few_types(scale: float, benchmark: BenchmarkFixture, is_full_size: bool) -> None:
    path = streams.stream(scale)
    size = path.stat().st_size
    assert list(iter_events(path, types=TYPES)) == _by_json(path)

    benchmark(lambda: sum(1 for _ in iter_events(path, types=TYPES)))
    assert benchmark.stats is not None
    seconds = benchmark.stats.stats.median
    plain_s = median(lambda: _by_json(path))
    info = {"megabytes": size / 1e6, "gb_a_second": size / seconds / 1e9, "times_json_loads": plain_s / seconds}
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.2f}" for key, value in info.items()), sep="\n")
    if is_full_size:
        assert info["gb_a_second"] >= GB_A_SECOND
        assert info["times_json_loads"] >= TIMES_JSON


def test_a_whole_run(scale: float, benchmark: BenchmarkFixture, is_full_size: bool) -> None:
    path = streams.stream(scale)
    run = benchmark(read_run, path)
    ended = [event["message"] for event in _by_json(path) if event["type"] == "message_end"]
    assert run.usage.input == sum(message.get("usage", {}).get("input", 0) for message in ended)
    done = subprocess.run([sys.executable, "-c", MEASURE_RUN, path], capture_output=True, text=True, check=True)
    assert benchmark.stats is not None
    info = {
        "gb_a_second": path.stat().st_size / benchmark.stats.stats.median / 1e9,
        "memory_mb": float(done.stdout),
    }
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.2f}" for key, value in info.items()), sep="\n")
    if is_full_size:
        assert info["memory_mb"] < RUN_MB


def _by_json(path: Path) -> list[dict[str, Any]]:
    """The simple way."""
    with path.open("rb") as file:
        return [event for line in file if (event := json.loads(line))["type"] in TYPES]
