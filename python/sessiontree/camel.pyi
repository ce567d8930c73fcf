"""The package in the spelling of the format's own page. Written by `tests/camel_stub.py`."""

# At run time every class but `SessionManager` is the very one that it is derived from here. So that one may be final,
# and a list of one is a list of the other.
# mypy: disable-error-code="misc, override"
# pyright: reportGeneralTypeIssues=false, reportIncompatibleVariableOverride=false
# pyright: reportIncompatibleMethodOverride=false
# A dict is also an iterable of strings, but no function means that.
# pyright: reportOverlappingOverload=false

import builtins
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypedDict, final, overload

import sessiontree

from ._types import OnProgress, StrPath
from .elyra.find import Deleted
from .messages import AgentMessage, SystemMessage

__all__ = [
    "AmbiguousSessionError",
    "BranchSummaryEntry",
    "CompactionEntry",
    "ConflictError",
    "ContextEditEntry",
    "CustomEntry",
    "CustomMessageEntry",
    "Damage",
    "Entry",
    "EntryNotFoundError",
    "FormatError",
    "InvalidNameError",
    "LabelEntry",
    "MessageEntry",
    "Model",
    "ModelChangeEntry",
    "NameTakenError",
    "ReadOnlyError",
    "Scan",
    "SessionContext",
    "SessionError",
    "SessionHeader",
    "SessionInfo",
    "SessionInfoEntry",
    "SessionManager",
    "SessionNotFoundError",
    "Table",
    "ThinkingLevelChangeEntry",
    "TreeNode",
    "UnknownEntry",
    "Usage",
    "UsageEntry",
    "camel_case",
    "contexts",
    "piAgentDir",
    "scan",
]

def camel_case(name: str) -> str:
    """The rule: `first_kept_entry_id` is `firstKeptEntryId`."""

class AmbiguousSessionError(sessiontree.AmbiguousSessionError, SessionError):
    """A name fits several sessions."""

@final
class BranchSummaryEntry(sessiontree.BranchSummaryEntry, Entry):
    """Sums up a branch that was left."""

    @property
    def fromId(self) -> str | None:
        """The leaf that was left, `root` where there was none, or None."""
    @property
    def fromHook(self) -> bool | None:
        """True when an extension made it."""

@final
class CompactionEntry(sessiontree.CompactionEntry, Entry):
    """Sums up what stands before it."""

    @property
    def firstKeptEntryId(self) -> str | None:
        """The id of the first entry before it that is still sent to the model, or None."""
    @property
    def tokensBefore(self) -> float | None:
        """How many tokens the context had, or None."""
    @property
    def fromHook(self) -> bool | None:
        """True when an extension made it."""
    @property
    def systemMessage(self) -> SystemMessage | None:
        """The system message from here on, or None (newer files)."""

class ConflictError(sessiontree.ConflictError, SessionError):
    """Someone else changed the file, or took it away, since it was read."""

@final
class ContextEditEntry(sessiontree.ContextEditEntry, Entry):
    """Changes what the model sees of an earlier entry (newer files)."""

    @property
    def targetId(self) -> str | None:
        """The entry's id, or None."""

@final
class CustomEntry(sessiontree.CustomEntry, Entry):
    """State of an extension."""

    @property
    def customType(self) -> str | None:
        """Whose it is, or None."""

@final
class CustomMessageEntry(sessiontree.CustomMessageEntry, Entry):
    """A message that an extension put in, and that the model sees."""

    @property
    def customType(self) -> str | None:
        """Whose it is, or None."""

class Damage(sessiontree.Damage):
    """Something wrong in a file that was read all the same."""

    @property
    def isNote(self) -> bool:
        """Whether the file itself is whole: a note counts neither in `damage_count` nor for an exit code."""
    def toDict(self) -> dict[str, Any]:
        """The same facts as plain JSON values, the path as a string."""

class Entry(sessiontree.Entry):
    """One entry of a session."""

    @property
    def parentId(self) -> str | None:
        """The id of the entry before it, whether any has it or not."""
    def toJson(self) -> str:
        """The entry's own JSON as text, numbers and all as the file spells them."""
    def toDict(self) -> dict[str, Any]:
        """As `raw`, a new dict at each call."""

class EntryNotFoundError(sessiontree.EntryNotFoundError, SessionError):
    """No entry of the session has the id `entry_id`."""

    @property
    def entryId(self) -> str: ...

class FormatError(sessiontree.FormatError, SessionError):
    """The bytes are not what the format says."""

class InvalidNameError(sessiontree.InvalidNameError, SessionError):
    """A name or id that no path may be built from."""

@final
class LabelEntry(sessiontree.LabelEntry, Entry):
    """A name that someone gave an entry, or took from it."""

    @property
    def targetId(self) -> str | None:
        """The entry's id, or None."""

@final
class MessageEntry(sessiontree.MessageEntry, Entry):
    """A message of the conversation."""

class Model(sessiontree.Model):
    """Which model, and whose."""

    @property
    def modelId(self) -> str:
        """Such as `claude-sonnet-4-5`."""
    def toDict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""

@final
class ModelChangeEntry(sessiontree.ModelChangeEntry, Entry):
    """The user switched models."""

    @property
    def modelId(self) -> str | None:
        """The model, or None."""

class NameTakenError(sessiontree.NameTakenError, SessionError):
    """A session of that name exists, and is never overwritten."""

class ReadOnlyError(sessiontree.ReadOnlyError, SessionError):
    """The session was opened for reading."""

class Scan(sessiontree.Scan):
    """The sessions that `scan` found, newest first, with what was wrong and what they cost."""

    @property
    def infos(self) -> tuple[SessionInfo, ...]:
        """The sessions."""
    @property
    def damage(self) -> tuple[Damage, ...]:
        """All damage and notes, by path and line."""
    @property
    def usage(self) -> Usage:
        """Tokens and cost of all sessions."""
    @overload
    def __getitem__(self, index: int) -> SessionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SessionInfo, ...]: ...
    def __iter__(self) -> Iterator[SessionInfo]: ...
    def sessions(self) -> Table:
        """A table of the sessions: what the scan itself is for Arrow's consumers that do not take it for a sequence."""
    def entries(self) -> Table:
        """A table of all entries: where each stands, its id, its parent's, its type and its time."""
    def messages(self) -> Table:
        """A table of all messages: who says what, when, and by which model."""
    def toolCalls(self) -> Table:
        """A table of all tool calls: name, arguments as JSON, and what became of each."""
    def usageRecords(self) -> Table:
        """A table of all usage records: tokens and cost by model."""
    def toDict(self) -> dict[str, Any]:
        """All of it as plain JSON values: `sessions`, `damage`, `usage`."""

class SessionContext(sessiontree.SessionContext):
    """Messages, and the settings that go with them."""

    @property
    def thinkingLevel(self) -> str:
        """`off` where the session sets none."""
    @property
    def model(self) -> Model | None:
        """None where the session names none."""
    def __reduce__(self) -> tuple[type[Self], tuple[list[AgentMessage], str, Model | None]]: ...
    def toDict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""

class SessionError(sessiontree.SessionError):
    """Base of every error this package raises."""

class SessionHeader(sessiontree.SessionHeader):
    """The first line of a session's file: facts about the session."""

    @property
    def parentSession(self) -> str | None:
        """The session that it was forked or branched from, as the file names it, or None."""
    def toDict(self) -> dict[str, Any]:
        """The header's own JSON, as a new dict."""

@final
class SessionInfo(sessiontree.SessionInfo):
    """One session, as a listing shows it."""

    @property
    def parentSessionPath(self) -> Path | None:
        """The session that this one was forked or branched from, as the header names it, or None."""
    @property
    def messageCount(self) -> int:
        """How many entries are messages, of whatever role."""
    @property
    def firstMessage(self) -> str:
        """The text of the first user message that has any, else `"(no messages)"`."""
    @property
    def allMessagesText(self) -> str:
        """The texts of all user and assistant messages, joined by blanks."""
    @property
    def sizeBytes(self) -> int:
        """How many bytes were read."""
    @property
    def entryCount(self) -> int:
        """How many entries there are, the header left out."""
    @property
    def leafId(self) -> str | None:
        """The id of the entry where the session stands, or None when no entry has one."""
    @property
    def tipCount(self) -> int:
        """How many branches end somewhere: entries without children."""
    @property
    def usage(self) -> Usage:
        """Tokens and cost over all entries, abandoned branches included."""
    @property
    def damageCount(self) -> int:
        """How much damage the file has."""
    def toDict(self) -> dict[str, Any]:
        """All but `all_messages_text`, as plain JSON values: paths as strings, times in ISO 8601."""

@final
class SessionInfoEntry(sessiontree.SessionInfoEntry, Entry):
    """Facts about the session: its name."""

class _CreateOptions(TypedDict, total=False):
    id: str | None
    parentSession: StrPath | None
    agentDir: StrPath | None
    fsync: bool

class _OpenOptions(TypedDict, total=False):
    cwd: StrPath | None
    readOnly: bool
    strict: bool
    fsync: bool
    threads: int | None

class _ContinueRecentOptions(TypedDict, total=False):
    agentDir: StrPath | None
    fsync: bool

class _InMemoryOptions(TypedDict, total=False):
    fsync: bool

class _ForkFromOptions(TypedDict, total=False):
    id: str | None
    agentDir: StrPath | None
    fsync: bool

class _ListOptions(TypedDict, total=False):
    agentDir: StrPath | None
    threads: int | None
    catalogue: bool | StrPath

class _ListAllOptions(TypedDict, total=False):
    agentDir: StrPath | None
    sessionDir: StrPath | None
    threads: int | None
    text: bool
    catalogue: bool | StrPath

class _FindOptions(TypedDict, total=False):
    sessionDir: StrPath | None
    agentDir: StrPath | None
    catalogue: bool | StrPath

class _DeleteOptions(TypedDict, total=False):
    sessionDir: StrPath | None
    agentDir: StrPath | None

class _NewSessionOptions(TypedDict, total=False):
    parentSession: StrPath | None
    id: str | None

class SessionManager(sessiontree.SessionManager):
    """Finds and lists sessions."""

    @overload
    @classmethod
    def create(
        cls,
        cwd: StrPath,
        sessionDir: StrPath | None = None,
        *,
        id: str | None = None,
        parentSession: StrPath | None = None,
        agentDir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Start a session."""
    @overload
    @classmethod
    def create(cls, cwd: StrPath, options: _CreateOptions, /) -> Self: ...
    @overload
    @classmethod
    def create(cls, cwd: StrPath, sessionDir: StrPath | None, options: _CreateOptions, /) -> Self: ...
    @overload
    @classmethod
    def open(
        cls,
        path: StrPath,
        sessionDir: StrPath | None = None,
        *,
        cwd: StrPath | None = None,
        readOnly: bool = False,
        strict: bool = False,
        fsync: bool = False,
        threads: int | None = None,
    ) -> Self:
        """Open a session's file."""
    @overload
    @classmethod
    def open(cls, path: StrPath, options: _OpenOptions, /) -> Self: ...
    @overload
    @classmethod
    def open(cls, path: StrPath, sessionDir: StrPath | None, options: _OpenOptions, /) -> Self: ...
    @overload
    @classmethod
    def continueRecent(
        cls,
        cwd: StrPath,
        sessionDir: StrPath | None = None,
        *,
        agentDir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Open the session of a project whose file was written last, or start one."""
    @overload
    @classmethod
    def continueRecent(cls, cwd: StrPath, options: _ContinueRecentOptions, /) -> Self: ...
    @overload
    @classmethod
    def continueRecent(cls, cwd: StrPath, sessionDir: StrPath | None, options: _ContinueRecentOptions, /) -> Self: ...
    @overload
    @classmethod
    def inMemory(cls, cwd: StrPath | None = None, *, fsync: bool = False) -> Self:
        """Start a session that has no file."""
    @overload
    @classmethod
    def inMemory(cls, options: _InMemoryOptions, /) -> Self: ...
    @overload
    @classmethod
    def inMemory(cls, cwd: StrPath | None, options: _InMemoryOptions, /) -> Self: ...
    @overload
    @classmethod
    def forkFrom(
        cls,
        sourcePath: StrPath,
        targetCwd: StrPath,
        sessionDir: StrPath | None = None,
        *,
        id: str | None = None,
        agentDir: StrPath | None = None,
        fsync: bool = False,
    ) -> Self:
        """Copy a session into another project, and open the copy."""
    @overload
    @classmethod
    def forkFrom(cls, sourcePath: StrPath, targetCwd: StrPath, options: _ForkFromOptions, /) -> Self: ...
    @overload
    @classmethod
    def forkFrom(
        cls,
        sourcePath: StrPath,
        targetCwd: StrPath,
        sessionDir: StrPath | None,
        options: _ForkFromOptions,
        /,
    ) -> Self: ...
    @overload
    @classmethod
    def list(
        cls,
        cwd: StrPath,
        sessionDir: StrPath | None = None,
        onProgress: OnProgress | None = None,
        *,
        agentDir: StrPath | None = None,
        threads: int | None = None,
        catalogue: bool | StrPath = False,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of one project, newest first."""
    @overload
    @classmethod
    def list(cls, cwd: StrPath, options: _ListOptions, /) -> builtins.list[SessionInfo]: ...
    @overload
    @classmethod
    def list(cls, cwd: StrPath, sessionDir: StrPath | None, options: _ListOptions, /) -> builtins.list[SessionInfo]: ...
    @overload
    @classmethod
    def list(
        cls,
        cwd: StrPath,
        sessionDir: StrPath | None,
        onProgress: OnProgress | None,
        options: _ListOptions,
        /,
    ) -> builtins.list[SessionInfo]: ...
    @overload
    @classmethod
    def listAll(
        cls,
        onProgress: OnProgress | None = None,
        *,
        agentDir: StrPath | None = None,
        sessionDir: StrPath | None = None,
        threads: int | None = None,
        text: bool = False,
        catalogue: bool | StrPath = False,
    ) -> builtins.list[SessionInfo]:
        """List the sessions of all projects, newest first."""
    @overload
    @classmethod
    def listAll(cls, options: _ListAllOptions, /) -> builtins.list[SessionInfo]: ...
    @overload
    @classmethod
    def listAll(cls, onProgress: OnProgress | None, options: _ListAllOptions, /) -> builtins.list[SessionInfo]: ...
    @overload
    @classmethod
    def find(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        sessionDir: StrPath | None = None,
        agentDir: StrPath | None = None,
        catalogue: bool | StrPath = False,
    ) -> SessionInfo:
        """Find a session by path, by id, or by the start of its id if no other has the same."""
    @overload
    @classmethod
    def find(cls, name: StrPath, options: _FindOptions, /) -> SessionInfo: ...
    @overload
    @classmethod
    def find(cls, name: StrPath, cwd: StrPath | None, options: _FindOptions, /) -> SessionInfo: ...
    @overload
    @classmethod
    def delete(
        cls,
        name: StrPath,
        cwd: StrPath | None = None,
        *,
        sessionDir: StrPath | None = None,
        agentDir: StrPath | None = None,
    ) -> Deleted:
        """Delete a session: its file goes to the trash where there is one."""
    @overload
    @classmethod
    def delete(cls, name: StrPath, options: _DeleteOptions, /) -> Deleted: ...
    @overload
    @classmethod
    def delete(cls, name: StrPath, cwd: StrPath | None, options: _DeleteOptions, /) -> Deleted: ...
    @overload
    def newSession(self, *, parentSession: StrPath | None = None, id: str | None = None) -> Path | None:
        """Start a session in this one's place, with the same cwd and folder."""
    @overload
    def newSession(self, options: _NewSessionOptions, /) -> Path | None: ...
    def setSessionFile(self, path: StrPath) -> None:
        """Go on with another session file."""
    def createBranchedSession(self, leafId: str) -> Path | None:
        """Take the branch to an entry out into a session of its own, and go on with that."""
    def refresh(self) -> builtins.list[Entry]:
        """Take in what others have appended to the file."""
    def appendMessage(self, message: AgentMessage | Mapping[str, Any]) -> str:
        """Append a message."""
    def appendThinkingLevelChange(self, level: str) -> str:
        """Record that the thinking level is another one."""
    def appendModelChange(self, provider: str, modelId: str) -> str:
        """Record that the model is another one."""
    def appendCompaction(
        self,
        summary: str,
        firstKeptEntryId: str,
        tokensBefore: int,
        details: object = None,
        fromHook: bool | None = None,
    ) -> str:
        """Append a summary of what stands before."""
    def appendCustomEntry(self, customType: str, data: object = None) -> str:
        """Append state of an extension, which the model does not see."""
    def appendSessionInfo(self, name: str) -> str:
        """Name the session."""
    def appendCustomMessageEntry(
        self,
        customType: str,
        content: str | builtins.list[Any],
        display: bool,
        details: object = None,
    ) -> str:
        """Append a message of an extension, which the model sees."""
    def appendLabelChange(self, targetId: str, label: str | None) -> str:
        """Give an entry a label, or take it away."""
    def appendUsage(
        self,
        kind: str,
        provider: str,
        model: str,
        usage: Mapping[str, Any],
        note: str | None = None,
    ) -> str:
        """Record tokens that were used outside any message (newer files)."""
    def appendContextEdit(self, targetId: str, replacement: Mapping[str, Any] | None) -> str:
        """Change what the model sees of an earlier entry (newer files)."""
    def getLeafId(self) -> str | None:
        """The id of the entry where one stands, to which the next one is appended."""
    def getLeafEntry(self) -> Entry | None:
        """The entry where one stands."""
    def getEntry(self, id: str) -> Entry | None:
        """The entry that has an id: the last one, where several have it."""
    def getBranch(self, fromId: str | None = None) -> builtins.list[Entry]:
        """The entries from the root to one of them."""
    def getTree(self) -> builtins.list[TreeNode]:
        """The roots of the tree, in file order."""
    def getChildren(self, parentId: str | None) -> builtins.list[Entry]:
        """The entries that hang from one, in file order."""
    def getTips(self) -> builtins.list[Entry]:
        """The entries without children, in file order: the ends of all branches."""
    def getLabel(self, id: str) -> str | None:
        """The label of an entry, or None."""
    def branch(self, entryId: str) -> None:
        """Move the leaf to an entry: the next one becomes its child."""
    def resetLeaf(self) -> None:
        """Move the leaf to before all entries: the next one becomes a root."""
    def branchWithSummary(
        self,
        entryId: str | None,
        summary: str,
        details: object = None,
        fromHook: bool | None = None,
    ) -> str:
        """Move the leaf to an entry, and append a summary of the branch that was left there."""
    def buildSessionContext(self) -> SessionContext:
        """What a model is sent of the branch to the leaf."""
    def getEntries(self) -> builtins.list[Entry]:
        """All entries in file order, those without an id too."""
    def getHeader(self) -> SessionHeader:
        """The header, of the current version."""
    def getSessionName(self) -> str | None:
        """The name that someone gave the session, trimmed."""
    def getCwd(self) -> str:
        """The working directory that this was made with."""
    def getSessionDir(self) -> Path | None:
        """The folder for files made from this session."""
    def getSessionId(self) -> str:
        """The id in the header."""
    def getSessionFile(self) -> Path | None:
        """The session's file, which need not exist yet."""
    def isPersisted(self) -> bool:
        """Whether the session has a file, or will have one."""
    def usage(self, branchOnly: bool = False) -> Usage:
        """Tokens and cost, each record once."""
    @property
    def damage(self) -> tuple[Damage, ...]:
        """All that is wrong with the file, or remarkable in it, by line."""

class SessionNotFoundError(sessiontree.SessionNotFoundError, SessionError):
    """No session has that name."""

    @property
    def otherProject(self) -> str | None: ...

class Table(sessiontree.Table):
    """A table of what some sessions hold, which Arrow's consumers take as it is: pyarrow, polars, pandas, duckdb."""

    @property
    def infos(self) -> tuple[SessionInfo, ...]:
        """The sessions."""

@final
class ThinkingLevelChangeEntry(sessiontree.ThinkingLevelChangeEntry, Entry):
    """The user changed the thinking level."""

    @property
    def thinkingLevel(self) -> str | None:
        """The level, or None."""

@final
class TreeNode(sessiontree.TreeNode):
    """A node of a session's tree."""

    @property
    def entry(self) -> Entry:
        """The entry that stands here."""
    @property
    def children(self) -> list[TreeNode]:
        """The nodes below, oldest first."""
    @property
    def labelTimestamp(self) -> datetime | None:
        """When the label was given (UTC)."""
    def toDict(self) -> list[dict[str, Any]]:
        """This node and all below it as a flat list of plain JSON values, parents first: depth is no limit."""

@final
class UnknownEntry(sessiontree.UnknownEntry, Entry):
    """An entry of a type that the format does not have."""

class Usage(sessiontree.Usage):
    """Tokens used and their cost, summed over usage records."""

    @property
    def cacheRead(self) -> float:
        """Tokens read from a provider's cache."""
    @property
    def cacheWrite(self) -> float:
        """Tokens written to it."""
    @property
    def totalTokens(self) -> float:
        """The sum of the records' own `totalTokens`."""
    @property
    def costTotal(self) -> float:
        """US dollars."""
    @property
    def byModel(self) -> dict[str, Usage]:
        """The same by `provider/model`."""
    def toDict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""

@final
class UsageEntry(sessiontree.UsageEntry, Entry):
    """Tokens that were used outside any message (newer files)."""

class _ContextsOptions(TypedDict, total=False):
    threads: int | None

@overload
def contexts(
    source: StrPath | Iterable[StrPath] | None = None,
    *,
    threads: int | None = None,
) -> Iterator[tuple[SessionInfo, SessionContext]]:
    """Build the context of every session of a store, in parallel, in bounded memory."""

@overload
def contexts(options: _ContextsOptions, /) -> Iterator[tuple[SessionInfo, SessionContext]]: ...
@overload
def contexts(
    source: StrPath | Iterable[StrPath] | None,
    options: _ContextsOptions,
    /,
) -> Iterator[tuple[SessionInfo, SessionContext]]: ...
def piAgentDir() -> Path:
    """Pi's agent folder: what `PI_CODING_AGENT_DIR` names, else `~/.pi/agent`."""

class _ScanOptions(TypedDict, total=False):
    onProgress: OnProgress | None
    threads: int | None
    strict: bool
    catalogue: bool | StrPath

@overload
def scan(
    source: StrPath | Iterable[StrPath] | None = None,
    *,
    onProgress: OnProgress | None = None,
    threads: int | None = None,
    strict: bool = False,
    catalogue: bool | StrPath = False,
) -> Scan:
    """Read every session of a store, in parallel, in bounded memory."""

@overload
def scan(options: _ScanOptions, /) -> Scan: ...
@overload
def scan(source: StrPath | Iterable[StrPath] | None, options: _ScanOptions, /) -> Scan: ...
