"""`SessionInfo`, a row of a listing."""

from ._native import SessionInfo

__all__ = ["SessionInfo"]
