"""What is installed for these tests, each in a folder that a later run finds again."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

TIMEOUT_S = 540

_MARKER = "interop.json"


class UnavailableError(Exception):
    """A program cannot be installed here; the text says why."""


@contextmanager
def one_at_a_time(base: Path) -> Generator[None]:
    """Let no other process install anything there meanwhile."""
    base.mkdir(parents=True, exist_ok=True)
    with (base / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_installed(folder: Path, specs: Sequence[str]) -> bool:
    """Whether just this was installed there."""
    marker = folder / _MARKER
    return marker.exists() and json.loads(marker.read_bytes()) == specs


def mark(folder: Path, specs: Sequence[str]) -> None:
    """Note what was installed there; to be called when all of it was."""
    (folder / _MARKER).write_text(json.dumps(specs))
