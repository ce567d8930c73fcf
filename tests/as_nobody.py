"""Scan a folder as a user who may not read everything, and print what came out; a test runs this as a process."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sessiontree import SessionManager, scan

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY = 65534


def drop_rights() -> None:
    """Become nobody, if we are root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def only_reading(work: Callable[[Path], object], folder: Path) -> None:
    """Work in a folder that nobody may write to, as somebody who may not, and print what comes of it."""
    if os.getuid() == 0:  # a rehearsal: who is nobody may not be able to import what is imported late
        with TemporaryDirectory() as name:
            work(Path(shutil.copytree(folder, Path(name, "copy"))))
    drop_rights()
    if os.access(folder, os.W_OK):
        sys.exit("permissions do not apply here")
    print(json.dumps(work(folder)))


def refused_path(folder: Path) -> str | None:
    """What a listing of the folder says it may not read."""
    try:
        SessionManager.list_all(session_dir=folder)
    except PermissionError as error:
        return str(error.filename)
    return None


def main(agent_dir: Path, forbidden_file: Path, forbidden_folder: Path) -> None:
    drop_rights()
    may_read = [path for path in (forbidden_file, forbidden_folder) if os.access(path, os.R_OK)]
    if may_read:
        sys.exit(f"permissions do not apply here: {may_read}")
    found = scan(agent_dir)
    result = {
        "listed": [str(info.path) for info in found],
        "damage": [[one.kind, str(one.path), one.line] for one in found.damage],
        "refused": refused_path(forbidden_folder),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
