"""A progress bar on standard error, for whoever has waited half a second."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

    from .._types import OnProgress

_PATIENCE_S = 0.5
_BETWEEN_S = 0.1


@contextmanager
def progress(what: str) -> Generator[OnProgress | None]:
    """Gives a function to call with (done, total), or None where no bar can be drawn.

    Args:
        what: What is going on, in a word or two.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    bar = _LateBar(what)
    bar.start()
    try:
        yield bar
    finally:
        bar.end()


class _LateBar(Thread):
    """Shows itself when the work takes long, and leaves nothing behind.

    A thread, because a single large file would otherwise be read without a sign of life.
    """

    def __init__(self, what: str) -> None:
        super().__init__(daemon=True)
        self._what = what
        self._done, self._total = 0, 0
        self._is_over = Event()

    def __call__(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if done == total:
            self.end()  # now, as the caller may have something to say before it returns

    def run(self) -> None:
        if self._is_over.wait(_PATIENCE_S):
            return
        from rich.console import Console
        from rich.progress import Progress

        # No redirection: the streams are the other thread's too.
        console = Console(stderr=True)
        bar = Progress(
            console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        with bar:
            task = bar.add_task(self._what, total=None)
            while not self._is_over.wait(_BETWEEN_S):
                bar.update(task, completed=self._done, total=self._total or None, refresh=True)

    def end(self) -> None:
        self._is_over.set()
        self.join()
