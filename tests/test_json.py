"""JSON that orjson refuses, in and out; the standard library is the oracle where it does not recurse."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sessiontree import _json, _json_iterative

DEPTH = 100_000


def values(floats: st.SearchStrategy[float]) -> st.SearchStrategy[object]:
    return st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | floats | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )


@given(values(st.floats(allow_nan=False, allow_infinity=False)), st.sampled_from([None, 1]))
def test_the_iterative_decoder_reads_what_the_standard_library_writes(value: object, indent: int | None) -> None:
    assert _json_iterative.decode(json.dumps(value, indent=indent)) == value


@given(values(st.floats()), st.booleans())
def test_the_standard_library_reads_what_the_iterative_encoder_writes(value: object, escaped: bool) -> None:
    text = _json_iterative.encode(value, escaped=escaped)
    assert text.isascii() or not escaped
    assert json.loads(text) == json.loads(json.dumps(value), parse_constant=lambda _: None)


@given(st.text('[]{}:,"\\ a1.-e+tnu0', max_size=12))
def test_the_iterative_decoder_refuses_what_the_standard_library_refuses(text: str) -> None:
    def refused(decode: Any) -> bool:  # noqa: ANN401
        try:
            decode(text)
        except ValueError:
            return True
        return False

    assert refused(_json_iterative.decode) == refused(json.loads)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1e400", math.inf),
        (b"-1e400", -math.inf),
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"18446744073709551616", float(2**64)),
        (b"[1e400,18446744073709551616,-9223372036854775809]", [math.inf, float(2**64), float(-(2**63) - 1)]),
        (b"[1e400," + b"9" * 400 + b"]", [math.inf, math.inf]),
        (rb'["\ud83d","\ude00","\ud83d\ude00"]', ["\ufffd", "\ufffd", "\U0001f600"]),
        (b'"\xff"', "\ufffd"),
    ],
)
def test_numbers_and_texts_decode_as_json_parse_decodes_them(text: bytes, value: object) -> None:
    found = _json.loads(text)
    assert (found, repr(found)) == (value, repr(value))


def test_depth_is_no_limit_either_way() -> None:
    text = b"[" * DEPTH + b'{"a":1e400}' + b"]" * DEPTH
    value = _json.loads(text)
    assert _json.encode(value) == text.replace(b"1e400", b"null")


def test_only_the_odd_elements_of_a_list_are_decoded_slowly() -> None:
    parts = [b'{"a":1}', b"1e400", rb'"\ud83d"']
    assert _json.loads_list(b"[" + b",".join(parts) + b"]", lambda: parts) == [{"a": 1}, math.inf, "\ufffd"]
    assert _json.loads_list(b"[1]", list) == [1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\ud83d", b'"\\ud83d"'),
        ([math.nan, math.inf, 2**70], b"[null,null,1180591620717411303424]"),
        ({"a": (1, "\x7f\u2028")}, '{"a":[1,"\x7f\u2028"]}'.encode()),
    ],
)
def test_what_orjson_refuses_is_written(value: object, text: bytes) -> None:
    assert _json.encode(value) == text


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1, 2}}, b"bytes", object(), ["\ud83d", {None: 1}]])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        _json.encode(value)


def test_what_holds_itself_is_refused() -> None:
    value: list[object] = ["\ud83d"]
    value.append({"again": value})
    with pytest.raises(ValueError, match="holds itself"):
        _json.encode(value)


def test_a_terminal_is_sent_nothing_that_it_would_act_on() -> None:
    text = _json.dumps({"a": "\x1b[31m\x7f\u0085é"}, escaped=True)
    assert text.isascii()
    assert text.isprintable()
    assert json.loads(text) == {"a": "\x1b[31m\x7f\u0085é"}
