"""A project's store of Replio sessions: where it lies, names, listing, loading, deleting, exporting."""

from __future__ import annotations

import json
import logging
import os
import pickle
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from replio_support import (
    STAMP,
    TIME,
    Clock,
    answer,
    call,
    contents,
    document,
    on_disk,
    put,
    result,
    store_in,
    user,
)
from sessiontree import FormatError, NameTakenError, SessionNotFoundError
from sessiontree.replio import Preview, ReplioStore
from support import write

# Where it lies


def test_a_project_has_its_sessions_and_exports_in_a_folder_of_its_own(tmp_path: Path) -> None:
    store = ReplioStore(str(tmp_path))
    assert (store.project, store.sessions_dir) == (tmp_path, tmp_path / ".replio/sessions")
    assert store.exports_dir == tmp_path / ".replio/exports"
    assert store.sessions_dir.is_dir()
    assert not store.exports_dir.exists()


def test_the_folder_of_a_projects_sessions_stands_for_the_project(tmp_path: Path) -> None:
    sessions = store_in(tmp_path).sessions_dir
    store = ReplioStore(sessions)
    assert (store.project, store.sessions_dir) == (tmp_path, sessions)
    assert store.exports_dir == tmp_path / ".replio/exports"


def test_a_folder_of_session_files_is_a_store(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"messages":[]}', encoding="utf-8")
    store = ReplioStore(tmp_path)
    assert (store.project, store.sessions_dir, store.list()) == (None, tmp_path, ["s"])
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_a_project_with_json_files_of_its_own_is_a_project(tmp_path: Path) -> None:
    (tmp_path / ".replio").mkdir()
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    assert ReplioStore(tmp_path).sessions_dir == tmp_path / ".replio/sessions"


def test_a_project_must_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        ReplioStore(tmp_path / "none")
    assert str(tmp_path / "none") in str(caught.value.filename)
    assert list(tmp_path.iterdir()) == []


# Settings


def configured(project: Path, text: str) -> ReplioStore:
    (project / ".replio").mkdir()
    (project / ".replio/config.json").write_text(text, encoding="utf-8")
    return store_in(project)


def lengths(store: ReplioStore) -> list[int]:
    """What is kept of a long result of two tools, and how much compacting keeps."""
    session = store.create("s")
    for tool in ("web_fetch", "mine"):
        session.append("tool", "x" * 1000, tool=tool, tool_call_id="c")
    session.append("user", "a")
    session.append("user", "b")
    session.compact("S")
    first, second, *_, last = on_disk(session)["messages"]
    return [len(first["content"]), len(second["content"]), last.get("compact_from", 0)]


MARKED = len("[web_fetch result excluded from log, see tool call above for parameters]")
CUT = len("x" * 20 + "… (truncated from 1000 chars)")


def test_settings_are_the_seeds(tmp_path: Path) -> None:
    assert lengths(store_in(tmp_path)) == [MARKED, 1000, 0]


def test_settings_come_from_the_projects_own(tmp_path: Path) -> None:
    store = configured(tmp_path, '{"noise_tools": ["mine"], "session_tool_max_chars": 20, "compact_keep": 1, "x": {}}')
    assert lengths(store) == [CUT, MARKED - len("web_fetch") + len("mine"), 3]


def test_settings_that_are_given_overrule_the_projects(tmp_path: Path) -> None:
    configured(tmp_path, '{"noise_tools": ["mine"], "session_tool_max_chars": 5, "compact_keep": 1}')
    store = store_in(tmp_path, noise_tools=(), session_tool_max_chars=20, compact_keep=2)
    assert lengths(store) == [CUT, CUT, 2]


@pytest.mark.parametrize(
    "text",
    [
        *["", "{", "[]", '"text"', '{"noise_tools": 5}', '{"noise_tools": [5]}', '{"session_tool_max_chars": "all"}'],
        *['{"compact_keep": 1.5}', '{"compact_keep": true}', '{"session_tool_max_chars": NaN}'],
    ],
)
def test_settings_that_cannot_be_read_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    store = configured(tmp_path, text)
    assert lengths(store) == [MARKED, 1000, 0]
    [warning] = caplog.records
    assert (warning.levelno, warning.name.split(".")[0]) == (logging.WARNING, "sessiontree")
    assert "config.json" in warning.getMessage()


# The clock


def test_times_are_whole_seconds_in_utc(tmp_path: Path) -> None:
    zone = timezone(timedelta(hours=-8))
    clock = Clock(datetime(2031, 3, 3, 21, 6, 7, 999_999, tzinfo=zone))
    session = store_in(tmp_path, clock=clock).create()
    session.append("user", "")
    session.add_error(1, "x")
    session.add_permission("a", "b", "c")
    assert session.name == f"ses_{STAMP}"
    times = [one["timestamp"] for one in (*session.messages, *session.errors, *session.permissions)]
    assert {session.created_at, session.updated_at, *times} == {TIME}


def test_a_clock_must_know_its_zone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"zone|aware"):
        ReplioStore(tmp_path, clock=lambda: datetime(2031, 3, 4)).create()


def test_the_time_is_now_where_no_clock_is_given(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    created = datetime.fromisoformat(ReplioStore(tmp_path).create().created_at)
    assert before <= created <= datetime.now(UTC)


# Listing


def test_a_listing_has_files_alone(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for name in ("b", "a", "Z", "1", "é"):
        put(store, name, document(name))
    sessions = store.sessions_dir
    (sessions / "folder.json").mkdir()
    (sessions / ".hidden.json").write_bytes(b"{}")
    (sessions / "s.json.tmp").write_bytes(b"{}")
    (sessions / "UPPER.JSON").write_bytes(b"{}")
    write(tmp_path / "elsewhere.json", b'{"messages":[]}')
    (sessions / "linked.json").symlink_to(tmp_path / "elsewhere.json")
    (sessions / "dangling.json").symlink_to("nowhere.json")
    (sessions / "to-folder.json").symlink_to("folder.json")
    os.mkfifo(sessions / "pipe.json")
    assert store.list() == ["1", "Z", "a", "b", "linked", "é"]
    assert sorted(info.id for info in store.infos()) == store.list()


def test_a_file_name_that_is_no_text_costs_nothing_else(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "good", document("good", parent_id="ses_a"))
    Path(os.fsdecode(os.fsencode(store.sessions_dir) + b"/bad\xff.json")).write_bytes(b'{"messages":[]}')
    assert "good" in store.list()
    assert "good" in [info.id for info in store.infos()]
    assert store.children("ses_a") == ["good"]
    store.rename("good", "better")
    assert [link.session for link in store.dangling()] == ["better"]


def test_names_are_in_the_order_of_their_code_points(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    names = ["sub_1", "ses_1", "job_1", "a", "Z", "0", "\uffee", "\U0001f680"]
    for name in names:
        put(store, name, document(name))
    assert store.list() == sorted(names)


def test_one_bad_file_does_not_cost_the_listing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "sub_bad", b'{"name": "sub_bad", "messa')
    put(store, "sub_good", document("sub_good", user("fine"), parent_id="ses_a"))
    assert store.list() == ["sub_bad", "sub_good"]
    assert [(info.id, info.first_message) for info in store.infos()] == [("sub_good", "fine")]
    assert store.children("ses_a") == ["sub_good"]


def test_a_listing_tells_what_the_files_say(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    times = {"created_at": "2031-03-04T05:00:00+00:00", "updated_at": "2031-03-04 06:00:00"}
    messages = [
        user("first"),
        answer("said", id="msg_1"),
        {"role": "command", "content": "/x"},
        "odd",
        user("", id="m2"),
    ]
    path = put(store, "s", document("s", *messages, parent_id="ses_a", **times))
    [info] = store.infos()
    assert (info.id, info.name, info.path, info.format) == ("s", "s", path, "replio")
    assert (info.cwd, info.parent_session_path) == (str(tmp_path), store.sessions_dir / "ses_a.json")
    assert (info.created, info.modified) == (datetime(2031, 3, 4, 5, tzinfo=UTC), datetime(2031, 3, 4, 6, tzinfo=UTC))
    assert (info.message_count, info.entry_count, info.damage_count) == (3, 5, 1)
    assert (info.first_message, info.all_messages_text) == ("first", "first said")
    assert (info.leaf_id, info.tip_count, info.version) == ("m2", 1, 1)
    assert (info.usage.total_tokens, info.size_bytes) == (0, path.stat().st_size)


def test_the_newest_session_is_the_first_of_the_listing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for hour, name in enumerate(["old", "newer", "newest"]):
        put(store, name, document(name, updated_at=f"2031-03-04T0{hour}:00:00+00:00"))
    assert [info.id for info in store.infos()] == ["newest", "newer", "old"]


# Reading and loading


def test_reading_leaves_the_current_session_as_it_is(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for name in ("a", "b"):
        put(store, name, document(name))
    assert store.current is None
    store.read("a")
    assert store.current is None
    loaded = store.load("a")
    assert store.current is loaded
    store.read("b")
    store.preview("b")
    store.export("b", "-")
    for use in (store.load, store.read):
        with pytest.raises(SessionNotFoundError, match="none"):
            use("none")
    assert store.current is loaded


def test_reading_and_loading_never_write(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    data = b'{"messages":[{"role":"user"}],"name":"other"}'
    path = put(store, "s", data)
    store.read("s")
    store.load("s")
    store.load_or_create("s")
    store.infos()
    store.preview("s")
    assert path.read_bytes() == data
    assert [one.name for one in store.sessions_dir.iterdir()] == ["s.json"]


def test_load_or_create(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    created = store.load_or_create("s")
    assert (store.current, created.path, store.list()) == (
        created,
        None,
        [],
    ) or created.path == store.sessions_dir / "s.json"
    created.append("user", "hi")
    assert store_in(tmp_path).load_or_create("s").messages == created.messages
    assert store.load_or_create().name == f"ses_{STAMP}"


@pytest.mark.parametrize("data", [b"", b"{", b'{"messages": {}}', b'{"messages": [], "turns": []}'])
def test_what_cannot_be_read_is_never_created_over(tmp_path: Path, data: bytes) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", data)
    with pytest.raises(FormatError) as caught:
        store.load_or_create("s")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.kind, again.path, again.line, str(again)) == (
        caught.value.kind,
        path,
        caught.value.line,
        str(caught.value),
    )
    with pytest.raises(NameTakenError):
        store.create("s")
    assert (store.current, path.read_bytes()) == (None, data)


def test_a_form_that_is_not_known_is_told_from_damage(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "both", b'{"messages": [], "turns": []}')
    put(store, "cut", b'{\n "messages": [\n  {"role": "user", "con')
    with pytest.raises(FormatError) as caught:
        store.read("both")
    assert caught.value.kind == "unsupported"
    with pytest.raises(FormatError) as caught:
        store.read("cut")
    assert (caught.value.kind, caught.value.line) == ("corrupt", 3)
    assert "byte" in caught.value.reason


def test_the_name_of_the_file_wins_over_the_one_inside(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "outer", document("inner", user()))
    session = store.load("outer")
    session.append("user", "more")
    assert (session.name, store.list()) == ("outer", ["outer"])
    assert on_disk(session)["name"] == "outer"


# Deleting


def test_deleting_tells_whether_there_was_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s"))
    assert [store.delete("s"), store.delete("s"), store.list()] == [True, False, []]


def test_what_was_deleted_does_not_come_back_by_itself(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    session = store.create("s")
    session.append("user", "hi")
    assert store.delete("s")
    assert store.current is None
    session.append("user", "after")
    session.add_error(1, "x")
    session.add_permission("a", "b", "c")
    assert (store.list(), store.save()) == ([], None)
    assert store.save(session) == store.sessions_dir / "s.json"
    assert contents(on_disk(session)["messages"]) == ["hi", "after"]
    session.append("user", "again")
    assert len(on_disk(session)["messages"]) == 3


def test_a_broken_file_can_be_deleted(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", b"{")
    assert store.delete("s")
    assert store.list() == []


# Exporting and previewing


def test_an_export_goes_where_it_is_told(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", user("Größe \u2028 \r\n")))
    text = store.export("s", "-")
    assert isinstance(text, str)
    assert list(tmp_path.rglob("*.md")) == []
    out = tmp_path / "deep/er/out.md"
    assert store.export("s", out) == out
    out.write_text("older", encoding="utf-8")
    assert store.export("s", str(out)) == out
    assert out.read_bytes() == text.encode()
    assert sorted(path.name for path in out.parent.iterdir()) == ["out.md"]
    with pytest.raises(SessionNotFoundError):
        store.export("none")


def test_an_export_is_of_the_file_not_of_the_memory(tmp_path: Path) -> None:
    store = store_in(tmp_path, autosave=False)
    session = store.create("s")
    session.append("tool", "page", tool="open", tool_call_id="c")
    store.save()
    session.append("user", "unsaved")
    assert "unsaved" not in store.export("s", "-")
    assert "[open result excluded from log, see tool call" in store.export("s", "-")
    assert "unsaved" in session.to_markdown()
    assert "page" in session.to_markdown()
    assert store.current is session


def test_a_preview_is_a_value(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    calls = [call("c1", "read"), call("c2", "glob"), {"id": "c3"}, call("c4", "read")]
    messages = [user(), answer(None, tool_calls=calls), result("c1", tool="other"), {"content": "x"}]
    put(store, "s", document("s", *messages, parent_id="p", sub_sessions=["a", "b"]))
    preview = store.preview("s")
    assert preview == Preview(
        name="s",
        created_at=TIME,
        updated_at=TIME,
        message_count=4,
        roles={"user": 1, "assistant": 1, "tool": 1, "?": 1},
        tools=("?", "glob", "read"),
        parent_id="p",
        sub_sessions=("a", "b"),
    )
    assert pickle.loads(pickle.dumps(preview)) == preview
    assert json.loads(json.dumps(preview.to_dict()))["tools"] == ["?", "glob", "read"]
    with pytest.raises(AttributeError):
        preview.name = "t"  # type: ignore[misc]
    with pytest.raises(SessionNotFoundError):
        store.preview("none")


def test_a_session_in_memory_can_be_previewed(tmp_path: Path) -> None:
    store = store_in(tmp_path, autosave=False)
    session = store.create("s")
    session.append("user", "hi")
    assert store.preview(session).lines() == [
        "  s - 1 messages",
        f"    created {TIME} · updated {TIME}",
        "    roles: user 1",
    ]
