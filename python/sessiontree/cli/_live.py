"""A run as it goes on, drawn on standard error for whoever sits at the terminal."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._output import amount, count, dollars
from ._speech import brief
from ._text import cells, cut, either, one_line, visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from rich.live import Live

    from ..events import Run, ToolCall

_BETWEEN_S = 0.1
_TOOLS = 5
_END_OF_TEXT = 4000
"""How many characters of a text are looked at: more than a screen shows."""


@contextmanager
def live_view(run: Run) -> Generator[View | None]:
    """Gives what draws the run, or None where nothing can be drawn; leaves nothing on the screen.

    Args:
        run: The run, which is fed while it is drawn.
    """
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    # No redirection: what is printed meanwhile goes through the view.
    with Live(
        console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    ) as live:
        yield View(run, live)


class View:
    """Draws a run, at most ten times a second."""

    def __init__(self, run: Run, live: Live) -> None:
        self._run, self._live = run, live
        self._started = self._drawn = time.monotonic()

    def refresh(self) -> None:
        """Draw it, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._drawn >= _BETWEEN_S:
            from rich.text import Text

            self._drawn = now
            size = self._live.console.size
            lines = list(view_lines(self._run, size.width, size.height - 1, now - self._started))
            self._live.update(Text("\n".join(lines), no_wrap=True, overflow="crop"), refresh=True)

    def print(self, lines: Iterable[str]) -> None:
        """Print lines above the view, all at once: the view is drawn anew each time.

        Args:
            lines: Any texts.
        """
        from rich.text import Text

        self._live.console.print(Text("\n".join(map(visible, lines))), soft_wrap=True)


def view_lines(run: Run, columns: int, rows: int, seconds: float) -> Generator[str]:
    """The lines of the view, visible ones, as many as fit.

    Args:
        run: The run.
        columns: How wide they may be.
        rows: How many there may be.
        seconds: How long the run has taken.
    """
    size = max(columns - 1, 2)
    calls = run.tool_calls
    usage = run.usage
    head = [run.status, count(len(calls), "tool call") if calls else "", f"{seconds:.0f} s"]
    head += [f"{amount(usage.total_tokens)} tokens" if usage.total_tokens else "", dollars(usage.cost_total)]
    above = [", ".join(word for word in head if word)]
    if run.retries and run.retries[-1].success is None:
        retry = run.retries[-1]
        most = "" if retry.max_attempts is None else f" of {retry.max_attempts}"
        above.append(f"retry {retry.attempt or '?'}{most}: {one_line(retry.error or '', size)}")
    if run.compactions and run.compactions[-1].aborted is None:
        above.append("compacting")
    above += [_tool_line(call, size) for call in calls[-_TOOLS:]]
    yield from (cut(line, size) for line in above[:rows])
    lines = [
        piece
        for line in run.partial_text[-_END_OF_TEXT:].split("\n")
        for piece in wrapped(visible(line.expandtabs(4)), size)
    ]
    room = rows - len(above)
    if room > 0:
        yield from lines[-room:]


def _tool_line(call: ToolCall, size: int) -> str:
    mark = {"running": either("…", "..."), "done": either("✓", "ok"), "failed": either("✗", "failed")}[call.state]
    said = one_line(call.text[-size:], size) if call.state == "running" else ""
    line = " ".join(word for word in (mark, one_line(call.name, size), one_line(brief(call.args), size)) if word)
    return f"{line}  {said}" if said and cells(line) < size // 2 else line
