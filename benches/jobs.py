"""Who does which job, and what each takes; their answers are compared first.

What cannot be had (no Node.js, no DuckDB) is not in the figures; `Field.absent` says why.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from interop import npm
from interop.installs import UnavailableError

from .answers import agree, compare_listings, compare_projects, sound
from .contest import ROOT, ROUNDS, Contestant, Figures, answer, contest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from .stores import Store

OURS = "sessiontree"
ONE_THREAD = "sessiontree, one thread"
AGAIN = "sessiontree, second listing"
OPEN = "sessiontree, opening alone"
OPEN_ONE_THREAD = "sessiontree, opening alone, one thread"
DECODED = "sessiontree, decoded"
FLOOR = "reading every byte"
FLOOR_ONE_THREAD = "reading every byte, one thread"
SERDE = "serde_json, rayon"
DUCKDB = "DuckDB, three columns"
PLAIN = "Python with orjson"
JSON = "Python with json"
PI = "pi 1.6.0"
OLD_PI = "pi 0.73.1"

RIVALS = (SERDE, DUCKDB, PLAIN, PI, OLD_PI)

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Outcome(NamedTuple):
    """What a contest gave.

    Attributes:
        figures: By contestant; of those that are there.
        compared: In how many sessions all of them were seen to agree.
    """

    figures: Mapping[str, Figures]
    compared: int


class Field:
    """The contestants that there are on this machine.

    Args:
        scratch: A folder for what they leave.
        is_timed: Whether times mean anything; else one round is enough.

    Attributes:
        absent: Why others are not there, by name.
    """

    def __init__(self, scratch: Path, *, is_timed: bool) -> None:
        self.absent: dict[str, str] = {}
        self._scratch = scratch
        self._is_timed = is_timed

    def _contest(self, contestants: Sequence[Contestant], rounds: int = ROUNDS) -> dict[str, Figures]:
        return contest(contestants, rounds if self._is_timed else 1)

    # Jobs

    def listing(self, store: Store, *, rounds: int = ROUNDS, rivals: Collection[str] = RIVALS) -> Outcome:
        """List a store: we, the floor, and these rivals."""
        folder = store.folder
        floors = [
            Contestant(FLOOR, [self._examples / "floor", folder, str(PROCESSORS)]),
            Contestant(FLOOR_ONE_THREAD, [self._examples / "floor", folder, "1"]),
        ]
        again = self._ours(AGAIN, "listing", folder, "--catalogue", self._scratch / f"catalogue-{folder.name}")
        ours = [
            self._ours(OURS, "listing", folder),
            self._ours(ONE_THREAD, "listing", folder, "--threads", "1"),
            again,
        ]
        others = [
            Contestant(SERDE, [self._examples / "serde_listing", folder]),
            *self._duckdb(folder),
            self._plain("listing", folder),
            *self._pi("listing", folder),
        ]
        others = [other for other in others if other.name in rivals]
        lines = sum(path.read_bytes().count(b"\n") for path in store.files)
        for floor in floors:
            assert answer(floor) == lines, floor.name
        compared = compare_listings(store, [*ours, again], others)  # its first answer leaves the catalogue
        return Outcome(self._contest([*floors, *ours, *others], rounds), compared)

    def opening(self, session: Path, *, rivals: Collection[str] = RIVALS) -> Outcome:
        """Open a session and build its context, we and these rivals; and open it alone."""
        if PI in rivals:  # which may rewrite what it opens
            session = Path(shutil.copy(session, self._scratch))
        ours = self._ours(OURS, "context", session)
        alone = [
            self._ours(OPEN, "opening", session),
            self._ours(OPEN_ONE_THREAD, "opening", session, "--threads", "1"),
        ]
        others = [self._plain("context", session), *self._pi("context", session)]
        others = [other for other in others if other.name in rivals]
        expected = answer(ours)
        for other in others:
            if other.name != OLD_PI:  # which knows no edits of a context
                assert answer(other) == expected, other.name
        return Outcome(self._contest([ours, *alone, *others]), 1)

    def contexts(self, store: Store) -> Outcome:
        """Build the context of every session of a store."""
        plain = self._plain("contexts", store.folder)
        ours = [self._ours(OURS, "contexts", store.folder), self._ours(DECODED, "decoded", store.folder)]
        # The simple way knows the newest version alone.
        paths = [str(info.path) for info in sound(store) if info.version == 3]
        expected = answer(plain)
        for one in ours:
            agree(one.name, answer(one), expected, paths)
        return Outcome(self._contest([*ours, plain]), len(paths))

    def replio_listing(self, project: Store) -> Outcome:
        """List a Replio project: we, the floor, and the simple ways in Python."""
        folder = project.folder
        floor = [self._examples / "floor", folder / ".replio/sessions"]
        floors = [
            Contestant(FLOOR, [*floor, str(PROCESSORS), "json"]),
            Contestant(FLOOR_ONE_THREAD, [*floor, "1", "json"]),
        ]
        ours = [
            self._ours(OURS, "replio_listing", folder),
            self._ours(ONE_THREAD, "replio_listing", folder, "--threads", "1"),
        ]
        others = self._plain_replio("listing", folder)
        rows = compare_projects(project, [*ours, *others])
        assert sum(messages for messages, *_ in rows.values()) == project.messages
        return Outcome(self._contest([*floors, *ours, *others]), len(project.files))

    def replio_previews(self, project: Store) -> Outcome:
        """Preview all sessions of a Replio project, one after the other."""
        ours = self._ours(OURS, "replio_previews", project.folder)
        others = self._plain_replio("previews", project.folder)
        compare_projects(project, [ours, *others])
        return Outcome(self._contest([ours, *others]), len(project.files))

    # Contestants

    def _ours(self, name: str, job: str, path: Path, *options: str | Path) -> Contestant:
        return Contestant(name, [sys.executable, "-m", "benches.contestants.ours", job, path, *options])

    def _plain(self, job: str, path: Path) -> Contestant:
        return Contestant(PLAIN, [sys.executable, "-m", "benches.contestants.plain", job, path])

    def _plain_replio(self, job: str, project: Path) -> list[Contestant]:
        command = [sys.executable, "-m", "benches.contestants.plain_replio"]
        return [
            Contestant(name, [*command, decoder, job, project]) for name, decoder in ((JSON, "json"), (PLAIN, "orjson"))
        ]

    def _duckdb(self, folder: Path) -> Iterator[Contestant]:
        if importlib.util.find_spec("duckdb") is None:
            self.absent[DUCKDB] = "the package duckdb is not installed: pip install '.[test]'"
        else:
            yield Contestant(DUCKDB, [sys.executable, "-m", "benches.contestants.duck", folder])

    def _pi(self, job: str, path: Path) -> Iterator[Contestant]:
        if self.pi is None:
            return
        for version, package in self.pi.packages.items():
            command: list[str | Path] = [self.pi.node, ROOT / "benches/contestants/pi.mjs", package, job, path]
            yield Contestant(f"pi {version}", command)

    @cached_property
    def pi(self) -> npm.Installed | None:
        """Where pi is; None where it cannot be had."""
        try:
            return npm.install(Path(os.environ.get("SESSIONTREE_INTEROP_DIR") or self._scratch))
        except UnavailableError as error:
            self.absent["pi"] = str(error)
            return None

    @cached_property
    def _examples(self) -> Path:
        """The folder of the contestants in Rust, built."""
        build = ["cargo", "build", "--release", "--quiet", "--locked", "--package", "sessiontree-core"]
        subprocess.run([*build, "--example", "floor", "--example", "serde_listing"], cwd=ROOT, check=True)
        return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release/examples"
