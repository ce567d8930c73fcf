"""`sessiontree branch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..elyra import SessionManager
from ._arguments import add_entry_argument, add_facts_arguments, add_session_arguments
from ._find import entry_id, find, open_session, read_code
from ._output import print_facts

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `branch` takes."""
    parser.set_defaults(run=run)
    parser.description = (
        "Copy the branch of a session that ends at ENTRY into a new session beside it; prints the new file's path. "
        "A session of an old version is brought up to date first."
    )
    add_session_arguments(parser)
    add_entry_argument(parser)
    add_facts_arguments(parser, "`path` and `id` of the new session")


def run(arguments: argparse.Namespace) -> int:
    """Copy it, and print where to."""
    info = find(arguments, arguments.session)
    with open_session(info) as session:
        leaf = entry_id(session, arguments.entry)
    with SessionManager.open(info.path) as session:
        session.create_branched_session(leaf)
        path = str(session.get_session_file())
        print_facts(arguments, {"path": path, "id": session.get_session_id()}, path)
    return read_code(info)
