"""Questions to whoever sits at the terminal."""

from __future__ import annotations

import sys


def can_ask() -> bool:
    """Whether somebody sits there who can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def is_agreed(question: str) -> bool:
    """Ask, and wait for the answer; anything but a yes is a no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr)  # the answer did not end the line
    return answer.strip().lower() in ("y", "yes")
