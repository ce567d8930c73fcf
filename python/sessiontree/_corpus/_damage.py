"""What may be wrong with a session file: the faults that docs/reading.md has rules for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._session import File

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._session import Session


class _Place:
    """Somewhere in a file, not in its first line nor its last, where something is to happen."""

    def __init__(self, session: Session) -> None:
        self.r = session.r
        at = self.r.randrange(1, len(session.lines) - 1)
        self.line = session.lines[at]
        self.head = b"".join(line + b"\n" for line in session.lines[:at])
        self.tail = b"".join(b"\n" + line for line in session.lines[at + 1 :]) + b"\n"

    def put(self, line: bytes) -> bytes:
        """The file with that in the line's place."""
        return self.head + line + self.tail

    def insert(self, *lines: bytes) -> bytes:
        """The file with one of `lines` before the line."""
        return self.put(self.r.choice(lines) + b"\n" + self.line)

    def torn(self) -> bytes:
        return self.line[: self.r.randrange(1, len(self.line))]

    def nuls(self) -> bytes:
        return bytes(self.r.randrange(1, 5_000))

    def change(self, pattern: bytes, *templates: bytes) -> bytes:
        """The file with one of `templates` for the first match of `pattern` from here on; the last line has one."""
        return self.head + re.sub(pattern, self.r.choice(templates), self.line + self.tail, count=1)


@dataclass(frozen=True)
class _Fault:
    """One kind of damage.

    Attributes:
        happen: Gives the file's bytes, the fault in them.
        reads: How often the entry of the place is read then.
        is_counted: Whether it counts as damage.
        is_listed: Whether a session is left.
    """

    happen: Callable[[_Place], bytes]
    reads: int = 1
    is_counted: bool = False
    is_listed: bool = True


_IN_TEXT = rb'("(?:text|content|model)":")'
_FAULTS = (
    _Fault(lambda at: at.put(at.torn()), reads=0, is_counted=True),
    _Fault(lambda at: at.put(at.line.replace(b'":', b'"', 1)), reads=0, is_counted=True),  # a lost byte
    _Fault(lambda at: at.put(at.torn() + at.line), reads=0, is_counted=True),  # torn, and tried again
    _Fault(lambda at: at.put(at.torn() + at.nuls()), reads=0, is_counted=True),
    _Fault(lambda at: at.put(at.nuls() + at.line), is_counted=True),
    _Fault(lambda at: at.put(at.line) + at.torn(), is_counted=True),  # a torn last line
    _Fault(lambda at: at.head + at.line + at.tail[1:], is_counted=True),  # two entries on a line
    _Fault(lambda at: at.insert(at.line), reads=2, is_counted=True),  # an id twice
    _Fault(lambda at: at.insert(at.head.partition(b"\n")[0]), is_counted=True),  # a header twice
    _Fault(lambda at: at.insert(b"null", b"[]", b"17", b'"text"', b"{}", b"Killed"), is_counted=True),
    _Fault(lambda at: at.change(_IN_TEXT, b"\\1caf\xe9 ", b"\\1\xff\xfe ", b"\\1\xed\xa0\xbd "), is_counted=True),
    _Fault(lambda at: at.change(_IN_TEXT, rb"\1\\ud83d ", rb"\1\\udc00 ")),
    _Fault(lambda at: at.change(_IN_TEXT, b"\\1a\xe2\x80\xa8b ")),
    _Fault(lambda at: at.change(rb'("parentId":")\w+', rb"\1missing")),
    _Fault(lambda at: at.change(rb'("id":("\w+"),"parentId":)"\w+"', rb"\1\2")),  # its own parent
    _Fault(lambda at: at.change(rb'("usage":{"input":)\d+', rb"\1-5", rb"\g<1>1e400", rb'\1"12"', rb"\1null")),
    _Fault(lambda at: at.put(at.line).replace(b"\n", b"\r\n")),
    _Fault(lambda at: at.insert(b"", b" \t", b"\r")),
    _Fault(lambda at: b"\xef\xbb\xbf" + at.put(at.line)),
    _Fault(lambda at: b'\n{"type":"title","title":"x"}\n' + at.put(at.line)),
    _Fault(lambda at: at.put(at.line)[:-1]),
    _Fault(lambda at: b"", is_listed=False),
    _Fault(lambda at: b" \n\n", is_listed=False),
    _Fault(lambda at: at.put(at.line).partition(b"\n")[2], is_listed=False),  # no header
)


def damaged(session: Session, number: int) -> File:
    """The session's file with a fault in it; from one number to the next another, until all have been had."""
    fault = _FAULTS[number % len(_FAULTS)]
    at = _Place(session)
    messages = session.messages + (fault.reads - 1) * at.line.startswith(b'{"type":"message"')
    data = fault.happen(at)
    return File(session.name, data, session.time_ms, messages * fault.is_listed, fault.is_listed, fault.is_counted)
