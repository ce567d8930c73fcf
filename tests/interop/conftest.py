"""The tests in here run when they are named (`pytest tests/interop`): they need npm, and install half a gigabyte."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interop import npm
from interop.files import Both
from interop.sides import Pi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    named = [(config.invocation_params.dir / arg.partition("::")[0]).resolve() for arg in config.args]
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[npm.Installed]:
    kept = os.environ.get("SESSIONTREE_INTEROP_DIR")
    base = Path(kept).absolute() if kept else tmp_path_factory.mktemp("npm")
    try:
        yield npm.install(base)
    except npm.UnavailableError as error:
        pytest.skip(str(error))
    finally:
        if not kept:
            shutil.rmtree(base)


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
