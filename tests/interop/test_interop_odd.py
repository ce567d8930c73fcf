"""Files that no program writes, of which both sides make the same all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interop.files import HEADER, A, B, entry, header, said
from interop.same import assert_same
from interop.sides import PARTS

if TYPE_CHECKING:
    from interop.files import Both

_SYSTEM = said("aaaaaaaa", None, "You help.", role="system")
_KEPT = {"summary": "S", "firstKeptEntryId": "aaaaaaaa", "tokensBefore": 1}
_COMPACTION = entry("cccccccc", "bbbbbbbb", type="compaction", **_KEPT)

_FILES = {
    "version 2.5": header(version=2.5) + A,
    "version 4": header(version=4) + A,
    "empty session id": header(id="") + A,
    "a later header": HEADER + header(id="other") + A,
    "an entry without a type": HEADER + A + '{"id":"bbbbbbbb","parentId":"aaaaaaaa"}\n',
    "an empty parent": HEADER + A + said("bbbbbbbb", ""),
    "keys escaped and repeated": HEADER + A.replace('"id"', '"id": "bbbbbbbb", "i\\u0064"'),
    "a compaction drops system messages": HEADER + _SYSTEM + B + _COMPACTION,
    "a system message of a compaction": HEADER
    + _SYSTEM
    + B
    + entry("cccccccc", "bbbbbbbb", type="compaction", **_KEPT, systemMessage={"role": "system", "content": "again"}),
    "a system message after a compaction": HEADER + A + B + _COMPACTION + said("dddddddd", "cccccccc", role="system"),
    "two compactions": HEADER + A + B + _COMPACTION + entry("dddddddd", "cccccccc", type="compaction", **_KEPT),
    "a compaction that keeps itself": HEADER
    + A
    + entry("bbbbbbbb", "aaaaaaaa", type="compaction", summary="S", firstKeptEntryId="bbbbbbbb", tokensBefore=1)
    + said("cccccccc", "bbbbbbbb"),
    "no content": HEADER + entry("aaaaaaaa", None, type="message", message={"role": "system", "content": None}),
    "a role of nobody's": HEADER + said("aaaaaaaa", None, role="other"),
    "a message without a role": HEADER + entry("aaaaaaaa", None, type="message", message={"content": "x"}),
    "a custom message without content": HEADER + entry("aaaaaaaa", None, type="custom_message"),
    "an empty summary of a branch": HEADER + entry("aaaaaaaa", None, type="branch_summary", summary=""),
    "edits": HEADER
    + A
    + said("bbbbbbbb", "aaaaaaaa", role="assistant", provider="p", model="m")
    + entry("cccccccc", "bbbbbbbb", type="context_edit", targetId="aaaaaaaa", replacement={"content": "first"})
    + entry("dddddddd", "cccccccc", type="context_edit", targetId="aaaaaaaa", replacement={"content": "second"})
    + entry("eeeeeeee", "dddddddd", type="context_edit", targetId="bbbbbbbb", replacement={"content": "text"}),
    "an edit that omits": HEADER
    + A
    + B
    + entry("cccccccc", "bbbbbbbb", type="context_edit", targetId="aaaaaaaa", replacement=None),
    "an edit of an entry that is not kept": HEADER
    + A
    + B
    + entry("cccccccc", "bbbbbbbb", type="context_edit", targetId="bbbbbbbb", replacement=None)
    + entry("dddddddd", "cccccccc", type="compaction", summary="S", firstKeptEntryId="bbbbbbbb", tokensBefore=1),
    "a label set twice and cleared once": HEADER
    + A
    + B
    + entry("cccccccc", "bbbbbbbb", type="label", targetId="aaaaaaaa", label="one")
    + entry("dddddddd", "cccccccc", type="label", targetId="aaaaaaaa", label="two")
    + entry("eeeeeeee", "dddddddd", type="label", targetId="bbbbbbbb", label="three")
    + entry("ffffffff", "eeeeeeee", type="label", targetId="bbbbbbbb"),
    "a label for nobody": HEADER + A + entry("bbbbbbbb", "aaaaaaaa", type="label", targetId="ffffffff", label="one"),
}


@pytest.mark.parametrize("name", _FILES)
def test_open(both: Both, name: str) -> None:
    ours, theirs = both.read(_FILES[name], *PARTS)
    for parts in (ours, theirs):
        del parts["facts"]["dir"], parts["facts"]["file"]
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", _FILES)
def test_list(both: Both, name: str) -> None:
    ours, theirs = both.rows(_FILES[name])
    assert_same([{**row, "path": ""} for row in ours], [{**row, "path": ""} for row in theirs])
