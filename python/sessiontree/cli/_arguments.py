"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..elyra import paths

if TYPE_CHECKING:
    from collections.abc import Callable


def add_where_arguments(parser: argparse.ArgumentParser, *, all_projects: str | None = None) -> None:
    """Add `-C`, `--agent-dir`, `--pi` and `--session-dir`.

    Args:
        parser: What to add them to.
        all_projects: What `--all` does, in words; None where there is none.
    """
    group = parser.add_argument_group("where to look")
    group.add_argument("-C", dest="cwd", metavar="DIR", default=os.curdir, help="the project's folder (this one)")
    if all_projects is not None:
        group.add_argument("--all", action="store_true", help=all_projects)
    homes = group.add_mutually_exclusive_group()
    homes.add_argument("--agent-dir", metavar="DIR", help="the agent's folder (~/.elyra/agent)")
    homes.add_argument("--pi", action="store_true", help="pi's agent folder (~/.pi/agent)")
    group.add_argument("--session-dir", metavar="DIR", help="a folder that holds session files directly")


def add_catalogue_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--no-catalogue`."""
    about = "read every file, and do not keep what was found for the next time"
    parser.add_argument("--no-catalogue", dest="catalogue", action="store_false", help=about)


def where(arguments: argparse.Namespace) -> dict[str, Any]:
    """The store that the arguments name, as keywords."""
    return {"session_dir": arguments.session_dir, "agent_dir": arguments.agent_dir}


def add_json_arguments(parser: argparse.ArgumentParser, what: str, document: str | None = None) -> None:
    """Add `--json` and `--jsonl`.

    Args:
        parser: What to add them to.
        what: A row, in a word.
        document: The document that `--json` prints, in words, if it is not a list of rows.
    """
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=f"one JSON document: {document or f'a list of {what}s'}")
    output.add_argument("--jsonl", action="store_true", help=f"a line of JSON for each {what}")


def add_facts_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json` and `--jsonl` to a command that has one row to tell; `what` names its keys."""
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=f"one JSON object: {what}")
    output.add_argument("--jsonl", action="store_true", help="the same")


def add_session_arguments(parser: argparse.ArgumentParser, *, nargs: str | None = None) -> None:
    """Add SESSION, how to find it, and where to look.

    Args:
        parser: What to add them to.
        nargs: None for one session, `?` for one or the newest, `+` for several, which are then `sessions`.
    """
    about = "a session: its file's path, its id, or a start of the id that no other has"
    if nargs == "?":
        about += " (the newest)"
    name = "sessions" if nargs == "+" else "session"
    parser.add_argument(name, metavar="SESSION", nargs=nargs, help=about)
    add_catalogue_argument(parser)
    add_where_arguments(parser, all_projects="look in all projects, not only in that folder's")


def add_entry_argument(parser: argparse.ArgumentParser) -> None:
    """Add ENTRY."""
    parser.add_argument("entry", metavar="ENTRY", help="an entry's id, or a start of it that no other entry has")


def add_leaf_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--leaf`."""
    about = "where the branch ends: an entry's id, or a start of it (where the session stands)"
    parser.add_argument("--leaf", metavar="ENTRY", help=about)


def add_pager_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--no-pager`."""
    about = "no pager (PAGER, else less) for what is longer than the screen"
    parser.add_argument("--no-pager", action="store_true", help=about)


def at_least(least: int) -> Callable[[str], int]:
    """A type of argument: whole numbers from `least` up."""

    def whole_number(text: str) -> int:
        if text.isdecimal() and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number, {least} or more")

    return whole_number


def add_change_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the new text, such as NAME, and `--clear`."""
    parser.epilog = f"Without {what.upper()} and --clear, prints the {what} there is."
    parser.add_argument("text", metavar=what.upper(), nargs="?", help=f"the new {what}")
    parser.add_argument("--clear", action="store_true", help=f"take the {what} away")


def new_text(arguments: argparse.Namespace, what: str) -> str | None:
    """What is to be set: empty to clear it, None to leave it as it is.

    Raises:
        ValueError: A text is given that is empty, or beside `--clear`.
    """
    text: str | None = arguments.text
    if arguments.clear and text is not None:
        raise ValueError(f"--clear takes the {what} away: it takes no {what.upper()}")
    if arguments.clear:
        return ""
    if text is not None and not text.strip():
        raise ValueError(f"{what.upper()} is empty: --clear takes the {what} away")
    return None if text is None else paths.text(text)
