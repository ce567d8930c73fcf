"""A Replio session file in plain Python: the oracle that `sessiontree.replio` is held against.

It follows the format's rules one by one, uses the standard library alone, and shares nothing with the core. Markdown
has a module of its own, `reference_replio_export.py`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference import parse_time
from reference_json import Json, object_, string, without_lone_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable

NOISE_TOOLS = ("web_fetch", "open", "fetch_page")
KEEP = 4
SUMMARY = "Summary of earlier conversation:\n\n"
KEYS = frozenset(
    ("created_at", "updated_at", "messages", "turns", "errors", "permissions", "parent_id", "sub_sessions")
)


class RefusedError(Exception):
    """No session can be read from the bytes; `kind` is "corrupt" or "unsupported"."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass
class Document:
    """A session of the flat form.

    Attributes:
        elements: What stands in `messages`, be it an object or not: indexes count all of it.
        json: The whole document.
    """

    name: str
    created_at: str = ""
    updated_at: str = ""
    elements: list[object] = field(default_factory=list)
    errors: list[Json] = field(default_factory=list)
    permissions: list[Json] = field(default_factory=list)
    parent_id: str = ""
    sub_sessions: list[str] = field(default_factory=list)
    json: Json = field(default_factory=dict)

    @property
    def messages(self) -> list[Json]:
        return objects(self.elements)


# Reading


def decode(data: bytes) -> Any:  # noqa: ANN401  whatever stands in the JSON
    """The JSON value that is the whole of a file: integers of any size are exact, half a surrogate pair is U+FFFD.

    Raises:
        RefusedError: It is no JSON.
    """
    try:
        text = data.decode().removeprefix("\ufeff")
        return json.loads(without_lone_surrogates(text), parse_constant=_refuse)
    except ValueError:
        raise RefusedError("corrupt") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def read(data: bytes, name: str) -> Document:
    """Read a session file of the flat form.

    Args:
        data: The file's bytes.
        name: Its name without `.json`, which is the session's.

    Raises:
        RefusedError: It is no session, or one of the other form.
    """
    document = decode(data)
    if not isinstance(document, dict) or not document.keys() & KEYS:
        raise RefusedError("corrupt")
    lists = {key: _list(document, key) for key in ("messages", "turns", "errors", "permissions", "sub_sessions")}
    if isinstance(document.get("turns"), list):
        raise RefusedError("unsupported")
    texts = [message.get("timestamp") for message in objects(lists["messages"])]
    times = [text for text in texts if isinstance(text, str) and time(text) is not None] or [""]
    return Document(
        name=name,
        created_at=_string(document, "created_at", times[0]),
        updated_at=_string(document, "updated_at", times[-1]),
        elements=lists["messages"],
        errors=objects(lists["errors"]),
        permissions=objects(lists["permissions"]),
        parent_id=_string(document, "parent_id"),
        sub_sessions=[one for one in lists["sub_sessions"] if isinstance(one, str)],
        json=document,
    )


def _list(document: Json, key: str) -> list[Any]:
    value = document.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise RefusedError("corrupt")
    return value


def objects(values: Iterable[object]) -> list[Json]:
    return [value for value in values if isinstance(value, dict)]


def _string(holder: Json, key: str, default: str = "") -> str:
    """A field that is a string."""
    value = holder.get(key)
    return value if isinstance(value, str) else default


def time(text: str) -> int | None:
    """The Unix milliseconds of a time; a blank may stand for its `T`, and without a zone it is UTC."""
    return parse_time(f"{text[:10]}T{text[11:]}" if text[10:11] == " " else text)


def calls(message: Json) -> list[Json]:
    """The tool calls that a message makes; one that is no object is one of which nothing is known."""
    value = message.get("tool_calls")
    return [call if isinstance(call, dict) else {} for call in value] if isinstance(value, list) else []


def shown(value: object, default: str = "") -> str:
    """A value as text: what is no string is shown as JSON, and `default` stands for null."""
    if value is None:
        return default
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# The context that a provider is sent


def is_record(message: object) -> bool:
    """Whether it is the record of a compaction."""
    return isinstance(message, dict) and message.get("role") == "command" and bool(_string(message, "result"))


def boundary(elements: list[object]) -> int:
    """The index from which messages are sent."""
    starts = [element.get("compact_from") for element in elements if isinstance(element, dict) and is_record(element)]
    return max((start for start in starts if type(start) is int and start > 0), default=0)


def summary_message(record: Json) -> Json:
    return {"role": "system", "content": SUMMARY + _string(record, "result")}


def provider_messages(elements: list[object]) -> list[Json]:
    """What a provider is sent."""
    records = [element for element in objects(elements) if is_record(element)]
    sent = [summary_message(record) for record in records[-1:]]
    called: set[str] = set()
    for message in objects(elements[boundary(elements) :]):
        match message.get("role"):
            case "command":
                continue
            case "assistant":
                called |= {_string(call, "id") for call in calls(message)} - {""}
            case "tool" if _string(message, "tool_call_id") not in called:
                continue
        sent.append(message)
    return sent


# Compaction


def fold(messages: Iterable[object]) -> list[Json]:
    """The messages as a summariser is given them."""
    folded: list[Json] = []
    for message in objects(messages):
        content = message.get("content")
        match message.get("role"):
            case "command":
                folded += [summary_message(message)] if is_record(message) else []
            case "assistant" if calls(message):
                folded += [{"role": "assistant", "content": content}] if _string(message, "content") else []
            case "tool":
                folded.append({"role": "user", "content": f"[tool result] {shown(content)}"})
            case _:
                folded.append(message)
    return folded


@dataclass(frozen=True)
class Compaction:
    """What a compaction does.

    Attributes:
        record_index: The index of its record.
        compact_from: Where the messages that are kept begin.
        summarized: What the summariser is given.
    """

    record_index: int
    compact_from: int
    summarized: list[Json]


def compaction(elements: list[object], keep: int = KEEP) -> Compaction | None:
    """What compacting would do; None where there is nothing to compact."""
    counted = len(elements) - is_bare_compact(elements)
    start = counted - keep if keep > 0 else 0
    if start <= boundary(elements):
        return None
    return Compaction(counted, start, fold(elements[:start]))


def is_bare_compact(elements: list[object]) -> bool:
    """Whether the last message is the command that is being carried out."""
    last = elements[-1] if elements else None
    return (
        isinstance(last, dict)
        and last.get("role") == "command"
        and last.get("content") == "/compact"
        and not is_record(last)
    )


# What is written of a tool's result

_SUFFIX = re.compile(r"… \(truncated from ([0-9]+) chars\)\Z")


def excluded(tool: str) -> str:
    return f"[{tool} result excluded from log, see tool call above for parameters]"


def persisted(message: Json, noise_tools: Iterable[str] = NOISE_TOOLS, max_chars: int = 0) -> Json:
    """A message as it is written."""
    content, tool = message.get("content"), message.get("tool")
    if message.get("role") != "tool" or not isinstance(content, str):
        return message
    if isinstance(tool, str) and tool in noise_tools:
        return {**message, "content": excluded(tool)}
    return {**message, "content": cut(content, max_chars)} if max_chars > 0 else message


def cut(text: str, max_chars: int) -> str:
    """The text cut to so many characters; of one that was cut before, the length that it had stays."""
    suffix = _SUFFIX.search(text)
    was_cut = suffix and suffix.start() < int(suffix[1])  # a text that says so of itself may never have been
    kept, length = (text[: suffix.start()], suffix[1]) if suffix and was_cut else (text, str(len(text)))
    return text if len(kept) <= max_chars else f"{kept[:max_chars]}… (truncated from {length} chars)"


# Listing


def roles(messages: list[Json]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for message in messages:
        role = shown(message.get("role"), "?")
        counts[role] = counts.get(role, 0) + 1
    return counts


def tools(messages: list[Json]) -> list[str]:
    """The names of the functions that are called."""
    return sorted({function_name(call) for message in messages for call in calls(message)})


def function_name(call: Json) -> str:
    return shown(object_(call, "function").get("name"), "?")


def preview(document: Document) -> list[str]:
    counts = [f"{role} {count}" for role, count in roles(document.messages).items()]
    lines = [
        f"  {document.name} - {len(document.messages)} messages",
        f"    created {document.created_at} · updated {document.updated_at}",
        f"    roles: {' · '.join(counts)}",
    ]
    lines += [f"    tools: {', '.join(names)}"] if (names := tools(document.messages)) else []
    lines += [f"    parent: {document.parent_id}"] if document.parent_id else []
    lines += [f"    sub-sessions: {', '.join(document.sub_sessions)}"] if document.sub_sessions else []
    return lines


def text(content: object) -> str:
    """The text of a message's content: a string, or blocks as other providers have them."""
    if isinstance(content, str):
        return content
    blocks = objects(content) if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return " ".join(one for one in texts if isinstance(one, str))


def listing_facts(document: Document) -> Json:
    """What a listing says of the session."""
    spoken = [message for message in document.messages if message.get("role") in ("user", "assistant")]
    texts = [(message["role"], text(message.get("content"))) for message in spoken]
    last = document.messages[-1] if document.messages else {}
    return {
        "id": document.name,
        "name": document.name,
        "message_count": sum(message.get("role") != "command" for message in document.messages),
        "entry_count": len(document.elements),
        "first_message": next((one for role, one in texts if role == "user" and one), "(no messages)"),
        "all_messages_text": " ".join(one for _, one in texts if one),
        "leaf_id": string(last, "id") or None,
        "tip_count": int(bool(document.messages)),
    }


# Names

MAX_SLUG_SOURCE = 40
MAX_PARENT = 64


def slug(first_message: str) -> str:
    """The part of a name that is made of a session's first message."""
    start = first_message[:MAX_SLUG_SOURCE]
    if len(first_message) > MAX_SLUG_SOURCE and (space := start.rfind(" ")) > 0:
        start = start[:space]
    plain = [
        char for char in unicodedata.normalize("NFKD", start) if char.isascii() and (char.isalnum() or char in "-_ ")
    ]
    return "".join(plain).strip(" ").replace(" ", "_").lower()


def job_name(stamp: str, job: str) -> str:
    kept = "".join(char for char in job if char.isalnum() or char in "-_ ")
    return f"job_{stamp}_{kept.strip().replace(' ', '_') or 'job'}"


def sub_name(stamp: str, parent: str) -> str:
    kept = "".join(char for char in parent if char.isalnum() or char in "-_.").strip("-_. ")
    return f"sub_{stamp}_{(kept or 'parent')[-MAX_PARENT:]}"
