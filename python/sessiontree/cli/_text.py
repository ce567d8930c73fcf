"""Text of unknown origin, made fit for one line of a terminal."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # inside emoji and Persian words; harmless


class _Escapes(dict[int, str]):
    """What `str.translate` is to put for each character, found out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if not character.isprintable() and character not in _JOINERS and unicodedata.category(character) != "Zs":
            character = character.encode("unicode_escape").decode("ascii")
        self[code] = character
        return character


_ESCAPES = _Escapes()


def visible(text: str) -> str:
    r"""The text with every character escaped that a terminal would act on or not show.

    Those are control and bidirectional characters, line separators, halves of surrogate pairs and what Unicode has not
    assigned; they come out as Python would write them (`\x1b`, `\u202e`).
    """
    return text.translate(_ESCAPES)


def one_line(text: str, limit: int) -> str:
    """The start of a text as one visible line, each run of white space made one blank.

    Args:
        text: Any text.
        limit: How many characters to look at, of a text that may be very long.
    """
    return visible(" ".join(text[:limit].split()))
