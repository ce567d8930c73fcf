"""A project's Replio sessions: `ReplioStore`."""

# A store and its sessions are one thing in two files, and know each other's insides.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import builtins
import os
import re
import secrets
import shutil
import sys
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, overload
from weakref import WeakValueDictionary

from .. import _native
from ..errors import (
    ConflictError,
    FormatError,
    InvalidNameError,
    NameTakenError,
    SessionError,
    SessionNotFoundError,
)
from .config import Config
from .links import DanglingLink, Links
from .preview import Preview
from .session import ReplioSession

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from .._native import ReplioDocument, SessionInfo
    from .._types import ReplioTarget, StrPath

_HOME, _SESSIONS, _EXPORTS, _SUFFIX = ".replio", "sessions", "exports", ".json"
_COARSE_NS = 2_000_000_000
"""How much earlier than it was a file's time may be: some file systems keep two seconds."""

_T = TypeVar("_T")

_UNNAMED = re.compile(r"ses_\d{8}_\d{6}(_\d+)?")
"""What a session is called until something is said in it."""


class ReplioStore:
    """The sessions of a project: `.replio/sessions/*.json`.

    Sessions that are written are written whole or not at all, and never over what somebody else has written. A name
    that a caller gives never leads out of the folder.

    Rule: Replio sessions, "Managing sessions"; docs/replio.md.
    """

    def __init__(
        self,
        project_or_sessions_dir: StrPath,
        *,
        noise_tools: Iterable[str] | None = None,
        session_tool_max_chars: int | None = None,
        compact_keep: int | None = None,
        autosave: bool = True,
        clock: Callable[[], datetime] | None = None,
        make_folder: bool = True,
    ) -> None:
        """Open a store.

        An option that is None is what the project's `.replio/config.json` says, where that can be read (what cannot is
        warned of), else what Replio does by itself.

        Args:
            project_or_sessions_dir: A project, or its `.replio`; or the folder of the sessions itself, which is called
                `sessions` and lies in one called `.replio`, or has sessions in it and no `.replio`.
            noise_tools: The tools whose results are left out of the files (`web_fetch`, `open`, `fetch_page`).
            session_tool_max_chars: How many characters of a tool's result are written; 0 and less is all of them (0).
            compact_keep: How many messages at the end compaction leaves as they are (4).
            autosave: Whether sessions are written whenever something is added.
            clock: Gives the time, with its zone; None is the system's clock.
            make_folder: Whether to make the folder now, and not when a session is saved first.

        Raises:
            FileNotFoundError: There is no such project.
            NotADirectoryError: It is no folder.
            TypeError: An option is of another type.
        """
        folder = Path(os.path.abspath(project_or_sessions_dir))  # noqa: PTH100  links are left as they are
        self._folder = _sessions_folder(folder)
        self._clock = clock or _system_clock
        self._config = Config.of(
            self._folder.parent / "config.json",
            noise_tools=noise_tools,
            session_tool_max_chars=session_tool_max_chars,
            compact_keep=compact_keep,
        )
        self._autosave = autosave
        self._current: ReplioSession | None = None
        self._live: WeakValueDictionary[str, ReplioSession] = WeakValueDictionary()
        """By name, what is in memory: links are changed there."""
        self._parents: set[str] = set()
        """The names of the sessions from which some were begun here."""
        next((self.project or folder).iterdir(), None)  # says why, if there is none
        if make_folder:
            with suppress(OSError):  # what can only be read is read
                self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def sessions_dir(self) -> Path:
        """The folder of the session files."""
        return self._folder

    @property
    def exports_dir(self) -> Path:
        """Where exports go."""
        return self._folder.parent / _EXPORTS

    @property
    def project(self) -> Path | None:
        """The project's folder; None where the sessions do not lie in a `.replio`."""
        home = self._folder.parent
        return home.parent if home.name == _HOME else None

    @property
    def noise_tools(self) -> tuple[str, ...]:
        """The tools whose results are left out of the files."""
        return self._config.noise_tools

    @property
    def session_tool_max_chars(self) -> int:
        """How many characters of a tool's result are written; 0 and less is all of them."""
        return self._config.session_tool_max_chars

    @property
    def compact_keep(self) -> int:
        """How many messages at the end compaction leaves as they are."""
        return self._config.compact_keep

    @property
    def current(self) -> ReplioSession | None:
        """The session that was created or loaded last; None before, and once it was deleted."""
        return self._current

    def create(self, name: str | None = None, *, job: str | None = None, parent: str | None = None) -> ReplioSession:
        """Begin a session, in memory: it has no file before it is saved. It becomes the current one.

        Args:
            name: Its name, which is then never changed. None for one that is made up: of a job or a parent's name, else
                `ses_<stamp>`, to which the first user message adds its first words. If a made-up name is taken, `_2`,
                `_3` … is added.
            job: The name of the job whose run it is to be.
            parent: The name of the session that it is begun from, which need not be there.

        Raises:
            InvalidNameError: No file can have the name, or would lie elsewhere.
            NameTakenError: There is a session of that name.
            ValueError: Both `name` and `job` are given; or the clock gives a time without a zone.
        """
        if name is not None and job is not None:
            raise ValueError("name and job: expected one of them")
        now = self.now()
        is_generated = name is None
        if name is None:
            stamp = _stamp(now)
            if job is not None:
                name = _native.replio_name("job", stamp, job)
            elif parent is not None:
                name = _native.replio_name("sub", stamp, parent)
            else:
                name = _native.replio_name("ses", stamp, "")
            name = self._free(name)
        elif self._is_taken(name):
            raise NameTakenError("a session of that name exists", self.path_of(name))
        if parent is not None:
            self._parents.add(parent)
        document = _native.ReplioDocument(name, now, parent or "")
        session = ReplioSession(self, document, is_generated=is_generated, is_given=not is_generated)
        self._current = self._take_in(session)
        return self._current

    def read(self, name: str) -> ReplioSession:
        """Read a session; the current one stays what it is.

        Raises:
            InvalidNameError: No session has such a name.
            SessionNotFoundError: There is none.
            FormatError: Its file is damaged (`kind` is `corrupt`) or of an unknown form (`unsupported`).
            OSError: It cannot be read.
        """
        session = ReplioSession(self, self._document(name))
        self._live.setdefault(name, session)  # what was created or loaded goes first
        return session

    def load(self, name: str) -> ReplioSession:
        """As `read`, and it becomes the current one; where that fails, the current one stays what it is.

        Raises:
            InvalidNameError, SessionNotFoundError, FormatError, OSError: As `read`.
        """
        self._current = self._take_in(ReplioSession(self, self._document(name)))
        return self._current

    def load_or_create(self, name: str | None = None) -> ReplioSession:
        """Load a session if there is one of that name, else create it. None creates one with a made-up name.

        A file that is there and cannot be read is no reason to create one in its place.

        Raises:
            InvalidNameError, FormatError, OSError: As `read`.
        """
        if name is None or not self._is_there(name):
            return self.create(name)
        return self.load(name)

    def save(self, session: ReplioSession | None = None) -> Path | None:
        """Write a session as a whole: either all of it is in the file afterwards, or the file is as it was.

        Results of noisy tools are left out and long ones cut in what is written, not in memory.

        Args:
            session: None is the current one.

        Returns:
            The file; None if there is no current session.

        Raises:
            ConflictError: The file was changed or taken away since it was read or written: nothing is overwritten.
            NameTakenError: The session is new, its name was given, and has a file meanwhile.
            ReadOnlyError: The log is one of turns.
            ValueError: The session is another store's.
            OSError: It cannot be written.

        Rule: Replio sessions, "Serialization-time transforms".
        """
        session = session or self._current
        if session is None:
            return None
        if session._store is not self:
            raise ValueError(f"{session.name}: the session is another store's")
        self._under_free_name(session, session._document.save)
        if session._is_deleted:
            session._is_deleted = False
            self._take_in(session)
        return self.path_of(session.name)

    def list(self) -> builtins.list[str]:
        """The names of all sessions, by code point: `job_`, `ses_`, `sub_`, each of these by time. No file is opened.

        Raises:
            OSError: The folder cannot be read.
        """
        return [name for name, _ in self._files()]

    def infos(self) -> builtins.list[SessionInfo]:
        """A row for each session that can be read, newest first; files that cannot be are in `scan(…).damage`.

        Raises:
            OSError: The folder cannot be read.
        """
        row = _native.scan([("replio", self._folder)], None, None, text=False, usage=False, strict=False)
        return row["infos"]

    def preview(self, session: str | ReplioSession) -> Preview:
        """Who spoke how often in a session, which tools were called, what it is linked with; no session is loaded.

        Args:
            session: Its name, or what is in memory.

        Raises:
            InvalidNameError, SessionNotFoundError, FormatError, OSError: As `read`.
        """
        if isinstance(session, ReplioSession):
            return Preview._of(session._document.preview())
        path = self.path_of(session)
        try:
            return Preview._of(_native.replio_preview(path))
        except FileNotFoundError:
            raise _not_found(session, path) from None

    def rename(self, old: str, new: str) -> None:
        """Give a session another name, in its file, in those of its children and its parent, and in memory.

        Logs of turns are never written: their links to it are left dangling.

        Raises:
            InvalidNameError: Of either name.
            SessionNotFoundError: There is no session of the old name.
            NameTakenError: There is one of the new name.
            FormatError, OSError: The session cannot be read, or not be written.
            ConflictError: A session in memory is not what its file is.
            ReadOnlyError: The log is one of turns.
        """
        if self._is_taken(new):
            raise NameTakenError("a session of that name exists", self.path_of(new))
        session = self._open(old)
        try:
            self._rename(session, new, self._links())
        finally:  # it has its name, too, where only a link could not be changed
            if session.name == new:
                session._is_generated, session._is_given = False, True

    def delete(self, name: str) -> bool:
        """Remove a session's file; False if there is none.

        The session in memory stays, without a file: autosave does not bring it back, `save` does. Links to it stay,
        too.

        Raises:
            InvalidNameError: No session has such a name.
            OSError: It cannot be removed.
        """
        if not self._is_there(name):
            return False
        self.path_of(name).unlink(missing_ok=True)
        session = self._live.pop(name, None)
        if session is not None:
            session._document.detach()
            session._is_deleted = True
        if self._current is not None and self._current.name == name:
            self._current = None
        return True

    @overload
    def export(self, name: str, out: Literal["-"]) -> str: ...
    @overload
    def export(self, name: str, out: None = None) -> Path: ...
    @overload
    def export(self, name: str, out: StrPath) -> Path | str: ...
    def export(self, name: str, out: StrPath | None = None) -> Path | str:
        """Render a session's file as Markdown; the file and what is in memory are left alone.

        Args:
            name: The session.
            out: The file to write, in a folder that is made if need be; what was there is replaced. None is
                `.replio/exports/<name>.md`, and `-` writes nothing and gives the text.

        Returns:
            The file that was written, or the text.

        Raises:
            InvalidNameError, SessionNotFoundError, FormatError, OSError: As `read`.
            ValueError: `out` is where a session would lie.
            OSError: The file cannot be written.

        Rule: Replio sessions, "Exporting to Markdown".
        """
        text = self._document(name).to_markdown()
        if out == "-":
            return text
        path = self.exports_dir / f"{name}.md" if out is None else Path(out)
        place = path.resolve()
        is_ours = place.parent == self._folder.resolve() and place.name.endswith(_SUFFIX)
        if is_ours or (place.is_file() and _is_session(place)):
            raise ValueError(f"{path}: an export never takes the place of a session")
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, text.encode())
        return path

    def finish(self, child: str | ReplioSession) -> None:
        """Note in a session's parent that it has finished.

        Its name is added to the parent's `sub_sessions`, once, and the parent is saved.

        Raises:
            ValueError: The session has no parent.
            InvalidNameError, SessionNotFoundError, FormatError, OSError: Child or parent cannot be read.
            ConflictError, ReadOnlyError: The parent cannot be written.

        Rule: Replio sessions, "File structure".
        """
        child = child if isinstance(child, ReplioSession) else self._open(child)
        if not child.parent_id:
            raise ValueError(f"{child.name}: the session has no parent")
        parent = self._open(child.parent_id)
        if child.name not in parent.sub_sessions:
            name = child.name
            self._under_free_name(parent, lambda target: parent._document.add_sub_session(name, target))

    def children(self, name: str) -> builtins.list[str]:
        """The sessions there that were begun from that one, as their `parent_id` or its `sub_sessions` says.

        Raises:
            InvalidNameError: No session has such a name.
        """
        self.path_of(name)
        return self._links().children(name)

    def parent(self, name: str) -> str | None:
        """The session that this one was begun from; None if it has none, or that is not there.

        Raises:
            InvalidNameError, SessionNotFoundError, FormatError, OSError: As `read`.
        """
        parent = self.preview(name).parent_id
        with suppress(InvalidNameError):
            if parent and self._is_there(parent):
                return parent
        return None

    def dangling(self) -> builtins.list[DanglingLink]:
        """The links that lead to sessions which are not there, as after a deletion."""
        return self._links().dangling()

    def __repr__(self) -> str:
        return f"<ReplioStore {str(self._folder)!r}>"

    def now(self) -> str:
        """The clock's time as sessions have it: ISO 8601, UTC, whole seconds.

        Raises:
            ValueError: The clock gives a time without a zone.
        """
        now = self._clock()
        if now.tzinfo is None:
            raise ValueError(f"the clock gives {now.isoformat()}: expected a time with its zone")
        return now.astimezone(UTC).isoformat(timespec="seconds")

    def path_of(self, name: str) -> Path:
        """The file that a session of that name has or would have.

        Raises:
            InvalidNameError: No file can have the name, or would lie elsewhere.
        """
        try:
            return self._folder / _native.replio_file_name(name)
        except UnicodeEncodeError:
            raise InvalidNameError(f"{name!r}: it has half a surrogate pair in it") from None

    def written(self, session: ReplioSession, change: Callable[[ReplioTarget | None], _T]) -> _T:
        """Make a change to a session, and write it, if the store does that and the session was not deleted.

        Args:
            session: The session.
            change: Is called with where to write it, or None; it changes and writes, or does neither.
        """
        is_written = self._autosave and not session._is_deleted
        return self._under_free_name(session, lambda target: change(target if is_written else None))

    @contextmanager
    def named_after(self, session: ReplioSession, content: object) -> Generator[None]:
        """Name a session in which nothing was said yet after the first user message; not, if that cannot be added.

        Args:
            session: The session.
            content: What the user says; None of another message.
        """
        before = session.name
        self._name_after(session, content)
        try:
            yield
        except BaseException:
            if not session._document.has_file:
                self._rename_live(session, before)
            raise

    def _name_after(self, session: ReplioSession, content: object) -> None:
        slug = _native.slug(content) if isinstance(content, str) else ""
        document = session._document
        if not slug or session._is_given or document.has_turns or not _UNNAMED.fullmatch(session.name):
            return
        if any(message.get("role") == "user" for message in session.messages):
            return
        stamp = "_".join(session.name.split("_")[1:3])
        links = None
        if document.has_file or session.name in self._parents:
            # Whoever names a session that was begun here has been written since then.
            links = self._links(session._begun_ns - _COARSE_NS if session._is_generated else 0)
        self._rename(session, self._free(_native.replio_name("ses", stamp, slug)), links)

    def _under_free_name(self, session: ReplioSession, write: Callable[[ReplioTarget], _T]) -> _T:
        """Write a session; if it is new, and its name was made up and is taken meanwhile, under the next one."""
        while True:
            try:
                return write(self._target(session.name))
            except NameTakenError:
                if not session._is_generated or session._document.has_file:
                    raise
                self._rename(session, self._free(session.name), None)

    def _rename(self, session: ReplioSession, new: str, links: Links | None) -> None:
        """Rename a session, and change all links to it that can be changed.

        Raises:
            SessionError, OSError: It cannot be renamed; or it was, and a link could not be changed.
        """
        old = session.name
        if session._document.has_file:
            session._document.move_file(self.path_of(old), self._target(new))
        self._rename_live(session, new)
        if old in self._parents:
            self._parents.add(new)
            for child in builtins.list(self._live.values()):
                if child.parent_id == old and not child._document.has_file:
                    child._document.set_parent_id(new, None)
        if links is None:
            return
        errors: builtins.list[Exception] = []
        for name in (child for child, parent in links.parents.items() if parent == old):
            there = new if name == old else name
            self._relink(there, lambda document, target: document.set_parent_id(new, target), errors)
        for name in (parent for parent, named in links.sub_sessions.items() if old in named):
            there = new if name == old else name
            self._relink(there, lambda document, target: document.rename_sub_session(old, new, target), errors)
        if errors:
            raise errors[0]

    def _relink(
        self,
        name: str,
        change: Callable[[ReplioDocument, ReplioTarget], None],
        errors: builtins.list[Exception],
    ) -> None:
        """Change a link of a session, in memory and in its file."""
        try:
            session = self._open(name)
            if session.is_read_only:
                return
            try:
                change(session._document, self._target(name))
            except ConflictError:  # what is in memory is not what the file is, and cannot be written any more
                change(self._document(name), self._target(name))
        except (SessionError, OSError) as error:
            errors.append(error)

    def _target(self, name: str) -> ReplioTarget:
        most = min(self.session_tool_max_chars, sys.maxsize)
        # As text: to make that of a path runs Python, and an interrupt there would look like a wrong type.
        return os.fspath(self.path_of(name)), builtins.list(self.noise_tools), most if most > 0 else None

    def _rename_live(self, session: ReplioSession, new: str) -> None:
        if self._live.get(session.name) is session:
            del self._live[session.name]
        session._document.set_name(new)
        self._live[new] = session

    def _open(self, name: str) -> ReplioSession:
        """The session of that name: what is in memory, if something is, else what the file has."""
        return self._live.get(name) or self.read(name)

    def _take_in(self, session: ReplioSession) -> ReplioSession:
        self._live[session.name] = session
        return session

    def _document(self, name: str) -> ReplioDocument:
        path = self.path_of(name)
        try:
            return _native.ReplioDocument.read(path)
        except FileNotFoundError:
            raise _not_found(name, path) from None

    def _links(self, since_ns: int = 0) -> Links:
        return Links.read(self._files(), since_ns)

    def _files(self) -> Iterator[tuple[str, Path]]:
        """The names and files of the sessions that are there, by name."""
        try:
            found = sorted(os.scandir(self._folder), key=lambda entry: entry.name.removesuffix(_SUFFIX))
        except FileNotFoundError:
            return
        for entry in found:
            if entry.name.endswith(_SUFFIX) and not entry.name.startswith(".") and _is_file(entry):
                yield entry.name.removesuffix(_SUFFIX), Path(entry.path)

    def _is_there(self, name: str) -> bool:
        return self.path_of(name).is_file()

    def _is_taken(self, name: str) -> bool:
        live = self._live.get(name)
        return os.path.lexists(self.path_of(name)) or (live is not None and not live._is_deleted)

    def _free(self, name: str) -> str:
        """The name, or the first with a number behind it that no session has."""
        names = (name if number == 1 else f"{name}_{number}" for number in count(1))
        return next(name for name in names if not self._is_taken(name))


def _sessions_folder(folder: Path) -> Path:
    """Where the sessions lie of which a caller names the project, its `.replio`, or their folder itself."""
    if folder.name == _HOME:
        return folder / _SESSIONS
    if folder.name == _SESSIONS and folder.parent.name == _HOME:
        return folder
    # Most projects have documents of their own, which are no sessions.
    is_itself = not (folder / _HOME).exists() and any(map(_is_session, folder.glob(f"[!.]*{_SUFFIX}")))
    return folder if is_itself else folder / _HOME / _SESSIONS


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads in a circle, or where nobody may look
        return False


def _is_session(path: Path) -> bool:
    try:
        _native.replio_preview(path)
    except (FormatError, OSError):
        return False
    return True


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file, or leave what was there."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe, a terminal
        return
    target = path.resolve()
    draft = target.with_name(f".{secrets.token_hex(16)}.tmp")
    try:
        draft.write_bytes(data)
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _stamp(now: str) -> str:
    """A time as names have it."""
    return datetime.fromisoformat(now).strftime("%Y%m%d_%H%M%S")


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _not_found(name: str, path: Path) -> SessionNotFoundError:
    return SessionNotFoundError(f"no session is called {name!r}", path)
