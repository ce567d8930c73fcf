"""Text of unknown origin, made fit for a terminal."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_JOINERS = "\u200c\u200d"  # inside emoji and Persian words; harmless
_EMOJI_STYLE = "\ufe0f"


class _Escapes(dict[int, str]):
    """What `str.translate` is to put for each character, found out once."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not self._is_harmless(character):
            character = character.encode("unicode_escape").decode("ascii")
        self[code] = character
        return character

    def _is_harmless(self, character: str) -> bool:
        try:
            character.encode(self._encoding)
        except UnicodeEncodeError:
            return False
        return character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"


_escapes = cache(_Escapes)


def encoding() -> str:
    """Standard output's encoding."""
    return sys.stdout.encoding or "utf-8"  # None for a StringIO that somebody put there


def visible(text: str) -> str:
    r"""The text with every character escaped that a terminal would act on or not show.

    Those are control and bidirectional characters, line separators, halves of surrogate pairs, what Unicode has not
    assigned and what standard output cannot encode; they come out as Python would write them (`\x1b`, `\u202e`).
    """
    return text.translate(_escapes(encoding()))


def one_line(text: str, limit: int) -> str:
    """The start of a text as one visible line, each run of white space made one blank.

    Args:
        text: Any text.
        limit: How many cells there are for it: of a text that may be very long, no more is looked at than fills them,
            unless it is mostly blanks and accents.
    """
    return visible(" ".join(text.lstrip()[: 4 * limit].split())[: 2 * limit])


def cells(text: str) -> int:
    """How many cells a visible text takes at most: some terminals join emoji into one, some do not."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def cut(text: str, size: int, *, keep_end: bool = False) -> str:
    """The text in at most `size` cells, with a mark where some of it is missing.

    Args:
        text: A visible text.
        size: How many cells, at least 1.
        keep_end: Keep its end, not its start.
    """
    if cells(text) <= size:
        return text
    mark = either("…", "~")
    return mark + _start(text[::-1], size - 1)[::-1] if keep_end else _start(text, size - 1) + mark


def wrapped(text: str, size: int) -> Iterator[str]:
    """The text in lines of at most `size` cells, broken at blanks where there are any; at least one line.

    Args:
        text: A visible text.
        size: How many cells, at least 2.
    """
    start = 0
    while True:
        end = _end(text, start, size)
        if end == len(text):
            yield text[start:]
            return
        blank = text.rfind(" ", start, end + 1)
        if blank > start and not text[start:blank].isspace():
            yield text[start:blank].rstrip()
            start = blank + 1
        else:
            yield text[start:end]
            start = end


def either(text: str, plain: str) -> str:
    """The text if standard output can encode it, else the plain one."""
    return text if visible(text) == text else plain


def _start(text: str, size: int) -> str:
    return text[: _end(text, 0, size)]


def _end(text: str, start: int, size: int) -> int:
    """Where those characters end that take at most `size` cells, counted from `start`."""
    if text.isascii():
        return min(start + size, len(text))
    for end in range(start, len(text)):
        size -= _cells(text[end])
        if size < 0:
            return end
    return len(text)


@cache
def _cells(character: str) -> int:
    if character == _EMOJI_STYLE:
        return 1  # makes what is before it twice as wide, on some
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
