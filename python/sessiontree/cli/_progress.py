"""A progress bar on standard error, for whoever has waited half a second."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from .._types import OnProgress

_PATIENCE_S = 0.5
_BETWEEN_S = 0.05


@contextmanager
def progress(what: str) -> Iterator[OnProgress | None]:
    """Gives a function to call with (done, total), or None where standard error is no terminal.

    Args:
        what: What is going on, in a word or two.
    """
    if not sys.stderr.isatty():
        yield None
        return
    bar = _LateBar(what)
    try:
        yield bar
    finally:
        bar.close()


class _LateBar:
    """Shows itself when the work takes long, and leaves nothing behind."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._next = time.monotonic() + _PATIENCE_S
        self._shown: tuple[Progress, TaskID] | None = None

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN_S
        if self._shown is None:
            self._shown = self._start(total)
        bar, task = self._shown
        bar.update(task, completed=done)

    def _start(self, total: int) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task(self._what, total=total)

    def close(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()
