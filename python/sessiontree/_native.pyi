"""The Rust core, as Python sees it."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self, final

from typing_extensions import disjoint_base

from ._types import Format, HeaderRow, Layout, OnProgress, PreviewRow, ReplioTarget, ScanRow, StrPath, TableName
from .errors import Damage
from .messages import AgentMessage, MessageUsage, SystemMessage
from .usage import Usage

__all__ = [
    "BranchSummaryEntry",
    "CompactionEntry",
    "Context",
    "ContextEditEntry",
    "Contexts",
    "CustomEntry",
    "CustomMessageEntry",
    "Entry",
    "EventReader",
    "LabelEntry",
    "MessageEntry",
    "ModelChangeEntry",
    "ReplioDocument",
    "Session",
    "SessionInfo",
    "SessionInfoEntry",
    "ThinkingLevelChangeEntry",
    "TreeNode",
    "UnknownEntry",
    "UsageEntry",
    "contexts",
    "find_headers",
    "fork_session",
    "open_session",
    "replio_file_name",
    "replio_folded",
    "replio_name",
    "replio_preview",
    "replio_sessions_folder",
    "replio_shared",
    "restore",
    "restore_entry",
    "scan",
    "slug",
    "spent",
    "start_session",
    "table_columns",
    "table_schema",
    "table_stream",
]

@final
class SessionInfo:
    """One session, as a listing shows it.

    Frozen, hashable, and picklable. Equality and `repr` leave `all_messages_text` out.

    Rule: docs/reading.md, "A listing's row".
    """

    @property
    def path(self) -> Path:
        """The session's file."""
    @property
    def format(self) -> Format:
        """Whose format the file has: `elyra` (pi's too) or `replio`."""
    @property
    def id(self) -> str:
        """The id in the header; of a Replio session, its name."""
    @property
    def cwd(self) -> str:
        """The project's folder, from the header; empty when it names none."""
    @property
    def name(self) -> str | None:
        """The name someone gave the session, trimmed; None without one."""
    @property
    def parent_session_path(self) -> Path | None:
        """The session that this one was forked or branched from, as the header names it, or None."""
    @property
    def created(self) -> datetime | None:
        """The header's time (UTC); None when it cannot be read."""
    @property
    def modified(self) -> datetime:
        """The newest user or assistant message's time, else the header's, else the file's (UTC)."""
    @property
    def message_count(self) -> int:
        """How many entries are messages, of whatever role."""
    @property
    def first_message(self) -> str:
        """The text of the first user message that has any, else `"(no messages)"`."""
    @property
    def all_messages_text(self) -> str:
        """The texts of all user and assistant messages, joined by blanks.

        Read from the file at each access, unless the listing was told to load it (`text=True`).

        Raises:
            ConflictError: The file has changed or gone since it was listed.
            OSError: The file cannot be read.
        """
    @property
    def size_bytes(self) -> int:
        """How many bytes were read."""
    @property
    def entry_count(self) -> int:
        """How many entries there are, the header left out."""
    @property
    def leaf_id(self) -> str | None:
        """The id of the entry where the session stands, or None when no entry has one."""
    @property
    def tip_count(self) -> int:
        """How many branches end somewhere: entries without children."""
    @property
    def usage(self) -> Usage:
        """Tokens and cost over all entries, abandoned branches included; each record once."""
    @property
    def damage_count(self) -> int:
        """How much damage the file has; notes do not count."""
    @property
    def version(self) -> int:
        """The file's own format version; 1 when it names none."""
    def to_dict(self) -> dict[str, Any]:
        """All but `all_messages_text`, as plain JSON values: paths as strings, times in ISO 8601."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@disjoint_base
class Entry:
    """One entry of a session.

    Frozen, hashable, and picklable. It stays what it was when it was read, whatever becomes of the session. Two entries
    are equal when their JSON is, byte for byte.

    Rule: Elyra session format, "Entry Base".
    """

    @property
    def type(self) -> str | None:
        """The type, as the file has it; None when it is not a string."""
    @property
    def id(self) -> str | None:
        """The id, or None when it is missing, empty or no string: then the entry is no node of the tree."""
    @property
    def parent_id(self) -> str | None:
        """The id of the entry before it, whether any has it or not; None when it is missing, empty or no string."""
    @property
    def timestamp(self) -> datetime | None:
        """When it was written (UTC); None when that cannot be read."""
    @property
    def raw(self) -> dict[str, Any]:
        """The entry's own JSON, unknown fields included. Read when first asked for, and then kept: do not change it.

        Raises:
            ConflictError: The file is no longer the one that was read.
            OSError: It cannot be read.
        """
    def to_json(self) -> str:
        """The entry's own JSON as text, numbers and all as the file spells them; read at each call."""
    def to_dict(self) -> dict[str, Any]:
        """As `raw`, a new dict at each call."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class MessageEntry(Entry):
    """A message of the conversation.

    Rule: Elyra session format, "SessionMessageEntry".
    """

    @property
    def message(self) -> AgentMessage | None:
        """The message, as the file has it; None when there is none."""

@final
class ModelChangeEntry(Entry):
    """The user switched models.

    Rule: Elyra session format, "ModelChangeEntry".
    """

    @property
    def provider(self) -> str | None:
        """Whose model it is, or None."""
    @property
    def model_id(self) -> str | None:
        """The model, or None."""

@final
class ThinkingLevelChangeEntry(Entry):
    """The user changed the thinking level.

    Rule: Elyra session format, "ThinkingLevelChangeEntry".
    """

    @property
    def thinking_level(self) -> str | None:
        """The level, or None."""

@final
class CompactionEntry(Entry):
    """Sums up what stands before it.

    Rule: Elyra session format, "CompactionEntry".
    """

    @property
    def summary(self) -> str | None:
        """The summary, or None."""
    @property
    def first_kept_entry_id(self) -> str | None:
        """The id of the first entry before it that is still sent to the model, or None."""
    @property
    def tokens_before(self) -> float | None:
        """How many tokens the context had, or None."""
    @property
    def details(self) -> Any:  # noqa: ANN401
        """Whatever made the summary keeps here, or None."""
    @property
    def from_hook(self) -> bool | None:
        """True when an extension made it; None when nothing is said."""
    @property
    def usage(self) -> MessageUsage | None:
        """What making the summary used, or None (newer files)."""
    @property
    def system_message(self) -> SystemMessage | None:
        """The system message from here on, or None (newer files)."""

@final
class BranchSummaryEntry(Entry):
    """Sums up a branch that was left.

    Rule: Elyra session format, "BranchSummaryEntry".
    """

    @property
    def from_id(self) -> str | None:
        """The leaf that was left, `root` where there was none, or None."""
    @property
    def summary(self) -> str | None:
        """The summary, or None."""
    @property
    def details(self) -> Any:  # noqa: ANN401
        """Whatever made the summary keeps here, or None."""
    @property
    def from_hook(self) -> bool | None:
        """True when an extension made it; None when nothing is said."""
    @property
    def usage(self) -> MessageUsage | None:
        """What making the summary used, or None (newer files)."""

@final
class CustomEntry(Entry):
    """State of an extension; the model sees nothing of it.

    Rule: Elyra session format, "CustomEntry".
    """

    @property
    def custom_type(self) -> str | None:
        """Whose it is, or None."""
    @property
    def data(self) -> Any:  # noqa: ANN401
        """The state, or None."""

@final
class CustomMessageEntry(Entry):
    """A message that an extension put in, and that the model sees.

    Rule: Elyra session format, "CustomMessageEntry".
    """

    @property
    def custom_type(self) -> str | None:
        """Whose it is, or None."""
    @property
    def content(self) -> str | list[Any] | None:
        """A text, or a list of blocks; None when it is neither."""
    @property
    def display(self) -> bool | None:
        """Whether people are shown it, or None."""
    @property
    def details(self) -> Any:  # noqa: ANN401
        """What the extension keeps with it, or None."""

@final
class LabelEntry(Entry):
    """A name that someone gave an entry, or took from it.

    Rule: Elyra session format, "LabelEntry".
    """

    @property
    def target_id(self) -> str | None:
        """The entry's id, or None."""
    @property
    def label(self) -> str | None:
        """The name; None or empty when it is taken away."""

@final
class SessionInfoEntry(Entry):
    """Facts about the session: its name.

    Rule: Elyra session format, "SessionInfoEntry".
    """

    @property
    def name(self) -> str | None:
        """The name as it was given, or None."""

@final
class UsageEntry(Entry):
    """Tokens that were used outside any message (newer files)."""

    @property
    def kind(self) -> str | None:
        """What for, or None."""
    @property
    def provider(self) -> str | None:
        """Whose model it was, or None."""
    @property
    def model(self) -> str | None:
        """The model, or None."""
    @property
    def usage(self) -> MessageUsage | None:
        """What was used, or None."""
    @property
    def note(self) -> str | None:
        """A remark, or None."""

@final
class ContextEditEntry(Entry):
    """Changes what the model sees of an earlier entry (newer files)."""

    @property
    def target_id(self) -> str | None:
        """The entry's id, or None."""
    @property
    def replacement(self) -> dict[str, Any] | None:
        """An object whose `content` takes the place of the message's; None: the message is left out."""

@final
class UnknownEntry(Entry):
    """An entry of a type that the format does not have."""

@final
class TreeNode:
    """A node of a session's tree.

    A view: it holds its tree, not its children, so a tree as deep as its file is long is walked, and freed, like any
    other. Two nodes are equal when they are the same one of the same tree.

    Rule: Elyra session format, "Tree Structure".
    """

    @property
    def entry(self) -> Entry:
        """The entry that stands here."""
    @property
    def children(self) -> list[TreeNode]:
        """The nodes below, oldest first; a new list at each access."""
    @property
    def label(self) -> str | None:
        """The entry's label, or None."""
    @property
    def label_timestamp(self) -> datetime | None:
        """When the label was given (UTC); None without one, and when that cannot be read."""
    def to_dict(self) -> list[dict[str, Any]]:
        """This node and all below it as a flat list of plain JSON values, parents first: depth is no limit.

        `parent_id` is the parent's in this list: None for this node.
        """
    def _repr_html_(self) -> str:
        """The node and what is below it, drawn for a notebook: the first 200, indented at forks."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Context:
    """What a model is sent of a branch, as it was when this was made."""

    @property
    def thinking_level(self) -> str:
        """The thinking level."""
    @property
    def model(self) -> tuple[str, str] | None:
        """Provider and model, or None."""
    def joined(self) -> bytes:
        """The messages as one JSON array."""
    def parts(self) -> list[bytes] | None:
        """The messages' JSON, one by one; None where there is only all of it."""

@final
class Contexts:
    """The sessions of a store with their contexts, one after the other."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[SessionInfo, Context]: ...
    @property
    def unreadable(self) -> int:
        """How many files could not be read so far."""

@final
class Session:
    """A session that is open. Calls from several threads wait for each other, Python's lock released."""

    @property
    def path(self) -> Path | None:
        """The session's file, which need not exist yet; None in memory."""
    @property
    def id(self) -> str:
        """The id in the header."""
    @property
    def cwd(self) -> str:
        """The cwd in the header; empty when it names none."""
    @property
    def name(self) -> str | None:
        """The name that the last `session_info` entry gives."""
    @property
    def leaf_id(self) -> str | None:
        """The id of the entry where one stands, or None."""
    def header(self) -> HeaderRow:
        """The header's version (migrated), Unix milliseconds, parent and JSON."""
    def entries(self) -> list[Entry]:
        """All entries, in file order."""
    def entry(self, id: str) -> Entry | None:
        """The entry that has an id, or None."""
    def branch(self, id: str | None) -> list[Entry]:
        """The entries from the root to the one named, or to the leaf."""
    def children(self, id: str | None) -> list[Entry]:
        """The children of an entry, in file order; of None, the roots."""
    def tips(self) -> list[Entry]:
        """The entries without children, in file order."""
    def tree(self) -> list[TreeNode]:
        """The roots of the tree."""
    def label(self, id: str) -> str | None:
        """The label of an entry, or None."""
    def context(self) -> Context:
        """What a model is sent of the branch to the leaf."""
    def is_on_branch(self, id: str) -> bool:
        """Whether an entry is on the branch to the leaf."""
    def usage(self, branch_only: bool) -> Usage:
        """Tokens and cost: of all entries, or of the branch to the leaf alone."""
    def damage(self) -> list[Damage]:
        """All that there is to report."""
    def move_to(self, id: str | None) -> None:
        """Move the leaf to an entry, or to none."""
    def append(self, kind: str, payload: bytes) -> str:
        """Append an entry to the leaf, and move that; `payload` is a JSON object of its own members. Gives its id."""
    def append_summary(self, entry_id: str | None, payload: bytes) -> str:
        """Move the leaf to an entry, or to none, and append a summary of the branch that was left; gives its id."""
    def refresh(self) -> list[Entry]:
        """Take in what others have appended; gives the new entries."""
    def branched(self, leaf_id: str, *, cwd: str, parent_session: str | None, folder: Path | None) -> Session:
        """A new session of the branch to an entry: in a file in the folder, or in memory."""

@final
class ReplioDocument:
    """The document of a session: what its file holds, and what was added since."""

    def __new__(cls, name: str, now: str, parent_id: str) -> Self: ...
    @staticmethod
    def read(path: Path) -> ReplioDocument:
        """Read a session's file."""
    @property
    def name(self) -> str: ...
    @property
    def created_at(self) -> str: ...
    @property
    def updated_at(self) -> str: ...
    @property
    def parent_id(self) -> str: ...
    @property
    def sub_sessions(self) -> list[str]: ...
    @property
    def has_turns(self) -> bool:
        """Whether the log is one of turns, which are only read."""
    @property
    def is_empty(self) -> bool:
        """Whether it holds no message, no error and no permission."""
    @property
    def has_file(self) -> bool:
        """Whether it was read from a file, or written to one."""
    @property
    def has_long_numbers(self) -> bool:
        """Whether a number in it may be larger than 64 bits."""
    @property
    def has_summary(self) -> bool: ...
    @property
    def damage(self) -> list[Damage]:
        """What is odd in its file."""
    def entries(self, list: Literal["messages", "errors", "permissions"], start: int) -> bytes:
        """The entries of `messages`, `errors` or `permissions` that are objects, from that one on, as a JSON list."""
    def shared_messages(self) -> list[Entry]:
        """The messages as entries such as Elyra's, in the words that all formats share."""
    def shared_errors(self) -> list[Entry]:
        """The errors as entries of the type `error`."""
    def append(
        self,
        list: Literal["messages", "errors", "permissions"],
        json: bytes,
        now: str,
        target: ReplioTarget | None,
    ) -> None:
        """Add an entry, a JSON object; with a target, on the disk as well, or not at all. So do all that take one."""
    def detach(self) -> None:
        """Forget the file; the next save makes a new one."""
    def set_name(self, name: str) -> None: ...
    def set_parent_id(self, name: str, target: ReplioTarget | None) -> None:
        """Name the session that it was begun from."""
    def add_sub_session(self, name: str, target: ReplioTarget | None) -> None:
        """Add the name of a session that was begun from it, once."""
    def rename_sub_session(self, old: str, new: str, target: ReplioTarget | None) -> None:
        """Give a session that was begun from it its new name."""
    def save(self, target: ReplioTarget) -> None:
        """Write it: to a new file if it has none, else in the place of its own."""
    def move_file(self, source: Path, target: ReplioTarget) -> None:
        """Give its file another name, which nothing may have yet."""
    def provider_messages(self, *, drop_unanswered: bool, strip: bool, keep_system: bool) -> bytes:
        """The messages that a provider is sent, as a JSON list."""
    def folded(self, count: int) -> bytes:
        """The first messages as they are given to whoever is to sum them up, as a JSON list."""
    def compactable(self, keep: int) -> int | None:
        """How many messages to sum up so that the last `keep` are sent as they are; None if there is nothing to do."""
    def compact(self, summary: str, count: int, command: bytes, now: str, target: ReplioTarget | None) -> int:
        """Put a compaction record into the log, made of `command` if the last message is none; gives its number."""
    def preview(self) -> PreviewRow:
        """What a preview shows of it."""
    def to_markdown(self) -> str:
        """The log as Markdown."""

@final
class EventReader:
    """Finds the lines of a stream that comes in pieces."""

    def __new__(cls, types: AbstractSet[str] | None, *, strict: bool) -> Self: ...
    def feed(self, piece: bytes) -> list[bytes]:
        """Take the next piece; gives the JSON of each line that is now complete, sound and wanted."""
    def finish(self) -> list[bytes]:
        """End the stream; gives what its last line holds, if that had no LF."""
    @property
    def has_failed(self) -> bool:
        """Whether a strict reader has met damage, and gives nothing any more."""
    def damage(self, path: Path) -> list[Damage]:
        """The damage so far, by line; `path` is what the stream is called in it."""

def spent(json: bytes) -> tuple[list[tuple[float, float, float, float, float, float]], list[str]]:
    """The usage records in an object's `usage` and `details.modelUsage`, and the numbers that do not count, in words.

    A record is `(input, output, cache_read, cache_write, total_tokens, cost_total)`.
    """

def open_session(path: Path, cwd: str, *, read_only: bool, strict: bool, fsync: bool, threads: int | None) -> Session:
    """Open a session file, or begin one that does not exist or is empty."""

def start_session(*, id: str | None, cwd: str, parent_session: str | None, folder: Path | None, fsync: bool) -> Session:
    """Begin a session: its file will be in the folder, or it has none."""

def fork_session(
    source: Path, *, id: str | None, cwd: str, parent_session: str | None, folder: Path, fsync: bool
) -> Session:
    """Copy a session's entries into a new file in the folder, and open that."""

def find_headers(sources: list[tuple[Layout, Path]]) -> list[tuple[Path, str, str, int]]:
    """Find sessions by their headers alone: path, id, cwd, and when the file was written, in nanoseconds since 1970."""

def contexts(sources: Sequence[tuple[Layout, StrPath]], threads: int | None) -> Contexts:
    """Build the context of every session that the sources hold, in the order of their paths."""

def restore_entry(json: bytes) -> Entry:
    """The entry that was pickled."""

def scan(
    sources: Sequence[tuple[Layout, StrPath]],
    on_progress: OnProgress | None,
    threads: int | None,
    text: bool,
    usage: bool,
    strict: bool,
    catalogue: StrPath | None = None,
) -> ScanRow:
    """Read every session that the sources hold; with `usage`, add up what all of them used.

    Of files that are as the catalogue knows them, what it knows is taken; what is read is kept there.
    """

def replio_preview(path: Path) -> PreviewRow:
    """What a preview shows of a session's file."""

def replio_sessions_folder(folder: Path) -> Path | None:
    """The folder of Replio's sessions that is meant by a folder: a project's, that in a `.replio`, or itself.

    None if there is none.
    """

def replio_folded(messages: list[bytes]) -> bytes:
    """Messages, each a JSON object, as they are given to whoever is to sum them up, as a JSON list."""

def replio_shared(messages: list[bytes]) -> bytes:
    """Messages, each a JSON object, as messages in the words that all formats share, as a JSON list."""

def replio_file_name(name: str) -> str:
    """The file name of a session."""

def slug(text: str) -> str:
    """A text's first words as the last part of a session's name: `[a-z0-9_-]*`, empty if nothing of it can be there."""

def replio_name(kind: Literal["ses", "job", "sub"], stamp: str, of: str) -> str:
    """The name of a session that began at `stamp`; of a slug, of a job, or of the session that it was begun from."""

def table_stream(name: TableName, infos: Sequence[SessionInfo]) -> object:
    """A new stream of a table's rows over these sessions, as an `arrow_array_stream` capsule."""

def table_schema(name: TableName) -> object:
    """A table's schema, as an `arrow_schema` capsule."""

def table_columns(name: TableName) -> list[str]:
    """The names of a table's columns, in order."""

def restore(state: Mapping[str, Any]) -> SessionInfo:
    """The `SessionInfo` that was pickled."""
