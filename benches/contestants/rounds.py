"""What the contestants in Python share: a request a line on standard input, an answer a line on standard output."""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def serve(job: Callable[[], object], answer: Callable[[], object]) -> None:
    """Say `ready`; then give the job's answer as JSON when asked `answer`, and the seconds that it took for `time`.

    Python's collector of cycles is off, which favours whoever makes many objects.
    """
    gc.disable()
    print("ready", flush=True)
    for request in sys.stdin:
        print(json.dumps(answer() if request == "answer\n" else _seconds(job)), flush=True)


def _seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    result = job()
    seconds = time.perf_counter() - start
    del result  # before the next contestant's turn
    return seconds
