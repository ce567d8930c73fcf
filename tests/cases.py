"""Session files of kinds that have gone wrong in public, and what is right for each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from support import DATA

BIG_HEADER = "17-long-header/big-header.jsonl"


@dataclass(frozen=True)
class Right:
    """What a listing of one file must say; `row` is None where it must leave the file out."""

    row: dict[str, Any] | None
    damage: list[tuple[str, int]] = field(default_factory=list)
    usage: dict[str, float] = field(default_factory=dict)
    cost_by_model: dict[str, float] = field(default_factory=dict)


def data(name: str) -> bytes:
    """The bytes of a case's file."""
    return _big_header() if name == BIG_HEADER else (DATA / "cases" / name).read_bytes()


def _big_header() -> bytes:
    """A header of over a megabyte, more than any look at a file's first bytes can hold."""
    header = {
        "type": "session",
        "version": 3,
        "id": "0199aaaa-0000-7000-8000-000000000017",
        "timestamp": "2026-01-05T10:00:00.000Z",
        "meta": "m" * 1_200_000,
        "cwd": "/home/user/project",
    }
    message = {"role": "user", "content": "after a big header", "timestamp": 1767607260000}
    entry = {"type": "message", "id": "e1000001", "parentId": None, "message": message}
    return f"{json.dumps(header)}\n{json.dumps(entry)}\n".encode()


def _id(number: int) -> str:
    return f"0199aaaa-0000-7000-8000-{number:012}"


def _at(hour: int, minute: int) -> datetime:
    return datetime(2026, 1, 5, hour, minute, tzinfo=UTC)


CASES = {
    "01-torn-tail-append/input.jsonl": Right(
        {
            "entry_count": 2,
            "leaf_id": "e2000002",
            "message_count": 2,
            "first_message": "Rename the config loader",
            "name": None,
            "modified": _at(10, 2),
        },
        damage=[("line", 4)],
    ),
    "03-glued-records/input.jsonl": Right(
        {"entry_count": 4, "leaf_id": "e4000004", "message_count": 4, "tip_count": 1},
        damage=[("joined", 3)],
    ),
    "05-u2028-in-text/input.jsonl": Right(
        {
            "entry_count": 3,
            "leaf_id": "e3000003",
            "message_count": 2,
            "first_message": "First\u2028second\u2029third\u0085fourth",
            "name": "Sep\u2028arated",
            "modified": _at(10, 2),
        },
    ),
    "07-invalid-utf8/input.jsonl": Right(
        {
            "entry_count": 2,
            "leaf_id": "e3000003",
            "message_count": 2,
            "first_message": "caf\ufffd menu",
            "modified": _at(10, 3),
        },
        damage=[("bytes", 2), ("line", 3)],
    ),
    "09-bom/input.jsonl": Right(
        {
            "id": _id(9),
            "entry_count": 2,
            "leaf_id": "e2000002",
            "message_count": 2,
            "first_message": "Check the build",
        },
    ),
    "12-number-range/input.jsonl": Right(
        {"entry_count": 3, "leaf_id": "e3000003", "message_count": 3, "modified": _at(10, 3)},
        damage=[("value", 3)],
        usage={"input": 10, "output": 6, "cost_total": 0.02},
    ),
    "14-non-object-lines/input.jsonl": Right(
        {"entry_count": 2, "leaf_id": "e2000002", "message_count": 2, "first_message": "Say hi"},
        damage=[("line", number) for number in (2, 3, 5, 6, 7, 9, 10)],
    ),
    "15-junk-before-header/input.jsonl": Right(
        {
            "id": _id(15),
            "entry_count": 2,
            "leaf_id": "e2000002",
            "message_count": 2,
            "first_message": "Where am I",
        },
        damage=[("line", 3)],
    ),
    "17-long-header/input.jsonl": Right(
        {
            "entry_count": 2,
            "leaf_id": "e2000002",
            "message_count": 2,
            "first_message": "Deep inside",
            "cwd": "/".join(["/home/user", *(f"very-long-folder-name-{number:02}" for number in range(12))]),
        },
    ),
    BIG_HEADER: Right(
        {
            "entry_count": 1,
            "leaf_id": "e1000001",
            "message_count": 1,
            "first_message": "after a big header",
            "cwd": "/home/user/project",
        },
    ),
    "19-empty-file/empty.jsonl": Right(None),
    "19-empty-file/blank.jsonl": Right(None),
    "20-duplicate-header-and-entries/input.jsonl": Right(
        {
            "id": _id(20),
            "leaf_id": "e5000005",
            "message_count": 2,
            "name": "Twice",
            "tip_count": 1,
            "damage_count": 3,
        },
        damage=[("header", 4), ("repeated", 5), ("repeated", 6)],
    ),
    "23-self-parent/input.jsonl": Right(
        {"entry_count": 3, "leaf_id": "e3000003", "message_count": 3, "tip_count": 2, "damage_count": 0},
        damage=[("circle", 3)],
    ),
    "27-firstkept-label-fork/input.jsonl": Right({"entry_count": 7, "leaf_id": "e7000007", "message_count": 5}),
    "29-two-compactions-overlap/input.jsonl": Right({"entry_count": 9, "leaf_id": "e9000009", "message_count": 7}),
    "30-content-null/input.jsonl": Right(
        {
            "entry_count": 6,
            "leaf_id": "e6000006",
            "message_count": 5,
            "first_message": "Real question",
            "all_messages_text": "Real question Done",
            "modified": _at(10, 6),
        },
    ),
    "32-v1-legacy/input.jsonl": Right(
        {
            "id": "legacy-1",
            "version": 1,
            "entry_count": 5,
            "leaf_id": "65744067",  # printf 'legacy-1\n5\n0' | sha256sum
            "tip_count": 1,
            "message_count": 4,
            "first_message": "v1 question",
        },
    ),
    "34-odd-names/newline.jsonl": Right({"name": "Line one\r\nLine two"}),
    "34-odd-names/cleared.jsonl": Right({"name": None, "first_message": "First words"}),
    "34-odd-names/blank.jsonl": Right({"name": None}),
    "34-odd-names/twice.jsonl": Right({"name": "New"}),
    "36-odd-timestamps/bad-header.jsonl": Right({"created": None, "modified": _at(10, 1)}),
    "36-odd-timestamps/entry-missing.jsonl": Right({"modified": _at(10, 0), "message_count": 1}),
    "36-odd-timestamps/offset.jsonl": Right({"modified": _at(10, 30), "message_count": 2}),
    "36-odd-timestamps/string-message-time.jsonl": Right({"modified": _at(10, 7)}),
    "36-odd-timestamps/seconds.jsonl": Right({"modified": datetime(1970, 1, 21, 11, 0, 7, 740_000, tzinfo=UTC)}),
    "36-odd-timestamps/tool-later.jsonl": Right({"modified": _at(10, 1)}),
    "44-odd-usage/input.jsonl": Right(
        {"entry_count": 9, "message_count": 9, "damage_count": 0},
        damage=[("value", 7)] * 4 + [("value", 8)] * 5 + [("value", 9), ("value", 10)],
        usage={"input": 110.5, "output": 1_000_099, "cost_total": 0.5},
    ),
    "46-branch-and-extra-usage/input.jsonl": Right(
        {"entry_count": 8, "leaf_id": "e8000008", "message_count": 5},
        usage={"input": 7, "output": 7, "cost_total": 0.396},
        cost_by_model={"acme/acme-1": 0.34, "acme/acme-mini": 0.001, "tools and summaries": 0.055},
    ),
}
