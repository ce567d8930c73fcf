"""`sessiontree run` with a real pi as its child, whose model is a script on loopback."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import COMMAND, Home
from interop import npm
from interop.provider import COST_OF_ANSWER, HANGS, Answer, provider
from sessiontree import SessionManager
from sessiontree.events import read_run
from sessiontree.record import replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    folder = tmp_path / "home"
    folder.mkdir()
    return Home(folder).given(PI_OFFLINE="1", PI_CODING_AGENT_DIR=str(tmp_path / "agent"), PI_SKIP_VERSION_CHECK="1")


@pytest.fixture(params=npm.PACKAGES)
def command(request: pytest.FixtureRequest, installed: npm.Installed, tmp_path: Path) -> list[str]:
    """pi in JSON mode, each version in turn; it keeps its sessions in a folder of its own."""
    package = installed.packages[request.param]
    binary = json.loads((package / "package.json").read_bytes())["bin"]["pi"]
    options = ["--mode", "json", "--session-dir", str(tmp_path / "sessions"), "--provider", "fake", "--model", "fake-1"]
    return [str(installed.node), str(package / binary), *options]


def run(home: Home, tmp_path: Path, command: list[str], script: Sequence[Answer], *options: str) -> dict[str, Any]:
    with provider(tmp_path / "agent", script):
        done = home.run("run", "--json", *options, "--", *command, "What is here?")
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["status"] == "ok" else 1), done.stderr
    return found


def test_tools_and_an_answer(home: Home, tmp_path: Path, command: list[str]) -> None:
    said = "The folder is empty.\u2028 \U0001f600 Done."
    script = [Answer("Let me look.", ("bash", {"command": "echo hello"})), Answer(said)]
    kept = tmp_path / "kept.jsonl"
    found = run(home, tmp_path, command, script, "--save", str(kept))
    assert (found["status"], found["final_answer"], found["exit_code"], found["damage"]) == ("ok", said, 0, [])
    [call] = found["tool_calls"]
    assert (call["name"], call["args"], call["state"]) == ("bash", {"command": "echo hello"}, "done")
    assert found["usage"]["cost_total"] == pytest.approx(2 * COST_OF_ANSWER)

    [path] = (tmp_path / "sessions").rglob("*.jsonl")
    with SessionManager.open(path, read_only=True) as pis, SessionManager.open(kept, strict=True) as ours:
        assert pis.get_session_id() == found["session_id"]
        messages = [
            [entry.raw["message"] for entry in one.get_branch() if entry.type == "message"] for one in (pis, ours)
        ]
        assert messages[0] == messages[1]
        again = read_run(replay(pis))
    assert (again.session_id, again.final_answer) == (found["session_id"], said)
    assert [call.to_dict()["args"] for call in again.tool_calls] == [call["args"]]


def test_retries(home: Home, tmp_path: Path, command: list[str]) -> None:
    found = run(home, tmp_path, command, [Answer(status=503), Answer("Here at last.")])
    assert (found["status"], found["final_answer"]) == ("ok", "Here at last.")
    assert [retry["success"] for retry in found["retries"]] == [True]

    found = run(home, tmp_path, command, [Answer(status=503)])
    assert (found["status"], found["final_answer"]) == ("error", None)
    assert "overloaded" in found["error_message"]
    assert len(found["retries"]) == 2


def test_an_interrupt_reaches_pi(home: Home, tmp_path: Path, command: list[str]) -> None:
    with provider(tmp_path / "agent", [HANGS]) as waits:
        ours = subprocess.Popen(
            [*COMMAND, "run", "--json", "--", *command, "Wait"],
            env=home.environment(),
            cwd=home.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        assert waits.wait(30)
        ours.send_signal(signal.SIGINT)
        out, _ = ours.communicate(timeout=30)
    found = json.loads(out)
    assert ours.returncode == 1
    assert found["status"] in ("aborted", "incomplete")
    assert found["session_id"]
