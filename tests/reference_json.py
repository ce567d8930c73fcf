"""A line's JSON values, exactly as `JSON.parse` takes them: stricter than `json`, and at any depth."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias, TypeGuard

Json: TypeAlias = dict[str, Any]


def _integer(digits: str) -> float:
    if len(digits) <= 20 and -(2**63) <= int(digits) < 2**64:
        return int(digits)
    return float(digits)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_JSON = json.JSONDecoder(parse_int=_integer, parse_constant=_refuse)
_CLOSING = {"[": "]", "{": "}"}
_SPACE = re.compile(r"[ \t\r]*")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def decode(line: bytes) -> tuple[list[object], bool]:
    """The JSON values on a line, and whether bytes of it had to be replaced.

    Raises:
        ValueError: The line holds anything else.
    """
    text = line.decode(errors="replace")
    replaced = text.encode() != line
    text = without_lone_surrogates(text)
    values, at = [], 0
    while at < len(text):
        value, at = _value(text, at)
        values.append(value)
        at = _after_space(text, at)
    return values, replaced


def without_lone_surrogates(text: str) -> str:
    """JSON text in which the escape of half a surrogate pair is that of U+FFFD."""
    return _ESCAPE.sub(lambda escape: r"\ufffd" if escape["lone"] else escape[0], text)


def _value(text: str, at: int) -> tuple[object, int]:
    """The value that starts at `at`, and where it ends."""
    try:
        return _JSON.raw_decode(text, at)
    except RecursionError:
        return _deep_value(text, at)


def _deep_value(text: str, at: int) -> tuple[object, int]:
    """The same for a value that nests too deep for `json`: lists and objects that are still open wait here.

    Of each, its closing bracket and what it holds so far are kept, keys and values of an object in turn.
    """
    waiting: list[tuple[str, list[Any]]] = []
    while True:
        if text[at : at + 1] in _CLOSING:
            waiting.append((_CLOSING[text[at]], []))
            at = _after_space(text, at + 1)
            if text[at : at + 1] != waiting[-1][0]:
                continue
            value, at = _closed(*waiting.pop()), at + 1
        else:
            value, at = _JSON.raw_decode(text, at)
        while waiting:
            closing, held = waiting[-1]
            held.append(value)
            at = _after_space(text, at)
            if text[at : at + 1] != closing:
                at = _after_separator(text, at, closing, held)
                break
            waiting.pop()
            value, at = _closed(closing, held), at + 1
        else:
            return value, at


def _closed(closing: str, held: list[Any]) -> object:
    if closing == "]":
        return held
    if len(held) % 2:
        raise ValueError("a key without a value")
    return dict(zip(held[::2], held[1::2], strict=True))


def _after_separator(text: str, at: int, closing: str, held: list[Any]) -> int:
    is_key = closing == "}" and len(held) % 2 == 1
    if text[at : at + 1] != (":" if is_key else ",") or (is_key and not isinstance(held[-1], str)):
        raise ValueError(f"unexpected character at {at}")
    at = _after_space(text, at + 1)
    if text[at : at + 1] == closing:
        raise ValueError(f"nothing after the separator before {at}")
    return at


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    assert space is not None
    return space.end()


def string(holder: Json, key: str) -> str | None:
    """A field that is a string; one of another type counts as absent."""
    value = holder.get(key)
    return value if isinstance(value, str) else None


def object_(holder: Json, key: str) -> Json:
    """A field that is an object; an empty one for any other."""
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
