"""The command as its users meet it: in a pipe or on a terminal, in a home with small sessions."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COMMAND = (sys.executable, "-m", "sessiontree")

SLOW = """
import signal, sys, time
import rich.progress  # so that on a busy machine, too, there is time left to see the bar
from sessiontree import _native, cli

fast = _native.scan

def scan(sources, on_progress, *more, **options):
    if on_progress is not None:
        on_progress(1, 4)
    time.sleep(1)
    return fast(sources, on_progress, *more, **options)

_native.scan = scan
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born without
sys.exit(cli.main())
"""
"""The command, with a scan that takes more than a second."""

_OUR_OWN = re.compile(r"\x1b\[[012]m")
_CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")
_VARIABLES = re.compile(r"ELYRA_|PI_|PYTHON|XDG_|(COLUMNS|LINES|NO_COLOR|FORCE_COLOR|TERM)$")


def ago(**span: float) -> str:
    """The time a span before now, as session files have it."""
    return f"{(datetime.now(UTC) - timedelta(**span)).isoformat(timespec='milliseconds')[:-6]}Z"


def session(
    session_id: str = "s1",
    *,
    cwd: str = "/team/app",
    time: str = "2026-01-05T10:00:00.000Z",
    name: str | None = None,
    text: str = "Hello",
    answers: int = 1,
    tokens: float = 0,
    cost: float = 0,
) -> bytes:
    """A session's file: a question and its answers, the first of which uses the tokens."""
    message = {"role": "user", "content": text}
    answer: dict[str, Any] = {"role": "assistant", "content": "Done"}
    used = {"usage": {"totalTokens": tokens, "cost": {"total": cost}}}
    entries: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session_id, "timestamp": time, "cwd": cwd},
        {"type": "message", "id": "e0", "parentId": None, "timestamp": time, "message": message},
    ]
    for number in range(answers):
        links = {"id": f"e{number + 1}", "parentId": f"e{number}", "timestamp": time}
        entries.append({"type": "message", **links, "message": answer if number else answer | used})
    if name is not None:
        entries.append({"type": "session_info", "id": "e", "parentId": f"e{answers}", "name": name})
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def message(role: str, content: object, **more: object) -> dict[str, Any]:
    """An entry with a message; of `more`, `id` and `parentId` are the entry's, the others the message's."""
    links: dict[str, Any] = {name: more.pop(name) for name in ("id", "parentId") if name in more}
    return {"type": "message", **links, "message": {"role": role, "content": content, **more}}


def conversation(*entries: dict[str, Any], session_id: str = "s1", cwd: str = "/team/app") -> bytes:
    """A session's file, of any entries: `e1`, `e2` and so on, each a minute after the one before, and its child."""
    time = "2026-01-05T{:02}:{:02}:00.000Z"
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": time.format(10, 0), "cwd": cwd}
    lines: list[dict[str, Any]] = [header]
    before = None
    for number, entry in enumerate(entries, 1):
        own = {"id": f"e{number}", "parentId": before, "timestamp": time.format(10 + number // 60, number % 60)}
        lines.append({**own, **entry})
        before = lines[-1]["id"]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


DAMAGED = session("damaged") + b'{"type":"mess\n'
REMARKED = session("remarked").replace(b"null", b'"gone"')
"""A whole file, with something to remark on in line 2."""


@dataclass(frozen=True)
class Shown:
    """What a run left behind.

    Attributes:
        code: Its exit code.
        raw: All that was sent to the terminal.
        elsewhere: What went to the stream that was no terminal, if there was one.
    """

    code: int
    raw: str
    elsewhere: str

    @property
    def lines(self) -> list[str]:
        """The lines without the styles that the command itself gives them."""
        return _OUR_OWN.sub("", self.raw).split("\r\n")

    def screen(self) -> list[str]:
        """What is seen in the end, as a terminal wide enough makes of it, the cursor's line last."""
        rows, row, column = [""], 0, 0
        for argument, final, end, text in _CONTROL.findall(self.raw):
            if end == "\r":
                column = 0
            elif end == "\n":
                row += 1
                rows += [""] * (row == len(rows))
            elif final == "A":
                row -= int(argument or 1)
            elif final == "K":
                assert argument == "2", "the whole line, or this is too simple a terminal"
                rows[row] = ""
            elif text:
                rows[row] = rows[row].ljust(column)[:column] + text + rows[row][column + len(text) :]
                column += len(text)
            else:
                assert final in "mhl", f"this is too simple a terminal for {final}"
        return [one.rstrip() for one in rows[: row + 1]]


@dataclass(frozen=True)
class Home:
    """A user's home; all of the user's sessions are in it.

    Attributes:
        folder: Where it is.
        variables: What the command finds in its environment, besides what is always there.
    """

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def given(self, **variables: str) -> Home:
        """The same home, with more variables in the environment."""
        return replace(self, variables={**self.variables, **variables})

    @property
    def agent(self) -> Path:
        return self.folder / ".elyra/agent"

    def add(self, name: str, data: bytes, *, cwd: str = "/team/app", agent: Path | None = None) -> Path:
        """Write a session into its project's folder."""
        folder = (agent or self.agent) / "sessions" / f"--{cwd.strip('/').replace('/', '-')}--"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.jsonl"
        path.write_bytes(data)
        return path

    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not _VARIABLES.match(name)}
        return inherited | {"HOME": str(self.folder), "TZ": "UTC", "TERM": "xterm-256color", **self.variables}

    def run(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        command: Sequence[str] = COMMAND,
    ) -> subprocess.CompletedProcess[str]:
        """Run the command without a terminal."""
        return subprocess.run(
            [*command, *arguments],
            cwd=cwd or self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )

    def rows(self, *arguments: str | Path) -> list[dict[str, Any]]:
        """What the command gives as JSON, a line a row; it must have gone well."""
        done = self.run(*arguments, "--jsonl")
        assert (done.returncode, done.stderr) == (0, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def ids(self, *arguments: str | Path) -> list[str]:
        """The ids of the sessions that are listed, in that order."""
        return [row["id"] for row in self.rows("list", *arguments)]

    def on_terminal(
        self,
        *arguments: str | bytes | Path,
        columns: int = 80,
        lines: int = 24,
        elsewhere: str | None = None,
        interrupt_at: str | None = None,
        interrupt: signal.Signals = signal.SIGINT,
        typed: str = "",
        command: Sequence[str] = COMMAND,
    ) -> Shown:
        """Run the command on a terminal of that size.

        Args:
            arguments: The command's arguments.
            columns: Cells in a line.
            lines: Lines on the screen.
            elsewhere: `stdout` or `stderr`, if one is redirected into a file.
            interrupt_at: Interrupt the command when this has been sent to the terminal.
            interrupt: The signal that does it.
            typed: What the user has typed; the terminal shows it, too.
            command: What to run.
        """
        import fcntl
        import pty
        import termios

        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.write(ours, typed.encode())
        with tempfile.TemporaryFile() as file:
            streams: dict[str, Any] = {"stdout": its, "stderr": its} | ({elsewhere: file} if elsewhere else {})
            process = subprocess.Popen(
                [*command, *arguments], cwd=self.folder, env=self.environment(), stdin=its, **streams
            )
            os.close(its)
            raw = b""
            for chunk in iter(lambda: _read(ours), b""):
                raw += chunk
                if interrupt_at and interrupt_at.encode() in raw:
                    process.send_signal(interrupt)
                    interrupt_at = None
            os.close(ours)
            code = process.wait(timeout=60)
            file.seek(0)
            return Shown(code, raw.decode(), file.read().decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError as error:  # how Linux says that nobody has it open any more
        if error.errno != errno.EIO:
            raise
        return b""


def cells(text: str) -> int:
    """How many cells the text takes on a terminal that joins no characters."""
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if character == "\ufe0f":  # makes an emoji of what is before it
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def dangerous(text: str) -> set[str]:
    """The characters that a terminal may act on, or that turn the order of others around."""
    return {
        character
        for character in text
        if unicodedata.category(character) in ("Cc", "Cs", "Cn", "Zl", "Zp")
        or character in "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    }
