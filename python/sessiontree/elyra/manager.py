"""`SessionManager`: the API of Elyra's sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _native
from . import paths

if TYPE_CHECKING:
    import builtins
    from pathlib import Path

    from .._native import SessionInfo
    from .._types import Layout, OnProgress, StrPath


class SessionManager:
    """Finds and lists sessions.

    Rule: Elyra session format, "SessionManager API".
    """

    @classmethod
    def list(
        cls,
        cwd: StrPath,
        session_dir: StrPath | None = None,
        on_progress: OnProgress | None = None,
        *,
        agent_dir: StrPath | None = None,
        threads: int | None = None,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of one project, newest first.

        Different folders can share a session folder (`/a/b` and `/a-b`), so a session whose header names another cwd is
        left out.

        Args:
            cwd: The project's working directory; need not exist.
            session_dir: A folder that holds session files of all projects; None means the project's own folder below
                `agent_dir`.
            on_progress: Called with (files read, files in all) after each file, in this thread. What it raises ends the
                listing and is raised here.
            agent_dir: The agent's folder; None means Elyra's (`ELYRA_CODING_AGENT_DIR`, else `~/.elyra/agent`).
            threads: How many threads to read with, at most as many as there are processors; None means that many.

        Returns:
            The sessions, by `modified`, equal times by path; empty when there are none. What cannot be read is left
            out, with one logged warning; `scan` tells what it was.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `cwd` is empty, or `threads` is below 1.

        Rule: Elyra session format, "Static Listing Methods".
        """
        wanted = paths.absolute_cwd(cwd)
        layout, folder = paths.store(session_dir, agent_dir)
        is_own = layout == "agent"
        source = paths.project_dir(cwd, folder) if is_own else folder
        return [
            info
            for info in _list(("flat", source), on_progress, threads, text=False)
            if (paths.same_cwd(info.cwd, wanted) if info.cwd else is_own)
        ]

    @classmethod
    def list_all(
        cls,
        on_progress: OnProgress | None = None,
        *,
        agent_dir: StrPath | None = None,
        session_dir: StrPath | None = None,
        threads: int | None = None,
        text: bool = False,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of all projects, newest first.

        Args:
            on_progress: As for `list`.
            agent_dir: As for `list`.
            session_dir: A folder that holds session files directly, instead of an agent's folder.
            threads: As for `list`.
            text: Load every `all_messages_text` in the same pass, instead of when it is asked for.

        Returns:
            As for `list`.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `threads` is below 1.

        Rule: Elyra session format, "Static Listing Methods".
        """
        return _list(paths.store(session_dir, agent_dir), on_progress, threads, text=text)


def _list(
    source: tuple[Layout, Path], on_progress: OnProgress | None, threads: int | None, *, text: bool
) -> builtins.list[SessionInfo]:
    row = _native.scan([source], on_progress, threads, text, usage=False, strict=False)
    unread = sum(damage.kind == "file" for damage in row["damage"])
    if unread:
        import logging  # late: hardly any listing needs it

        logging.getLogger("sessiontree").warning(
            "could not be read: %d (scan() and `sessiontree check` tell what and why)", unread
        )
    return row["infos"]
