"""A conversation as lines for reading."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from . import _speech
from ._output import amount, count, dollars, styled
from ._sessions import project
from ._table import text_width
from ._text import cells, cut, either, one_line, visible, wrapped
from ._times import local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from .. import Entry
    from .._native import SessionInfo
    from ._speech import Part, Speech

BOLD, DIM = "1", "2"
_INDENT = "  "
ID_CELLS = 36
"""How many cells an id gets at most: enough for a UUID."""

_ROWS = 3
"""How many rows of the screen a line gets at most, where a text is cut."""


def head(info: SessionInfo, *facts: str, branch_cost: float | None = None) -> Iterator[str]:
    """The lines above a transcript: what it is about, where, when, how much.

    Args:
        info: The session.
        facts: What to tell besides; empty ones are left out.
        branch_cost: What the branch has cost, if it is of one.
    """
    size = text_width()
    yield styled(cut(one_line(info.name or info.first_message, size), size), BOLD)
    home = os.path.expanduser("~")  # noqa: PTH111  no error without a home
    usage = info.usage
    spent = f"{amount(usage.total_tokens)} tokens" if usage.total_tokens else ""
    told = [project(info.cwd, home), *facts, _span(info.created, info.modified), spent, dollars(usage.cost_total)]
    if branch_cost is not None and dollars(branch_cost) != dollars(usage.cost_total):
        told.append(f"{dollars(branch_cost) or 'nothing'} of it on this branch")
    for line in (", ".join(visible(fact) for fact in told if fact), visible(str(info.path))):
        yield from (styled(piece, DIM) for piece in _fitted(line, size))


def entry_lines(
    entries: Iterable[Entry], label_of: Callable[[str], str | None], *, full: bool = False
) -> Iterator[str]:
    """The lines of a branch.

    Args:
        entries: From the root on.
        label_of: Gives the label of an entry's id.
        full: Cut nothing.
    """
    size = text_width()
    day: date | None = None
    was_remark = False
    for entry in entries:
        speech = _speech.of_entry(entry, full=full)
        facts: list[str] = []
        if entry.timestamp is not None:
            when = local(entry.timestamp)
            facts.append(_minute(when, day))
            day = when.date()
        label = None
        if entry.id is not None:
            facts.append(cut(visible(entry.id), ID_CELLS))
            label = label_of(entry.id)
        yield from _lines(speech, facts, label, size, after_remark=was_remark)
        was_remark = speech.is_remark


def message_lines(messages: Iterable[Mapping[str, object]], *, full: bool = False) -> Iterator[str]:
    """The lines of messages that a model is sent.

    Args:
        messages: In their order.
        full: Cut nothing.
    """
    size = text_width()
    for message in messages:
        yield from _lines(_speech.of_message(message, full=full), [], None, size, after_remark=False)


def label_mark(label: str | None, limit: int) -> str:
    """A label as it stands beside its entry, in brackets; empty without one.

    Args:
        label: Any text, or None.
        limit: How many cells there are for it.
    """
    return f"[{cut(one_line(label, limit), limit)}]" if label else ""


def _lines(speech: Speech, facts: Sequence[str], label: str | None, size: int, *, after_remark: bool) -> Iterator[str]:
    who = cut(one_line(speech.who, size), size // 2)
    mark = label_mark(label, size // 4)
    if not (speech.is_remark and after_remark):
        yield ""
    if speech.is_remark:
        said = one_line(_speech.gist(speech), size)
        line = _spaced(f"{who}: {said}" if said else who, mark, *facts)
        yield styled(cut(line, size), DIM)
        return
    room = size - cells(_spaced(who, mark)) - 2
    told = _spaced(*facts, one_line(speech.fact, size))
    yield _spaced(
        styled(who, BOLD), styled(mark, BOLD) if mark else "", styled(cut(told, room), DIM) if told and room > 0 else ""
    )
    for part in speech.parts:
        yield from _paragraph(part, _INDENT * (2 if part.is_inner else 1), size)


def _paragraph(part: Part, indent: str, total: int) -> Iterator[str]:
    """A part's lines: indented, on a terminal broken at its width; what is left out is told."""
    size = total - len(indent)
    text = part.lead + part.text.strip("\n")
    lines, left_out = (text.split("\n"), "") if part.limit is None else _excerpt(text, part.limit, size)
    for line in lines:
        for piece in _fitted(visible(line.removesuffix("\r").expandtabs(4)), size):
            shown = piece.rstrip()
            yield f"{indent}{styled(shown, DIM) if part.is_aside else shown}" if shown else ""
    if left_out:
        yield indent + styled(left_out, DIM)


def _excerpt(text: str, limit: int, size: int) -> tuple[list[str], str]:
    """The first lines of a text, long ones cut, and how much is left out, in words."""
    lines = text.split("\n", limit)
    more = lines.pop().count("\n") + 1 if len(lines) > limit else 0
    mark = either("…", "~")
    if limit == 1:
        return [cut(visible(lines[0][: size + 1]), size)], ""
    most = size * _ROWS
    characters = sum(max(0, len(line) - most) for line in lines)
    lines = [line if len(line) <= most else f"{line[:most]}{mark}" for line in lines]
    if more:
        return lines, f"{mark} {count(more, 'more line')}"
    return lines, f"{mark} {count(characters, 'more character')}" if characters else ""


def _fitted(line: str, size: int) -> Iterable[str]:
    """A visible line as it is to be printed: programs get it whole."""
    return wrapped(line, size) if sys.stdout.isatty() else (line,)


def _spaced(*words: str) -> str:
    return "  ".join(word for word in words if word)


def _span(start: datetime | None, end: datetime) -> str:
    last = _minute(local(end), None)
    if start is None:
        return last
    first = _minute(local(start), None)
    return last if first == last else f"{first} to {_minute(local(end), local(start).date())}"


def _minute(when: datetime, day: date | None) -> str:
    """A moment to the minute: its time, and its date unless that is `day`."""
    text = when.isoformat(" ", "minutes")
    return text[11:] if when.date() == day else text
