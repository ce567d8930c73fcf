"""Print the calls by which some piece of writing reaches the disk, in their order; a test runs this as a process.

    synced.py WORK FOLDER [fsync]

They are `write`, `sync` and `name` (a file gets its name, or another one's), each as often as it was made.
"""

from __future__ import annotations

import json
import platform
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from elyra_support import CWD, session, user
from killed import NOT_HERE
from scenarios import NAME, OLD
from sessiontree import SessionManager
from stepped import start

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = {
    "x86_64": {"write": (1, 18, 20), "sync": (74, 75), "name": (82, 86, 264, 265, 316)},
    "aarch64": {"write": (64, 66, 68), "sync": (82, 83), "name": (37, 38, 276)},
}
"""The numbers of the calls, for each kind of processor."""


def append(folder: Path, fsync: bool) -> None:
    with SessionManager.open(folder / NAME, fsync=fsync) as manager:
        manager.append_message(user("Long " * 10_000))
        manager.append_custom_entry("note")


def create(folder: Path, fsync: bool) -> None:
    with SessionManager.create(CWD, folder, fsync=fsync) as manager:
        manager.append_model_change("acme", "acme-1")
        manager.append_message(user())
        manager.append_message(user())


def fork(folder: Path, fsync: bool) -> None:
    SessionManager.fork_from(folder / NAME, CWD, folder, fsync=fsync).close()


def branch(folder: Path, fsync: bool) -> None:
    with SessionManager.open(folder / NAME, fsync=fsync) as manager:
        manager.create_branched_session("e2000002")


def migrate(folder: Path, fsync: bool) -> None:
    SessionManager.open(folder / NAME, fsync=fsync).close()


WORKS: dict[str, Callable[[Path, bool], None]] = {
    work.__name__: work for work in (append, create, fork, branch, migrate)
}


def trace(name: str, folder: Path, fsync: bool) -> list[str]:
    """The calls that the work makes."""
    (folder / NAME).write_bytes(OLD if name == "migrate" else session())
    kinds = {number: kind for kind, numbers in CALLS[platform.machine()].items() for number in numbers}
    made = []
    child = start(partial(WORKS[name], folder, fsync))
    while child.step():
        number = child.call()
        made += [kinds[number]] if number in kinds else []
    if child.code != 0:
        sys.exit(f"the work ended with {child.code}")
    return made


def main(name: str, folder: Path, fsync: bool) -> None:
    try:
        start(lambda: None).kill()
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(NOT_HERE)
    if platform.machine() not in CALLS:
        print("unknown calls", file=sys.stderr)
        sys.exit(NOT_HERE)
    (folder / NAME).write_bytes(session())
    WORKS[name](folder, fsync)  # so that what is imported late is there
    print(json.dumps(trace(name, folder, fsync)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:] == ["fsync"])
