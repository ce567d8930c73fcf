"""Tables for the terminal: one line a row, cut to the width there is."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._output import styled
from ._text import cells, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = "  "
_LEAST_REST = 14
_NO_TERMINAL = 120
_LEAST_TEXT = 20


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is set.

    Attributes:
        title: Its head.
        right: Whether it is set to the right.
        share: At most this share of the width.
        rest: Whether it is the one that gets what the others leave over, and for which others are left out.
        keep_end: Whether of a text too long the end is shown, not the start.
    """

    title: str
    right: bool = False
    share: float = 1
    rest: bool = False
    keep_end: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a head, and a line a row, none wider than the terminal; nothing if there are no rows.

    Where that is too narrow, columns are left out, the last first.

    Args:
        columns: How to set the texts of a row; one of them is the `rest`.
        rows: Their texts, visible and without line breaks.
    """
    if not rows:
        return
    titles = [column.title for column in columns]
    widest = [max(map(cells, texts)) for texts in zip(titles, *rows, strict=True)]
    sizes = _sizes(columns, widest, width())
    print(styled(_line(columns, titles, sizes), "1"))
    for row in rows:
        print(_line(columns, row, sizes))


def width() -> int:
    """How many cells a line has: the terminal's or `COLUMNS`, else 120."""
    return shutil.get_terminal_size((_NO_TERMINAL, 0)).columns


def text_width() -> int:
    """How many cells a line of text gets: as `width`, but never so few that words no longer fit."""
    return max(width(), _LEAST_TEXT)


def _sizes(columns: Sequence[Column], widest: Sequence[int], width: int) -> list[int]:
    """How many cells each column gets: 0 if it is left out."""
    rest = next(number for number, column in enumerate(columns) if column.rest)
    sizes = [
        min(most, max(len(column.title), int(width * column.share)))
        for column, most in zip(columns, widest, strict=True)
    ]
    sizes[rest] = 0
    for last in reversed(range(len(columns))):
        left = width - sum(size + len(_GAP) for size in sizes if size)
        if left >= min(_LEAST_REST, widest[rest]):
            break
        sizes[last] = 0
    sizes[rest] = min(widest[rest], width - sum(size + len(_GAP) for size in sizes if size))
    return sizes


def _line(columns: Sequence[Column], row: Sequence[str], sizes: Sequence[int]) -> str:
    shown = (_set(text, size, column) for text, size, column in zip(row, sizes, columns, strict=True) if size)
    return _GAP.join(shown).rstrip()


def _set(text: str, size: int, column: Column) -> str:
    text = cut(text, size, keep_end=column.keep_end)
    padding = " " * (size - cells(text))
    return padding + text if column.right else text + padding
