"""Elyra's sessions, and pi's: one append-only tree in a JSONL file each."""

from .header import SessionHeader
from .manager import SessionManager
from .paths import pi_agent_dir

__all__ = ["SessionHeader", "SessionManager", "pi_agent_dir"]
