"""Entries and messages in words: who speaks, and what is said.

A field of the wrong type counts as absent here, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, cast

from .. import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    UsageEntry,
    _json,
)
from ._output import amount, dollars
from ._text import either

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .. import Entry

_RESULT_LINES = 10
_SYSTEM_LINES = 5
_THINKING_LINES = 3
_BRIEF = 300
"""How many characters of a text, and members of an object, are looked at where one line is made of it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of what is said.

    Attributes:
        text: Any text, of any number of lines.
        lead: What stands before its first line.
        limit: How many lines of it are to be shown; None for all.
        is_aside: Whether it stands back, as thoughts do.
        is_inner: Whether it belongs to the part before it.
    """

    text: str
    lead: str = ""
    limit: int | None = None
    is_aside: bool = False
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class Speech:
    """An entry or a message in words.

    Attributes:
        who: Who speaks, or what kind of entry it is.
        parts: What is said.
        fact: What else is told of it, in a few words, or empty.
        is_remark: Whether one line is enough for it, as for a change of the model.
    """

    who: str
    parts: Iterator[Part]
    fact: str = ""
    is_remark: bool = False


def of_entry(entry: Entry, *, full: bool = False) -> Speech:
    """An entry in words.

    Args:
        entry: Any entry.
        full: Cut nothing.
    """
    match entry:
        case MessageEntry():
            return of_message(_mapping(entry.message), full=full)
        case CompactionEntry():
            return Speech("compaction", _texts(entry.summary), _before(entry.tokens_before))
        case BranchSummaryEntry():
            return Speech("branch summary", _texts(entry.summary), _left(entry.from_id))
        case CustomMessageEntry():
            who = _joined(" ", "custom message", entry.custom_type)
            return Speech(who, _content(entry.content, full=full), _hidden(entry.display))
        case CustomEntry():
            return _remark(_joined(" ", "custom", entry.custom_type), brief(entry.data))
        case ModelChangeEntry():
            return _remark("model", _joined("/", entry.provider, entry.model_id))
        case ThinkingLevelChangeEntry():
            return _remark("thinking level", entry.thinking_level or "")
        case LabelEntry():
            return _remark("label", f"{entry.target_id or ''}: {entry.label or 'none any more'}")
        case SessionInfoEntry():
            return _remark("name", entry.name or "none any more")
        case UsageEntry():
            return _remark("usage", _used(entry))
        case ContextEditEntry():
            return _remark("context edit", f"{entry.target_id or ''}: {_replaced(entry.replacement)}")
        case _ if entry.type in ("command", "error"):
            return _of_log(entry)
        case _:
            return _remark(entry.type or "entry without a type", "")


def of_message(message: Mapping[str, object], *, full: bool = False) -> Speech:
    """A message in words, whatever its role.

    Args:
        message: Any message.
        full: Cut nothing.
    """
    role, content = _text(message.get("role")), message.get("content")
    match role:
        case "assistant":
            return Speech(role, _answer(message, full=full), _text(message.get("model")))
        case "toolResult":
            what = "error" if message.get("isError") is True else "result"
            who = f"{what} of {_text(message.get('toolName')) or 'a tool'}"
            return Speech(who, _content(content, _RESULT_LINES, full=full))
        case "bashExecution":
            fact = "not sent to the model" if message.get("excludeFromContext") is True else ""
            return Speech("command", _execution(message, full=full), fact)
        case "custom":
            who = _joined(" ", "custom message", _text(message.get("customType")))
            return Speech(who, _content(content, full=full), _hidden(message.get("display")))
        case "branchSummary":
            return Speech("branch summary", _texts(message.get("summary")), _left(message.get("fromId")))
        case "compactionSummary":
            return Speech("compaction", _texts(message.get("summary")), _before(message.get("tokensBefore")))
        case "system":
            return Speech(role, _content(content, _SYSTEM_LINES, full=full))
        case _:
            return Speech(role or "message without a role", _content(content, full=full))


def gist(speech: Speech) -> str:
    """What is said first, of more than thoughts."""
    thought = ""
    for part in speech.parts:
        said = part.lead + part.text[:_BRIEF]
        if not part.is_aside:
            return said
        thought = thought or said
    return thought


# Kinds of entries and messages


def _remark(who: str, text: str) -> Speech:
    return Speech(who, _texts(text), is_remark=True)


def _of_log(entry: Entry) -> Speech:
    """What Replio's logs have besides messages."""
    match entry.to_dict():
        case {"type": "command", "content": str(typed)}:
            return _remark("command", typed)
        case {"type": "error", **fields}:
            code = fields.get("code")
            who = f"error {code}" if _is_amount(code) and code else "error"
            return _remark(who, _text(fields.get("message")))
        case _:
            return _remark(entry.type or "", "")


def _before(tokens: object) -> str:
    return f"{amount(tokens)} tokens before" if _is_amount(tokens) else ""


def _left(entry_id: object) -> str:
    return f"of the branch to {entry_id}" if isinstance(entry_id, str) else ""


def _hidden(display: object) -> str:
    return "hidden" if display is False else ""


def _answer(message: Mapping[str, object], *, full: bool) -> Iterator[Part]:
    yield from _content(message.get("content"), full=full)
    reason, error = _text(message.get("stopReason")), _text(message.get("errorMessage"))
    if error or reason in ("error", "aborted", "length"):
        yield Part(_joined(": ", reason, error), "stopped: ")


def _execution(message: Mapping[str, object], *, full: bool) -> Iterator[Part]:
    yield Part(_text(message.get("command")), "$ ")
    yield from _content(message.get("output"), _RESULT_LINES, full=full)
    code = message.get("exitCode")
    how = _joined(
        ", ",
        f"exit code {code}" if _is_amount(code) and code else "",
        "cancelled" if message.get("cancelled") is True else "",
        "its output was cut" if message.get("truncated") is True else "",
    )
    if how:
        yield Part(how, is_aside=True)


def _used(entry: UsageEntry) -> str:
    usage = _mapping(entry.usage)
    tokens, cost = usage.get("totalTokens"), _mapping(usage.get("cost")).get("total")
    model = _joined("/", entry.provider, entry.model)
    spent = f"{amount(tokens)} tokens" if _is_amount(tokens) else ""
    return _joined(", ", entry.kind, model, spent, dollars(cost) if _is_amount(cost) else "", entry.note)


def _replaced(replacement: object) -> str:
    if replacement is None:
        return "left out"
    return _joined(" ", "now", gist(Speech("", _content(_mapping(replacement).get("content"), full=False))))


# Content


def _content(content: object, limit: int | None = None, *, full: bool) -> Iterator[Part]:
    if isinstance(content, str):
        yield from _texts(content, None if full else limit)
    elif isinstance(content, list):
        for block in cast("list[object]", content):
            yield from _block(_mapping(block), limit, full=full)


def _block(block: Mapping[str, object], limit: int | None, *, full: bool) -> Iterator[Part]:
    match block.get("type"):
        case "text":
            yield from _texts(block.get("text"), None if full else limit)
        case "thinking":
            thought = _text(block.get("thinking")) or "(not told)"
            yield Part(thought, "thinking: ", None if full else _THINKING_LINES, is_aside=True)
        case "toolCall":
            yield from _call(block, full=full)
        case "image":
            size = len(_text(block.get("data"))) * 3 // 4  # base64
            yield Part(f"[{_text(block.get('mimeType')) or 'image'}, {amount(size)}B]")
        case other:
            yield Part(f"[{_text(other) or 'no type'}]", is_aside=True)


def _call(block: Mapping[str, object], *, full: bool) -> Iterator[Part]:
    name, arguments = _text(block.get("name")) or "a tool", block.get("arguments")
    lead = either("→ ", "-> ")
    if not full:
        said = brief(arguments)
        yield Part(f"{name}  {' '.join(said.split())}".rstrip(), lead, limit=1)
        return
    yield Part(name, lead)
    is_odd = arguments not in (None, {}) and not _mapping(arguments)
    for key, value in ({"arguments": arguments} if is_odd else _mapping(arguments)).items():
        yield Part(value if isinstance(value, str) else _json.dumps(value), f"{key}: ", is_inner=True)


def _texts(text: object, limit: int | None = None) -> Iterator[Part]:
    if isinstance(text, str) and text:
        yield Part(text, limit=limit)


# Values


def brief(value: object) -> str:
    """A JSON value in few words; what lies deep in it is not looked at."""
    if value is None:
        return ""
    if not isinstance(value, dict):
        return _word(value)
    members = list(cast("dict[str, object]", value).items())
    if len(members) == 1 and isinstance(members[0][1], str):
        return members[0][1][:_BRIEF]  # what a tool is called with that takes one argument needs no name
    return ", ".join(f"{key[:_BRIEF]}: {_word(one)}" for key, one in members[:_BRIEF])


def _word(value: object) -> str:
    if isinstance(value, str):
        return value[:_BRIEF]
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return "[…]" if value else "[]"
    return _json.dumps(value)


def _joined(glue: str, *words: str | None) -> str:
    return glue.join(word for word in words if word)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _is_amount(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
