"""Kill work in child processes, again and again, and print what was lost; a test runs this as a process.

killed.py calls SCENARIO FOLDER           at the start and the end of each system call that the work makes
killed.py times SCENARIO FOLDER COUNT     at random moments of it, so often
killed.py endless FOLDER COUNT            at random moments of appending without end
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import scenarios
import scenarios_replio
from elyra_support import session, user
from scenarios import NAME, Scenario, assert_kept
from sessiontree import SessionManager
from stepped import FAILED, fork, start, wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios import Say

NOT_HERE = 77
"""The exit code where processes cannot be stopped at calls."""

SCENARIOS = scenarios.SCENARIOS | scenarios_replio.SCENARIOS
MAX_PROBLEMS = 20
KILLS_A_FILE = 5
LIFE_S = 0.005
SIZES = (10, 10, 3000, 100_000)  # a long write can be broken off half-way


class Channel:
    """A pipe over which a child says what is safely on disk."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()

    def say(self, text: str) -> None:
        os.write(self._writing, f"{text}\n".encode())

    def said(self) -> list[str]:
        """All that was said, once the child has gone."""
        os.close(self._writing)
        with open(self._reading, "rb") as file:  # noqa: PTH123  a descriptor
            return file.read().decode().splitlines()


class Report:
    """What has come out so far."""

    def __init__(self) -> None:
        self.kills = self.finished = self.torn = 0
        self.problems: list[str] = []

    def check(self, moment: object, check: Callable[[], None]) -> None:
        try:
            check()
        except Exception as error:
            self.problems.append(f"{moment}: {type(error).__name__}: {error}")

    def end(self, code: int) -> None:
        self.kills += code == -signal.SIGKILL
        self.finished += code == 0
        if code not in (0, -signal.SIGKILL):
            self.problems.append(f"a child ended with {code}" + (" and the error above" if code == FAILED else ""))

    def print(self) -> None:
        print(json.dumps(vars(self)))


def at_each_call(scenario: Scenario, folder: Path) -> Report:
    """Kill the work at its first stop, at its second, and so on, until it comes to its end."""
    report = Report()
    stops = 0
    while not report.finished and len(report.problems) < MAX_PROBLEMS:
        stops += 1
        scenario.prepare(folder)
        channel = Channel()
        child = start(partial(scenario.work, folder, channel.say))
        for _ in range(stops):
            if not child.step():
                break
        child.kill()
        report.end(child.finish())
        report.check(f"stop {stops}", partial(scenario.check, folder, channel.said()))
    return report


def at_times(scenario: Scenario, folder: Path, count: int) -> Report:
    """Kill the work at random moments."""
    duration = min(_duration(scenario, folder) for _ in range(5))
    report = Report()
    for number in range(count):
        scenario.prepare(folder)
        channel = Channel()
        pid = fork(partial(scenario.work, folder, channel.say))
        time.sleep(random.uniform(0, duration))
        os.kill(pid, signal.SIGKILL)
        report.end(wait(pid))
        report.check(f"kill {number}", partial(scenario.check, folder, channel.said()))
    return report


def _duration(scenario: Scenario, folder: Path) -> float:
    """How long the work takes, in seconds."""
    scenario.prepare(folder)
    began = time.monotonic()
    wait(fork(partial(scenario.work, folder, lambda _: None)))
    return time.monotonic() - began


def endless(folder: Path, count: int) -> Report:
    """Kill writers at random moments, each of which goes on where the one before it was killed."""
    report = Report()
    path, said = folder / NAME, list[str]()
    for number in range(count):
        if number % KILLS_A_FILE == 0:
            path.write_bytes(session())
            said = []
        channel = Channel()
        pid = fork(partial(_append_for_ever, path, channel.say))
        time.sleep(random.uniform(0, LIFE_S))
        os.kill(pid, signal.SIGKILL)
        report.end(wait(pid))
        said += channel.said()
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            report.torn += file.read() != b"\n"
        at_last = (number + 1) % KILLS_A_FILE == 0
        check = partial(assert_kept, max_torn=KILLS_A_FILE) if at_last else _assert_opens
        report.check(f"kill {number}", partial(check, path, said))
    return report


def _append_for_ever(path: Path, say: Say) -> None:
    manager = SessionManager.open(path)
    while True:
        say(manager.append_message(user("x" * random.choice(SIZES))))


def _assert_opens(path: Path, said: list[str]) -> None:
    with SessionManager.open(path, read_only=True) as manager:
        lost = [one for one in said if manager.get_entry(one) is None]
    assert not lost, f"lost: {lost}"


def main(mode: str, *arguments: str) -> Report:
    random.seed(os.urandom(8))
    if mode == "endless":
        return endless(Path(arguments[0]), int(arguments[1]))
    scenario, folder = SCENARIOS[arguments[0]], Path(arguments[1])
    scenario.prepare(folder)
    scenario.work(folder, lambda _: None)  # so that what is imported late is there
    if mode == "times":
        return at_times(scenario, folder, int(arguments[2]))
    try:
        start(lambda: None).kill()
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(NOT_HERE)
    return at_each_call(scenario, folder)


if __name__ == "__main__":
    main(*sys.argv[1:]).print()
