"""The JSON events of a running agent (`elyra --mode json`): read while they come, and what they come to.

Rule: Elyra JSON event stream mode; docs/events.md.
"""

from typing import TYPE_CHECKING

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

if not TYPE_CHECKING:  # to type checkers, a module with such a function has whatever name one asks for

    def __getattr__(name: str) -> object:
        """`record` and `replay` answer here, too: `sessiontree.record` has them, which joins events and sessions."""
        if name in ("record", "replay"):
            from importlib import import_module

            return getattr(import_module("sessiontree.record"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
