"""The JSON events of a running agent (`elyra --mode json`): read while they come, and what they come to.

Rule: Elyra JSON event stream mode; docs/events.md.
"""

from .facts import Compaction, Retry, ToolCall
from .kinds import (
    AgentEndEvent,
    AgentSettledEvent,
    AgentStartEvent,
    AssistantMessageEvent,
    AutoRetryEndEvent,
    AutoRetryStartEvent,
    CompactionEndEvent,
    CompactionResult,
    CompactionStartEvent,
    DecisionsExtractedEvent,
    EntryAppendedEvent,
    Event,
    MessageEndEvent,
    MessageStartEvent,
    MessageUpdateEvent,
    QueueUpdateEvent,
    SessionEvent,
    SessionInfoChangedEvent,
    SmartRoutingEvent,
    ThinkingLevelChangedEvent,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    TurnEndEvent,
    TurnStartEvent,
)
from .outcome import Status
from .reader import EventReader, aiter_events, iter_events
from .run import Run, read_run
from .sources import AsyncSource, Source

__all__ = [
    "AgentEndEvent",
    "AgentSettledEvent",
    "AgentStartEvent",
    "AssistantMessageEvent",
    "AsyncSource",
    "AutoRetryEndEvent",
    "AutoRetryStartEvent",
    "Compaction",
    "CompactionEndEvent",
    "CompactionResult",
    "CompactionStartEvent",
    "DecisionsExtractedEvent",
    "EntryAppendedEvent",
    "Event",
    "EventReader",
    "MessageEndEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "QueueUpdateEvent",
    "Retry",
    "Run",
    "SessionEvent",
    "SessionInfoChangedEvent",
    "SmartRoutingEvent",
    "Source",
    "Status",
    "ThinkingLevelChangedEvent",
    "ToolCall",
    "ToolExecutionEndEvent",
    "ToolExecutionStartEvent",
    "ToolExecutionUpdateEvent",
    "TurnEndEvent",
    "TurnStartEvent",
    "aiter_events",
    "iter_events",
    "read_run",
]
