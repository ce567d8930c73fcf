"""JSON in and out: the one place that knows what orjson refuses, and what happens then.

orjson takes no nesting beyond some depth, no lone surrogates, no infinite numbers, and no integers past 64 bits on the
way out. Session files hold all of these. What it refuses goes through `_json_iterative`, slower and without recursion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def loads(data: bytes) -> Any:  # noqa: ANN401  whatever stands in the JSON
    """Decode JSON as `JSON.parse` does, to any depth.

    Integers up to 64 bits are exact, larger ones doubles, and numbers beyond a double infinite. What is no UTF-8, and
    half a surrogate pair, becomes U+FFFD.

    Raises:
        ValueError: It is no JSON.
    """
    import orjson  # late, and so is the rest: a program that only lists sessions needs no JSON

    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        from . import _json_iterative

        return _json_iterative.decode(data.decode("utf-8", "replace"))


def loads_exact(data: bytes) -> Any:  # noqa: ANN401  whatever stands in the JSON
    """As `loads`, with whole numbers exact up to Python's own limit of 4,300 digits. Slower."""
    from . import _json_iterative

    return _json_iterative.decode(data.decode("utf-8", "replace"), exact=True)


def loads_list(data: bytes, parts: Callable[[], list[bytes] | None]) -> list[Any]:
    """Decode a list, which may be long; only those elements that orjson refuses are decoded slowly.

    Args:
        data: The list as JSON.
        parts: Gives the JSON of each of its elements, or None: then all of them are.
    """
    import orjson

    try:
        decoded: list[Any] = orjson.loads(data)
    except orjson.JSONDecodeError:
        each = parts()
        decoded = loads(data) if each is None else [loads(part) for part in each]
    return decoded


def encode(value: object) -> bytes:
    """One line of JSON, as session files have it.

    Infinite numbers and NaN become null, as `JSON.stringify` has it; half a surrogate pair is escaped.

    Args:
        value: Plain JSON values: dicts with text keys, lists, tuples, texts, numbers, booleans, None. An enum's member
            is written as its value, and a UUID as its text.

    Raises:
        TypeError: It is anything else.
        ValueError: It holds itself.
    """
    import orjson

    try:
        return orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        from . import _json_iterative

        return _json_iterative.encode(value).encode()


def encode_exact(value: object) -> bytes:
    """As `encode`, but what would not be read back as it is is refused.

    Raises:
        TypeError: It is no JSON value.
        ValueError: It holds itself, a number that is not finite, or half a surrogate pair.
    """
    from . import _json_iterative

    return _json_iterative.encode(value, exact=True).encode()


def dumps(value: object, *, escaped: bool = False) -> str:
    """One line of JSON that any parser takes.

    Args:
        value: As for `encode`.
        escaped: Escape all that is not printable ASCII, as for a terminal, which would act on control characters.
    """
    if escaped:
        from . import _json_iterative

        return _json_iterative.encode(value, escaped=True).replace("\x7f", "\\u007f")
    return encode(value).decode()
