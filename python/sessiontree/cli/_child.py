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
"""How long a program may take to end when its output has ended, or when it was told to."""

_LINGER_S = 1.0
"""How long output is waited for when the program itself has ended, but others still hold its pipe."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
"""What the program is sent when the user interrupts once, twice, and again."""


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

    A context manager: while it lasts, signals that would end this process go to the program instead.

    Args:
        command: The program and its arguments.
        cwd: Where it runs; None means here.
        on_stderr: Given what it writes to standard error.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], cwd: str | None, on_stderr: Callable[[bytes], object]) -> None:
        # A program in the background that reads the terminal would be stopped.
        stdin = subprocess.DEVNULL if sys.stdin is not None and sys.stdin.isatty() else None
        self._process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, process_group=0, bufsize=0
        )
        self._on_stderr = on_stderr
        self._interrupts = 0
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                before = signal.getsignal(number)
                if before is not signal.SIG_IGN:
                    self._stack.callback(signal.signal, number, before)
                    signal.signal(number, self._hand_on)
            # That nobody reads what this process says is no reason to leave the program alone.
            self._stack.callback(signal.signal, signal.SIGPIPE, signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if kind is not None:
                self._send(signal.SIGTERM)
            self.end()

    def pieces(self) -> Iterator[bytes]:
        """What it prints; nothing now and then, while it prints nothing. Ends with its output, or with itself."""
        stdout, stderr = self._pipes()
        ended_at: float | None = None
        with selectors.DefaultSelector() as selector:
            for pipe in (stdout, stderr):
                selector.register(pipe, selectors.EVENT_READ)
            while True:
                ready = selector.select(TICK_S)
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE)
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
                    if self._process.poll() is not None:
                        ended_at = ended_at or time.monotonic()
                        if time.monotonic() - ended_at > _LINGER_S:
                            return

    def end(self) -> int:
        """Wait until it has ended, and end what it has left; gives its exit code as shells tell it."""
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
        if number == signal.SIGINT:
            number = _ENDING[min(self._interrupts, len(_ENDING) - 1)]
            self._interrupts += 1
        self._send(number)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS says so in the other way
            os.killpg(self._process.pid, number)
