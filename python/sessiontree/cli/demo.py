"""`sessiontree demo`."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _corpus
from .._scan import scan
from . import DONE
from ._arguments import at_least
from ._output import amount, count
from ._progress import progress
from ._reports import counts
from ._sessions import print_sessions
from ._table import Column, print_table
from ._text import visible
from ._times import took

if TYPE_CHECKING:
    import argparse

    from .._scan import Scan
    from ..errors import Damage

_SESSIONS = 2000
_MEAN_BYTES = 100_000
_ROWS = 5  # with as many reports as below, all of it is seen on a terminal of 80 by 24
_REPORTS = 3
_REPORT_COLUMNS = (
    Column("FILE", share=0.4, keep_end=True),
    Column("LINE", right=True),
    Column("KIND"),
    Column("REPORT", rest=True),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `demo` takes."""
    parser.set_defaults(run=run)
    number = f"how many to write ({_SESSIONS})"
    parser.add_argument("--sessions", type=at_least(1), metavar="N", default=_SESSIONS, help=number)
    parser.add_argument("--remove", action="store_true", help="delete the sample store instead")


def run(arguments: argparse.Namespace) -> int:
    """Write the store unless it is there, scan it, and show what came of it."""
    store = _own_folder() / "agent"
    if arguments.remove:
        _remove(store)
        return DONE
    with progress("Writing a sample store") as on_progress:
        corpus = _corpus.open_corpus(
            store, sessions=arguments.sessions, mean_bytes=_MEAN_BYTES, on_progress=on_progress
        )
    start = time.perf_counter()
    with progress("Reading it") as on_progress:
        found = scan(store, on_progress=on_progress)
    _show(found, corpus, time.perf_counter() - start)
    return DONE


def _own_folder() -> Path:
    """A folder below the system's temporary one that nobody else can have put something into.

    Raises:
        FileExistsError: Somebody else made it, or it is no folder.
    """
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # elsewhere every user has a temporary folder anyway
    folder = Path(tempfile.gettempdir(), f"sessiontree-demo{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or (user and facts.st_uid != os.getuid()):
        raise FileExistsError(errno.EEXIST, "is not this user's own folder", str(folder))
    return folder


def _remove(store: Path) -> None:
    is_removed = _corpus.remove_corpus(store)
    with suppress(OSError):  # it holds something else
        store.parent.rmdir()
    print(visible(f"Removed {store}" if is_removed else f"There is no sample store at {store}"))


def _show(found: Scan, corpus: _corpus.Corpus, seconds: float) -> None:
    store, size = str(corpus.folder), sum(info.size_bytes for info in found)
    rate = f"{size / seconds / 1e9:.2f} GB/s"
    print(f"Read {count(corpus.sessions, 'file')}, {amount(size)}B, in {took(seconds)} ({rate}): ", end="")
    print(f"{count(len(found), 'session')}.\n")
    print_sessions(found[:_ROWS])
    print(f"\n{counts(found.damage).capitalize()}.")
    print_table(_REPORT_COLUMNS, [_report(damage) for damage in found.damage[:_REPORTS]])
    print(f"\nThe store is kept in {visible(store)}. To go on:")
    for command in ("list --all --sort cost", *(f"list -C {shlex.quote(info.cwd)}" for info in found[:1]), "check"):
        print(visible(f"  sessiontree {command} --agent-dir {shlex.quote(store)}"))
    print("  sessiontree demo --remove")


def _report(damage: Damage) -> tuple[str, ...]:
    line = "" if damage.line is None else str(damage.line)
    return visible(damage.path.name), line, damage.kind, visible(damage.reason)
