"""Replio's sessions: one JSON document each, under a project's `.replio/sessions/`.

A `ReplioStore` is such a folder, a `ReplioSession` one of its documents: a log that only grows. Rules: docs/replio.md.
"""

from .._native import slug
from .links import DanglingLink
from .messages import ErrorEntry, Message, PermissionEntry
from .preview import Preview
from .session import ReplioSession
from .store import ReplioStore

__all__ = [
    "DanglingLink",
    "ErrorEntry",
    "Message",
    "PermissionEntry",
    "Preview",
    "ReplioSession",
    "ReplioStore",
    "slug",
]
