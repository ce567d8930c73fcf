"""What the benchmarks share: stores of a given size, and the floor to hold times against."""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from sessiontree import _corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent

STORES = {"A": "default", "B": "small", "C": "large"}
"""2,000 sessions of 1 GB in all, 10,000 small ones, and one of 200 MB."""


class MakeStore(Protocol):
    """Makes the store of that name, or finds it where an earlier run left it."""

    def __call__(self, name: str, /) -> _corpus.Corpus:
        """The store, and what a reader must find in it."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scale", type=float, default=1.0, help="size of the stores, 1 being the size that is quoted")


@pytest.fixture(scope="session")
def is_full_size(request: pytest.FixtureRequest) -> bool:
    """Whether times mean anything."""
    return float(request.config.getoption("--scale")) >= 1


@pytest.fixture(scope="session")
def store(request: pytest.FixtureRequest) -> MakeStore:
    """Stores of the scale that was asked for."""
    scale = request.config.getoption("--scale")
    base = Path(os.environ.get("SESSIONTREE_BENCHES") or Path(tempfile.gettempdir()) / "sessiontree-benches")

    def make(name: str) -> _corpus.Corpus:
        profile = _corpus.PROFILES[STORES[name]]
        sessions = max(1, int(profile.sessions * scale))
        mean_bytes = int(profile.mean_bytes * min(1, scale * profile.sessions))
        folder = base / f"{name}-{scale}"
        return _corpus.open_corpus(folder, profile=STORES[name], sessions=sessions, mean_bytes=mean_bytes)

    return make


@pytest.fixture
def floor() -> Iterator[Callable[[Path, int], Callable[[], int]]]:
    """Makes a function that reads a folder's bytes and counts their LFs, in Rust, on so many threads."""
    build = ["cargo", "build", "--release", "--quiet", "--package", "sessiontree-core", "--example", "floor"]
    subprocess.run(build, cwd=ROOT, check=True)
    running: list[subprocess.Popen[str]] = []

    def start(folder: Path, threads: int) -> Callable[[], int]:
        target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
        command = [str(target / "release/examples/floor"), str(folder), str(threads)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)
        return partial(_round, process)

    yield start
    for process in running:
        process.communicate()


def _round(process: subprocess.Popen[str]) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())
