"""The contexts of a whole store, against the simple way in Python, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import musts

if TYPE_CHECKING:
    from collections.abc import Callable

    from .jobs import Field
    from .stores import Store


def test_contexts(field: Field, store: Callable[[str], Store], is_full_size: bool) -> None:
    figures = field.contexts(store("A")).figures
    print(*figures.items(), sep="\n")
    assert musts.unmet(musts.of_contexts(figures), is_full_size) == []
