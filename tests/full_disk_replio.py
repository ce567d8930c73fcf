"""Save Replio sessions to a disk without room, then to one with, and print what came of it; see `full_disk.py`."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from full_disk import ROOMS, attempt, file_limit, full_disk
from replio_support import Json, document, dumped, user
from sessiontree.replio import ReplioStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from full_disk import Full
    from sessiontree.replio import ReplioSession

LONG = "Far too long " * 3000
SESSION = dumped(document("s", user(), user()))

WORK: dict[str, Callable[[ReplioStore, ReplioSession], object]] = {
    "append": lambda _, session: session.append("user", LONG),
    "error": lambda _, session: session.add_error(1, LONG),
    "compact": lambda _, session: session.compact(LONG, keep=1),
    "rename": lambda store, session: store.rename(session.name, "t"),
}


def state(session: ReplioSession) -> object:
    return [session.name, session.updated_at, session.messages, session.errors, session.permissions]


def work(folder: Path, full: Full, room: int, name: str) -> Json:
    """What comes of a piece of work, and of an append when there is room again."""
    inside = folder / "store"
    inside.mkdir()
    path = inside / "s.json"
    path.write_bytes(SESSION)
    store = ReplioStore(inside)
    session = store.load("s")
    before = state(session)
    with full(folder / "none", room):
        error = attempt(lambda: WORK[name](store, session))
        unchanged = path.read_bytes() == SESSION and list(inside.iterdir()) == [path]
        as_before = state(session) == before
    session.append("user", LONG)
    whole = store.read("s").messages == session.messages and len(session.messages) == 3
    for one in inside.iterdir():
        one.unlink()
    inside.rmdir()
    return {"error": error["errno"], "unchanged": unchanged, "as_before": as_before, "whole": whole}


def main(kind: str, folder: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    full = file_limit if kind == "limit" else full_disk
    rooms = ROOMS[:3] if kind == "limit" else ROOMS[:1]
    print(json.dumps({name: [work(folder, full, room, name) for room in rooms] for name in WORK}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
