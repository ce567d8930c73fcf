"""Where sessions live, and which project a session is of."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sessiontree import SessionManager, pi_agent_dir, scan
from sessiontree.elyra.paths import project_dir, same_cwd, store
from support import write


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/user/p", "--home-user-p--"),
        ("/home/user/a-b/c", "--home-user-a-b-c--"),
        ("/home/user/../user/p/", "--home-user-p--"),
        ("//home/user/p", "--home-user-p--"),
        ("/", "----"),
        ("C:\\Users\\me", "--C--Users-me--"),
        ("\\\\server\\share\\p", "--\\server\\share\\p--".replace("\\", "-")),
    ],
)
def test_a_projects_folder(cwd: str, name: str) -> None:
    assert project_dir(cwd, Path("/agent")) == Path("/agent/sessions") / name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/a/b", "/a/b/", True),
        ("/a/b", "/a/./c/../b", True),
        ("//a/b", "/a/b", True),
        ("/a/b", "/A/b", False),
        ("/a/b", "/a-b", False),
        ("C:\\Users\\Me", "c:/users/me/", True),
        ("\\\\Server\\share\\x", "//server/share/x", False),
        ("C:\\a", "/C:/a", False),
    ],
)
def test_which_cwds_are_one(one: str, other: str, same: bool) -> None:
    assert same_cwd(one, other) is same
    assert same_cwd(other, one) is same


def header(cwd: str | None) -> bytes:
    return b'{"type":"session","id":"s"' + (b"" if cwd is None else b',"cwd":"%s"' % cwd.encode()) + b"}\n"


def test_list_leaves_out_other_projects_of_the_same_folder(tmp_path: Path) -> None:
    folder = project_dir("/p/a-b", tmp_path)
    own = write(folder / "1.jsonl", header("/p/a-b"))
    write(folder / "2.jsonl", header("/p/a/b"))
    without = write(folder / "3.jsonl", header(None))
    listed = SessionManager.list("/p/a-b", agent_dir=tmp_path)
    assert {info.path for info in listed} == {own, without}, "in its own folder, one without a cwd is the project's"
    assert [info.path for info in SessionManager.list("/p/a-b", folder)] == [own], (
        "in a folder of all projects it is not"
    )


def test_an_empty_cwd_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cwd is empty"):
        SessionManager.list("", agent_dir=tmp_path)


def test_a_relative_cwd_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(project_dir(tmp_path / "p", tmp_path) / "1.jsonl", header(f"{tmp_path}/p"))
    assert [info.path for info in SessionManager.list("p", agent_dir=tmp_path)] == [path]


def test_who_wins_among_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ELYRA_CODING_AGENT_DIR", "ELYRA_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert store() == ("agent", Path("/home/me/.elyra/agent"))
    assert pi_agent_dir() == Path("/home/me/.pi/agent")
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "/pi")
    monkeypatch.setenv("ELYRA_CODING_AGENT_DIR", "~/elsewhere")
    assert (store(), pi_agent_dir()) == (("agent", Path("/home/me/elsewhere")), Path("/pi"))
    monkeypatch.setenv("ELYRA_CODING_AGENT_SESSION_DIR", "/flat")
    assert store() == ("flat", Path("/flat"))
    assert store(agent_dir="/agent") == ("agent", Path("/agent"))
    assert store("/mine", "/agent") == ("flat", Path("/mine"))


def test_one_warning_counts_what_could_not_be_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    good = write(tmp_path / "good.jsonl", header("/p"))
    for name in ("loop1.jsonl", "loop2.jsonl"):
        (tmp_path / name).symlink_to(name)
    with caplog.at_level(logging.WARNING, "sessiontree"):
        assert [info.path for info in SessionManager.list_all(session_dir=tmp_path)] == [good]
    assert [record.getMessage()[:21] for record in caplog.records] == ["could not be read: 2 "]
    assert [damage.kind for damage in scan(tmp_path).damage] == ["file", "file"]
