"""`sessiontree name`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..elyra import SessionManager
from . import DONE
from ._arguments import add_change_arguments, add_facts_arguments, add_session_arguments, new_text
from ._find import find, read_code
from ._output import note, print_facts

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `name` takes."""
    parser.set_defaults(run=run)
    add_session_arguments(parser)
    add_change_arguments(parser, "name")
    add_facts_arguments(parser, "`path` and `id` of the session, and its `name`")


def run(arguments: argparse.Namespace) -> int:
    """Tell the name, or change it."""
    text = new_text(arguments, "name")
    info = find(arguments, arguments.session)
    name = info.name
    if text is not None:
        with SessionManager.open(info.path) as session:
            session.append_session_info(text)
            name = session.get_session_name()
    facts = {"path": str(info.path), "id": info.id, "name": name}
    print_facts(arguments, facts, name if text is None else None)
    if name is None:
        note("the session has no name")
    return DONE if text is not None else read_code(info)
