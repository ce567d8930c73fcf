"""What stands in a session's lists, key for key as in the file. Files may hold more keys, and other types."""

from __future__ import annotations

from typing import Any, TypedDict


class Message(TypedDict, total=False):
    """An entry of `messages`. All but the first three keys may be missing; of what older programs wrote, those too.

    Rule: Replio sessions, "Message schema".
    """

    role: str
    content: Any
    timestamp: str
    id: str
    duration: float
    model: str
    provider: str
    thinking: str
    reasoning: Any
    mode: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    tool: str
    analysis: str
    result: str
    compact_from: int


class ErrorEntry(TypedDict, total=False):
    """An entry of `errors`: `code` is the HTTP status, or 0. Rule: Replio sessions, "Errors"."""

    code: int
    message: str
    timestamp: str


class PermissionEntry(TypedDict, total=False):
    """An entry of `permissions`: what a tool was allowed to do. Rule: Replio sessions, "Permissions"."""

    tool: str
    action: str
    decision: str
    path: str
    timestamp: str
