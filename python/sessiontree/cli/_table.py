"""Tables for the terminal: one line a row, cut to the width there is."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_GAP = "  "
_NARROWEST = 8
_NO_TERMINAL = 120


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is set.

    Attributes:
        title: Its head.
        right: Whether it is set to the right.
        share: At most this share of the width; 0 for what the others leave over.
    """

    title: str
    right: bool = False
    share: float = 1


def lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The table's lines, the head first, none wider than `width` cells.

    Args:
        columns: How to set the cells of a row.
        rows: The cells' texts, visible and without line breaks.
        width: Cells in a line.
    """
    head = [column.title for column in columns]
    widths = _widths(columns, [head, *rows], width)
    for row in [head, *rows]:
        cells = (_set(cell, size, column.right) for cell, size, column in zip(row, widths, columns, strict=True))
        yield _cut(_GAP.join(cells).rstrip(), width)


def width() -> int:
    """How many cells a line has: the terminal's or `COLUMNS`, else 120."""
    return shutil.get_terminal_size((_NO_TERMINAL, 24)).columns


def bold(text: str) -> str:
    """The text in bold, if standard output is a terminal that may show it."""
    styled = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[1m{text}\x1b[0m" if styled else text


def _widths(columns: Sequence[Column], rows: Iterable[Sequence[str]], width: int) -> list[int]:
    widest = [max(map(_width, cells)) for cells in zip(*rows, strict=True)]
    sizes = [
        min(size, max(_NARROWEST, int(width * column.share))) if column.share else 0
        for size, column in zip(widest, columns, strict=True)
    ]
    left = width - sum(sizes) - len(_GAP) * (len(columns) - 1)
    return [
        size if column.share else min(max(left, _NARROWEST), most)
        for size, most, column in zip(sizes, widest, columns, strict=True)
    ]


def _set(text: str, size: int, right: bool) -> str:
    text = _cut(text, size)
    padding = " " * (size - _width(text))
    return padding + text if right else text + padding


def _cut(text: str, size: int) -> str:
    return text if _width(text) <= size else set_cell_size(text, size - 1) + "…"


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
