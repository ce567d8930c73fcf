"""`sessiontree replio preview`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._listing import session_at
from .._arguments import add_facts_arguments
from .._find import read_code
from .._output import print_facts, wants_json
from .._text import visible
from ._arguments import add_name_argument
from ._find import find, open_store

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `preview` takes."""
    parser.set_defaults(run=run)
    add_name_argument(parser)
    add_facts_arguments(
        parser,
        "`name`, `created_at`, `updated_at`, `message_count`, `roles`, `tools`, `parent_id` and `sub_sessions`",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read the structure, and print it."""
    store = open_store(arguments)
    preview = store.preview(find(store, arguments.name))
    if wants_json(arguments):
        print_facts(arguments, preview.to_dict(), None)
    else:
        for line in preview.lines():
            print(visible(line))
    return read_code(session_at(store.path_of(preview.name)))
