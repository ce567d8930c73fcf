"""Made-up session files, whole and damaged: once open, they are what the reference says they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import strategies
from cases_open import answer, chain, entry, session, user
from opened import assert_same, manager_facts, reference_facts
from reference_session import open_session
from sessiontree import FormatError, SessionManager, scan
from support import write

if TYPE_CHECKING:
    from pathlib import Path

    from cases_open import Json


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each example's file is written, over the one before."""
    return tmp_path_factory.mktemp("fuzz") / "session.jsonl"


def _assert_opens_as_the_reference_opens(path: Path, data: bytes) -> None:
    write(path, data)
    expected = open_session(data)
    if expected is None:
        with pytest.raises(FormatError):
            SessionManager.open(path, read_only=True)
        return
    with SessionManager.open(path, read_only=True) as manager:
        assert_same(manager_facts(manager), reference_facts(expected))
        assert manager.damage == scan(path).damage
    assert path.read_bytes() == data


@given(data=strategies.session_files())
@settings(max_examples=strategies.EXAMPLES, deadline=None)
def test_a_file_opens_as_the_reference_opens_it(path: Path, data: bytes) -> None:
    _assert_opens_as_the_reference_opens(path, data)


def _said(number: int) -> tuple[str, Json]:
    return "message", {"message": answer(f"a{number}") if number % 2 else user(f"q{number}")}


def _edit(number: int) -> tuple[str, Json]:
    return "context_edit", {"targetId": f"e{number}", "replacement": {"content": str(number)} if number % 3 else None}


def _label(number: int) -> tuple[str, Json]:
    return "label", {"targetId": f"e{number // 2}", "label": str(number) if number % 5 else ""}


_COMPACTION = "compaction", {"summary": "S", "firstKeptEntryId": "e5000", "tokensBefore": 1}
_DEEP = "[" * 50_000 + "1e400" + "]" * 50_000
_OLD_COMPACTION = {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 5_000}

EXTREMES = {
    "a long conversation": chain(*map(_said, range(20_000))),
    "a long conversation, compacted": chain(*map(_said, range(10_000)), _COMPACTION, *map(_said, range(100))),
    "a long conversation, compacted again and again": chain(*[*map(_said, range(20)), _COMPACTION] * 500),
    "a long conversation, edited": chain(*map(_said, range(5_000)), *map(_edit, range(5_000))),
    "a long conversation of version 1": session(
        *({"type": kind, **fields} for kind, fields in map(_said, range(10_000))), _OLD_COMPACTION, version=1
    ),
    "many labels": chain(*map(_label, range(10_000))),
    "a wide tree": session(
        entry("root", None),
        *(
            entry(f"e{number}", "root", timestamp=number if number % 7 else f"2026-01-{31 - number % 31:02}")
            for number in range(10_000)
        ),
    ),
    "many roots": session(*(entry(f"e{number}", None) for number in range(5_000))),
    "a long circle": session(*(entry(f"e{number}", f"e{(number + 1) % 10_000}") for number in range(10_000))),
    "many circles": session(*(entry(f"e{number}", f"e{number ^ 1}") for number in range(5_000))),
    "one id throughout": session(*(entry("e", "e", "label", targetId="e", label=str(n)) for n in range(9_000))),
    "deep values": session(
        f'{{"type":"message","id":"a","message":{{"role":"user","content":{_DEEP}}}}}',
        f'{{"type":"compaction","id":"b","parentId":"a","firstKeptEntryId":"a","systemMessage":{{"content":{_DEEP}}}}}',
        f'{{"type":"context_edit","id":"c","parentId":"b","targetId":"a","replacement":{{"content":{_DEEP}}}}}',
    ),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_file_opens_as_the_reference_opens_it(path: Path, name: str) -> None:
    _assert_opens_as_the_reference_opens(path, EXTREMES[name])
