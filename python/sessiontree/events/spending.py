"""Tokens and cost of a run, each message counted once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import _json, _native
from ..errors import Damage
from ..usage import Usage
from ._fields import NO_PATH, items, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_MODEL = "tools and summaries"

_EXACT = 2**53
"""Up to here whole numbers are exact in a double."""

_MOST_NOTES = 1000


class Spending:
    """Sums up what a stream tells of usage.

    An attempt's messages come one by one, and once more when it ends. They are counted as they come; only where no
    message of the model came, because the stream was filtered, do those at the end count.
    """

    __slots__ = ("_before", "_now", "_was_told", "notes")

    def __init__(self) -> None:
        self._now, self._before = _Sums(), _Sums()
        self._was_told = False
        self.notes: list[Damage] = []

    def start(self) -> None:
        """An attempt starts."""
        self._before = self._now.copy()
        self._was_told = False

    def message(self, message: Mapping[str, Any]) -> None:
        """A message has ended."""
        self._was_told |= message.get("role") == "assistant"
        self._count_message(message)

    def end(self, messages: object) -> None:
        """An attempt has ended, with these messages."""
        ended = [message for one in items(messages) if (message := mapping(one))]
        if ended and not self._was_told:
            self._now = self._before
            for message in ended:
                self._count_message(message)
        self.start()

    def holder(self, holder: Mapping[str, Any]) -> None:
        """A compaction or an entry, whichever message comes or not."""
        self._count({"usage": holder.get("usage")}, holder, [self._now, self._before])

    def usage(self) -> Usage:
        """The sums so far."""
        return self._now.usage()

    def _count_message(self, message: Mapping[str, Any]) -> None:
        if message.get("role") == "assistant":
            self._count({"usage": message.get("usage")}, message, [self._now])
        elif message.get("role") == "toolResult":
            by_model = mapping(message.get("details")).get("modelUsage")
            details = None if by_model is None else {"modelUsage": by_model}
            self._count({"usage": message.get("usage"), "details": details}, {}, [self._now])

    def _count(self, used: dict[str, Any], named: Mapping[str, Any], sums: list[_Sums]) -> None:
        if not any(used.values()):
            return
        try:
            records, odd = _native.spent(_json.encode(used))
        except (TypeError, ValueError):  # an event that did not come as JSON
            records, odd = [], ["usage: no JSON"]
        provider, model = text(named.get("provider")), text(named.get("model"))
        name = _NO_MODEL if provider is None or model is None else f"{provider}/{model}"
        for record in records:
            for one in sums:
                one.add(name, record)
        room = _MOST_NOTES - len(self.notes)
        self.notes += [Damage("value", NO_PATH, None, None, reason) for reason in odd[:room]]


class _Sums:
    """Sums of usage records, in all and by model."""

    __slots__ = ("_by_model", "_total")

    def __init__(self) -> None:
        self._total = [0.0] * 6
        self._by_model: dict[str, list[float]] = {}

    def copy(self) -> _Sums:
        copy = _Sums()
        copy._total = [*self._total]
        copy._by_model = {name: [*sums] for name, sums in self._by_model.items()}
        return copy

    def add(self, model: str, record: tuple[float, ...]) -> None:
        for sums in (self._total, self._by_model.setdefault(model, [0.0] * 6)):
            sums[:] = (min(sum + more, sys.float_info.max) for sum, more in zip(sums, record, strict=True))

    def usage(self) -> Usage:
        return _usage(self._total, {name: _usage(sums, {}) for name, sums in sorted(self._by_model.items())})


def _usage(sums: list[float], by_model: dict[str, Usage]) -> Usage:
    *counts, cost = sums
    whole = (int(count) if count <= _EXACT and count.is_integer() else count for count in counts)
    given, got, cache_read, cache_write, total = whole
    return Usage(given, got, cache_read, cache_write, total, cost, by_model)
