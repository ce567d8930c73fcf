"""Where sessions live: agent folders, and a project's folder below them.

Rule: Elyra session format, "File Location".
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._types import Layout, StrPath

_NO_UTF8 = re.compile("[\ud800-\udfff]")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def elyra_agent_dir() -> Path:
    """Elyra's agent folder: what `ELYRA_CODING_AGENT_DIR` names, else `~/.elyra/agent`."""
    return _home("ELYRA_CODING_AGENT_DIR", "~/.elyra/agent")


def pi_agent_dir() -> Path:
    """Pi's agent folder: what `PI_CODING_AGENT_DIR` names, else `~/.pi/agent`.

    The two programs share the format, not the folder: pass this as `agent_dir=` to look at pi's sessions.
    """
    return _home("PI_CODING_AGENT_DIR", "~/.pi/agent")


def store(session_dir: StrPath | None = None, agent_dir: StrPath | None = None) -> tuple[Layout, Path]:
    """Where to look for sessions: a folder that the caller names, else one that the environment names.

    Args:
        session_dir: A folder that holds session files directly; wins over `agent_dir`.
        agent_dir: An agent's folder; wins over the environment.
    """
    if session_dir is not None:
        return "flat", Path(session_dir)
    if agent_dir is not None:
        return "agent", Path(agent_dir)
    flat = os.environ.get("ELYRA_CODING_AGENT_SESSION_DIR")
    return ("flat", Path(flat).expanduser()) if flat else ("agent", elyra_agent_dir())


def absolute_cwd(cwd: StrPath) -> str:
    """The cwd as a header names it: absolute, normalised, links not resolved.

    Raises:
        ValueError: It is empty.
    """
    name = os.fspath(cwd)
    if not name:
        raise ValueError("cwd is empty: expected a folder")
    if _WINDOWS.match(name):
        return text(ntpath.normpath(name))
    return text(_one_slash(os.path.abspath(name)))  # noqa: PTH100  no links resolved


def text(path: StrPath) -> str:
    """A path as JSON can hold it: U+FFFD for every byte that is not of UTF-8."""
    return _NO_UTF8.sub("\ufffd", os.fspath(path))


def absolute(path: StrPath) -> Path:
    """The path whatever becomes the current folder; links not resolved."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def current_cwd() -> str:
    """The process's own working directory, as a header names it."""
    return absolute_cwd(os.curdir)


def project_dir(cwd: StrPath, agent_dir: Path) -> Path:
    """The folder below `agent_dir` that holds the sessions of `cwd`, and of every cwd that is spelt alike."""
    path = absolute_cwd(cwd)
    name = re.sub(r"[/\\:]", "-", path[1:] if path[0] in "/\\" else path)
    return agent_dir / "sessions" / f"--{name}--"


def project_source(
    cwd: StrPath, session_dir: StrPath | None = None, agent_dir: StrPath | None = None
) -> tuple[tuple[Layout, Path], bool]:
    """Where the sessions of `cwd` are, and whether that is the project's own folder."""
    layout, folder = store(session_dir, agent_dir)
    folder = absolute(folder)
    is_own = layout == "agent"
    return ("flat", project_dir(cwd, folder) if is_own else folder), is_own


def belongs(cwd: str, wanted: str, *, is_own: bool) -> bool:
    """Whether a session whose header names `cwd` is one of the project `wanted`.

    A header without one stays in where the folder is the project's own.
    """
    return same_cwd(cwd, wanted) if cwd else is_own


def same_cwd(one: str, other: str) -> bool:
    """Whether two cwds name one folder: as normalised paths, Windows ones without case, on every system."""
    return _comparable(one) == _comparable(other)


def _comparable(cwd: str) -> str:
    if _WINDOWS.match(cwd):
        return ntpath.normcase(ntpath.normpath(cwd))
    return _one_slash(posixpath.normpath(cwd))


def _one_slash(path: str) -> str:
    """The path without the second slash that POSIX lets stand at its start."""
    return re.sub(r"\A//+", "/", path)


def _home(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or default).expanduser()
