"""JSON without recursion, to any depth: containers that are open stand on a stack."""

from __future__ import annotations

import json
import re
from enum import Enum
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGERS = range(-(2**63), 2**64)
_LONGEST_INTEGER = 20
_MOST_DIGITS = 4300
"""How many digits of a whole number Python reads and writes by itself: the time grows with their square."""


def decode(text: str, *, exact: bool = False) -> Any:  # noqa: ANN401
    """Decode JSON; half a surrogate pair becomes U+FFFD.

    Args:
        text: The JSON.
        exact: Whole numbers are, however long; otherwise those beyond 64 bits are doubles.

    Raises:
        ValueError: It is no JSON.
    """
    root: list[Any] = []
    stack: list[list[Any] | dict[str, Any]] = [root]
    keys: list[str] = []
    at = _skip(text, 0)
    while True:
        opened: list[Any] | dict[str, Any] | None = None
        mark = text[at : at + 1]
        if mark == "{":
            opened = {}
        elif mark == "[":
            opened = []
        value: Any = opened
        at = _skip(text, at + 1) if opened is not None else at
        if opened is None:
            value, at = _scalar(text, at, exact=exact)
        _put(stack[-1], keys, value)
        if opened is not None and text[at : at + 1] != ("}" if mark == "{" else "]"):
            stack.append(opened)
            at = _key(text, at, keys) if mark == "{" else at
            continue
        at = _skip(text, at + 1 if opened is not None else at)
        at = _close(text, at, stack, keys)
        if len(stack) == 1:
            if at < len(text):
                raise _flaw("more stands after the value", at)
            return root[0]


def _close(text: str, at: int, stack: list[Any], keys: list[str]) -> int:
    """Passes the ends of containers, and the comma that announces another value."""
    while len(stack) > 1:
        in_object = isinstance(stack[-1], dict)
        mark = text[at : at + 1]
        at = _skip(text, at + 1)
        if mark == ",":
            return _key(text, at, keys) if in_object else at
        if mark != ("}" if in_object else "]"):
            raise _flaw("expected ',' or the end of a list or object", at)
        stack.pop()
    return at


def _put(container: list[Any] | dict[str, Any], keys: list[str], value: object) -> None:
    if isinstance(container, dict):
        container[keys.pop()] = value
    else:
        container.append(value)


def _key(text: str, at: int, keys: list[str]) -> int:
    if text[at : at + 1] != '"':
        raise _flaw("expected a key in quotes", at)
    key, at = _string(text, at)
    keys.append(key)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise _flaw("expected ':'", at)
    return _skip(text, at + 1)


def _scalar(text: str, at: int, *, exact: bool) -> tuple[Any, int]:
    mark = text[at : at + 1]
    if mark == '"':
        return _string(text, at)
    if mark in _LITERALS:
        word, value = _LITERALS[mark]
        if text.startswith(word, at):
            return value, at + len(word)
    elif found := _NUMBER.match(text, at):
        return _number(found, exact=exact), found.end()
    raise _flaw("expected a value", at)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if not found:
        raise _flaw("a string without its end, or with a control character", at)
    # The standard library's decoder takes a single string apart without recursion.
    return _SURROGATE.sub("\ufffd", json.loads(found.group())), found.end()


def _number(found: re.Match[str], *, exact: bool) -> float:
    text = found.group()
    if found[1] is None and found[2] is None:
        if exact and len(text) <= _MOST_DIGITS:
            return int(text)
        if len(text) <= _LONGEST_INTEGER and (whole := int(text)) in _INTEGERS:
            return whole
    return float(text)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _flaw(what: str, at: int) -> ValueError:
    return ValueError(f"{what} (column {at + 1})")


def _quoted_exactly(text: str) -> str:
    if found := _SURROGATE.search(text):
        raise ValueError(f"half a surrogate pair, U+{ord(found.group()):04X}: expected text")
    return encode_basestring(text)


def _quoted(text: str) -> str:
    return encode_basestring_ascii(text) if _SURROGATE.search(text) else encode_basestring(text)


def encode(value: object, *, escaped: bool = False, exact: bool = False) -> str:
    """Encode plain JSON values.

    Args:
        value: Dicts with text keys, lists, tuples, texts, numbers, booleans, None.
        escaped: Escape all that is not ASCII; otherwise only half a surrogate pair is.
        exact: Refuse what no reader would get back as it is; otherwise infinite numbers and NaN become null.

    Raises:
        TypeError: It is anything else.
        ValueError: It holds itself; or, with `exact`, a number that is not finite, or half a surrogate pair.
    """
    quoted = encode_basestring_ascii if escaped else _quoted_exactly if exact else _quoted
    parts: list[str] = []
    stack: list[tuple[Iterator[tuple[object, object, bool]], int, str]] = []
    within: set[int] = set()
    while True:
        members = _members(value)
        if members is not None:
            if id(value) in within:
                raise ValueError("the value holds itself")
            within.add(id(value))
            is_object = isinstance(value, dict)
            parts.append("{" if is_object else "[")
            stack.append((members, id(value), "}" if is_object else "]"))
        else:
            parts.append(_scalar_text(value, quoted, exact=exact))
        while stack:
            members, identity, end = stack[-1]
            try:
                key, value, is_first = next(members)
            except StopIteration:
                parts.append(end)
                within.discard(identity)
                stack.pop()
                continue
            parts.append("" if is_first else ",")
            if end == "}":
                if not isinstance(key, str):
                    raise TypeError(f"a key is {key!r}: expected a text")
                parts.append(quoted(key) + ":")
            break
        else:
            return "".join(parts)


def _members(value: object) -> Iterator[tuple[object, object, bool]] | None:
    """Key, value, and whether it is the first, of a container; None of any other value. A list's keys mean nothing."""
    if isinstance(value, dict):
        return _numbered(cast("dict[object, object]", value).items())
    return _numbered(enumerate(cast("list[object]", value))) if isinstance(value, (list, tuple)) else None


def _numbered(pairs: Iterable[tuple[object, object]]) -> Iterator[tuple[object, object, bool]]:
    for number, (key, value) in enumerate(pairs):
        yield key, value, number == 0


def _scalar_text(value: object, quoted: Callable[[str], str], *, exact: bool) -> str:
    if isinstance(value, Enum):
        return _scalar_text(value.value, quoted, exact=exact)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, UUID):
        return quoted(str(value))
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if value - value == 0:
            return float.__repr__(value)
        if exact:
            raise ValueError(f"{value!r}: expected a finite number")
        return "null"
    raise TypeError(f"not a JSON value: {type(value).__name__}")
