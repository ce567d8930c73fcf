"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def add_where_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `-C`, `--agent-dir`, `--pi` and `--session-dir`."""
    group = parser.add_argument_group("where to look")
    group.add_argument("-C", dest="cwd", metavar="DIR", default=os.curdir, help="the project's folder (this one)")
    homes = group.add_mutually_exclusive_group()
    homes.add_argument("--agent-dir", metavar="DIR", help="the agent's folder (~/.elyra/agent)")
    homes.add_argument("--pi", action="store_true", help="pi's agent folder (~/.pi/agent)")
    group.add_argument("--session-dir", metavar="DIR", help="a folder that holds session files directly")


def add_json_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json` and `--jsonl`; `what` names a row."""
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=f"one JSON document: a list of {what}s")
    output.add_argument("--jsonl", action="store_true", help=f"a line of JSON for each {what}")


def at_least(least: int) -> Callable[[str], int]:
    """A type of argument: whole numbers from `least` up."""

    def whole_number(text: str) -> int:
        if text.isdecimal() and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, {least} or more")

    return whole_number
