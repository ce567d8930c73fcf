"""Work as a user who may read a folder and not write to it, and print what came of it; a test runs this as a process.

read_only_folder.py FOLDER    holds `current.jsonl`, `old.jsonl`, `closed.jsonl`
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from as_nobody import only_reading
from elyra_support import CWD, Json, ids, state, user
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(work: Callable[[], object]) -> str | None:
    """The path of the file that may not be touched."""
    try:
        work()
    except PermissionError as error:
        return str(error.filename)
    return None


def work(folder: Path) -> Json:
    current, old, closed = (folder / f"{name}.jsonl" for name in ("current", "old", "closed"))
    result: Json = {
        "closed": refused(lambda: SessionManager.open(closed)),
        "closed_read_only": refused(lambda: SessionManager.open(closed, read_only=True)),
        "old": refused(lambda: SessionManager.open(old)),
    }
    for name, path in (("current", current), ("old", old)):
        with SessionManager.open(path, read_only=True) as manager:
            result[f"{name}_ids"] = ids(manager)
    with SessionManager.open(current) as manager:
        before = state(manager)
        result["append"] = refused(lambda: manager.append_message(user()))
        result["as_before"] = state(manager) == before
        result["messages"] = len(manager.build_session_context().messages)
        result["branch"] = refused(lambda: manager.create_branched_session("e2000002"))
        result["after_branch"] = state(manager) == before
    with SessionManager.create(CWD, folder) as manager:
        before = state(manager)
        result["create"] = refused(lambda: manager.append_message(user()))
        result["after_create"] = state(manager) == before
    result["fork"] = refused(lambda: SessionManager.fork_from(current, CWD, folder))
    result["delete"] = refused(lambda: SessionManager.delete(current))
    return result


if __name__ == "__main__":
    os.environ.update(PATH="", HOME="/nowhere", XDG_DATA_HOME="/nowhere")  # there is no trash
    only_reading(work, Path(sys.argv[1]))
