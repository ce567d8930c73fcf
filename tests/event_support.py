"""Streams for the tests of events: those of real runs, and made ones."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from support import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/team/app"}

VECTORS = sorted((DATA / "events").iterdir())
"""Folders, each with what a real pi printed, the session that it left, and what the run comes to."""


def stream(folder: Path) -> bytes:
    """What the agent printed; where that is long, it is kept packed."""
    packed = folder / "stream.jsonl.gz"
    return gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / "stream.jsonl").read_bytes()


def stream_file(folder: Path, into: Path) -> Path:
    """The same as a file in another folder."""
    path = into / "stream.jsonl"
    path.write_bytes(stream(folder))
    return path


def case(name: str) -> bytes:
    return (DATA / "cases" / name).read_bytes()


def lines(events: Iterable[object]) -> bytes:
    """Events as an agent prints them."""
    return b"".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for event in events)


def chunks(data: bytes, cuts: Sequence[int]) -> Iterator[bytes]:
    """The data, cut at these places."""
    places = [0, *sorted(cuts), len(data)]
    return (data[start:end] for start, end in pairwise(places))


def user(text: str = "Do it") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answer(text: str | None = "Done", reason: str = "stop", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """What the model says, which costs a dollar; no text at all where that is None."""
    content = [] if text is None else [{"type": "text", "text": text}]
    usage = {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1, "totalTokens": 18, "cost": {"total": 1}}
    named = {"role": "assistant", "provider": "acme", "model": "acme-1"}
    return {**named, "content": content, "usage": usage, "stopReason": reason, **more}


def said(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a message that does not stream."""
    return [{"type": "message_start", "message": message}, {"type": "message_end", "message": message}]


def attempt(*messages: dict[str, Any], end: Sequence[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The events of an attempt; at its end these messages, or those that it had."""
    ended = list(messages) if end is None else list(end)
    told = [event for message in messages for event in said(message)]
    return [{"type": "agent_start"}, {"type": "turn_start"}, *told, {"type": "agent_end", "messages": ended}]
