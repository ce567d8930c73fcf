"""`scan` over Replio projects: what is found, what a row tells, what is damage, and both formats in one scan."""

from __future__ import annotations

import json
import os
import pickle
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

import reference_replio
import strategies
import strategies_replio
from sessiontree import ConflictError, FormatError, Scan, SessionManager, scan
from sessiontree._scan import scan_sources
from strategies_replio import spelt
from support import FILE_TIME, write
from test_scan import session

if TYPE_CHECKING:
    from pathlib import Path

    from sessiontree import SessionInfo

DAY = "2031-03-04T05:%02d:00+00:00"


def document(minute: int = 1, *messages: object, **more: object) -> bytes:
    """A session that was changed last at that minute, laid out as Replio does it."""
    said = list(messages) or [{"role": "user", "content": "hi", "timestamp": DAY % minute, "id": f"msg_{minute}"}]
    times = {"created_at": DAY % 0, "updated_at": DAY % minute}
    return json.dumps({"name": "s", **times, "messages": said, **more}, indent=2).encode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two sessions of Replio's, and what lies beside them."""
    sessions = tmp_path / "project/.replio/sessions"
    write(sessions / "ses_one.json", document(1))
    write(sessions / "ses_two.json", document(2))
    write(sessions / ".hidden.json", b"{")
    write(sessions / "notes.txt", b"{")
    (sessions / "folder.json").mkdir()
    return tmp_path / "project"


def ids(found: Scan) -> list[str]:
    return [info.id for info in found]


def only(found: Scan) -> SessionInfo:
    (info,) = found
    return info


@pytest.mark.parametrize("source", ["", ".replio", ".replio/sessions", ".replio/exports/../sessions"])
def test_a_project_is_found_by_its_folder_and_by_those_in_it(project: Path, source: str) -> None:
    (project / ".replio/exports").mkdir()
    found = scan(project / source)
    assert ids(found) == ["ses_two", "ses_one"]
    assert not found.damage
    assert {info.format for info in found} == {"replio"}


def test_a_link_to_the_sessions_and_links_among_them_are_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project / ".replio/sessions")
    write(tmp_path / "elsewhere.json", document(3))
    (project / ".replio/sessions/ses_link.json").symlink_to(tmp_path / "elsewhere.json")
    (project / ".replio/sessions/ses_nowhere.json").symlink_to(tmp_path / "nowhere.json")
    assert ids(scan(tmp_path / "link")) == ["ses_link", "ses_two", "ses_one"]


def test_a_file_that_is_named_is_read_wherever_it_lies(tmp_path: Path) -> None:
    write(tmp_path / "copy.json", document())
    info = only(scan(tmp_path / "copy.json"))
    assert (info.id, info.name, info.cwd, info.format) == ("copy", "copy", "", "replio")


def test_a_folder_of_documents_alone_is_no_store(tmp_path: Path) -> None:
    write(tmp_path / "copy.json", document())
    with pytest.raises(ValueError, match=r"'sessions' or '\.replio/sessions'"):
        scan(tmp_path)


def test_a_project_without_sessions_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".replio/sessions").mkdir(parents=True)
    assert not scan(tmp_path)


def test_one_scan_holds_both_formats(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "agent/sessions/--p--/1.jsonl", session("one"))
    write(project / "sessions/--p--/2.jsonl", session("two", 2))
    found = scan([tmp_path / "agent", project, project / ".replio/sessions/ses_one.json"])
    assert ids(found) == ["ses_two", "ses_one", "two", "one"]
    assert [info.format for info in found] == ["replio", "replio", "elyra", "elyra"]


def test_the_sessions_of_a_folder_of_any_name_can_be_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "kept/a.json", document())
    write(tmp_path / "kept/b.jsonl", session("b"))
    assert ids(scan_sources([("replio", tmp_path / "kept")])) == ["a"]
    assert not scan_sources([("replio", tmp_path / "missing")])


def test_a_row_tells_what_the_document_says(project: Path) -> None:
    messages: list[Any] = [
        {"role": "system", "content": "Be brief.", "timestamp": DAY % 1},
        {
            "role": "user",
            "content": [{"type": "text", "text": "What is"}, {"type": "text", "text": "OEE?"}],
            "id": "m1",
        },
        {"role": "command", "content": "/model x"},
        {"role": "assistant", "content": "A ratio.", "id": "m2"},
    ]
    write(project / ".replio/sessions/sub_x.json", document(9, *messages, parent_id="ses_one"))
    info = scan(project)[0]
    assert (info.id, info.name, info.cwd) == ("sub_x", "sub_x", str(project))
    assert info.parent_session_path == project / ".replio/sessions/ses_one.json"
    assert info.created == datetime(2031, 3, 4, 5, 0, tzinfo=UTC)
    assert info.modified == datetime(2031, 3, 4, 5, 9, tzinfo=UTC)
    assert (info.message_count, info.entry_count, info.leaf_id, info.tip_count) == (3, 4, "m2", 1)
    assert info.first_message == "What is OEE?"
    assert info.all_messages_text == "What is OEE? A ratio."
    assert (info.usage.total_tokens, info.version, info.damage_count) == (0, 1, 0)
    assert info.size_bytes == info.path.stat().st_size
    assert pickle.loads(pickle.dumps(info)) == info
    assert info.to_dict()["format"] == "replio"


def test_the_text_is_that_of_the_document_that_was_listed(project: Path) -> None:
    info = scan(project)[0]
    write(info.path, document(4, {"role": "user", "content": "other"}))
    with pytest.raises(ConflictError):
        _ = info.all_messages_text


def test_what_is_no_session_is_damage_though_nobody_named_it(project: Path) -> None:
    sessions = project / ".replio/sessions"
    write(sessions / "cut.json", b'{\n  "messages": [\n    {"role": "us')
    write(sessions / "empty.json", b"")
    write(sessions / "list.json", b"[]")
    write(sessions / "object.json", b'{"messages": {}}')
    found = scan(project)
    assert ids(found) == ["ses_two", "ses_one"]
    told = [(damage.path.name, damage.kind, damage.line, damage.offset) for damage in found.damage]
    assert told == [
        ("cut.json", "file", 3, 34),
        ("empty.json", "file", 1, 0),
        ("list.json", "file", 1, 0),
        ("object.json", "file", 1, 13),
    ]
    assert all(damage.reason.startswith("no session: ") for damage in found.damage)
    with pytest.raises(FormatError) as caught:
        scan(project, strict=True)
    assert (caught.value.path, caught.value.line) == (sessions / "cut.json", 3)


def test_odd_elements_are_damage_of_the_session(project: Path) -> None:
    write(project / ".replio/sessions/odd.json", document(5, 1, {"role": "user", "content": "hi"}))
    found = scan(project)
    assert (found[0].id, found[0].damage_count, found[0].entry_count, found[0].message_count) == ("odd", 1, 2, 1)
    assert [(damage.kind, damage.line) for damage in found.damage] == [("line", 6)]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file that cannot be read")
def test_what_cannot_be_read_is_damage(project: Path) -> None:
    (project / ".replio/sessions/ses_one.json").chmod(0)
    found = scan(project)
    assert ids(found) == ["ses_two"]
    assert [(damage.path.name, damage.kind) for damage in found.damage] == [("ses_one.json", "file")]


def test_one_thread_equals_many(project: Path, tmp_path: Path) -> None:
    for number in range(300):
        write(project / f".replio/sessions/n{number}.json", document(number % 60) if number % 7 else b"{")
        write(tmp_path / f"flat/{number}.jsonl", session(f"e{number}", number % 10))
    one = scan([project, tmp_path / "flat"], threads=1)
    assert len(one) == 300 + 2 + 300 - 43
    assert scan([project, tmp_path / "flat"], threads=4) == one


@given(
    documents=st.lists(st.one_of(strategies_replio.DOCUMENTS.map(spelt), strategies_replio.damaged()), max_size=4),
    files=strategies.stores(),
)
@settings(max_examples=strategies.EXAMPLES // 8, deadline=None)
def test_made_up_stores_of_both_formats(
    tmp_path_factory: pytest.TempPathFactory, documents: list[bytes], files: list[strategies.StoredFile]
) -> None:
    """A scan of both tells what scans of each do, and what is no session by the reference is damage."""
    folder = tmp_path_factory.mktemp("both")
    for number, data in enumerate(documents):
        write(folder / f".replio/sessions/{number}.json", data)
    for file in files:
        write(folder / "sessions" / file.folder / file.name, file.data, time=file.time)
    both = scan(folder)
    apart = [scan_sources([("replio", folder / ".replio/sessions")]), scan_sources([("agent", folder)])]
    infos = sorted((info for one in apart for info in one), key=lambda info: info.path)
    assert list(both) == sorted(infos, key=lambda info: info.modified, reverse=True)
    assert both.damage == tuple(sorted((damage for one in apart for damage in one.damage), key=lambda one: one.path))
    assert both.usage == apart[1].usage
    assert scan(folder, threads=1) == scan(folder, threads=3) == both
    assert scan(folder, catalogue=folder / "catalogue") == scan(folder, catalogue=folder / "catalogue") == both
    refused = {str(number) for number, data in enumerate(documents) if not is_session(data)}
    damaged = {damage.path.stem for damage in apart[0].damage if damage.kind == "file"}
    assert damaged == refused == {str(number) for number in range(len(documents))} - set(ids(apart[0]))


def is_session(data: bytes) -> bool:
    try:
        reference_replio.read(data, "")
    except reference_replio.RefusedError as error:
        # A log of turns is one, unless there is another.
        return error.kind == "unsupported" and not isinstance(reference_replio.decode(data).get("messages"), list)
    return True


def test_the_catalogue_knows_sessions_and_what_is_none(project: Path, tmp_path: Path) -> None:
    sessions = project / ".replio/sessions"
    write(sessions / "cut.json", b'{\n"messages": [')
    write(sessions / "bare.json", b'{"messages": null}')
    catalogue = tmp_path / "catalogue.sqlite"
    first = scan(project, catalogue=catalogue)
    assert scan(project, catalogue=catalogue) == first
    assert [info.all_messages_text for info in scan(project, catalogue=catalogue)] == ["hi", "hi", ""]
    write(sessions / "cut.json", document(7), time=FILE_TIME + 60)
    write(sessions / "ses_one.json", document(8, {"role": "user", "content": "more"}), time=FILE_TIME + 60)
    (sessions / "bare.json").unlink()
    later = scan(project, catalogue=catalogue)
    assert later == scan(project)
    assert [info.first_message for info in later] == ["more", "hi", "hi"]


def test_a_manager_says_that_it_is_another_format(project: Path) -> None:
    path = project / ".replio/sessions/ses_one.json"
    with pytest.raises(FormatError, match="another format"):
        SessionManager.find(path)
