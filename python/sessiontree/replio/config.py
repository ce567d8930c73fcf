"""What a store is told, by its caller or by the project's `.replio/config.json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

if TYPE_CHECKING:
    from pathlib import Path

_NOISE_TOOLS = ("web_fetch", "open", "fetch_page")
_COMPACT_KEEP = 4


@dataclass(frozen=True, slots=True)
class Config:
    """How sessions are written and compacted.

    Attributes:
        noise_tools: The tools whose results are left out of the files.
        session_tool_max_chars: How many characters of a tool's result are written; 0 for all.
        compact_keep: How many messages at the end compaction leaves as they are.
    """

    noise_tools: tuple[str, ...] = _NOISE_TOOLS
    session_tool_max_chars: int = 0
    compact_keep: int = _COMPACT_KEEP

    @classmethod
    def of(
        cls,
        path: Path,
        *,
        noise_tools: Iterable[str] | None,
        session_tool_max_chars: int | None,
        compact_keep: int | None,
    ) -> Self:
        """What the caller says; else what the file says, where that can be read; else what Replio does.

        Raises:
            TypeError: The caller says something of another type.
        """
        said = {
            "noise_tools": noise_tools,
            "session_tool_max_chars": session_tool_max_chars,
            "compact_keep": compact_keep,
        }
        checked = {key: _checked(key, value) for key, value in said.items() if value is not None}
        return cls(**(_of_file(path) | checked))


def _checked(key: str, value: object) -> Any:  # noqa: ANN401  what the key has
    if key == "noise_tools":
        is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
        names = tuple(cast("Iterable[object]", value)) if is_list else (None,)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"{key} is {value!r}: expected a list of names")
        return names
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key} is {value!r}: expected a whole number")
    return value


def _of_file(path: Path) -> dict[str, Any]:
    from .. import _json, _log  # late: most projects have no such file

    try:
        config: object = _json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        _log.warn_config(path, error)
        return {}
    if not isinstance(config, dict):
        _log.warn_config(path, "expected an object")
        return {}
    said = cast("dict[str, object]", config)
    followed: dict[str, Any] = {}
    for key in Config.__dataclass_fields__:
        try:
            if (value := said.get(key)) is not None:
                followed[key] = _checked(key, value)
        except TypeError as error:
            _log.warn_config(path, error)
    return followed
