"""What commands print besides tables: JSON on standard output, notes on standard error."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import _json
from ..elyra.paths import pi_agent_dir, store
from ._text import encoding, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping


def wants_json(arguments: argparse.Namespace) -> bool:
    """Whether `--json` or `--jsonl` was given."""
    return bool(arguments.json or arguments.jsonl)


def print_json(arguments: argparse.Namespace, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the rows in the form that was asked for.

    What is not ASCII is escaped where a terminal would act on it, or where other bytes than UTF-8 would come out.
    """
    escaped = sys.stdout.isatty() or codecs.lookup(encoding()).name != "utf-8"
    texts = (_json.dumps(row, escaped=escaped) for row in rows)
    if arguments.jsonl:
        for text in texts:
            print(text)
    else:
        print("[" + ",\n ".join(texts) + "]")


def note(text: str) -> None:
    """Tell something to whoever sits at the terminal."""
    if sys.stderr.isatty():
        print(visible(text), file=sys.stderr)


def explain_none(arguments: argparse.Namespace, whose: str = "", hint: str = "") -> None:
    """Tell where was looked in vain; pi's home, where that is the only one, to everybody.

    Args:
        arguments: Where to look.
        whose: Which sessions were looked for: words for the middle of a sentence.
        hint: What else can be done.
    """
    layout, folder = store(arguments.session_dir, arguments.agent_dir)
    note(f"no sessions{whose} in {folder}{hint}")
    is_elyra = layout == "agent" and arguments.agent_dir is None
    if is_elyra and not os.access(folder / "sessions", os.F_OK) and os.access(pi_agent_dir(), os.F_OK):
        print(
            visible(f"sessiontree: {folder} has no sessions; pi's are in {pi_agent_dir()}: add --pi"), file=sys.stderr
        )


def styled(text: str, style: str) -> str:
    """The text in a style, such as `1` for bold, if standard output is a terminal that may show it."""
    may_show = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return f"\x1b[{style}m{text}\x1b[0m" if may_show else text


def count(number: int, what: str) -> str:
    """So many of something: `1 session`, `2,000 sessions`."""
    return f"{number:,} {what}" + "s" * (number != 1)


def amount(number: float) -> str:
    """A number in three digits: `950`, `12.3k`, `4.56M`."""
    rest = number
    for unit in ("", *"kMGTPE"):
        if rest < 999.5:
            decimals = 0 if not unit or rest >= 99.95 else 1 if rest >= 9.995 else 2
            return f"{rest:.{decimals}f}{unit}"
        rest /= 1000
    return f"{number:.0e}"
