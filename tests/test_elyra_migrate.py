"""Old sessions are brought up to date when they are opened for writing, and changed in nothing else."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from elyra_support import CWD, entry, ids, line, no_leftovers, old_session, records, session, user
from sessiontree import SessionManager
from support import DATA

if TYPE_CHECKING:
    from pathlib import Path

    pass


def test_opening_an_old_session_brings_its_file_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_session())
    path.chmod(0o640)
    with SessionManager.open(path, read_only=True) as manager:
        in_memory = [one.raw for one in manager.get_entries()]
        assert manager.get_header().version == 3
    assert path.read_bytes() == old_session()
    with SessionManager.open(path) as manager:
        assert [one.raw for one in manager.get_entries()] == in_memory
        assert manager.get_header().version == 3
        lines = path.read_bytes().splitlines()
        manager.append_message(user())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert no_leftovers(tmp_path, path)
    old = old_session().splitlines()
    assert len(lines) == len(old)
    assert (lines[1], lines[-1]) == (old[1], old[-1]), "lines that cannot be read are carried over as they are"
    head, *entries = (json.loads(one) for one in (lines[0], *lines[2:-1]))
    assert (head["version"], head["id"], head["cwd"]) == (3, "old", CWD)
    assert [one["parentId"] for one in entries] == [None, *(one["id"] for one in entries[:-1])]
    assert entries[1]["message"]["role"] == "custom"
    assert entries[2]["firstKeptEntryId"] == entries[1]["id"]
    assert "firstKeptEntryIndex" not in entries[2]
    with SessionManager.open(path, read_only=True) as manager:
        assert [one.raw for one in manager.get_entries()][:5] == in_memory


def test_a_session_of_version_2_keeps_its_ids(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    memo = entry("e4000004", "e3000003", message={"role": "hookMessage", "content": "x"})
    path.write_bytes(session(version=2) + line(memo))
    with SessionManager.open(path) as manager:
        assert ids(manager) == ["e1000001", "e2000002", "e3000003", "e4000004"]
    expected = session() + line(memo).replace(b"hookMessage", b"custom")
    assert path.read_bytes() == expected, "what needs no change has none"


def test_only_what_must_change_does(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    odd = b'"message":{"role":"user","content":"cut \\ud83d \xff \\u00e9","n":1e400,"m":1.0}'
    data = (
        b'{"type":"session","id":"old","cwd":"/team/app","keep":1.50}\n{"type": "message",  ' + odd + b', "x":null}\n'
    )
    path.write_bytes(data)
    SessionManager.open(path).close()
    head, message = path.read_bytes().splitlines()
    assert b'"keep":1.50' in head
    assert odd in message
    with SessionManager.open(path, read_only=True) as manager:
        assert [(one.kind, one.line) for one in manager.damage] == [("bytes", 2)]
        assert dict(manager.build_session_context().messages[0])["content"] == "cut \ufffd \ufffd \u00e9"


def test_a_migrated_file_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_session())
    SessionManager.open(path).close()
    data, node = path.read_bytes(), path.stat().st_ino
    SessionManager.open(path).close()
    assert (path.read_bytes(), path.stat().st_ino) == (data, node)


def test_a_link_to_an_old_session_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "store/old.jsonl", tmp_path / "links/s.jsonl"
    for path in (target, link):
        path.parent.mkdir()
    target.write_bytes(old_session())
    link.symlink_to(target)
    with SessionManager.open(link) as manager:
        manager.append_message(user())
    assert link.is_symlink()
    assert b'"version":3' in target.read_bytes()
    assert no_leftovers(link.parent, link)
    assert no_leftovers(target.parent, target)


@pytest.mark.parametrize("version", [b"4", b"3.5", b"99", b'"3"', b'"1"', b"[]", b"true"])
def test_other_versions_are_never_rewritten(tmp_path: Path, version: bytes) -> None:
    path = tmp_path / "s.jsonl"
    data = session().replace(b'"version":3', b'"version":' + version).replace(b'"user"', b'"hookMessage"')
    path.write_bytes(data)
    with SessionManager.open(path) as manager:
        assert ids(manager) == ["e1000001", "e2000002", "e3000003"]
        assert path.read_bytes() == data
        manager.append_message(user())
    assert path.read_bytes().startswith(data)
    assert len(records(path)) == 5


@pytest.mark.parametrize("name", ["v1-linear", "v1-compaction-index", "v2-hook-message"])
def test_old_sessions_of_the_real_program_are_migrated(tmp_path: Path, name: str) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes((DATA / "pi" / name / "input.jsonl").read_bytes())
    with SessionManager.open(path, read_only=True) as manager:
        before = [one.raw for one in manager.get_entries()]
    with SessionManager.open(path) as manager:
        assert [one.raw for one in manager.get_entries()] == before
    assert records(path)[0]["version"] == 3
    with SessionManager.open(path, strict=True) as manager:
        assert [one.raw for one in manager.get_entries()] == before
