"""What a model is sent of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Messages, and the settings that go with them.

    Attributes:
        messages: In the order in which a model is sent them, as the file has them; made ones (summaries, messages of
            extensions) have the roles `compactionSummary`, `branchSummary` and `custom`.
        thinking_level: `off` where the session sets none.
        model: None where the session names none.

    Rule: Elyra session format, "Context Building"; docs/sessions.md, "Context".
    """

    messages: list[AgentMessage]
    thinking_level: str
    model: Model | None

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        model = None if self.model is None else self.model.to_dict()
        return {"messages": list(self.messages), "thinking_level": self.thinking_level, "model": model}
