"""Replio's messages in the words of a transcript."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from ... import _json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def as_spoken(message: Mapping[str, object]) -> dict[str, object]:
    """A message in the shape that transcripts take: the other formats' names for what means the same.

    Args:
        message: Any message.
    """
    match message.get("role"):
        case "assistant":
            return {**message, "content": list(_blocks(message))}
        case "tool":
            return {"role": "toolResult", "toolName": message.get("tool"), "content": _readable(message)}
        case _:
            return {**message, "content": _readable(message)}


def _blocks(message: Mapping[str, object]) -> Iterator[object]:
    """What an assistant thinks, says and calls."""
    if message.get("thinking"):
        yield {"type": "thinking", "thinking": message["thinking"]}
    content = _readable(message)
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    else:
        yield from content
    calls = message.get("tool_calls")
    for call in cast("list[object]", calls) if isinstance(calls, list) else []:
        function = _mapping(_mapping(call).get("function"))
        yield {"type": "toolCall", "name": function.get("name"), "arguments": _arguments(function.get("arguments"))}


def _readable(message: Mapping[str, object]) -> str | list[object]:
    """The content: a text, a list of blocks, or any other JSON as text."""
    content = message.get("content")
    if isinstance(content, (str, list)):
        return cast("str | list[object]", content)
    return "" if content is None else _json.dumps(content)


def _arguments(text: object) -> Mapping[str, object]:
    """What a function is called with, by name: the object that the text holds, if it does."""
    arguments = text
    if isinstance(text, str):
        with suppress(ValueError):
            arguments = cast("object", _json.loads(text.encode()))
    named = _mapping(arguments)
    return named if named or not arguments else {"arguments": arguments}


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
