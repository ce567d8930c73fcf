"""What a run had besides its messages: tool calls, retries, compactions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ._fields import flag, mapping, number, text, texts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool at work.

    Attributes:
        id: The call's id, which may come back in a later turn; empty when the stream names none.
        name: The tool; empty when the stream names none.
        args: What it was given; None when its start was missed.
        state: `running`, also when the stream ended before the tool did; `done`, or `failed`.
        result: What it gave; while it runs, what it has given so far.
        is_error: Whether it failed; None till it has ended.

    Rule: Elyra JSON event stream mode, "Reading a Run"; docs/events.md, "Tool calls".
    """

    id: str
    name: str
    args: Any = field(default=None, hash=False)
    state: Literal["running", "done", "failed"] = "running"
    result: Any = field(default=None, hash=False)
    is_error: bool | None = None

    @property
    def text(self) -> str:
        """The texts in what it gave, a line each."""
        return "\n".join(texts(mapping(self.result).get("content")))

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        return _dict_of(self)


class ToolCalls:
    """The calls of a run. They overlap, and are told apart by their ids; of an id, the newest call is meant."""

    __slots__ = ("_newest", "all")

    def __init__(self) -> None:
        self.all: list[ToolCall] = []
        self._newest: dict[str, int] = {}

    def start(self, event: Mapping[str, Any]) -> None:
        """A tool begins to work."""
        self._add(event)

    def update(self, event: Mapping[str, Any]) -> None:
        """A tool has given something."""
        place = self._place(event)
        if self.all[place].state == "running":
            self.all[place] = replace(self.all[place], result=event.get("partialResult"))

    def end(self, event: Mapping[str, Any]) -> None:
        """A tool has ended."""
        place = self._place(event)
        is_error = event.get("isError") is True
        self.all[place] = replace(
            self.all[place], state="failed" if is_error else "done", result=event.get("result"), is_error=is_error
        )

    def _place(self, event: Mapping[str, Any]) -> int:
        """Where the event's call stands. One whose start was missed begins here."""
        place = self._newest.get(text(event.get("toolCallId")) or "")
        return self._add(event) if place is None else place

    def _add(self, event: Mapping[str, Any]) -> int:
        call = ToolCall(text(event.get("toolCallId")) or "", text(event.get("toolName")) or "", event.get("args"))
        self._newest[call.id] = len(self.all)
        self.all.append(call)
        return len(self.all) - 1


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed attempt that is repeated.

    Attributes:
        attempt: Its number, from 1; None when the stream does not say, here and below.
        max_attempts: How many there may be.
        delay_ms: How long is waited before.
        error: Why the attempt before it failed.
        success: Whether it succeeded; None as long as that is open.
    """

    attempt: int | None = None
    max_attempts: int | None = None
    delay_ms: float | None = None
    error: str | None = None
    success: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        return _dict_of(self)


def start_retry(retries: list[Retry], event: Mapping[str, Any]) -> None:
    """Add a retry. The one before it, if that is open, has failed."""
    if retries and retries[-1].success is None:
        retries[-1] = replace(retries[-1], success=False)
    retries.append(
        Retry(
            whole(event.get("attempt")),
            whole(event.get("maxAttempts")),
            number(event.get("delayMs")),
            text(event.get("errorMessage")),
        )
    )


def end_retry(retries: list[Retry], event: Mapping[str, Any]) -> None:
    """Take how the open retry came out; or add it, if its start was missed."""
    if not retries or retries[-1].success is not None:
        retries.append(Retry(whole(event.get("attempt")), error=text(event.get("finalError"))))
    retries[-1] = replace(retries[-1], success=flag(event.get("success")))


@dataclass(frozen=True, slots=True)
class Compaction:
    """The summing up of earlier messages.

    Attributes:
        reason: Why: `manual`, `threshold`, `overflow` or `mid-turn`; None when the stream does not say.
        result: The summary and what goes with it, as the stream has it; None when there is none, or not yet.
        aborted: Whether it was broken off; None till it has ended.
        will_retry: Whether the prompt is sent once more afterwards; None till it has ended.
        error: Why it failed, or None.
    """

    reason: str | None = None
    result: Mapping[str, Any] | None = field(default=None, hash=False)
    aborted: bool | None = None
    will_retry: bool | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        return _dict_of(self)


def start_compaction(compactions: list[Compaction], event: Mapping[str, Any]) -> None:
    """Add a compaction."""
    compactions.append(Compaction(text(event.get("reason"))))


def end_compaction(compactions: list[Compaction], event: Mapping[str, Any]) -> None:
    """Take how the open compaction came out; or add it, if its start was missed."""
    if not compactions or compactions[-1].aborted is not None:
        start_compaction(compactions, event)
    compactions[-1] = replace(
        compactions[-1],
        result=mapping(event.get("result")) or None,
        aborted=event.get("aborted") is True,
        will_retry=event.get("willRetry") is True,
        error=text(event.get("errorMessage")),
    )


def _dict_of(fact: ToolCall | Retry | Compaction) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in fact.__slots__}
