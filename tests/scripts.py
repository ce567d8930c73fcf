"""Our scripts, run as processes of their own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from killed import NOT_HERE

TESTS = Path(__file__).parent


def run(script: str, *arguments: str | Path, before: tuple[str, ...] = ()) -> Any:  # noqa: ANN401  what it prints
    """What one of our scripts prints; skips the test where the system does not let it work."""
    command = [*before, sys.executable, str(TESTS / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


_SMALL_DISK = 'mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@"'


def own_disk(folder: Path) -> tuple[str, ...]:
    """What to put before a command that is to find a small disk in this folder; skips where none may be mounted."""
    if shutil.which("unshare") is None:
        pytest.skip("a disk of our own needs Linux")
    before = ("unshare", "--mount", "--map-root-user", "sh", "-c", _SMALL_DISK, str(folder))
    if subprocess.run([*before, "true"], capture_output=True, check=False, timeout=60).returncode != 0:
        pytest.skip("no disk may be mounted here")
    return before
