"""How a session file is read, in plain Python: the oracle that the Rust core is held against.

It follows docs/reading.md section by section, uses the standard library alone and shares nothing with the core. Where
fast and plain differ, it is plain. JSON and usage have files of their own.
"""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

from reference_json import Json, decode, is_number, object_, string
from reference_usage import Record, Usage, records_of, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Found: TypeAlias = tuple[str, int, int]
"""Kind, line and offset of something wrong."""

Report: TypeAlias = tuple[str, int | None, int | None]
"""The same; line and offset are None for what was left out for being too much."""

Loads: TypeAlias = "Callable[[bytes], object]"
"""Decodes a line that is one JSON value as `JSON.parse` would; raises ValueError to leave it to `reference_json`."""

KINDS = ("line", "joined", "bytes", "header", "repeated", "parent", "circle", "tip", "value")
NOTES = frozenset({"parent", "circle", "tip", "value"})
MAX_REPORTS = 10_000
MAX_LINE_BYTES = 512 * 2**20

ENTRY_TYPES = frozenset(
    {
        "message",
        "model_change",
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "usage",
        "context_edit",
        "session",
    }
)


@dataclass(frozen=True, slots=True)
class Session:
    """What a listing says of one file; times are Unix milliseconds."""

    id: str
    cwd: str
    name: str | None
    parent_session_path: str | None
    created: int | None
    modified: int
    message_count: int
    first_message: str
    all_messages_text: str
    size_bytes: int
    entry_count: int
    leaf_id: str | None
    tip_count: int
    usage: Usage
    damage_count: int
    version: int
    damage: list[Report]
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Line:
    """A line without the white space and NULs at its ends."""

    number: int
    offset: int
    size: int
    text: bytes
    had_nuls: bool

    def report(self, kind: str) -> Found:
        return kind, self.number, self.offset


@dataclass(slots=True)
class Entry:
    """A record after the header; `number` is its place among them, from 1."""

    line: Line
    number: int
    json: Json
    id: str | None
    parent_id: str | None
    records: list[Record] = field(default_factory=list)

    @property
    def type(self) -> str | None:
        return string(self.json, "type")

    @property
    def message(self) -> Json:
        return object_(self.json, "message") if self.type == "message" else {}

    @property
    def role(self) -> str | None:
        return string(self.message, "role")


@dataclass(frozen=True, slots=True)
class Contents:
    """What stands in a session file; an old version's header and entries as version 3 has them."""

    header: Json
    version: float
    """The file's own."""
    entries: list[Entry]
    nodes: dict[str, Entry]
    """By id, in file order."""
    parents: dict[str, str | None]
    """Of each node, None for a root."""
    tips: list[str]
    leaf_id: str | None
    reports: list[Found]


def read(data: bytes, *, mtime_ms: int = 0, loads: Loads | None = None) -> Session | None:
    """Read a session file as a listing does.

    Args:
        data: The file's bytes.
        mtime_ms: When it was modified.
        loads: A faster decoder for whole lines, tried first.

    Returns:
        The session, or None when the file is none.
    """
    contents = parse(data, loads)
    if contents is None:
        return None
    header, entries, reports = contents.header, contents.entries, contents.reports
    records = [record for entry in entries for record in entry.records]
    created = parse_time(header.get("timestamp"))
    texts = [(entry.role, message_text(entry.message)) for entry in entries if entry.role in ("user", "assistant")]
    return Session(
        id=header["id"],
        cwd=string(header, "cwd") or "",
        name=session_name(entries),
        parent_session_path=string(header, "parentSession") or None,
        created=created,
        modified=_modified(entries, created, mtime_ms),
        message_count=sum(entry.type == "message" for entry in entries),
        first_message=next((text for role, text in texts if role == "user" and text), "(no messages)"),
        all_messages_text=" ".join(text for _, text in texts if text),
        size_bytes=len(data),
        entry_count=len(entries),
        leaf_id=contents.leaf_id,
        tip_count=len(contents.tips),
        usage=total(records),
        damage_count=sum(kind not in NOTES for kind, _, _ in reports),
        version=_whole(contents.version),
        damage=in_order(reports),
        records=records,
    )


def parse(data: bytes, loads: Loads | None = None) -> Contents | None:
    """The contents of a session file, or None when it is none."""
    reports: list[Found] = []
    header, entries = _header_and_entries(data, reports, loads)
    if header is None:
        return None
    version = _version(header)
    _migrate(header, version, entries)
    nodes = _nodes(entries, reports)
    parents = _parents(nodes, reports)
    tips = _tips(nodes, parents)
    leaf_id = next((entry.id for entry in reversed(entries) if entry.id is not None), None)
    reports += _newer_tips(nodes, parents, tips, leaf_id)
    for entry in entries:
        entry.records = records_of(entry, reports)
    return Contents(header, version, entries, nodes, parents, tips, leaf_id, reports)


def merge(sessions: Sequence[Session]) -> Usage:
    """Add up the usage of many sessions, in their order; each record counts once."""
    return total(record for session in sessions for record in session.records)


def read_store(agent_dir: Path, *, loads: Loads | None = None) -> list[tuple[Path, Session]]:
    """Read all sessions of an agent's folder, newest first, equal times by path."""
    found: dict[Path, Path] = {}
    for path in sorted(agent_dir.glob("sessions/*/*.jsonl"), key=os.fsencode):
        if path.is_file():
            found.setdefault(path.resolve(), path)
    rows = []
    for path in found.values():
        session = read(path.read_bytes(), mtime_ms=path.stat().st_mtime_ns // 1_000_000, loads=loads)
        if session is not None:
            rows.append((path, session))
    return sorted(rows, key=lambda row: (-row[1].modified, os.fsencode(row[0])))


# Lines


def _lines(data: bytes) -> Iterator[Line]:
    offset = 0
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        text = line.strip(b" \t\r\0")
        yield Line(number, offset, len(raw), text, line.count(b"\0") > text.count(b"\0"))
        offset += len(raw) + 1


# Entries


def _header_and_entries(data: bytes, reports: list[Found], loads: Loads | None) -> tuple[Json | None, list[Entry]]:
    header: Json | None = None
    entries: list[Entry] = []
    number = 0
    for line in _lines(data):
        objects, kinds = _objects(line, loads)
        if header is None and len(objects) > 1 and not _is_header(objects[0]):
            objects, kinds = [], ["line"]
        for record in filter(_is_record, objects):
            is_session = string(record, "type") == "session"
            if header is not None:
                number += 1
                if is_session:
                    kinds.append("header")
                else:
                    entries.append(Entry(line, number, record, _id(record), string(record, "parentId") or None))
            elif _is_header(record):
                header = record
            elif string(record, "type") in ENTRY_TYPES:
                return None, []
        reports += map(line.report, kinds)
    return header, entries


def _objects(line: Line, loads: Loads | None) -> tuple[list[Json], list[str]]:
    """The objects on a line, and the kinds of damage to it; no objects when it is skipped."""
    if line.size > MAX_LINE_BYTES:
        return [], ["line"]
    if not line.text:
        return [], ["bytes"] if line.had_nuls else []
    try:
        values, replaced = _loaded(line.text, loads)
    except ValueError:
        return [], ["line"]
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) != len(values) or not any(map(_is_record, objects)):
        return [], ["line"]
    kinds = ["joined"] if len(objects) > 1 else []
    if replaced or line.had_nuls:
        kinds.append("bytes")
    return objects, kinds


def _loaded(text: bytes, loads: Loads | None) -> tuple[list[object], bool]:
    if loads is not None:
        try:
            return [loads(text)], False
        except ValueError:
            pass
    return decode(text)


def _id(record: Json) -> str | None:
    return string(record, "id") or None


def _is_record(value: Json) -> bool:
    return string(value, "type") is not None or string(value, "id") is not None


def _is_header(record: Json) -> bool:
    return string(record, "type") == "session" and string(record, "id") is not None


# Versions


def _version(header: Json) -> float:
    version = header.get("version")
    if version is None:
        return 1
    return version if is_number(version) else 3


def _whole(number: float) -> int:
    """Cut to an integer, and kept within 64 bits."""
    return int(max(-(2**63), min(number, 2**63 - 1)))


def _migrate(header: Json, version: float, entries: list[Entry]) -> None:
    """Make header and entries of an old version what version 3 has in their place."""
    if version < 2:
        _link(entries, header["id"])
        _name_first_kept(entries)
    if version < 3:
        header["version"] = 3
        for entry in entries:
            if entry.role == "hookMessage":
                entry.json["message"]["role"] = "custom"


def _link(entries: list[Entry], session_id: str) -> None:
    """Give the entries of a version-1 file their ids, and each the one before it as its parent."""
    used: set[str] = set()
    previous: str | None = None
    for entry in entries:
        entry.id, entry.parent_id = _derived_id(session_id, entry.number, used), previous
        entry.json |= {"id": entry.id, "parentId": previous}
        used.add(entry.id)
        previous = entry.id


def _name_first_kept(entries: list[Entry]) -> None:
    """Make a compaction's `firstKeptEntryIndex` the id of that entry; a number that is no entry's goes."""
    ids: dict[float, str | None] = {entry.number: entry.id for entry in entries}
    for entry in entries:
        index = entry.json.get("firstKeptEntryIndex")
        if entry.type == "compaction" and is_number(index):
            del entry.json["firstKeptEntryIndex"]
            if index in ids:
                entry.json["firstKeptEntryId"] = ids[index]


def _derived_id(session_id: str, number: int, used: set[str]) -> str:
    n = 0
    while (derived := sha256(f"{session_id}\n{number}\n{n}".encode()).hexdigest()[:8]) in used:
        n += 1
    return derived


# The tree


def _nodes(entries: list[Entry], reports: list[Found]) -> dict[str, Entry]:
    """The last entry of each id, in file order."""
    nodes: dict[str, Entry] = {}
    for entry in entries:
        if entry.id is not None:
            if nodes.pop(entry.id, None) is not None:
                reports.append(entry.line.report("repeated"))
            nodes[entry.id] = entry
    return nodes


def _parents(nodes: dict[str, Entry], reports: list[Found]) -> dict[str, str | None]:
    """Each node's parent, None for a root, circles cut."""
    parents = {name: node.parent_id for name, node in nodes.items()}
    for name, parent in parents.items():
        if parent is not None and parent not in nodes:
            reports.append(nodes[name].line.report("parent"))
            parents[name] = None
    for circle in _circles(parents):
        first = min(circle, key=lambda name: nodes[name].number)
        reports.append(nodes[first].line.report("circle"))
        parents[first] = None
    return parents


def _circles(parents: dict[str, str | None]) -> list[list[str]]:
    circles = []
    visited: set[str] = set()
    for start in parents:
        walk: dict[str, None] = {}
        name: str | None = start
        while name is not None and name not in visited:
            visited.add(name)
            walk[name] = None
            name = parents[name]
        if name in walk:
            names = list(walk)
            circles.append(names[names.index(name) :])
    return circles


def _tips(nodes: dict[str, Entry], parents: dict[str, str | None]) -> list[str]:
    with_children = set(parents.values())
    return [name for name in nodes if name not in with_children]


def _newer_tips(
    nodes: dict[str, Entry], parents: dict[str, str | None], tips: list[str], leaf_id: str | None
) -> list[Found]:
    """Reports of the tips whose branch has newer activity than the leaf's."""
    newest = _newest_on_path(nodes, parents)
    return [nodes[tip].line.report("tip") for tip in tips if newest[tip] > newest[leaf_id]]


def _newest_on_path(nodes: dict[str, Entry], parents: dict[str, str | None]) -> dict[str | None, float]:
    """The newest activity on the path from the root to each node."""
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, parent in parents.items():
        children[parent].append(name)
    newest: dict[str | None, float] = {None: -math.inf}
    waiting: list[str | None] = [None]
    while waiting:
        parent = waiting.pop()
        for name in children[parent]:
            activity = _activity(nodes[name])
            newest[name] = newest[parent] if activity is None else max(newest[parent], activity)
            waiting.append(name)
    return newest


# Times


_TIME = re.compile(
    r"(?P<year>[0-9]{4}|[+-][0-9]{6})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?"
    r"(?:T(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]+))?)?"
    r"(?:Z|(?P<sign>[+-])(?P<zone_hour>[0-9]{2}):(?P<zone_minute>[0-9]{2}))?)?"
)
_MIN_TIME = -62_135_596_800_000
_MAX_TIME = 253_402_300_799_999


def parse_time(text: object) -> int | None:
    """The Unix milliseconds of an ISO 8601 text, or None when it cannot be read."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["year"] == "-000000":
        return None
    year, month, day = int(match["year"]), int(match["month"] or 1), int(match["day"] or 1)
    hour, minute, second = int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0)
    milliseconds = int((match["fraction"] or "")[:3].ljust(3, "0"))
    zone = int(match["zone_hour"] or 0), int(match["zone_minute"] or 0)
    is_end_of_day = (hour, minute, second, milliseconds) == (24, 0, 0, 0)
    if (hour > 23 and not is_end_of_day) or minute > 59 or second > 59 or zone > (23, 59) or zone[1] > 59:
        return None
    try:
        days = _days(year, month, day)
    except ValueError:
        return None
    offset = (zone[0] * 60 + zone[1]) * (-1 if match["sign"] == "-" else 1)
    minutes = (days * 24 + hour) * 60 + minute - offset
    return if_datetime((minutes * 60 + second) * 1000 + milliseconds)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970, of any year: the calendar repeats itself every 400 years, which are 146,097 days."""
    like = date(2000 + year % 400, month, day)
    return (like - date(1970, 1, 1)).days + (year // 400 - 5) * 146_097


def if_datetime(milliseconds: float) -> int | None:
    """Cut to whole milliseconds; None for what a `datetime` cannot hold."""
    return int(milliseconds) if _MIN_TIME <= milliseconds < _MAX_TIME + 1 else None


def _activity(entry: Entry) -> int | None:
    if entry.role not in ("user", "assistant") or not isinstance(entry.message.get("content"), (str, list)):
        return None
    timestamp = entry.message.get("timestamp")
    time = if_datetime(timestamp) if is_number(timestamp) else None
    return parse_time(entry.json.get("timestamp")) if time is None else time


# A listing's row


def _modified(entries: list[Entry], created: int | None, mtime_ms: int) -> int:
    newest = max((activity for entry in entries if (activity := _activity(entry)) is not None), default=0)
    if newest > 0:
        return newest
    return mtime_ms if created is None else created


def session_name(entries: list[Entry]) -> str | None:
    """What the last `session_info` entry says."""
    last = next((entry.json for entry in reversed(entries) if entry.type == "session_info"), {})
    return (string(last, "name") or "").strip() or None


def message_text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [string(block, "text") for block in blocks if isinstance(block, dict) and string(block, "type") == "text"]
    return " ".join(text for text in texts if text is not None)


def in_order(reports: list[Found]) -> list[Report]:
    """The reports that are kept, by line."""
    by_line = sorted(reports, key=lambda report: (report[1], KINDS.index(report[0])))
    by_weight = sorted(by_line, key=lambda report: report[0] in NOTES)
    kept, left_out = by_weight[:MAX_REPORTS], by_weight[MAX_REPORTS:]
    kept.sort(key=lambda report: (report[1], KINDS.index(report[0])))
    return [*kept, *((kind, None, None) for kind, _, _ in left_out[:1])]
