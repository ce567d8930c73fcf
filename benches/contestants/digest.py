"""Messages of a context as they are compared."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MADE = {"compactionSummary", "branchSummary", "custom", "system"}
"""The roles of messages that compactions and other entries make, or take away; the simple way knows none of these."""


def comparable(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that everyone agrees on."""
    return [message for message in messages if message["role"] not in MADE]


def digest(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """How many are comparable, and a checksum of them."""
    kept = comparable(messages)
    return [len(kept), zlib.crc32(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS))]
