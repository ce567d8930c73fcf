"""`contexts`: every session's, the same as opening each, in order, and no more of them at once than is allowed."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path

import pytest

from sessiontree import Model, SessionContext, SessionManager, _corpus, contexts, scan
from support import DATA, write

HEADER = '{"type":"session","version":3,"id":"%s","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/p"}\n'
ENTRY = '{"type":"message","id":"%x","parentId":%s,"message":{"role":"user","content":"%s"}}\n'


def session(name: str, texts: list[str]) -> bytes:
    lines = [HEADER % name]
    for number, text in enumerate(texts):
        lines.append(ENTRY % (number, f'"{number - 1:x}"' if number else "null", text))
    return "".join(lines).encode()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up store with damage, forks, branches and old versions, and the vectors' files."""
    folder = tmp_path_factory.mktemp("store")
    _corpus.open_corpus(folder, profile="default", sessions=60, mean_bytes=60_000)
    for number, path in enumerate(sorted(DATA.rglob("*.jsonl"))):
        write(folder / f"sessions/--vectors--/{number:03}.jsonl", path.read_bytes())
    return folder


@pytest.mark.parametrize("threads", [1, None])
def test_each_is_what_opening_the_session_gives(store: Path, threads: int | None) -> None:
    infos = {info.path: info for info in scan(store)}
    found = list(contexts(store, threads=threads))
    assert [info.path for info, _ in found] == sorted(infos)
    assert len(found) > 100
    for info, context in found:
        assert info == infos[info.path]
        assert context == SessionManager.open(info.path, read_only=True).build_session_context()


def test_messages_are_decoded_when_they_are_asked_for_and_but_once(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", session("s", ["one", "two"]))
    [(_, context)] = contexts(path)
    path.unlink()
    assert [message.get("content") for message in context.messages] == ["one", "two"]
    assert context.messages is context.messages
    assert (context.thinking_level, context.model) == ("off", None)
    assert pickle.loads(pickle.dumps(context)) == context
    assert context.to_dict()["messages"] == context.messages


def test_what_strict_decoders_refuse_is_decoded_too(tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    odd = f'{{"type":"message","id":"a","message":{{"role":"user","content":"\\ud83d","x":1e400,"deep":{deep}}}}}\n'
    path = write(tmp_path / "s.jsonl", (HEADER % "s" + odd).encode() + session("s", ["\xff"]).splitlines()[1] + b"\n")
    [(_, context)] = contexts(path)
    assert context == SessionManager.open(path, read_only=True).build_session_context()


def test_a_context_is_frozen_and_equal_by_what_it_holds() -> None:
    context = SessionContext([], "off", Model("p", "m"))
    assert context == SessionContext([], "off", Model("p", "m"))
    assert context != SessionContext([], "high", Model("p", "m"))
    assert context != "off"
    assert repr(context) == "SessionContext(messages=[], thinking_level='off', model=Model(provider='p', model_id='m'))"
    with pytest.raises(AttributeError):
        context.thinking_level = "high"  # type: ignore[misc]
    with pytest.raises(TypeError, match="unhashable"):
        hash(context)


def test_what_is_no_session_is_left_out_and_what_cannot_be_read_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path / "a.jsonl", session("a", ["one"]))
    write(tmp_path / "b.jsonl", b"no session\n")
    write(tmp_path / "c.jsonl", b"")
    write(tmp_path / "d.jsonl", session("d", []))
    with caplog.at_level(logging.WARNING, logger="sessiontree"):
        assert [info.id for info, _ in contexts(tmp_path)] == ["a", "d"]
        assert not caplog.records
        if os.geteuid() != 0:
            (tmp_path / "a.jsonl").chmod(0)
            assert [info.id for info, _ in contexts(tmp_path)] == ["d"]
            assert len(caplog.records) == 1


def test_bad_arguments_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        contexts(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="threads"):
        contexts(tmp_path, threads=0)
    with pytest.raises(ValueError, match="expected a folder"):
        contexts(tmp_path)
    (tmp_path / "sessions").mkdir()
    assert list(contexts(tmp_path)) == []


def test_a_file_of_many_regions_is_read_by_all(tmp_path: Path) -> None:
    texts = [f"{number} " + "x" * 9000 for number in range(3000)]
    path = write(tmp_path / "long.jsonl", session("long", texts))
    write(tmp_path / "short.jsonl", session("short", ["hello"]))
    for threads in (1, None):
        found = {info.path: context for info, context in contexts(tmp_path, threads=threads)}
        assert [message.get("content") for message in found[path].messages] == texts


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_what_is_ready_waits_within_bounds(tmp_path: Path) -> None:
    megabytes = 4
    for number in range(60):
        write(tmp_path / f"{number:02}.jsonl", session("s", ["x" * 500_000] * (2 * megabytes)))
    code = """
import sys, time, sessiontree
from pathlib import Path
def peak():
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1000
before = peak()
found = sessiontree.contexts(sys.argv[1])
next(found)
time.sleep(0.5)
print(peak() - before, sum(1 for _ in found), peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    waiting, left, most = map(int, done.stdout.split())
    assert left == 59
    assert waiting < 120
    assert most < 120


def test_one_that_is_left_early_ends_its_threads(store: Path) -> None:
    before = threading.active_count(), _threads()
    found = contexts(store)
    assert len(list(islice(found, 3))) == 3
    del found
    deadline = time.monotonic() + 10
    while _threads() > before[1] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _threads() <= before[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_cannot_go_on_and_does_not_wait(store: Path) -> None:
    found = contexts(store)
    next(found)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            next(found)
        except RuntimeError:
            del found
            os._exit(sum(1 for _ in contexts(store)) < 100)
        os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(1 for _ in found) > 100


def test_a_long_file_that_is_rewritten_all_the_time_is_read_in_the_end(tmp_path: Path) -> None:
    path = write(tmp_path / "long.jsonl", session("long", ["x" * 9000] * 2000))
    ended = threading.Event()

    def touch() -> None:
        while not ended.wait(0.3):
            with path.open("r+b") as file:
                file.write(b"{")

    writer = threading.Thread(target=touch)
    writer.start()
    try:
        assert [info.id for _ in range(5) for info, _ in contexts(path)] == ["long"] * 5
    finally:
        ended.set()
        writer.join()


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir())) if sys.platform == "linux" else 0


def test_a_file_that_is_rewritten_meanwhile_is_one_or_the_other(tmp_path: Path) -> None:
    path = tmp_path / "00.jsonl"
    versions = [session("s", [letter * 2000] * 200) for letter in "ab"]
    for number in range(40):
        write(tmp_path / f"{number:02}.jsonl", versions[0])
    ended = threading.Event()

    def rewrite() -> None:
        for number in range(10_000):
            path.with_suffix(".new").write_bytes(versions[number % 2])
            path.with_suffix(".new").replace(path)
            if ended.is_set():
                return

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(20):
            for info, context in contexts(tmp_path):
                texts = {str(message.get("content"))[0] for message in context.messages}
                assert len(context.messages) == 200
                assert len(texts) == 1, info.path
    finally:
        ended.set()
        writer.join()


def _for_ever(path: Path) -> None:
    while True:
        list(contexts(path, threads=1))


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_signal_ends_the_waiting(tmp_path: Path) -> None:
    texts = ["x" * 9000] * 40_000
    path = write(tmp_path / "long.jsonl", session("long", texts))

    def interrupt(*_: object) -> None:
        raise InterruptedError("enough")

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(InterruptedError, match="enough"):
            _for_ever(path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
