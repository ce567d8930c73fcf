"""Which file a `SessionManager` writes to: new ones, empty ones, others, the newest, and none."""

from __future__ import annotations

import os
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from elyra_support import (
    CWD,
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
from sessiontree import (
    FormatError,
    InvalidNameError,
    NameTakenError,
    SessionManager,
)
from sessiontree.elyra.paths import project_dir

UUID_7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())
    return path


# A new session's file


def test_a_new_session_is_not_on_disk_until_it_is_worth_it(tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    with SessionManager.create(CWD, agent_dir=agent) as manager:
        path = manager.get_session_file()
        assert path is not None
        first = [
            manager.append_model_change("acme", "acme-1"),
            manager.append_thinking_level_change("high"),
            manager.append_session_info("Named"),
            manager.append_custom_entry("state", 1),
            manager.append_message({"role": "toolResult", "toolCallId": "c", "content": []}),
            manager.append_message({"role": "bashExecution", "command": "ls"}),
            manager.append_custom_message_entry("memo", "x", True),
        ]
        first.append(manager.append_label_change(first[0], "start"))
        assert ids(manager) == first
        assert not path.exists()
        assert list(tmp_path.rglob("*.jsonl")) == []
        last = manager.append_message(user())
        assert [record["id"] for record in records(path)[1:]] == [*first, last]
        more = manager.append_custom_entry("state", 2)
        assert [record["id"] for record in records(path)[1:]] == [*first, last, more]
        assert no_leftovers(path.parent, path)
    assert path.parent == project_dir(CWD, agent)


@pytest.mark.parametrize("message", [user(), answer()])
def test_the_first_message_of_a_user_or_an_assistant_makes_the_file(tmp_path: Path, message: dict[str, Any]) -> None:
    with SessionManager.create(CWD, tmp_path) as manager:
        manager.append_message(message)
        path = manager.get_session_file()
    assert path is not None
    assert path.parent == tmp_path
    assert [record["type"] for record in records(path)] == ["session", "message"]


def test_a_new_sessions_header_and_path(tmp_path: Path) -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    with SessionManager.create(CWD, tmp_path) as manager:
        session_id, path = manager.get_session_id(), manager.get_session_file()
        manager.append_message(user())
        assert manager.is_persisted()
        assert manager.get_session_dir() == tmp_path
        assert manager.get_cwd() == CWD
    assert path is not None
    head = records(path)[0]
    assert UUID_7.fullmatch(session_id)
    assert list(head) == ["type", "version", "id", "timestamp", "cwd"], "the order of the keys counts"
    assert (head["version"], head["id"], head["cwd"]) == (3, session_id, CWD)
    assert TIMESTAMP.fullmatch(head["timestamp"])
    assert before <= datetime.fromisoformat(head["timestamp"]) <= datetime.now(UTC)
    assert path.name == f"{re.sub('[:.]', '-', head['timestamp'])}_{session_id}.jsonl"
    assert abs(int(session_id.replace("-", "")[:12], 16) / 1000 - time.time()) < 60, "version 7 begins with the time"


def test_a_session_is_made_with_an_id_and_a_parent(tmp_path: Path) -> None:
    with SessionManager.create(CWD, tmp_path, id="my.own_id-1", parent_session="/team/parent.jsonl") as manager:
        manager.append_message(user())
        path = manager.get_session_file()
        assert str(manager.get_header().parent_session) == "/team/parent.jsonl"
    assert path is not None
    head = records(path)[0]
    assert list(head) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert (head["id"], head["parentSession"]) == ("my.own_id-1", "/team/parent.jsonl")
    assert path.name.endswith("_my.own_id-1.jsonl")


def test_a_relative_cwd_is_written_as_an_absolute_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SessionManager.create("project", tmp_path / "sessions") as manager:
        manager.append_message(user())
        path = manager.get_session_file()
    assert path is not None
    assert records(path)[0]["cwd"] == str(tmp_path / "project")


def test_an_empty_cwd_is_an_error(tmp_path: Path) -> None:
    for make in (SessionManager.create, SessionManager.continue_recent):
        with pytest.raises(ValueError, match="cwd"):
            make("", tmp_path)
    assert no_leftovers(tmp_path)


BAD_IDS = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "/x",
    ".x",
    "x.",
    "-x",
    "x-",
    "_x",
    "x_",
    "a b",
    "a\n",
    "a\0",
    "\u00e9",
    "\ud83d",
    "a:b",
]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_that_no_path_may_be_built_from_is_an_error(tmp_path: Path, bad: str) -> None:
    folder = tmp_path / "deep/sessions"
    source = tmp_path / "source.jsonl"
    source.write_bytes(session())
    with pytest.raises(InvalidNameError):
        SessionManager.create(CWD, folder, id=bad)
    with pytest.raises(InvalidNameError):
        SessionManager.fork_from(source, CWD, folder, id=bad)
    with SessionManager.create(CWD, folder) as manager:
        before = state(manager)
        with pytest.raises(InvalidNameError):
            manager.new_session(id=bad)
        assert state(manager) == before
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [source]


@pytest.mark.parametrize("good", ["a", "A1", "0.9", "a_b-c.d", "x" * 220])
def test_ids_that_may_be_given(tmp_path: Path, good: str) -> None:
    with SessionManager.create(CWD, tmp_path, id=good) as manager:
        manager.append_message(user())
        assert manager.get_session_id() == good


def test_what_is_in_the_way_is_never_overwritten(tmp_path: Path) -> None:
    with SessionManager.create(CWD, tmp_path) as manager:
        manager.append_model_change("acme", "acme-1")
        path = manager.get_session_file()
        assert path is not None
        before = state(manager)
        path.write_bytes(b"someone else's")
        for message in (user(), answer()):
            with pytest.raises(NameTakenError) as caught:
                manager.append_message(message)
            assert caught.value.filename == str(path)
        assert path.read_bytes() == b"someone else's"
        assert state(manager) == before
        assert no_leftovers(tmp_path, path)
        path.unlink()
        made = manager.append_message(user())
    assert [record.get("id") for record in records(path)[1:]] == [*(one[0] for one in before["entries"]), made]


def test_a_link_to_nowhere_is_in_the_way_too(tmp_path: Path) -> None:
    with SessionManager.create(CWD, tmp_path) as manager:
        path = manager.get_session_file()
        assert path is not None
        path.symlink_to(tmp_path / "nowhere")
        with pytest.raises(NameTakenError):
            manager.append_message(user())
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["made.jsonl", "not/there/yet.jsonl"])
def test_a_path_that_does_not_exist_is_a_new_session(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with SessionManager.open(path, cwd=CWD) as manager:
        assert manager.get_session_file() == path
        assert ids(manager) == []
        manager.append_model_change("acme", "acme-1")
        assert not path.exists()
        manager.append_message(user())
    assert [record["type"] for record in records(path)] == ["session", "model_change", "message"]
    assert records(path)[0]["cwd"] == CWD
    assert no_leftovers(path.parent, path)


def test_a_missing_or_empty_file_is_an_error_for_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with pytest.raises(FileNotFoundError) as caught:
        SessionManager.open(path, read_only=True)
    assert caught.value.filename == str(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError):
        SessionManager.open(path, read_only=True)
    assert path.read_bytes() == b""


def test_an_empty_file_gets_its_header_with_the_first_entry(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"")
    with SessionManager.open(path, cwd=CWD) as manager:
        assert manager.get_session_file() == path
        assert ids(manager) == []
        assert path.read_bytes() == b""
        made = manager.append_custom_entry("state")
        session_id = manager.get_session_id()
    head, first = records(path)
    assert (head["type"], head["id"], head["cwd"], head["version"]) == ("session", session_id, CWD, 3)
    assert (first["id"], first["parentId"]) == (made, None)
    with SessionManager.open(path) as manager:
        assert (manager.get_session_id(), ids(manager)) == (session_id, [made])


@pytest.mark.parametrize(
    "data",
    [
        b" \n\t\r\n",
        b"\n",
        b'{"type":"message","id":"a"}\n' + session(),
        b'{"type":"session"}\n',
        b'{"type":"session","id":5}\n' + session(),
        b"no session\n",
        b'{"a":1}\n',
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_session_is_refused_and_left_alone(tmp_path: Path, data: bytes, read_only: bool) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        SessionManager.open(path, read_only=read_only)
    assert caught.value.path == path
    assert path.read_bytes() == data
    assert no_leftovers(tmp_path, path)


def test_strict_raises_at_the_first_damage_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session() + b'{"type":"mess\n')
    with pytest.raises(FormatError) as caught:
        SessionManager.open(path, strict=True)
    assert (caught.value.path, caught.value.line) == (path, 5)
    path.write_bytes(old_session())
    with pytest.raises(FormatError):
        SessionManager.open(path, strict=True)
    assert path.read_bytes() == old_session(), "not migrated"


def test_a_folder_is_no_session(tmp_path: Path) -> None:
    for read_only in (False, True):
        with pytest.raises(OSError, match=re.escape(str(tmp_path))):
            SessionManager.open(tmp_path, read_only=read_only)


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    (here / "old.jsonl").write_bytes(old_session())
    monkeypatch.chdir(here)
    with (
        SessionManager.open("old.jsonl", fsync=True) as old,
        SessionManager.open("new.jsonl", fsync=True) as new,
        SessionManager.create("project", "sessions") as created,
    ):
        monkeypatch.chdir(elsewhere)
        for manager in (old, new, created):
            manager.append_message(user())
            path = manager.get_session_file()
            assert path is not None
            assert path.is_absolute()
        assert created.get_cwd() == str(here / "project")
    assert no_leftovers(elsewhere)
    assert sorted(one.name for one in here.iterdir()) == ["new.jsonl", "old.jsonl", "sessions"]


def test_a_pipe_is_no_session_and_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    os.mkfifo(path)
    for read_only in (False, True):
        with pytest.raises(FormatError, match="regular"):
            SessionManager.open(path, read_only=read_only)
    with pytest.raises(FormatError, match="regular"):
        SessionManager.fork_from(path, CWD, tmp_path / "forks")


def test_a_folder_whose_name_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("such names are not allowed here")
    monkeypatch.chdir(folder)
    Path("s.jsonl").write_bytes(session())
    with SessionManager.open("s.jsonl") as manager:
        manager.append_message(user())
        assert manager.get_session_file() == folder / "s.jsonl"
    assert len(records(folder / "s.jsonl")) == 5
    for manager in (SessionManager.create(folder, tmp_path), SessionManager.fork_from("s.jsonl", folder, tmp_path)):
        with manager:
            manager.append_message(user())
            path = manager.get_session_file()
            assert path is not None
            assert records(path)[0]["cwd"] == str(tmp_path / "caf\ufffd"), "as any text that cannot be encoded"


# Switching


def test_a_new_session_takes_the_place_of_the_old_one(path: Path) -> None:
    with SessionManager.open(path) as manager:
        made = manager.new_session(parent_session=path, id="next")
        assert made is not None
        assert (manager.get_session_file(), manager.get_session_id()) == (made, "next")
        assert (ids(manager), manager.get_leaf_id(), manager.get_session_name()) == ([], None, None)
        assert manager.get_cwd() == CWD
        assert made.parent == path.parent
        assert not made.exists()
        manager.append_message(user())
        assert records(made)[0]["parentSession"] == str(path)
        assert list(records(made)[0]) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert path.read_bytes() == session()


def test_a_new_session_without_a_word_is_a_session_of_its_own(path: Path) -> None:
    with SessionManager.open(path) as manager:
        first, second = manager.new_session(), manager.new_session()
        assert first != second
        assert manager.get_header().parent_session is None
        assert UUID_7.fullmatch(manager.get_session_id())


def test_switching_to_another_file(path: Path) -> None:
    other, missing = path.with_name("other.jsonl"), path.with_name("missing.jsonl")
    other.write_bytes(
        session("s2", cwd="/team/other") + line(entry("e4000004", "e3000003", "session_info", name="Two"))
    )
    with SessionManager.open(path) as manager:
        manager.branch("e1000001")
        manager.set_session_file(other)
        assert (manager.get_session_file(), manager.get_session_id()) == (other, "s2")
        assert (manager.get_leaf_id(), manager.get_session_name()) == ("e4000004", "Two")
        manager.append_message(user())
        manager.set_session_file(missing)
        assert (manager.get_session_file(), ids(manager)) == (missing, [])
        assert not missing.exists()
        manager.append_message(user())
    assert path.read_bytes() == session()
    assert len(records(other)) == 6
    assert len(records(missing)) == 2


def test_switching_to_what_is_no_session_changes_nothing(path: Path) -> None:
    bad = path.with_name("bad.jsonl")
    bad.write_bytes(b"no session\n")
    with SessionManager.open(path) as manager:
        before = state(manager)
        with pytest.raises(FormatError):
            manager.set_session_file(bad)
        assert state(manager) == before
        manager.append_message(user())
    assert len(records(path)) == 5
    assert bad.read_bytes() == b"no session\n"


def test_switching_migrates(path: Path) -> None:
    old = path.with_name("old.jsonl")
    old.write_bytes(old_session())
    with SessionManager.open(path) as manager:
        manager.set_session_file(old)
        assert len(ids(manager)) == 5
    assert b'"version":3' in old.read_bytes()


# In memory


def test_a_session_in_memory_does_all_but_persist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with SessionManager.in_memory() as manager:
        assert (manager.is_persisted(), manager.get_session_file()) == (False, None)
        assert manager.get_cwd() == str(tmp_path)
        first = manager.append_message(user("One"))
        second = manager.append_message(answer("Two"))
        manager.append_label_change(first, "start")
        assert manager.get_label(first) == "start"
        assert manager.refresh() == []
        manager.branch(first)
        third = manager.append_message(answer("Other"))
        assert [one.id for one in manager.get_children(first)] == [second, third]
        assert manager.build_session_context().messages == [user("One"), answer("Other")]
        assert manager.new_session(id="next") is None
        assert (manager.get_session_id(), ids(manager)) == ("next", [])
    assert no_leftovers(tmp_path)


def test_a_session_in_memory_has_a_cwd() -> None:
    with SessionManager.in_memory(CWD) as manager:
        assert manager.get_cwd() == CWD
        assert manager.get_header().cwd == CWD


# Continuing


def _at(path: Path, seconds: int) -> Path:
    os.utime(path, (seconds, seconds))
    return path


def test_the_newest_file_of_the_project_is_continued(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.jsonl" for name in ("newest", "older", "other", "broken", "empty")}
    files["newest"].write_bytes(session("newest"))
    files["older"].write_bytes(session("older").replace(b"2026-01", b"2027-01"))
    files["other"].write_bytes(session("other", cwd="/team-app"))
    files["broken"].write_bytes(b"no session\n")
    files["empty"].write_bytes(b"")
    (tmp_path / "folder.jsonl").mkdir()
    for seconds, name in enumerate(("older", "newest", "other", "broken", "empty")):
        _at(files[name], 1_700_000_000 + seconds)
    with SessionManager.continue_recent(CWD, tmp_path) as manager:
        assert manager.get_session_file() == files["newest"], "the file's time counts, not what is in it"
        manager.append_message(user())
    _at(files["newest"], 1_600_000_000)
    with SessionManager.continue_recent(CWD, tmp_path) as manager:
        assert manager.get_session_file() == files["older"]
    with SessionManager.continue_recent("/team/app/../app/", tmp_path) as manager:
        assert manager.get_session_file() == files["older"]


def test_without_a_session_to_continue_there_is_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    for _ in range(2):
        with SessionManager.continue_recent(CWD, folder) as manager:
            assert ids(manager) == []
            assert manager.get_session_dir() == folder
            assert manager.get_cwd() == CWD
        assert list(tmp_path.rglob("*.jsonl")) == []
        folder.mkdir(exist_ok=True)
        (folder / "other.jsonl").write_bytes(session(cwd="/team/other"))
        (folder / "other.jsonl").unlink()


def test_a_projects_folder_is_shared_by_others(tmp_path: Path) -> None:
    """`/team/app` and `/team-app` have one folder."""
    folder = project_dir(CWD, tmp_path)
    folder.mkdir(parents=True)
    ours, theirs, nobodys = (folder / f"{name}.jsonl" for name in ("ours", "theirs", "nobodys"))
    theirs.write_bytes(session("theirs", cwd="/team-app"))
    with SessionManager.continue_recent(CWD, agent_dir=tmp_path) as manager:
        assert manager.get_session_id() != "theirs"
    ours.write_bytes(session("ours"))
    nobodys.write_bytes(session("nobodys").replace(b'"cwd":"/team/app"', b'"x":1'))
    for seconds, path in enumerate((ours, nobodys, theirs)):
        _at(path, 1_700_000_000 + seconds)
    with SessionManager.continue_recent(CWD, agent_dir=tmp_path) as manager:
        assert manager.get_session_id() == "nobodys", (
            "a header without a cwd stays in where the folder is the project's"
        )
    with SessionManager.continue_recent(CWD, folder) as manager:
        assert manager.get_session_id() == "ours", "in a folder of all projects it does not"


# Closing and syncing


@pytest.mark.skipif(sys.platform != "linux", reason="who has what open is told by Linux")
def test_a_closed_manager_has_no_file_open(path: Path) -> None:
    def opened() -> list[str]:
        links = (os.path.realpath(one) for one in Path("/proc/self/fd").iterdir())
        return [one for one in links if one.startswith(str(path.parent))]

    with SessionManager.open(path) as manager:
        manager.append_message(user())
        _ = manager.get_entries()[0].raw
        other = path.with_name("other.jsonl")
        other.write_bytes(session())
        manager.set_session_file(other)
        assert str(path) not in opened(), "switching lets go of the old file"
    assert opened() == []
    manager.close()
    reader = SessionManager.open(path, read_only=True)
    assert reader.get_entries()[0].raw["id"] == "e1000001"
    reader.close()
    assert opened() == []
    for _ in range(3):
        with pytest.raises(FormatError):
            SessionManager.open(Path(__file__))
    assert opened() == []


def test_a_manager_is_closed_when_the_block_is_left_by_an_error(path: Path) -> None:
    def fail() -> None:
        with SessionManager.open(path) as manager:
            managers.append(manager)
            raise KeyError

    managers: list[SessionManager] = []
    with pytest.raises(KeyError):
        fail()
    with pytest.raises(ValueError, match="closed"):
        managers[0].append_message(user())


def test_a_closed_manager_writes_nothing(path: Path) -> None:
    manager = SessionManager.open(path)
    manager.close()
    manager.close()
    with pytest.raises(ValueError, match="closed"):
        manager.append_message(user())
    assert path.read_bytes() == session()


def test_every_way_to_make_a_manager_takes_fsync(path: Path) -> None:
    folder, old = path.with_name("new"), path.with_name("old.jsonl")
    old.write_bytes(old_session())
    made = [
        SessionManager.create(CWD, folder, fsync=True),
        SessionManager.open(path, fsync=True),
        SessionManager.open(old, fsync=True),
        SessionManager.open(folder / "missing.jsonl", fsync=True),
        SessionManager.fork_from(path, CWD, folder, fsync=True),
        SessionManager.continue_recent(CWD, folder, fsync=True),
    ]
    for manager in made:
        with manager:
            kept = [manager.append_message(user()), manager.append_message(answer())]
            manager.create_branched_session(kept[-1])
            kept.append(manager.append_message(user()))
            assert set(kept) <= set(ids(manager))
            file = manager.get_session_file()
            assert file is not None
            assert set(kept) <= {record["id"] for record in records(file)}


def test_the_header_is_not_part_of_the_tree(path: Path) -> None:
    path.write_bytes(line(header()))
    with SessionManager.open(path) as manager:
        assert (ids(manager), manager.get_leaf_id(), manager.get_tree()) == ([], None, [])
        manager.append_message(user())
    assert records(path)[1]["parentId"] is None
