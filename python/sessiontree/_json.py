"""JSON out: the one place that knows what orjson refuses."""

from __future__ import annotations

import json


def dumps(value: object, *, escaped: bool = False) -> str:
    """One line of JSON.

    Args:
        value: Plain JSON values.
        escaped: Escape all that is not printable ASCII, as for a terminal, which would act on control characters.

    Returns:
        JSON that any parser takes: infinite numbers do not occur in what this package computes, and what Python cannot
        encode (half a surrogate pair, as in the name of a file that is no UTF-8) is escaped.
    """
    import orjson  # late: a program that only lists sessions needs no JSON

    if not escaped:
        try:
            return orjson.dumps(value).decode()
        except TypeError:  # a lone surrogate
            pass
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")
