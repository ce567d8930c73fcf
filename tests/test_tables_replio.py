"""Tables of Replio's sessions, alone and beside Elyra's: every row as the reference has it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

import strategies
import strategies_replio
from reference import Entry, parse
from reference_tables import Row, tables_of
from reference_tables_replio import document
from sessiontree import Scan, scan
from strategies_replio import pool
from support import write
from test_tables import as_text, decoded, rows

if TYPE_CHECKING:
    from pathlib import Path

ARGUMENTS = pool("{}", '{"a": [1, "x"]}', " null\n", "{cut", "NaN", '"\\ud83d"', "[1]\f", "half \ud83d")
CALLS = st.builds(
    lambda name, arguments: {"id": "c1", "function": {"name": name, "arguments": arguments}}, pool("grep"), ARGUMENTS
)
MESSAGES = st.one_of(
    strategies_replio.MESSAGES,
    strategies_replio.MESSAGES,
    st.builds(lambda calls: {"role": "assistant", "tool_calls": calls}, st.lists(CALLS, max_size=2)),
    st.builds(lambda is_error: {"role": "tool", "tool_call_id": "c1", "is_error": is_error}, pool(True, False)),
)
ELEMENTS = st.tuples(
    st.sampled_from(["", "\n    ", " "]),
    st.builds(
        lambda value, indent, ascii: json.dumps(value, indent=indent, ensure_ascii=ascii or not _is_text(value)),
        st.one_of(MESSAGES, MESSAGES, MESSAGES, st.sampled_from([5, "text", None, []])),
        st.sampled_from([None, 2]),
        st.booleans(),
    ),
)


def _is_text(value: object) -> bool:
    """Whether nothing in it is half a surrogate pair, which UTF-8 does not have."""
    return "\\ud83d" not in json.dumps(value)


DOCUMENTS = st.builds(
    document,
    st.lists(ELEMENTS, max_size=8),
    st.sampled_from(["", '"name": "x",\n ', '\n\n"messages": [{"role": "user"}],']),
    st.sampled_from(["", ',\n"errors": [{"message": "x"}]']),
)


def assert_as_the_reference_reads(found: Scan, documents: dict[Path, list[Entry]]) -> None:
    """Compare all tables with what these documents hold, and with the Elyra sessions that the scan has besides."""
    expected = tables_of([(as_text(info.path), info.id, _entries(info.path, documents)) for info in found])
    entries = rows(found.entries())
    for row, entry in zip(entries, (entry for info in found for entry in _entries(info.path, documents)), strict=True):
        offset = row.pop("offset")
        assert offset == entry.line.offset or entry.line.size
    assert entries == expected["entries"]
    assert rows(found.messages()) == expected["messages"]
    assert [decoded(row) for row in rows(found.tool_calls())] == expected["tool_calls"]
    assert rows(found.usage_records()) == expected["usage_records"]
    assert len(expected["messages"]) == sum(info.message_count for info in found)


def _entries(path: Path, documents: dict[Path, list[Entry]]) -> list[Entry]:
    if path in documents:
        return documents[path]
    contents = parse(path.read_bytes())
    assert contents is not None
    return contents.entries


@given(made=st.lists(DOCUMENTS, min_size=1, max_size=3), files=strategies.stores())
@settings(max_examples=strategies.EXAMPLES // 8, deadline=None)
def test_made_up_stores_of_both_formats(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[bytes, list[Entry]]],
    files: list[strategies.StoredFile],
) -> None:
    folder = tmp_path_factory.mktemp("project")
    documents = {
        write(folder / f".replio/sessions/{number}.json", data): entries for number, (data, entries) in enumerate(made)
    }
    for number, file in enumerate(files):
        write(folder / f"{number}.jsonl", file.data, time=file.time)
    found = scan(folder, threads=3)
    assert {info.path for info in found} >= documents.keys()
    assert_as_the_reference_reads(found, documents)
    assert scan(folder, threads=1) == found


def messages(*elements: Row) -> tuple[bytes, list[Entry]]:
    return document([("\n    ", json.dumps(element)) for element in elements], "\n  ", "\n")


def call(call_id: str, arguments: str) -> Row:
    return {"id": call_id, "type": "function", "function": {"name": "grep", "arguments": arguments}}


CALLING = {
    "role": "assistant",
    "content": None,
    "thinking": "Look first.",
    "timestamp": "2031-03-04T05:06:08+00:00",
    "id": "m2",
    "tool_calls": [call("c1", '{"q": "oee"}'), call("c2", "{cut")],
}
RESULT = {
    "role": "tool",
    "content": "One hit.",
    "timestamp": "2031-03-04T05:06:09+00:00",
    "id": "m3",
    "tool_call_id": "c1",
    "tool": "grep",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    data, _ = messages(
        {"role": "user", "content": "What is OEE?", "timestamp": "2031-03-04T05:06:07+00:00", "id": "m1"},
        CALLING,
        RESULT,
        {"role": "command", "content": "/compact", "result": "All of it.", "compact_from": 3, "id": "m4"},
        {"role": "command", "content": "/model x"},
        {"role": "assistant", "content": "A ratio.", "model": "toy", "provider": "toybox", "id": "m5"},
    )
    write(tmp_path / ".replio/sessions/ses_a.json", data)
    return tmp_path


def test_each_table_tells_of_the_document(project: Path) -> None:
    found = scan(project)
    data = found[0].path.read_bytes()
    entries = rows(found.entries())
    assert [(row["session_id"], row["type"], row["id"]) for row in entries] == [
        ("ses_a", "message", "m1"),
        ("ses_a", "message", "m2"),
        ("ses_a", "message", "m3"),
        ("ses_a", "compaction", "m4"),
        ("ses_a", "command", None),
        ("ses_a", "message", "m5"),
    ]
    assert [row["line"] for row in entries] == [3, 4, 5, 6, 7, 8]
    assert all(data[row["offset"] :].startswith(b'{"role"') for row in entries)
    assert {row["parent_id"] for row in entries} == {None}
    said = rows(found.messages())
    assert [(row["role"], row["text"]) for row in said] == [
        ("user", "What is OEE?"),
        ("assistant", ""),
        ("toolResult", "One hit."),
        ("assistant", "A ratio."),
    ]
    assert (said[2]["tool_call_id"], said[2]["tool_name"], said[2]["is_error"]) == ("c1", "grep", None)
    assert (said[3]["provider"], said[3]["model"], said[3]["line"]) == ("toybox", "toy", 8)
    answered, open_ = rows(found.tool_calls())
    assert (answered["name"], answered["arguments"], answered["result_line"]) == ("grep", '{"q": "oee"}', 5)
    assert answered["result_timestamp"] - answered["timestamp"] == 1000
    assert (open_["id"], open_["arguments"], open_["result_line"]) == ("c2", '"{cut"', None)
    assert not rows(found.usage_records())


def test_the_sessions_have_a_format(project: Path) -> None:
    (row,) = rows(scan(project).sessions())
    assert (row["format"], row["id"], row["message_count"], row["entry_count"]) == ("replio", "ses_a", 4, 6)


def test_a_log_of_turns_stands_where_its_parts_do(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "Looking."},
        {"type": "user", "text": "hi"},
        {"type": "tool", "name": "grep", "input": {"q": 1}, "output": "none", "is_error": True},
    ]
    turns = [{"index": 1, "model": "toy", "provider": "toybox", "parts": parts}]
    path = write(tmp_path / ".replio/sessions/t.json", json.dumps({"turns": turns}, indent=1).encode())
    found, data = scan(tmp_path), path.read_bytes()
    said = rows(found.messages())
    assert [row["role"] for row in said] == ["user", "assistant", "toolResult"]
    assert [row["is_error"] for row in said] == [None, None, True]
    entries = rows(found.entries())
    places = [data[row["offset"] :].decode() for row in entries]
    assert [json.JSONDecoder().raw_decode(place)[0]["type"] for place in places] == ["user", "text", "tool"]
    assert [row["line"] for row in entries] == [data.count(b"\n", 0, row["offset"]) + 1 for row in entries]
    (called,) = rows(found.tool_calls())
    assert (called["arguments"], called["is_error"], called["result_line"]) == ('{"q": 1}', True, said[2]["line"])


def test_a_document_that_has_changed_is_an_error_that_names_it(project: Path) -> None:
    found = scan(project)
    write(found[0].path, b"{}")
    with pytest.raises(OSError, match=r"ses_a\.json: the file has changed"):
        rows(found.messages())


def test_answers_are_found_across_batches(tmp_path: Path) -> None:
    """The calls come to more than a batch before the first answer is read."""
    long = json.dumps({"text": "x" * 1_500_000})
    calling = [{"role": "assistant", "tool_calls": [call(f"c{number}", long)]} for number in range(3)]
    answers = [{"role": "tool", "tool_call_id": f"c{number}", "content": "ok"} for number in range(3)]
    data, entries = messages(*calling, *answers)
    path = write(tmp_path / ".replio/sessions/ses_long.json", data)
    found = scan(tmp_path)
    assert [row["result_line"] for row in rows(found.tool_calls())] == [6, 7, 8]
    assert_as_the_reference_reads(found, {path: entries})
