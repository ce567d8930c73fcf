"""The entries of a session, a class a type; and the nodes of their tree.

Rule: Elyra session format, "Entry Types".
"""

from .._native import (
    BranchSummaryEntry,
    CompactionEntry,
    ContextEditEntry,
    CustomEntry,
    CustomMessageEntry,
    Entry,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingLevelChangeEntry,
    TreeNode,
    UnknownEntry,
    UsageEntry,
)

__all__ = [
    "BranchSummaryEntry",
    "CompactionEntry",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessageEntry",
    "Entry",
    "LabelEntry",
    "MessageEntry",
    "ModelChangeEntry",
    "SessionInfoEntry",
    "ThinkingLevelChangeEntry",
    "TreeNode",
    "UnknownEntry",
    "UsageEntry",
]
