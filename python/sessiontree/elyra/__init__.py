"""Elyra's sessions, and pi's: one append-only tree in a JSONL file each."""

from .manager import SessionManager
from .paths import pi_agent_dir

__all__ = ["SessionManager", "pi_agent_dir"]
