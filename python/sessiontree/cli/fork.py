"""`sessiontree fork`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..elyra import SessionManager
from ._arguments import add_facts_arguments, add_session_arguments, where
from ._find import find, read_code
from ._output import print_facts

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `fork` takes."""
    parser.set_defaults(run=run)
    parser.description = (
        "Copy a session, with all its branches, into a new one of a project; prints the new file's path. SESSION is"
        " looked for in the project that -C names, then in all."
    )
    add_session_arguments(parser)
    parser.add_argument("--to", metavar="DIR", help="the folder of the project that gets it (that of -C)")
    add_facts_arguments(parser, "`path` and `id` of the new session")


def run(arguments: argparse.Namespace) -> int:
    """Fork it, and print where to."""
    info = find(arguments, arguments.session, everywhere=True)
    target = arguments.cwd if arguments.to is None else arguments.to
    with SessionManager.fork_from(info.path, target, **where(arguments)) as session:
        path = str(session.get_session_file())
        print_facts(arguments, {"path": path, "id": session.get_session_id()}, path)
    return read_code(info)
