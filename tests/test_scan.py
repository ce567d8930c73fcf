"""`scan`: what a source may be, what comes back, and in which order."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING

import pytest

from sessiontree import FormatError, Scan, SessionManager, Usage, scan
from support import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER = b'{"type":"session","version":3,"id":"%s","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/home/user/p"}\n'
ASSISTANT = (
    b'{"type":"message","id":"%s","parentId":null,"timestamp":"2026-01-05T10:0%d:00.000Z","message":{"role":"assistant",'
    b'"content":"hi","provider":"acme","model":"one","usage":{"input":%d,"cost":{"total":0.5}}}}\n'
)


def session(name: str, minute: int = 1, tokens: int = 7) -> bytes:
    return HEADER % name.encode() + ASSISTANT % (b"e1", minute, tokens)


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """An agent folder with three sessions of two projects."""
    write(tmp_path / "agent/sessions/--a--/1.jsonl", session("one", 3, 1))
    write(tmp_path / "agent/sessions/--b--/2.jsonl", session("two", 1, 2))
    write(tmp_path / "agent/sessions/--b--/3.jsonl", session("three", 2, 4))
    return tmp_path / "agent"


def ids(found: Scan) -> list[str]:
    return [info.id for info in found]


def test_newest_come_first_and_equal_times_by_path(agent: Path) -> None:
    write(agent / "sessions/--b--/0.jsonl", session("zero", 2))
    assert ids(scan(agent)) == ["one", "zero", "three", "two"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("agent", ["one", "three", "two"]),
        ("agent/sessions", ["one", "three", "two"]),
        ("agent/sessions/--b--", ["three", "two"]),
        ("agent/sessions/--a--/1.jsonl", ["one"]),
    ],
)
def test_a_folder_is_read_by_what_it_holds(agent: Path, source: str, expected: list[str]) -> None:
    assert ids(scan(agent.parent / source)) == expected
    assert ids(scan(str(agent.parent / source))) == expected


def test_all_that_fits_is_read(agent: Path) -> None:
    write(agent / "4.jsonl", session("four", 4))
    write(agent / "--c--/5.jsonl", session("five", 5))
    assert ids(scan(agent)) == ["five", "four", "one", "three", "two"]


def test_no_deeper_than_the_layout(agent: Path) -> None:
    write(agent / "sessions/--a--/deeper/6.jsonl", session("six"))
    write(agent / "sessions/7.jsonl.bak", session("seven"))
    write(agent / "sessions/--a--/8.JSONL", session("eight"))
    assert ids(scan(agent)) == ["one", "three", "two"]


def test_several_sources_are_one_scan_and_a_file_is_read_once(agent: Path) -> None:
    files = agent / "sessions/--b--"
    found = scan(path for path in (files / "2.jsonl", files, agent, files / "2.jsonl"))
    assert ids(found) == ["one", "three", "two"]
    (agent / "sessions/--z--").symlink_to(files)
    (files / "link.jsonl").symlink_to("2.jsonl")
    assert ids(scan(agent)) == ["one", "three", "two"]


def test_nothing_that_fits_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ValueError, match=r"sessions.*\*\.jsonl"):
        scan(tmp_path)
    (tmp_path / "sessions").mkdir()
    assert len(scan(tmp_path)) == 0, "an agent's folder without sessions yet"


def test_a_source_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        scan(tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
    assert SessionManager.list_all(agent_dir=tmp_path / "none") == []
    assert SessionManager.list_all(session_dir=tmp_path / "none") == []


def test_the_default_is_elyras_agent_folder(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELYRA_CODING_AGENT_DIR", str(agent))
    assert ids(scan()) == ["one", "three", "two"]
    monkeypatch.setenv("ELYRA_CODING_AGENT_SESSION_DIR", str(agent / "sessions/--a--"))
    assert ids(scan()) == ["one"], "a flat folder of its own"


def test_relative_sources_stay_valid_when_the_folder_changes(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(agent)
    found = scan("sessions/--a--/1.jsonl")
    monkeypatch.chdir("/")
    assert found[0].path == agent / "sessions/--a--/1.jsonl"
    assert found[0].all_messages_text == "hi"


def test_a_named_file_that_is_no_session_is_reported(tmp_path: Path) -> None:
    empty, other = write(tmp_path / "a.jsonl", b""), write(tmp_path / "b.jsonl", b'{"type":"message"}\n')
    assert scan(tmp_path).damage == ()
    found = scan([empty, other])
    assert [(damage.kind, damage.path, damage.line) for damage in found.damage] == [
        ("file", empty, None),
        ("file", other, None),
    ]
    assert str(found.damage[0]) == f"{empty}: no session: it is empty"


def test_strict_raises_the_first_damage_but_no_note(agent: Path) -> None:
    note = write(agent / "sessions/--a--/1.jsonl", session("one").replace(b'"parentId":null', b'"parentId":"gone"'))
    assert [damage.kind for damage in scan(agent, strict=True).damage] == ["parent"]
    write(note, session("one") + b"x\n{}\n")
    write(agent / "sessions/--b--/2.jsonl", session("two") + b"x\n")
    with pytest.raises(FormatError) as caught:
        scan(agent, strict=True)
    assert (caught.value.path, caught.value.line) == (note, 3)
    assert str(caught.value).startswith(f"{note}:3: expected an object")


def test_usage_counts_what_forks_share_once(tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", session("one", tokens=5))
    write(tmp_path / "2.jsonl", session("fork", tokens=5) + ASSISTANT % (b"e2", 2, 9))
    found = scan(tmp_path)
    assert [info.usage.input for info in found] == [14, 5]
    part = Usage(input=14, cost_total=1.0)
    assert found.usage == Usage(input=14, cost_total=1.0, by_model={"acme/one": part})


def test_a_scan_is_a_sequence_and_a_value(agent: Path) -> None:
    found = scan(agent)
    assert found[0] == found[:1][0] == found[-3]
    assert found[1] in found
    assert found.index(found[2]) == 2
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert hash(again) == hash(found)
    assert found != scan(agent / "sessions/--a--")
    assert repr(found) == "<Scan: 3 sessions, 0 reports>"
    assert [row["id"] for row in found.to_dict()["sessions"]] == ids(found)


def test_its_table_in_a_notebook_escapes_what_a_session_says(tmp_path: Path) -> None:
    said = b'{"type":"session_info","id":"a","name":"<script>alert(1)</script>"}\n'
    write(tmp_path / "1.jsonl", HEADER % b"one" + said)
    table = scan(tmp_path)._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in table
    assert "<script" not in table


@pytest.mark.parametrize(
    ("threads", "error"), [(0, ValueError), (-(10**30), ValueError), ("2", TypeError), (1.5, TypeError)]
)
def test_a_bad_number_of_threads_is_refused(agent: Path, threads: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="threads"):
        scan(agent, threads=threads)  # type: ignore[arg-type]


def test_what_cannot_be_called_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="on_progress"):
        SessionManager.list_all(3, session_dir=tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["", "a\0b"])
def test_what_can_be_no_path_is_a_value_error(source: str) -> None:
    with pytest.raises(ValueError, match=r"path|NUL"):
        scan(source)


@pytest.mark.parametrize("call", [SessionManager.list_all, scan])
def test_more_threads_than_processors_are_no_more_than_those(agent: Path, call: Callable[..., object]) -> None:
    key = "agent_dir" if call is not scan else "source"
    assert call(**{key: agent, "threads": 10**30}) == call(**{key: agent, "threads": 1})


def test_paths_that_are_no_utf8_are_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.jsonl")
    try:
        write(tmp_path / name, session("one"))
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    info = scan(tmp_path)[0]
    assert info.path.name == name
    assert info.all_messages_text == "hi"
    assert pickle.loads(pickle.dumps(info)) == info
