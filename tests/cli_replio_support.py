"""A project with Replio sessions, and `sessiontree replio` in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli_support import COMMAND, Home

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from pathlib import Path

    from cli_support import Shown

TIME = "2031-03-04T05:06:07+00:00"
HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b31m \x00\x7f\r\u2028\u0085\u202eevil\u202c \u2066\u200f"
"""A text that a terminal would act on."""

SHOWN = r"\x1b[31mred\x1b]0;title\x07 \x9b31m \x00\x7f"
"""How that begins where it is shown."""


def message(role: str, content: object, **more: object) -> dict[str, Any]:
    return {"role": role, "content": content, "timestamp": TIME, **more}


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CALLS = [
    message("system", "Be brief."),
    message("user", "How deep is the tank?"),
    message(
        "assistant", None, thinking="The sheet knows.", tool_calls=[call("c1", "read_file", '{"path":"tank.txt"}')]
    ),
    message("tool", "4 m", tool_call_id="c1", tool="read_file"),
    message("assistant", "It is 4 m deep.", model="toy-1b"),
    message("command", "/model toy-2b"),
]
"""A conversation with a tool."""


@dataclass(frozen=True)
class Project:
    """A project's folder, in a user's home."""

    home: Home

    @property
    def folder(self) -> Path:
        return self.home.folder / "project"

    @property
    def sessions(self) -> Path:
        return self.folder / ".replio/sessions"

    def put(self, name: str, data: bytes) -> Path:
        """Write a session's file, whatever is to be in it."""
        self.sessions.mkdir(parents=True, exist_ok=True)
        path = self.sessions / f"{name}.json"
        path.write_bytes(data)
        return path

    def add(self, name: str, *messages: object, **more: object) -> Path:
        """Write a session."""
        facts = {"name": name, "created_at": TIME, "updated_at": TIME, "messages": messages}
        rest = {"errors": [], "permissions": [], "parent_id": "", "sub_sessions": []}
        return self.put(name, json.dumps({**facts, **rest, **more}, indent=2).encode())

    def run(
        self, *arguments: str | Path, command: Sequence[str] = (*COMMAND, "replio")
    ) -> subprocess.CompletedProcess[str]:
        """Run the command in the project, without a terminal."""
        return self.home.run(*arguments, cwd=self.folder, command=command)

    def said(self, *arguments: str | Path) -> str:
        """What the command prints; it must have gone well."""
        done = self.run(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def rows(self, *arguments: str | Path) -> list[dict[str, Any]]:
        """What it gives as JSON, a line a row; it must have gone well."""
        return [json.loads(line) for line in self.said(*arguments, "--jsonl").splitlines()]

    def on_terminal(self, action: str, *arguments: str | Path, **options: Any) -> Shown:  # noqa: ANN401
        """Run the command on a terminal."""
        return self.home.on_terminal("replio", action, *arguments, "-C", self.folder, **options)

    def files(self) -> list[str]:
        """All that there is in the project, below its folder."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


def project_in(folder: Path) -> Project:
    """A project without sessions."""
    project = Project(Home(folder))
    project.folder.mkdir()
    return project
