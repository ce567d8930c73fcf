"""`sessiontree label`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..elyra import SessionManager
from . import DONE
from ._arguments import (
    add_change_arguments,
    add_entry_argument,
    add_facts_arguments,
    add_session_arguments,
    new_text,
)
from ._find import entry_id, find, open_session, read_code
from ._output import note, print_facts

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `label` takes."""
    parser.set_defaults(run=run)
    add_session_arguments(parser)
    add_entry_argument(parser)
    add_change_arguments(parser, "label")
    add_facts_arguments(parser, "`path` of the session, `id` of the entry, and its `label`")


def run(arguments: argparse.Namespace) -> int:
    """Tell the label, or change it."""
    text = new_text(arguments, "label")
    info = find(arguments, arguments.session)
    with open_session(info) as session:
        entry = entry_id(session, arguments.entry)
        label = session.get_label(entry)
    if text is not None:
        with SessionManager.open(info.path) as session:
            session.append_label_change(entry, text or None)
            label = session.get_label(entry)
    print_facts(arguments, {"path": str(info.path), "id": entry, "label": label}, label if text is None else None)
    if label is None:
        note("the entry has no label")
    return DONE if text is not None else read_code(info)
