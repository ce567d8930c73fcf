"""The storage engine for coding-agent sessions."""

from ._contexts import contexts
from ._scan import Scan, scan
from ._tables import Table
from .context import Model, SessionContext
from .elyra import SessionHeader, SessionManager, pi_agent_dir
from .elyra.entries import (
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
from .errors import (
    AmbiguousSessionError,
    ConflictError,
    Damage,
    EntryNotFoundError,
    FormatError,
    InvalidNameError,
    NameTakenError,
    ReadOnlyError,
    SessionError,
    SessionNotFoundError,
)
from .info import SessionInfo
from .usage import Usage

__all__ = [
    "AmbiguousSessionError",
    "BranchSummaryEntry",
    "CompactionEntry",
    "ConflictError",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessageEntry",
    "Damage",
    "Entry",
    "EntryNotFoundError",
    "FormatError",
    "InvalidNameError",
    "LabelEntry",
    "MessageEntry",
    "Model",
    "ModelChangeEntry",
    "NameTakenError",
    "ReadOnlyError",
    "Scan",
    "SessionContext",
    "SessionError",
    "SessionHeader",
    "SessionInfo",
    "SessionInfoEntry",
    "SessionManager",
    "SessionNotFoundError",
    "Table",
    "ThinkingLevelChangeEntry",
    "TreeNode",
    "UnknownEntry",
    "Usage",
    "UsageEntry",
    "contexts",
    "pi_agent_dir",
    "scan",
]
