"""How calls are timed within one process."""

from __future__ import annotations

import gc
import statistics
import time
from typing import TYPE_CHECKING

from .contest import ROUNDS

if TYPE_CHECKING:
    from collections.abc import Callable


def median(function: Callable[[], object]) -> float:
    """Seconds that a call takes, Python's collector of cycles off, as it is for what pytest-benchmark times."""
    times = []
    was_on = gc.isenabled()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    finally:
        if was_on:
            gc.enable()
    return statistics.median(times)
