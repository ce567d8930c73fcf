"""Sessions found by path, id or prefix, and deleted."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from elyra_support import CWD, session
from sessiontree import AmbiguousSessionError, FormatError, SessionError, SessionManager, SessionNotFoundError
from sessiontree.elyra.paths import project_dir

if TYPE_CHECKING:
    from collections.abc import Callable

ID_1 = "0199c0de-1111-7000-8000-000000000001"
ID_2 = "0199c0de-1111-7000-8000-000000000002"
SHORT = "0199c0de"
UPPER = "0199C0DF-2222-7000-8000-000000000003"
THEIRS = "0299c0de-1111-7000-8000-000000000004"
OTHER = "/team/other"


def add(agent: Path, session_id: str, *, cwd: str = CWD, name: str | None = None) -> Path:
    """Put a session into its project's folder."""
    folder = project_dir(cwd, agent)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name or session_id}.jsonl"
    path.write_bytes(session(session_id, cwd=cwd))
    return path


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    agent = tmp_path / "agent"
    for session_id in (ID_1, ID_2, SHORT, UPPER):
        add(agent, session_id)
    add(agent, THEIRS, cwd=OTHER)
    return agent


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.jsonl"))


# Finding


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (ID_1, ID_1),
        (ID_2, ID_2),
        (SHORT, SHORT),  # a whole id wins, though it is the start of others
        (UPPER, UPPER),
        ("0199C", UPPER),
        ("0199C0DF-2222-7000-8000-00000000000", UPPER),
    ],
)
@pytest.mark.parametrize("cwd", [CWD, "/team/../team/app/", None])
def test_a_session_is_found_by_id_or_unique_prefix(agent: Path, name: str, found: str, cwd: str | None) -> None:
    info = SessionManager.find(name, cwd, agent_dir=agent)
    assert (info.id, info.path) == (found, project_dir(CWD, agent) / f"{found}.jsonl")
    assert info.message_count == 3


def test_a_relative_cwd_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = add(tmp_path / "agent", "mine", cwd=str(tmp_path / "project"))
    assert SessionManager.find("mi", "project", agent_dir=tmp_path / "agent").path == path


@pytest.mark.parametrize("name", ["0199c0d", "0199c0de-", "0199c0de-1111-7000-8000-00000000000"])
def test_a_prefix_of_several_is_an_error_that_lists_them(agent: Path, name: str) -> None:
    with pytest.raises(AmbiguousSessionError) as caught:
        SessionManager.find(name, CWD, agent_dir=agent)
    folder = project_dir(CWD, agent)
    expected = {folder / f"{one}.jsonl" for one in (ID_1, ID_2, SHORT) if one.startswith(name)}
    assert set(caught.value.candidates) == expected
    assert len(caught.value.candidates) == len(expected)
    assert name in str(caught.value)


@pytest.mark.parametrize("cwd", [CWD, None])
def test_an_id_that_several_files_have_is_an_error_that_lists_them(agent: Path, cwd: str | None) -> None:
    copy = add(agent, SHORT, name="copy")
    with pytest.raises(AmbiguousSessionError) as caught:
        SessionManager.find(SHORT, cwd, agent_dir=agent)
    assert set(caught.value.candidates) == {copy, copy.with_name(f"{SHORT}.jsonl")}


def test_only_sessions_of_the_project_count_where_there_is_one(agent: Path) -> None:
    mine, theirs = add(agent, "shared-mine"), add(agent, "shared-theirs", cwd=OTHER)
    assert SessionManager.find("shared", CWD, agent_dir=agent).path == mine
    assert SessionManager.find("shared", OTHER, agent_dir=agent).path == theirs
    with pytest.raises(AmbiguousSessionError) as caught:
        SessionManager.find("shared", agent_dir=agent)
    assert set(caught.value.candidates) == {mine, theirs}


@pytest.mark.parametrize("name", [THEIRS, "0299"])
def test_a_session_of_another_project_is_an_error_that_says_so(agent: Path, name: str) -> None:
    with pytest.raises(SessionNotFoundError) as caught:
        SessionManager.find(name, CWD, agent_dir=agent)
    assert caught.value.other_project == OTHER
    assert "fork" in str(caught.value)
    assert OTHER in str(caught.value)
    assert SessionManager.find(name, agent_dir=agent).id == THEIRS, "among all it is there"
    assert SessionManager.find(name, OTHER, agent_dir=agent).id == THEIRS


def test_projects_that_share_a_folder_are_told_apart(tmp_path: Path) -> None:
    """`/team/app` and `/team-app` have one folder."""
    add(tmp_path, "theirs", cwd="/team-app")
    with pytest.raises(SessionNotFoundError) as caught:
        SessionManager.find("theirs", CWD, agent_dir=tmp_path)
    assert caught.value.other_project == "/team-app"


@pytest.mark.parametrize(
    "name", ["ffff", "0199c0df", "0199C0DE", "c0de", "..", ".", "*", "0199?0de", "[0]", "\0", "\n", "~"]
)
@pytest.mark.parametrize("cwd", [CWD, None])
def test_a_name_that_fits_nothing_is_not_found(agent: Path, name: str, cwd: str | None) -> None:
    """Case counts, and a name is no pattern."""
    with pytest.raises(SessionNotFoundError) as caught:
        SessionManager.find(name, cwd, agent_dir=agent)
    assert caught.value.other_project is None


@pytest.mark.parametrize("cwd", [CWD, None])
def test_an_empty_name_is_an_error(agent: Path, cwd: str | None) -> None:
    with pytest.raises(ValueError, match="empty"):
        SessionManager.find("", cwd, agent_dir=agent)
    with pytest.raises(ValueError, match="empty"):
        SessionManager.delete("", cwd, agent_dir=agent)
    assert len(files(agent)) == 5


def test_an_empty_cwd_is_an_error(agent: Path) -> None:
    with pytest.raises(ValueError, match="cwd"):
        SessionManager.find(ID_1, "", agent_dir=agent)


def test_no_sessions_at_all(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFoundError):
        SessionManager.find("any", CWD, agent_dir=tmp_path / "nowhere")


def test_a_path_is_a_path(agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "else/where/odd.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(session("odd", cwd=OTHER))
    plain = path.with_name("plain")
    plain.write_bytes(session("plain"))
    for name in (str(path), "else/where/odd.jsonl", "./else/where/../where/odd.jsonl"):
        for cwd in (CWD, None):  # whoever names a file means it, whatever project it is of
            info = SessionManager.find(name, cwd, agent_dir=agent)
            assert info.id == "odd"
            assert info.path.samefile(path)
    assert SessionManager.find(str(plain), CWD, agent_dir=agent).id == "plain"
    monkeypatch.chdir(path.parent)
    assert SessionManager.find("odd.jsonl", CWD, agent_dir=agent).id == "odd"
    with pytest.raises(SessionNotFoundError):
        SessionManager.find("plain", CWD, agent_dir=agent)  # an id, and nobody's


@pytest.mark.parametrize("name", ["missing.jsonl", "./missing", "a\\b", f"{ID_1}.jsonl", f"sub/{ID_1}"])
def test_a_path_to_nothing_is_not_looked_up_as_an_id(
    agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((SessionNotFoundError, FileNotFoundError)) as caught:
        SessionManager.find(name, CWD, agent_dir=agent)
    assert Path(name).name in str(caught.value).replace("\\\\", "\\")


def test_a_path_to_what_is_no_session(agent: Path, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b"no session\n")
    with pytest.raises((FormatError, SessionNotFoundError)):
        SessionManager.find(str(path), CWD, agent_dir=agent)
    with pytest.raises((FormatError, SessionNotFoundError, OSError)):
        SessionManager.find(f"{tmp_path}/", CWD, agent_dir=agent)


def test_a_flat_folder_of_all_projects(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(session("one"))
    (tmp_path / "other.jsonl").write_bytes(session("other", cwd=OTHER))
    assert SessionManager.find("on", CWD, session_dir=tmp_path).id == "one"
    assert SessionManager.find("ot", session_dir=tmp_path).id == "other"
    with pytest.raises(SessionNotFoundError) as caught:
        SessionManager.find("ot", CWD, session_dir=tmp_path)
    assert caught.value.other_project == OTHER


def test_the_environment_names_the_agents_folder(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELYRA_CODING_AGENT_SESSION_DIR", raising=False)
    monkeypatch.setenv("ELYRA_CODING_AGENT_DIR", str(agent))
    assert SessionManager.find(SHORT, CWD).id == SHORT


# Deleting


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder with programs; send2trash is not installed."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setitem(sys.modules, "send2trash", None)
    return folder


def trash_command(programs: Path, script: str) -> Path:
    """Make a command `trash`; where it puts things."""
    command, bin_ = programs / "trash", programs.parent / "trash"
    bin_.mkdir()
    command.write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{script}\n".replace("TRASH", str(bin_)))
    command.chmod(0o755)
    return bin_


MOVE = 'while [ $# -gt 0 ]; do case "$1" in --) ;; -*) exit 2 ;; *) mv -- "$1" TRASH ;; esac; shift; done'
"""A command that takes options, and knows none."""


def test_a_session_goes_to_the_trash(agent: Path, programs: Path) -> None:
    trash = trash_command(programs, MOVE)
    before = files(agent)
    assert SessionManager.delete(SHORT, CWD, agent_dir=agent) == "trashed"
    path = project_dir(CWD, agent) / f"{SHORT}.jsonl"
    assert files(agent) == [one for one in before if one != path]
    assert (trash / path.name).read_bytes() == session(SHORT)


def test_without_a_trash_a_session_is_removed(agent: Path, programs: Path) -> None:
    before = files(agent)
    assert SessionManager.delete(ID_2[:-1] + "2", agent_dir=agent) == "removed"
    assert files(agent) == [one for one in before if ID_2 not in one.name]


@pytest.mark.parametrize("script", ["echo no >&2; exit 1", "exit 0", "kill -9 $$"])
def test_a_trash_that_does_not_work_is_none(
    agent: Path, programs: Path, capfd: pytest.CaptureFixture[str], script: str
) -> None:
    trash = trash_command(programs, script)
    assert SessionManager.delete(SHORT, CWD, agent_dir=agent) == "removed"
    assert not (project_dir(CWD, agent) / f"{SHORT}.jsonl").exists()
    assert list(trash.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_a_trash_that_cannot_be_started_is_none(agent: Path, programs: Path) -> None:
    (programs / "trash").write_bytes(b"\x7fELF no program")
    (programs / "trash").chmod(0o755)
    assert SessionManager.delete(SHORT, CWD, agent_dir=agent) == "removed"


def _send2trash(monkeypatch: pytest.MonkeyPatch, work: Callable[[Any], None]) -> None:
    module = ModuleType("send2trash")
    module.send2trash = work  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "send2trash", module)


def test_send2trash_is_asked_where_there_is_no_command(
    agent: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def send(paths: Any) -> None:  # noqa: ANN401  whatever it is given
        for path in paths if isinstance(paths, list) else [paths]:
            sent.append(str(path))
            Path(path).unlink()

    _send2trash(monkeypatch, send)
    assert SessionManager.delete(SHORT, CWD, agent_dir=agent) == "trashed"
    assert sent == [str(project_dir(CWD, agent) / f"{SHORT}.jsonl")]
    trash_command(programs, MOVE)
    assert SessionManager.delete(ID_1, CWD, agent_dir=agent) == "trashed"
    assert len(sent) == 1, "the command comes first"


def test_a_send2trash_that_fails_is_none(agent: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(paths: Any) -> None:  # noqa: ANN401
        raise OSError("no trash on this disk")

    _send2trash(monkeypatch, send)
    assert SessionManager.delete(SHORT, CWD, agent_dir=agent) == "removed"
    assert not (project_dir(CWD, agent) / f"{SHORT}.jsonl").exists()


@pytest.mark.parametrize("name", ["-rf.jsonl", "a b'\"$(x);.jsonl", "caf\u00e9\n.jsonl"])
def test_an_odd_name_is_no_option_and_no_command(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    trash = trash_command(programs, MOVE)
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(session())
    assert SessionManager.delete(name) == "trashed"
    assert [one.name for one in trash.iterdir()] == [name]


def test_a_link_is_deleted_and_not_what_it_points_to(agent: Path, programs: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_bytes(session())
    link.symlink_to(target)
    assert SessionManager.delete(str(link), agent_dir=agent) == "removed"
    assert not link.is_symlink()
    assert target.read_bytes() == session()


@pytest.mark.parametrize("name", ["0199c0de-", THEIRS, "ffff", "..", "*", "../agent", "missing.jsonl", "notes.jsonl"])
def test_what_is_not_one_session_is_not_deleted(
    agent: Path, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    trash_command(programs, MOVE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.jsonl").write_bytes(b"notes\n")
    before = files(tmp_path)
    with pytest.raises((SessionError, OSError)):
        SessionManager.delete(name, CWD, agent_dir=agent)
    assert files(tmp_path) == before
