"""`SessionManager`: the API of Elyra's sessions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from .. import _native
from .._listing import list_sessions, session_at
from . import checks, find as finding, paths
from .open_session import OpenSession

if TYPE_CHECKING:
    import builtins

    from .._native import Session, SessionInfo
    from .._types import OnProgress, StrPath
    from .find import Deleted


class SessionManager(OpenSession):
    """Finds and lists sessions; and has one open: its entries, their tree, where one stands in it, and what is added.

    Made by `create`, `open`, `continue_recent`, `in_memory` and `fork_from`. It is a context manager, which closes
    itself. Several threads may use one manager, and several processes may append to one file.

    Rule: Elyra session format, "SessionManager API"; docs/sessions.md.
    """

    __slots__ = ()

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

        Its file is made when the first user or assistant message arrives, with all that came before; never over
        another.

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
            id=checks.session_id(id),
            cwd=paths.absolute_cwd(cwd),
            parent_session=_text_of(parent_session),
            folder=folder,
            fsync=fsync,
        )
        return cls._of(session, session.cwd, folder, fsync=fsync)

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
        folder = None if session_dir is None else paths.absolute(session_dir)
        session = _open(path, own_cwd, read_only=read_only, strict=strict, fsync=fsync, threads=threads)
        own_cwd = own_cwd or session.cwd or paths.current_cwd()
        return cls._of(session, own_cwd, folder, read_only=read_only, fsync=fsync)

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
        found = finding.of_project(cwd, session_dir, agent_dir)
        if not found:
            return cls.create(cwd, session_dir, agent_dir=agent_dir, fsync=fsync)
        latest = max(found, key=lambda one: (one.modified_ns, one.path))
        (_, folder), _ = paths.project_source(cwd, session_dir, agent_dir)
        return cls.open(latest.path, folder, cwd=cwd, fsync=fsync)

    @classmethod
    def in_memory(cls, cwd: StrPath | None = None, *, fsync: bool = False) -> Self:
        """Start a session that has no file.

        Args:
            cwd: The working directory for its header; None means the current one.
            fsync: As for `create`, should `set_session_file` give it a file.

        Rule: Elyra session format, "Static Creation Methods".
        """
        session = _native.start_session(
            id=None,
            cwd=paths.current_cwd() if cwd is None else paths.absolute_cwd(cwd),
            parent_session=None,
            folder=None,
            fsync=False,
        )
        return cls._of(session, session.cwd, None, fsync=fsync)

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

        Entries are copied byte for byte (those of an old version migrated first), each on a line of its own, under a
        header with the new cwd that names the source. What could not be read stays behind.

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
        source = paths.absolute(source_path)
        session = _native.fork_session(
            source,
            id=checks.session_id(id),
            cwd=paths.absolute_cwd(target_cwd),
            parent_session=paths.text(source),
            folder=folder,
            fsync=fsync,
        )
        return cls._of(session, session.cwd, folder, fsync=fsync)

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
        catalogue: bool | StrPath = False,
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
            catalogue: Where to keep what was found, so that a later listing reads only files that have changed since;
                what it gives is the same. True means a file of the user's own in the cache folder, a path that file,
                False none. The file need not exist, and whatever is wrong with it is no error.

        Returns:
            The sessions, by `modified`, equal times by path; empty when there are none. What cannot be read is left
            out, with one logged warning; `scan` tells what it was.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `cwd` or `catalogue` is empty, or `threads` is below 1.

        Rule: Elyra session format, "Static Listing Methods".
        """
        wanted = paths.absolute_cwd(cwd)
        source, is_own = paths.project_source(cwd, session_dir, agent_dir)
        infos = list_sessions(source, on_progress, threads, catalogue=catalogue)
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
        catalogue: bool | StrPath = False,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of all projects, newest first.

        Args:
            on_progress: As for `list`.
            agent_dir: As for `list`.
            session_dir: A folder that holds session files directly, instead of an agent's folder.
            threads: As for `list`.
            text: Load every `all_messages_text` in the same pass, instead of when it is asked for. That reads all
                files, whatever the catalogue knows.
            catalogue: As for `list`.

        Returns:
            As for `list`.

        Raises:
            PermissionError: The folder cannot be read.
            ValueError: `threads` is below 1, or `catalogue` is an empty path.

        Rule: Elyra session format, "Static Listing Methods".
        """
        source = paths.store(session_dir, agent_dir)
        return list_sessions(source, on_progress, threads, text=text, catalogue=catalogue)

    @classmethod
    def find(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        session_dir: StrPath | None = None,
        agent_dir: StrPath | None = None,
        catalogue: bool | StrPath = False,
    ) -> SessionInfo:
        """Find a session by path, by id, or by the start of its id if no other has the same.

        What holds `/` or a backslash, or ends in `.jsonl`, is a path. A whole id wins over the starts of others; case
        counts.

        Args:
            name: The path, id, or start of an id.
            cwd: Look among this project's sessions alone; None means all.
            session_dir: As for `list`.
            agent_dir: As for `list`.
            catalogue: As for `list`.

        Raises:
            InvalidNameError: The name is empty.
            SessionNotFoundError: No session has it; `other_project` names the project of one that has, if `cwd` hid it.
            AmbiguousSessionError: Several have it; `candidates` holds their paths.
            FileNotFoundError: It is a path, and nothing is there.
            FormatError: It is a path, and no session is there.
        """
        return session_at(finding.locate(name, cwd, session_dir, agent_dir), catalogue)

    @classmethod
    def delete(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        session_dir: StrPath | None = None,
        agent_dir: StrPath | None = None,
    ) -> Deleted:
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
        return finding.delete(finding.locate(name, cwd, session_dir, agent_dir))

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
            id=checks.session_id(id),
            cwd=self.get_cwd(),
            parent_session=_text_of(parent_session),
            folder=self.get_session_dir(),
            fsync=self._fsync,
        )
        return self.get_session_file()

    def set_session_file(self, path: StrPath) -> None:
        """Go on with another session file; cwd, folder, `read_only` and `fsync` stay what they were.

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
        parent = paths.text(path) if path is not None and path.exists() else None
        self._open = self._session.branched(
            self._known(leaf_id), cwd=self.get_cwd(), parent_session=parent, folder=self.get_session_dir()
        )
        return self.get_session_file()


def _open(
    path: StrPath,
    cwd: str | None,
    *,
    read_only: bool,
    fsync: bool,
    strict: bool = False,
    threads: int | None = None,
) -> Session:
    own_cwd = paths.current_cwd() if cwd is None else cwd
    return _native.open_session(Path(path), own_cwd, read_only=read_only, strict=strict, fsync=fsync, threads=threads)


def _text_of(path: StrPath | None) -> str | None:
    return None if path is None else paths.text(path)
