"""Streams of running agents, made from nothing, that repeat all of an answer at each piece of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from .stores import BASE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES = 500_000_000
_PIECES = 700
_WORDS = "The parser reads a line, and “keeps” what is new:\n\tlet found = lines.next()?;\n"
_USAGE = {
    "input": 1200,
    "output": 340,
    "cacheRead": 5000,
    "cacheWrite": 0,
    "totalTokens": 6540,
    "cost": {"input": 0.0036, "output": 0.0051, "cacheRead": 0.0015, "cacheWrite": 0, "total": 0.0102},
}


def stream(scale: float) -> Path:
    """A stream of 500 MB in Elyra's form, or of a part of that; made on the first run and found again by later ones."""
    path = BASE / f"stream-{scale}.jsonl"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}")
        with part.open("wb") as file:
            for number, line in enumerate(_lines()):
                file.write(line)
                if number % 1000 == 0 and file.tell() >= BYTES * scale:
                    break
        part.rename(path)
    return path


def _lines() -> Iterator[bytes]:
    header = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/home/me"}
    yield _line(header)
    while True:
        for event in _run():
            yield _line(event)


def _line(event: dict[str, Any]) -> bytes:
    return orjson.dumps(event) + b"\n"


def _run() -> Iterator[dict[str, Any]]:
    """A prompt and its answer, with a tool in between."""
    said: list[dict[str, Any]] = []
    yield {"type": "agent_start"}
    yield {"type": "turn_start"}
    question = {"role": "user", "content": [{"type": "text", "text": "Why is it slow?"}], "timestamp": 1767607200000}
    call = {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "cargo bench"}}
    result = {"content": [{"type": "text", "text": _WORDS * 20}], "details": {}}
    told = {"role": "toolResult", "toolCallId": "call_1", "toolName": "bash", **result, "isError": False}
    for message in (question, _answer([call], "toolUse")):
        yield {"type": "message_start", "message": message}
        yield {"type": "message_end", "message": message}
        said.append(message)
    named = {"toolCallId": "call_1", "toolName": "bash"}
    yield {"type": "tool_execution_start", **named, "args": call["arguments"]}
    yield {"type": "tool_execution_end", **named, "result": result, "isError": False}
    yield {"type": "message_start", "message": told}
    yield {"type": "message_end", "message": told}
    yield {"type": "turn_end", "message": said[-1], "toolResults": [told]}
    said.append(told)
    yield {"type": "turn_start"}
    yield {"type": "message_start", "message": _answer([], "stop")}
    text = ""
    for _ in range(_PIECES):
        text += _WORDS
        piece = {"type": "text_delta", "contentIndex": 0, "delta": _WORDS}
        message = _answer([{"type": "text", "text": text}], "stop")
        yield {"type": "message_update", "message": message, "assistantMessageEvent": piece}
    said.append(_answer([{"type": "text", "text": text}], "stop"))
    yield {"type": "message_end", "message": said[-1]}
    yield {"type": "turn_end", "message": said[-1], "toolResults": []}
    yield {"type": "agent_end", "messages": said}


def _answer(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    named = {"role": "assistant", "api": "messages", "provider": "acme", "model": "acme-1"}
    return {**named, "content": content, "usage": _USAGE, "stopReason": reason, "timestamp": 1767607260000}
