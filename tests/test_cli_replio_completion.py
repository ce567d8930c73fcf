"""What docs/replio.md has shells do: they complete the names of sessions, whatever those are."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_replio_support import Project, project_in
from sessiontree.cli.replio import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (Path(__file__).parent.parent / "docs/replio.md").read_text(encoding="utf-8")
NAMES = ["$(touch pwned)", "a b", "ses_1", "ses_2 'two'", 'ses_"3"', "ses_\\4", "ses_;&|", "ses_é", "x*"]

BASH = """
source %s
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_sessiontree_replio
eval "printf '%%s\\n' ${COMPREPLY[*]}"  # as the user would run what was completed
"""
ZSH = """
compdef() { }
_files() { }
compadd() { [[ $1 == -- ]] && shift; for one in "$@"; do [[ $one == "$words[CURRENT]"* ]] && print -r -- "$one"; done }
source %s
words=("$@") CURRENT=$#
_sessiontree_replio
"""
FISH = """
source %s
complete -C (string join ' ' -- (string escape -- $argv[1..-2]) $argv[-1])
"""
SHELLS = {"bash": (BASH, ["--norc", "-c"]), "zsh": (ZSH, ["-f", "-c"]), "fish": (FISH, ["--no-config", "-c"])}


def snippet(shell: str) -> str:
    (text,) = re.findall(rf"^```{shell}\n(.*?)^```$", PAGE, re.M | re.S)
    return str(text)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project beside which there is a program `sessiontree`."""
    project = project_in(tmp_path)
    for name in NAMES:
        project.add(name)
    program = tmp_path / "bin/sessiontree"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sessiontree "$@"\n')
    program.chmod(0o755)
    return project


@pytest.fixture(params=SHELLS)
def complete(project: Project, request: pytest.FixtureRequest) -> Callable[..., list[str]]:
    """Gives what a shell would make of the last of some words, in the project's folder."""
    shell = str(request.param)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script, options = SHELLS[shell]
    file = project.home.folder / "snippet"
    file.write_text(snippet(shell))
    home = project.home.given(PATH=f"{project.home.folder}/bin:/usr/bin:/bin", LC_ALL="C.UTF-8")

    def completed(*words: str) -> list[str]:
        command = [str(shutil.which(shell)), *options, script % shlex.quote(str(file))]
        arguments = [*(["shell"] if shell != "fish" else []), "sessiontree", *words]
        done = subprocess.run(
            [*command, *arguments],
            cwd=project.folder,
            env=home.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.stderr == ""
        return sorted(done.stdout.splitlines())

    return completed


def test_actions_are_completed(complete: Callable[..., list[str]]) -> None:
    assert complete("replio", "") == sorted(COMMANDS)
    assert complete("replio", "ex") == ["export"]


def test_names_are_completed_whatever_they_are(complete: Callable[..., list[str]], project: Project) -> None:
    assert [name for name in complete("replio", "preview", "") if name != ".replio/"] == sorted(NAMES)
    assert complete("replio", "delete", "--yes", "ses_1", "ses_2") == ["ses_2 'two'"]
    assert complete("replio", "context", "nothing") in ([], [""])
    assert not (project.folder / "pwned").exists()


def test_another_project_is_looked_into(complete: Callable[..., list[str]], project: Project) -> None:
    other = Project(project.home).home.folder / "an other/.replio/sessions"
    other.mkdir(parents=True)
    (other / "elsewhere.json").write_text("{}")
    assert complete("replio", "export", "-C", "../an other", "e") == ["elsewhere"]
    assert complete("replio", "export", "-C", "~/project", "ses_1") == ["ses_1"]


def test_a_new_sessions_name_is_its_own(complete: Callable[..., list[str]]) -> None:
    assert complete("replio", "new", "ses_1") in ([], [""])
    assert complete("replio", "new", "--parent", "ses_1") == ["ses_1"]


def test_other_commands_are_left_alone(complete: Callable[..., list[str]]) -> None:
    assert complete("list", "ses_1") in ([], [""])
