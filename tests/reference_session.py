"""What opening a session file gives, in plain Python: the oracle that `SessionManager` is held against.

It follows the format's rules on versions, the tree, the context and usage one by one, on top of `reference.py`; it uses
the standard library alone and shares nothing with the core.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference import Contents, Entry, Report, in_order, parse, parse_time, session_name
from reference_json import Json, is_number, object_, string
from reference_usage import Usage, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Label:
    """A label, and when it was given, in Unix milliseconds; None when that cannot be read."""

    text: str
    timestamp: int | None


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is sent; `model` is provider and model id."""

    messages: list[Json]
    thinking_level: str
    model: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session file as it is once it is open for reading.

    Attributes:
        children: The ids of each node's children, in file order; those of None are the roots.
        labels: By the id of the entry that each is for, whether there is one or not.
        branch_usage: What the entries from the root to the leaf used.
    """

    header: Json
    entries: list[Entry]
    nodes: dict[str, Entry]
    leaf_id: str | None
    name: str | None
    children: dict[str | None, list[str]]
    labels: dict[str, Label]
    tips: list[str]
    usage: Usage
    branch_usage: Usage
    damage: list[Report]


def open_session(data: bytes) -> OpenSession | None:
    """Open a session file for reading.

    Args:
        data: The file's bytes.

    Returns:
        The session, or None when the file is none.
    """
    contents = parse(data)
    if contents is None:
        return None
    walked = branch(contents.nodes, contents.leaf_id)
    in_file_order = sorted(walked, key=lambda entry: entry.number)
    return OpenSession(
        header=contents.header,
        entries=contents.entries,
        nodes=contents.nodes,
        leaf_id=contents.leaf_id,
        name=session_name(contents.entries),
        children=_children(contents),
        labels=_labels(contents.entries),
        tips=contents.tips,
        usage=total(record for entry in contents.entries for record in entry.records),
        branch_usage=total(record for entry in in_file_order for record in entry.records),
        damage=in_order(contents.reports),
    )


# The tree


def branch(nodes: dict[str, Entry], from_id: str | None) -> list[Entry]:
    """The entries from the root to the one named; none for None.

    The walk stops at a parent that no entry is, and at an entry that it has visited.
    """
    visited: dict[str, Entry] = {}
    at = from_id
    while at is not None and at in nodes and at not in visited:
        visited[at] = nodes[at]
        at = nodes[at].parent_id
    return list(reversed(visited.values()))


def _children(contents: Contents) -> dict[str | None, list[str]]:
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for name in contents.nodes:
        children[contents.parents[name]].append(name)
    return children


def tree(session: OpenSession) -> Iterator[tuple[int, str]]:
    """All nodes as the tree shows them, each before its children: how deep it stands, and its id."""
    waiting = [(0, name) for name in reversed(session.children.get(None, []))]
    while waiting:
        depth, name = waiting.pop()
        yield depth, name
        below = _by_time(session, session.children.get(name, []))
        waiting += [(depth + 1, child) for child in reversed(below)]


def _by_time(session: OpenSession, siblings: list[str]) -> list[str]:
    """Oldest first; one whose time cannot be read has that of the sibling before it, the first one the oldest."""
    times: dict[str, float] = {}
    latest = -math.inf
    for name in siblings:
        time = parse_time(session.nodes[name].json.get("timestamp"))
        latest = latest if time is None else time
        times[name] = latest
    return sorted(siblings, key=lambda name: times[name])


def _labels(entries: list[Entry]) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    for entry in entries:
        target = string(entry.json, "targetId")
        if entry.type == "label" and target:
            labels.pop(target, None)
            text = string(entry.json, "label")
            if text:
                labels[target] = Label(text, parse_time(entry.json.get("timestamp")))
    return labels


# The context


_WITHOUT_CONTENT: Json = {"user": [], "assistant": [], "toolResult": [], "system": ""}
"""What the content of a message reads as where it has none, by role."""

_EDITABLE = frozenset({"user", "assistant", "toolResult", "custom"})
"""The roles of messages whose content an edit can replace."""

_OMIT = object()
"""Stands for an edit that takes the message out."""


def context(path: list[Entry]) -> Context:
    """What a model is sent at the end of a path from a root."""
    thinking_level, model = "off", None
    for entry in path:
        if entry.type == "thinking_level_change":
            thinking_level = _string(entry.json, "thinkingLevel", thinking_level)
        elif entry.type == "model_change":
            model = _model(entry.json, "modelId") or model
        elif entry.role == "assistant":
            model = _model(entry.message, "model") or model
    return Context(_messages(path), thinking_level, model)


def _string(holder: Json, key: str, default: str) -> str:
    value = string(holder, key)
    return default if value is None else value


def _model(holder: Json, key: str) -> tuple[str, str] | None:
    provider, model_id = string(holder, "provider"), string(holder, key)
    return None if provider is None or model_id is None else (provider, model_id)


def _messages(path: list[Entry]) -> list[Json]:
    selected = _selected(path)
    edits = _edits(selected)
    messages: list[Json] = []
    for entry in selected:
        edit = edits.get(entry.id)
        if edit is not _OMIT:
            messages += [message if edit is None else _edited(message, edit) for message in _messages_of(entry)]
    return messages


def _selected(path: list[Entry]) -> list[Entry]:
    """The path's entries that the context is made of: all, or the last compaction, what it keeps, and what follows."""
    last = max((place for place, entry in enumerate(path) if entry.type == "compaction"), default=None)
    if last is None:
        return path
    compaction = path[last]
    first_kept = string(compaction.json, "firstKeptEntryId")
    start = next((place for place, entry in enumerate(path[:last]) if entry.id == first_kept), last)
    kept = [entry for entry in path[start:last] if entry.type != "compaction"]
    kept = [entry for entry in kept if entry.role != "system"]
    return [compaction, *kept, *path[last + 1 :]]


def _messages_of(entry: Entry) -> list[Json]:
    match entry.type:
        case "message":
            return _repaired(entry.message)
        case "custom_message":
            made = _made(entry, "custom", customType=_is_string, content=_is_content, display=_is_bool, details=_is_any)
            return [{"content": [], **made}]
        case "branch_summary":
            made = _made(entry, "branchSummary", summary=_is_string, fromId=_is_string)
            return [made] if made.get("summary") else []
        case "compaction":
            made = _made(entry, "compactionSummary", summary=_is_string, tokensBefore=is_number)
            return [*_system_message(entry), {"summary": "", **made}]
    return []


def _system_message(compaction: Entry) -> list[Json]:
    return _repaired(object_(compaction.json, "systemMessage"))


def _repaired(message: Json) -> list[Json]:
    """The message with a content that is usable, or none when it has neither role nor content."""
    role = string(message, "role")
    if _is_content(message.get("content")):
        return [message]
    if role in _WITHOUT_CONTENT:
        return [{**message, "content": _WITHOUT_CONTENT[role]}]
    return [] if role is None else [message]


def _made(entry: Entry, role: str, **fields: Callable[[object], bool]) -> Json:
    """A message with those of the entry's fields that are what they should be."""
    message: Json = {"role": role}
    for key, is_right in fields.items():
        value = entry.json.get(key)
        if value is not None and is_right(value):
            message[key] = value
    timestamp = parse_time(entry.json.get("timestamp"))
    return message if timestamp is None else {**message, "timestamp": timestamp}


def _edits(selected: list[Entry]) -> dict[str | None, object]:
    """The content that each target's last edit gives it, or `_OMIT`."""
    edits: dict[str | None, object] = {}
    for entry in selected:
        if entry.type == "context_edit":
            target = string(entry.json, "targetId")
            if "replacement" in entry.json and entry.json["replacement"] is None:
                edits[target] = _OMIT
            elif _is_content(content := object_(entry.json, "replacement").get("content")):
                edits[target] = content
    return edits


def _edited(message: Json, content: object) -> Json:
    role = string(message, "role")
    if role not in _EDITABLE:
        return message
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_content(value: object) -> bool:
    return isinstance(value, (str, list))


def _is_any(_: object) -> bool:
    return True
