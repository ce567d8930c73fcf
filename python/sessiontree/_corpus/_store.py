"""Stores on disk: made whole or not at all, known by their manifest, removed without touching anything else."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ._plan import Plan

if TYPE_CHECKING:
    from ._session import File

OnProgress: TypeAlias = Callable[[int, int], object]

_MANIFEST = "corpus.json"
_MADE_BY = "sessiontree._corpus"


@dataclass(frozen=True)
class Corpus:
    """A store that was made, and what a reader must find in it.

    Attributes:
        folder: The agent folder; the sessions are in its `sessions/`.
        sessions: Files written.
        listed: Those that are sessions; the others are empty or have no header.
        bytes: Their size, all files together.
        messages: `message_count`, summed over the listed.
        damaged: Listed sessions whose `damage_count` is not 0.
    """

    folder: Path
    sessions: int
    listed: int
    bytes: int
    messages: int
    damaged: int


def write_corpus(
    folder: Path,
    *,
    profile: str = "default",
    sessions: int | None = None,
    mean_bytes: int | None = None,
    seed: int = 1,
    damage: bool = True,
    on_progress: OnProgress | None = None,
) -> Corpus:
    """Make a sample store, in place of an older one if there is one.

    It is made beside the folder and moved there when it is whole: what is interrupted leaves nothing behind. The same
    options give the same bytes and file times.

    Args:
        folder: The agent folder to make. What is there must be a sample store, or empty.
        profile: A name in `PROFILES`.
        sessions: How many files; None is the profile's number.
        mean_bytes: Their mean size, from 20 KB up met within a few percent (no file is below some 2 KB); None is the
            profile's.
        seed: Another seed makes another store.
        damage: Whether one file in twelve has a fault.
        on_progress: Called with (files written, files in all) after each file. What it raises ends the work.

    Raises:
        FileExistsError: Something else is in the folder.
        ValueError: There is no such profile, or a number is below 1.
    """
    return _make(folder.absolute(), Plan.of(profile, sessions, mean_bytes, seed, damage), on_progress)


def open_corpus(
    folder: Path,
    *,
    profile: str = "default",
    sessions: int | None = None,
    mean_bytes: int | None = None,
    seed: int = 1,
    damage: bool = True,
    on_progress: OnProgress | None = None,
) -> Corpus:
    """Give the sample store in a folder if it was made with these options (see `write_corpus`), else make it anew.

    Only the manifest is looked at: what was changed in the store since it was made stays as it is.

    Raises:
        FileExistsError: Something else is in the folder.
        ValueError: There is no such profile, or a number is below 1.
    """
    plan = Plan.of(profile, sessions, mean_bytes, seed, damage)
    manifest = _manifest(folder)
    if manifest is not None and manifest.get("options") == asdict(plan):
        return Corpus(folder.absolute(), **manifest["totals"])
    return _make(folder.absolute(), plan, on_progress)


def remove_corpus(folder: Path) -> bool:
    """Delete a sample store; tell whether there was one. Anything else, a link to one too, is left alone."""
    if _manifest(folder) is None:
        return False
    with _scratch(folder) as scratch:
        folder.rename(scratch / "old")
    return True


def _make(folder: Path, plan: Plan, on_progress: OnProgress | None) -> Corpus:
    _check_replaceable(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(folder) as scratch:
        new = scratch / "new"
        corpus = Corpus(folder, 0, 0, 0, 0, 0)
        for file in plan.files():
            corpus = _write(new / "sessions", file, corpus)
            if on_progress is not None:
                on_progress(corpus.sessions, plan.sessions)
        totals = asdict(corpus)
        del totals["folder"]
        manifest = {"made_by": _MADE_BY, "options": asdict(plan), "totals": totals}
        (new / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        _check_replaceable(folder)
        if folder.exists():
            folder.rename(scratch / "old")
        new.rename(folder)
    return corpus


def _write(sessions: Path, file: File, corpus: Corpus) -> Corpus:
    """Write one more file; give the totals with it."""
    path = sessions / file.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.data)
    time_ns = file.time_ms * 1_000_000
    os.utime(path, ns=(time_ns, time_ns))
    return Corpus(
        corpus.folder,
        sessions=corpus.sessions + 1,
        listed=corpus.listed + file.is_listed,
        bytes=corpus.bytes + len(file.data),
        messages=corpus.messages + file.messages,
        damaged=corpus.damaged + file.is_damaged,
    )


def _manifest(folder: Path) -> dict[str, Any] | None:
    """What the store's manifest says; None where there is none of ours, and behind a link."""
    if folder.is_symlink():
        return None
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_bytes())
        return manifest if manifest["made_by"] == _MADE_BY else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _check_replaceable(folder: Path) -> None:
    """Raise FileExistsError unless nothing is there, or an empty folder, or a store with its manifest."""
    empty = not folder.is_symlink() and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir())))
    if not empty and _manifest(folder) is None:
        raise FileExistsError(errno.EEXIST, "is no sample store: expected one, or an empty folder", str(folder))


@contextmanager
def _scratch(folder: Path) -> Generator[Path, None, None]:
    """A folder beside `folder`, deleted afterwards with all that is in it.

    Before Python 3.11.8 `TemporaryDirectory`, where it may not delete, changes the mode of files that links point to.
    """
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)
