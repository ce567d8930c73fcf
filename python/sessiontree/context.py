"""What a model is sent of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _json

if TYPE_CHECKING:
    from typing import Self

    from ._native import Context
    from .messages import AgentMessage


@dataclass(frozen=True, slots=True)
class Model:
    """Which model, and whose.

    Attributes:
        provider: Such as `anthropic`.
        model_id: Such as `claude-sonnet-4-5`.
    """

    provider: str
    model_id: str

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        return {"provider": self.provider, "model_id": self.model_id}


class SessionContext:
    """Messages, and the settings that go with them. Frozen; equal to another when all three are.

    One that `contexts` gives decodes its messages when they are first asked for.

    Args:
        messages: As the attribute says.
        thinking_level: As the attribute says.
        model: As the attribute says.

    Rule: Elyra session format, "Context Building"; docs/sessions.md, "Context".
    """

    __slots__ = ("_messages", "_model", "_thinking_level")
    __match_args__ = ("messages", "thinking_level", "model")
    __hash__ = None  # type: ignore[assignment]  # as any list's

    _messages: list[AgentMessage] | Context

    def __init__(self, messages: list[AgentMessage], thinking_level: str, model: Model | None) -> None:
        self._messages = messages
        self._thinking_level = thinking_level
        self._model = model

    @property
    def messages(self) -> list[AgentMessage]:
        """In the order in which a model is sent them, as the file has them.

        Made ones (summaries, messages of extensions) have the roles `compactionSummary`, `branchSummary` and `custom`.
        """
        if not isinstance(self._messages, list):
            self._messages = messages_of(self._messages)
        return self._messages

    @property
    def thinking_level(self) -> str:
        """`off` where the session sets none."""
        return self._thinking_level

    @property
    def model(self) -> Model | None:
        """None where the session names none."""
        return self._model

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SessionContext):
            return NotImplemented
        mine, theirs = (self.thinking_level, self.model), (other.thinking_level, other.model)
        return mine == theirs and self.messages == other.messages

    def __repr__(self) -> str:
        settings = f"thinking_level={self.thinking_level!r}, model={self.model!r}"
        return f"SessionContext(messages={self.messages!r}, {settings})"

    def __reduce__(self) -> tuple[type[Self], tuple[list[AgentMessage], str, Model | None]]:
        return type(self), (self.messages, self.thinking_level, self.model)

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        model = None if self.model is None else self.model.to_dict()
        return {"messages": list(self.messages), "thinking_level": self.thinking_level, "model": model}


def later(context: Context) -> SessionContext:
    """A context whose messages are decoded when they are asked for."""
    made = SessionContext([], context.thinking_level, model_of(context))
    made._messages = context  # pyright: ignore[reportPrivateUsage]  the class's own module
    return made


def messages_of(context: Context) -> list[AgentMessage]:
    """The messages of a context, decoded."""
    return _json.loads_list(context.joined(), context.parts)


def model_of(context: Context) -> Model | None:
    """The model of a context."""
    return None if context.model is None else Model(*context.model)
