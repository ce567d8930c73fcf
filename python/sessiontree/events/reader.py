"""Streams of events: bytes that come in pieces, from wherever they come."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import _json, _native
from ..errors import Damage, FormatError
from ._fields import NO_PATH
from .sources import async_items, items

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from .._types import StrPath
    from .kinds import Event
    from .sources import AsyncSource, Bytes, Source

_MOST_ODD = 1000
"""How many events without a type are told of."""


class Intake:
    """What an `EventReader` does, without raising.

    Args:
        types: As for `EventReader`.
        strict: As for `EventReader`.
        path: What the stream is called in damage.
    """

    __slots__ = ("_count", "_lines", "_odd", "_path", "_strict", "_types")

    def __init__(self, types: Iterable[str] | None = None, *, strict: bool = False, path: Path | None = None) -> None:
        if isinstance(types, str):
            raise TypeError("types: expected several texts, found one")
        self._types = None if types is None else frozenset(types)
        self._lines = _native.EventReader(self._types, strict=strict)
        self._strict = strict
        self._path = path or NO_PATH
        self._count = 0
        self._odd: list[Damage] = []

    def take(self, item: object) -> Iterator[Event]:
        """The events that an item of a source completes.

        Args:
            item: Bytes, or an event.
        """
        if isinstance(item, Mapping):
            return self._take_event(cast("Mapping[str, Any]", item))
        if isinstance(item, (bytearray, memoryview)):
            item = bytes(cast("bytearray | memoryview[int]", item))
        if isinstance(item, bytes):
            return map(_json.loads, self._lines.feed(item))
        raise TypeError(f"expected bytes or events, found {type(item).__name__}")

    def _take_event(self, event: Mapping[str, Any]) -> Iterator[Event]:
        self._count += 1
        kind = event.get("type")
        if not isinstance(kind, str):
            if len(self._odd) < _MOST_ODD:
                self._odd.append(Damage("line", self._path, self._count, None, "an event without a type; skipped"))
        elif self._types is None or kind in self._types:
            yield cast("Event", event)

    def end(self) -> Iterator[Event]:
        """The last event, if its line had no end yet."""
        return map(_json.loads, self._lines.finish())

    @property
    def damage(self) -> tuple[Damage, ...]:
        """The damage so far."""
        return (*self._lines.damage(self._path), *self._odd)

    def check(self) -> None:
        """Raise `FormatError` if this is strict, and there was damage."""
        if self._strict and (self._lines.has_failed or self._odd):
            first = self.damage[0]
            raise FormatError(first.reason, first.path, first.line)


class EventReader:
    """Reads a stream that is fed to it in pieces, cut anywhere. It does no I/O.

    Args:
        types: The types of events that are wanted; None means all. Lines of other types cost hardly anything, and are
            not checked: damage in them may go untold. A line that begins with its type, as agents write them, is
            believed.
        strict: Raise at the first damage.

    Rule: docs/events.md, "Framing".
    """

    __slots__ = ("_intake",)

    def __init__(self, *, types: Iterable[str] | None = None, strict: bool = False) -> None:
        self._intake = Intake(types, strict=strict)

    def feed(self, chunk: Bytes) -> list[Event]:
        """Take the next bytes.

        Returns:
            The events that are now complete.

        Raises:
            FormatError: With `strict`, at damage; and at each later call.
        """
        events = list(self._intake.take(chunk))
        self._intake.check()
        return events

    def finish(self) -> list[Event]:
        """End the stream.

        Returns:
            The last event, if its line had no end yet.

        Raises:
            FormatError: As for `feed`.
        """
        events = list(self._intake.end())
        self._intake.check()
        return events

    @property
    def damage(self) -> tuple[Damage, ...]:
        """All lines so far that are no events. Their `path` is `-`: a stream has none."""
        return self._intake.damage


def iter_events(source: Source, *, types: Iterable[str] | None = None, strict: bool = False) -> Iterator[Event]:
    """Read a stream, each event as soon as its line is there.

    Args:
        source: Bytes; a path; a binary file, such as a subprocess's pipe or `sys.stdin.buffer`; or an iterable of bytes
            cut anywhere, or of events. What the caller has opened is left open.
        types: As for `EventReader`.
        strict: As for `EventReader`; the events before the damage are given first.

    Raises:
        FormatError: With `strict`, at damage.
        OSError: The source cannot be read.
        TypeError: It is none of these.

    Rule: docs/events.md.
    """
    return read(source, intake_of(source, types, strict=strict))


async def aiter_events(
    source: AsyncSource, *, types: Iterable[str] | None = None, strict: bool = False
) -> AsyncIterator[Event]:
    """Read a stream in an asynchronous program, each event as soon as its line is there.

    Args:
        source: As for `iter_events`, paths and files being read in a thread, which waits on when the task is cancelled;
            or a stream whose `read` is awaited, such as the `stdout` of an asyncio subprocess, which is better where
            nothing may come for long; or an asynchronous iterable of bytes or of events.
        types: As for `EventReader`.
        strict: As for `iter_events`.

    Raises:
        FormatError: As for `iter_events`, and so are the others.

    Rule: docs/events.md.
    """
    intake = intake_of(source, types, strict=strict)
    async for item in async_items(source):
        for event in _checked(intake.take(item), intake):
            yield event
    for event in _checked(intake.end(), intake):
        yield event


def read(source: Source, intake: Intake) -> Iterator[Event]:
    """As `iter_events`, with an intake that can be asked for the damage afterwards."""
    taken = (_checked(intake.take(item), intake) for item in items(source))
    return chain(chain.from_iterable(taken), _checked(_later(intake), intake))


def intake_of(source: object, types: Iterable[str] | None = None, *, strict: bool = False) -> Intake:
    """An intake for a source, whose path stands in its damage if it has one."""
    path = Path(cast("StrPath", source)) if isinstance(source, (str, os.PathLike)) else None
    return Intake(types, strict=strict, path=path)


def _checked(events: Iterator[Event], intake: Intake) -> Iterator[Event]:
    yield from events
    intake.check()


def _later(intake: Intake) -> Iterator[Event]:
    """The end of a stream, when it comes to that."""
    yield from intake.end()
