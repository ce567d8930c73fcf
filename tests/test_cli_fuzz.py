"""Whatever a file holds, what reads sessions prints it, fit for a terminal, and says how whole it was."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings

import strategies
from cli_support import dangerous
from reference_json import decode, string
from sessiontree import SessionManager, scan
from sessiontree.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "session.jsonl"


def printed(code: int, *arguments: str) -> str:
    """What a command prints that ends with that code."""
    out, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        assert main(arguments) == code, said.getvalue()
    assert (said.getvalue() == "") == (code == 0)
    assert dangerous("".join(said.getvalue().split("\n"))) == set()
    return out.getvalue()


def rows(code: int, *arguments: str) -> list[dict[str, Any]]:
    lines = printed(code, *arguments, "--jsonl").split("\n")[:-1]
    return [cast("dict[str, Any]", value) for line in lines for value in decode(line.encode())[0]]


@given(data=strategies.session_files())
@settings(max_examples=strategies.EXAMPLES // 8, deadline=None)
def test_whatever_a_file_holds_is_printed(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    found = scan(path)
    if not found:
        for command in ("show", "tree", "context"):
            assert printed(4, command, str(path)) == ""
        return
    code = 4 if found[0].damage_count else 0
    for name, *options in (("show",), ("show", "--full"), ("tree",), ("tree", "--full")):
        text = printed(code, name, str(path), *options)
        assert dangerous("".join(text.split("\n"))) == set()
    with SessionManager.open(path, read_only=True) as session:
        branch = [entry.id for entry in session.get_branch()]
        ids = {entry.id for entry in session.get_entries()} - {None}
        roles = [string(dict(message), "role") for message in session.build_session_context().messages]
    drawn = rows(code, "tree", str(path))
    assert len(drawn) == len(ids)
    assert {row["id"] for row in drawn} == ids
    assert {row["id"] for row in drawn if row["onBranch"]} == set(branch)
    assert [record.get("id") for record in rows(code, "show", str(path))[1:]] == branch
    assert [string(message, "role") for message in rows(code, "context", str(path))] == roles
