"""`sessiontree demo`."""

from __future__ import annotations

import argparse
import getpass
import os
import shlex
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _corpus
from .._scan import scan
from . import DONE
from ._progress import progress
from ._sessions import amount, print_sessions
from .check import counts, print_damage

if TYPE_CHECKING:
    from .._scan import Scan

_SESSIONS = 2000
_MEAN_BYTES = 100_000
_ROWS = 12
_REPORTS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `demo` takes."""
    parser.set_defaults(run=run)
    parser.add_argument("--sessions", type=_at_least_one, metavar="N", default=_SESSIONS, help=f"how many to write ({_SESSIONS})")
    parser.add_argument("--remove", action="store_true", help="delete the sample store instead")


def run(arguments: argparse.Namespace) -> int:
    """Write the store unless it is there, scan it, and show what came of it."""
    folder = _own_folder() / "agent"
    if arguments.remove:
        print(f"Removed {folder}" if _corpus.remove_corpus(folder) else f"There is nothing at {folder}")
        return DONE
    with progress("Writing a sample store") as on_progress:
        _corpus.open_corpus(folder, sessions=arguments.sessions, mean_bytes=_MEAN_BYTES, on_progress=on_progress)
    start = time.perf_counter()
    with progress("Reading it") as on_progress:
        found = scan(folder, on_progress=on_progress)
    _show(found, folder, time.perf_counter() - start)
    return DONE


def _at_least_one(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return count


def _own_folder() -> Path:
    """A folder below the system's temporary one that nobody else can have put something into.

    Raises:
        FileExistsError: Somebody else made it.
    """
    folder = Path(tempfile.gettempdir()) / f"sessiontree-demo-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or (hasattr(os, "getuid") and facts.st_uid != os.getuid()):
        raise FileExistsError(f"{folder} is not this user's own folder")
    return folder


def _show(found: Scan, folder: Path, seconds: float) -> None:
    size = sum(info.size_bytes for info in found)
    print(f"Read {len(found):,} sessions, {amount(size)}B, in {seconds:.2f} s ({size / seconds / 1e9:.2f} GB/s).\n")
    print_sessions(found[:_ROWS])
    print(f"\nDamage and notes: {counts(found.damage)}. Some of it:\n")
    print_damage(found.damage[:_REPORTS])
    store = shlex.quote(str(folder))
    print(f"\nThe store is kept in {folder}. To go on:\n")
    print(f"  sessiontree list --all --agent-dir {store} --sort cost --limit 20")
    print(f"  sessiontree list -C {shlex.quote(found[0].cwd)} --agent-dir {store}")
    print(f"  sessiontree check --agent-dir {store}")
    print("  sessiontree demo --remove")
