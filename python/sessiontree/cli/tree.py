"""`sessiontree tree`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _speech
from ._arguments import add_json_arguments, add_pager_argument, add_session_arguments
from ._drawing import FlatTree, drawing
from ._find import find_or_newest, open_session, read_code
from ._output import note, print_json, styled, wants_json
from ._pager import print_lines
from ._table import text_width
from ._text import cut, either, one_line, visible
from ._transcript import BOLD, DIM, ID_CELLS, label_mark

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import datetime

    from .. import SessionManager
    from ._drawing import Line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `tree` takes."""
    parser.set_defaults(run=run)
    parser.epilog = (
        "The branch that the session stands on is the column on the left; what branches off stands further in, before"
        " it goes on. --json and --jsonl list the entries in depth-first order."
    )
    add_session_arguments(parser, nargs="?")
    parser.add_argument("--full", action="store_true", help="fold nothing: show every entry")
    add_pager_argument(parser)
    add_json_arguments(parser, "entry", "a list of entries")


def run(arguments: argparse.Namespace) -> int:
    """Read the tree, and print it."""
    info = find_or_newest(arguments)
    with open_session(info) as session:
        tree = _tree(session)
        if wants_json(arguments):
            print_json(arguments, _rows(tree))
        else:
            print_lines(arguments, _lines(tree, full=arguments.full))
            if not tree.nodes:
                note("the session has no entries")
    return read_code(info)


def _tree(session: SessionManager) -> FlatTree:
    tree = FlatTree(session.get_tree(), session.get_leaf_id())
    top = tree.leaf
    while top >= 0 and tree.parents[top] >= 0:
        top = tree.parents[top]
    above = tree.nodes[top].entry.parent_id if top >= 0 else None
    if above is not None and session.get_entry(above) is not None:  # a circle, which the tree cuts here
        tree.add_to_branch({entry.id for entry in session.get_branch()})
    return tree


def _rows(tree: FlatTree) -> Iterator[dict[str, Any]]:
    for index, (node, depth) in enumerate(zip(tree.nodes, tree.depths(), strict=True)):
        entry = node.entry
        yield {
            "id": entry.id,
            "parentId": entry.parent_id,
            "type": entry.type,
            "timestamp": _iso(entry.timestamp),
            "label": node.label,
            "depth": depth,
            "isLeaf": index == tree.leaf,
            "onBranch": tree.on_branch(index),
        }


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _lines(tree: FlatTree, *, full: bool) -> Iterator[str]:
    """The drawing: a blank line between trees, the leaf bold, what is on no active branch dim."""
    size = text_width()
    for number, line in enumerate(drawing(tree, full=full)):
        if number and line.is_start and line.level == 0:
            yield ""
        text = _indentation(line, size) + (_fold(line) if line.hidden else _entry(tree, line.index, size))
        style = BOLD if line.index == tree.leaf else "" if tree.on_branch(line.index) else DIM
        yield styled(cut(text, size), style) if style else cut(text, size)


def _indentation(line: Line, size: int) -> str:
    """The lines of the columns to the left; where the terminal is too narrow for them, those nearest."""
    if line.level == 0:
        return ""
    beside, start = either("│ ", "| "), either("├─", "|-")
    columns = beside * (line.level - 1) + (start if line.is_start else beside)
    room = size // 4 * 2
    return columns if len(columns) <= room else either("… ", "~ ") + columns[2 - room :]


def _fold(line: Line) -> str:
    return f"{either('…', '~')} {line.hidden:,} entries"


def _entry(tree: FlatTree, index: int, size: int) -> str:
    node = tree.nodes[index]
    speech = _speech.of_entry(node.entry)
    said = one_line(_speech.gist(speech), size)
    who = one_line(speech.who, size)
    is_leaf = index == tree.leaf
    words = [
        either("◉", "@") if is_leaf else either("●", "*") if tree.on_branch(index) else either("○", "o"),
        cut(visible(node.entry.id or ""), ID_CELLS),
        "(leaf)" if is_leaf else "",
        label_mark(node.label, size // 4),
        f"{who}: {said}" if said else who,
    ]
    return " ".join(word for word in words if word)
