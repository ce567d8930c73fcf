"""A session's tree as lines: what goes on straight costs no indentation, only what branches off.

At a fork one child goes on in its parent's column, below the others, which stand one level further in: on the active
branch that is the active child, elsewhere the one with most entries below it. So the active branch is one straight
column, and no line is further in than the logarithm of the number of entries, however the forks are nested.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from .. import TreeNode

_BESIDE, _ON_THE_WAY = 1, 2
"""How a node is on the active branch."""

_FOLDED = 8
"""How many entries of a run are hidden at least: a line that stands for fewer saves little."""


class FlatTree:
    """A tree's nodes in depth-first order, with what follows from the order alone.

    Attributes:
        nodes: Each node before its children, oldest child first.
        parents: The index of each node's parent; -1 for roots.
        sizes: How many nodes each stands above, itself included.
        leaf: The index of the entry where the session stands; -1 for none.
    """

    def __init__(self, roots: Iterable[TreeNode], leaf_id: str | None) -> None:
        self.nodes: list[TreeNode] = []
        self.parents = array("q")
        self.leaf = -1
        stack = [(root, -1) for root in reversed(list(roots))]
        while stack:
            node, parent = stack.pop()
            index = len(self.nodes)
            self.nodes.append(node)
            self.parents.append(parent)
            if leaf_id is not None and node.entry.id == leaf_id:
                self.leaf = index
            stack.extend((child, index) for child in reversed(node.children))
        self.sizes = array("q", [1]) * len(self.nodes)
        for index in range(len(self.nodes) - 1, -1, -1):
            if self.parents[index] >= 0:
                self.sizes[self.parents[index]] += self.sizes[index]
        self._on_branch = bytearray(len(self.nodes))
        index = self.leaf
        while index >= 0:
            self._on_branch[index] = _ON_THE_WAY
            index = self.parents[index]

    def on_branch(self, index: int) -> bool:
        """Whether the node is on the active branch."""
        return bool(self._on_branch[index])

    def add_to_branch(self, ids: Container[str | None]) -> None:
        """Have these, too, on the active branch: of a circle, it holds more than the way from the root to the leaf."""
        for index, node in enumerate(self.nodes):
            if not self._on_branch[index] and node.entry.id in ids:
                self._on_branch[index] = _BESIDE

    def straight(self, children: Iterable[int]) -> int:
        """Which child goes on in its parent's column; of several as heavy, the newest."""
        return max(children, key=lambda child: (self._on_branch[child], self.sizes[child], child))

    def children(self, index: int) -> Iterator[int]:
        """The node's children, oldest first; of -1 the roots."""
        end = len(self.nodes) if index < 0 else index + self.sizes[index]
        child = index + 1
        while child < end:
            yield child
            child += self.sizes[child]

    def depths(self) -> Iterator[int]:
        """How far each node is from its root, in order."""
        depths = array("q")
        for parent in self.parents:
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
            yield depths[-1]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the drawing.

    Attributes:
        level: How far it is in.
        is_start: Whether a branch starts here, or at level 0 a tree.
        index: The node; of a fold its first.
        hidden: How many nodes are folded here; 0 where one is shown.
    """

    level: int
    is_start: bool
    index: int
    hidden: int = 0


def drawing(tree: FlatTree, *, full: bool = False) -> Iterator[Line]:
    """The lines of a tree from top to bottom.

    Args:
        tree: Any tree.
        full: Fold nothing. Otherwise, where entries follow each other without a fork, no more is shown of them than the
            first and the last, labelled ones, and the leaf.
    """
    stack = [(root, 0, True) for root in reversed(list(tree.children(-1)))]
    while stack:
        first, level, is_start = stack.pop()
        last = first
        while tree.sizes[last] > 1 and tree.sizes[last + 1] == tree.sizes[last] - 1:
            last += 1
        yield Line(level, is_start, first)
        hidden = 0
        for index in range(first + 1, last + 1):
            is_kept = full or index in (last, tree.leaf) or tree.nodes[index].label is not None
            if not is_kept:
                hidden += 1
                continue
            yield from _folded(level, index - hidden, hidden)
            hidden = 0
            yield Line(level, False, index)
        if tree.sizes[last] > 1:
            children = list(tree.children(last))
            straight = tree.straight(children)
            stack.append((straight, level, False))
            stack.extend((child, level + 1, True) for child in reversed(children) if child != straight)


def _folded(level: int, first: int, hidden: int) -> Iterator[Line]:
    if hidden >= _FOLDED:
        yield Line(level, False, first, hidden)
    else:
        yield from (Line(level, False, index) for index in range(first, first + hidden))
