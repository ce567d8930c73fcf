"""Opening one large session and working with it, against pi and the simple way in Python, in one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from sessiontree import SessionManager

from . import musts
from .measure import median

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from sessiontree import TreeNode

    from .jobs import Field
    from .stores import Store

ENTRIES = 60_000
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/home/me"}

CONTEXT_S = 0.020
ENTRIES_S = 0.060
TREE_S = 0.100
APPEND_S = 50e-6


def test_open_and_context(field: Field, store: Callable[[str], Store], is_full_size: bool) -> None:
    figures = field.opening(store("C").files[0]).figures
    print(*figures.items(), sep="\n")
    assert musts.unmet(musts.of_opening("C", figures), is_full_size) == []


@pytest.fixture
def long_session(tmp_path: Path, scale: float) -> Path:
    """A conversation without a compaction."""
    path = tmp_path / "long.jsonl"
    lines, parent = [orjson.dumps(HEADER)], None
    for number in range(int(ENTRIES * min(1, scale))):
        role = "assistant" if number % 2 else "user"
        content = [{"type": "text", "text": f"Message {number}: " + "some words of it, \n" * 20}]
        message = {"role": role, "content": content, "provider": "p", "model": "m", "timestamp": 1767607200000 + number}
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": HEADER["timestamp"]}
        lines.append(orjson.dumps(entry | {"message": message}))
        parent = f"{number:08x}"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_a_long_session(long_session: Path, benchmark: BenchmarkFixture, is_full_size: bool) -> None:
    manager = SessionManager.open(long_session)
    joined = manager._session.context().joined()
    messages = manager.build_session_context().messages
    assert messages == orjson.loads(joined)
    assert len(messages) == len(manager.get_entries()) == sum(1 for _ in _nodes(manager))

    info = {
        "entries": len(messages),
        "context_mb": len(joined) / 1e6,
        "orjson_of_messages_s": median(lambda: orjson.loads(joined)),
        "context_before_orjson_s": median(lambda: manager._session.context().joined()),
        "context_s": median(manager.build_session_context),
        "get_entries_s": median(manager.get_entries),
        "get_tree_s": median(manager.get_tree),
        "get_branch_s": median(manager.get_branch),
    }
    benchmark(manager.append_custom_entry, "bench", {"count": 42})
    assert benchmark.stats is not None
    info["append_us"] = benchmark.stats.stats.median * 1e6
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.4f}" for key, value in info.items()), sep="\n")
    if is_full_size:
        assert info["context_before_orjson_s"] < CONTEXT_S
        assert info["get_entries_s"] < ENTRIES_S
        assert info["get_tree_s"] < TREE_S
        assert benchmark.stats.stats.median < APPEND_S


def _nodes(manager: SessionManager) -> Iterator[TreeNode]:
    ahead = manager.get_tree()
    while ahead:
        node = ahead.pop()
        yield node
        ahead.extend(node.children)
