"""When two sides say the same: what each had to invent (ids, times, file names) is replaced by what it stands for."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_SESSION_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_ENTRY_ID = re.compile(r"[0-9a-f]{8}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_NAME_TIME = re.compile(r"(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)_")
_EXACT = 2**53


class Names:
    """What one side's inventions are called on both sides.

    Entry ids are numbered as they become known, and session ids as they come up; a time since this object was made is
    "now"; the side's own folder is "ROOT". Ids that stand in `given` are no inventions.
    """

    def __init__(self, root: Path, given: str = "") -> None:
        self.ids: list[str] = []
        self._root = str(root)
        self._given = given
        self._names: dict[str, str] = {}
        self._sessions: dict[str, str] = {}
        self._start_ms = _now_ms() - 1

    def know(self, id_: object) -> None:
        """Number an entry's id, if it has none yet."""
        if isinstance(id_, str) and id_ and id_ not in self._names and id_ not in self._given:
            assert _ENTRY_ID.fullmatch(id_), f"{id_!r} is no id of 8 hex digits"
            self._names[id_] = f"#{len(self.ids)}"
            self.ids.append(id_)

    def know_all(self, entries: Iterable[dict[str, Any]]) -> None:
        """Number the ids of entries, in their order."""
        for entry in entries:
            self.know(entry.get("id"))

    def replace(self, value: Any) -> Any:  # noqa: ANN401  JSON
        """The JSON value with all inventions replaced, and numbers as `JSON.parse` has them."""
        with _deep():
            return self._replace(value)

    def _replace(self, value: Any) -> Any:  # noqa: ANN401  JSON
        if isinstance(value, dict):
            return {self._text(key): self._replace(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._replace(item) for item in value]
        if isinstance(value, str):
            return self._text(value)
        return value if isinstance(value, bool) or value is None else self._number(value)

    def _text(self, text: str) -> str:
        if text in self._names:
            return self._names[text]
        text = _TIME.sub(lambda time: "now" if self._is_now(time[0]) else time[0], text.replace(self._root, "ROOT"))
        text = _NAME_TIME.sub(
            lambda time: "now_" if self._is_now("{}{}:{}:{}.{}".format(*time.groups())) else time[0], text
        )
        return _SESSION_ID.sub(self._session, text)

    def _session(self, found: re.Match[str]) -> str:
        if found[0] in self._given:
            return found[0]
        return self._sessions.setdefault(found[0], f"session {len(self._sessions)}")

    def _number(self, number: float) -> object:
        if abs(number) < _EXACT:
            return "now" if self._start_ms <= number <= _now_ms() else number
        number = float(number)
        return None if number in (float("inf"), float("-inf")) else number  # as `JSON.stringify` writes it

    def _is_now(self, text: str) -> bool:
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            return False
        return self._start_ms <= time.timestamp() * 1000 <= _now_ms()


def _now_ms() -> float:
    return datetime.now(UTC).timestamp() * 1000


def assert_same(ours: Any, theirs: Any, where: str = "") -> None:  # noqa: ANN401  JSON
    """Fail at the first place where two JSON values differ, and show that place alone."""
    with _deep():
        if ours == theirs:
            return
        difference = _difference(ours, theirs, where)
    raise AssertionError(difference)


def _difference(ours: Any, theirs: Any, where: str) -> str:  # noqa: ANN401  JSON
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*theirs, *(ours.keys() - theirs.keys())]:
            if key not in ours or key not in theirs:
                return f"{where}.{key}: only {'they have' if key in theirs else 'we have'} it, of {ours} and {theirs}"
            if ours[key] != theirs[key]:
                return _difference(ours[key], theirs[key], f"{where}.{key}")
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        at = next(at for at, (our, their) in enumerate(zip(ours, theirs, strict=True)) if our != their)
        return _difference(ours[at], theirs[at], f"{where}.{at}")
    return f"{where}: we have\n{ours!r}\nthey have\n{theirs!r}"


@contextmanager
def _deep() -> Iterator[None]:
    """Room for comparing deep JSON; the product itself runs at the ordinary limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
