"""An open session: what is appended to it, the tree of its entries, and its context."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self, TypeVar

from .. import _json
from ..context import SessionContext, messages_of, model_of
from ..errors import ConflictError, EntryNotFoundError, ReadOnlyError
from . import checks
from .header import SessionHeader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from .._native import Entry, Session, TreeNode
    from ..errors import Damage
    from ..messages import AgentMessage
    from ..usage import Usage

_Id = TypeVar("_Id", str, str | None)

_LINE_BREAKS = re.compile(r"[\r\n]+")


class OpenSession:
    """What `SessionManager` can do with the session that it has open.

    Several threads may use one, and several processes may append to one file.
    """

    __slots__ = ("__weakref__", "_cwd", "_fsync", "_open", "_read_only", "_session_dir")

    _open: Session | None
    _cwd: str
    _session_dir: Path | None
    _read_only: bool
    _fsync: bool

    def __init__(self) -> None:
        raise TypeError("made by create, open, continue_recent, in_memory and fork_from")

    @classmethod
    def _of(
        cls, session: Session, cwd: str, session_dir: Path | None, *, read_only: bool = False, fsync: bool = False
    ) -> Self:
        manager = cls.__new__(cls)
        manager._open, manager._cwd, manager._session_dir = session, cwd, session_dir
        manager._read_only, manager._fsync = read_only, fsync
        return manager

    def refresh(self) -> list[Entry]:
        """Take in what others have appended to the file. The leaf stays where it is.

        A last line without its end is left for the next time: somebody may still be writing it.

        Returns:
            The new entries, in file order.

        Raises:
            ConflictError: The file has become shorter, or is another one.
            FileNotFoundError: It has gone.
        """
        return self._session.refresh()

    def close(self) -> None:
        """Close the session: what needs it raises ValueError from now on.

        Entries that were handed out stay readable, and hold the file open as long as there are any.
        """
        self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._open is None:
            return f"<{type(self).__name__}, closed>"
        return f"<{type(self).__name__} {self._open.id} {self._open.path or 'in memory'}>"

    @property
    def _session(self) -> Session:
        if self._open is None:
            raise ValueError("the session is closed")
        return self._open

    # Appending

    def append_message(self, message: AgentMessage | Mapping[str, Any]) -> str:
        """Append a message.

        Args:
            message: A dict with at least a `role`, which is written as it is.

        Returns:
            The entry's id, as all of these do.

        Raises:
            TypeError: The message is no dict of JSON values.
            ValueError: It has no role.
            ReadOnlyError: The session was opened for reading; as for all of these, and so are the others.
            ConflictError: The file is no longer the one that was read.
            OSError: The entry cannot be written; then nothing has changed.

        Rule: Elyra session format, "SessionMessageEntry".
        """
        return self._append("message", message=checks.message(message))

    def append_thinking_level_change(self, level: str) -> str:
        """Record that the thinking level is another one.

        Args:
            level: Such as `off` or `high`.

        Rule: Elyra session format, "ThinkingLevelChangeEntry".
        """
        return self._append("thinking_level_change", thinkingLevel=checks.text(level, "level"))

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Record that the model is another one.

        Args:
            provider: Whose model it is.
            model_id: The model.

        Rule: Elyra session format, "ModelChangeEntry".
        """
        return self._append(
            "model_change", provider=checks.text(provider, "provider"), modelId=checks.text(model_id, "model_id")
        )

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str,
        tokens_before: int,
        details: object = None,
        from_hook: bool | None = None,
    ) -> str:
        """Append a summary of what stands before.

        Args:
            summary: The summary.
            first_kept_entry_id: The first entry on the branch that is still sent to the model; none is, where it is
                unknown.
            tokens_before: How many tokens the context had.
            details: Whatever the maker of the summary wants to keep: JSON values.
            from_hook: Whether an extension made it.

        Rule: Elyra session format, "CompactionEntry".
        """
        return self._append(
            "compaction",
            summary=checks.text(summary, "summary"),
            firstKeptEntryId=checks.text(first_kept_entry_id, "first_kept_entry_id"),
            tokensBefore=checks.count(tokens_before, "tokens_before"),
            details=details,
            fromHook=checks.flag(from_hook, "from_hook"),
        )

    def append_custom_entry(self, custom_type: str, data: object = None) -> str:
        """Append state of an extension, which the model does not see.

        Args:
            custom_type: Whose it is.
            data: JSON values.

        Rule: Elyra session format, "CustomEntry".
        """
        return self._append("custom", customType=checks.text(custom_type, "custom_type"), data=data)

    def append_session_info(self, name: str) -> str:
        """Name the session.

        Args:
            name: The name; each run of line breaks becomes one blank, and it is trimmed. An empty one takes the name
                away.

        Rule: Elyra session format, "SessionInfoEntry".
        """
        return self._append("session_info", name=_LINE_BREAKS.sub(" ", checks.text(name, "name")).strip())

    def append_custom_message_entry(
        self,
        custom_type: str,
        content: str | list[Any],
        display: bool,
        details: object = None,
    ) -> str:
        """Append a message of an extension, which the model sees.

        Args:
            custom_type: Whose it is.
            content: A text, or a list of text and image blocks.
            display: Whether people are shown it.
            details: What the extension wants to keep with it: JSON values.

        Rule: Elyra session format, "CustomMessageEntry".
        """
        return self._append(
            "custom_message",
            customType=checks.text(custom_type, "custom_type"),
            content=checks.content(content, "content"),
            display=checks.required_flag(display, "display"),
            details=details,
        )

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Give an entry a label, or take it away.

        Args:
            target_id: The entry.
            label: The label; None or empty takes it away.

        Raises:
            EntryNotFoundError: No entry has that id.

        Rule: Elyra session format, "LabelEntry".
        """
        self._check_writable()
        self._known(checks.text(target_id, "target_id"))
        text = None if label is None else checks.text(label, "label")
        return self._append("label", targetId=target_id, label=text or None)

    def append_usage(
        self, kind: str, provider: str, model: str, usage: Mapping[str, Any], note: str | None = None
    ) -> str:
        """Record tokens that were used outside any message (newer files).

        Args:
            kind: What for, such as `cache_warm`.
            provider: Whose model it was.
            model: The model.
            usage: As in an assistant message: `input`, `output`, `cacheRead`, `cacheWrite`, `totalTokens`, `cost`.
            note: A remark.
        """
        return self._append(
            "usage",
            kind=checks.text(kind, "kind"),
            provider=checks.text(provider, "provider"),
            model=checks.text(model, "model"),
            usage=checks.mapping(usage, "usage"),
            note=None if note is None else checks.text(note, "note"),
        )

    def append_context_edit(self, target_id: str, replacement: Mapping[str, Any] | None) -> str:
        """Change what the model sees of an earlier entry (newer files).

        Args:
            target_id: A user, assistant, toolResult or custom message on the branch to the leaf.
            replacement: A dict whose `content`, a text or a list, takes the place of the message's; None leaves it out.

        Raises:
            EntryNotFoundError: No entry has that id.
            ValueError: The entry is not on the branch, or is no such message.
        """
        self._check_writable()
        self._known(checks.text(target_id, "target_id"))
        target = self.get_entry(target_id) if self._session.is_on_branch(target_id) else None
        checks.editable(target_id, target)
        payload = {"targetId": target_id, "replacement": checks.replacement(replacement)}
        return self._session.append("context_edit", _json.encode(payload))

    def _append(self, kind: str, /, **payload: object) -> str:
        """Append an entry; what is None is not written at all."""
        return self._session.append(kind, _payload(payload))

    # Tree

    def get_leaf_id(self) -> str | None:
        """The id of the entry where one stands, to which the next one is appended; None at the start."""
        return self._session.leaf_id

    def get_leaf_entry(self) -> Entry | None:
        """The entry where one stands."""
        leaf_id = self._session.leaf_id
        return None if leaf_id is None else self._session.entry(leaf_id)

    def get_entry(self, id: str) -> Entry | None:
        """The entry that has an id: the last one, where several have it; None if there is none."""
        return self._session.entry(id) if checks.is_utf8(id) else None

    def get_branch(self, from_id: str | None = None) -> list[Entry]:
        """The entries from the root to one of them.

        Args:
            from_id: The last of them; None means the leaf.

        Raises:
            EntryNotFoundError: No entry has that id.
        """
        return self._session.branch(self._known(from_id))

    def get_tree(self) -> list[TreeNode]:
        """The roots of the tree, in file order; children are sorted by time.

        Entries whose parent is unknown, or whose parents lead in a circle, are roots too: every id is there, once.
        """
        return self._session.tree()

    def get_children(self, parent_id: str | None) -> list[Entry]:
        """The entries that hang from one, in file order.

        Args:
            parent_id: That entry; None means the roots. Of an unknown one, there are none.
        """
        return self._session.children(parent_id) if parent_id is None or checks.is_utf8(parent_id) else []

    def get_tips(self) -> list[Entry]:
        """The entries without children, in file order: the ends of all branches."""
        return self._session.tips()

    def get_label(self, id: str) -> str | None:
        """The label of an entry, or None."""
        return self._session.label(id) if checks.is_utf8(id) else None

    def branch(self, entry_id: str) -> None:
        """Move the leaf to an entry: the next one becomes its child. Nothing is written.

        Raises:
            EntryNotFoundError: No entry has that id.
        """
        self._session.move_to(self._known(checks.text(entry_id, "entry_id")))

    def reset_leaf(self) -> None:
        """Move the leaf to before all entries: the next one becomes a root."""
        self._session.move_to(None)

    def branch_with_summary(
        self, entry_id: str | None, summary: str, details: object = None, from_hook: bool | None = None
    ) -> str:
        """Move the leaf to an entry, and append a summary of the branch that was left there.

        Args:
            entry_id: The entry; None means before all entries.
            summary: The summary.
            details: Whatever the maker of the summary wants to keep: JSON values.
            from_hook: Whether an extension made it.

        Returns:
            The summary's id.

        Raises:
            EntryNotFoundError: No entry has that id.
            OSError: As for `append_message`: then the leaf has not moved.

        Rule: Elyra session format, "BranchSummaryEntry": its `fromId` is the leaf that was left.
        """
        payload = {
            "summary": checks.text(summary, "summary"),
            "details": details,
            "fromHook": checks.flag(from_hook, "from_hook"),
        }
        return self._session.append_summary(self._known(entry_id), _payload(payload))

    # Context and facts

    def build_session_context(self) -> SessionContext:
        """What a model is sent of the branch to the leaf.

        Raises:
            ConflictError: The file is no longer the one that was read.
            OSError: It cannot be read.

        Rule: Elyra session format, "Context Building"; docs/sessions.md, "Context".
        """
        context = self._session.context()
        try:
            messages = messages_of(context)
        except ValueError:  # each was JSON when the file was read
            raise ConflictError("the file has been rewritten since it was read", self.get_session_file()) from None
        return SessionContext(messages, context.thinking_level, model_of(context))

    def get_entries(self) -> list[Entry]:
        """All entries in file order, those without an id too; the header is none."""
        return self._session.entries()

    def get_header(self) -> SessionHeader:
        """The header, of the current version."""
        row = self._session.header()
        return SessionHeader(
            id=row["id"],
            timestamp=row["timestamp"],
            version=row["version"],
            cwd=row["cwd"],
            parent_session=row["parent_session"],
            raw=_json.loads(row["json"]),
        )

    def get_session_name(self) -> str | None:
        """The name that someone gave the session, trimmed; None without one."""
        return self._session.name

    def get_cwd(self) -> str:
        """The working directory that this was made with; opened without one, the header's, else the current one."""
        return self._cwd

    def get_session_dir(self) -> Path | None:
        """The folder for files made from this session; None in memory."""
        path = self._session.path
        return self._session_dir or (None if path is None else path.parent)

    def get_session_id(self) -> str:
        """The id in the header."""
        return self._session.id

    def get_session_file(self) -> Path | None:
        """The session's file, which need not exist yet; None in memory."""
        return self._session.path

    def is_persisted(self) -> bool:
        """Whether the session has a file, or will have one."""
        return self._session.path is not None

    def usage(self, branch_only: bool = False) -> Usage:
        """Tokens and cost, each record once.

        Args:
            branch_only: Of the branch to the leaf alone; otherwise of all entries, abandoned branches too.

        Raises:
            ConflictError: The file is no longer the one that was read.
        """
        return self._session.usage(branch_only)

    @property
    def damage(self) -> tuple[Damage, ...]:
        """All that is wrong with the file, or remarkable in it, by line; as `scan` reports it.

        Raises:
            ConflictError: The file is no longer the one that was read.
        """
        return tuple(self._session.damage())

    def _known(self, id: _Id) -> _Id:
        """The id of an entry; None passes.

        Raises:
            EntryNotFoundError: No entry has it.
        """
        if id is not None and self.get_entry(id) is None:
            raise EntryNotFoundError(f"no entry has the id {id!r}", self.get_session_file(), entry_id=id)
        return id

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError("the session was opened for reading", self.get_session_file())


def append_as_is(session: OpenSession, kind: str, payload: Mapping[str, Any]) -> str:
    """Append an entry of any type, whatever stands in it; gives its id.

    Args:
        session: The session.
        kind: The entry's type.
        payload: What it has besides `type`, `id`, `parentId` and `timestamp`: JSON values.

    Raises:
        ReadOnlyError: As for `append_message`, and so are the others.
    """
    core = session._session  # pyright: ignore[reportPrivateUsage]  for `record`, not for everybody
    return core.append(kind, _json.encode(payload))


def _payload(members: Mapping[str, object]) -> bytes:
    return _json.encode({key: value for key, value in members.items() if value is not None})
