"""How things are timed, and how their memory is measured."""

from __future__ import annotations

import gc
import math
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Result = TypeVar("Result")

ROUNDS = 5

_STATUS = """
import sys
from pathlib import Path

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1])

def beyond(before):
    return (status("VmHWM") - before) / 1000

"""


def median(function: Callable[[], Result], rounds: int = ROUNDS) -> float:
    """Seconds that a call takes, Python's collector of cycles off, as it is for what pytest-benchmark times."""
    times = []
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    finally:
        if was_on:
            gc.enable()
    return statistics.median(times)


def peak_memory_mb(code: str, path: Path) -> list[float]:
    """What code prints in a process of its own: it has `status(key)` and `beyond(status("VmRSS") from before)`.

    Read from /proc; NaN where there is none.
    """
    if sys.platform != "linux":
        return [math.nan] * 9
    command = [sys.executable, "-c", _STATUS + code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]
