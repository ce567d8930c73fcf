"""`sessiontree run`."""

from __future__ import annotations

import codecs
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import NameTakenError, SessionError, SessionManager
from ..events import Run
from ..events.reader import intake_of
from ..record import RECORDED, Recorder
from . import DONE, FAILED, fail
from ._arguments import add_facts_arguments, add_where_arguments, where
from ._child import Child, pieces_of
from ._live import live_view
from ._output import amount, count, dollars, note, print_facts, styled, wants_json
from ._text import visible
from ._times import took

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ..events import Event
    from ._live import View

_CANNOT_RUN, _NOT_FOUND = 126, 127
"""Exit codes, as shells have them, for a program that cannot be started, and one that is not there."""

_STDERR_KEPT = 64 << 10
"""How many bytes of a program's standard error are kept, from its end."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `run` takes."""
    parser.set_defaults(run=run, program=())
    parser.usage = "sessiontree run [options] [FILE | -- COMMAND [ARGUMENT ...]]"
    parser.epilog = (
        "Exits with 0 when the run is ok, and so is COMMAND, whose own code it is otherwise; with 1 when the run "
        "failed, was aborted, or is incomplete; with 127 or 126 when COMMAND is not there, or cannot be started."
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a stream of events, or - (standard input)")
    save = parser.add_mutually_exclusive_group()
    save.add_argument("--save", metavar="FILE", help="keep the run as a session, in a new file")
    save.add_argument("--save-session", action="store_true", help="keep the run as a session of its project")
    add_facts_arguments(parser, "status, final_answer, tool_calls, usage and all else that the run came to")
    add_where_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read the stream, show it meanwhile, and tell what it came to."""
    start = time.monotonic()
    if arguments.program and arguments.file is not None:
        raise ValueError("FILE and COMMAND: expected one of them")
    saved = _Saved(arguments)
    the_run, intake = Run(), intake_of(arguments.file)
    with live_view(the_run) as view:
        stderr = _Stderr(view)
        code: int | None = None

        def take(events: Iterable[Event]) -> None:
            for event in events:
                the_run.feed(event)
                saved.feed(event)

        try:
            with _source(arguments, stderr) as (pieces, child):
                for piece in pieces:
                    take(intake.take(piece))
                    if view is not None:
                        view.refresh()
                take(intake.end())
                code = None if child is None else child.end()
        except _NotStarted as error:
            return fail(error.reason, _NOT_FOUND if isinstance(error.reason, FileNotFoundError) else _CANNOT_RUN)
    the_run.finish(damage=intake.damage, exit_code=code, stderr=None if code is None else stderr.text())
    _tell(arguments, the_run, saved.path, time.monotonic() - start)
    if saved.error is not None:
        return fail(saved.error, FAILED)
    return (code or DONE) if the_run.status == "ok" else FAILED


class _NotStarted(Exception):
    """The program cannot be started."""

    def __init__(self, reason: OSError) -> None:
        super().__init__(reason)
        self.reason = reason


@contextmanager
def _source(arguments: argparse.Namespace, stderr: _Stderr) -> Generator[tuple[Iterator[bytes], Child | None]]:
    """The pieces of the stream, and the program that prints it, if one does."""
    if arguments.program:
        cwd = None if arguments.cwd == os.curdir else arguments.cwd
        try:
            child = Child(arguments.program, cwd, stderr.take)
        except OSError as error:
            if cwd is not None and error.filename == cwd:
                raise
            raise _NotStarted(error) from None
        with child:
            yield child.pieces(), child
    elif arguments.file in (None, "-"):
        if sys.stdin is None or (arguments.file is None and sys.stdin.isatty()):
            raise ValueError("nothing to read: expected FILE, a stream on standard input, or -- COMMAND")
        yield pieces_of(sys.stdin.buffer), None
    else:
        with open(arguments.file, "rb", buffering=0) as file:  # noqa: PTH123  the name as it was given, for errors
            yield pieces_of(file), None


class _Saved:
    """Keeps the run as a session, if that is wanted. Its file is made when there is something to keep.

    Attributes:
        error: Why not all could be kept, or None. The run goes on: an agent is not stopped for a full disk.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._recorder: Recorder | None = None
        self._cwd: str = arguments.cwd
        self._is_wanted: bool = arguments.save is not None or arguments.save_session
        self._path: Path | None = None
        self.error: Exception | None = None
        if arguments.save is not None and os.path.lexists(arguments.save):
            raise NameTakenError("the file exists, and is never overwritten", Path(arguments.save))

    def feed(self, event: Event) -> None:
        """Take the next event."""
        if not self._is_wanted or self.error is not None:
            return
        if event["type"] == "session" and self._recorder is None:
            self._cwd = _folder(event.get("cwd")) or self._cwd
        elif event["type"] in RECORDED:
            try:
                if self._recorder is None:
                    self._recorder = Recorder(self._begin())
                self._recorder.feed(event)
            except (OSError, SessionError) as error:
                self.error = error

    def _begin(self) -> SessionManager:
        if self._arguments.save is not None:
            manager = SessionManager.open(self._arguments.save, cwd=self._cwd)
        else:
            manager = SessionManager.create(self._cwd, **where(self._arguments))
        self._path = manager.get_session_file()
        return manager

    @property
    def path(self) -> Path | None:
        """The session's file; None when nothing was said that makes one."""
        return self._path if self._path is not None and self._path.exists() else None


def _folder(cwd: object) -> str | None:
    """The folder that a header names; None unless it can be one."""
    return cwd if isinstance(cwd, str) and Path(cwd).is_absolute() and "\0" not in cwd else None


class _Stderr:
    """Hands on what a program writes to standard error, and keeps the end of it."""

    def __init__(self, view: View | None) -> None:
        self._view = view
        self._kept = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    def take(self, piece: bytes) -> None:
        self._kept += piece
        del self._kept[:-_STDERR_KEPT]
        text = self._decoder.decode(piece)
        try:
            self._hand_on(text)
        except BrokenPipeError:  # nobody reads it any more: what is still to be written goes nowhere
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), sys.stderr.fileno())

    def _hand_on(self, text: str) -> None:
        if not sys.stderr.isatty():
            print(text, end="", file=sys.stderr, flush=True)
            return
        *lines, begun = (self._begun + text).split("\n")
        self._begun = begun[-_STDERR_KEPT:]
        if lines:
            self._print(lines)

    def _print(self, lines: Sequence[str]) -> None:
        if self._view is not None:
            self._view.print(lines)
        else:
            print("\n".join(map(visible, lines)), file=sys.stderr)

    def text(self) -> str:
        """The end of it."""
        if self._begun:
            self._print([self._begun])
            self._begun = ""
        return self._kept.decode("utf-8", "replace")


def _tell(arguments: argparse.Namespace, the_run: Run, path: Path | None, seconds: float) -> None:
    if wants_json(arguments):
        facts: dict[str, Any] = {**the_run.to_dict(), "session_file": None if path is None else str(path)}
        print_facts(arguments, facts, None)
    elif the_run.final_answer is not None:
        _print_text(the_run.final_answer)
    elif sys.stdout.isatty():
        _print_text(the_run.partial_text, style="2")
    if the_run.status == "incomplete":
        fail(ValueError("incomplete: the stream ended before the run did"), FAILED)
    elif the_run.status != "ok":
        fail(ValueError(f"{the_run.status}: {the_run.error_message or 'the stream does not say why'}"), FAILED)
    damaged = [damage for damage in the_run.damage if not damage.is_note]
    if damaged:
        fail(ValueError(f"{count(len(damaged), 'damaged line')}, the first of them {damaged[0]}"), FAILED)
    note(_summary(the_run, seconds))
    if path is not None:
        note(f"kept in {path}")


def _print_text(text: str, style: str | None = None) -> None:
    """Print a text: to a terminal what it cannot act on, to a program as it is."""
    if not sys.stdout.isatty():
        print(text)
    elif text:
        for line in text.split("\n"):
            shown = visible(line.expandtabs(4))
            print(styled(shown, style) if style else shown)


def _summary(the_run: Run, seconds: float) -> str:
    usage, calls = the_run.usage, the_run.tool_calls
    failed = sum(call.is_error is True for call in calls)
    facts = [
        the_run.status,
        count(len(calls), "tool call") + (f" ({failed} failed)" if failed else ""),
        f"{amount(usage.total_tokens)} tokens",
        dollars(usage.cost_total) or "$0",
        took(seconds),
    ]
    return ", ".join(facts)
