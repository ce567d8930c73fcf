"""`SessionManager`: the API of Elyra's sessions."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from .. import _json, _native
from ..context import Model, SessionContext
from ..errors import EntryNotFoundError, ReadOnlyError
from . import checks, find, paths
from .header import SessionHeader

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping
    from types import TracebackType

    from .._native import Entry, Session, SessionInfo, TreeNode
    from .._types import Layout, OnProgress, StrPath
    from ..errors import Damage
    from ..messages import AgentMessage
    from ..usage import Usage

_LINE_BREAKS = re.compile(r"[\r\n]+")
_NO_LEAF = "root"
"""What a branch summary is from when there was no leaf."""


class SessionManager:
    """Finds and lists sessions; and one of them, open: its entries, their tree, where one stands in it, and what is added.

    Made by `create`, `open`, `continue_recent`, `in_memory` and `fork_from`. It is a context manager, which closes itself.
    Several threads may use one manager, and several processes may append to one file.

    Rule: Elyra session format, "SessionManager API"; docs/sessions.md.
    """

    __slots__ = ("_cwd", "_fsync", "_open", "_read_only", "_session_dir")

    _open: Session | None
    _cwd: str | None
    _session_dir: Path | None
    _read_only: bool
    _fsync: bool

    @classmethod
    def _of(
        cls,
        session: Session,
        session_dir: Path | None,
        *,
        cwd: str | None = None,
        read_only: bool = False,
        fsync: bool = False,
    ) -> Self:
        manager = cls.__new__(cls)
        manager._open, manager._session_dir, manager._cwd = session, session_dir, cwd
        manager._read_only, manager._fsync = read_only, fsync
        return manager

    # Making one

    @classmethod
    def create(
        cls,
        cwd: StrPath,
        session_dir: StrPath | None = None,
        *,
        id: str | None = None,
        parent_session: StrPath | None = None,
        agent_dir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Start a session.

        Its file is made when the first user or assistant message arrives, with all that came before; never over another.

        Args:
            cwd: The project's working directory; need not exist.
            session_dir: The folder for the file; None means the project's own below `agent_dir`.
            id: The session's id; None means a new one (UUID version 7).
            parent_session: The session that it comes from, for its header.
            agent_dir: The agent's folder; None means Elyra's (`ELYRA_CODING_AGENT_DIR`, else `~/.elyra/agent`).
            fsync: Have every append on the disk itself before it returns.

        Raises:
            InvalidNameError: `id` is not letters, digits, `.`, `_` and `-` with a letter or digit at both ends.
            ValueError: `cwd` is empty.

        Rule: Elyra session format, "Static Creation Methods".
        """
        (_, folder), _ = paths.project_source(cwd, session_dir, agent_dir)
        session = _native.start_session(
            id=id,
            cwd=paths.absolute_cwd(cwd),
            parent_session=_text_of(parent_session),
            folder=folder,
            path=None,
            fsync=fsync,
        )
        return cls._of(session, folder, fsync=fsync)

    @classmethod
    def open(
        cls,
        path: StrPath,
        session_dir: StrPath | None = None,
        *,
        cwd: StrPath | None = None,
        read_only: bool = False,
        strict: bool = False,
        fsync: bool = False,
        threads: int | None = None,
    ) -> Self:
        """Open a session's file. One of an old version is rewritten in the current one, as a whole.

        A file that does not exist, or is empty, opens as a new session that will have it.

        Args:
            path: The file.
            session_dir: The folder for files made from this session; None means the file's own.
            cwd: The working directory to go by; None means the header's, else the current one.
            read_only: Never write, not even a migration: an old file is migrated in memory.
            strict: Raise at the first damage to the file.
            fsync: Have every append on the disk itself before it returns.
            threads: How many threads read a long file, at most as many as there are processors; None means that many.

        Raises:
            FormatError: The file is no session, or `strict` and it has damage; read-only, if it is empty, too.
            FileNotFoundError: Read-only, and nothing is there.
            OSError: It cannot be read, or the migrated file not be written.

        Rule: Elyra session format, "Static Creation Methods".
        """
        own_cwd = None if cwd is None else paths.absolute_cwd(cwd)
        folder = None if session_dir is None else Path(session_dir)
        session = _open(path, own_cwd, read_only=read_only, fsync=fsync, threads=threads)
        if strict:
            session.raise_damage()
        return cls._of(session, folder, cwd=own_cwd, read_only=read_only, fsync=fsync)

    @classmethod
    def continue_recent(
        cls,
        cwd: StrPath,
        session_dir: StrPath | None = None,
        *,
        agent_dir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Open the session of a project whose file was written last, or start one.

        Args:
            cwd: The project's working directory.
            session_dir: The folder to look in; None means the project's own below `agent_dir`.
            agent_dir: As for `create`.
            fsync: As for `create`.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `cwd` is empty.

        Rule: Elyra session format, "Static Creation Methods".
        """
        found = find.of_project(cwd, session_dir, agent_dir)
        if not found:
            return cls.create(cwd, session_dir, agent_dir=agent_dir, fsync=fsync)
        latest = max(found, key=lambda one: (one.modified_ns, one.path))
        (_, folder), _ = paths.project_source(cwd, session_dir, agent_dir)
        return cls.open(latest.path, folder, cwd=cwd, fsync=fsync)

    @classmethod
    def in_memory(cls, cwd: StrPath | None = None) -> Self:
        """Start a session that has no file.

        Args:
            cwd: The working directory for its header; None means the current one.

        Rule: Elyra session format, "Static Creation Methods".
        """
        session = _native.start_session(
            id=None, cwd=_cwd_or_current(cwd), parent_session=None, folder=None, path=None, fsync=False
        )
        return cls._of(session, None)

    @classmethod
    def fork_from(
        cls,
        source_path: StrPath,
        target_cwd: StrPath,
        session_dir: StrPath | None = None,
        *,
        id: str | None = None,
        agent_dir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Copy a session into another project, and open the copy. The source stays as it is.

        Entries are copied byte for byte (those of an old version migrated first), each on a line of its own, under a header
        with the new cwd that names the source. What could not be read stays behind.

        Args:
            source_path: The session's file.
            target_cwd: The project to copy it into.
            session_dir: The folder for the new file; None means the project's own below `agent_dir`.
            id: As for `create`.
            agent_dir: As for `create`.
            fsync: As for `create`.

        Raises:
            FormatError: The source is no session.
            InvalidNameError: As for `create`.
            NameTakenError: The new file's name is taken.
            OSError: The source cannot be read, or the new file not be written.

        Rule: Elyra session format, "Static Creation Methods".
        """
        (_, folder), _ = paths.project_source(target_cwd, session_dir, agent_dir)
        source = os.path.abspath(source_path)  # noqa: PTH100  no links resolved
        session = _native.fork_session(
            Path(source),
            id=id,
            cwd=paths.absolute_cwd(target_cwd),
            parent_session=source,
            folder=folder,
            fsync=fsync,
        )
        return cls._of(session, folder, fsync=fsync)

    # Listing, finding, deleting

    @classmethod
    def list(
        cls,
        cwd: StrPath,
        session_dir: StrPath | None = None,
        on_progress: OnProgress | None = None,
        *,
        agent_dir: StrPath | None = None,
        threads: int | None = None,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of one project, newest first.

        Different folders can share a session folder (`/a/b` and `/a-b`), so a session whose header names another cwd is
        left out.

        Args:
            cwd: The project's working directory; need not exist.
            session_dir: A folder that holds session files of all projects; None means the project's own folder below
                `agent_dir`.
            on_progress: Called with (files read, files in all) after each file, in this thread. What it raises ends the
                listing and is raised here.
            agent_dir: The agent's folder; None means Elyra's (`ELYRA_CODING_AGENT_DIR`, else `~/.elyra/agent`).
            threads: How many threads to read with, at most as many as there are processors; None means that many.

        Returns:
            The sessions, by `modified`, equal times by path; empty when there are none. What cannot be read is left
            out, with one logged warning; `scan` tells what it was.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `cwd` is empty, or `threads` is below 1.

        Rule: Elyra session format, "Static Listing Methods".
        """
        wanted = paths.absolute_cwd(cwd)
        source, is_own = paths.project_source(cwd, session_dir, agent_dir)
        infos = _list(source, on_progress, threads, text=False)
        return [info for info in infos if paths.belongs(info.cwd, wanted, is_own=is_own)]

    @classmethod
    def list_all(
        cls,
        on_progress: OnProgress | None = None,
        *,
        agent_dir: StrPath | None = None,
        session_dir: StrPath | None = None,
        threads: int | None = None,
        text: bool = False,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of all projects, newest first.

        Args:
            on_progress: As for `list`.
            agent_dir: As for `list`.
            session_dir: A folder that holds session files directly, instead of an agent's folder.
            threads: As for `list`.
            text: Load every `all_messages_text` in the same pass, instead of when it is asked for.

        Returns:
            As for `list`.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `threads` is below 1.

        Rule: Elyra session format, "Static Listing Methods".
        """
        return _list(paths.store(session_dir, agent_dir), on_progress, threads, text=text)

    @classmethod
    def find(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        session_dir: StrPath | None = None,
        agent_dir: StrPath | None = None,
    ) -> SessionInfo:
        """Find a session by path, by id, or by the start of its id if no other has the same.

        What holds `/` or a backslash, or ends in `.jsonl`, is a path. A whole id wins over the starts of others; case counts.

        Args:
            name: The path, id, or start of an id.
            cwd: Look among this project's sessions alone; None means all.
            session_dir: As for `list`.
            agent_dir: As for `list`.

        Raises:
            InvalidNameError: The name is empty.
            SessionNotFoundError: No session has it; `other_project` names the project of one that has, if `cwd` hid it.
            AmbiguousSessionError: Several have it; `candidates` holds their paths.
            FileNotFoundError: It is a path, and nothing is there.
            FormatError: It is a path, and no session is there.
        """
        return find.info(find.locate(name, cwd, session_dir, agent_dir))

    @classmethod
    def delete(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        session_dir: StrPath | None = None,
        agent_dir: StrPath | None = None,
    ) -> find.Deleted:
        """Delete a session: its file goes to the trash where there is one.

        Args:
            name: As for `find`, and so are the others.
            cwd: As for `find`.
            session_dir: As for `find`.
            agent_dir: As for `find`.

        Returns:
            `trashed`, or `removed` where there is no trash.

        Raises:
            OSError: The file can be neither moved nor removed.
            SessionNotFoundError: As for `find`, and so are the others.

        Rule: Elyra session format, "Deleting Sessions".
        """
        return find.delete(find.locate(name, cwd, session_dir, agent_dir))

    # Session management

    def new_session(self, *, parent_session: StrPath | None = None, id: str | None = None) -> Path | None:
        """Start a session in this one's place, with the same cwd and folder.

        Args:
            parent_session: The session that it comes from, for its header.
            id: As for `create`.

        Returns:
            Where its file will be; None in memory.

        Raises:
            InvalidNameError: As for `create`.
            ReadOnlyError: The session was opened for reading.
        """
        self._check_writable()
        self._open = _native.start_session(
            id=id,
            cwd=self.get_cwd(),
            parent_session=_text_of(parent_session),
            folder=self.get_session_dir(),
            path=None,
            fsync=self._fsync,
        )
        return self.get_session_file()

    def set_session_file(self, path: StrPath) -> None:
        """Go on with another session file; the options, the cwd and the folder stay what they were given as.

        Args:
            path: As for `open`.

        Raises:
            FormatError: As for `open`, and so are the others. This session stays open then.
        """
        self._open = _open(path, self._cwd, read_only=self._read_only, fsync=self._fsync)

    def create_branched_session(self, leaf_id: str) -> Path | None:
        """Take the branch to an entry out into a session of its own, and go on with that.

        Labels are taken out and given anew at the end. The new file is written at once; its header names this one.

        Args:
            leaf_id: The last entry of the branch.

        Returns:
            The new file; None in memory, where the new session takes the place of this one.

        Raises:
            EntryNotFoundError: No entry has that id.
            ReadOnlyError: The session was opened for reading.
            OSError: The new file cannot be written.
        """
        path = self.get_session_file()
        parent = str(path) if path is not None and path.exists() else None
        self._open = self._session.branched(
            leaf_id, cwd=self.get_cwd(), parent_session=parent, folder=self.get_session_dir()
        )
        return self.get_session_file()

    def refresh(self) -> builtins.list[Entry]:
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
        """Close the session. Entries that were handed out stay readable; every other call raises ValueError."""
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
        details: Any = None,
        from_hook: bool | None = None,
    ) -> str:
        """Append a summary of what stands before.

        Args:
            summary: The summary.
            first_kept_entry_id: The first entry on the branch that is still sent to the model. It may be unknown: then none
                is.
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

    def append_custom_entry(self, custom_type: str, data: Any = None) -> str:
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
            name: The name; each run of line breaks becomes one blank, and it is trimmed. An empty one takes the name away.

        Rule: Elyra session format, "SessionInfoEntry".
        """
        return self._append("session_info", name=_LINE_BREAKS.sub(" ", checks.text(name, "name")).strip())

    def append_custom_message_entry(
        self,
        custom_type: str,
        content: str | builtins.list[Any],
        display: bool,
        details: Any = None,
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
        self._check_known(checks.text(target_id, "target_id"))
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
        self._check_known(checks.text(target_id, "target_id"))
        checks.editable(target_id, self.get_branch())
        payload = {"targetId": target_id, "replacement": checks.replacement(replacement)}
        return self._session.append("context_edit", _json.encode(payload))

    def _append(self, kind: str, **payload: object) -> str:
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
        return self._session.entry(id)

    def get_branch(self, from_id: str | None = None) -> builtins.list[Entry]:
        """The entries from the root to one of them.

        Args:
            from_id: The last of them; None means the leaf.

        Raises:
            EntryNotFoundError: No entry has that id.
        """
        return self._session.branch(from_id)

    def get_tree(self) -> builtins.list[TreeNode]:
        """The roots of the tree, in file order; children are sorted by time.

        Entries whose parent is unknown, or whose parents lead in a circle, are roots too: every id is there, once.
        """
        return self._session.tree()

    def get_children(self, parent_id: str | None) -> builtins.list[Entry]:
        """The entries that hang from one, in file order.

        Args:
            parent_id: That entry; None means the roots. Of an unknown one, there are none.
        """
        return self._session.children(parent_id)

    def get_tips(self) -> builtins.list[Entry]:
        """The entries without children, in file order: the ends of all branches."""
        return self._session.tips()

    def get_label(self, id: str) -> str | None:
        """The label of an entry, or None."""
        return self._session.label(id)

    def branch(self, entry_id: str) -> None:
        """Move the leaf to an entry: the next one becomes its child. Nothing is written.

        Raises:
            EntryNotFoundError: No entry has that id.
        """
        self._session.move_to(checks.text(entry_id, "entry_id"))

    def reset_leaf(self) -> None:
        """Move the leaf to before all entries: the next one becomes a root."""
        self._session.move_to(None)

    def branch_with_summary(
        self, entry_id: str | None, summary: str, details: Any = None, from_hook: bool | None = None
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
            "fromId": self._session.leaf_id or _NO_LEAF,
            "summary": checks.text(summary, "summary"),
            "details": details,
            "fromHook": checks.flag(from_hook, "from_hook"),
        }
        return self._session.append_to(entry_id, "branch_summary", _payload(payload))

    # Context and facts

    def build_session_context(self) -> SessionContext:
        """What a model is sent of the branch to the leaf.

        Raises:
            ConflictError: The file is no longer the one that was read.
            OSError: It cannot be read.

        Rule: Elyra session format, "Context Building"; docs/sessions.md, "Context".
        """
        session = self._session
        joined, thinking_level, model = session.context()
        messages = _json.loads_list(joined, session.context_messages)
        return SessionContext(messages, thinking_level, None if model is None else Model(*model))

    def get_entries(self) -> builtins.list[Entry]:
        """All entries in file order, those without an id too; the header is none."""
        return self._session.entries()

    def get_header(self) -> SessionHeader:
        """The header, of the current version."""
        row = self._session.header()
        raw = _json.loads(row.pop("json"))
        return SessionHeader(**row, raw=raw)

    def get_session_name(self) -> str | None:
        """The name that someone gave the session, trimmed; None without one."""
        return self._session.name

    def get_cwd(self) -> str:
        """The working directory: what `open` was given, else the header's, else the current one."""
        return self._cwd or self._session.cwd or _cwd_or_current(None)

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

    def _check_known(self, id: str) -> None:
        if self._session.entry(id) is None:
            raise EntryNotFoundError(f"no entry has the id {id!r}", self.get_session_file(), entry_id=id)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError("the session was opened for reading", self.get_session_file())


def _open(
    path: StrPath, cwd: str | None, *, read_only: bool, fsync: bool, threads: int | None = None
) -> Session:
    own_cwd = _cwd_or_current(None) if cwd is None else cwd
    return _native.open_session(Path(path), own_cwd, read_only=read_only, fsync=fsync, threads=threads)


def _payload(members: Mapping[str, object]) -> bytes:
    return _json.encode({key: value for key, value in members.items() if value is not None})


def _cwd_or_current(cwd: StrPath | None) -> str:
    return paths.absolute_cwd(Path.cwd() if cwd is None else cwd)


def _text_of(path: StrPath | None) -> str | None:
    return None if path is None else os.fspath(path)


def _list(
    source: tuple[Layout, Path], on_progress: OnProgress | None, threads: int | None, *, text: bool
) -> builtins.list[SessionInfo]:
    row = _native.scan([source], on_progress, threads, text, usage=False, strict=False)
    unread = sum(damage.kind == "file" for damage in row["damage"])
    if unread:
        import logging  # late: hardly any listing needs it

        logging.getLogger("sessiontree").warning(
            "could not be read: %d (scan() and `sessiontree check` tell what and why)", unread
        )
    return row["infos"]
