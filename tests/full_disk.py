"""Write to a disk that has no room, then to one that has, and print what came of it; a test runs this as a process.

full_disk.py limit FOLDER    files may not grow beyond some size: any number of bytes of a line can be left over
full_disk.py disk FOLDER     a small disk, which is filled: room is given by the page
"""

from __future__ import annotations

import errno
import json
import resource
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from elyra_support import CWD, Json, old_session, records, session, state, user
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

Full: TypeAlias = "Callable[[Path, int], AbstractContextManager[None]]"
"""No room but for so many bytes behind the size that the file has."""

LONG = user("Far too long " * 3000)
ROOMS = (0, 1, 2, 40, 4000, 20_000)


@contextmanager
def file_limit(path: Path, room: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = path.stat().st_size if path.exists() else 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def full_disk(path: Path, room: int) -> Iterator[None]:
    """Fill the disk; the room that is left is what the file's last page has."""
    filler = path.with_name("filler")
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    try:
        yield
    finally:
        filler.unlink()


def attempt(work: Callable[[], object]) -> Json:
    """What an error says, which must come."""
    try:
        work()
    except OSError as error:
        return {"errno": errno.errorcode[error.errno or 0], "filename": str(error.filename)}
    return {"errno": None, "filename": ""}


def append(folder: Path, full: Full, room: int, end: bytes) -> Json:
    """Append to a file that ends with this."""
    path = folder / "append.jsonl"
    path.write_bytes(session() + end)
    with SessionManager.open(path) as manager:
        before = state(manager)
        with full(path, room):
            error = attempt(lambda: manager.append_message(LONG))
            again = attempt(lambda: manager.append_message(LONG))
            unchanged = path.read_bytes() == session() + end
            as_before = state(manager) == before
        after = manager.append_message(user("After"))
    last = path.read_bytes().rsplit(b"\n", 2)[1]
    return {
        "error": error,
        "again": again,
        "as_before": as_before,
        "unchanged": unchanged,
        "whole": json.loads(last)["id"] == after and json.loads(last)["parentId"] == before["leaf"],
        "lines": path.read_bytes().count(b"\n"),
    }


def create(folder: Path, full: Full, room: int) -> Json:
    """Start a session: the file comes with the first message."""
    inside = folder / "new"
    inside.mkdir()
    with SessionManager.create(CWD, inside) as manager:
        manager.append_model_change("acme", "acme-1")
        before = state(manager)
        with full(folder / "none", room):
            error = attempt(lambda: manager.append_message(LONG))
            nothing_left = not list(inside.iterdir())
            as_before = state(manager) == before
        manager.append_message(user("After"))
        path = manager.get_session_file()
    assert path is not None
    kinds = [record["type"] for record in records(path)]
    for one in inside.iterdir():
        one.unlink()
    inside.rmdir()
    return {
        "error": {**error, "filename": str(Path(error["filename"]).parent)},
        "as_before": as_before,
        "unchanged": nothing_left,
        "whole": kinds == ["session", "model_change", "message"],
    }


def migrate(folder: Path, full: Full, room: int) -> Json:
    """Open an old session for writing."""
    inside = folder / "old"
    inside.mkdir()
    path, old = inside / "old.jsonl", old_session(100)
    path.write_bytes(old)
    with full(folder / "none", room):
        error = attempt(lambda: SessionManager.open(path))
        unchanged = path.read_bytes() == old and list(inside.iterdir()) == [path]
    SessionManager.open(path).close()
    whole = records_but_damaged(path)
    path.unlink()
    inside.rmdir()
    return {
        "error": {**error, "filename": str(Path(error["filename"]).parent)},
        "unchanged": unchanged,
        "whole": whole == 104,
    }


def records_but_damaged(path: Path) -> int:
    with SessionManager.open(path, read_only=True) as manager:
        return len(manager.get_entries()) + 1


def copy(folder: Path, full: Full, room: int) -> Json:
    """Fork a session, and branch off a new one from it."""
    inside, source = folder / "copies", folder / "source.jsonl"
    inside.mkdir()
    source.write_bytes(session(text="Question " * 1000))
    with SessionManager.open(source, inside) as manager:
        before = state(manager)
        with full(folder / "none", room):
            error = attempt(lambda: SessionManager.fork_from(source, CWD, inside))
            again = attempt(lambda: manager.create_branched_session("e2000002"))
            unchanged = not list(inside.iterdir())
            as_before = state(manager) == before
    inside.rmdir()
    source.unlink()
    return {
        "error": {**error, "filename": str(Path(error["filename"]).parent)},
        "again": {**again, "filename": str(Path(again["filename"]).parent)},
        "unchanged": unchanged,
        "as_before": as_before,
    }


def main(kind: str, folder: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    full = file_limit if kind == "limit" else full_disk
    rooms = ROOMS if kind == "limit" else (0,)
    result = {
        "append": [append(folder, full, room, b"") for room in rooms],
        "append_after_torn": [append(folder, full, room, b'{"type":"mess') for room in rooms],
        "create": [create(folder, full, room) for room in (0, 50)],
        "migrate": [migrate(folder, full, room) for room in (0, 50, 5000)],
        "copy": [copy(folder, full, room) for room in (0, 50, 5000)],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
