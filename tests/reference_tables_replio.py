"""The messages of a Replio session as the entries that the tables take them for, in plain Python: docs/tables.md."""

from __future__ import annotations

import json
from typing import Any

from reference import Entry, Line
from reference_json import Json, decode, string

_SAME_KEYS = ("content", "provider", "model")
_TOOL_KEYS = {"tool_call_id": "toolCallId", "tool": "toolName", "is_error": "isError"}


def entry(message: Json, line: int, offset: int) -> Entry:
    """The entry that a message stands for.

    Args:
        message: An element of the log that is an object.
        line: The line of the document where it begins, from 1.
        offset: The byte where it begins.
    """
    role = string(message, "role")
    shared: Json = {"type": "message"}
    if role == "command":
        shared = {"type": "compaction" if string(message, "result") else "command"}
    else:
        shared["message"] = _message(message, role)
    time = string(message, "timestamp")
    if time is not None:
        shared["timestamp"] = f"{time[:10]}T{time[11:]}" if time[10:11] == " " else time
    place = Line(line, offset, 0, b"", had_nuls=False)
    return Entry(place, 0, shared, string(message, "id") or None, None)


def _message(message: Json, role: str | None) -> Json:
    shared = {key: message[key] for key in _SAME_KEYS if message.get(key) is not None}
    shared["role"] = "toolResult" if role == "tool" else role
    if role == "tool":
        shared |= {ours: message[key] for key, ours in _TOOL_KEYS.items() if key in message}
    if role == "assistant":
        shared["content"] = _blocks(message)
    return shared


def _blocks(message: Json) -> list[Any]:
    content, calls = message.get("content"), message.get("tool_calls")
    words = [{"type": "text", "text": content}] if isinstance(content, str) and content else []
    blocks = content if isinstance(content, list) else words
    return [*blocks, *(_call(call) for call in calls if isinstance(call, dict))] if isinstance(calls, list) else blocks


def _call(call: Json) -> Json:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = _json_in(arguments)
    return {"type": "toolCall", "id": call.get("id"), "name": function.get("name"), "arguments": arguments}


def _json_in(text: str) -> Any:  # noqa: ANN401  whatever stands in the JSON
    """What a text says that is JSON; any other text as it is."""
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return text
    return _value(text.strip(" \t\r\n"))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _value(text: str) -> Any:  # noqa: ANN401  whatever stands in the JSON
    [value], _ = decode(text.encode())
    return value


def document(elements: list[tuple[str, str]], before: str = "", after: str = "") -> tuple[bytes, list[Entry]]:
    """A document with such a log, and what the tables take that for.

    Args:
        elements: What stands before each element (white space), and the element's JSON.
        before: What stands before the log, in the document's braces.
        after: What stands behind it.
    """
    data, entries = f'{{{before}"messages": ['.encode(), []
    for number, (space, text) in enumerate(elements):
        data += ("," * (number > 0) + space).encode()
        element = _value(text)
        if isinstance(element, dict):
            entries.append(entry(element, data.count(b"\n") + 1, len(data)))
        data += text.encode()
    return data + f"]{after}}}".encode(), entries
