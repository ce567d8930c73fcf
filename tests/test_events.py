"""Streams from any source to events: framing, types, damage; and that nothing of the way they came shows."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, assert_type, get_args, get_origin, get_type_hints

import pytest

from event_support import HEADER, VECTORS, answer, attempt, case, lines, stream, user
from sessiontree import FormatError, events
from sessiontree.events import EventReader, aiter_events, iter_events
from sessiontree.messages import AgentMessage, AssistantMessage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Sequence

    from sessiontree.events import AsyncSource, Event, Source

STREAM = lines([HEADER, *attempt(user(), answer())])
EVENTS = [json.loads(line) for line in STREAM.splitlines()]

SEED: dict[str, dict[str, Any]] = {
    "session": HEADER,
    "agent_start": {},
    "agent_end": {"messages": []},
    "agent_settled": {"aborted": False},
    "turn_start": {},
    "turn_end": {"message": answer(), "toolResults": []},
    "message_start": {"message": answer(None)},
    "message_update": {"message": answer(), "assistantMessageEvent": {"type": "text_delta", "delta": "Hello"}},
    "message_end": {"message": answer()},
    "tool_execution_start": {"toolCallId": "c", "toolName": "read", "args": {"path": "a"}},
    "tool_execution_update": {"toolCallId": "c", "toolName": "read", "args": {"path": "a"}, "partialResult": 1},
    "tool_execution_end": {"toolCallId": "c", "toolName": "read", "result": {"content": []}, "isError": False},
    "queue_update": {"steering": ["a"], "followUp": []},
    "compaction_start": {"reason": "threshold"},
    "compaction_end": {"reason": "mid-turn", "result": None, "aborted": True, "willRetry": False},
    "auto_retry_start": {"attempt": 1, "maxAttempts": 3, "delayMs": 2000, "errorMessage": "overloaded"},
    "auto_retry_end": {"success": True, "attempt": 1},
    "session_info_changed": {"name": "Tidy up"},
    "thinking_level_changed": {"level": "high"},
    "decisions_extracted": {"recorded": [{"id": "d", "title": "t"}], "candidates": [{"title": "u"}]},
    "smart_routing": {"tier": "simple", "reason": "short", "fromModel": "a", "toModel": "b"},
    "entry_appended": {"entry": {"type": "custom", "id": "e"}},
}
"""An event of every type that the format's page names, and of those that newer agents add."""


def kinds(found: Iterable[Event]) -> list[str]:
    """Their types, which may be any: those of a format that is newer than the types here are not told of."""
    return [event["type"] for event in found]


def read(*pieces: bytes, **options: Any) -> list[Event]:  # noqa: ANN401
    reader = EventReader(**options)
    return [event for piece in pieces for event in reader.feed(piece)] + reader.finish()


@pytest.mark.parametrize("kind", SEED)
def test_each_type_is_typed_and_comes_through_as_it_is(kind: str) -> None:
    event = {"type": kind, **SEED[kind]}
    assert read(lines([event])) == [event]
    assert read(lines([event]), types={kind}) == [event]
    assert read(lines([event]), types={"other"}) == []
    [typed] = (one for one in get_args(events.Event) if get_args(get_type_hints(one)["type"]) == (kind,))
    keys = get_type_hints(typed, include_extras=True)
    assert {key for key, hint in keys.items() if get_origin(hint) is not NotRequired} <= set(event) <= keys.keys()
    run = events.Run()
    run.feed(event)
    assert not run.damage


def test_the_types_are_those_of_the_format() -> None:
    named = [get_args(get_type_hints(one)["type"])[0] for one in get_args(events.Event)]
    assert named == list(SEED)
    assert events.__all__ == sorted(events.__all__)


def test_type_checkers_tell_events_apart() -> None:
    for event in iter_events(STREAM):
        if event["type"] == "message_end":
            assert_type(event["message"], AgentMessage)
            if event["message"]["role"] == "assistant":
                assert_type(event["message"], AssistantMessage)
        elif event["type"] == "auto_retry_start":
            assert_type(event["delayMs"], float)


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_real_streams_are_whole(folder: Path) -> None:
    found = list(iter_events(stream(folder), strict=True))
    assert found == [json.loads(line) for line in stream(folder).split(b"\n") if line]
    counts = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["events"]
    assert {kind: sum(event["type"] == kind for event in found) for kind in counts} == counts
    for types in (["message_end"], ["session", "agent_end"], []):
        assert list(iter_events(stream(folder), types=types)) == [event for event in found if event["type"] in types]


# Framing


def test_lf_alone_ends_a_line() -> None:
    event = {"type": "x", "text": "a\u2028b\u2029c\u0085d\x0be"}
    data = lines([event, event])
    assert read(data) == [event, event]
    assert read(data.replace(b"\n", b"\r\n")) == [event, event]
    assert read(data.rstrip(b"\n")) == [event, event]
    assert read(b"\n \r\n\t\n" + data + b"\n\r\n") == [event, event]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 4096])
def test_chunks_do_not_show(size: int) -> None:
    for data in (case("52-stream-u2028-chunks/stream.jsonl"), b"\xef\xbb\xbf" + STREAM, STREAM + b"no JSON"):
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        for types in (None, {"message_end", "agent_end"}):
            whole, cut = EventReader(types=types), EventReader(types=types)
            expected = whole.feed(data) + whole.finish()
            assert [event for piece in pieces for event in cut.feed(piece)] + cut.finish() == expected
            assert cut.damage == whole.damage


def test_a_last_line_counts_when_the_stream_has_ended() -> None:
    reader = EventReader()
    assert reader.feed(b'{"type":"a"}\n{"type":"b"') == [{"type": "a"}]
    assert reader.feed(b"}") == []
    assert kinds(reader.finish()) == ["b"]
    assert reader.finish() == []


def test_what_is_no_utf8_is_replaced_and_numbers_are_as_javascript_has_them() -> None:
    data = b'{"type":"a","s":"caf\xe9 \xe2\x82","half":"\\ud83d","big":1e400,"int":12345678901234567890123}\n'
    [event] = read(data)
    assert event == {
        "type": "a",
        "s": "caf\ufffd \ufffd",
        "half": "\ufffd",
        "big": float("inf"),
        "int": 1.2345678901234568e22,
    }
    deep = b'{"type":"deep","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    assert kinds(read(deep)) == ["deep"]
    assert read(deep, types=["other"]) == []


# Damage

ODD = [
    b"no JSON",
    b'"text"',
    b"[]",
    b"null",
    b"{}",
    b'{"type":7}',
    b'{"type":null}',
    b'{"type":"a","n":NaN}',
    b'{"type":"a","n":Infinity}',
    b'{"type":"a"',
    b'{"type":"a"}{"type":"a"}',
    b'{"type":"a",}',
    b'{"type":"a\x01"}',
    b"\0",
]


@pytest.mark.parametrize("odd", ODD)
def test_a_line_that_is_no_event_is_kept_aside(odd: bytes) -> None:
    reader = EventReader()
    data = b'{"type":"first"}\n' + odd + b'\n{"type":"last"}\n'
    assert [event["type"] for event in reader.feed(data)] == ["first", "last"]
    assert [(one.kind, str(one.path), one.line, one.offset) for one in reader.damage] == [("line", "-", 2, 17)]
    assert not reader.damage[0].is_note

    strict = EventReader(strict=True)
    with pytest.raises(FormatError) as caught:
        strict.feed(data)
    assert (caught.value.reason, caught.value.line) == (reader.damage[0].reason, 2)
    with pytest.raises(FormatError):
        strict.feed(b'{"type":"more"}\n')

    before: list[str] = []
    with pytest.raises(FormatError):
        before.extend(event["type"] for event in iter_events(data, strict=True))
    found = iter_events(data, strict=True)
    assert kinds([next(found)]) == ["first"]


def test_damage_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(STREAM + b"odd\n")
    with pytest.raises(FormatError) as caught:
        list(iter_events(path, strict=True))
    assert (caught.value.path, caught.value.line) == (path, 9)
    assert [one.path for one in events.read_run(path).damage] == [path]


def test_much_damage_costs_little() -> None:
    reader = EventReader()
    for _ in range(20):
        assert reader.feed(b"x\n" * 1000) == []
    assert len(reader.damage) == 10_001


def test_a_line_that_nobody_wants_is_not_kept() -> None:
    reader = EventReader(types={"agent_end"})
    assert reader.feed(b'{"type":"message_update","message":"') == []
    for _ in range(100):
        assert reader.feed(b"x" * 1_000_000) == []
    assert reader.feed(b"\n" + lines([{"type": "agent_end", "messages": []}])) == [
        {"type": "agent_end", "messages": []}
    ]
    assert not reader.damage


@pytest.mark.parametrize(
    "line",
    [
        b'{"message":{"type":"other"},"type":"wanted"}',
        b'{"t\\u0079pe":"wanted"}',
        b'{"type":"w\\u0061nted"}',
        b' {\t"type" : "wanted" }\r',
        b'{"type":"wanted","type":"wanted"}',
        b'{"x":1,"type":"other","type":"wanted"}',
    ],
)
def test_a_type_is_found_wherever_it_stands(line: bytes) -> None:
    assert [event["type"] for event in read(line, types={"wanted"})] == ["wanted"]
    assert read(line, types={"other"}) == []
    assert [event["type"] for event in read(*(line[at : at + 1] for at in range(len(line))), types={"wanted"})] == [
        "wanted"
    ]


# Sources


def sources(path: Path) -> Iterator[tuple[str, Source]]:
    path.write_bytes(STREAM)
    mixed: list[bytes | memoryview] = [STREAM[:100], memoryview(STREAM[100:]), b""]
    named: dict[str, Source] = {
        "bytes": STREAM,
        "bytearray": bytearray(STREAM),
        "memoryview": memoryview(STREAM),
        "str": str(path),
        "path": path,
        "BytesIO": io.BytesIO(STREAM),
        "file": path.open("rb"),
        "raw file": path.open("rb", buffering=0),
        "chunks": mixed,
        "generator": (STREAM[at : at + 7] for at in range(0, len(STREAM), 7)),
        "events": EVENTS,
        "iterator of events": iter(EVENTS),
    }
    yield from named.items()


def test_every_source_gives_the_same(tmp_path: Path) -> None:
    for name, source in sources(tmp_path / "s.jsonl"):
        assert list(iter_events(source)) == EVENTS, name
        if isinstance(source, io.IOBase):
            assert not source.closed
            source.close()
    for name, source in sources(tmp_path / "s.jsonl"):
        assert [event["type"] for event in iter_events(source, types=["agent_end"])] == ["agent_end"], name
        if isinstance(source, io.IOBase):
            source.close()


def test_no_source() -> None:
    for source in (7, None, io.StringIO(""), [7], ["text"]):
        with pytest.raises(TypeError, match="expected"):
            list(iter_events(source))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        EventReader(types="agent_end")
    with pytest.raises(TypeError):
        EventReader().feed("text")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        list(iter_events("/no/such/file"))


def test_events_without_a_type() -> None:
    odd: list[dict[str, Any]] = [{"type": "a"}, {}, {"type": 7}, {"type": "b"}]
    assert [event["type"] for event in iter_events(odd)] == ["a", "b"]
    with pytest.raises(FormatError) as caught:
        list(iter_events(odd, strict=True))
    assert caught.value.line == 2
    assert [one.line for one in events.read_run(odd).damage] == [2, 3]


def test_a_pipe_gives_each_event_as_soon_as_its_line_is_there() -> None:
    ours, its = os.pipe()
    with os.fdopen(ours, "rb") as pipe, os.fdopen(its, "wb", buffering=0) as writer:
        found = iter_events(pipe)
        for event in EVENTS:
            writer.write(lines([event]))
            assert next(found) == event
        writer.write(b'{"type":"last"}')
        threading.Timer(0.05, writer.close).start()
        assert [event["type"] for event in found] == ["last"]


@pytest.mark.parametrize("buffering", [0, -1])
def test_a_pipe_that_does_not_wait_is_no_source(buffering: int) -> None:
    ours, its = os.pipe()
    os.set_blocking(ours, False)
    with os.fdopen(ours, "rb", buffering=buffering) as pipe, os.fdopen(its, "wb", buffering=0) as writer:
        found = iter_events(pipe)
        writer.write(lines([HEADER]))
        assert next(found) == HEADER
        with pytest.raises(BlockingIOError):
            next(found)


PRINT = (sys.executable, "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")


def test_a_subprocess() -> None:
    with subprocess.Popen(PRINT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(STREAM)
        child.stdin.close()
        assert list(iter_events(child.stdout)) == EVENTS


async def collected(source: AsyncSource, types: Sequence[str] | None = None) -> list[Event]:
    return [event async for event in aiter_events(source, types=types)]


async def trickle() -> AsyncIterator[bytes]:
    for at in range(0, len(STREAM), 11):
        await asyncio.sleep(0)
        yield STREAM[at : at + 11]


async def one_by_one() -> AsyncIterator[dict[str, Any]]:
    for event in EVENTS:
        await asyncio.sleep(0)
        yield event


def test_asynchronous_sources(tmp_path: Path) -> None:
    async def check() -> None:
        for name, source in sources(tmp_path / "s.jsonl"):
            assert await collected(source) == EVENTS, name
            if isinstance(source, io.IOBase):
                source.close()
        assert await collected(trickle()) == EVENTS
        assert await collected(one_by_one(), ["session"]) == [HEADER]
        with pytest.raises(TypeError, match="expected"):
            await collected(7)  # type: ignore[arg-type]

        # A line that is far longer than what asyncio's own reader of lines takes.
        long = lines([{"type": "x", "text": "y" * 500_000}])
        child = await asyncio.create_subprocess_exec(
            *PRINT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert child.stdin is not None
        assert child.stdout is not None
        writing = asyncio.create_task(_write(child.stdin, STREAM + long))
        found = await collected(child.stdout)
        await writing
        await child.wait()
        assert found[:-1] == EVENTS

        with pytest.raises(FormatError):
            [event async for event in aiter_events(b"odd\n", strict=True)]

    asyncio.run(check())


def test_what_is_in_memory_keeps_nobody_else_waiting() -> None:
    many = lines([{"type": "x"}]) * 1_000_000
    long: list[AsyncSource] = [many, [many[:700_000]] * 100, ({"type": "x"} for _ in range(10**6))]

    async def check() -> None:
        for source in long:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(collected(source), 0.05)

    asyncio.run(check())


async def _write(stdin: asyncio.StreamWriter, data: bytes) -> None:
    stdin.write(data)
    await stdin.drain()
    stdin.close()


def test_importing_events_loads_no_asyncio() -> None:
    code = "import sys, sessiontree.events; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"asyncio", "subprocess", "orjson"} & set(done.stdout.split())


def test_one_reader_serves_several_threads() -> None:
    reader, found = EventReader(), []

    def feed() -> None:
        for _ in range(200):
            found.extend(reader.feed(lines([{"type": "a"}, {"type": "b"}])))

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1600
    assert not reader.damage


def test_the_example_in_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "elyra"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{STREAM.decode()}END\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    page = (Path(__file__).parent.parent / "docs/events.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    exec(compile(code, "docs/events.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-2:] == ["running Done", "Done 1.0"]


def test_facts_survive_pickling() -> None:
    run = events.read_run([HEADER, *attempt(user(), answer()), {"type": "tool_execution_start", "toolCallId": "c"}])
    again = pickle.loads(pickle.dumps(run))
    assert again == run
    assert again.tool_calls == run.tool_calls
