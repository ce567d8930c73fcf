"""Whether a run goes on, and which message is what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ._fields import items, mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

Status: TypeAlias = Literal["running", "ok", "error", "aborted", "incomplete"]


class Outcome:
    """Follows attempts, each from an `agent_start` to an `agent_end`. A failed one may be repeated, announced or not.

    Rule: docs/events.md, "The outcome".
    """

    __slots__ = ("_has_ended", "_is_inside", "_is_settled", "_last_answer", "_last_end", "_was_told")

    def __init__(self) -> None:
        # The last answer to what the user said last.
        self._last_answer: Mapping[str, Any] | None = None
        # What the last `agent_end` came to.
        self._last_end: Mapping[str, Any] | None = None
        # Whether messages of this attempt came one by one: a stream that was filtered may have them at its end alone.
        self._was_told = False
        self._is_inside = self._is_settled = self._has_ended = False

    def begin(self) -> None:
        """An attempt or a turn begins, or more of an answer has come."""
        self._is_inside, self._is_settled = True, False

    def ask(self) -> None:
        """The user says something: earlier answers are none to that."""
        self._was_told = True
        self._last_answer = None

    def answer(self, message: Mapping[str, Any]) -> None:
        """The model's message has ended."""
        self.begin()
        self._was_told = True
        self._last_answer = message

    def end(self, messages: object) -> Mapping[str, Any] | None:
        """An attempt has ended, with these messages; gives what it came to."""
        ended = [mapping(message) for message in items(messages)]
        answer = next((message for message in reversed(ended) if message.get("role") == "assistant"), None)
        if answer is not None:
            self._last_answer = answer
        elif not self._was_told and any(message.get("role") == "user" for message in ended):
            self._last_answer = None
        self._last_end = self._last_answer
        self._was_told = self._is_inside = self._is_settled = False
        return self._last_end

    def settle(self) -> None:
        """Nothing more follows what the user has said."""
        self._is_settled = True
        self._last_answer = None

    def finish(self) -> None:
        """The stream has ended."""
        self._has_ended = True

    @property
    def status(self) -> Status:
        """How it stands."""
        if not (self._has_ended or self._is_settled):
            return "running"
        if self._last_end is None or self._is_inside:
            return "incomplete"
        reason = self._last_end.get("stopReason")
        return "error" if reason == "error" else "aborted" if reason == "aborted" else "ok"

    @property
    def message(self) -> Mapping[str, Any]:
        """The message that the run came to; an empty one as long as that can change, and where there is none."""
        return self._last_end or {} if self.status in ("ok", "error", "aborted") else {}
