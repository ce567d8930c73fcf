"""Where and when figures were taken, and of what."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .contest import ROOT
from .jobs import PROCESSORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interop.npm import Installed


@dataclass(frozen=True)
class Machine:
    """The surroundings of a run.

    Attributes:
        name: Processor, memory and system, in words.
        load: How many processes wanted to run in the minute before.
        time: When the run began.
        commit: Of the sources, with `-dirty` where they were changed since; `unknown` without Git.
        versions: Of what takes part, by name.
    """

    name: str
    load: float
    time: datetime
    commit: str
    versions: Mapping[str, str]

    @classmethod
    def here(cls) -> Self:
        """This machine, now."""
        system = f"{platform.system()} {platform.release()}"
        memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        return cls(
            name=f"{_processor()}, {PROCESSORS} processors, {memory_gb:.0f} GB, {system}",
            load=os.getloadavg()[0],
            time=datetime.now(UTC),
            commit=_commit(),
            versions={
                "Python": platform.python_version(),
                "orjson": metadata.version("orjson"),
                "rustc": _said_by("rustc", "--version").split()[1],
                **_locked("serde_json", "rayon"),
                **({"DuckDB": metadata.version("duckdb")} if _is_installed("duckdb") else {}),
            },
        )

    def with_node(self, pi: Installed | None) -> Self:
        """The same, with the version of the Node.js that runs pi."""
        if pi is None:
            return self
        return replace(
            self, versions={**self.versions, "Node.js": _said_by(str(pi.node), "--version").removeprefix("v")}
        )


def _processor() -> str:
    """The processor's model; Linux tells it here alone."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def _commit() -> str:
    try:
        return _said_by("git", "describe", "--always", "--dirty", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _said_by(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _locked(*crates: str) -> dict[str, str]:
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    versions = {package["name"]: package["version"] for package in packages}
    return {crate: versions[crate] for crate in crates}


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True
