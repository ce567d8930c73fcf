"""Where streams come from: bytes, paths, files, pipes, iterables; and those that are awaited."""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import AsyncIterable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from .._types import StrPath

_PIECE = 256 << 10
"""How many bytes are read at once: large enough that calls do not count, small enough to stay in a core's cache."""

_TURN_S = 0.01
"""How long an asynchronous program may be kept from its other tasks, about."""


class Readable(Protocol):
    """A binary file."""

    def read(self, size: int, /) -> bytes | None:
        """At most so many bytes; none at the end."""


class AsyncReadable(Protocol):
    """A stream that is awaited, such as asyncio's."""

    async def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


Bytes: TypeAlias = bytes | bytearray | memoryview
"""Bytes as callers have them."""

Source: TypeAlias = "Bytes | StrPath | Readable | Iterable[Bytes] | Iterable[Mapping[str, Any]]"
"""Bytes, a path, a binary file or pipe, or an iterable of bytes or of events."""

AsyncSource: TypeAlias = "Source | AsyncReadable | AsyncIterable[Bytes] | AsyncIterable[Mapping[str, Any]]"
"""The same, or a stream that is awaited."""


def items(source: Source) -> Iterator[object]:
    """What a source gives, piece by piece or event by event, as soon as it is there.

    Raises:
        TypeError: It is no source.
    """
    if isinstance(source, (str, os.PathLike)):
        return _of_path(Path(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _of_bytes(cast("bytes", source))
    if (read := _read_of(source)) is not None:
        return _of_file(read)
    if isinstance(source, Iterable):
        return iter(cast("Iterable[object]", source))
    raise _no_source(source)


async def async_items(source: AsyncSource) -> AsyncIterator[object]:
    """As `items`; files are read in a thread, and what is in memory lets others have their turn.

    Raises:
        TypeError: It is no source.
    """
    import asyncio  # late, and so is the next: few programs need them
    import inspect

    read_async = getattr(source, "read", None)
    if inspect.iscoroutinefunction(read_async):
        while piece := await read_async(_PIECE):
            yield piece
    elif isinstance(source, AsyncIterable):
        async for item in cast("AsyncIterable[object]", source):
            yield item
    elif isinstance(source, (str, os.PathLike)) or _read_of(source) is not None:
        pieces = items(cast("Source", source))
        while (piece := await asyncio.to_thread(next, pieces, b"")) != b"":
            yield piece
    else:
        given_way_at = time.monotonic()
        for item in items(cast("Source", source)):
            yield item
            if time.monotonic() - given_way_at > _TURN_S:
                await asyncio.sleep(0)
                given_way_at = time.monotonic()


def _of_path(path: Path) -> Iterator[object]:
    with path.open("rb", buffering=0) as file:
        yield from iter(lambda: file.read(_PIECE), b"")


def _of_file(read: Callable[[int], bytes | None]) -> Iterator[object]:
    while (piece := read(_PIECE)) != b"":
        if piece is None:
            raise BlockingIOError(errno.EAGAIN, "the file does not wait, and has nothing to be read now")
        yield piece


def _of_bytes(data: Bytes) -> Iterator[object]:
    view = memoryview(data).cast("B")
    for start in range(0, len(view), _PIECE):
        yield bytes(view[start : start + _PIECE])


def _read_of(source: object) -> Callable[[int], bytes | None] | None:
    """What reads a file, giving what is there without waiting for more; None if it is no file.

    Raises:
        TypeError: It is a file of text.
    """
    if isinstance(source, io.TextIOBase):
        raise TypeError("expected a binary file, found one of text: its `buffer` is binary")
    read = getattr(source, "read", None)
    # Of a file that does not wait, `read1` tells the end and nothing to be read now in the same way.
    return read if _does_not_wait(source) else getattr(source, "read1", read)


def _does_not_wait(source: object) -> bool:
    fileno = getattr(source, "fileno", None)
    try:
        return fileno is not None and not os.get_blocking(fileno())
    except OSError:  # no file of the system
        return False


def _no_source(source: object) -> TypeError:
    what = type(source).__name__
    return TypeError(f"expected bytes, a path, a binary file, or an iterable of bytes or of events, found {what}")
