"""A program that prints a stream: its output as it comes, and nothing of it left running afterwards."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType, TracebackType

_PIECE = 256 << 10

TICK_S = 0.1
"""How long is waited for output before the caller has its turn."""

_GRACE_S = 5.0
"""How long a program may take to end when its output has ended, and again when it was told to."""

_LINGER_S = 1.0
"""How long output is waited for when the program itself has ended, but others still hold its pipe."""

_PIPE_HOLDS = 1 << 20
"""How many bytes may be left in a pipe when its writers are gone: Linux lets none but root have larger ones."""

_HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""What would end this process, and is sent to the program instead."""


def pieces_of(file: IO[bytes]) -> Iterator[bytes]:
    """What a file or pipe gives; nothing now and then, while there is nothing to be read."""
    with selectors.SelectSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        while True:
            if not selector.select(TICK_S):
                yield b""
            elif piece := os.read(file.fileno(), _PIECE):
                yield piece
            else:
                return


class Child:
    """A program in a process group of its own, so that all it starts can be told what it is told.

    A context manager: as long as there is one, signals that would end this process go to the program instead.

    Args:
        command: The program and its arguments.
        cwd: Where it runs; None means here.
        on_stderr: Given what it writes to standard error.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], cwd: str | None, on_stderr: Callable[[bytes], object]) -> None:
        self._on_stderr = on_stderr
        self._ended_at: float | None = None
        self._code: int | None = None
        self._handed_on = 0
        # A program in the background that reads the terminal would be stopped.
        stdin = subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None
        pipe = subprocess.PIPE
        early: list[int] = []
        with ExitStack() as stack:
            # Taken before there is a program: a signal that ended this process just then would leave that running.
            taken = _take_signals(stack, lambda number, _: early.append(number))
            self._process = subprocess.Popen(
                command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=cwd, process_group=0, bufsize=0
            )
            self._stack = stack.pop_all()
        for number in taken:
            signal.signal(number, self._hand_on)
        for number in early:
            self._hand_on(number, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if kind is not None:
                self._send(signal.SIGTERM)
            self.end()

    def pieces(self) -> Iterator[bytes]:
        """What it prints; nothing now and then, while it prints nothing.

        Ends with its output, or a moment after the program, whoever still holds the pipe.
        """
        stdout, stderr = self._pipes()
        is_over, room = False, _PIPE_HOLDS
        with selectors.DefaultSelector() as selector:
            for pipe in (stdout, stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while room > 0:
                ready = selector.select(0 if is_over else TICK_S)
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
                    room -= len(piece) if is_over else 0
                    if key.fileobj is stdout and not piece:
                        return
                    if key.fileobj is stdout:
                        yield piece
                    elif piece:
                        self._on_stderr(piece)
                    else:
                        selector.unregister(stderr)
                if not ready:
                    yield b""
                    if is_over:
                        return
                if not is_over and self._has_lingered():
                    is_over = True
                    self._send(signal.SIGKILL)

    def _has_lingered(self) -> bool:
        """Whether it ended a moment ago."""
        if self._ended_at is None and self._process.poll() is not None:
            self._ended_at = time.monotonic()
        return self._ended_at is not None and time.monotonic() - self._ended_at > _LINGER_S

    def end(self) -> int:
        """Wait until it has ended, and end what it has left; gives its exit code as shells tell it."""
        if self._code is None:
            self._code = self._end()
        return self._code

    def _end(self) -> int:
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._send(number)
            if self._wait(_GRACE_S):
                break
        self._send(signal.SIGKILL)  # whoever is left of its group
        code = self._process.wait()
        for pipe in self._pipes():
            pipe.close()
        return code if code >= 0 else 128 - code

    def _wait(self, seconds: float) -> bool:
        """Whether it ends within some time, what it still writes being taken in meanwhile."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for pipe in self._pipes():
                if not pipe.closed:
                    selector.register(pipe, selectors.EVENT_READ)
            while True:
                has_ended = self._process.poll() is not None
                is_silent = not self._take_rest(selector, 0 if has_ended else TICK_S)
                if (has_ended and is_silent) or time.monotonic() > deadline:
                    return has_ended

    def _take_rest(self, selector: selectors.BaseSelector, seconds: float) -> bool:
        """Takes in what is there of its output; false if nothing is."""
        is_there = False
        for key, _ in selector.select(seconds):
            piece = os.read(key.fd, _PIECE)
            is_there |= bool(piece)
            if not piece:
                selector.unregister(key.fileobj)
            elif key.fileobj is self._process.stderr:
                self._on_stderr(piece)
        return is_there

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout, self._process.stderr

    def _hand_on(self, number: int, _: FrameType | None) -> None:
        """Hand a signal on; the second is a SIGTERM, and all later ones are a SIGKILL: whoever repeats it means it."""
        self._send((number, signal.SIGTERM, signal.SIGKILL)[min(self._handed_on, 2)])
        self._handed_on += 1

    def _send(self, number: int) -> None:
        if self._code is not None:  # it has been waited for: its number may be another's
            return
        with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS says so in the other way
            os.killpg(self._process.pid, number)
            os.killpg(self._process.pid, signal.SIGCONT)  # whoever is stopped would not hear it


def _take_signals(stack: ExitStack, handler: Callable[[int, FrameType | None], object]) -> list[int]:
    """Have the signals that would end this process handled, as long as the stack lasts; gives which they are."""
    if threading.current_thread() is not threading.main_thread():
        return []
    taken: list[int] = [number for number in _HANDED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    for number in taken:
        stack.callback(signal.signal, number, signal.signal(number, handler))
    # That nobody reads what this process says is no reason to leave the program alone.
    stack.callback(signal.signal, signal.SIGPIPE, signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    return taken
