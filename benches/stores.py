"""What is read: stores from seeds, made on the first run and found again by later ones."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessiontree import _corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

BASE = Path(os.environ.get("SESSIONTREE_BENCHES") or Path(tempfile.gettempdir()) / "sessiontree-benches")

PROFILES = {"A": "default", "B": "small", "C": "large"}
"""2,000 sessions of 1 GB in all, 10,000 small ones, and one of 200 MB."""

LARGE_BYTES = 2_000_000_000
MEGABYTES_A_UNIT = 10


@dataclass(frozen=True)
class Store:
    """An agent folder, or a Replio project.

    Attributes:
        name: Such as `A`.
        folder: Where it is.
        files: Its session files, by path.
        bytes: Their size, all together.
        messages: How many messages a reader must find in them.
    """

    name: str
    folder: Path
    files: Sequence[Path]
    bytes: int
    messages: int

    @classmethod
    def of(cls, name: str, folder: Path, messages: int, pattern: str = "sessions/*/*.jsonl") -> Store:
        """The store in a folder, its files being those of this pattern."""
        files = sorted(folder.glob(pattern))
        return cls(name, folder, files, sum(path.stat().st_size for path in files), messages)


def store(name: str, scale: float) -> Store:
    """A, B or C, at a part of the size that is quoted."""
    profile = _corpus.PROFILES[PROFILES[name]]
    sessions = max(1, int(profile.sessions * scale))
    mean_bytes = int(profile.mean_bytes * min(1, scale * profile.sessions))
    return _made(name, f"{name}-{scale}", PROFILES[name], sessions, mean_bytes)


def large(scale: float) -> Store:
    """One session of 2 GB."""
    return _made("large", f"large-{scale}", "large", 1, int(LARGE_BYTES * scale))


def sized(megabytes: int, scale: float) -> Store:
    """A store of so many megabytes, and of the same mix of sessions at any size: the same 20, again and again."""
    unit = _made("unit", f"unit-{scale}", "default", 20, int(MEGABYTES_A_UNIT * 1e6 * scale) // 20)
    copies = megabytes // MEGABYTES_A_UNIT
    folder = BASE / f"sized-{megabytes}-{scale}"
    if not folder.exists():
        part = folder.with_name(f".{folder.name}")
        shutil.rmtree(part, ignore_errors=True)
        for copy in range(copies):
            for path in unit.files:
                to = part / "sessions" / f"{copy}{path.parent.name}" / path.name
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, to)
        part.rename(folder)
    return Store.of(f"{megabytes * scale:g} MB", folder, unit.messages * copies)


def _made(name: str, folder: str, profile: str, sessions: int, mean_bytes: int) -> Store:
    corpus = _corpus.open_corpus(BASE / folder, profile=profile, sessions=sessions, mean_bytes=mean_bytes)
    return Store.of(name, corpus.folder, corpus.messages)
