"""What the README says can be done as it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sessiontree import SessionManager
from sessiontree.cli import main
from sessiontree.elyra.paths import project_dir
from support import write

if TYPE_CHECKING:
    import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
SESSION = (
    b'{"type":"session","id":"s","cwd":"/home/me/project","timestamp":"2026-01-05T10:00:00.000Z"}\n'
    b'{"type":"session_info","name":"Tidy up"}\nnot JSON\n'
)


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.M | re.S)


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ELYRA_CODING_AGENT_DIR", str(tmp_path))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    path = write(project_dir("/home/me/project", tmp_path) / "s.jsonl", SESSION)
    names: dict[str, object] = {}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "2026-01-05 10:00:00+00:00 Tidy up 0.0"
    assert said[1].startswith(f"{path}:3: ")
    assert said[2] == f"{path} 1"
    assert said[3].startswith("shape: (0, 3)")
    assert (
        path.read_text(encoding="utf-8")
        .splitlines()[-1]
        .endswith('"message":{"role":"user","content":"Where were we?"}}')
    )


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELYRA_CODING_AGENT_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    session = SessionManager.create(tmp_path)
    session.append_message({"role": "user", "content": "Hello"})
    (commands,) = blocks("sh")
    lines = [line.split("#")[0].split() for line in commands.splitlines()]
    assert len(lines) > 3
    for program, *arguments in lines:
        assert program == "sessiontree"
        assert main(arguments) == 0


def test_what_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    for link in links:
        assert (Path(__file__).parent.parent / link).exists(), link
