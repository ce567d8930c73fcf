"""Session files for hypothesis: plausible ones, odd ones, and ones that something has happened to.

Everything is made of pieces of text, not of Python values, so that spellings can be odd too.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Text: TypeAlias = st.SearchStrategy[str]
"""Strategies for pieces of JSON text."""

EXAMPLES = int(os.environ.get("SESSIONTREE_FUZZ", "200"))
"""How many files each test looks at."""

ODD = ("null", "true", "0", "-1.5", '""', '"text"', "[]", "{}", '[null,{"a":[[]]}]', "1e400")


def pool(*usual: str, odd: tuple[str, ...] = ODD) -> Text:
    """The usual texts, and one time in five an odd one."""
    return st.sampled_from([*usual * len(odd) * 4, *odd * len(usual)])


# Values

STRINGS = st.one_of(
    pool(
        '"hello"',
        '"two words"',
        odd=(*ODD, '" "', r'"\ud83d"', r'"\ud83d\ude00"', r'"\u0000"', '"\u2028"', '"a\ufeff"'),
    ),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.text(st.characters(exclude_categories=()), max_size=4).map(json.dumps),
)

TIMES = pool(
    *('"2026-01-05T10:00:00.000Z"', '"2026-01-05T10:00:01.000Z"', '"2026-01-05T09:59:59.999Z"', '"2026-01-05"'),
    odd=(
        *(*ODD, '"2026"', '"2026-01"', '"+002026-01-05"', '"-000001-01-01"', '"2026-02-29"', '"2026-13-01"'),
        *('"2026-01-05T24:00:00Z"', '"2026-01-05T24:00:01Z"', '"2026-01-05T10:00:60Z"', '"2026-01-05T10:00"'),
        *('"2026-01-05T10:00:00.123456789Z"', '"2026-01-05T10:00:00.1234567890Z"', '"2026-01-05 10:00:00Z"'),
        *('"0000-12-31T23:59:59-00:01"', '"9999-12-31T23:59:59.999-00:01"', '"+010000-01-01T00:00:00+00:01"'),
        *('"2026-01-05T10:00:00+14:30"', '"2026-01-05T10:00:00+24:00"', '"2026-01-05Z"', r'"2026-01-0\u0035"'),
    ),
)

MILLISECONDS = pool(
    *("1767607200000", "1767607260000", "1767607200000.75", "1767607199e3", "1767607260"),
    odd=(
        *ODD,
        '"1767607260000"',
        "-1",
        "0.5",
        "253402300799999",
        "253402300800000",
        "-62135596800000",
        "-62135596800000.5",
        "1e18",
    ),
)

NUMBERS = pool(
    *("0", "1", "15", "0.1", "0.25", "1e3", "123456789"),
    odd=(
        *(*ODD, "-0", "-0.0", "5e-324", "1e-400", "1e308", "1.7976931348623157e308", "-1e400", '"30"', "false"),
        *("9007199254740993", "18446744073709551615", "18446744073709551616", "9" * 25, "1" + "0" * 400),
    ),
)


@st.composite
def objects(draw: st.DrawFn, needed: dict[str, Text], others: dict[str, Text] | None = None) -> str:
    """An object with what is needed and some of the others, most of the time spelt plainly."""
    others = others or {}
    members = list(draw(st.fixed_dictionaries(needed, optional=others)).items())
    spelling = draw(st.sampled_from(["plain"] * 16 + ["shuffled", "twice", "escaped", "spaced"]))
    if spelling == "shuffled":
        members = draw(st.permutations(members))
    elif spelling == "twice":
        key, value = draw(st.sampled_from(sorted({**needed, **others}.items())))
        members.insert(draw(st.integers(0, len(members))), (key, draw(value)))
    elif spelling == "escaped":
        members = [(f"\\u{ord(key[0]):04X}{key[1:]}", value) for key, value in members]
    colon, comma = ("\t: ", " ,\r") if spelling == "spaced" else (":", ",")
    return "{" + comma.join(f'"{key}"{colon}{value}' for key, value in members) + "}"


def lists(items: Text) -> Text:
    return st.lists(items, max_size=3).map(lambda texts: f"[{','.join(texts)}]")


# Entries

TOKENS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
COST = objects({"total": NUMBERS}, dict.fromkeys(TOKENS[:4], NUMBERS))
USAGE = objects({"input": NUMBERS, "cost": st.one_of(COST, NUMBERS)}, dict.fromkeys(TOKENS[1:], NUMBERS))
ODD_USAGE = st.one_of(USAGE, objects({}, dict.fromkeys(TOKENS, NUMBERS)), pool("{}"))
HELD_USAGE = st.one_of(ODD_USAGE, objects({"usage": ODD_USAGE}, {"input": NUMBERS}))
MODEL_USAGE = st.one_of(
    USAGE,
    lists(HELD_USAGE),
    objects({"fast": HELD_USAGE, "slow": HELD_USAGE}, {r"\ud800": HELD_USAGE, r"\ufffd": HELD_USAGE}),
    pool("{}"),
)

CALL_IDS = pool('"call_1"', '"call_2"')
TOOL_CALLS = objects(
    {"type": st.just('"toolCall"'), "id": CALL_IDS},
    {"name": pool('"read"'), "arguments": st.one_of(objects({"path": STRINGS}, {"limit": NUMBERS}), NUMBERS)},
)
TEXT_BLOCKS = pool(
    *('{"type":"text","text":"one"}', '{"type":"text","text":"two"}', '{"type":"toolCall","name":"read"}'),
    odd=(
        *(*ODD, '{"type":"text"}', '{"type":"text","text":""}', '{"type":"text","text":null}', '{"text":"no type"}'),
        *(
            r'{"type":"t\u0065xt","text":"\udc00"}',
            '{"type":"image","text":"no"}',
            '{"type":"text","type":3,"text":"x"}',
        ),
    ),
)
BLOCKS = st.one_of(TEXT_BLOCKS, TOOL_CALLS)
NAMES = pool('"acme"', '"other"')
RESPONSES = pool('"r1"', '"r2"')
CONTENT = st.one_of(STRINGS, lists(BLOCKS))
NAMED = {"provider": NAMES, "model": NAMES, "responseId": RESPONSES}

ROLES = pool(
    *('"user"', '"assistant"', '"toolResult"', '"system"', '"custom"', '"bashExecution"', '"hookMessage"'),
    odd=(*ODD, r'"hook\u004dessage"', '"branchSummary"', '"robot"'),
)

ANSWERS = {"toolCallId": CALL_IDS, "toolName": pool('"read"'), "isError": pool("true", "false")}

MESSAGES = st.one_of(
    objects({"role": pool('"user"', odd=('"user"', r'"\u0075ser"')), "content": CONTENT}, {"timestamp": MILLISECONDS}),
    objects(
        {"role": st.just('"assistant"'), "content": CONTENT, "usage": ODD_USAGE, **NAMED},
        {"timestamp": MILLISECONDS, "stopReason": pool('"stop"')},
    ),
    objects(
        {"role": st.just('"toolResult"'), "details": st.one_of(objects({"modelUsage": MODEL_USAGE}), pool("{}"))},
        {"content": CONTENT, "timestamp": MILLISECONDS, "usage": ODD_USAGE, "responseId": RESPONSES, **ANSWERS},
    ),
    objects({"role": st.just('"system"'), "content": CONTENT}, {"timestamp": MILLISECONDS}),
    objects({"role": ROLES, "content": CONTENT}, {"timestamp": MILLISECONDS, "command": STRINGS, **NAMED}),
    objects({}, {"role": ROLES, "content": pool("[]"), "usage": ODD_USAGE}),
    pool("{}"),
)

TYPES = pool(
    *('"message"', '"model_change"', '"thinking_level_change"', '"compaction"', '"branch_summary"', '"custom"'),
    *('"custom_message"', '"label"', '"session_info"', '"usage"', '"context_edit"'),
    odd=(*ODD, '"session"', '"title"', r'"mess\u0061ge"', '"Message"'),
)

IDS = st.one_of(
    st.integers(0, 12).map('"e{}"'.format),
    pool('"e1"', odd=(*ODD, r'"\u00651"', r'"\ud800"', r'"\udfff"', '"\ufffd"', '"é"', '"unknown"')),
)


SESSION_NAMES = st.one_of(STRINGS, st.sampled_from(['"  named "', r'" \u001c\u0085\u3000x\u2029"', '"\u200bx\ufeff"']))


INDICES = pool(*map(str, range(1, 9)), odd=(*ODD, "-1", "2.0", "3e0", "1.5", "-0", "18446744073709551616", '"1"'))
REPLACEMENTS = st.one_of(pool("null"), objects({"content": CONTENT}, {"role": ROLES}))

SYSTEM_MESSAGES = st.one_of(objects({"role": st.just('"system"'), "content": CONTENT}), MESSAGES)


def payloads(target: Text) -> dict[str, tuple[dict[str, Text], dict[str, Text]]]:
    """What entries of a type have, and may have, next to their links; `target` is for ids of other entries."""
    return {
        "model_change": ({"provider": NAMES, "modelId": NAMES}, {}),
        "thinking_level_change": ({"thinkingLevel": pool('"low"', '"high"')}, {}),
        "compaction": (
            {"summary": STRINGS, "firstKeptEntryId": target, "firstKeptEntryIndex": INDICES},
            {
                "tokensBefore": NUMBERS,
                "details": pool("{}"),
                "fromHook": pool("true"),
                "systemMessage": SYSTEM_MESSAGES,
            },
        ),
        "branch_summary": (
            {"summary": STRINGS, "fromId": target},
            {"details": pool("{}"), "fromHook": pool("false"), "usage": ODD_USAGE},
        ),
        "custom": ({"customType": NAMES}, {"data": pool("{}"), "content": CONTENT}),
        "custom_message": ({"customType": NAMES, "content": CONTENT, "display": pool("true")}, {"details": pool("{}")}),
        "label": ({"targetId": target}, {"label": STRINGS}),
        "context_edit": ({"targetId": target, "replacement": REPLACEMENTS}, {}),
        "usage": ({"kind": NAMES, "usage": ODD_USAGE, **NAMED}, {"note": STRINGS}),
        "session_info": ({"name": SESSION_NAMES}, {}),
    }


def entries(name: Text, parent: Text, target: Text = IDS) -> Text:
    """Entries of all types under these ids; `target` is for what they say of others."""
    links = {"id": name, "parentId": parent, "timestamp": TIMES}
    messages = objects({"type": st.just('"message"'), **links, "message": MESSAGES}, {"responseId": RESPONSES})
    others = st.one_of(
        objects({"type": pool('"usage"', '"compaction"', '"branch_summary"'), **links, "usage": ODD_USAGE, **NAMED}),
        objects({"type": st.just('"session_info"'), **links, "name": SESSION_NAMES}),
        *(
            objects({"type": st.just(f'"{kind}"'), **links, **needed}, optional)
            for kind, (needed, optional) in payloads(target).items()
        ),
        objects({"type": TYPES}, {**links, "message": MESSAGES, "usage": ODD_USAGE, "name": STRINGS, **NAMED}),
    )
    return st.booleans().flatmap(lambda is_message: messages if is_message else others)


HEADERS = objects(
    {
        "type": st.just('"session"'),
        "id": pool('"session-1"', '"session-2"', odd=('""', r'"\ud800"', '"é"')),
        "version": pool(
            *("3", "3", "2", "1"),
            odd=(*ODD, "0", "-1", "1.9", "2.5", "3.0", "99", "1E0", '"3"', "9007199254740993", "-1e400"),
        ),
        "timestamp": TIMES,
    },
    {"cwd": pool('"/home/user"', '""'), "parentSession": pool('"/home/user/old.jsonl"', '"a//b/./c"', '""')},
)


# Lines

JUNK = st.sampled_from(
    [
        *(b"42", b"[]", b"null", b'"text"', b"{}", b'{"a":1}', b'{"id":"x"}', b'{"type":"x"}', b'{"id":""}'),
        *(b'{}{"type":"session","id":"s"}', b'{"a":1} {"type":"session","id":"s"}', b'{"type":"session"}{"id":"x"}'),
        *(b'{"type":"message"', b'{"type":"custom"} x', b"NaN", b'{"type":"x","y":NaN}', b'{"type":"x","y":01}'),
        *(
            b'{"type":"x","y":"\t"}',
            b'{"type":"x",}',
            b'\xef\xbb\xbf{"type":"x"}',
            b'{"type":"x"}\v',
            b'{"type":"x"}\xc2\xa0',
        ),
        *(b'{"type":"x","y":"\xff\xe2\x82\xf0\x9f\x98"}', b'{"type":"x","y":"\xed\xa0\x80"}', b'{"type":"x"}\xff'),
        *(b'{}{"type":"x"}', b'{"type":"x"} \t{}', b'{"type":"x"}\0{"type":"y"}', b'{"type":"x"}[]', b"{}{}"),
        *(b'{"id":"d","d":%s}' % (b"[" * 3000 + b"]" * 3000), b'{"id":"d","d":%s}' % (b'{"d":' * 3000 + b"]" * 3000)),
        *(b'{"type":"session"}', b'{"type":"session","id":""}', b'{"type":"title","title":"t"}', b"\0", b"\0 \0"),
    ]
)

ENDS = st.sampled_from([b"\n"] * 20 + [b"\r\n", b"\n\n", b" \t\r\n", b"\n\0", b"\0 \0\n", b"", b" ", b"\r"])


@st.composite
def entry_lines(draw: st.DrawFn) -> bytes:
    """Lines of entries that mostly hang together: each from the one before it, or from an earlier one."""
    size = draw(st.integers(0, 15))
    parts: list[bytes] = []
    count = 0
    for kind in draw(st.lists(st.sampled_from("nnnnnnnnbboj"), min_size=size, max_size=size)):
        if kind == "j":
            line = draw(JUNK)
        elif kind == "o":
            line = draw(entries(IDS, IDS)).encode()
        else:
            parent = count - (1 if kind == "n" else draw(st.integers(1, 4)))
            links = st.just(f'"e{count}"'), st.just(f'"e{parent}"' if count else "null")
            target = pool(*(f'"e{number}"' for number in range(count + 1)), odd=(*ODD, f'"e{count + 1}"'))
            line = draw(entries(*links, target)).encode()
            count += 1
        parts += (line, draw(ENDS))
    return b"".join(parts)


@st.composite
def well_formed_files(draw: st.DrawFn) -> bytes:
    """Files with a header near their start."""
    mark = draw(st.sampled_from([b""] * 9 + [b"\xef\xbb\xbf"]))
    before = draw(
        st.one_of(st.just(b""), st.lists(JUNK, max_size=2).map(lambda lines: b"".join(x + b"\n" for x in lines)))
    )
    after = draw(entry_lines())
    cut = draw(st.sampled_from([0, 0, 1]))
    whole = mark + before + draw(HEADERS).encode() + draw(ENDS) + after
    return whole[: len(whole) - cut]


# What happens to files


def _cut(data: bytes, at: int, size: int) -> bytes:
    return data[:at] + data[at + size :]


def _flip(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value % 256]) + data[at + 1 :]


def _double(data: bytes, at: int, size: int) -> bytes:
    return data[: at + size] + data[at:]


def _end(data: bytes, at: int, _: int) -> bytes:
    return data[:at]


def _swap(data: bytes, at: int, other: int) -> bytes:
    lines = data.split(b"\n")
    one, two = at % len(lines), other % len(lines)
    lines[one], lines[two] = lines[two], lines[one]
    return b"\n".join(lines)


def _glue(data: bytes, at: int, _: int) -> bytes:
    return data[:at] + data[at:].replace(b"\n", b"", 1)


ACCIDENTS: tuple[Callable[[bytes, int, int], bytes], ...] = (_cut, _flip, _double, _end, _swap, _glue)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    data = draw(well_formed_files())
    for accident in draw(st.lists(st.sampled_from(ACCIDENTS), min_size=1, max_size=3)):
        from_end = draw(st.integers(0, len(data)))  # small ones come up more often, and a header is soon lost
        data = accident(data, len(data) - from_end, draw(st.integers(0, 300)))
    return data


def session_files() -> st.SearchStrategy[bytes]:
    return st.one_of(well_formed_files(), damaged_files())


# Stores


@dataclass(frozen=True)
class StoredFile:
    """A file of a store: the folder and name that it has, and the second in which it was written."""

    folder: str
    name: str
    data: bytes
    time: int


@st.composite
def stores(draw: st.DrawFn) -> list[StoredFile]:
    """Files of several projects, some of them forks: another header over a copy of what follows."""
    contents = draw(st.lists(session_files(), min_size=1, max_size=4))
    forks = draw(st.lists(st.tuples(HEADERS, st.sampled_from(contents)), max_size=2))
    contents += [header.encode() + b"\n" + copied.partition(b"\n")[2] for header, copied in forks]
    places = st.tuples(st.sampled_from(["--a--", "--b--", "é"]), st.integers(1, 2))
    drawn = draw(st.lists(places, min_size=len(contents), max_size=len(contents)))
    return [
        StoredFile(folder, f"{number}.jsonl", data, time)
        for number, (data, (folder, time)) in enumerate(zip(contents, drawn, strict=True))
    ]
