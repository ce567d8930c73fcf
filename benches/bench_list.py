"""Listing a store, against all others, in one run.

pytest benches                      the sizes that are quoted; writes 1.4 GB of stores on the first run
pytest benches --scale 0.02         a look whether it still works
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from . import musts

if TYPE_CHECKING:
    from collections.abc import Callable

    from .jobs import Field
    from .stores import Store


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_list(name: str, field: Field, store: Callable[[str], Store], is_full_size: bool) -> None:
    figures = field.listing(store(name)).figures
    print(*figures.items(), sep="\n")
    assert musts.unmet(musts.of_listing(name, figures), is_full_size) == []
