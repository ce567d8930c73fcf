"""Sessions to write to, and what their files hold afterwards, for the tests of writing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from sessiontree import SessionManager

Json: TypeAlias = dict[str, Any]

CWD = "/team/app"
TIME = "2026-01-05T10:00:00.000Z"
TIME_MS = 1_767_607_200_000


def user(text: str = "Question") -> Json:
    return {"role": "user", "content": text, "timestamp": TIME_MS}


def answer(text: str = "Answer") -> Json:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "acme", "model": "acme-1", "timestamp": TIME_MS}


def line(record: Json) -> bytes:
    """The record as a program of the format writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def header(session_id: str = "s1", *, version: float = 3, cwd: str = CWD, **more: object) -> Json:
    return {"type": "session", "version": version, "id": session_id, "timestamp": TIME, "cwd": cwd, **more}


def entry(entry_id: str, parent_id: str | None, kind: str = "message", **payload: object) -> Json:
    return {"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": TIME, **payload}


def session(session_id: str = "s1", *, cwd: str = CWD, version: float = 3, text: str = "First") -> bytes:
    """A chain of three messages: e1000001, e2000002, e3000003."""
    return b"".join(
        line(record)
        for record in (
            header(session_id, version=version, cwd=cwd),
            entry("e1000001", None, message=user(text)),
            entry("e2000002", "e1000001", message=answer()),
            entry("e3000003", "e2000002", message=user("Last")),
        )
    )


def old_session(answers: int = 2, *, text: str = "Answer") -> bytes:
    """A session of version 1, with a compaction and lines that cannot be read."""
    records: list[Json] = [
        {"type": "session", "id": "old", "timestamp": TIME, "cwd": CWD},
        {"type": "message", "timestamp": TIME, "message": user("Old question")},
        {
            "type": "message",
            "timestamp": TIME,
            "message": {"role": "hookMessage", "customType": "memo", "content": "x"},
        },
        {"type": "compaction", "timestamp": TIME, "summary": "Before", "firstKeptEntryIndex": 2, "tokensBefore": 10},
        *({"type": "message", "timestamp": TIME, "message": answer(text)} for _ in range(answers)),
    ]
    lines = [line(record) for record in records]
    return b"".join([lines[0], b'{"torn":\n', *lines[1:], b"\xffno entry\n"])


def records(path: Path) -> list[Json]:
    """What stands in the file, which must be one whole object a line."""
    data = path.read_bytes()
    assert data.endswith(b"\n"), "the last line must be whole"
    found = [json.loads(one) for one in data[:-1].split(b"\n")]
    assert all(isinstance(record, dict) for record in found)
    return found


def whole_lines(data: bytes) -> list[Json]:
    """The objects that stand on a line of their own, whatever else is in the file."""
    found = []
    for one in data.split(b"\n"):
        try:
            record = json.loads(one)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def ids(manager: SessionManager) -> list[str | None]:
    return [one.id for one in manager.get_entries()]


def state(manager: SessionManager) -> Json:
    """All that a failed call must leave as it was."""
    return {
        "session_id": manager.get_session_id(),
        "file": manager.get_session_file(),
        "leaf": manager.get_leaf_id(),
        "entries": [(one.id, one.parent_id, one.type) for one in manager.get_entries()],
        "tips": [one.id for one in manager.get_tips()],
        "branch": [one.id for one in manager.get_branch()],
        "name": manager.get_session_name(),
        "labels": {one.id: manager.get_label(one.id) for one in manager.get_entries() if one.id is not None},
        "cwd": manager.get_cwd(),
    }


def no_leftovers(folder: Path, *expected: Path) -> bool:
    """Whether the folder holds these files and no others, temporary ones included."""
    return sorted(folder.iterdir()) == sorted(expected)
