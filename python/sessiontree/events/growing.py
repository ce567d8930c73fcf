"""The model's message while it streams in: whole again at each piece, or as what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _json
from ._fields import items, mapping, text, texts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {"text": "text", "thinking": "thinking", "toolcall": "toolCall"}
"""What the events call a block, and what messages do."""


class GrowingMessage:
    """The content of a message, as far as it has come."""

    __slots__ = ("_blocks", "_last")

    def __init__(self) -> None:
        # By their place: a stream may name any, and is not to be believed that there are as many.
        self._blocks: dict[int, _Block] = {}
        self._last = -1

    def replace(self, content: object) -> None:
        """Take a message's content, which is all that there is of it.

        Args:
            content: A list of blocks, or a text; nothing, if it is anything else.
        """
        blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        self._blocks = {place: _Block.of(mapping(block)) for place, block in enumerate(blocks) if mapping(block)}
        self._last = max(self._blocks, default=-1)

    def update(self, event: Mapping[str, Any]) -> None:
        """Take an `assistantMessageEvent`: the start, more, or the end of a block."""
        name, _, step = (text(event.get("type")) or "").rpartition("_")
        kind = _KINDS.get(name)
        if kind is None or step not in ("start", "delta", "end"):
            return
        place = self._place(event.get("contentIndex"), kind)
        block = self._blocks.get(place)
        if step == "start" or block is None or block.kind != kind:
            block = self._blocks[place] = _Block(kind)
            self._last = max(self._last, place)
        if step == "start":
            block.start(event)
        elif step == "delta":
            block.add(text(event.get("delta")) or "")
        else:
            block.end(event)

    def _place(self, index: object, kind: str) -> int:
        """The place that an event names; of one that names none the last, or the next where that is of another kind."""
        named = whole(index)
        if named is not None and named >= 0:
            return named
        is_same = self._last >= 0 and self._blocks[self._last].kind == kind
        return self._last if is_same else self._last + 1

    def blocks(self) -> list[dict[str, Any]]:
        """The blocks, in order."""
        return [self._blocks[place].value() for place in sorted(self._blocks)]

    def text(self) -> str:
        """The texts among the blocks, joined."""
        return "".join(texts([block.value() for _, block in sorted(self._blocks.items()) if block.kind == "text"]))


class _Block:
    """A block, whole or in pieces."""

    __slots__ = ("_fields", "_is_ended", "_pieces", "_whole", "kind")

    def __init__(self, kind: str | None) -> None:
        self.kind = kind
        self._whole: Mapping[str, Any] | None = None
        self._pieces: list[str] = []
        self._fields: dict[str, Any] = {}
        self._is_ended = False

    @classmethod
    def of(cls, whole: Mapping[str, Any]) -> _Block:
        block = cls(text(whole.get("type")))
        block._whole = whole
        return block

    def start(self, event: Mapping[str, Any]) -> None:
        """What is known of a call when it begins."""
        if self.kind == "toolCall":
            self._fields = {"id": text(event.get("id")) or "", "name": text(event.get("toolName")) or ""}

    def add(self, delta: str) -> None:
        if self._whole is not None:  # the start was told with the whole message, the rest is not
            self._pieces = [_said(self._whole)]
            self._fields = {key: self._whole[key] for key in ("id", "name") if key in self._whole}
            self._whole = None
        self._pieces.append(delta)

    def end(self, event: Mapping[str, Any]) -> None:
        """What a block's end says replaces what was gathered; one that says nothing leaves it."""
        call, content = mapping(event.get("toolCall")), text(event.get("content"))
        if self.kind == "toolCall" and call:
            self._whole = call
        elif content is not None:
            self._whole, self._pieces = None, [content]
        self._is_ended = True

    def value(self) -> dict[str, Any]:
        """The block as messages have it."""
        if self._whole is not None:
            return dict(self._whole)
        said = "".join(self._pieces)
        self._pieces = [said]
        if self.kind != "toolCall":
            return {"type": self.kind, str(self.kind): said}
        call: dict[str, Any] = {"type": self.kind, "id": "", "name": "", "arguments": {}, **self._fields}
        if not self._is_ended:
            return {**call, "partialArgs": said}
        return {**call, "arguments": _arguments(said)}


def _said(block: Mapping[str, Any]) -> str:
    """What a whole block says so far."""
    return next((said for key in ("text", "thinking", "partialArgs") if (said := text(block.get(key))) is not None), "")


def _arguments(json: str) -> Mapping[str, Any]:
    try:
        return mapping(_json.loads(json.encode()))
    except ValueError:  # no JSON, or half a surrogate pair, where events did not come as bytes
        return {}
