"""The listing of pi's own test vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference import read
from sessiontree import SessionManager, scan
from support import (
    FILE_TIME,
    info_facts,
    reports,
    same_facts,
    session_facts,
    vector_file,
    vector_rows,
    vectors,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=vectors(), ids=lambda folder: folder.name)
def vector(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


@pytest.fixture
def path(vector: Path, tmp_path: Path) -> Path:
    """A copy of the vector's file, alone in a folder."""
    return write(tmp_path / "session.jsonl", vector_file(vector).read_bytes())


@pytest.mark.parametrize("text", [False, True])
def test_listing(vector: Path, path: Path, text: bool) -> None:
    infos = SessionManager.list_all(session_dir=path.parent, text=text)
    expected = vector_rows(vector)
    assert len(infos) == len(expected)
    rows = [same_facts(info_facts(info), row) for info, row in zip(infos, expected, strict=True)]
    assert rows == expected


def test_all_else_is_as_the_reference_reads_it(path: Path) -> None:
    found = scan(path.parent)
    session = read(path.read_bytes(), mtime_ms=FILE_TIME * 1000)
    assert [info.path for info in found] == ([] if session is None else [path])
    assert [info_facts(info) for info in found] == ([] if session is None else [session_facts(session)])
    assert reports(found.damage) == ([] if session is None else session.damage)


def test_a_named_file_that_is_no_session_is_reported(vector: Path, path: Path) -> None:
    found = scan(path)
    assert len(found) == len(vector_rows(vector))
    assert [one for one in reports(found.damage) if one[0] == "file"] == ([] if found else [("file", None, None)])


def test_reading_leaves_the_file_as_it_was(path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())
    for info in scan([path, path.parent]):
        assert info.all_messages_text is not None
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(path.parent.iterdir())) == before
