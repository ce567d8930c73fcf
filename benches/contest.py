"""Contestants do one job in turn, round by round, so that what disturbs the machine disturbs all alike.

Each is a process of its own: its start does not count, and its CPU time and memory are its alone. It says `ready`; then
it gets a line for each thing to do, and answers with a line of JSON: to `time` with the seconds that the job took, to
`answer` with what came of it.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json: TypeAlias = Any
"""What a line of JSON holds."""

ROOT = Path(__file__).parent.parent
ROUNDS = 5


class Contestant(NamedTuple):
    """One way to do a job.

    Attributes:
        name: What tables call it.
        command: Starts its process, in the project's folder.
    """

    name: str
    command: Sequence[str | Path]


class Figures(NamedTuple):
    """What a contestant took.

    Attributes:
        seconds: The median of the rounds.
        cpu_seconds: Of all threads; the median.
        peak_mb: The most memory in any round, beyond what it had when it was ready.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float


def answer(contestant: Contestant) -> Json:
    """What comes of the job, from a process that ends afterwards: its answer costs memory."""
    with _running(contestant) as running:
        return running.ask("answer")


def contest(contestants: Sequence[Contestant], rounds: int = ROUNDS) -> dict[str, Figures]:
    """Time them all: one round that is not counted, then so many that are."""
    with ExitStack() as stack:
        all_running = [stack.enter_context(_running(contestant)) for contestant in contestants]
        for running in all_running:
            running.ask("time")
        for _ in range(rounds):
            for running in all_running:
                running.round()
        return {running.name: running.figures() for running in all_running}


@contextmanager
def _running(contestant: Contestant) -> Iterator[_Running]:
    process = subprocess.Popen(
        [str(part) for part in contestant.command],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield _Running(contestant.name, process)
    finally:
        process.communicate()  # which closes its standard input, and so ends it


class _Running:
    """A contestant's process, and what it has taken so far."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self.name = name
        self._process = process
        self._seconds: list[float] = []
        self._cpu_seconds: list[float] = []
        self._hear()
        self._memory_mb = self._status_mb("VmRSS")

    def ask(self, request: str) -> Json:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        return json.loads(self._hear())

    def _hear(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with {self._process.wait()}: {self._process.args!r}")
        return line

    def round(self) -> None:
        before = self._clock()
        self._seconds.append(self.ask("time"))
        self._cpu_seconds.append(self._clock() - before)

    def figures(self) -> Figures:
        peak_mb = self._status_mb("VmHWM") - self._memory_mb
        return Figures(statistics.median(self._seconds), statistics.median(self._cpu_seconds), peak_mb)

    def _clock(self) -> float:
        """The CPU seconds of the process, from the clock that Linux has for each (`man clock_getcpuclockid`)."""
        return time.clock_gettime((~self._process.pid << 3) | 2) if sys.platform == "linux" else math.nan

    def _status_mb(self, key: str) -> float:
        if sys.platform != "linux":
            return math.nan
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1000
