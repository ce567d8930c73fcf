"""One manager in several threads, in a forked child, and in a signal handler."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from elyra_support import entry, header, line, session, user
from sessiontree import SessionManager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

ROUNDS = 20_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session())
    return path


@pytest.fixture
def manager(path: Path) -> Iterator[SessionManager]:
    with SessionManager.open(path) as manager:
        yield manager


def _beside(work: Callable[[], object]) -> Callable[[], None]:
    """Does the work again and again in a thread; gives what ends it."""
    is_over, raised = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            while not is_over.is_set():
                work()
        except BaseException as error:  #  raised where it is seen
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def end() -> None:
        is_over.set()
        thread.join()
        for error in raised:
            raise error

    return end


@pytest.mark.parametrize("is_ours", [True, False])
def test_what_is_appended_meanwhile_does_not_matter_to_a_reader(
    manager: SessionManager, path: Path, is_ours: bool
) -> None:
    """A write that is under way changes the file's time before its size."""
    first = manager.get_entries()[0]
    before = first.to_dict()
    with SessionManager.open(path) as other:
        end = _beside(lambda: (manager if is_ours else other).append_custom_entry("beside", "x" * 20_000))
        try:
            for _ in range(ROUNDS):
                assert first.to_dict() == before
        finally:
            end()


def test_a_context_is_of_one_moment(path: Path) -> None:
    """Its messages are of the branch that its thinking level is of, also where they must be decoded one by one."""
    lines = [line(header())]
    for level in ("low", "high"):
        big = line(entry(f"m-{level}", f"t-{level}", message={**user(level), "n": "BIG"}))
        lines += [
            line(entry(f"t-{level}", None, "thinking_level_change", thinkingLevel=level)),
            big.replace(b'"BIG"', b"1e400"),
        ]
    path.write_bytes(b"".join(lines))
    with SessionManager.open(path, read_only=True) as manager:

        def move() -> None:
            manager.branch("m-low")
            manager.branch("m-high")

        end = _beside(move)
        try:
            for _ in range(ROUNDS // 10):
                context = manager.build_session_context()
                assert [message.get("content") for message in context.messages] == [context.thinking_level]
        finally:
            end()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_that_was_forked_during_an_append_holds_nothing_up(manager: SessionManager) -> None:
    end = _beside(lambda: manager.append_custom_entry("beside"))
    children = []
    try:
        for _ in range(30):
            child = os.fork()
            if not child:
                time.sleep(60)
                os._exit(0)
            children.append(child)
        start = time.monotonic()
        for _ in range(20):
            manager.append_custom_entry("main")
        assert time.monotonic() - start < 10
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        end()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timers")
def test_a_signal_handler_that_asks_in_the_middle_of_a_call_gets_an_answer(manager: SessionManager, path: Path) -> None:
    said: list[object] = []

    def handler(_signal: int, _frame: FrameType | None) -> Any:  # noqa: ANN401
        try:
            said.append(manager.get_leaf_id())
        except RuntimeError as error:
            said.append(str(error))
        fcntl.flock(lock, fcntl.LOCK_UN)

    before = signal.signal(signal.SIGALRM, handler)
    with path.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            id = manager.append_custom_entry("waits for the lock")
        finally:
            signal.signal(signal.SIGALRM, before)
    assert said == ["the session is in the middle of a call by this very thread"]
    assert manager.get_leaf_id() == id


def test_the_leaf_is_the_last_entry_of_its_id(manager: SessionManager, path: Path) -> None:
    leaf = manager.get_leaf_id()
    again = {"type": "message", "id": leaf, "parentId": None, "timestamp": "2026-01-05T10:09:00.000Z"}
    with path.open("ab") as file:
        file.write(line(again | {"message": user("Again")}))
    manager.refresh()
    assert manager.get_leaf_id() == leaf
    assert [one.raw["message"]["content"] for one in manager.get_branch()] == ["Again"]
    assert manager.get_branch() == manager.get_branch(leaf)
