"""Sessions as a table."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ._table import Column, bold, lines, width
from ._text import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._native import SessionInfo

_COLUMNS = (
    Column("AGE", right=True),
    Column("PROJECT", share=0.25),
    Column("SESSION", share=0),
    Column("MESSAGES", right=True),
    Column("TOKENS", right=True),
    Column("COST", right=True),
)

_AGES = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


def print_sessions(infos: Sequence[SessionInfo]) -> None:
    """Print a line a session, below a head; nothing when there are none.

    A session with damage has a `!` before its name or first message.
    """
    if not infos:
        return
    now, home, cells = time.time(), str(Path.home()), width()
    head, *rows = lines(_COLUMNS, [_row(info, now, home, cells) for info in infos], cells)
    print(bold(head))
    print("\n".join(rows))


def _row(info: SessionInfo, now: float, home: str, cells: int) -> tuple[str, ...]:
    usage = info.usage
    return (
        age(now - info.modified.timestamp()),
        _project(info.cwd, home),
        ("! " if info.damage_count else "") + one_line(info.name or info.first_message, cells),
        f"{info.message_count:,}",
        amount(usage.total_tokens),
        f"${usage.cost_total:,.2f}" if usage.cost_total else "",
    )


def age(seconds: float) -> str:
    """A time span in its greatest unit: `5m`, `3d`, `2mo`."""
    for unit, name in _AGES:
        if seconds >= unit:
            return f"{int(seconds // unit)}{name}"
    return "now"


def amount(number: float) -> str:
    """A number in three digits or so: `950`, `12.3k`, `4.56M`; empty for 0."""
    if number < 1000:
        return f"{number:.0f}" if number else ""
    for unit in "kMGTPE":
        number /= 1000
        if number < 999.5 or unit == "E":
            break
    return f"{number:.{max(0, 3 - len(str(int(number))))}f}{unit}"


def _project(cwd: str, home: str) -> str:
    """The end of the folder's path tells most, so that is what is left of a long one."""
    below = cwd.removeprefix(home)
    path = visible(f"~{below}" if below != cwd and below[:1] in ("", os.sep) else cwd)
    return path if len(path) <= 30 else "…" + path[-29:]
