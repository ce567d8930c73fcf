"""`sessiontree show`."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from .. import MessageEntry, ModelChangeEntry
from . import _transcript
from ._arguments import add_json_arguments, add_leaf_argument, add_pager_argument, add_session_arguments
from ._find import find_or_newest, open_session, read_code
from ._output import print_document, print_jsonl
from ._pager import print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from .. import Entry, SessionManager
    from .._native import SessionInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `show` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "--json and --jsonl print the header and the branch's entries as the file has them."
    add_session_arguments(parser, nargs="?")
    add_leaf_argument(parser)
    parser.add_argument("--full", action="store_true", help="cut nothing: neither thoughts nor what tools got and gave")
    add_pager_argument(parser)
    add_json_arguments(parser, "record, the header first", "an object with `header` and `entries`")


def run(arguments: argparse.Namespace) -> int:
    """Read the branch, and print it."""
    info = find_or_newest(arguments)
    with open_session(info, arguments.leaf) as session:
        branch, header = session.get_branch(), session.get_header()
        if arguments.json:
            print_document({"header": header and header.raw}, "entries", (entry.raw for entry in _taken(branch)))
        elif arguments.jsonl:
            print_jsonl(record.raw for record in chain([header] if header else [], _taken(branch)))
        else:
            print_lines(arguments, _lines(info, session, branch, full=arguments.full))
    return read_code(info)


def _lines(info: SessionInfo, session: SessionManager, branch: list[Entry], *, full: bool) -> Iterator[str]:
    yield from _transcript.head(
        info,
        "1 entry" if len(branch) == 1 else f"{len(branch):,} entries",
        _model(branch),
        branch_cost=session.usage(branch_only=True).cost_total,
    )
    yield from _transcript.entry_lines(_taken(branch), session.get_label, full=full)


def _taken(entries: list[Entry]) -> Iterator[Entry]:
    """The entries, each taken out of the list: of a long branch, little is held at a time."""
    entries.reverse()
    while entries:
        yield entries.pop()


def _model(branch: list[Entry]) -> str:
    """The model that was in use where the branch ends: the last that was chosen, or that answered; or empty."""
    for entry in reversed(branch):
        match entry:
            case ModelChangeEntry(provider=str(provider), model_id=str(model)):
                return f"{provider}/{model}"
            case MessageEntry(message={"role": "assistant", "provider": str(provider), "model": str(model)}):
                return f"{provider}/{model}"
            case _:
                pass
    return ""
