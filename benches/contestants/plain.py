"""How it is done in Python today: decode every line with orjson and pick what is wanted, on one thread.

`python -m benches.contestants.plain JOB PATH`. What is no object with a type is passed over; little else is checked.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from .digest import comparable, digest
from .rounds import serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = dict[str, Any]


def records(path: Path) -> Iterator[Json]:
    with path.open("rb") as file:
        for line in file:
            try:
                record = orjson.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "type" in record:
                yield record


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


# Listing


@dataclass(slots=True)
class Info:
    """A row of a listing."""

    path: Path
    id: str
    cwd: str
    parent_session: str | None
    created: int
    modified: int = 0
    name: str | None = None
    message_count: int = 0
    entry_count: int = 0
    first_message: str = ""
    leaf_id: str | None = None
    tip_count: int = 0
    tokens: float = 0
    cost: float = 0


def list_all(agent_dir: Path) -> list[Info]:
    infos = [info for path in agent_dir.glob("sessions/*/*.jsonl") if (info := read(path)) is not None]
    return sorted(infos, key=lambda info: info.modified, reverse=True)


def read(path: Path) -> Info | None:
    entries = records(path)
    header = next(entries, {})
    if header.get("type") != "session":
        return None
    created = milliseconds(header["timestamp"])
    info = Info(path, header["id"], header.get("cwd", ""), header.get("parentSession"), created)
    ids, parents = [], set()
    for entry in entries:
        info.entry_count += 1
        ids.append(entry.get("id"))
        parents.add(entry.get("parentId"))
        if entry["type"] == "session_info":
            info.name = entry.get("name")
        elif entry["type"] == "message":
            info.message_count += 1
            add(info, entry, entry.get("message") or {})
    info.leaf_id = ids[-1] if ids else None
    info.tip_count = sum(id not in parents for id in ids)
    info.modified = info.modified or created
    return info


def add(info: Info, entry: Json, message: Json) -> None:
    if message.get("role") in ("user", "assistant"):
        time = message.get("timestamp")
        info.modified = max(info.modified, milliseconds(entry["timestamp"]) if time is None else time)
    if message.get("role") == "user" and not info.first_message:
        info.first_message = text(message.get("content"))
    usage = message.get("usage") or {}
    cost = usage.get("cost")
    info.tokens += number(usage.get("input")) + number(usage.get("output"))
    info.cost += number(cost.get("total") if isinstance(cost, dict) else cost)


def number(value: object) -> float:
    return value if isinstance(value, (int, float)) else 0


def text(content: str | list[Json] | None) -> str:
    if isinstance(content, str):
        return content
    return " ".join(block["text"] for block in content or [] if block["type"] == "text")


def rows(agent_dir: Path) -> Mapping[str, list[Any]]:
    return {
        str(info.path): [info.message_count, info.modified, info.first_message or "(no messages)"]
        for info in list_all(agent_dir)
    }


# Contexts


def context(path: Path) -> list[Json]:
    """The messages from the root to the last entry, with the last compaction and edits, without its summary."""
    entries = list(records(path))
    branch = path_to_last(entries[1:])
    last = max((place for place, entry in enumerate(branch) if entry["type"] == "compaction"), default=None)
    if last is not None:
        first_kept = branch[last].get("firstKeptEntryId")
        start = next((place for place, entry in enumerate(branch[:last]) if entry["id"] == first_kept), last)
        branch = [branch[last], *branch[start:last], *branch[last + 1 :]]
    edits = {entry["targetId"]: entry["replacement"] for entry in branch if entry["type"] == "context_edit"}
    messages = [edited(entry, edits) for entry in branch if entry["type"] == "message"]
    return [message for message in messages if message is not None]


def path_to_last(entries: list[Json]) -> list[Json]:
    by_id = {entry.get("id"): entry for entry in entries}
    branch: list[Json] = []
    entry = entries[-1] if entries else None
    while entry is not None and len(branch) < len(entries):  # damaged files have circles
        branch.append(entry)
        entry = by_id.get(entry.get("parentId"))
    return branch[::-1]


def edited(entry: Json, edits: Json) -> Json | None:
    message: Json = entry["message"]
    if entry.get("id") not in edits:
        return message
    if edits[entry["id"]] is None:
        return None
    content = edits[entry["id"]]["content"]
    if isinstance(content, str) and message["role"] in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def contexts(agent_dir: Path) -> Iterator[tuple[Path, list[Json]]]:
    for path in sorted(agent_dir.glob("sessions/*/*.jsonl")):
        yield path, context(path)


def main() -> None:
    job, path = sys.argv[1], Path(sys.argv[2])
    if job == "listing":
        serve(lambda: list_all(path), lambda: rows(path))
    elif job == "context":
        serve(lambda: context(path), lambda: comparable(context(path)))
    elif job == "contexts":
        serve(
            lambda: sum(len(messages) for _, messages in contexts(path)),
            lambda: {str(path): digest(messages) for path, messages in contexts(path)},
        )
    else:
        sys.exit(f"no job {job!r}")


if __name__ == "__main__":
    main()
