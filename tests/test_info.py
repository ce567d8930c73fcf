"""`SessionInfo`: a frozen value whose text is read late."""

from __future__ import annotations

import copy
import os
import pickle
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessiontree import ConflictError, SessionInfo, SessionManager
from support import write

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = (
    b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00.123Z","cwd":"/p","parentSession":"/q.jsonl"}\n'
    b'{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-05T10:01:00Z",'
    b'"message":{"role":"user","content":"one"}}\n'
    b'{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-05T10:02:00Z",'
    b'"message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}\n'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", FILE)


def listed(path: Path, *, text: bool = False) -> SessionInfo:
    (info,) = SessionManager.list_all(session_dir=path.parent, text=text)
    return info


def test_it_is_a_frozen_value(path: Path) -> None:
    info, again = listed(path), listed(path, text=True)
    assert info == again, "the text is left out"
    assert hash(info) == hash(again)
    assert info != "s"
    with pytest.raises(AttributeError):
        info.id = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        SessionInfo()
    write(path, FILE.replace(b"one", b"six"))
    assert listed(path) != info


def test_it_survives_pickling_and_copying(path: Path) -> None:
    for text in (False, True):
        info = listed(path, text=text)
        for again in (pickle.loads(pickle.dumps(info)), copy.deepcopy(info)):
            assert again == info
            assert again.to_dict() == info.to_dict()
            assert again.all_messages_text == "one two"


def test_a_loaded_text_needs_no_file(path: Path) -> None:
    info = pickle.loads(pickle.dumps(listed(path, text=True)))
    path.unlink()
    assert info.all_messages_text == "one two"


def append(path: Path) -> None:
    path.write_bytes(FILE + b"\n")


def rewrite_at_the_same_size_and_time(path: Path) -> None:
    before = path.stat()
    new = path.with_suffix(".new")
    new.write_bytes(FILE.replace(b"one", b"six"))
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(path)


@pytest.mark.parametrize("change", [append, rewrite_at_the_same_size_and_time, Path.unlink])
def test_a_file_that_changed_is_a_conflict(path: Path, change: Callable[[Path], None]) -> None:
    info = listed(path)
    change(path)
    with pytest.raises(ConflictError) as caught:
        _ = info.all_messages_text
    assert caught.value.path == path


def test_a_text_that_cannot_be_read_is_an_os_error(path: Path) -> None:
    info = listed(path)
    path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(OSError, match="symbolic links") as caught:
        _ = info.all_messages_text
    assert caught.value.filename == str(path)


def test_its_fields_as_plain_json(path: Path) -> None:
    info = listed(path)
    assert info.created == datetime(2026, 1, 5, 10, 0, 0, 123_000, UTC)
    assert info.modified == datetime(2026, 1, 5, 10, 2, tzinfo=UTC)
    assert info.parent_session_path == Path("/q.jsonl")
    zero = dict.fromkeys(("input", "output", "cache_read", "cache_write", "total_tokens", "cost_total"), 0)
    assert info.to_dict() == {
        "path": str(path),
        "format": "elyra",
        "id": "s",
        "cwd": "/p",
        "name": None,
        "parent_session_path": "/q.jsonl",
        "created": "2026-01-05T10:00:00.123Z",
        "modified": "2026-01-05T10:02:00.000Z",
        "message_count": 2,
        "first_message": "one",
        "size_bytes": len(FILE),
        "entry_count": 2,
        "leaf_id": "b",
        "tip_count": 1,
        "usage": zero,
        "damage_count": 0,
        "version": 3,
    }


def test_its_repr_is_short_and_says_which(path: Path) -> None:
    write(path, FILE.replace(b"one", b"word " * 10_000))
    text = repr(listed(path))
    assert "id='s'" in text
    assert str(path) in text
    assert len(text) < 300


def test_times_at_the_ends_of_what_a_datetime_holds(path: Path) -> None:
    for time, expected in (
        (b"0001-01-01T00:00:00.001Z", datetime(1, 1, 1, 0, 0, 0, 1000, UTC)),
        (b"9999-12-31T23:59:59.999Z", datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC)),
    ):
        write(path, FILE.replace(b"2026-01-05T10:00:00.123Z", time))
        assert listed(path).created == expected
