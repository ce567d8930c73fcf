"""`Run`: what a stream of events comes to, while it runs and when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..errors import Damage
from . import facts
from ._fields import NO_PATH, items, mapping, text, texts, whole
from .growing import GrowingMessage
from .outcome import Outcome
from .reader import intake_of, read
from .spending import Spending

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..usage import Usage
    from .facts import Compaction, Retry, ToolCall
    from .kinds import Event
    from .outcome import Status
    from .sources import Source

_MOST_ODD = 1000
"""How many things that are no events are told of."""

_FACTS = (
    "session_id",
    "cwd",
    "version",
    "status",
    "complete",
    "stop_reason",
    "final_answer",
    "partial_text",
    "partial_blocks",
    "error_message",
    "tool_calls",
    "usage",
    "retries",
    "compactions",
    "name",
    "thinking_level",
    "queues",
    "damage",
    "exit_code",
    "stderr",
)


class Run:
    """What a stream comes to. It is fed event by event, and can be asked at any moment.

    Several prompts in one stream are one run: the last prompt's outcome, and all tool calls and costs.

    Attributes:
        session_id: From the header; None as long as there was none, and so are the other facts below.
        cwd: The project's folder, from the header.
        version: Of the format, from the header.
        name: The session's name, where the stream tells of a change.
        thinking_level: The thinking level, where the stream tells of a change.
        exit_code: How the process ended, where `finish` was told.
        stderr: What the process wrote to standard error, where `finish` was told.

    Rule: Elyra JSON event stream mode, "Reading a Run"; docs/events.md.
    """

    __slots__ = (
        "_calls",
        "_compactions",
        "_growing",
        "_has_header",
        "_is_growing",
        "_odd",
        "_outcome",
        "_queues",
        "_read_damage",
        "_retries",
        "_spending",
        "cwd",
        "exit_code",
        "name",
        "session_id",
        "stderr",
        "thinking_level",
        "version",
    )

    def __init__(self) -> None:
        self.session_id: str | None = None
        self.cwd: str | None = None
        self.version: int | None = None
        self.name: str | None = None
        self.thinking_level: str | None = None
        self.exit_code: int | None = None
        self.stderr: str | None = None
        self._has_header = False
        self._outcome = Outcome()
        self._growing = GrowingMessage()
        self._is_growing = False
        self._calls = facts.ToolCalls()
        self._retries: list[Retry] = []
        self._compactions: list[Compaction] = []
        self._queues: dict[str, list[str]] = {"steering": [], "followUp": []}
        self._spending = Spending()
        self._read_damage: tuple[Damage, ...] = ()
        self._odd: list[Damage] = []

    def feed(self, event: Event | Mapping[str, Any]) -> None:
        """Take the next event. One of an unknown type changes nothing, and a field of a wrong type counts as absent.

        Args:
            event: As `iter_events` gives it.
        """
        fields = mapping(event)
        kind = text(fields.get("type"))
        if kind is not None:
            self._take(kind, fields)
        elif len(self._odd) < _MOST_ODD:
            self._odd.append(Damage("line", NO_PATH, None, None, "an event without a type; skipped"))

    def finish(self, *, damage: Iterable[Damage] = (), exit_code: int | None = None, stderr: str | None = None) -> None:
        """Tell that the stream has ended.

        Args:
            damage: What its reader has reported.
            exit_code: How the process ended; it has no part in the status.
            stderr: What the process wrote to standard error.
        """
        self._outcome.finish()
        self._read_damage = tuple(damage)
        self.exit_code = exit_code
        self.stderr = stderr

    @property
    def status(self) -> Status:
        """How it stands.

        `running` as long as more may follow, that is before `agent_settled` and `finish`. Then `ok`, `error` or
        `aborted`, as the outcome says; `incomplete` when there is none, as in a stream that was cut off.
        """
        return self._outcome.status

    @property
    def complete(self) -> bool:
        """Whether it is neither `running` nor `incomplete`."""
        return self.status not in ("running", "incomplete")

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, such as `stop` or `length`; None unless complete."""
        return text(self._outcome.message.get("stopReason"))

    @property
    def final_answer(self) -> str | None:
        """The answer of a run that is `ok`, empty when it has no text; else None."""
        return "".join(texts(self._outcome.message.get("content"))) if self.status == "ok" else None

    @property
    def partial_text(self) -> str:
        """The text of the model's last message, as far as it has come: of one that streams, or of one that failed."""
        return self._growing.text()

    @property
    def partial_blocks(self) -> list[dict[str, Any]]:
        """All blocks of that message; a call that has not ended has what there is of its arguments in `partialArgs`."""
        return self._growing.blocks()

    @property
    def error_message(self) -> str | None:
        """Why it failed; None unless the status is `error` or `aborted`."""
        return None if self.status == "ok" else text(self._outcome.message.get("errorMessage"))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in the order in which they started."""
        return tuple(self._calls.all)

    @property
    def usage(self) -> Usage:
        """Tokens and cost so far, failed attempts too, each message once."""
        return self._spending.usage()

    @property
    def retries(self) -> tuple[Retry, ...]:
        """Attempts that were repeated, in order."""
        return tuple(self._retries)

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """Compactions, in order."""
        return tuple(self._compactions)

    @property
    def queues(self) -> dict[str, list[str]]:
        """The messages that wait: `steering` and `followUp`."""
        return {name: [*queue] for name, queue in self._queues.items()}

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What is wrong: what `finish` was told of, what is no event, and (notes) usage numbers that do not count."""
        return (*self._read_damage, *self._odd, *self._spending.notes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in _FACTS}

    def __eq__(self, other: object) -> bool:
        """Whether both have come to the same, in all that can be asked."""
        return self.to_dict() == other.to_dict() if isinstance(other, Run) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"<Run {self.session_id or 'without a header'}: {self.status}, {len(self._calls.all)} tool calls>"

    # What the types of events change

    def _take(self, kind: str, event: Mapping[str, Any]) -> None:
        match kind:
            case "message_update":
                self._take_message_update(event)
            case "session":
                self._take_header(event)
            case "agent_start":
                self._outcome.begin()
                self._spending.start()
            case "agent_end":
                self._take_agent_end(event)
            case "agent_settled":
                self._outcome.settle()
            case "turn_start":
                self._outcome.begin()
            case "turn_end":
                self._take_turn_end(event)
            case "message_start":
                self._take_message_start(event)
            case "message_end":
                self._take_message_end(event)
            case "tool_execution_start":
                self._calls.start(event)
            case "tool_execution_update":
                self._calls.update(event)
            case "tool_execution_end":
                self._calls.end(event)
            case _:
                self._take_fact(kind, event)

    def _take_fact(self, kind: str, event: Mapping[str, Any]) -> None:
        """An event that has no part in the outcome."""
        match kind:
            case "queue_update":
                for name in self._queues:
                    self._queues[name] = [words for one in items(event.get(name)) if (words := text(one)) is not None]
            case "compaction_start":
                facts.start_compaction(self._compactions, event)
            case "compaction_end":
                facts.end_compaction(self._compactions, event)
                self._spending.holder(mapping(event.get("result")))
            case "auto_retry_start":
                facts.start_retry(self._retries, event)
            case "auto_retry_end":
                facts.end_retry(self._retries, event)
            case "session_info_changed":
                self.name = (text(event.get("name")) or "").strip() or None
            case "thinking_level_changed":
                self.thinking_level = text(event.get("level"))
            case "entry_appended":
                self._spending.holder(mapping(event.get("entry")))
            case _:
                pass

    def _take_header(self, event: Mapping[str, Any]) -> None:
        if not self._has_header:
            self._has_header = True
            self.session_id, self.cwd = text(event.get("id")), text(event.get("cwd"))
            self.version = whole(event.get("version"))

    def _take_agent_end(self, event: Mapping[str, Any]) -> None:
        message = self._outcome.end(event.get("messages"))
        self._spending.end(event.get("messages"))
        self._is_growing = False
        if message is not None:
            self._growing.replace(message.get("content"))

    def _take_turn_end(self, event: Mapping[str, Any]) -> None:
        message = mapping(event.get("message"))
        if message.get("role") == "assistant":
            self._outcome.answer(message)

    def _take_message_start(self, event: Mapping[str, Any]) -> None:
        message = mapping(event.get("message"))
        if message.get("role") == "assistant":
            self._outcome.begin()
            self._is_growing = True
            self._growing.replace(message.get("content"))
        elif message.get("role") == "user":
            self._ask()

    def _take_message_update(self, event: Mapping[str, Any]) -> None:
        message = mapping(event.get("message"))
        if message and message.get("role") != "assistant":
            return
        self._outcome.begin()
        if not self._is_growing:  # its start was missed
            self._is_growing = True
            self._growing = GrowingMessage()
        if message:  # all that there is; what the event tells of is in it
            self._growing.replace(message.get("content"))
        else:
            self._growing.update(mapping(event.get("assistantMessageEvent")))

    def _take_message_end(self, event: Mapping[str, Any]) -> None:
        message = mapping(event.get("message"))
        self._spending.message(message)
        if message.get("role") == "assistant":
            self._outcome.answer(message)
            self._is_growing = False
            self._growing.replace(message.get("content"))
        elif message.get("role") == "user":
            self._ask()

    def _ask(self) -> None:
        self._outcome.ask()
        self._is_growing = False
        self._growing = GrowingMessage()


def _plain(fact: object) -> object:
    """A fact as plain JSON values."""
    if isinstance(fact, tuple):
        return [_plain(one) for one in cast("tuple[object, ...]", fact)]
    as_dict = getattr(fact, "to_dict", None)
    return fact if as_dict is None else as_dict()


def read_run(source: Source, *, strict: bool = False) -> Run:
    """Read a stream to its end.

    Args:
        source: As for `iter_events`.
        strict: As for `iter_events`.

    Raises:
        FormatError: As for `iter_events`, and so are the others.

    Rule: docs/events.md.
    """
    run, intake = Run(), intake_of(source, strict=strict)
    for event in read(source, intake):
        run.feed(event)
    run.finish(damage=intake.damage)
    return run
