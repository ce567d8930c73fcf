"""The two programs under comparison, behind one interface: a manager of pi's in its process, and one of ours."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from interop.driven import Driven, RefusedError
from reference_json import decode
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sessiontree import Entry, SessionInfo, TreeNode

HEALTHY_PARTS = ("header", "facts", "entries", "tree", "branch", "labels", "children", "roots", "context")
"""What a manager shows of a session, as far as both sides have it."""

PARTS = tuple(part for part in HEALTHY_PARTS if part != "roots")
"""The same of sessions that have orphans, which pi's children of nothing lack."""

_DRIVER = Path(__file__).with_name("driver.mjs")
_HEAP_MB = 1_000
"""Where pi walks in a circle it takes all memory that it gets."""

_NONE_IS_NULL = {"branchWithSummary", "appendContextEdit"}
"""Methods of pi's with an argument that may be null; elsewhere None is an argument that was not given."""


class Side(Protocol):
    """One session manager of either side."""

    def call(self, name: str, *args: object) -> Any:  # noqa: ANN401  whatever the method gives
        """Call a method by its Python name; the id where it gives an entry.

        Raises:
            RefusedError: The method failed.
        """
        ...

    def parts(self, *names: str) -> dict[str, Any]:
        """Some of `HEALTHY_PARTS`, `PARTS` without names; one that fails is `{"error": …}`."""
        ...

    def close(self) -> None:
        """Let go of the session."""
        ...


class Pi(Driven):
    """A process that runs one version of pi."""

    @staticmethod
    def _loads(line: bytes) -> Any:  # noqa: ANN401  whatever the answer is
        [answer], _ = decode(line.removesuffix(b"\n"))
        return answer

    def __init__(self, node: Path, package: Path, home: Path) -> None:
        self._handles = itertools.count()
        command = [str(node), f"--max-old-space-size={_HEAP_MB}", str(_DRIVER), str(package)]
        super().__init__(command, home, {"PI_CODING_AGENT_DIR": str(home / "agent"), "PI_OFFLINE": "1"})

    def make(self, how: str, *args: object) -> PiSide:
        """A manager from a static method, by its Python name.

        Raises:
            RefusedError: The method failed.
        """
        handle = next(self._handles)
        self.ask(op="make", handle=handle, how=camel_case(how), args=[_argument(arg) for arg in args])
        return PiSide(self, handle)

    def rows(self, folder: Path | None, cwd: str | None = None) -> list[dict[str, Any]]:
        """The listing of a folder, of one cwd's sessions if it is named."""
        rows: list[dict[str, Any]] = self.ask(op="rows", folder=folder and str(folder), cwd=cwd)
        return rows


class PiSide:
    """A session manager of pi's."""

    def __init__(self, pi: Pi, handle: int) -> None:
        self._pi = pi
        self._handle = handle

    def call(self, name: str, *args: object) -> Any:  # noqa: ANN401  see Side
        self.send(name, *args)
        return self.receive()

    def send(self, name: str, *args: object) -> None:
        """Call a method without waiting for what it gives."""
        method = camel_case(name)
        arguments = [_argument(arg, none_is_null=method in _NONE_IS_NULL and at < 2) for at, arg in enumerate(args)]
        self._pi.send(op="call", handle=self._handle, method=method, args=arguments)

    def receive(self) -> Any:  # noqa: ANN401  see Side
        """What the method gives that was called first."""
        value = self._pi.receive()
        return value["id"] if isinstance(value, dict) else value

    def parts(self, *names: str) -> dict[str, Any]:
        found: dict[str, Any] = self._pi.ask(op="parts", handle=self._handle, names=names or PARTS)
        for message in found.get("context", {}).get("messages", []):
            if "timestamp" in message and message["timestamp"] is None:
                del message["timestamp"]  # JSON has no NaN, which is pi's time of an entry without a readable one
        return found

    def close(self) -> None:
        self._pi.ask(op="drop", handle=self._handle)


class OurSide:
    """A session manager of ours."""

    def __init__(self, manager: SessionManager) -> None:
        self.manager = manager

    @classmethod
    def make(cls, how: str, *args: Any, **options: Any) -> OurSide:  # noqa: ANN401  the method's arguments
        """A manager from a static method.

        Raises:
            RefusedError: The method failed.
        """
        try:
            return cls(getattr(SessionManager, how)(*args, **options))
        except (TypeError, ValueError, LookupError, OSError) as error:
            raise RefusedError(str(error)) from error

    def call(self, name: str, *args: Any) -> Any:  # noqa: ANN401  see Side
        options = args[-1] if name == "new_session" and args else None
        if isinstance(options, dict):
            value = self.manager.new_session(**{snake_case(key): option for key, option in options.items()})
            return value and str(value)
        try:
            value = getattr(self.manager, name)(*args)
        except (TypeError, ValueError, LookupError, OSError) as error:
            raise RefusedError(str(error)) from error
        return str(value) if isinstance(value, Path) else value

    def parts(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, f"_{name}")() for name in names or PARTS}

    def close(self) -> None:
        self.manager.close()

    def _header(self) -> dict[str, Any]:
        header: dict[str, Any] = self.manager.get_header().to_dict()
        return header

    def _facts(self) -> dict[str, Any]:
        manager = self.manager
        leaf, folder, file = manager.get_leaf_entry(), manager.get_session_dir(), manager.get_session_file()
        return {
            "id": manager.get_session_id(),
            "cwd": str(manager.get_cwd()),
            "dir": folder and str(folder),
            "file": file and str(file),
            "persisted": manager.is_persisted(),
            "name": manager.get_session_name(),
            "leaf": manager.get_leaf_id(),
            "leafEntry": leaf and leaf.to_dict(),
        }

    def _entries(self) -> list[dict[str, Any]]:
        return [entry.to_dict() for entry in self.manager.get_entries()]

    def _tree(self) -> list[dict[str, Any]]:
        return _tree_rows(self.manager.get_tree())

    def _branch(self) -> list[str | None]:
        return _ids(self.manager.get_branch())

    def _labels(self) -> dict[str, str]:
        labels = {id_: self.manager.get_label(id_) for id_ in self._named()}
        return {id_: label for id_, label in labels.items() if label is not None}

    def _children(self) -> dict[str, list[str | None]]:
        return {id_: _ids(self.manager.get_children(id_)) for id_ in self._named()}

    def _roots(self) -> list[str | None]:
        return _ids(self.manager.get_children(None))

    def _context(self) -> dict[str, Any]:
        context = self.manager.build_session_context()
        model = context.model
        return {
            "messages": [dict(message) for message in context.messages],
            "thinkingLevel": context.thinking_level,
            "model": model and {"provider": model.provider, "modelId": model.model_id},
        }

    def _named(self) -> list[str]:
        return [entry.id for entry in self.manager.get_entries() if entry.id is not None]


def our_rows(folder: Path) -> list[dict[str, Any]]:
    """Our listing of a folder, under pi's names."""
    return [_row(info) for info in SessionManager.list_all(session_dir=folder)]


def camel_case(name: str) -> str:
    """pi's name for what we call `name`."""
    return re.sub("_([a-z])", lambda letter: letter[1].upper(), name)


def snake_case(name: str) -> str:
    """Our name for what pi calls `name`."""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def iso(time: datetime | None) -> str | None:
    """A time as JavaScript writes it."""
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _argument(value: object, *, none_is_null: bool = False) -> object:
    if value is None and not none_is_null:
        return {"undefined": True}
    return str(value) if isinstance(value, Path) else value


def _ids(entries: Iterable[Entry]) -> list[str | None]:
    return [entry.id for entry in entries]


def _tree_rows(roots: Iterable[TreeNode]) -> list[dict[str, Any]]:
    """The tree's nodes, each before its children."""
    rows = []
    waiting = [(node, 0) for node in reversed([*roots])]
    while waiting:
        node, depth = waiting.pop()
        time = iso(node.label_timestamp)
        rows.append({"id": node.entry.id, "depth": depth, "label": node.label, "labelTimestamp": time})
        waiting.extend((child, depth + 1) for child in reversed(node.children))
    return rows


def _row(info: SessionInfo) -> dict[str, Any]:
    row = {
        "path": str(info.path),
        "id": info.id,
        "cwd": info.cwd,
        "name": info.name,
        "parentSessionPath": info.parent_session_path and str(info.parent_session_path),
        "created": iso(info.created),
        "modified": iso(info.modified),
        "messageCount": info.message_count,
        "firstMessage": info.first_message,
        "allMessagesText": info.all_messages_text,
    }
    return {key: value for key, value in row.items() if value is not None or key == "created"}
