"""`sessiontree replio export`."""

from __future__ import annotations

import sys
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
    """Add what `export` takes."""
    parser.set_defaults(run=run)
    parser.description = "Write all of a session as Markdown, and tell where to; what was in that file is replaced."
    add_name_argument(parser)
    about = "the file to write, or - for standard output (.replio/exports/NAME.md)"
    parser.add_argument("--out", metavar="FILE", help=about)
    add_facts_arguments(parser, "`name` of the session and `path` of the file")


def run(arguments: argparse.Namespace) -> int:
    """Render the session's file."""
    out: str | None = arguments.out
    if out == "-" and wants_json(arguments):
        raise ValueError("--out - prints Markdown: it goes without --json and --jsonl")
    store = open_store(arguments)
    name = find(store, arguments.name)
    if out == "-":
        _print_markdown(store.export(name, "-"))
    else:
        path = str(store.export(name, out))
        print_facts(arguments, {"name": name, "path": path}, f"Exported session: {name} -> {path}")
    return read_code(session_at(store.path_of(name)))


def _print_markdown(text: str) -> None:
    """Print it as a file would have it; to a terminal only what that may show."""
    if sys.stdout.isatty():
        for line in text.removesuffix("\n").split("\n"):
            print(visible(line.expandtabs(4)))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
