"""`sessiontree show`."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from .. import MessageEntry, ModelChangeEntry
from .._native import ReplioDocument
from . import _documents, _transcript
from ._arguments import add_json_arguments, add_leaf_argument, add_pager_argument, add_session_arguments
from ._find import find_or_newest, open_session, read_code
from ._output import count, print_document, print_jsonl, wants_json
from ._pager import print_lines
from ._progress import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from .. import Entry, SessionManager
    from .._native import SessionInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `show` takes."""
    parser.set_defaults(run=run)
    parser.epilog = (
        "--json and --jsonl print the header and the branch's entries as the file has them; of a Replio session, its "
        "document and the messages in it."
    )
    add_session_arguments(parser, nargs="?")
    add_leaf_argument(parser)
    parser.add_argument("--full", action="store_true", help="cut nothing: neither thoughts nor what tools got and gave")
    add_pager_argument(parser)
    add_json_arguments(parser, "record, the header first", "an object with `header` and `entries`")


def run(arguments: argparse.Namespace) -> int:
    """Read the branch, and print it."""
    info = find_or_newest(arguments, of_any_format=True)
    if info.format == "replio":
        _show_document(info, arguments)
        return read_code(info)
    with open_session(info, arguments.leaf) as session:
        branch = session.get_branch()
        if wants_json(arguments):
            header = session.get_header().raw
            entries = _taken(branch)
            if arguments.jsonl:
                print_jsonl(chain([header], entries))
            else:
                print_document({"header": header}, "entries", entries)
        else:
            print_lines(arguments, _lines(info, session, branch, full=arguments.full))
    return read_code(info)


def _show_document(info: SessionInfo, arguments: argparse.Namespace) -> None:
    if arguments.leaf is not None:
        raise ValueError("--leaf: a Replio session has no branches")
    if not wants_json(arguments):
        print_lines(arguments, _document_lines(info, full=arguments.full))
        return
    key, fields, messages = _documents.parts(info.path)
    if arguments.jsonl:
        print_jsonl(chain([fields], messages))
    else:
        print_document(fields, key, messages)


def _document_lines(info: SessionInfo, *, full: bool) -> Iterator[str]:
    with progress("Reading"):
        document = ReplioDocument.read(info.path)
        entries = _documents.by_time(document.shared_messages(), document.shared_errors())
    yield from _transcript.head(info, count(info.message_count, "message"), _model(entries))
    yield from _transcript.entry_lines(_taken(entries), lambda _: None, full=full)


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
        if isinstance(entry, (ModelChangeEntry, MessageEntry)):
            match entry.to_dict():  # unlike `raw`, not kept
                case {"type": "model_change", "provider": str(provider), "modelId": str(model)}:
                    return f"{provider}/{model}"
                case {"message": {"role": "assistant", "provider": str(provider), "model": str(model)}}:
                    return f"{provider}/{model}"
                case _:
                    pass
    return ""
