"""A Replio session: a log of messages, errors and permissions that only grows."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from .. import _json
from ..errors import ReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from .._native import ReplioDocument
    from ..errors import Damage
    from .messages import ErrorEntry, Message, PermissionEntry
    from .store import ReplioStore

Summarize: TypeAlias = Callable[[list[dict[str, Any]]], str | None]
"""Sums messages up; None, or a blank text, if it cannot."""

_List: TypeAlias = Literal["messages", "errors", "permissions"]

_COMMAND = "/compact"

_MOST_KEPT = 1 << 40
"""More messages than any log has."""


class ReplioSession:
    """One session, as its store gives it: `ReplioStore.create`, `read` and `load` make them.

    What was logged is never changed and never removed. With the store's `autosave` every addition is on the disk when
    the method returns; if it cannot be written it is taken back, and the error raised.

    A file of the later form, a log of turns, is read as the messages that it stands for; whatever would change it
    raises `ReadOnlyError`.

    Rule: Replio sessions; docs/replio.md.
    """

    __slots__ = (
        "__weakref__",
        "_begun_ns",
        "_decoded",
        "_document",
        "_is_deleted",
        "_is_generated",
        "_is_given",
        "_store",
    )

    def __init__(
        self, store: ReplioStore, document: ReplioDocument, *, is_generated: bool = False, is_given: bool = False
    ) -> None:
        """Not for callers: a store makes its sessions."""
        self._store = store
        self._document = document
        self._is_generated = is_generated
        """Whether its name was made up here, and may be another one as long as it has no file."""
        self._is_given = is_given
        """Whether its name is a caller's, which is never changed."""
        self._begun_ns = time.time_ns()
        self._is_deleted = False
        self._decoded: dict[_List, list[dict[str, Any]]] = {}

    @property
    def name(self) -> str:
        """The name: that of the file, without `.json`."""
        return self._document.name

    @property
    def path(self) -> Path | None:
        """The file; None as long as there is none."""
        return self._store.path_of(self.name) if self._document.has_file else None

    @property
    def format(self) -> Literal["messages", "turns"]:
        """What the log is made of: `messages`, or the `turns` of Replio 0.33 and later."""
        return "turns" if self._document.has_turns else "messages"

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be added: the log is one of turns."""
        return self._document.has_turns

    @property
    def created_at(self) -> str:
        """When it was begun, ISO 8601: as the file has it, else the first message's time, else empty."""
        return self._document.created_at

    @property
    def updated_at(self) -> str:
        """When something was added last, ISO 8601: as the file has it, else the last message's time, else empty."""
        return self._document.updated_at

    @property
    def parent_id(self) -> str:
        """The name of the session that it was begun from; empty if there is none."""
        return self._document.parent_id

    @property
    def sub_sessions(self) -> tuple[str, ...]:
        """The names of the sessions that were begun from it, as far as they have finished."""
        return tuple(self._document.sub_sessions)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages in their order, as they stand in the file; of a log of turns, those that it stands for.

        Elements that are no objects are left out and stand in `damage`; indexes such as `compact_from` count them. The
        dicts are the session's own, decoded once: copy before you change one.
        """
        return cast("tuple[Message, ...]", tuple(self._entries("messages")))

    @property
    def errors(self) -> tuple[ErrorEntry, ...]:
        """The failures of turns, in their order."""
        return cast("tuple[ErrorEntry, ...]", tuple(self._entries("errors")))

    @property
    def permissions(self) -> tuple[PermissionEntry, ...]:
        """What tools were allowed to do, in the order of their calls."""
        return cast("tuple[PermissionEntry, ...]", tuple(self._entries("permissions")))

    @property
    def damage(self) -> tuple[Damage, ...]:
        """What is odd in the file and was read all the same: `line` (an element that is none), `repeated` (a key)."""
        return tuple(self._document.damage)

    @property
    def has_summary(self) -> bool:
        """Whether the log has a compaction record: who loads it may offer to go on from there."""
        return self._document.has_summary

    def append(self, role: str, content: Any = None, **fields: Any) -> str | None:  # noqa: ANN401  any JSON
        """Add a message.

        Args:
            role: `user`, `assistant`, `tool`, `command`, `system`, or any other.
            content: The text, or other JSON. Of an assistant that only thinks, None is written as an empty text.
            **fields: The other keys, in their order; those that are None are left out. `timestamp` and `id` may be
                given; else they are now and `msg_` with 16 random hex digits.

        Returns:
            The message's id; None, and nothing is added, for an assistant without content, thinking and tool calls.

        Raises:
            TypeError: `role` is no text, or something is no JSON value.
            ValueError: `role` is empty, or something cannot be written: a number that is not finite, half a surrogate
                pair.
            ReadOnlyError: The log is one of turns.
            ConflictError: Someone else changed the file, or took it away.
            NameTakenError: The session's name, which was given, has a file meanwhile.
            OSError: The file cannot be written.

        Rule: Replio sessions, "Message schema", "Append-only semantics".
        """
        _check_role(role)
        if role == "assistant" and not content:
            if not (fields.get("thinking") or fields.get("tool_calls")):
                return None
            if content is None and not fields.get("tool_calls"):
                content = ""
        now = self._store.now()
        message = {"role": role, "content": content} | self._stamped(now, fields)
        encoded = _json.encode_exact(message)
        with self._store.named_after(self, content if role == "user" else None):
            self._add("messages", encoded, now)
        return cast("str", message["id"])

    def add_error(self, code: int | None, message: str, *, timestamp: str | None = None, **fields: Any) -> None:  # noqa: ANN401
        """Add a failure.

        Args:
            code: The HTTP status; None, or anything empty, is 0: there is none.
            message: What happened.
            timestamp: When, ISO 8601; None is now.
            **fields: Further keys; those that are None are left out.

        Raises:
            TypeError, ValueError, ReadOnlyError, ConflictError, NameTakenError, OSError: As `append`.

        Rule: Replio sessions, "Errors".
        """
        _check_text(message=message)
        now = self._store.now()
        entry = {"code": code or 0, "message": message, "timestamp": timestamp or now}
        self._add("errors", _json.encode_exact(entry | _given(fields)), now)

    def add_permission(
        self,
        tool: str,
        action: str,
        decision: str,
        path: str | None = None,
        *,
        timestamp: str | None = None,
        **fields: Any,  # noqa: ANN401
    ) -> None:
        """Add what a tool was allowed to do.

        Args:
            tool: The tool's name.
            action: What the policy says: `allow`, `ask`, `deny`, or any other.
            decision: What came of it: `granted`, `declined` or `denied`.
            path: What the tool was to work on; None if it has no such argument.
            timestamp: When, ISO 8601; None is now.
            **fields: Further keys; those that are None are left out.

        Raises:
            TypeError, ValueError, ReadOnlyError, ConflictError, NameTakenError, OSError: As `append`.

        Rule: Replio sessions, "Permissions".
        """
        _check_text(tool=tool, action=action, decision=decision)
        now = self._store.now()
        entry = {"tool": tool, "action": action, "decision": decision} | _given({"path": path})
        entry |= {"timestamp": timestamp or now} | _given(fields)
        self._add("permissions", _json.encode_exact(entry), now)

    def provider_messages(
        self, *, drop_unanswered: bool = False, strip: bool = False, keep_system: bool = False
    ) -> list[dict[str, Any]]:
        """What a provider is sent: the last summary, if there is one, and the messages from the boundary on.

        Commands are left out, and so are tools' results whose calls are not sent before them. The boundary is the
        largest `compact_from` of all compaction records.

        Args:
            drop_unanswered: Leave out tool calls without a result, which providers refuse; a run that was broken off
                has them.
            strip: Leave out the keys that providers do not know: all but `role`, `content`, `name`, `tool_calls` and
                `tool_call_id`.
            keep_system: Keep the system messages that the log begins with, which would go with what was summed up.

        Returns:
            New dicts, which the caller may change.

        Rule: Replio sessions, "Preparing the provider context".
        """
        messages = self._document.provider_messages(
            drop_unanswered=drop_unanswered, strip=strip, keep_system=keep_system
        )
        return cast("list[dict[str, Any]]", self._loads(messages))

    def fold(self, messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Messages as they are given to whoever is to sum them up.

        Tools' results become `[tool result] …` messages of the user, compaction records summaries; tool calls and other
        commands go.

        Raises:
            TypeError: Something in them is no JSON value.
            ValueError: One is no object, or something cannot be written as JSON.

        Rule: Replio sessions, "Preparing the provider context".
        """
        from .._native import replio_folded

        encoded = [_json.encode_exact(dict(message)) for message in messages]
        return cast("list[dict[str, Any]]", _json.loads_exact(replio_folded(encoded)))

    def compact(self, summarize: Summarize | str, keep: int | None = None) -> int | None:
        """Sum up all but the last messages, and log the summary; nothing is taken out of the log.

        Args:
            summarize: Gives a text that sums up the messages it is called with, folded, from the first of the log on;
                or that text itself. What it raises comes out, and nothing is changed.
            keep: How many messages at the end are sent as they are; None is the store's `compact_keep`. 0 and less
                compacts nothing.

        Returns:
            The record's index in the log. None if there is nothing to sum up beyond what earlier records do, or the
            summary is blank or None: `summarize` was not called, or the log was not changed.

        Raises:
            TypeError: The summary is no text.
            ValueError, ReadOnlyError, ConflictError, OSError: As `append`.

        Rule: Replio sessions, "Compaction".
        """
        if self._document.has_turns:
            raise ReadOnlyError("a log of turns is read and exported, never written", self.path)
        keep = self._store.compact_keep if keep is None else keep
        count = self._document.compactable(min(max(0, keep), _MOST_KEPT))
        if count is None:
            return None
        summary = summarize if isinstance(summarize, str) else summarize(self._loads(self._document.folded(count)))
        summary = _stripped(summary)
        if not summary:
            return None
        now = self._store.now()
        command = _json.encode_exact({"role": "command", "content": _COMMAND} | self._stamped(now, {}))
        self._decoded.pop("messages", None)  # the last one may become the record
        return self._store.written(self, lambda target: self._document.compact(summary, count, command, now, target))

    def to_markdown(self) -> str:
        """The log as Markdown: what is in memory. `ReplioStore.export` renders the file.

        Rule: Replio sessions, "Exporting to Markdown".
        """
        return self._document.to_markdown()

    def __repr__(self) -> str:
        return f"<ReplioSession {self.name!r}>"

    def _stamped(self, now: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What every message has, and the fields that are given."""
        _check_text(**{key: fields[key] for key in ("timestamp", "id") if fields.get(key) is not None})
        first = {
            "timestamp": fields.get("timestamp") or now,
            "id": fields.get("id") or f"msg_{secrets.token_hex(8)}",
        }
        return first | {key: value for key, value in _given(fields).items() if key not in first}

    def _add(self, name: _List, entry: bytes, now: str) -> None:
        self._store.written(self, lambda target: self._document.append(name, entry, now, target))

    def _entries(self, name: _List) -> list[dict[str, Any]]:
        """What was decoded before, and what has come since."""
        decoded = self._decoded.setdefault(name, [])
        decoded += self._loads(self._document.entries(name, len(decoded)))
        return decoded

    def _loads(self, data: bytes) -> Any:  # noqa: ANN401
        return _json.loads_exact(data) if self._document.has_long_numbers else _json.loads(data)


def _check_text(**values: object) -> None:
    for name, value in values.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} is {value!r}: expected a text")


def _check_role(role: str) -> None:
    _check_text(role=role)
    if not role:
        raise ValueError("role is empty")


def _stripped(summary: str | None) -> str:
    if summary is None:
        return ""
    _check_text(summary=summary)
    _json.encode_exact(summary)  # refuses half a surrogate pair
    return summary.strip()


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
