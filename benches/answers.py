"""That all who do a job give the same answer, as far as each goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

import reference
from sessiontree import SessionManager, scan
from support import info_facts, session_facts

from .contest import answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sessiontree import SessionInfo

    from .contest import Contestant
    from .stores import Store

    Rows = Mapping[str, Sequence[Any]]
    """Facts of sessions, by path."""

MAX_REFERENCE_BYTES = 500_000_000
"""The largest session that is read with the reference: it takes ten times as much memory."""


def compare_listings(store: Store, ours: Iterable[Contestant], others: Iterable[Contestant]) -> int:
    """Hold our listing to the reference, in all facts; the others to ours, in sound sessions; tell in how many.

    Where a session is too large for the reference, the count of messages is all that ours is held to.
    """
    is_readable = max(path.stat().st_size for path in store.files) <= MAX_REFERENCE_BYTES
    infos = SessionManager.list_all(agent_dir=store.folder, text=is_readable)
    assert sum(info.message_count for info in infos) == store.messages
    if is_readable:
        sessions = reference.read_store(store.folder, loads=orjson.loads)
        expected = [{"path": path, **session_facts(session)} for path, session in sessions]
        assert [{"path": info.path, **info_facts(info)} for info in infos] == expected
    rows = {
        str(info.path): [info.message_count, round(info.modified.timestamp() * 1000), info.first_message]
        for info in infos
    }
    for one in ours:
        assert answer(one) == rows, one.name
    paths = [str(info.path) for info in sound(store)]
    for other in others:
        agree(other.name, answer(other), rows, paths)
    return len(paths)


def compare_projects(project: Store, contestants: Sequence[Contestant]) -> Rows:
    """Hold what is told of a Replio project's sessions against each other, all of it in all of them; give it."""
    first, *others = contestants
    rows: Rows = answer(first)
    assert rows.keys() == {str(path) for path in project.files}
    for other in others:
        agree(other.name, answer(other), rows, rows)
    return rows


def sound(store: Store) -> list[SessionInfo]:
    """The sessions that nothing is to be said about, and that any decoder takes: others are read as each likes."""
    found = scan(store.folder)
    odd = {damage.path for damage in found.damage}
    return [info for info in found if info.path not in odd and _is_plain(info.path)]


def agree(name: str, answers: Rows, rows: Rows, paths: Iterable[str]) -> None:
    """Raise unless the answers for these paths are the rows, or as much of their beginning as this contestant makes."""
    for path in paths:
        assert path in answers, f"{name} lacks {path}"
        found = answers[path]
        assert found == rows[path][: len(found)], f"{name} of {path}: {found} is not {rows[path]}"


def _is_plain(path: Path) -> bool:
    """Whether each line is JSON without a lone surrogate, and of numbers that are finite."""
    try:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)
    except ValueError:
        return False
    return True
