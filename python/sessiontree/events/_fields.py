"""Fields of what a stream says: one of the wrong type counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

NO_PATH = Path("-")
"""What a stream without a path is called where it has damage."""


def text(value: object) -> str | None:
    """The text, or None."""
    return value if isinstance(value, str) else None


def mapping(value: object) -> Mapping[str, Any]:
    """The object; an empty one where there is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """The list; an empty one where there is none."""
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]  of anything


def number(value: object) -> float | None:
    """The number, or None."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def whole(value: object) -> int | None:
    """The whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag(value: object) -> bool | None:
    """True or False, or None."""
    return value if isinstance(value, bool) else None


def texts(content: object) -> list[str]:
    """The texts of a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return [content]
    blocks = (mapping(block) for block in items(content))
    return [words for block in blocks if block.get("type") == "text" and (words := text(block.get("text"))) is not None]
