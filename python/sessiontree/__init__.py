"""The storage engine for coding-agent sessions."""

from ._scan import Scan, scan
from .elyra import SessionManager, pi_agent_dir
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
    "ConflictError",
    "Damage",
    "EntryNotFoundError",
    "FormatError",
    "InvalidNameError",
    "NameTakenError",
    "ReadOnlyError",
    "Scan",
    "SessionError",
    "SessionInfo",
    "SessionManager",
    "SessionNotFoundError",
    "Usage",
    "pi_agent_dir",
    "scan",
]
