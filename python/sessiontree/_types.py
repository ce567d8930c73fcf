"""Names for what many functions take or give."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from datetime import datetime

    from ._native import SessionInfo
    from .errors import Damage
    from .usage import Usage

StrPath: TypeAlias = str | os.PathLike[str]
"""A path as callers give it."""

OnProgress: TypeAlias = Callable[[int, int], object]
"""Called with (files read, files in all); what it returns is ignored."""

Format: TypeAlias = Literal["elyra", "replio"]
"""Whose way of keeping sessions a file follows."""

Layout: TypeAlias = Literal["agent", "flat", "replio", "any"]
"""How sessions lie in a folder: as an agent's, all of them directly, as a Replio project's, or as the contents show."""

ReplioTarget: TypeAlias = tuple[str, list[str], int | None]
"""Where a Replio session is written: the file, the tools whose results are left out, how many characters of others."""

TableName: TypeAlias = Literal["sessions", "entries", "messages", "tool_calls", "usage_records"]
"""What a table has a row of."""


class HeaderRow(TypedDict):
    """What the core tells of a header."""

    id: str
    timestamp: datetime | None
    version: int
    cwd: str
    parent_session: str | None
    json: bytes


class ScanRow(TypedDict):
    """What the core's scan gives: rows newest first, damage by path and line, and the usage of all."""

    infos: list[SessionInfo]
    damage: list[Damage]
    usage: Usage


class PreviewRow(TypedDict):
    """What the core tells of a Replio session's structure."""

    name: str
    created_at: str
    updated_at: str
    message_count: int
    roles: list[tuple[str, int]]
    tools: list[str]
    parent_id: str
    sub_sessions: list[str]
