"""The events of a running agent, as type checkers see them: dicts with the keys of the stream.

What stands in a stream is passed on as it is, so a key may be missing in what another program wrote, and unknown keys
are kept. An event of an unknown type is passed on, too; it is in no type here, so that `type` tells the others apart.

Rule: Elyra JSON event stream mode, "Event Types"; the keys that are not required come with newer agents.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ..messages import (  # noqa: TC001  who asks for a TypedDict's types gets them
    AgentMessage,
    AssistantMessage,
    MessageUsage,
    ToolCall,
    ToolResultMessage,
)

CompactionReason: TypeAlias = Literal["manual", "threshold", "overflow", "mid-turn"]


class SessionEvent(TypedDict):
    """The header: the session that runs."""

    type: Literal["session"]
    id: str
    version: NotRequired[int]
    timestamp: NotRequired[str]
    cwd: NotRequired[str]
    parentSession: NotRequired[str]


class AgentStartEvent(TypedDict):
    """The agent begins to work."""

    type: Literal["agent_start"]


class AgentEndEvent(TypedDict):
    """The agent has worked; a retry may follow."""

    type: Literal["agent_end"]
    messages: list[AgentMessage]
    willRetry: NotRequired[bool]


class AgentSettledEvent(TypedDict):
    """Nothing more follows: neither a retry nor a queued message (newer agents)."""

    type: Literal["agent_settled"]
    aborted: NotRequired[bool]


class TurnStartEvent(TypedDict):
    """A turn begins: an answer, and the tools that it calls."""

    type: Literal["turn_start"]


class TurnEndEvent(TypedDict):
    """A turn has ended."""

    type: Literal["turn_end"]
    message: AgentMessage
    toolResults: list[ToolResultMessage]


class MessageStartEvent(TypedDict):
    """A message begins."""

    type: Literal["message_start"]
    message: AgentMessage


class TextStart(TypedDict):
    """A text begins."""

    type: Literal["text_start"]
    contentIndex: NotRequired[int]


class TextDelta(TypedDict):
    """More of a text."""

    type: Literal["text_delta"]
    contentIndex: NotRequired[int]
    delta: str


class TextEnd(TypedDict):
    """The whole text."""

    type: Literal["text_end"]
    contentIndex: NotRequired[int]
    content: NotRequired[str]


class ThinkingStart(TypedDict):
    """The model begins to think."""

    type: Literal["thinking_start"]
    contentIndex: NotRequired[int]


class ThinkingDelta(TypedDict):
    """More of a thought."""

    type: Literal["thinking_delta"]
    contentIndex: NotRequired[int]
    delta: str


class ThinkingEnd(TypedDict):
    """The whole thought."""

    type: Literal["thinking_end"]
    contentIndex: NotRequired[int]
    content: NotRequired[str]


class ToolCallStart(TypedDict):
    """A call of a tool begins."""

    type: Literal["toolcall_start"]
    contentIndex: NotRequired[int]
    id: NotRequired[str]
    toolName: NotRequired[str]


class ToolCallDelta(TypedDict):
    """More of the JSON of a call's arguments."""

    type: Literal["toolcall_delta"]
    contentIndex: NotRequired[int]
    delta: str


class ToolCallEnd(TypedDict):
    """The whole call."""

    type: Literal["toolcall_end"]
    contentIndex: NotRequired[int]
    toolCall: NotRequired[ToolCall]


AssistantMessageEvent: TypeAlias = (
    TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
)
"""What has come of the message that streams, told apart by `type`."""


class MessageUpdateEvent(TypedDict):
    """More of the model's message has come: Elyra gives all that there is of it, newer agents what is new."""

    type: Literal["message_update"]
    assistantMessageEvent: AssistantMessageEvent
    message: NotRequired[AssistantMessage]
    usage: NotRequired[MessageUsage]


class MessageEndEvent(TypedDict):
    """The whole message."""

    type: Literal["message_end"]
    message: AgentMessage


class ToolExecutionStartEvent(TypedDict):
    """A tool begins to work."""

    type: Literal["tool_execution_start"]
    toolCallId: str
    toolName: str
    args: Any


class ToolExecutionUpdateEvent(TypedDict):
    """What a tool has given so far."""

    type: Literal["tool_execution_update"]
    toolCallId: str
    toolName: str
    args: Any
    partialResult: Any


class ToolExecutionEndEvent(TypedDict):
    """What a tool gave."""

    type: Literal["tool_execution_end"]
    toolCallId: str
    toolName: str
    result: Any
    isError: bool
    durationMs: NotRequired[float]


class QueueUpdateEvent(TypedDict):
    """All messages that wait."""

    type: Literal["queue_update"]
    steering: list[str]
    followUp: list[str]


class CompactionResult(TypedDict):
    """What stands for the earlier messages."""

    summary: str
    firstKeptEntryId: str
    tokensBefore: float
    details: NotRequired[Any]
    usage: NotRequired[MessageUsage]


class CompactionStartEvent(TypedDict):
    """Earlier messages are being summed up."""

    type: Literal["compaction_start"]
    reason: CompactionReason


class CompactionEndEvent(TypedDict):
    """They have been, or have not."""

    type: Literal["compaction_end"]
    reason: CompactionReason
    result: NotRequired[CompactionResult | None]
    aborted: bool
    willRetry: bool
    errorMessage: NotRequired[str]


class AutoRetryStartEvent(TypedDict):
    """A failed attempt is going to be repeated."""

    type: Literal["auto_retry_start"]
    attempt: int
    maxAttempts: int
    delayMs: float
    errorMessage: str


class AutoRetryEndEvent(TypedDict):
    """No more attempts: one succeeded, or all failed."""

    type: Literal["auto_retry_end"]
    success: bool
    attempt: int
    finalError: NotRequired[str]


class SessionInfoChangedEvent(TypedDict):
    """The session has another name, or none."""

    type: Literal["session_info_changed"]
    name: NotRequired[str | None]


class ThinkingLevelChangedEvent(TypedDict):
    """The thinking level is another one."""

    type: Literal["thinking_level_changed"]
    level: str


class RecordedDecision(TypedDict):
    """A decision that was kept."""

    id: str
    title: str


class DecisionCandidate(TypedDict):
    """What may be a decision."""

    title: str


class DecisionsExtractedEvent(TypedDict):
    """Decisions were found in the conversation."""

    type: Literal["decisions_extracted"]
    recorded: list[RecordedDecision]
    candidates: list[DecisionCandidate]


class SmartRoutingEvent(TypedDict):
    """A model was chosen by how hard the task is."""

    type: Literal["smart_routing"]
    tier: str
    reason: str
    fromModel: str
    toModel: str


class EntryAppendedEvent(TypedDict):
    """The session has an entry that no other event tells of (newer agents)."""

    type: Literal["entry_appended"]
    entry: dict[str, Any]


Event: TypeAlias = (
    SessionEvent
    | AgentStartEvent
    | AgentEndEvent
    | AgentSettledEvent
    | TurnStartEvent
    | TurnEndEvent
    | MessageStartEvent
    | MessageUpdateEvent
    | MessageEndEvent
    | ToolExecutionStartEvent
    | ToolExecutionUpdateEvent
    | ToolExecutionEndEvent
    | QueueUpdateEvent
    | CompactionStartEvent
    | CompactionEndEvent
    | AutoRetryStartEvent
    | AutoRetryEndEvent
    | SessionInfoChangedEvent
    | ThinkingLevelChangedEvent
    | DecisionsExtractedEvent
    | SmartRoutingEvent
    | EntryAppendedEvent
)
"""Told apart by `type`."""
