"""`contexts`: what a model is sent of every session of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._log import warn_unread
from ._scan import sources_of
from .context import later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._native import SessionInfo
    from ._types import StrPath
    from .context import SessionContext


def contexts(
    source: StrPath | Iterable[StrPath] | None = None, *, threads: int | None = None
) -> Iterator[tuple[SessionInfo, SessionContext]]:
    """Build the context of every session of a store, in parallel, in bounded memory.

    Each is that of the session's leaf, as `SessionManager.open(path).build_session_context()` has it; of a Replio
    session, what a provider is sent, in the same words (docs/replio.md, "In a scan"). It is handed over
    as one JSON text, which `SessionContext.messages` decodes when first asked for. What is ready waits to be taken,
    up to 32 MB of it; then the threads wait, too.

    Args:
        source: As for `scan`.
        threads: How many threads to build with, at most as many as there are processors; None means that many.

    Yields:
        Each session with its context, in the order of the paths of their files. A `.jsonl` file that is no session is
        left out, and so is a `.json` file that is none, or one that cannot be read; a warning is logged at the end of
        how many of these there were.

    Raises:
        FileNotFoundError: A source does not exist.
        PermissionError: A folder that was named cannot be read.
        ValueError: A folder holds nothing that fits, or `threads` is below 1.

    Rule: Elyra session format, "Context Building"; docs/sessions.md, "Context".
    """
    # Not in the generator: what is wrong with the arguments is to be raised here and now.
    return _decoded(_native.contexts(sources_of(source), threads))


def _decoded(found: _native.Contexts) -> Iterator[tuple[SessionInfo, SessionContext]]:
    for info, context in found:
        yield info, later(context)
    if found.unreadable:
        warn_unread(found.unreadable)
