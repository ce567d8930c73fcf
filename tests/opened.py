"""Sessions that are open, those of the product, of the reference and of the vectors, in one form."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from datetime import datetime, timedelta
from reprlib import Repr
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

import reference_session
from reference import Entry as ReferenceEntry, parse_time
from reference_json import decode
from support import EPOCH, reports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from reference_json import Json
    from reference_session import OpenSession
    from reference_usage import Usage as ReferenceUsage
    from sessiontree import Entry, SessionContext, SessionManager, TreeNode, Usage

Facts: TypeAlias = dict[str, Any]
"""What is known of an open session, by what it is called here."""

CLASSES = {
    "message": "MessageEntry",
    "model_change": "ModelChangeEntry",
    "thinking_level_change": "ThinkingLevelChangeEntry",
    "compaction": "CompactionEntry",
    "branch_summary": "BranchSummaryEntry",
    "custom": "CustomEntry",
    "custom_message": "CustomMessageEntry",
    "label": "LabelEntry",
    "session_info": "SessionInfoEntry",
    "usage": "UsageEntry",
    "context_edit": "ContextEditEntry",
}
"""The classes of entries, by type; all others are `UnknownEntry`."""

MAX_WALKS = 30
"""From how many entries of a session branches and contexts are looked at; in a long chain, all would take for ever."""


def manager_facts(manager: SessionManager) -> Facts:
    """The facts of the product's session; its leaf ends where it was."""
    entries, leaf_id = manager.get_entries(), manager.get_leaf_id()
    ids = list(dict.fromkeys(entry.id for entry in entries if entry.id is not None))
    walked = _walked(ids)
    header = manager.get_header()
    return {
        "header": header.raw,
        "session_id": manager.get_session_id(),
        "leaf_id": leaf_id,
        "leaf": _id(manager.get_leaf_entry()),
        "name": manager.get_session_name(),
        "entries": [_entry_facts(entry) for entry in entries],
        "named": {name: _entry_facts(entry) for name in walked if (entry := manager.get_entry(name)) is not None},
        "children": {name: _ids(manager.get_children(name)) for name in (None, *ids)},
        "tree": list(_tree_rows(manager.get_tree())),
        "labels": _labels(manager, entries),
        "branches": {name: _ids(manager.get_branch(name)) for name in (None, *walked)},
        "tips": _ids(manager.get_tips()),
        "contexts": _contexts(manager, leaf_id),
        "usage": _usage_facts(manager.usage()),
        "branch_usage": _usage_facts(manager.usage(branch_only=True)),
        "damage": reports(manager.damage),
    }


def _usage_facts(usage: Usage | ReferenceUsage) -> Facts:
    """All numbers as doubles: whole ones come out as they like."""
    facts = asdict(usage)
    by_model = facts.pop("by_model")
    return {name: float(number) for name, number in facts.items()} | {
        "by_model": {model: {name: float(part[name]) for name in facts} for model, part in by_model.items()}
    }


def _walked(ids: list[str]) -> list[str]:
    return ids[:: len(ids) // MAX_WALKS + 1]


def _id(entry: Entry | None) -> str | None:
    return None if entry is None else entry.id


def _ids(entries: Iterable[Entry]) -> list[str | None]:
    return [entry.id for entry in entries]


def _entry_facts(entry: Entry) -> Facts:
    return {
        "class": type(entry).__name__,
        "type": entry.type,
        "id": entry.id,
        "parent_id": entry.parent_id,
        "timestamp": entry.timestamp,
        "raw": entry.raw,
    }


def _tree_rows(roots: list[TreeNode]) -> Iterator[Facts]:
    waiting = [(0, node) for node in reversed(roots)]
    while waiting:
        depth, node = waiting.pop()
        yield {
            "depth": depth,
            "id": node.entry.id,
            "label": node.label,
            "label_timestamp": node.label_timestamp,
        }
        waiting += [(depth + 1, child) for child in reversed(node.children)]


def _labels(manager: SessionManager, entries: list[Entry]) -> dict[str, str]:
    targets = {str(entry.raw["targetId"]) for entry in entries if isinstance(entry.raw.get("targetId"), str)}
    ids = {entry.id for entry in entries if entry.id is not None}
    return {name: label for name in ids | targets if (label := manager.get_label(name)) is not None}


def _contexts(manager: SessionManager, leaf_id: str | None) -> dict[str | None, Facts]:
    contexts: dict[str | None, Facts] = {None: context_facts(manager.build_session_context())}
    for tip in _walked([tip.id for tip in manager.get_tips() if tip.id is not None]):
        manager.branch(tip)
        contexts[tip] = context_facts(manager.build_session_context())
    if leaf_id is not None:
        manager.branch(leaf_id)
    return contexts


def context_facts(context: SessionContext) -> Facts:
    model = context.model and (context.model.provider, context.model.model_id)
    return {"messages": list(context.messages), "thinking_level": context.thinking_level, "model": model}


def reference_facts(session: OpenSession) -> Facts:
    """The same facts of the reference's session."""
    walked = _walked(list(dict.fromkeys(entry.id for entry in session.entries if entry.id is not None)))
    tips = _walked(session.tips)
    branches = {name: reference_session.branch(session.nodes, name) for name in (session.leaf_id, *walked, *tips)}
    branches[None] = branches[session.leaf_id]
    return {
        "header": session.header,
        "session_id": session.header["id"],
        "leaf_id": session.leaf_id,
        "leaf": session.leaf_id,
        "name": session.name,
        "entries": [_reference_entry_facts(entry) for entry in session.entries],
        "named": {name: _reference_entry_facts(session.nodes[name]) for name in walked},
        "children": {name: session.children.get(name, []) for name in (None, *session.nodes)},
        "tree": [_reference_tree_row(session, depth, name) for depth, name in reference_session.tree(session)],
        "labels": {target: label.text for target, label in session.labels.items()},
        "branches": {name: [entry.id for entry in branches[name]] for name in (None, *walked)},
        "tips": session.tips,
        "contexts": {name: _reference_context(branches[name]) for name in (None, *tips)},
        "usage": _usage_facts(session.usage),
        "branch_usage": _usage_facts(session.branch_usage),
        "damage": session.damage,
    }


def _reference_entry_facts(entry: ReferenceEntry) -> Facts:
    return {
        "class": CLASSES.get(entry.type or "", "UnknownEntry"),
        "type": entry.type,
        "id": entry.id,
        "parent_id": entry.parent_id,
        "timestamp": _datetime(parse_time(entry.json.get("timestamp"))),
        "raw": entry.json,
    }


def _reference_tree_row(session: OpenSession, depth: int, name: str) -> Facts:
    label = session.labels.get(name)
    return {
        "depth": depth,
        "id": name,
        "label": label and label.text,
        "label_timestamp": label and _datetime(label.timestamp),
    }


def _reference_context(path: list[ReferenceEntry]) -> Facts:
    context = reference_session.context(path)
    return {"messages": context.messages, "thinking_level": context.thinking_level, "model": context.model}


def _datetime(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else EPOCH + timedelta(milliseconds=milliseconds)


def brief(facts: Facts) -> Facts:
    """The facts, and what follows from them, as hand-written expectations have it."""
    context = facts["contexts"][None]
    return {
        **facts,
        **context,
        "entry_count": len(facts["entries"]),
        "message_count": len(context["messages"]),
        "entries": [{key: entry[key] for key in ("type", "id", "parent_id")} for entry in facts["entries"]],
        "raw": [entry["raw"] for entry in facts["entries"]],
        "timestamps": [entry["timestamp"] for entry in facts["entries"]],
        "branch": facts["branches"][None],
        "roots": facts["children"][None],
        "rows": [(row["depth"], row["id"]) for row in facts["tree"]],
        "label_timestamps": {row["id"]: row["label_timestamp"] for row in facts["tree"] if row["label"] is not None},
        "said": said(context["messages"]),
        "said_at": {name: said(at["messages"]) for name, at in facts["contexts"].items()},
        "texts": [text for _, text in said(context["messages"])],
        "damage": [(kind, line) for kind, line, _ in facts["damage"]],
    }


def said(messages: list[Json]) -> list[tuple[object, str]]:
    """The role and the text of each message: its content or summary, or the text blocks in it."""
    return [(message.get("role"), _text(message.get("content", message.get("summary")))) for message in messages]


# Vectors


def is_refused(folder: Path) -> bool:
    """Whether a vector's file is no session that can be opened for reading: an empty one is none."""
    expected = folder / "expected.json"
    is_error = expected.exists() and "error" in json.loads(expected.read_text(encoding="utf-8"))["open"]
    return is_error or not next(folder.glob("*.jsonl")).stat().st_size


def vector_facts(folder: Path, facts: Facts) -> tuple[Facts, Facts]:
    """What of the facts a vector lays down, and what it says there.

    The ids that a migration invents stand in vectors as `#` and the entry's place, from 1.
    """
    found = brief(facts)
    expected: Facts = {}
    if (folder / "expected.json").exists():
        text = (folder / "expected.json").read_text(encoding="utf-8")
        ids = [entry["id"] for entry in facts["entries"]]
        text = re.sub('"#([0-9]+)"', lambda place: json.dumps(ids[int(place[1]) - 1]), text)
        values: list[Any] = decode(text.strip().encode())[0]
        expected |= _expected(values[0]["open"])
    if (folder / "right.json").exists():
        right = json.loads((folder / "right.json").read_text(encoding="utf-8"))["values"]
        names = {"open.entryCount": "entry_count", "context.texts": "texts"}
        expected |= {names[key]: value for key, value in right.items() if key in names}
    if "contexts" in expected:
        found["contexts"] = {name: found["contexts"].get(name) for name in expected["contexts"]}
    return {name: found[name] for name in expected}, expected


def _text(content: Any) -> str:  # noqa: ANN401  whatever stands in the JSON
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return " ".join(block["text"] for block in blocks if isinstance(block, dict) and "text" in block)


def _expected(opened: Json) -> Facts:
    expected: Facts = {
        "header": opened["header"],
        "session_id": opened["sessionId"],
        "leaf_id": opened["leafId"],
        "name": opened["name"],
        "entries": [
            {"type": entry["type"], "id": entry["id"], "parent_id": entry.get("parentId")}
            for entry in opened["entries"]
        ],
        "branch": opened["branch"],
        "labels": opened["labels"],
    }
    if "tree" in opened:
        expected["tree"] = list(_expected_rows(opened["tree"]))
    if isinstance(opened["context"]["messages"], int):
        expected |= _expected_context(opened["context"]) | {"message_count": opened["context"]["messages"]}
        del expected["messages"]
    else:
        contexts = {None: opened["context"], **opened["contextAt"]}
        expected["contexts"] = {name: _expected_context(context) for name, context in contexts.items()}
    return expected


def _expected_context(context: Json) -> Facts:
    model = context["model"] and (context["model"]["provider"], context["model"]["modelId"])
    return {"messages": context["messages"], "thinking_level": context["thinkingLevel"], "model": model}


def _expected_rows(roots: list[Json]) -> Iterator[Facts]:
    waiting = [(0, node) for node in reversed(roots)]
    while waiting:
        depth, node = waiting.pop()
        yield {
            "depth": depth,
            "id": node["id"],
            "label": node.get("label"),
            "label_timestamp": _datetime(parse_time(node.get("labelTimestamp"))),
        }
        waiting += [(depth + 1, child) for child in reversed(node.get("children", []))]


# Comparison


_SHORT = Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxdict = 3, 80, 8


def assert_same(found: object, expected: object) -> None:
    """Compare two values at any depth; numbers are equal only if they are of one type."""
    where = difference(found, expected)
    if where is not None:
        pytest.fail(where)


def difference(found: object, expected: object) -> str | None:
    """Where two values differ, or None."""
    waiting: list[tuple[tuple[object, ...], object, object]] = [((), found, expected)]
    while waiting:
        place, one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            waiting += [(_below(place, key), one[key], other[key]) for key in one]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            waiting += [(_below(place, number), *pair) for number, pair in enumerate(zip(one, other, strict=True))]
        elif type(one) is not type(other) or isinstance(one, (dict, list)) or one != other:
            return f"{'.'.join(map(str, place))}: found {_SHORT.repr(one)}, expected {_SHORT.repr(other)}"
    return None


def _below(place: tuple[object, ...], key: object) -> tuple[object, ...]:
    return (*place, key) if len(place) < 12 else place
