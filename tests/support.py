"""What several tests share: session files, and rows of the product and of the reference in one form."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reference import Report, Session
    from sessiontree import SessionInfo
    from sessiontree.errors import Damage

Facts: TypeAlias = dict[str, Any]
"""A listing's row by attribute name; times are datetimes, usage is a plain dict."""

DATA = Path(__file__).parent / "data"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FILE_TIME = 1_700_000_000
"""The time of the files, in seconds, where a listing falls back on it."""

TRIES = 5
"""How often something is timed: others want the processors, too, now and then."""

_FACTS = (
    "id",
    "cwd",
    "name",
    "parent_session_path",
    "created",
    "modified",
    "message_count",
    "first_message",
    "size_bytes",
    "entry_count",
    "leaf_id",
    "tip_count",
    "damage_count",
    "version",
)


def write(path: Path, data: bytes, *, time: int = FILE_TIME) -> Path:
    """Write a session file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time, time))
    return path


def quickest(work: Callable[[], object]) -> float:
    """How many seconds it takes, the shortest of several times."""
    seconds = list[float]()
    for _ in range(TRIES):
        start = time.monotonic()
        work()
        seconds.append(time.monotonic() - start)
    return min(seconds)


def info_facts(info: SessionInfo, *, text: bool = True) -> Facts:
    """The facts of the product's row; without `text`, all but `all_messages_text`, which may be read from the file."""
    facts = {name: getattr(info, name) for name in _FACTS} | {"usage": asdict(info.usage)}
    return facts | {"all_messages_text": info.all_messages_text} if text else facts


def session_facts(session: Session, *, text: bool = True) -> Facts:
    """The same facts of the reference's row."""
    facts = {name: getattr(session, name) for name in _FACTS} | {"usage": asdict(session.usage)}
    for name in ("created", "modified"):
        facts[name] = None if facts[name] is None else EPOCH + timedelta(milliseconds=facts[name])
    facts["parent_session_path"] = session.parent_session_path and Path(session.parent_session_path)
    return facts | {"all_messages_text": session.all_messages_text} if text else facts


def reports(damage: Iterable[Damage]) -> list[Report]:
    return [(one.kind, one.line, one.offset) for one in damage]


def same_facts(facts: Facts, expected: Facts) -> Facts:
    """Those of the facts that are expected, for comparison with it."""
    return {name: facts[name] for name in expected}


def vectors() -> list[Path]:
    """Folders with a session file and what pi makes of it."""
    return [*sorted((DATA / "pi").iterdir()), DATA / "real"]


def vector_file(folder: Path) -> Path:
    [path] = folder.glob("*.jsonl")
    return path


def vector_rows(folder: Path) -> list[Facts]:
    """The rows that a listing of the file must have, as far as they are laid down."""
    right = folder / "right.json"
    if right.exists():
        values = json.loads(right.read_text(encoding="utf-8"))["values"]
        rows = [{path.removeprefix("list.0."): value for path, value in values.items() if path.startswith("list.0.")}]
    else:
        rows = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["list"]
    return [{_snake_case(key): _fact(key, value) for key, value in row.items()} for row in rows]


def _snake_case(key: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", key)


def _fact(key: str, value: Any) -> Any:  # noqa: ANN401  whatever stands in the JSON
    if value is None:
        return None
    if key in ("created", "modified"):
        return datetime.fromisoformat(value)
    if key == "parentSessionPath":
        return Path(value)
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else value
