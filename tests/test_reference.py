"""The oracle itself, held against vectors, cases and tables: what it gets wrong, nothing else would show."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given, settings

import cases
import strategies
from reference import MAX_REPORTS, Session, merge, parse_time, read, read_store
from reference_json import decode
from reference_usage import Usage
from support import FILE_TIME, same_facts, session_facts, vector_file, vector_rows, vectors, write

if TYPE_CHECKING:
    from pathlib import Path

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00.000Z"}\n'


def session(*lines: str, header: bytes = HEADER) -> Session:
    found = read(header + "\n".join(lines).encode(), mtime_ms=FILE_TIME * 1000)
    assert found is not None
    return found


def entry(name: str | None = None, parent: str | None = None, **fields: object) -> str:
    return json.dumps({"type": "custom", "id": name, "parentId": parent, **fields})


def said(name: str, parent: str | None, time: float, **fields: object) -> str:
    message = {"role": "user", "content": "x", "timestamp": time, **fields}
    return entry(name, parent, type="message", message=message)


def answered(name: str | None, response: str | None = None, *, time: str = "t", **usage: object) -> str:
    message = {"role": "assistant", "responseId": response, "provider": "p", "model": "m", "usage": usage}
    return entry(name, type="message", timestamp=time, message=message)


def damage_of(*lines: str) -> list[tuple[str, int | None]]:
    return [(kind, line) for kind, line, _ in session(*lines).damage]


# Vectors and cases


@pytest.mark.parametrize("folder", vectors(), ids=lambda folder: folder.name)
def test_vector(folder: Path) -> None:
    found = read(vector_file(folder).read_bytes(), mtime_ms=FILE_TIME * 1000)
    rows = [] if found is None else [session_facts(found)]
    expected = vector_rows(folder)
    assert len(rows) == len(expected)
    assert [same_facts(*pair) for pair in zip(rows, expected, strict=True)] == expected


@pytest.mark.parametrize("name", cases.CASES)
def test_case(name: str) -> None:
    right = cases.CASES[name]
    found = read(cases.data(name), mtime_ms=FILE_TIME * 1000)
    if right.row is None:
        assert found is None
        return
    assert found is not None
    assert same_facts(session_facts(found), right.row) == right.row
    assert [(kind, line) for kind, line, _ in found.damage] == right.damage
    assert same_facts(asdict(found.usage), right.usage) == pytest.approx(right.usage)
    costs = {model: usage.cost_total for model, usage in found.usage.by_model.items()}
    assert same_facts(costs, right.cost_by_model) == pytest.approx(right.cost_by_model)


# JSON


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0", 0),
        ("1E+2", 100.0),
        ("1e400", math.inf),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        ("1" + "0" * 5000, math.inf),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ude00\ud83d"', "\ufffd\ufffd"),
        (r'"\ud83d\ud83d\ude00"', "\ufffd😀"),
        (r'"\ud83dx\ude00"', "\ufffdx\ufffd"),
        (r'"\\ud83d"', r"\ud83d"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'{"a":1,"b":2,"\u0061":3}', {"a": 3, "b": 2}),
        ('"\u2028\u0085\x7f"', "\u2028\u0085\x7f"),
        (" [ 1 ,\t{ } ] ".strip(), [1, {}]),
    ],
)
def test_json(text: str, value: object) -> None:
    assert decode(text.encode()) == ([value], False)


@pytest.mark.parametrize(
    "text",
    [
        *("NaN", "-Infinity", "Infinity", "01", "+1", ".5", "1.", "-", "1e", "0x1", "tru", "'a'", "١"),
        *('"\t"', '"\0"', r'"\q"', r'"\u12G4"', r'"\ud83"', '"', '"a'),
        *("[1,]", "[,1]", "[1 2]", '{"a":1,}', '{"a"}', '{"a":}', "{a:1}", "{1:1}", '{"a" 1}', "[", "{", "]"),
        *("\ufeff{}", "{}\u00a0", "{}\v", "{} x", "[1\f]", r"\ud83d", "{}\0{}"),
    ],
)
@pytest.mark.parametrize("depth", [1, 20_000])
def test_no_json(text: str, depth: int) -> None:
    with pytest.raises(ValueError, match=r"(?s)."):
        decode(("[" * depth + text + "]" * depth).encode())


def test_deep_json() -> None:
    depth = 50_000
    text = '[ {"a" : 1 , "b":[], "c":{} , "a":"x","d":' * depth + "-1.5" + "}, true ]\t" * depth
    values: list[Any] = decode(text.strip().encode())[0]
    [value] = values
    for _ in range(depth):
        outer, last = value
        value = outer.pop("d")
        assert (outer, last) == ({"a": "x", "b": [], "c": {}}, True)
    assert value == -1.5


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2\x82\xe2\x82\xac", "\ufffd€"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xf0\x80\x80\x80", "\ufffd" * 4),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xe0\x80\xaf", "\ufffd" * 3),
        (b"\xed\xa0\x80", "\ufffd" * 3),
        (b"\xf1\x80\x41", "\ufffdA"),
    ],
)
def test_bad_bytes_are_replaced_as_whatwg_has_it(raw: bytes, text: str) -> None:
    assert decode(b'"' + raw + b'"') == ([text], True)


@given(strategies.session_files())
@settings(max_examples=strategies.EXAMPLES // 4, deadline=None)
def test_orjson_as_a_fast_path_changes_nothing(data: bytes) -> None:
    assert read(data, loads=orjson.loads) == read(data)


# Lines


def test_white_space_and_nuls_at_the_ends_of_a_line() -> None:
    lines = [" \t" + entry("a") + "\r", "\0" + entry("b"), entry("c") + "\0 \0\r", " \0", "\0{", entry("d") + "\v"]
    assert damage_of(*lines) == [("bytes", 3), ("bytes", 4), ("bytes", 5), ("line", 6), ("line", 7)]


def test_a_line_beyond_the_limit_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = len(HEADER.strip())
    monkeypatch.setattr("reference.MAX_LINE_BYTES", limit)
    assert damage_of(" " * limit, " " * (limit + 1), entry("a").ljust(limit), entry("b").ljust(limit + 1)) == [
        ("line", 3),
        ("line", 5),
    ]


def test_offsets_count_the_mark_at_the_start() -> None:
    found = read(b"\xef\xbb\xbf{\n" + HEADER + b"{", mtime_ms=0)
    assert found is not None
    assert found.damage == [("line", 1, 0), ("line", 3, 5 + len(HEADER))]


def test_several_objects_on_a_line() -> None:
    found = session(
        entry("a") + entry("b", "a"), entry("c") + "1", "{}" + entry("d", "b") + " {}", "{}{}", entry() + "x"
    )
    assert [report[:2] for report in found.damage] == [
        ("joined", 2),
        ("line", 3),
        ("joined", 4),
        ("line", 5),
        ("line", 6),
    ]
    assert (found.entry_count, found.leaf_id, found.tip_count) == (3, "d", 1)


# The header


@pytest.mark.parametrize(
    ("before", "kinds"),
    [
        (b"", []),
        (b"\n \r\n", []),
        (b"[]\n{}\n", ["line", "line"]),
        (b'{"type":"title"}\n{"id":"x"}\n{"type":"title","x":"\xff"}\n', ["bytes"]),
        (b'{"type":"title"}{"type":"message"}\n', ["line"]),
        (b'{"type":"title"}' + HEADER, ["line"]),
        (b"{}" + HEADER, ["line"]),
        (HEADER.strip() + b'{"type":"custom"}\n', ["joined", "header"]),
    ],
)
def test_what_may_stand_before_the_header(before: bytes, kinds: list[str]) -> None:
    found = read(before + HEADER)
    assert found is not None
    assert [kind for kind, _, _ in found.damage] == kinds


@pytest.mark.parametrize("first", ['{"type":"message"}', '{"type":"session"}', '{"type":"session","id":null}'])
def test_a_file_that_starts_with_another_entry_is_no_session(first: str) -> None:
    assert read(first.encode() + b"\n" + HEADER) is None


def test_an_empty_id_makes_a_header_and_an_entry_but_no_node() -> None:
    found = session('{"id":""}', entry("a", ""), header=HEADER.replace(b'"s"', b'""'))
    assert (found.id, found.entry_count, found.leaf_id, found.tip_count, found.damage) == ("", 2, "a", 1, [])


@pytest.mark.parametrize(
    ("version", "number", "is_linear"),
    [
        *((None, 1, True), (1, 1, True), (0, 0, True), (-2.5, -2, True), (1.9, 1, True), (-math.inf, -(2**63), True)),
        *((2, 2, False), (2.9, 2, False), (3, 3, False), (99, 99, False), (math.inf, 2**63 - 1, False)),
        *(("1", 3, False), (True, 3, False), ([1], 3, False)),
    ],
)
def test_versions(version: object, number: int, is_linear: bool) -> None:
    text = json.dumps(version).replace("Infinity", "1e400")
    found = session(entry("a"), header=b'{"type":"session","id":"s","version":%s}\n' % text.encode())
    assert (found.version, found.leaf_id != "a") == (number, is_linear)


def test_version_1_counts_records_and_never_repeats_a_derived_id() -> None:
    later_header = '{"type":"session"}'
    lines = [later_header, entry("a") + "{}" + entry("a"), "[]", *[entry("a")] * 191]
    found = session(*lines, header=b'{"type":"session","id":"v1-100488"}\n')
    assert found.leaf_id == "08cc8c6c"  # the 194th record's id would be the 148th's but for n
    assert (found.tip_count, found.entry_count) == (1, 193)
    assert [report[:2] for report in found.damage] == [("header", 2), ("joined", 3), ("line", 4)]


# The tree


@pytest.mark.parametrize(
    ("links", "damage", "tip_count"),
    [
        ([("a", None), ("b", "a"), ("c", "a")], [], 2),
        ([("a", ""), ("", "a"), (None, "x")], [], 1),
        ([("a", "x"), ("b", "a")], [("parent", 2)], 1),
        ([("a", "a"), ("b", "a")], [("circle", 2)], 1),
        ([("a", "c"), ("b", "a"), ("c", "b"), ("d", "b")], [("circle", 2)], 2),
        ([("t", "b"), ("a", "b"), ("b", "a")], [("circle", 3)], 1),
        ([("a", None), ("b", "a"), ("a", "b")], [("circle", 3), ("repeated", 4)], 1),
        ([("a", "x"), ("a", "y"), ("a", None)], [("repeated", 3), ("repeated", 4)], 1),
    ],
)
def test_trees(links: list[tuple[str, str | None]], damage: list[tuple[str, int]], tip_count: int) -> None:
    found = session(*[entry(name, parent) for name, parent in links])
    assert [report[:2] for report in found.damage] == damage
    assert found.tip_count == tip_count


def test_tips_with_newer_activity_than_the_leaf_are_noted() -> None:
    assert damage_of(said("a", None, 5), said("b", "a", 9), said("c", "a", 8)) == [("tip", 3)]
    assert damage_of(said("a", None, 9), said("b", "a", 5), said("c", "a", 8)) == []
    assert damage_of(said("a", None, 5.9), entry("b")) == [("tip", 2)]
    assert damage_of(said("a", None, 5.9), said("b", None, 5.1)) == []
    assert damage_of(said("a", None, -1), entry("b")) == [("tip", 2)]


# Times


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970", 0),
        ("1970-01", 0),
        ("1970-01-02", 86_400_000),
        ("+001970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:01", 60_000),
        ("1970T00:00:01", 1000),
        ("1970-01-01T00:00:00.9", 900),
        ("1970-01-01T00:00:00.1239999", 123),
        ("1970-01-01T01:30:00.000+01:30", 0),
        ("1970-01-01T00:00-00:01", 60_000),
        ("1970-01-01T24:00:00.000Z", 86_400_000),
        ("2024-02-29", 1_709_164_800_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("0000-12-31T23:59:59-00:01", -62_135_596_741_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("+010000-01-01T00:00:00+00:01", 253_402_300_740_000),
        *[(text, None) for text in ("", "2024-1-1", "2024-13", "2023-02-29", "2024-00", "24-01-01", " 2024", "2024 ")],
        *[(text, None) for text in ("1970-01-01T24:00:01", "1970-01-01T25:00", "1970-01-01T00:60", "1970-01-01T00")],
        *[(text, None) for text in ("1970-01-01T00:00:60", "1970-01-01T00:00:00.")],
        ("1970-01-01T00:00:00.0123456789", 12),
        *[(text, None) for text in ("1970-01-01Z", "1970-01-01t00:00", "1970-01-01T00:00z", "1970-01-01 00:00")],
        *[(text, None) for text in ("1970-01-01T00:00+1:00", "1970-01-01T00:00+24:00", "1970-01-01T00:00+0100")],
        *[
            (text, None)
            for text in ("0000-12-31T23:59:59Z", "+010000-01-01", "-000000-12-31T23:59:59-00:01", "-000001")
        ],
        *[(text, None) for text in ("١٩٧٠", 1970, None)],
    ],
)
def test_times(text: object, milliseconds: int | None) -> None:
    assert parse_time(text) == milliseconds


@pytest.mark.parametrize(
    ("timestamp", "milliseconds"),
    [
        (253_402_300_799_999.5, 253_402_300_799_999),
        (253_402_300_800_000, 7),
        (math.inf, 7),
        ("9", 7),
        (True, 7),
        (0.9, 1_767_607_200_000),
        (-5, 1_767_607_200_000),
    ],
)
def test_the_time_of_a_message_wins_if_a_datetime_can_hold_it(timestamp: Any, milliseconds: int) -> None:  # noqa: ANN401
    message = {"role": "user", "content": [], "timestamp": timestamp}
    line = entry("a", type="message", timestamp="1970-01-01T00:00:00.007Z", message=message)
    assert session(line.replace("Infinity", "1e400")).modified == milliseconds


# Usage


def test_the_same_response_counts_once() -> None:
    found = session(answered("a", "r", input=1), answered("b", "r", input=2), answered("c", "other", input=4))
    assert found.usage.input == 5


def test_the_records_of_a_response_are_the_same_place_by_place() -> None:
    details = {"modelUsage": [{}, {"input": 2}, {"input": 4}]}
    message = {"role": "toolResult", "responseId": "r", "usage": {"input": 8}, "details": details}
    without = {**message, "usage": None}
    lines = [entry(name, type="message", message=said) for name, said in [("b", without), ("c", message)]]
    assert session(answered("a", "r", input=1), *lines).usage.input == 7


def test_records_of_which_one_has_no_response_are_the_same_if_all_else_is() -> None:
    lines = [answered("a", "r", input=1), answered("a", input=1), answered("a", time="u", input=1)]
    assert session(*lines).usage.input == 2
    assert session(*reversed(lines)).usage.input == 2
    assert session(answered("a", "r", input=1), answered("a", "other", input=1)).usage.input == 2


def test_records_that_nothing_identifies_all_count() -> None:
    assert session(answered(None, input=1), answered(None, input=1), answered(None, "r", input=1)).usage.input == 3


@pytest.mark.parametrize(
    ("model_usage", "total"),
    [
        ({"input": 1}, 1),
        ({"cost": {}, "other": {"input": 1}}, 0),
        ([{"input": 1}, {"input": 1}, {"usage": {"input": 1}}, {}, None], 2),
        ({"m": {"input": 1}, "n": {"usage": {"input": 1}}, "o": {}, "p": {"usage": 3}}, 2),
        ({"m": {"output": 1, "usage": {"input": 1}}, "n": {"usage": {}}}, 0),
        *((None, 0), (3, 0), ("x", 0), ([], 0), ({}, 0)),
    ],
)
def test_model_usage(model_usage: object, total: int) -> None:
    message = {"role": "toolResult", "usage": {"input": 8}, "details": {"modelUsage": model_usage}}
    found = session(entry("a", type="message", message=message))
    assert found.usage.by_model["tools and summaries"].input == total + 8
    assert found.damage == []


def test_what_is_no_number_counts_as_nothing_and_is_noted() -> None:
    odd = answered("a", input=None, output=True, cacheRead=-1, cacheWrite="1", totalTokens=math.inf, cost=[1])
    found = session(odd.replace("Infinity", "1e400"), answered("b", cost={"input": "1", "total": -1}), answered("c"))
    assert [report[:2] for report in found.damage] == [("value", 2)] * 6 + [("value", 3)] * 2
    assert found.usage.by_model == {"p/m": Usage()}
    assert found.damage_count == 0


def test_sums_stay_finite() -> None:
    assert session(*[answered(name, input=1e308) for name in "abc"]).usage.input == sys.float_info.max


def test_sessions_merge_in_the_given_order() -> None:
    one, other = session(answered("a", "r", input=1)), session(answered("b", "r", input=2), answered("c", input=4))
    assert (merge([one, other]).input, merge([other, one]).input) == (5, 6)


# Damage and stores


def test_too_many_reports_are_counted() -> None:
    found = session(*["["] * (MAX_REPORTS - 1), entry("a", "x"), "[", entry("b", "x"))
    assert [kind for kind, _, _ in found.damage] == ["line"] * MAX_REPORTS + ["parent"], "damage before notes"
    assert found.damage[-2:] == [("line", 2 + MAX_REPORTS, found.damage[-2][2]), ("parent", None, None)]
    assert found.damage_count == MAX_REPORTS


def test_a_store_is_newest_first_and_each_file_once(tmp_path: Path) -> None:
    data = HEADER.replace(b'"timestamp"', b'"x"')
    old, new = (write(tmp_path / f"sessions/{name}.jsonl", data, time=time) for name, time in [("b/1", 1), ("b/2", 2)])
    same = write(tmp_path / "sessions/a/z.jsonl", data, time=2)
    (tmp_path / "sessions/a/link.jsonl").symlink_to(old)
    (tmp_path / "sessions/c").symlink_to(tmp_path / "sessions/b")
    (tmp_path / "sessions/a/dangling.jsonl").symlink_to("nowhere")
    (tmp_path / "sessions/a/folder.jsonl").mkdir()
    write(tmp_path / "sessions/a/empty.jsonl", b"")
    rows = read_store(tmp_path)
    assert [path for path, _ in rows] == [same, new, tmp_path / "sessions/a/link.jsonl"]
    assert [found.modified for _, found in rows] == [2000, 2000, 1000]
