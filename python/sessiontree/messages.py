"""The messages that sessions hold, as type checkers see them: dicts with the keys of the file.

What stands in a file is passed on as it is, so a key may be missing in what another program wrote; unknown keys and
roles are kept.

Rule: Elyra session format, "Message Types".
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class TextContent(TypedDict):
    """A text."""

    type: Literal["text"]
    text: str


class ImageContent(TypedDict):
    """An image: `data` is base64."""

    type: Literal["image"]
    data: str
    mimeType: str


class ThinkingContent(TypedDict):
    """What the model thought."""

    type: Literal["thinking"]
    thinking: str


class ToolCall(TypedDict):
    """A call of a tool."""

    type: Literal["toolCall"]
    id: str
    name: str
    arguments: dict[str, Any]


class UsageCost(TypedDict):
    """US dollars."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    total: float


class MessageUsage(TypedDict):
    """Tokens, and what they cost."""

    input: float
    output: float
    cacheRead: float
    cacheWrite: float
    totalTokens: float
    cost: UsageCost


class SystemMessage(TypedDict):
    """What the system says (newer files)."""

    role: Literal["system"]
    content: str
    timestamp: NotRequired[float]


class UserMessage(TypedDict):
    """What the user says; `timestamp` is Unix milliseconds, here and below."""

    role: Literal["user"]
    content: str | list[TextContent | ImageContent]
    timestamp: NotRequired[float]


class AssistantMessage(TypedDict):
    """What the model says."""

    role: Literal["assistant"]
    content: list[TextContent | ThinkingContent | ToolCall]
    api: NotRequired[str]
    provider: NotRequired[str]
    model: NotRequired[str]
    usage: NotRequired[MessageUsage]
    stopReason: NotRequired[str]
    errorMessage: NotRequired[str]
    timestamp: NotRequired[float]


class ToolResultMessage(TypedDict):
    """What a tool gave."""

    role: Literal["toolResult"]
    toolCallId: str
    toolName: str
    content: list[TextContent | ImageContent]
    details: NotRequired[Any]
    isError: bool
    timestamp: NotRequired[float]


class BashExecutionMessage(TypedDict):
    """A command that the user ran."""

    role: Literal["bashExecution"]
    command: str
    output: str
    exitCode: NotRequired[int | None]
    cancelled: bool
    truncated: bool
    fullOutputPath: NotRequired[str]
    excludeFromContext: NotRequired[bool]
    timestamp: NotRequired[float]


class CustomMessage(TypedDict):
    """What an extension says."""

    role: Literal["custom"]
    customType: str
    content: str | list[TextContent | ImageContent]
    display: bool
    details: NotRequired[Any]
    timestamp: NotRequired[float]


class BranchSummaryMessage(TypedDict):
    """The summary of a branch that was left."""

    role: Literal["branchSummary"]
    summary: str
    fromId: str
    timestamp: NotRequired[float]


class CompactionSummaryMessage(TypedDict):
    """The summary of what stood before."""

    role: Literal["compactionSummary"]
    summary: str
    tokensBefore: float
    timestamp: NotRequired[float]


AgentMessage: TypeAlias = (
    SystemMessage
    | UserMessage
    | AssistantMessage
    | ToolResultMessage
    | BashExecutionMessage
    | CustomMessage
    | BranchSummaryMessage
    | CompactionSummaryMessage
)
"""Told apart by `role`."""
