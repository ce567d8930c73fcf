"""What the benchmarks share: stores of a given size, and who is there to read them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from . import stores
from .jobs import Field

if TYPE_CHECKING:
    from collections.abc import Callable

    from .stores import Store


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scale", type=float, default=1.0, help="size of the stores, 1 being the size that is quoted")


@pytest.fixture(scope="session")
def scale(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("--scale"))


@pytest.fixture(scope="session")
def is_full_size(scale: float) -> bool:
    """Whether times mean anything."""
    return scale >= 1


@pytest.fixture(scope="session")
def store(scale: float) -> Callable[[str], Store]:
    """Stores of the scale that was asked for, by name."""
    return partial(stores.store, scale=scale)


@pytest.fixture(scope="session")
def field(tmp_path_factory: pytest.TempPathFactory, is_full_size: bool) -> Field:
    return Field(tmp_path_factory.mktemp("field"), is_timed=is_full_size)
