"""Arrow tables of a scan: every row as the reference has it, for each consumer, in bounded memory."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

import cases
import strategies
from reference import parse, parse_time
from reference_json import decode
from reference_tables import Row, tables
from sessiontree import Scan, scan
from sessiontree._corpus import write_corpus
from support import DATA, vector_file, vectors, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessiontree import SessionInfo, Table

Source: TypeAlias = "Table | Scan"

NAMES = ("sessions", "entries", "messages", "tool_calls", "usage_records")
USAGE = ("input", "output", "cache_read", "cache_write", "total_tokens", "cost_total")
HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/p"}\n'
USER = b'{"type":"message","id":"%s","parentId":null,"message":{"role":"user","content":"%s"}}\n'


def table(found: Scan, name: str) -> Table:
    of_name: Table = getattr(found, name)()
    return of_name


def rows(source: Source) -> list[Row]:
    """The rows as plain values, times in Unix milliseconds."""
    read = pa.table(source)
    read.validate(full=True)
    times = {field.name for field in read.schema if pa.types.is_timestamp(field.type)}
    columns = {
        name: (column.cast(pa.int64()) if name in times else column).to_pylist()
        for name, column in zip(read.column_names, read.columns, strict=True)
    }
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_text(path: Path) -> str:
    return os.fsencode(path).decode(errors="replace")


def decoded(row: Row) -> Row:
    """A tool call with its arguments read, as the reference has it."""
    if row["arguments"] is None:
        return row
    [arguments], replaced = decode(row["arguments"].encode())
    assert not replaced
    return row | {"arguments": arguments}


def assert_as_the_reference_reads(found: Scan) -> None:
    files = {as_text(info.path): info.path.read_bytes() for info in found}
    expected = tables(list(files.items()))
    entries = rows(found.entries())
    for row in entries:
        assert files[row["path"]].startswith(b"{", row.pop("offset"))
    assert entries == expected["entries"]
    assert rows(found.messages()) == expected["messages"]
    assert [decoded(row) for row in rows(found.tool_calls())] == expected["tool_calls"]
    assert rows(found.usage_records()) == expected["usage_records"]
    assert_sums_are_the_usage(found)
    assert rows(found) == rows(found.sessions()) == [session_row(info) for info in found]


def assert_sums_are_the_usage(found: Scan) -> None:
    sums = dict.fromkeys(USAGE, 0.0)
    for row in rows(found.usage_records()):
        if not row["is_repeated"]:
            sums = {name: min(so_far + row[name], sys.float_info.max) for name, so_far in sums.items()}
    assert sums == {name: getattr(found.usage, name) for name in USAGE}


def session_row(info: SessionInfo) -> Row:
    told = info.to_dict()
    usage = told.pop("usage")
    times = {name: parse_time(told[name]) for name in ("created", "modified")}
    return told | times | {name: usage[name] for name in USAGE} | {"path": as_text(info.path)}


# Rows


def test_a_store_with_damage_and_forks(tmp_path: Path) -> None:
    write_corpus(tmp_path / "store", sessions=60, mean_bytes=15_000)
    found = scan(tmp_path / "store")
    assert_as_the_reference_reads(found)
    assert any(info.damage_count for info in found)
    assert any(row["is_repeated"] for row in rows(found.usage_records()))
    assert any(row["result_line"] for row in rows(found.tool_calls()))


def test_files_that_went_wrong_in_public(tmp_path: Path) -> None:
    for number, name in enumerate(cases.CASES):
        write(tmp_path / f"{number:02}.jsonl", cases.data(name))
    for number, folder in enumerate(vectors(), len(cases.CASES)):
        write(tmp_path / f"{number:02}.jsonl", vector_file(folder).read_bytes())
    found = scan(tmp_path)
    assert len(found) > 40
    assert_as_the_reference_reads(found)


@given(files=strategies.stores())
@settings(max_examples=strategies.EXAMPLES // 5, deadline=None)
def test_made_up_stores(tmp_path_factory: pytest.TempPathFactory, files: list[strategies.StoredFile]) -> None:
    folder = tmp_path_factory.mktemp("store")
    for number, file in enumerate(files):
        write(folder / f"{number}.jsonl", file.data, time=file.time)
    assert_as_the_reference_reads(scan(folder))


def test_an_entrys_offset_is_where_its_object_starts(tmp_path: Path) -> None:
    joined = b"\xef\xbb\xbf " + HEADER + b'\0 {"type":"custom","id":"a"} {"type":"custom","id":"b"}\r\n{"id":"c"}'
    path = write(tmp_path / "1.jsonl", joined)
    offsets = {row["id"]: row["offset"] for row in rows(scan(path).entries())}
    assert offsets == {name: joined.index(b'{"type":"custom","id":"%c"' % name.encode()) for name in "ab"} | {
        "c": joined.index(b'{"id":"c"}')
    }


def test_entries_of_version_1_have_derived_ids_and_old_roles_their_new_name(tmp_path: Path) -> None:
    hook = b'{"type":"message","message":{"role":"hookMessage","content":"x"}}\n'
    found = scan(write(tmp_path / "1.jsonl", b'{"type":"session","id":"s"}\n' + hook * 2))
    first, second = rows(found.entries())
    assert (first["id"], first["parent_id"]) == ("e67c19bb", None)
    assert second["parent_id"] == first["id"]
    assert [row["role"] for row in rows(found.messages())] == ["custom", "custom"]
    assert found[0].leaf_id == second["id"]


ANSWER = b'{"type":"message","id":"%s","message":{"role":"toolResult","toolCallId":"%s","isError":%s,"content":[]}}\n'
CALL = (
    b'{"type":"message","id":"%s","message":{"role":"assistant","content":[{"type":"toolCall","id":"%s","name":"read",'
    b'"arguments":%s}]}}\n'
)


def test_a_result_answers_the_last_call_before_it_with_its_id_once(tmp_path: Path) -> None:
    lines = [
        ANSWER % (b"r0", b"c", b"true"),
        CALL % (b"a1", b"c", b"{}"),
        CALL % (b"a2", b"c", b"{}"),
        ANSWER % (b"r1", b"c", b"false"),
        ANSWER % (b"r2", b"c", b"true"),
        CALL % (b"a3", b"", b"{}"),
        ANSWER % (b"r3", b"", b"true"),
    ]
    found = scan(write(tmp_path / "1.jsonl", HEADER + b"".join(lines)))
    answers = [(row["entry_id"], row["is_error"], row["result_line"]) for row in rows(found.tool_calls())]
    assert answers == [("a1", None, None), ("a2", False, 5), ("a3", None, None)]


def test_arguments_are_the_files_own_text_made_valid(tmp_path: Path) -> None:
    texts = [
        b'{ "n": 1e400, "m":12345678901234567890123 }',
        b'{"a":"\\ud83d \xff"}',
        b"[" * 5_000 + b"]" * 5_000,
        b'"text"',
        b"null",
    ]
    lines = b"".join(CALL % (b"a", b"c", text) for text in texts)
    found = scan(write(tmp_path / "1.jsonl", HEADER + lines))
    arguments = [row["arguments"] for row in rows(found.tool_calls())]
    assert arguments == [texts[0].decode(), '{"a":"\ufffd \ufffd"}', texts[2].decode(), '"text"', None]


def test_odd_texts_come_out_whole(tmp_path: Path) -> None:
    content = b"a\\u0000b\\n\\t\\/\\\\ \\ud83d\\ude00 \\udc00 \xf0\x9f\x98 \xe2\x80\xa8"
    found = scan(write(tmp_path / "1.jsonl", HEADER + USER % (b"a", content)))
    expected = "a\0b\n\t/\\ \U0001f600 \ufffd \ufffd \u2028"
    assert [row["text"] for row in rows(found.messages())] == [expected]
    assert pl.DataFrame(found.messages())["text"].to_list() == [expected]
    assert found[0].all_messages_text == expected


def test_numbers_are_kept_within_64_bits(tmp_path: Path) -> None:
    header = b'{"type":"session","version":1e300,"id":"s"}\n'
    found = scan(write(tmp_path / "1.jsonl", header + USER % (b"a", b"x")))
    assert pa.table(found)["version"].to_pylist() == [2**63 - 1]


def test_a_path_that_is_no_utf8_has_replacements(tmp_path: Path) -> None:
    try:
        write(tmp_path / os.fsdecode(b"caf\xe9.jsonl"), HEADER + USER % (b"a", b"x"))
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    found = scan(tmp_path)
    for name in NAMES[:3]:
        assert {Path(row["path"]).name for row in rows(table(found, name))} == {"caf\ufffd.jsonl"}


# Tables


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    folder = tmp_path_factory.mktemp("tables") / "store"
    write_corpus(folder, sessions=30, mean_bytes=10_000)
    return scan(folder)


READERS: dict[str, Callable[[Source], list[tuple[Any, ...]]]] = {
    "pyarrow": lambda source: list(zip(*pa.table(source).to_pydict().values(), strict=True)),
    "polars": lambda source: pl.DataFrame(source).rows(),
    "pandas": lambda source: list(
        pd.DataFrame.from_arrow(source).astype(object).replace({float("nan"): None}).itertuples(index=False, name=None)
    ),
    "duckdb": lambda source: duckdb.from_arrow(source).fetchall(),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reader", ["polars", "pandas", "duckdb"])
def test_all_consumers_see_the_same(found: Scan, reader: str, name: str) -> None:
    source = table(found, name)
    read = READERS[reader](source)
    assert len(read) > 20
    assert [tuple(None if value is pd.NaT else value for value in row) for row in read] == READERS["pyarrow"](source)


def test_duckdb_asks_tables_by_the_names_of_variables(found: Scan) -> None:
    usage = found.usage_records()
    query = "select sum(cost_total), count(*) from usage where not is_repeated"
    [(cost, count)] = duckdb.execute(query).fetchall()
    assert cost == pytest.approx(found.usage.cost_total)
    assert count == sum(not row["is_repeated"] for row in rows(usage))


def test_a_scan_is_the_table_of_its_sessions(found: Scan) -> None:
    assert pa.schema(found) == pa.table(found).schema == pa.schema(found.sessions())
    assert len(pd.DataFrame.from_arrow(found)) == len(found)
    assert duckdb.execute("select count(*) from found").fetchall() == [(len(found),)]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_tells_its_schema_and_version(found: Scan, name: str) -> None:
    source = table(found, name)
    schema = pa.schema(source)
    assert schema.names == list(source.columns)
    assert schema.metadata == {b"sessiontree.version": b"1", b"sessiontree.table": name.encode()}
    assert schema == pa.table(source).schema
    assert repr(source) == f"<Table {name}: {len(schema)} columns, 30 sessions>"


def test_the_docs_tell_of_every_column(found: Scan) -> None:
    text = (Path(__file__).parent.parent / "docs/tables.md").read_text(encoding="utf-8")
    for name in NAMES:
        part = text.split(f"\n## `{name}`\n")[1].split("\n## ")[0]
        told = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
        columns = [(column.strip(" `"), kind.strip()) for names, kind in told for column in names.split(",")]
        assert columns == [(field.name, str(field.type)) for field in pa.schema(table(found, name))]


def test_nothing_but_the_native_module_is_needed() -> None:
    code = (
        "import sys, sessiontree; table = sessiontree.scan(sys.argv[1]).messages();"
        "print(type(table.__arrow_c_stream__()).__name__, type(table.__arrow_c_schema__()).__name__);"
        "assert not sys.modules.keys() & {'pyarrow', 'polars', 'pandas', 'duckdb'}"
    )
    command = [sys.executable, "-c", code, str(vector_file(DATA / "pi/branches"))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "PyCapsule PyCapsule\n"


def test_no_sessions_are_tables_without_rows(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    found = scan(tmp_path)
    for name in NAMES:
        assert pa.table(table(found, name)).shape == (0, len(table(found, name).columns))
        assert pl.DataFrame(table(found, name)).height == 0


def test_a_table_is_a_value_and_is_read_anew_each_time(found: Scan) -> None:
    for name in NAMES:
        source = table(found, name)
        assert source == table(found, name)
        again = pickle.loads(pickle.dumps(source))
        assert again == source
        assert pa.table(source) == pa.table(source) == pa.table(again)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("change", ["append", "touch", "delete", "replace"])
def test_a_file_that_has_changed_is_an_error_that_names_it(tmp_path: Path, change: str) -> None:
    paths = [write(tmp_path / f"{number}.jsonl", HEADER + USER % (b"a", b"x")) for number in range(3)]
    found = scan(tmp_path)
    path = paths[1]
    if change == "append":
        path.write_bytes(path.read_bytes() + USER % (b"b", b"y"))
    elif change == "touch":
        os.utime(path, (1, 1))
    elif change == "delete":
        path.unlink()
    else:
        write(tmp_path / "new", path.read_bytes()).replace(path)
    reason = "the file has gone" if change == "delete" else "the file has changed since it was listed"
    for name in NAMES[1:]:
        with pytest.raises(OSError, match=f"{path}: {reason}"):
            pa.table(table(found, name))
        for read in (pl.DataFrame, lambda source: duckdb.from_arrow(source).fetchall()):
            with pytest.raises(Exception, match=f"{path}: {reason}"):
                read(table(found, name))
    assert len(pa.table(found)) == 3, "what the scan has read needs no file"
    again = pa.table(scan(tmp_path).messages())
    assert len(again) == {"append": 4, "delete": 2}.get(change, 3)


# Threads


def workers() -> int:
    """How many of this process's threads are ours."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has just ended
            count += (task / "comm").read_text() == "sessiontree\n"
    return count


def assert_no_workers_soon() -> None:
    until = time.monotonic() + 5
    while workers():
        assert time.monotonic() < until, "threads go on for nobody"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    """One session of 160 MB, and many of 2 MB: much more than may wait anywhere."""
    folder = tmp_path_factory.mktemp("large")
    line = CALL % (b"e%d", b"c%d", b'{"text":"%s"}' % (b"x" * 4_000))
    for number, count in enumerate([40_000, *([500] * 8)]):
        write(folder / f"{number}.jsonl", HEADER + b"".join(line % (n, n) for n in range(count)))
    return scan(folder)


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc here")


@needs_proc
def test_nothing_starts_before_the_first_batch_and_a_drop_ends_all(large: Scan) -> None:
    assert_no_workers_soon()
    reader = pa.RecordBatchReader.from_stream(large.tool_calls())
    assert reader.schema.names[:2] == ["path", "session_id"]
    assert workers() == 0
    reader.read_next_batch()
    assert workers() > 0
    del reader
    assert_no_workers_soon()
    large.tool_calls().__arrow_c_stream__()  # never taken


@needs_proc
def test_a_stream_that_nobody_reads_on_keeps_no_scan_from_its_work(large: Scan) -> None:
    readers = [pa.RecordBatchReader.from_stream(table(large, name)) for name in ("messages", "tool_calls")]
    for reader in readers:
        reader.read_next_batch()
    assert len(scan(large[0].path)) == 1
    assert sum(len(batch) for batch in readers[1]) > 15_000
    del readers, reader
    assert_no_workers_soon()


def test_answers_are_found_however_far_from_their_calls(tmp_path: Path) -> None:
    """What would have to be held for them is more than is: the session is gone through for them alone."""
    calls = b"".join(CALL % (b"a%d" % n, b"c%d" % n, b'"%s"' % (b"x" * 4_000)) for n in range(3_000))
    answers = b"".join(ANSWER % (b"r%d" % n, b"c%d" % n, b"true") for n in range(3_000))
    found = scan(write(tmp_path / "1.jsonl", HEADER + calls + answers))
    read = pa.table(found.tool_calls()).select(["line", "is_error", "result_line"])
    assert read["result_line"].to_pylist() == [n + 3_000 for n in read["line"].to_pylist()]
    assert read["is_error"].to_pylist() == [True] * 3_000
    assert read["line"].num_chunks > 3


PEAK = """
import sys, pyarrow as pa, sessiontree
def peak():
    [line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024
found = sessiontree.scan(sys.argv[1])
pa.RecordBatchReader.from_stream(found.sessions()).read_all()
before = peak()
for name in ("entries", "messages", "tool_calls", "usage_records"):
    for batch in pa.RecordBatchReader.from_stream(getattr(found, name)()):
        pass
print(peak() - before)
"""
MAX_MB = 100


@needs_proc
def test_memory_is_bounded_however_large_the_files(large: Scan) -> None:
    folder = large[0].path.parent
    done = subprocess.run([sys.executable, "-c", PEAK, folder], capture_output=True, text=True, check=True)
    assert int(done.stdout) < MAX_MB


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_cannot_read_on_but_can_begin_anew(found: Scan, large: Scan) -> None:
    reader = pa.RecordBatchReader.from_stream(large.tool_calls())
    reader.read_next_batch()
    child = os.fork()
    if not child:
        try:
            signal.alarm(60)
            try:
                reader.read_next_batch()
            except pa.ArrowException:
                os._exit(min(len(rows(found.entries())), 100))
        finally:
            os._exit(255)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 100


def test_a_table_is_the_same_however_its_files_are_grouped(found: Scan) -> None:
    whole = pa.table(found.messages()).combine_chunks()
    parts = [pa.table(scan(info.path).messages()) for info in found]
    assert pa.concat_tables(parts).combine_chunks() == whole


def test_every_session_has_its_rows(found: Scan) -> None:
    counts = pl.DataFrame(found.messages()).group_by("path").len()
    joined = pl.DataFrame(found.sessions()).join(counts, on="path", how="left")
    assert joined["len"].fill_null(0).to_list() == joined["message_count"].to_list()
    contents = [parse(info.path.read_bytes()) for info in found]
    assert sum(len(one.entries) for one in contents if one) == len(pa.table(found.entries()))
