"""Replio's sessions, where commands take them beside Elyra's."""

from __future__ import annotations

import codecs
import os
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _json, _native
from ..elyra.paths import absolute

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from .. import Entry

SUFFIX = ".json"


def sessions_folder(arguments: argparse.Namespace) -> Path | None:
    """The folder of the Replio sessions to look at, or None if there is none.

    It is the project's; where `--session-dir` is given, what this is, or has. Who names an agent's folder means that
    alone.
    """
    if arguments.session_dir is not None:
        return _native.replio_sessions_folder(absolute(arguments.session_dir))
    if arguments.agent_dir is not None:
        return None
    return _native.replio_sessions_folder(absolute(arguments.cwd))


def named(folder: Path, name: str) -> list[Path]:
    """The files of the sessions whose name begins so; of one that is called so, its file alone.

    Args:
        folder: Where to look.
        name: A session's name, or the start of one.

    Raises:
        OSError: The folder cannot be read.
    """
    with os.scandir(folder) as entries:
        files = sorted(Path(entry) for entry in entries if _is_session(entry) and entry.name.startswith(name))
    return [file for file in files if file.stem == name] or files


def parts(path: Path) -> tuple[str, dict[str, Any], list[Any]]:
    """A document for printing: the key of its log, all else that it holds, and the elements of its log.

    Raises:
        FormatError: It is none.
        OSError: It cannot be read.
    """
    document = _native.ReplioDocument.read(path)
    loads = _json.loads_exact if document.has_long_numbers else _json.loads
    fields = loads(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    key = "turns" if document.has_turns else "messages"
    return key, fields, fields.pop(key, None) or []


def by_time(messages: Iterable[Entry], errors: Iterable[Entry]) -> list[Entry]:
    """All of them: each error before the first message that is younger, the messages in their order."""
    ordered: list[Entry] = []
    left = deque(errors)
    for message in messages:
        while left and _is_before(left[0], message):
            ordered.append(left.popleft())
        ordered.append(message)
    return [*ordered, *left]


def _is_before(one: Entry, other: Entry) -> bool:
    return one.timestamp is not None and other.timestamp is not None and one.timestamp < other.timestamp


def _is_session(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(SUFFIX) and not entry.name.startswith(".") and entry.is_file()
