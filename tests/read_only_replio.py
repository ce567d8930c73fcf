"""Work as a user who may read a folder of Replio sessions and not write to it, and print what came of it.

A test runs this as a process: read_only_replio.py FOLDER    holds `s.json` and `closed.json`
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from as_nobody import only_reading
from sessiontree.replio import ReplioStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from replio_support import Json


def refused(work: Callable[[], object]) -> bool:
    """Whether the system does not allow it."""
    try:
        work()
    except PermissionError:
        return True
    return False


def work(folder: Path) -> Json:
    store = ReplioStore(folder)
    session = store.load("s")
    before = session.messages
    return {
        "list": store.list(),
        "infos": [info.id for info in store.infos()],
        "export": len(store.export("s", "-")),
        "closed": refused(lambda: store.read("closed")),
        "append": refused(lambda: session.append("user", "hi")),
        "as_before": session.messages == before,
        "create": refused(lambda: store.create("new").append("user", "hi")),
        "rename": refused(lambda: store.rename("s", "t")),
        "delete": refused(lambda: store.delete("s")),
        "still_there": session.messages == before and store.list() == ["closed", "s"],
    }


if __name__ == "__main__":
    only_reading(work, Path(sys.argv[1]))
