"""Sessions as a table."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ._output import amount, dollars
from ._table import Column, print_table, width
from ._text import one_line, visible
from ._times import age

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._native import SessionInfo

_COLUMNS = (
    Column("AGE", right=True),
    Column("PROJECT", share=0.25, keep_end=True),
    Column("SESSION", rest=True),
    Column("MSGS", right=True),
    Column("TOKENS", right=True),
    Column("COST", right=True),
)


def print_sessions(infos: Sequence[SessionInfo]) -> None:
    """Print a line a session, below a head; nothing when there are none.

    A session with damage has a `!` before its name or first message.
    """
    now, home, cells = time.time(), os.path.expanduser("~"), width()  # noqa: PTH111  no error without a home
    print_table(_COLUMNS, [_row(info, now, home, cells) for info in infos])


def _row(info: SessionInfo, now: float, home: str, cells: int) -> tuple[str, ...]:
    usage = info.usage
    return (
        age(now - info.modified.timestamp()),
        project(info.cwd, home),
        ("! " if info.damage_count else "") + one_line(info.name or info.first_message, cells),
        f"{info.message_count:,}",
        amount(usage.total_tokens) if usage.total_tokens else "",
        dollars(usage.cost_total),
    )


def project(cwd: str, home: str) -> str:
    """A project's folder for reading: below the user's home it starts with `~`."""
    below = cwd.removeprefix(home)
    return visible(f"~{below}" if below != cwd and below[:1] in ("", os.sep) else cwd)
