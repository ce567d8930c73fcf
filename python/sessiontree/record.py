"""Between events and sessions: a run kept as a session, and a session played as the run that it was.

Rule: docs/events.md, "Both ways".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .elyra.entries import MessageEntry, ModelChangeEntry
from .elyra.open_session import append_as_is
from .events import iter_events
from .events._fields import items, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._native import Entry
    from .elyra import SessionManager
    from .events import Event, Source

RECORDED = frozenset(
    {
        "message_end",
        "compaction_end",
        "thinking_level_changed",
        "session_info_changed",
        "entry_appended",
    }
)
"""The types of events that a session has something of."""

_OWN = frozenset({"type", "id", "parentId", "timestamp"})
"""What an entry gets anew in each session."""

_MADE_UP = frozenset({"compactionSummary", "branchSummary"})
"""Roles of messages that stand for an entry of another type."""


def record(source: Source, manager: SessionManager) -> list[str]:
    """Append what a run says to a session, below its leaf.

    Args:
        source: The run's events, as for `iter_events`; those that a session has nothing of are passed over quickly.
        manager: The session.

    Returns:
        The new entries' ids.

    Raises:
        ReadOnlyError: The session was opened for reading.
        OSError: The source cannot be read, or an entry not be written; what came before it stays.
        TypeError: As for `iter_events`.

    Rule: docs/events.md, "Both ways".
    """
    recorder = Recorder(manager)
    for event in iter_events(source, types=RECORDED):
        recorder.feed(event)
    return recorder.ids


class Recorder:
    """As `record`, fed event by event.

    Args:
        manager: The session.

    Attributes:
        ids: The ids of the entries that it has appended.
    """

    __slots__ = ("_manager", "_model", "_own_ids", "ids")

    def __init__(self, manager: SessionManager) -> None:
        self._manager = manager
        self._model = _model_of(manager.get_branch())
        # Ids of the session that runs elsewhere, and what the entry has here.
        self._own_ids: dict[str, str] = {}
        self.ids: list[str] = []

    def feed(self, event: Event | Mapping[str, Any]) -> None:
        """Append what an event says, if a session has something of it."""
        fields = cast("Mapping[str, Any]", event)
        match fields.get("type"):
            case "message_end":
                self._add_message(mapping(fields.get("message")))
            case "compaction_end":
                result = mapping(fields.get("result"))
                if result and fields.get("aborted") is not True:
                    self._add_entry("compaction", result)
            case "thinking_level_changed" if text(fields.get("level")) is not None:
                self._add("thinking_level_change", {"thinkingLevel": fields["level"]})
            case "session_info_changed":
                self._add("session_info", {"name": text(fields.get("name")) or ""})
            case "entry_appended":
                self._add_appended(mapping(fields.get("entry")))
            case _:
                pass

    def _add_message(self, message: Mapping[str, Any]) -> None:
        role = message.get("role")
        if not message or role in _MADE_UP:
            return
        if role == "custom":
            kept = {key: message[key] for key in ("customType", "content", "display", "details") if key in message}
            self._add("custom_message", kept)
            return
        if role == "assistant":
            self._add_model(text(message.get("provider")), text(message.get("model")))
        self._add("message", {"message": message})

    def _add_model(self, provider: str | None, model: str | None) -> None:
        """A change of the model, if an answer is another's than the last one."""
        if provider is None or model is None:
            return
        if self._model is not None and self._model != (provider, model):
            self._add("model_change", {"provider": provider, "modelId": model})
        self._model = provider, model

    def _add_appended(self, entry: Mapping[str, Any]) -> None:
        kind, parent_id, foreign_id = text(entry.get("type")), text(entry.get("parentId")), text(entry.get("id"))
        if kind is None or kind == "session":  # a header stands at the start alone
            return
        leaf_id = self._manager.get_leaf_id()
        if parent_id is not None and leaf_id is not None and self.ids:
            self._own_ids[parent_id] = leaf_id
        own_id = self._add_entry(kind, entry)
        if foreign_id is not None:
            self._own_ids[foreign_id] = own_id
        self._model = _model(kind, entry) or self._model

    def _add_entry(self, kind: str, fields: Mapping[str, Any]) -> str:
        """An entry that may name others, by ids that it has from elsewhere."""
        payload = {key: value for key, value in fields.items() if key not in _OWN}
        for key in ("targetId", "firstKeptEntryId"):
            if (named := text(payload.get(key))) is not None:
                payload[key] = self._own_ids.get(named, named)
        return self._add(kind, payload)

    def _add(self, kind: str, payload: Mapping[str, Any]) -> str:
        own_id = append_as_is(self._manager, kind, payload)
        self.ids.append(own_id)
        return own_id


def _model_of(branch: list[Entry]) -> tuple[str, str] | None:
    """The model that was in use where a branch ends."""
    for entry in reversed(branch):
        if isinstance(entry, (MessageEntry, ModelChangeEntry)):
            found = _model(entry.type, entry.to_dict())
            if found is not None:
                return found
    return None


def _model(kind: str | None, entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """The model that an entry tells of."""
    if kind == "model_change":
        provider, model = text(entry.get("provider")), text(entry.get("modelId"))
    else:
        message = mapping(entry.get("message"))
        is_answer = kind == "message" and message.get("role") == "assistant"
        provider, model = (text(message.get("provider")), text(message.get("model"))) if is_answer else (None, None)
    return None if provider is None or model is None else (provider, model)


def replay(manager: SessionManager) -> Iterator[Event]:
    """Play a session's branch to the leaf as the events that such a run would have had.

    Nothing is made up that a session does not keep: no pieces of messages, and no retries, the failed attempts of which
    are turns like others.

    Args:
        manager: The session.

    Raises:
        ConflictError: Its file is no longer the one that was read.
        OSError: It cannot be read.

    Rule: docs/events.md, "Both ways".
    """
    yield cast("Event", manager.get_header().to_dict())
    player = _Player()
    for entry in manager.get_branch():
        yield from cast("Iterator[Event]", player.play(entry))
    yield from cast("Iterator[Event]", player.end_run())


class _Player:
    """Makes entries into events; remembers the run that goes on."""

    def __init__(self) -> None:
        self._run: list[Mapping[str, Any]] | None = None
        self._answer: Mapping[str, Any] | None = None
        self._results: list[Mapping[str, Any]] = []
        self._is_in_turn = False
        # Whether the last answer of the run was no call of a tool: then what the user says next begins another run.
        self._is_answered = False

    def play(self, entry: Entry) -> Iterator[dict[str, Any]]:
        fields = entry.to_dict()
        message = mapping(fields.get("message"))
        role = text(message.get("role"))
        match entry.type:
            case "message" if role is not None and role != "custom" and role not in _MADE_UP:
                yield from self._play_message(role, message)
            case "compaction":
                yield from _compaction(fields)
            case "thinking_level_change" if text(fields.get("thinkingLevel")) is not None:
                yield {"type": "thinking_level_changed", "level": fields["thinkingLevel"]}
            case "session_info":
                yield {"type": "session_info_changed", "name": text(fields.get("name"))}
            case _:
                yield {"type": "entry_appended", "entry": fields}

    def _play_message(self, role: str, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if role in ("user", "system") and self._is_answered:
            yield from self.end_run()
        if role in ("user", "system", "assistant"):
            yield from self._begin()
        if role == "toolResult":
            yield _tool_end(message)
        yield {"type": "message_start", "message": message}
        yield {"type": "message_end", "message": message}
        if self._run is not None:
            self._run.append(message)
            if role == "toolResult":
                self._results.append(message)
        if role == "assistant":
            self._answer, self._is_answered = message, message.get("stopReason") != "toolUse"
            yield from _tool_starts(message)

    def _begin(self) -> Iterator[dict[str, Any]]:
        """A run, unless one goes on; a turn, if that which goes on has had its answer."""
        if self._run is None:
            self._run = []
            yield {"type": "agent_start"}
        if self._answer is not None:
            yield from self._end_turn()
        if not self._is_in_turn:
            self._is_in_turn = True
            yield {"type": "turn_start"}

    def _end_turn(self) -> Iterator[dict[str, Any]]:
        if self._answer is not None:
            yield {"type": "turn_end", "message": self._answer, "toolResults": self._results}
        self._answer, self._results, self._is_in_turn = None, [], False

    def end_run(self) -> Iterator[dict[str, Any]]:
        if self._run is not None:
            yield from self._end_turn()
            yield {"type": "agent_end", "messages": self._run}
        self._run, self._is_answered = None, False


def _tool_starts(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The tools that an answer calls; those of one that broke off never started."""
    if answer.get("stopReason") in ("error", "aborted"):
        return
    for block in map(mapping, items(answer.get("content"))):
        if block.get("type") == "toolCall":
            named = {"toolCallId": block.get("id"), "toolName": block.get("name"), "args": block.get("arguments")}
            yield {"type": "tool_execution_start", **named}


def _tool_end(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "tool_execution_end",
        "toolCallId": message.get("toolCallId"),
        "toolName": message.get("toolName"),
        "result": {key: message[key] for key in ("content", "details") if key in message},
        "isError": message.get("isError") is True,
    }


def _compaction(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """An entry does not say why it was made: `manual` is the reason that promises nothing else."""
    result = {key: value for key, value in entry.items() if key not in _OWN}
    yield {"type": "compaction_start", "reason": "manual"}
    yield {"type": "compaction_end", "reason": "manual", "result": result, "aborted": False, "willRetry": False}
