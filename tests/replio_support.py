"""Replio sessions to read and to write, for the tests of `sessiontree.replio`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from sessiontree.replio import ReplioStore
from vectors_replio import value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from sessiontree.replio import ReplioSession

Json: TypeAlias = dict[str, Any]

START = datetime(2031, 3, 4, 5, 6, 7, tzinfo=UTC)
TIME = "2031-03-04T05:06:07+00:00"
LATER = "2031-03-04T05:06:08+00:00"
STAMP = "20310304_050607"
SEED_KEYS = ["name", "created_at", "updated_at", "messages", "errors", "permissions", "parent_id", "sub_sessions"]


class Clock:
    """A clock that stands still unless it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def tick(self) -> None:
        """Let a second pass."""
        self.now += timedelta(seconds=1)


def store_in(folder: Path, *, clock: Clock | None = None, **options: Any) -> ReplioStore:  # noqa: ANN401
    """The store of a project, on a clock of our own."""
    return ReplioStore(folder, clock=clock or Clock(), **options)


def put(store: ReplioStore, name: str, content: bytes | Json) -> Path:
    """Write a session file as another program does, behind the store's back."""
    path = store.sessions_dir / f"{name}.json"
    path.write_bytes(content if isinstance(content, bytes) else dumped(content))
    return path


def dumped(document: Json) -> bytes:
    """A document as it is laid out on disk."""
    return json.dumps(document, ensure_ascii=False, indent=2).encode()


def document(name: str, *messages: object, **more: object) -> Json:
    times = {"created_at": TIME, "updated_at": TIME}
    rest = {"errors": [], "permissions": [], "parent_id": "", "sub_sessions": []}
    return {"name": name, **times, "messages": list(messages), **rest, **more}


def on_disk(session: ReplioSession) -> Json:
    """What stands in the session's file."""
    assert session.path is not None
    found = value(session.path)
    assert isinstance(found, dict)
    return found


def user(text: object = "Question", **more: object) -> Json:
    return {"role": "user", "content": text, "timestamp": TIME, **more}


def answer(text: object = "Answer", **more: object) -> Json:
    return {"role": "assistant", "content": text, "timestamp": TIME, **more}


def call(call_id: str, name: str = "grep", arguments: str = "{}") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, text: object = "Result", tool: str = "grep", **more: object) -> Json:
    return {"role": "tool", "content": text, "timestamp": TIME, "tool_call_id": call_id, "tool": tool, **more}


def command(text: str, **more: object) -> Json:
    return {"role": "command", "content": text, "timestamp": TIME, **more}


def record(summary: str, compact_from: object) -> Json:
    return command("/compact", result=summary, compact_from=compact_from)


def contents(messages: Iterable[Mapping[str, Any]]) -> list[object]:
    return [message.get("content") for message in messages]


def without_nulls(message: Json) -> Json:
    """The message as we write it: an optional field that is null is left out."""
    return {key: one for key, one in message.items() if one is not None or key == "content"}
