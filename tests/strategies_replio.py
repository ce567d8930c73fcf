"""Replio sessions for hypothesis: plausible ones, odd ones, and ones that something has happened to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st

import strategies
from reference_replio import NOISE_TOOLS

if TYPE_CHECKING:
    from replio_support import Json

Values: TypeAlias = st.SearchStrategy[Any]


def pool(*usual: object, odd: tuple[object, ...] = (None, "", 5, 8.0, True, ["a"], {"b": [1, "c"]})) -> Values:
    """The usual values, and one time in five an odd one."""
    return st.sampled_from([*usual * len(odd) * 4, *odd * len(usual)])


# Values

SIGNS = "ab `>#*\n\r\t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u3000\ufeffé\U0001f680"
PHRASES = ["hello", "two words", "```", "\n````\n", "x" * 50, "… (truncated from 90 chars)", "\r\n"]
TEXTS = st.one_of(
    st.lists(st.sampled_from([*SIGNS, *PHRASES]), max_size=6).map("".join),
    st.sampled_from(PHRASES),
    st.text(max_size=4),
)

ANY: Values = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.integers(-3, 3), TEXTS),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(TEXTS, values, max_size=3)),
    max_leaves=6,
)

CONTENT = st.one_of(
    TEXTS, TEXTS, TEXTS, pool("hello"), st.just([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}, 5])
)
TIMES = pool("2031-03-04T05:06:07+00:00", "2031-03-04T05:06:08+00:00", "2031-03-04 05:06:09", odd=(None, "", 5, "soon"))
CALL_IDS = pool("c1", "c2", odd=(None, "", 5))
TOOLS = pool("grep", "read", *NOISE_TOOLS)
FUNCTIONS = st.one_of(
    st.fixed_dictionaries({}, optional={"name": TOOLS, "arguments": st.one_of(TEXTS, pool("{}"))}), pool({})
)
CALLS = st.one_of(
    st.fixed_dictionaries({"id": CALL_IDS}, optional={"type": st.just("function"), "function": FUNCTIONS}), pool({})
)
ANSWER: dict[str, Values] = {
    "thinking": st.one_of(TEXTS, pool("plan")),
    "model": pool("m"),
    "provider": pool("p"),
    "duration": pool(1.5, 0, 8.0, 3, odd=(None, 10**20)),
}
STARTS = pool(1, 2, 3, 9, odd=(None, -1, 0, True, 2.0, "2", 10**30))
BARE: list[Json] = [
    {"role": "command", "content": "/compact"},
    {"role": "command", "content": "/compact", "result": None},
]


def message(role: str, needed: dict[str, Values] | None = None, **others: Values) -> st.SearchStrategy[Json]:
    usual = {"content": CONTENT, "timestamp": TIMES, "id": pool("m1", "m2"), "odd": ANY}
    return st.fixed_dictionaries({"role": st.just(role), **(needed or {})}, optional=usual | others)


CALLER = message("assistant", {"tool_calls": st.one_of(st.lists(CALLS, min_size=1, max_size=3), pool([]))}, **ANSWER)
RESULT = message("tool", {"tool_call_id": CALL_IDS}, tool=TOOLS, analysis=st.one_of(TEXTS, pool("one line")))
MESSAGES: st.SearchStrategy[Json] = st.one_of(
    *(message("user"), message("assistant", None, **ANSWER), RESULT, message("system"), st.sampled_from(BARE)),
    message("command", result=st.one_of(TEXTS, pool("Summary")), compact_from=STARTS),
    st.fixed_dictionaries({}, optional={"role": pool("developer", "?"), "content": CONTENT}),
)
LOGS: st.SearchStrategy[list[Any]] = st.lists(
    st.one_of(st.tuples(MESSAGES), st.tuples(MESSAGES), st.tuples(CALLER, RESULT), st.tuples(pool(5))), max_size=6
).map(lambda parts: [message for part in parts for message in part])
"""Messages, some of them in pairs of a call and a result, and now and then something that is none."""

ERRORS = st.fixed_dictionaries({}, optional={"code": pool(0, 503, "E1"), "message": TEXTS, "timestamp": TIMES})


DOCUMENTS: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"messages": LOGS},
    optional={
        "name": pool("s", "other"),
        "created_at": TIMES,
        "updated_at": TIMES,
        "errors": st.one_of(st.lists(st.one_of(ERRORS, ERRORS, pool({})), max_size=3), st.none()),
        "permissions": st.one_of(st.lists(pool({"tool": "grep"}), max_size=2), st.none()),
        "parent_id": pool("ses_a"),
        "sub_sessions": st.one_of(st.lists(pool("sub_a", "sub_b"), max_size=3), st.none()),
        "role": ANY,
    },
)


def spelt(document: Json) -> bytes:
    """The document on one line: what stands in it is spelt as `json` spells it."""
    return json.dumps(document, ensure_ascii=False).encode()


# Bytes


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A document to which something has happened."""
    data = bytearray(
        draw(
            DOCUMENTS.map(
                lambda one: json.dumps(
                    one, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 2]))
                ).encode()
            )
        )
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["cut", "delete", "insert", "swap", "twice"])):
            case "cut":
                del data[at:]
            case "delete":
                del data[at : at + draw(st.integers(1, 8))]
            case "insert":
                data[at:at] = draw(st.sampled_from(INSERTS))
            case "swap" if at < len(data):
                data[at] = draw(st.integers(0, 255))
            case "twice":
                data[at:at] = data[max(0, at - 20) : at]
    return bytes(data)


INSERTS = [
    *[
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"\\",
        b"\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\\ud83d",
        b'"turns":[],',
    ],
    *[
        b'"messages":[],',
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"null",
        b"\xed\xa0\xbd",
        b"\xe2\x80\xa8",
        b"01",
        b"1.",
        b"//",
    ],
]

PIECES = st.one_of(
    strategies.objects(
        {"role": strategies.pool('"user"', '"tool"', '"command"')},
        {"content": strategies.STRINGS, "n": strategies.NUMBERS},
    ),
    strategies.pool('{"role":"assistant" , "content":null}'),
)
"""Spellings of messages, plain and odd ones."""
