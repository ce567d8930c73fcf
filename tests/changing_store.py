"""A small store, what can become of its files, and whether a catalogue changes what is found in it.

changing_store.py FOLDER CATALOGUE SEED COUNT    a process that does so many things to a store, and compares each time
"""

from __future__ import annotations

import os
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cli_support import conversation, message
from sessiontree import SessionInfo, SessionManager, scan
from support import info_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Change: TypeAlias = "Callable[[Path, int], None]"
"""Does something to a file; the number makes it differ."""

NAMES = ("a.jsonl", "b.jsonl", "c.jsonl", "long.jsonl")
MOMENT = 0.03
"""After which a file's time tells of every further change."""


def answer(number: int, **more: object) -> dict[str, object]:
    """An assistant's message with usage; `id` is the entry's, so that copies count once."""
    used = {"input": number, "output": 1, "totalTokens": number + 1, "cost": {"total": number / 7}}
    return message("assistant", f"Answer {number}", provider="acme", model=f"m{number % 3}", usage=used, **more)


def session(number: int, *, length: int = 3, size: int = 20) -> bytes:
    """A session that differs by its number, with damage in some."""
    entries = [message("user", f"Question {number}"), *(answer(number + one) for one in range(length))]
    entries.append(message("user", "x" * size))
    data = conversation(*entries, session_id=f"s{number}")
    return data + b'{"torn\n\xff\n' * (number % 3 == 0)


def long_session(number: int) -> bytes:
    """One of several blocks of 256 KB."""
    return session(number, length=2500, size=300_000)


def fill(agent: Path) -> None:
    """Write the store."""
    for number, name in enumerate(NAMES):
        path = agent / f"sessions/--p{number % 2}--" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(long_session(number) if name.startswith("long") else session(number))


# What can become of a file


def _data(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _keeping_time(path: Path, data: bytes) -> None:
    """Write in place, and give the file its old time back."""
    facts = path.stat() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    if facts is not None:
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def append(path: Path, number: int) -> None:
    with path.open("ab") as file:
        file.write(session(number).split(b"\n", 1)[1])


def append_much(path: Path, number: int) -> None:
    with path.open("ab") as file:
        file.write(long_session(number).split(b"\n", 1)[1])


def append_half(path: Path, number: int) -> None:
    """A line that somebody is still writing; what is appended next ends it."""
    with path.open("ab") as file:
        file.write(session(number).split(b"\n")[2][: 40 + number % 90])


def complete(path: Path, number: int) -> None:
    del number
    _keeping_time(path, _data(path) + b'"}}\n')


def rewrite_alike(path: Path, number: int) -> None:
    """Another text of the same length, at the same time."""
    digits = bytes(48 + (one + number) % 10 if 48 <= one < 58 else one for one in _data(path)[-300:])
    _keeping_time(path, _data(path)[:-300] + digits)


def change_one_byte(path: Path, number: int) -> None:
    data = bytearray(_data(path))
    if data:
        data[number * 7919 % len(data)] = 32 + number % 90
    _keeping_time(path, bytes(data))


def cut(path: Path, number: int) -> None:
    data = _data(path)
    _keeping_time(path, data[: len(data) * (number % 10) // 10])


def cut_and_grow(path: Path, number: int) -> None:
    """Shorter, and then longer than before, all between two looks."""
    data = _data(path)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data[: len(data) // 2])
    append(path, number)
    append(path, number + 1)


def write_anew(path: Path, number: int) -> None:
    _keeping_time(path, session(number))


def replace(path: Path, number: int) -> None:
    """Another file takes the place, at the same time, and of the same length where that can be."""
    facts = path.stat() if path.exists() else None
    path.parent.mkdir(exist_ok=True)
    other = path.with_suffix(".new")
    other.write_bytes(session(number).ljust(facts.st_size if facts else 0, b" "))
    if facts is not None:
        os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    other.replace(path)


def remove(path: Path, number: int) -> None:
    del number
    path.unlink(missing_ok=True)


def trade_places(path: Path, number: int) -> None:
    """Two files get each other's names."""
    other = path.parent / NAMES[number % len(NAMES)]
    if path.exists() and other.exists() and path != other:
        aside = path.with_suffix(".aside")
        path.rename(aside)
        other.rename(path)
        aside.rename(other)


def make_no_session(path: Path, number: int) -> None:
    """The header becomes something else, or a header again."""
    data = _data(path)
    before, after = (b'"session"', b'"sassion"') if b'"session"' in data[:30] else (b'"sassion"', b'"session"')
    _keeping_time(path, data.replace(before, after, 1))
    del number


def touch(path: Path, number: int) -> None:
    if path.exists():
        os.utime(path, (number, number))
        path.chmod(0o600 + number % 2 * 0o40)


def fork(path: Path, number: int) -> None:
    """A copy with all its entries, and more; each record of usage counts once."""
    copy = path.with_name(f"fork{number % 3}.jsonl")
    path.parent.mkdir(exist_ok=True)
    copy.write_bytes(_data(path).replace(b'"id": "s', b'"id": "f', 1))
    append(copy, number)


CHANGES: Mapping[str, Change] = {
    change.__name__: change
    for change in (
        *(append, append_much, append_half, complete, rewrite_alike, change_one_byte, cut, cut_and_grow, write_anew),
        *(replace, remove, trade_places, make_no_session, touch, fork),
    )
}


# Comparing


@dataclass(frozen=True)
class Found:
    """All that is found in a store."""

    listed: list[SessionInfo]
    facts: list[dict[str, object]]
    scanned: object


def found(agent: Path, catalogue: Path | bool) -> Found:
    listed = SessionManager.list_all(agent_dir=agent, catalogue=catalogue)
    scanned = scan(agent, catalogue=catalogue)
    return Found(listed, [info_facts(info, text=False) for info in listed], scanned)


def assert_same(agent: Path, catalogue: Path) -> None:
    """With the catalogue, twice, all is found that there is without."""
    cold = found(agent, catalogue=False)
    assert found(agent, catalogue) == cold
    assert found(agent, catalogue) == cold


def main(folder: Path, catalogue: Path, seed: int, count: int) -> None:
    chance = random.Random(seed)
    fill(folder)
    for number in range(count):
        name = chance.choice(NAMES)
        path = folder / f"sessions/--p{NAMES.index(name) % 2}--" / name
        CHANGES[chance.choice(sorted(CHANGES.keys() - {"append_much"}))](path, chance.randrange(1000))
        if number % 3 == 0:
            time.sleep(MOMENT)
        assert_same(folder, catalogue)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
