"""The Markdown of a Replio session, in plain Python: the oracle that its export is held against."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reference_json import Json, is_number, object_, string
from reference_replio import calls, is_record, shown

if TYPE_CHECKING:
    from reference_replio import Document


def markdown(document: Document) -> str:
    """The whole export."""
    lines = [
        f"# Session: {document.name}",
        "",
        f"- Created: {document.created_at}",
        f"- Updated: {document.updated_at}",
        f"- Messages: {len(document.messages)}",
        "",
        "---",
        "",
    ]
    for message in document.messages:
        if block := _block(message):
            lines += [*block, ""]
    if document.errors:
        lines += ["## Errors", "", *map(_error, document.errors)]
    return "\n".join(lines).rstrip() + "\n"


def _block(message: Json) -> list[str]:
    match message.get("role"):
        case "user":
            return [*_heading("User", message), *_content(message)]
        case "assistant":
            return [*_heading("Assistant", message), *_assistant(message)]
        case "tool":
            return [*_heading(f"Tool: {string(message, 'tool') or '?'}", message), *_tool(message)]
        case "command":
            return [*_heading("Command", message), *_command(message)]
        case "system":
            return [*_heading("System", message), *_quoted_content(message)]
    return []


def _heading(title: str, message: Json) -> list[str]:
    return [f"### {title} - {string(message, 'timestamp') or ''}", ""]


def _content(message: Json) -> list[str]:
    """The content as it is; what is no text as JSON."""
    content = message.get("content")
    if content is None:
        return [""]
    return [content] if isinstance(content, str) else _json(content)


def _json(value: object) -> list[str]:
    return _fence("json", json.dumps(value, ensure_ascii=False))


def _fence(language: str, content: str) -> list[str]:
    marks = "```"
    while marks in content:
        marks += "`"
    return [marks + language, content, marks]


def _quoted(text: str) -> list[str]:
    return [f"> {line}" if line else ">" for line in text.splitlines()]


def _quoted_content(message: Json) -> list[str]:
    content = message.get("content")
    if content is None:
        return []
    return _quoted(content) if isinstance(content, str) else _json(content)


def _assistant(message: Json) -> list[str]:
    lines: list[str] = []
    if meta := _meta(message):
        lines += [f"*{meta}*", ""]
    thinking = message.get("thinking")
    if isinstance(thinking, str) and thinking:
        lines += ["> _Thinking:_", *_quoted(thinking), ""]
    elif thinking not in (None, ""):
        lines += ["> _Thinking:_", *_json(thinking), ""]
    if message.get("content") not in (None, ""):
        lines += _content(message)
    for call in calls(message):
        lines += ["", f"**Tool call: {string(object_(call, 'function'), 'name') or '?'}**", "", *_arguments(call)]
    return lines


def _meta(message: Json) -> str:
    model = ":".join(filter(None, (string(message, "provider"), string(message, "model"))))
    duration = message.get("duration")
    return " · ".join(filter(None, (model, f"{duration}s" if is_number(duration) else "")))


def _arguments(call: Json) -> list[str]:
    arguments = object_(call, "function").get("arguments")
    if arguments is None or isinstance(arguments, str):
        return _fence("json", arguments or "")
    return _json(arguments)


def _tool(message: Json) -> list[str]:
    content, analysis = message.get("content"), string(message, "analysis")
    lines = [f"> _Analysis: {analysis}_", ""] if analysis else []
    if content is None or isinstance(content, str):
        return [*lines, *_fence("text", content or "")]
    return [*lines, *_json(content)]


def _command(message: Json) -> list[str]:
    content, compact_from = message.get("content"), message.get("compact_from")
    lines = [] if content in (None, "") else [f"`{content}`"] if isinstance(content, str) else _json(content)
    if is_record(message):
        lines += ["", "Earlier conversation (summarized):", "", *_quoted(message["result"])]
    if compact_from is not None:
        lines += ["", f"Provider context trimmed at message index {shown(compact_from)}."]
    return lines


def _error(error: Json) -> str:
    code, message, timestamp = (shown(error.get(key)) for key in ("code", "message", "timestamp"))
    return f"- `{code}` {message} at {timestamp}"
