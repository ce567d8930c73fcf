"""Arguments of what appends, checked before anything changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from .._native import CustomMessageEntry, MessageEntry
from ..errors import InvalidNameError

if TYPE_CHECKING:
    from .._native import Entry

_EDITABLE = frozenset({"user", "assistant", "toolResult"})


def text(value: object, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, found {type(value).__name__}")
    return value


def is_utf8(value: str) -> bool:
    """Whether a file could hold the text: nothing that was read from one has half a surrogate pair."""
    try:
        text(value, "id").encode()
    except UnicodeEncodeError:
        return False
    return True


def session_id(value: str | None) -> str | None:
    """An id for a new session; the core checks the rest."""
    if value is not None and not is_utf8(text(value, "id")):
        raise InvalidNameError(f"{value!r}: no text that a file name could be built from")
    return value


def flag(value: object, name: str) -> bool | None:
    """True, False, or None where nothing is said."""
    return None if value is None else required_flag(value, name)


def required_flag(value: object, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected a bool, found {type(value).__name__}")
    return value


def count(value: object, name: str) -> int:
    """A whole number, not negative."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected an int, found {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} is {value}: expected at least 0")
    return value


def mapping(value: object, name: str) -> dict[str, Any]:
    """A mapping, as the dict that JSON can have."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise TypeError(f"{name}: expected a mapping, found {type(value).__name__}")


def content(value: object, name: str) -> str | list[object]:
    """A text, or a list of blocks."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return cast("list[object]", value)
    raise TypeError(f"{name}: expected a str or a list, found {type(value).__name__}")


def message(value: object) -> dict[str, Any]:
    """A message: a dict with a role."""
    found = mapping(value, "message")
    role = found.get("role")
    if not isinstance(role, str) or not role:
        raise ValueError(f"message: expected a role, found {role!r}")
    return found


def replacement(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What takes the place of a message's content: None, or a dict with a `content`."""
    if value is None:
        return None
    found = mapping(value, "replacement")
    content(found.get("content"), "replacement's content")
    return found


def editable(target_id: str, target: Entry | None) -> None:
    """Whether the entry, None if it is not on the branch, gives a message that can be edited."""
    if target is None:
        raise ValueError(f"the entry {target_id!r} is not on the branch to the leaf")
    own = target.message if isinstance(target, MessageEntry) else None
    if not isinstance(target, CustomMessageEntry) and (own is None or own.get("role") not in _EDITABLE):
        raise ValueError(f"the entry {target_id!r} is no user, assistant, toolResult or custom message")
