"""The tests in here run when they are named (`pytest tests/interop`).

They need npm and pip, and install half a gigabyte: in the folder that `SESSIONTREE_INTEROP_DIR` names, where a later
run finds it again, or for this run alone.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interop import npm, pypi
from interop.files import Both
from interop.installs import UnavailableError, one_at_a_time
from interop.replio_side import Projects, Replio
from interop.sides import Pi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    named = [(config.invocation_params.dir / arg.partition("::")[0]).resolve() for arg in config.args]
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where programs are installed."""
    kept = os.environ.get("SESSIONTREE_INTEROP_DIR")
    base = Path(kept).absolute() if kept else tmp_path_factory.mktemp("installed")
    yield base
    if not kept:
        shutil.rmtree(base)


@pytest.fixture(scope="session")
def installed(base: Path) -> npm.Installed:
    try:
        with one_at_a_time(base):
            return npm.install(base)
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def replio_python(base: Path) -> Path:
    """The Python that has Replio."""
    try:
        with one_at_a_time(base):
            return pypi.install(base)
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def replio(replio_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replio]:
    with Replio(replio_python, tmp_path_factory.mktemp("home")) as process:
        yield process


@pytest.fixture
def projects(replio: Replio, tmp_path: Path) -> Projects:
    """A project of Replio's for each side."""
    return Projects(replio, tmp_path)


@pytest.fixture(scope="session")
def start_pi(installed: npm.Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Pi]]:
    """Gives the process of a version; a new one when the last has ended."""
    running: dict[str, Pi] = {}

    def start(version: str) -> Pi:
        if version not in running or not running[version].is_running:
            end(version)
            running[version] = Pi(installed.node, installed.packages[version], tmp_path_factory.mktemp("home"))
        return running[version]

    def end(version: str) -> None:
        if version in running:
            running.pop(version).__exit__(None, None, None)

    yield start
    for version in [*running]:
        end(version)


@pytest.fixture
def pi(start_pi: Callable[[str], Pi]) -> Pi:
    """The pi whose behaviour ours is compared with."""
    return start_pi("1.6.0")


@pytest.fixture
def both(pi: Pi, tmp_path: Path) -> Both:
    """A file for each side."""
    return Both(pi, tmp_path)


@pytest.fixture(params=npm.PACKAGES)
def any_pi(request: pytest.FixtureRequest, start_pi: Callable[[str], Pi]) -> Pi:
    """Each version in turn."""
    return start_pi(request.param)
