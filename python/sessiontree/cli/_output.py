"""What commands print besides tables: JSON on standard output, notes on standard error."""

from __future__ import annotations

import codecs
import os
import sys
from typing import TYPE_CHECKING, Any

from .. import Entry, _json
from ..elyra.paths import pi_agent_dir, store
from . import _documents
from ._text import encoding, visible

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping


def wants_json(arguments: argparse.Namespace) -> bool:
    """Whether `--json` or `--jsonl` was given."""
    return bool(arguments.json or arguments.jsonl)


def print_json(arguments: argparse.Namespace, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the rows in the form that was asked for, each as soon as it is there."""
    if arguments.jsonl:
        print_jsonl(rows)
    else:
        _print_list(rows)
        print()


def print_jsonl(rows: Iterable[object]) -> None:
    """Print a line of JSON for each row, as soon as it is there."""
    dumps = _dumps()
    for row in rows:
        print(dumps(row))


def print_document(fields: Mapping[str, Any], key: str, rows: Iterable[object]) -> None:
    """Print one JSON object with a list in it.

    Args:
        fields: What the object holds besides.
        key: The list's key.
        rows: Its elements, each printed as soon as it is there.
    """
    dumps = _dumps()
    print("{", end="")
    for name, value in fields.items():
        print(f"{dumps(name)}:{dumps(value)}", end=",\n ")
    print(f"{dumps(key)}:", end="")
    _print_list(rows)
    print("}")


def print_facts(arguments: argparse.Namespace, facts: Mapping[str, Any], text: str | None) -> None:
    """Print what came of a command.

    Args:
        arguments: Whether that is to be JSON.
        facts: What JSON says.
        text: What is said otherwise, on one line; None for nothing.
    """
    if wants_json(arguments):
        print(_dumps()(facts))
    elif text is not None:
        print(visible(text))


def _print_list(rows: Iterable[object]) -> None:
    dumps = _dumps()
    before = "["
    for row in rows:
        print(before + dumps(row), end="")
        before = ",\n "
    print("]" if before != "[" else "[]", end="")


def _dumps() -> Callable[[object], str]:
    """What makes JSON for standard output.

    What is not ASCII is escaped where a terminal would act on it, or where other bytes than UTF-8 would come out.
    Otherwise an entry is printed as the file spells it.
    """
    escaped = sys.stdout.isatty() or codecs.lookup(encoding()).name != "utf-8"

    def dumps(value: object) -> str:
        if isinstance(value, Entry):
            return _json.dumps(value.to_dict(), escaped=True) if escaped else value.to_json()
        return _json.dumps(value, escaped=escaped)

    return dumps


def note(text: str) -> None:
    """Tell something to whoever sits at the terminal."""
    if sys.stderr.isatty():
        print(visible(text), file=sys.stderr)


def explain_none(arguments: argparse.Namespace, whose: str = "", hint: str = "") -> None:
    """Tell where was looked in vain, and of pi's home.

    Args:
        arguments: Where to look.
        whose: Which sessions were looked for: words for the middle of a sentence.
        hint: What else can be done.
    """
    _, folder = store(arguments.session_dir, arguments.agent_dir)
    documents = _documents.sessions_folder(arguments)
    beside = f", and none in {documents}" if documents is not None else ""
    note(f"no sessions{whose} in {folder}{beside}{hint}")
    point_to_pi(arguments)


def point_to_pi(arguments: argparse.Namespace) -> None:
    """Tell everybody of pi's home, where that is the only one, and was not looked into."""
    layout, folder = store(arguments.session_dir, arguments.agent_dir)
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


def dollars(cost: float) -> str:
    """A cost: `$0.50`, `<$0.01`; empty for none."""
    if not cost:
        return ""
    if cost < 0.005:
        return "<$0.01"
    return f"${cost:,.2f}" if cost < 99_999.5 else f"${amount(cost)}"
