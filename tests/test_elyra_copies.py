"""Sessions made from others: a branch as a session of its own, and a fork for another project."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from elyra_support import (
    CWD,
    Json,
    answer,
    entry,
    header,
    ids,
    line,
    no_leftovers,
    old_session,
    records,
    session,
    state,
    user,
)
from sessiontree import EntryNotFoundError, FormatError, SessionManager
from sessiontree.elyra.paths import project_dir
from support import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable

LABELLED = [
    header("source"),
    entry("e1000001", None, message=user("One")),
    entry("e2000002", "e1000001", message=answer("Two")),
    {**entry("e3000003", "e2000002", "label", targetId="e1000001", label="start"), "timestamp": "2026-01-05T10:03:00Z"},
    entry("e4000004", "e3000003", message=user("Four")),
    entry("e5000005", "e4000004", "label", targetId="e2000002", label="gone"),
    entry("e6000006", "e5000005", message=answer("Six")),
    entry("e7000007", "e6000006", "label", targetId="e2000002"),
    entry("e8000008", "e7000007", "compaction", summary="Sum", firstKeptEntryId="e3000003", tokensBefore=9),
    {**entry("e9000009", "e8000008", "label", targetId="e8000008", label="sum"), "timestamp": "2026-01-05T10:09:00Z"},
    entry("ea00000a", "e9000009", message=user("Ten")),
    entry("eb00000b", "e2000002", message=user("On another branch")),
    {**entry("ec00000c", "eb00000b", "label", targetId="e4000004", label="four"), "timestamp": "2026-01-05T10:12:00Z"},
    entry("ed00000d", "ec00000c", "label", targetId="eb00000b", label="not on the path"),
]


def write(path: Path, lines: Iterable[Json]) -> Path:
    path.write_bytes(b"".join(map(line, lines)))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "source.jsonl", LABELLED)


# A branch as a session of its own


def test_a_branch_becomes_a_session(source: Path) -> None:
    data = source.read_bytes()
    with SessionManager.open(source) as manager:
        path = manager.create_branched_session("ea00000a")
        assert path is not None
        assert (manager.get_session_file(), manager.get_session_id()) == (path, records(path)[0]["id"])
        got = (ids(manager), manager.get_leaf_id(), [one.raw for one in manager.get_entries()])
        context = manager.build_session_context()
    assert source.read_bytes() == data
    assert no_leftovers(source.parent, source, path)
    head, *entries = records(path)
    assert list(head) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert (head["cwd"], head["parentSession"]) == (CWD, str(source))
    assert head["id"] != "source"
    assert path.name == f"{re.sub('[:.]', '-', head['timestamp'])}_{head['id']}.jsonl"

    kept, labels = entries[:6], entries[6:]
    assert [one["id"] for one in kept] == ["e1000001", "e2000002", "e4000004", "e6000006", "e8000008", "ea00000a"]
    assert [one["parentId"] for one in entries] == [None, *(one["id"] for one in entries[:-1])]
    assert kept[4]["firstKeptEntryId"] == "e4000004", "the next entry that is kept"
    assert [(one["type"], one["targetId"], one["label"], one["timestamp"]) for one in labels] == [
        ("label", "e1000001", "start", "2026-01-05T10:03:00Z"),
        ("label", "e8000008", "sum", "2026-01-05T10:09:00Z"),
        ("label", "e4000004", "four", "2026-01-05T10:12:00Z"),
    ]
    assert [list(one) for one in labels] == [["type", "id", "parentId", "timestamp", "targetId", "label"]] * 3
    assert len({one["id"] for one in entries}) == 9
    with SessionManager.open(path, read_only=True) as reopened:
        assert got == (ids(reopened), reopened.get_leaf_id(), [one.raw for one in reopened.get_entries()])
        assert reopened.build_session_context() == context
        assert {one: reopened.get_label(one) for one in ("e1000001", "e2000002", "e4000004", "e8000008")} == {
            "e1000001": "start",
            "e2000002": None,
            "e4000004": "four",
            "e8000008": "sum",
        }


def test_the_context_of_a_branch_is_the_same_before_and_after(source: Path) -> None:
    with SessionManager.open(source) as manager:
        manager.branch("ea00000a")
        before = manager.build_session_context()
        manager.create_branched_session("ea00000a")
        assert manager.build_session_context() == before
    assert [one["role"] for one in before.messages] == ["compactionSummary", "user", "assistant", "user"]


def test_a_compaction_whose_boundary_was_a_label(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes((DATA / "cases/27-firstkept-label-fork/input.jsonl").read_bytes())
    with SessionManager.open(path) as manager:
        before = manager.build_session_context().messages
        manager.create_branched_session("e7000007")
        assert manager.build_session_context().messages == before
        assert [one["role"] for one in before] == ["compactionSummary", "user", "assistant", "user"]
        made = ids(manager)
        assert made[:6] == ["e1000001", "e2000002", "e4000004", "e5000005", "e6000006", "e7000007"]
        assert len(made) == 7
        assert manager.get_entries()[4].raw["firstKeptEntryId"] == "e4000004"
        assert manager.get_label("e1000001") == "start"


def test_a_boundary_that_no_kept_entry_follows(tmp_path: Path) -> None:
    """A compaction that kept nothing but a label keeps nothing, or itself, which is the same."""
    lines = [
        header(),
        entry("e1000001", None, message=user("One")),
        entry("e2000002", "e1000001", "label", targetId="e1000001", label="x"),
        entry("e3000003", "e2000002", "compaction", summary="Sum", firstKeptEntryId="e2000002", tokensBefore=9),
        entry("e4000004", "e3000003", message=user("Four")),
    ]
    path = write(tmp_path / "s.jsonl", lines)
    with SessionManager.open(path) as manager:
        before = manager.build_session_context().messages
        manager.create_branched_session("e4000004")
        assert manager.build_session_context().messages == before
        assert [one["role"] for one in before] == ["compactionSummary", "user"]


def test_a_branch_may_end_early_or_at_a_label(source: Path) -> None:
    with SessionManager.open(source) as manager:
        manager.create_branched_session("e3000003")
        assert [(one.type, one.id) for one in manager.get_entries()][:2] == [
            ("message", "e1000001"),
            ("message", "e2000002"),
        ]
        assert manager.get_label("e1000001") == "start"
        assert len(ids(manager)) == 3
    with SessionManager.open(source) as manager:
        manager.create_branched_session("e1000001")
        assert ids(manager)[:1] == ["e1000001"]
        assert manager.get_label("e1000001") == "start"


def test_entries_of_a_branch_are_kept_byte_for_byte(tmp_path: Path) -> None:
    odd = [
        b'{ "type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"cut \\ud83d \xff"},"x":1e9}',
        b'{"type":"label","id":"a2","parentId":"a1","targetId":"zz","label":"nowhere"}',
        b'{"x":[1.0, 2],"parentId" : "a2","id":"a3","t\\u0079pe":"new kind","deep":{"parentId":"a2"}}',
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(header()) + b"\r\n".join(odd) + b"\r\n")
    with SessionManager.open(path) as manager:
        made = manager.create_branched_session("a3")
    assert made is not None
    lines = [one.rstrip() for one in made.read_bytes().splitlines()]
    assert lines[1:] == [odd[0], odd[2].replace(b'"parentId" : "a2"', b'"parentId" : "a1"')]


def test_a_branched_session_goes_on_in_its_own_file(source: Path) -> None:
    data = source.read_bytes()
    with SessionManager.open(source) as manager:
        path = manager.create_branched_session("e2000002")
        assert path is not None
        leaf = manager.get_leaf_id()
        made = manager.append_message(user("On"))
        second = manager.create_branched_session(made)
        assert second is not None
        assert second != path
    assert source.read_bytes() == data
    assert (records(path)[-1]["id"], records(path)[-1]["parentId"]) == (made, leaf)
    assert records(second)[0]["parentSession"] == str(path)


def test_a_session_that_has_no_file_yet_can_be_branched(tmp_path: Path) -> None:
    with SessionManager.create(CWD, tmp_path) as manager:
        first = manager.append_model_change("acme", "acme-1")
        manager.append_session_info("Left")
        path = manager.create_branched_session(first)
        assert path is not None
        assert no_leftovers(tmp_path, path), "written at once"
        assert [one["type"] for one in records(path)] == ["session", "model_change"]
        made = manager.append_custom_entry("state")
    assert records(path)[-1]["id"] == made


def test_in_memory_a_branch_takes_the_place_of_its_session() -> None:
    with SessionManager.in_memory(CWD) as manager:
        old = manager.get_session_id()
        first = manager.append_message(user("One"))
        manager.append_label_change(first, "start")
        second = manager.append_message(answer("Two"))
        manager.append_message(user("Three"))
        assert manager.create_branched_session(second) is None
        assert manager.get_session_id() != old
        assert ids(manager)[:2] == [first, second]
        assert len(ids(manager)) == 3
        assert manager.get_label(first) == "start"
        assert [one.id for one in manager.get_branch(second)] == [first, second]
        assert manager.get_session_file() is None
        manager.append_message(user("On"))
        assert manager.build_session_context().messages == [user("One"), answer("Two"), user("On")]


def test_a_branch_from_an_unknown_entry_makes_no_file(source: Path) -> None:
    with SessionManager.open(source) as manager:
        before = state(manager)
        with pytest.raises(EntryNotFoundError, match="unknown") as caught:
            manager.create_branched_session("unknown")
        assert caught.value.entry_id == "unknown"
        assert state(manager) == before
    assert no_leftovers(source.parent, source)


# A fork


def fork(source: Path, folder: Path) -> Path:
    with SessionManager.fork_from(source, "/team/other", folder) as manager:
        path = manager.get_session_file()
    assert path is not None
    assert no_leftovers(folder, path), "no temporary files"
    return path


def test_a_fork_is_a_copy_for_another_project(source: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    data, times = source.read_bytes(), source.stat()
    with SessionManager.fork_from(source, "/team/other", agent_dir=agent) as manager:
        path = manager.get_session_file()
        assert path is not None
        assert manager.get_cwd() == "/team/other"
        assert manager.get_leaf_id() == "ed00000d"
        assert ids(manager) == [one["id"] for one in LABELLED[1:]]
        assert manager.get_label("e1000001") == "start"
        made = manager.append_message(user("On"))
    assert path.parent == project_dir("/team/other", agent)
    head, *entries = records(path)
    assert list(head) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert (head["version"], head["cwd"], head["parentSession"]) == (3, "/team/other", str(source))
    assert head["id"] != "source"
    assert head["timestamp"] != LABELLED[0]["timestamp"]
    assert path.name == f"{re.sub('[:.]', '-', head['timestamp'])}_{head['id']}.jsonl"
    assert [one["id"] for one in entries] == [*(one["id"] for one in LABELLED[1:]), made]
    assert path.read_bytes().split(b"\n")[1:-2] == data.split(b"\n")[1:-1], "byte for byte"
    assert (source.read_bytes(), source.stat().st_mtime_ns) == (data, times.st_mtime_ns)


ODD = [
    b'{ "type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"cut \\ud83d"} ,"x":1e400}',
    b'{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"caf\xe9 \xff \xe2\x82"}}',
    b'{"type":"new kind","id":"a3","parentId":"a2","x":{"b":1,"a":1,"b":2},"y":123456789012345678901234567890}',
    b'{"type":"message","id":"a1","parentId":"a3","message":{"role":"user","content":"an id again"}}',
    b'{"id":"only an id"}',
    b'{"type":"no id"}',
    b'{"type":"message","id":"\\u0061\\u0034","parentId":"a1","message":null}',
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \t\n", b"\n\n"])
def test_lines_are_forked_byte_for_byte(tmp_path: Path, end: bytes) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(end.join([line(header()).rstrip(), *ODD]))
    path = fork(source, tmp_path / "forks")
    data = path.read_bytes()
    assert data.endswith(b"\n")
    assert [one.rstrip() for one in data.split(b"\n")[1:-1]] == ODD


def test_what_a_fork_leaves_behind(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    junk = [b'{"type":"mess', b"null", b"[1]", b'{"a":1}', b"\xff", line(header("second")).rstrip(), b"  ", b"\0\0"]
    lines = [b'{"junk', line(header()).rstrip()]
    for number, one in enumerate(ODD):
        lines += [one, junk[number]]
    source.write_bytes(b"\n".join([*lines, junk[-1], b'{"type":"message","id":"torn']))
    path = fork(source, tmp_path / "forks")
    assert path.read_bytes().split(b"\n")[1:-1] == ODD
    with SessionManager.open(path, read_only=True) as manager:
        assert {one.kind for one in manager.damage if not one.is_note} == {"bytes", "repeated"}


def test_entries_that_stood_on_one_line_get_one_each(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    head = line(header()).rstrip()
    source.write_bytes(head + ODD[0] + b"\n" + ODD[2] + b" " + line(header("second")).rstrip() + ODD[4] + b"\n")
    path = fork(source, tmp_path / "forks")
    assert path.read_bytes().split(b"\n")[1:-1] == [ODD[0], ODD[2], ODD[4]]


def test_a_mark_at_the_start_is_not_forked(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(b"\xef\xbb\xbf" + session())
    path = fork(source, tmp_path / "forks")
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert path.read_bytes().split(b"\n")[1:] == session().split(b"\n")[1:]


def test_an_old_session_is_forked_as_a_current_one(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(old_session())
    with SessionManager.open(source, read_only=True) as manager:
        expected = [one.raw for one in manager.get_entries()]
    path = fork(source, tmp_path / "forks")
    assert source.read_bytes() == old_session(), "the source stays as it is"
    head, *entries = records(path)
    assert head["version"] == 3
    assert entries == expected


def test_a_version_of_the_future_is_not_lowered(tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(session(version=4))
    path = fork(source, tmp_path / "forks")
    assert records(path)[0]["version"] == 4
    with SessionManager.open(source) as manager:
        branched = manager.create_branched_session("e2000002")
    assert branched is not None
    assert records(branched)[0]["version"] == 4
    assert source.read_bytes() == session(version=4)


def test_a_session_without_entries_can_be_forked(tmp_path: Path) -> None:
    source = write(tmp_path / "source.jsonl", [header()])
    path = fork(source, tmp_path / "forks")
    assert [one["type"] for one in records(path)] == ["session"]
    with SessionManager.open(path) as manager:
        manager.append_custom_entry("state")
    assert len(records(path)) == 2


def test_a_fork_may_be_given_its_id(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "forks"
    with SessionManager.fork_from(source, "/team/other", folder, id="mine") as manager:
        assert manager.get_session_id() == "mine"
    [path] = folder.iterdir()
    assert path.name.endswith("_mine.jsonl")


def test_a_fork_names_its_source_by_an_absolute_path(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = fork(Path(source.name), tmp_path / "forks")
    assert records(path)[0]["parentSession"] == str(source)


@pytest.mark.parametrize("data", [None, b"", b"\n \n", b"no session\n", line(entry("e1", None))])
def test_what_is_no_session_cannot_be_forked(tmp_path: Path, data: bytes | None) -> None:
    source, folder = tmp_path / "source.jsonl", tmp_path / "forks"
    if data is not None:
        source.write_bytes(data)
    with pytest.raises(FileNotFoundError if data is None else FormatError) as caught:
        SessionManager.fork_from(source, "/team/other", folder)
    assert str(source) in str(caught.value)
    assert not folder.exists() or no_leftovers(folder)
    assert source.exists() == (data is not None)


def test_a_fork_for_no_project_is_an_error(source: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cwd"):
        SessionManager.fork_from(source, "", tmp_path / "forks")
    assert no_leftovers(tmp_path, source)


def test_forks_of_one_source_never_meet(source: Path, tmp_path: Path) -> None:
    paths = set()
    for _ in range(50):
        with SessionManager.fork_from(source, "/team/other", tmp_path / "forks") as manager:
            paths.add(manager.get_session_file())
    assert len(paths) == len(list((tmp_path / "forks").iterdir())) == 50


def test_a_fork_of_a_damaged_file_reads_as_its_source(tmp_path: Path) -> None:
    """Every vector: what is read of the copy is what is read of the original."""
    for number, folder in enumerate(sorted((DATA / "pi").iterdir())):
        source = folder / "input.jsonl"
        try:
            with SessionManager.open(source, read_only=True) as manager:
                entries, context = [one.raw for one in manager.get_entries()], manager.build_session_context()
        except FormatError:
            continue
        path = fork(source, tmp_path / f"{number}")
        with SessionManager.open(path, read_only=True) as manager:
            assert [one.raw for one in manager.get_entries()] == entries, folder.name
            assert manager.build_session_context() == context, folder.name
            assert all(one.is_note or one.kind in ("bytes", "repeated") for one in manager.damage), folder.name
        assert json.loads(path.read_bytes().split(b"\n")[0])["parentSession"] == str(source)
