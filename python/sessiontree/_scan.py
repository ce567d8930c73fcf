"""`scan`: every session of a store in one pass, and what was wrong with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import _native
from ._catalogue import catalogue_path
from ._tables import Table
from .elyra.paths import store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._native import SessionInfo
    from ._types import Layout, OnProgress, StrPath
    from .errors import Damage
    from .usage import Usage


_HTML_ROWS = 50


@dataclass(frozen=True, slots=True, repr=False)
class Scan(Sequence["SessionInfo"]):
    """The sessions that `scan` found, newest first, with what was wrong and what they cost.

    A sequence of `SessionInfo`; slices are tuples. Two scans are equal when all they hold is. For Arrow's consumers
    (pyarrow, polars, pandas, duckdb) it gives tables of the sessions and of what is in them, and is the first of these
    itself; docs/tables.md tells of all columns.

    Attributes:
        infos: The sessions.
        damage: All damage and notes, by path and line; sessions with damage are in the sequence all the same, files
            that could not be read are only here.
        usage: Tokens and cost of all sessions. Forks carry copies of their parent's entries; each record counts once.
    """

    infos: tuple[SessionInfo, ...]
    damage: tuple[Damage, ...]
    usage: Usage

    def __len__(self) -> int:
        return len(self.infos)

    @overload
    def __getitem__(self, index: int) -> SessionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SessionInfo, ...]: ...
    def __getitem__(self, index: int | slice) -> SessionInfo | tuple[SessionInfo, ...]:
        return self.infos[index]

    def __iter__(self) -> Iterator[SessionInfo]:
        return iter(self.infos)

    def __repr__(self) -> str:
        return f"<Scan: {len(self.infos)} sessions, {len(self.damage)} reports>"

    def _repr_html_(self) -> str:
        from html import escape  # late: with all entities' names, it is slow to load

        rows = (
            (f"{info.modified:%Y-%m-%d %H:%M}", info.cwd, (info.name or info.first_message)[:80], info.message_count)
            for info in self.infos[:_HTML_ROWS]
        )
        head = "".join(f"<th>{title}</th>" for title in ("modified", "project", "session", "messages"))
        body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
        return f"<table><caption>{escape(repr(self))}</caption><tr>{head}</tr>{body}</table>"

    def sessions(self) -> Table:
        """A table of the sessions: what the scan itself is for Arrow's consumers that do not take it for a sequence."""
        return Table("sessions", self.infos)

    def entries(self) -> Table:
        """A table of all entries: where each stands, its id, its parent's, its type and its time."""
        return Table("entries", self.infos)

    def messages(self) -> Table:
        """A table of all messages: who says what, when, and by which model."""
        return Table("messages", self.infos)

    def tool_calls(self) -> Table:
        """A table of all tool calls: name, arguments as JSON, and what became of each."""
        return Table("tool_calls", self.infos)

    def usage_records(self) -> Table:
        """A table of all usage records: tokens and cost by model; the sums where `is_repeated` is false are `usage`."""
        return Table("usage_records", self.infos)

    def __arrow_c_schema__(self) -> object:
        """The schema of the sessions, as a capsule of Arrow's C data interface."""
        return self.sessions().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The sessions as a table: a capsule of Arrow's C stream interface.

        Args:
            requested_schema: Not looked at, as the interface allows.
        """
        return self.sessions().__arrow_c_stream__(requested_schema)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values: `sessions`, `damage`, `usage`."""
        return {
            "sessions": [info.to_dict() for info in self.infos],
            "damage": [damage.to_dict() for damage in self.damage],
            "usage": self.usage.to_dict(),
        }


def scan(
    source: StrPath | Iterable[StrPath] | None = None,
    *,
    on_progress: OnProgress | None = None,
    threads: int | None = None,
    strict: bool = False,
    catalogue: bool | StrPath = False,
) -> Scan:
    """Read every session of a store, in parallel, in bounded memory; stores of several formats can be read at once.

    Args:
        source: None is Elyra's agent folder. A folder is read by what it holds: `sessions/` makes it an agent folder,
            `.replio/sessions/` a Replio project, `*.jsonl` a folder of session files, folders of such files a sessions
            folder; whatever fits is read. Replio's `sessions` stands for itself, too. A file is itself: one that ends
            in `.json` is Replio's. An iterable is all of these together; a file is read once.
        on_progress: Called with (files read, files in all) after each file, in this thread. What it raises ends the
            scan and is raised here.
        threads: How many threads to read with, at most as many as there are processors; None means that many.
        strict: Raise at the first damage, by path and line, instead of reporting it; notes are still reported.
        catalogue: Where to keep what was found, so that a later scan reads only files that have changed since; what it
            gives is the same. True means a file of the user's own in the cache folder, a path that file, False none.
            The file need not exist, and whatever is wrong with it is no error.

    Returns:
        The sessions and their damage. A `.jsonl` file in a folder that is no session is left out; one that was named
        is reported, and so is every `.json` file of a Replio project.

    Raises:
        FileNotFoundError: A source does not exist.
        PermissionError: A folder that was named cannot be read.
        ValueError: A folder holds nothing that fits, `threads` is below 1, or `catalogue` is an empty path.
        FormatError: With `strict`, the first damage; an `OSError` where that is a file that cannot be read.

    Rule: docs/reading.md.
    """
    return scan_sources(
        sources_of(source), on_progress=on_progress, threads=threads, strict=strict, catalogue=catalogue
    )


def scan_sources(
    sources: Sequence[tuple[Layout, StrPath]],
    *,
    on_progress: OnProgress | None = None,
    threads: int | None = None,
    strict: bool = False,
    catalogue: bool | StrPath = False,
) -> Scan:
    """As `scan`, for callers that know what kind of folder each source is."""
    row = _native.scan(
        sources,
        on_progress,
        threads,
        text=False,
        usage=True,
        strict=strict,
        catalogue=catalogue_path(catalogue),
    )
    return Scan(tuple(row["infos"]), tuple(row["damage"]), row["usage"])


def sources_of(source: StrPath | Iterable[StrPath] | None) -> list[tuple[Layout, StrPath]]:
    """Where to look, as the core is told."""
    if source is None:
        return [store()]
    if isinstance(source, (str, os.PathLike)):
        return [("any", source)]
    return [("any", one) for one in source]
