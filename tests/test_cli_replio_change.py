"""`sessiontree replio new`, `export` and `delete`: what they write and remove, and what they never touch."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_replio_support import CALLS, TIME, Project, message, project_in
from cli_support import COMMAND
from sessiontree.replio import ReplioStore

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path)


# New sessions


def test_a_new_session_is_there_and_empty(project: Project) -> None:
    assert project.said("new", "my notes") == "my notes\n"
    assert project.files() == [".replio", ".replio/sessions", ".replio/sessions/my notes.json"]
    session = ReplioStore(project.folder).read("my notes")
    assert (session.messages, session.errors, session.permissions) == ((), (), ())
    assert project.said("preview", "my notes").startswith("  my notes - 0 messages\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), r"ses_\d{8}_\d{6}"),
        (("--job", "Nightly report!"), r"job_\d{8}_\d{6}_Nightly_report"),
        (("--parent", "lead.1"), r"sub_\d{8}_\d{6}_lead\.1"),
        (("--parent", "lead"), r"sub_\d{8}_\d{6}_lead\.1"),
        (("--parent", "lead", "--job", "x"), r"job_\d{8}_\d{6}_x"),
        (("--parent", "lead", "mine"), "mine"),
    ],
    ids=" ".join,
)
def test_names_are_made_up_by_kind(project: Project, options: tuple[str, ...], expected: str) -> None:
    project.add("lead.1")
    name = project.said("new", *options).removesuffix("\n")
    assert re.fullmatch(expected, name)
    document = json.loads((project.sessions / f"{name}.json").read_bytes())
    assert document["name"] == name
    assert document["parent_id"] == ("lead.1" if "--parent" in options else "")


def test_names_that_are_made_up_are_never_taken(project: Project) -> None:
    names = {project.said("new", "--job", "x") for _ in range(4)}
    assert len(names) == 4
    assert sorted(project.said("list", "--names").splitlines(keepends=True)) == sorted(names)


def test_nothing_is_written_over(project: Project) -> None:
    path = project.add("ses_1", message("user", "x"))
    before = path.read_bytes()
    cut = project.put("cut", b"{")
    for taken in (path, cut):
        done = project.run("new", taken.stem)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"sessiontree: {taken}: a session of that name exists\n"
    assert (path.read_bytes(), cut.read_bytes()) == (before, b"{")
    (project.sessions / "link.json").symlink_to(project.folder / "elsewhere")
    assert project.run("new", "link").returncode == 1
    assert not (project.folder / "elsewhere").exists()


def test_what_cannot_be_begun_is_told(project: Project) -> None:
    project.add("lead_1")
    project.add("lead_2")
    before = project.files()
    for arguments, code, said in [
        (("../outside",), 2, "dot"),
        (("a/b",), 2, "a/b"),
        (("x" * 252,), 2, "too long"),
        (("",), 2, "empty"),
        (("a", "--job", "b"), 2, "one of them"),
        (("--parent", "missing"), 3, "Session not found: missing"),
        (("--parent", "lead"), 3, "start of 2 sessions' names"),
    ]:
        done = project.run("new", *arguments)
        assert (done.returncode, done.stdout) == (code, ""), arguments
        assert said in done.stderr
    assert project.files() == before
    (project.home.folder / "bare").mkdir()
    assert project.run("new", "../outside", "-C", "../bare").returncode == 2
    assert not (project.home.folder / "bare/.replio").exists()


def test_json_of_a_new_session(project: Project) -> None:
    lead = project.add("lead")
    for form in ("--json", "--jsonl"):
        row = json.loads(project.said("new", "--parent", "lead", form))
        assert row == {"name": row["name"], "path": str(lead.with_name(f"{row['name']}.json")), "parent_id": "lead"}
        assert Path(row["path"]).exists()


# Exports

MARKDOWN = f"""\
# Session: ses_1

- Created: {TIME}
- Updated: {TIME}
- Messages: 1

---

### User - {TIME}

Grüße
"""


def test_an_export_goes_beside_the_sessions(project: Project) -> None:
    path = project.add("ses_1", message("user", "Grüße"))
    before = path.read_bytes()
    exported = project.folder / ".replio/exports/ses_1.md"
    for name in ("ses_1", "ses"):
        assert project.said("export", name) == f"Exported session: ses_1 -> {exported}\n"
        assert exported.read_bytes() == MARKDOWN.encode()
        exported.write_text("old")
    assert path.read_bytes() == before


def test_an_export_goes_where_it_is_sent(project: Project) -> None:
    project.add("ses_1", message("user", "Grüße"))
    assert project.said("export", "ses_1", "--out", "deep/er/x.md") == "Exported session: ses_1 -> deep/er/x.md\n"
    assert (project.folder / "deep/er/x.md").read_bytes() == MARKDOWN.encode()
    assert ".replio/exports" not in project.files()
    row = json.loads(project.said("export", "ses_1", "--out", "x.md", "--json"))
    assert row == {"name": "ses_1", "path": "x.md"}


@pytest.mark.parametrize("variables", [{}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}], ids=str)
def test_an_export_to_standard_output_is_the_file_byte_for_byte(project: Project, variables: dict[str, str]) -> None:
    project.add("ses_1", *CALLS, message("user", "Grüße\r\n\x1b[31m\0\U0001f680"))
    project.said("export", "ses_1", "--out", "x.md")
    before = project.files()
    printed = subprocess.run(
        [*COMMAND, "replio", "export", "ses_1", "--out", "-"],
        cwd=project.folder,
        env=project.home.given(**variables).environment(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert printed.stdout == (project.folder / "x.md").read_bytes()
    assert project.files() == before


def test_an_export_never_takes_a_sessions_place(project: Project) -> None:
    path = project.add("ses_1", message("user", "x"))
    before = path.read_bytes()
    (project.folder / "link").symlink_to(path)
    for out in (path, "link", ".replio/sessions/new.json"):
        done = project.run("export", "ses_1", "--out", out)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"sessiontree: {out}: an export never takes the place of a session\n"
    assert path.read_bytes() == before
    assert project.said("list", "--names") == "ses_1\n"


def test_what_cannot_be_exported_is_told(project: Project) -> None:
    project.add("ses_1")
    (project.folder / "file").touch()
    for out in (".", "file/x.md"):
        done = project.run("export", "ses_1", "--out", out)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("sessiontree: ")
    done = project.run("export", "ses_1", "--out", "-", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "goes without --json" in done.stderr


# Deletion


def test_whole_names_are_deleted_at_once(project: Project) -> None:
    paths = [project.add(name) for name in ("ses_1", "ses_1_long", "cut", "kept")]
    paths[2].write_bytes(b"{")
    assert project.said("delete", "ses_1", "cut", "ses_1") == "Deleted session: ses_1\nDeleted session: cut\n"
    assert project.said("delete", paths[1]) == "Deleted session: ses_1_long\n"
    assert [path.exists() for path in paths] == [False, False, False, True]
    done = project.run("delete", "ses_1")
    assert (done.returncode, done.stderr) == (3, "sessiontree: Session not found: ses_1\n")


def test_starts_of_names_are_deleted_when_told_to(project: Project) -> None:
    paths = [project.add(name) for name in ("ses_1", "job_1")]
    done = project.run("delete", "job_1", "ses")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ses_1 was named by its start" in done.stderr
    assert all(path.exists() for path in paths)
    assert project.said("delete", "job_1", "ses", "--yes") == "Deleted session: job_1\nDeleted session: ses_1\n"


def test_nothing_is_deleted_unless_all_are_found(project: Project) -> None:
    path = project.add("ses_1")
    for other, code in (("missing", 3), ("../x", 2)):
        assert project.run("delete", "ses_1", other, "--yes").returncode == code
        assert path.exists()


def test_json_of_what_was_deleted(project: Project) -> None:
    paths = [project.add(f"ses_{number}") for number in range(3)]
    done = json.loads(project.said("delete", "ses_0", "--json"))
    assert done == [{"name": "ses_0", "path": str(paths[0])}]
    assert [row["name"] for row in project.rows("delete", "ses_1", "ses_2")] == ["ses_1", "ses_2"]


def test_a_link_is_deleted_and_not_what_it_points_at(project: Project) -> None:
    path = project.add("ses_1")
    (project.sessions / "link.json").symlink_to(path)
    assert project.said("delete", "link") == "Deleted session: link\n"
    assert path.exists()


STUBBORN = """
import pathlib, sys
from sessiontree import cli

unlink = pathlib.Path.unlink

def refuse(path, **options):
    if path.name == "ses_1.json":
        raise PermissionError(13, "Permission denied", str(path))
    unlink(path, **options)

pathlib.Path.unlink = refuse
sys.exit(cli.main(["replio", *sys.argv[1:]]))
"""
"""The command, where one file cannot be removed."""


def test_one_that_cannot_be_deleted_does_not_keep_the_others(project: Project) -> None:
    first = project.add("ses_1")
    project.add("ses_2")
    done = project.run("delete", "ses_1", "ses_2", command=[sys.executable, "-c", STUBBORN])
    assert (done.returncode, done.stdout) == (1, "Deleted session: ses_2\n")
    assert done.stderr == f"sessiontree: {first}: Permission denied\n"


@pytest.mark.parametrize(
    ("typed", "is_deleted"), [("y\n", True), (" Yes \n", True), ("n\n", False), ("\n", False), ("\x04", False)]
)
def test_on_a_terminal_it_asks_about_starts_of_names(project: Project, typed: str, is_deleted: bool) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    path = project.add("ses_1")
    shown = project.on_terminal("delete", "ses", typed=typed)
    assert "  ses_1" in shown.lines
    assert any("Delete 1 session? [y/N] " in line for line in shown.lines)
    assert path.exists() != is_deleted
    assert shown.code == (0 if is_deleted else 1)
    assert shown.lines[-2].endswith("Deleted session: ses_1" if is_deleted else "nothing was deleted")


def test_on_a_terminal_it_does_not_ask_about_whole_names(project: Project) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    project.add("ses_1")
    assert project.on_terminal("delete", "ses_1").lines == ["Deleted session: ses_1", ""]


# A folder that may only be read


AS_NOBODY = """
import sys
from sessiontree import cli
from sessiontree.replio import ReplioStore  # who is nobody may not be able to import what is imported late
from sessiontree.cli import _transcript
from sessiontree.cli.replio import check, context, delete, export, list, new, preview
import orjson
from as_nobody import drop_rights

drop_rights()
sys.exit(cli.main(["replio", *sys.argv[1:]]))
"""


@pytest.fixture
def open_project() -> Iterator[Project]:
    """A project that every user may look into, and nobody but its owner change."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield project_in(Path(name))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_where_nothing_can_be_written_reading_works(open_project: Project) -> None:
    project = Project(open_project.home.given(PYTHONPATH=str(Path(__file__).parent)))
    path = project.add("ses_1", *CALLS)
    (project.home.folder / "bare").mkdir()
    for folder in (path.parent, project.folder, project.home.folder / "bare"):
        folder.chmod(0o555)
    before = project.files()

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return project.run(*arguments, command=[sys.executable, "-c", AS_NOBODY])

    for arguments in (("list",), ("preview", "ses"), ("context", "ses"), ("export", "ses", "--out", "-"), ("check",)):
        done = run(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), arguments
    for arguments, touched in (
        (("new", "x"), path.parent),
        (("new", "x", "-C", str(project.home.folder / "bare")), project.home.folder / "bare/.replio"),
        (("export", "ses"), project.folder / ".replio/exports"),
        (("delete", "ses_1"), path),
    ):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (1, ""), arguments
        assert done.stderr.startswith(f"sessiontree: {touched}"), arguments
        assert done.stderr.endswith(": Permission denied\n"), arguments
    assert project.files() == before
    for folder in (path.parent, project.folder):
        folder.chmod(0o755)
