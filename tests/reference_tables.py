"""The rows of a session's tables, in plain Python: docs/tables.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from reference import Entry, if_datetime, message_text, parse, parse_time
from reference_json import is_number, string
from reference_usage import first_of_equal

if TYPE_CHECKING:
    from reference_usage import Record

Row: TypeAlias = dict[str, Any]
"""Times are Unix milliseconds, JSON is decoded."""

_COSTS = ("cost_total", "cost_cache_write", "cost_cache_read", "cost_output", "cost_input")
_NUMBERS = ("input", "output", "cache_read", "cache_write", "total_tokens", *_COSTS)


def tables(files: list[tuple[str, bytes]]) -> dict[str, list[Row]]:
    """The rows of all tables but that of the sessions.

    Args:
        files: The sessions' paths and bytes, in the scan's order.
    """
    return tables_of([(path, *_read(data)) for path, data in files])


def _read(data: bytes) -> tuple[str, list[Entry]]:
    contents = parse(data)
    assert contents is not None
    return contents.header["id"], contents.entries


def tables_of(sessions: list[tuple[str, str, list[Entry]]]) -> dict[str, list[Row]]:
    """As `tables`, of each session's path, id and entries."""
    found: dict[str, list[Row]] = {"entries": [], "messages": [], "tool_calls": [], "usage_records": []}
    records: list[Record] = []
    for path, session_id, entries in sessions:
        session = {"path": path, "session_id": session_id}
        found["entries"] += [session | _entry(entry) for entry in entries]
        found["messages"] += [session | _message(entry) for entry in entries if entry.type == "message"]
        found["tool_calls"] += [session | call for call in _tool_calls(entries)]
        for entry in entries:
            found["usage_records"] += [session | _usage(entry, record) for record in entry.records]
            records += entry.records
    counted = {id(record) for record in first_of_equal(records)}
    for row, record in zip(found["usage_records"], records, strict=True):
        row["is_repeated"] = id(record) not in counted
    return found


def _time(entry: Entry) -> int | None:
    return parse_time(entry.json.get("timestamp"))


def _entry(entry: Entry) -> Row:
    return {
        "line": entry.line.number,
        "id": entry.id,
        "parent_id": entry.parent_id,
        "type": entry.type,
        "timestamp": _time(entry),
    }


def _message(entry: Entry) -> Row:
    message = entry.message
    timestamp, is_error = message.get("timestamp"), message.get("isError")
    own_time = if_datetime(timestamp) if is_number(timestamp) else None
    return {
        "entry_id": entry.id,
        "line": entry.line.number,
        "role": entry.role,
        "timestamp": _time(entry) if own_time is None else own_time,
        "text": message_text(message),
        "provider": string(message, "provider"),
        "model": string(message, "model"),
        "stop_reason": string(message, "stopReason"),
        "tool_call_id": string(message, "toolCallId"),
        "tool_name": string(message, "toolName"),
        "is_error": is_error if isinstance(is_error, bool) else None,
    }


def _tool_calls(entries: list[Entry]) -> list[Row]:
    rows: list[Row] = []
    open_calls: dict[str, Row] = {}
    for entry in entries:
        message = entry.message
        content = message.get("content")
        if entry.role == "assistant" and isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and block.get("type") == "toolCall":
                    rows.append(_tool_call(entry, block))
                    if call_id := string(block, "id"):
                        open_calls[call_id] = rows[-1]
        if entry.role == "toolResult":
            is_error = message.get("isError")
            answered = open_calls.pop(string(message, "toolCallId") or "", None)
            if answered is not None:
                answered["is_error"] = is_error if isinstance(is_error, bool) else None
                answered["result_line"] = entry.line.number
                answered["result_timestamp"] = _time(entry)
    return rows


def _tool_call(entry: Entry, block: Row) -> Row:
    return {
        "entry_id": entry.id,
        "line": entry.line.number,
        "timestamp": _time(entry),
        "id": string(block, "id"),
        "name": string(block, "name"),
        "arguments": block.get("arguments"),
        "is_error": None,
        "result_line": None,
        "result_timestamp": None,
    }


def _usage(entry: Entry, record: Record) -> Row:
    holder = entry.message if entry.type == "message" else entry.json
    has_model = entry.role == "assistant" or entry.type == "usage"
    return {
        "entry_id": entry.id,
        "line": entry.line.number,
        "timestamp": _time(entry),
        "kind": "tool" if entry.role == "toolResult" else entry.type,
        "provider": string(holder, "provider") if has_model else None,
        "model": string(holder, "model") if has_model else None,
        **dict.fromkeys(_NUMBERS, 0.0),
        **dict(zip(_NUMBERS, record.numbers, strict=False)),  # a cost that is no object has no parts
    }
