"""Opening one large session and working with it, against pi and the fastest way in Python, in one run.

    pytest benches/bench_open.py -s     the sizes that are quoted
    pytest benches --scale 0.02         a look whether it still works

pi is timed where npm can install it (`SESSIONTREE_INTEROP_DIR` names a folder to keep it in), under its own Node.js.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from interop import npm
from measure import ROUNDS, median, peak_memory_mb
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_benchmark.fixture import BenchmarkFixture

    from conftest import MakeStore
    from sessiontree import TreeNode

ENTRIES = 60_000
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/home/me"}

MADE = {"compactionSummary", "branchSummary", "custom", "system"}

TIMES_PI = 10
TIMES_ORJSON = 5
PART_OF_THE_FILE = 0.15
TIMES_THE_CONTEXT = 6
CONTEXT_S = 0.020
ENTRIES_S = 0.060
TREE_S = 0.100
APPEND_S = 50e-6

PEAK_OF_OPENING = """
from sessiontree import SessionManager

SessionManager.in_memory().build_session_context()
before = status("VmRSS")
manager = SessionManager.open(sys.argv[1], read_only=True)
print(beyond(before))
"""

PEAK_OF_CONTEXT = """
from sessiontree import SessionManager

manager = SessionManager.in_memory()
manager.append_message({"role": "user", "content": "Hello"})
manager.build_session_context()
manager = SessionManager.open(sys.argv[1], read_only=True)
before = status("VmHWM")
context = manager.build_session_context()
print(beyond(before))
"""


def fastest_in_python(path: Path) -> list[dict[str, Any]]:
    """The context's messages by decoding every line, without one check."""
    with path.open("rb") as file:
        header, *entries = map(orjson.loads, file)
    by_id = {entry["id"]: entry for entry in entries}
    branch, entry = [], entries[-1] if entries else None
    while entry is not None:
        branch.append(entry)
        entry = by_id.get(entry["parentId"])
    branch.reverse()
    last = max((place for place, entry in enumerate(branch) if entry["type"] == "compaction"), default=None)
    if last is not None:
        first_kept = branch[last]["firstKeptEntryId"]
        start = next((place for place, entry in enumerate(branch[:last]) if entry["id"] == first_kept), last)
        branch = [branch[last], *branch[start:last], *branch[last + 1 :]]
    assert header["type"] == "session"
    edits = {entry["targetId"]: entry["replacement"] for entry in branch if entry["type"] == "context_edit"}
    messages = [_edited(entry, edits) for entry in branch if entry["type"] == "message"]
    return [message for message in messages if message is not None]


def _edited(entry: dict[str, Any], edits: dict[str, Any]) -> dict[str, Any] | None:
    message: dict[str, Any] = entry["message"]
    if entry["id"] not in edits:
        return message
    if edits[entry["id"]] is None:
        return None
    content = edits[entry["id"]]["content"]
    if isinstance(content, str) and message["role"] in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def comparable(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages but for those of roles that compactions and other entries make, or take away."""
    return [message for message in messages if message["role"] not in MADE]


def open_and_build(path: Path) -> None:
    SessionManager.open(path, read_only=True).build_session_context()


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> npm.Installed | None:
    """pi, or None where it cannot be had."""
    try:
        return npm.install(Path(os.environ.get("SESSIONTREE_INTEROP_DIR") or tmp_path_factory.mktemp("npm")))
    except npm.UnavailableError as error:
        print(f"without pi: {error}")
        return None


def pi_s(installed: npm.Installed | None, version: str, path: Path, messages: int) -> float | None:
    """Seconds that pi takes, the median; it may not write to the file that is measured."""
    if installed is None:
        return None
    command = [installed.node, Path(__file__).with_name("pi.mjs"), installed.packages[version], path, str(ROUNDS)]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    if version != "0.73.1":  # it knows no edits of the context
        assert {int(count) for _, count in rows} == {messages}
    return statistics.median(float(time) for time, _ in rows) / 1000


def test_open_and_context(
    store: MakeStore,
    installed: npm.Installed | None,
    benchmark: BenchmarkFixture,
    is_full_size: bool,
    tmp_path: Path,
) -> None:
    [original] = store("C").folder.rglob("*.jsonl")
    path = Path(shutil.copy(original, tmp_path / "session.jsonl"))
    manager = SessionManager.open(path, read_only=True)
    context = manager.build_session_context()
    assert comparable(context.messages) == comparable(fastest_in_python(path))

    benchmark.pedantic(open_and_build, args=(path,), rounds=ROUNDS)  # type: ignore[no-untyped-call]
    assert benchmark.stats is not None
    ours = benchmark.stats.stats.median
    python = median(lambda: fastest_in_python(path), 3)
    megabytes = path.stat().st_size / 1e6
    text = len(orjson.dumps(context.messages)) / 1e6
    info = {
        "megabytes": megabytes,
        "open_s": median(lambda: SessionManager.open(path, read_only=True)),
        "open_one_thread_s": median(lambda: SessionManager.open(path, read_only=True, threads=1)),
        "context_s": median(manager.build_session_context),
        "open_and_context_s": ours,
        "orjson_s": python,
        "times_orjson": python / ours,
        "peak_of_opening_mb": (opening := peak_memory_mb(PEAK_OF_OPENING, path)[0]),
        "peak_of_opening_part": opening / megabytes,
        "context_mb": text,
        "peak_of_context_mb": (building := peak_memory_mb(PEAK_OF_CONTEXT, path)[0]),
        "peak_of_context_times": building / text,
    }
    for version in npm.PACKAGES:
        if (seconds := pi_s(installed, version, path, len(context.messages))) is not None:
            info |= {f"pi_{version}_s": seconds, f"times_pi_{version}": seconds / ours}
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.3f}" for key, value in info.items()), sep="\n")
    if is_full_size:
        assert info["times_orjson"] >= TIMES_ORJSON
        assert all(value >= TIMES_PI for key, value in info.items() if key.startswith("times_pi"))
        assert not info["peak_of_opening_part"] >= PART_OF_THE_FILE
        assert not info["peak_of_context_times"] >= TIMES_THE_CONTEXT


@pytest.fixture
def long_session(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A conversation without a compaction."""
    path = tmp_path / "long.jsonl"
    lines, parent = [orjson.dumps(HEADER)], None
    for number in range(int(ENTRIES * min(1, request.config.getoption("--scale")))):
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
