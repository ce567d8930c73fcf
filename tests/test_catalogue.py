"""The catalogue: whatever becomes of the store, or of the catalogue itself, what is found is what is there."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

import sessiontree
import strategies
from changing_store import CHANGES, MOMENT, NAMES, append, assert_same, fill, found, long_session, session
from cli_support import Home, session as small_session
from sessiontree import SessionManager, scan
from sessiontree._catalogue import catalogue_path
from support import DATA, write

if TYPE_CHECKING:
    from collections.abc import Callable

CASE_51 = DATA / "cases/51-index-rewrite"
HERE = Path(__file__).parent

HEADER = b'{"type":"session","version":3,"id":"s"}\n'
LINE = b'{"type":"message","id":"a","message":{"role":"user","content":"%s"}}\n'
FILLER = b'{"type":"custom","customType":"c","data":"%s"}\n' % (b"x" * 2000)
SHORT = b'{"type":"label","id":"b"}\n'


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    fill(tmp_path / "agent")
    return tmp_path / "agent"


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    return tmp_path / "cache/sessions.sqlite"


def settle() -> None:
    """Wait until the files' times tell of every further change."""
    time.sleep(MOMENT)


# Where it is


def test_the_users_own_is_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert catalogue_path(False) is catalogue_path(None) is None
    assert catalogue_path("some/file") == Path.cwd() / "some/file"
    if sys.platform == "linux":
        assert catalogue_path(True) == tmp_path / "sessiontree/catalogue.sqlite"


def test_an_empty_path_is_none(agent: Path) -> None:
    for call in (
        lambda: SessionManager.list_all(agent_dir=agent, catalogue=""),
        lambda: SessionManager.list("/p0", agent_dir=agent, catalogue=""),
        lambda: SessionManager.find("s1", agent_dir=agent, catalogue=""),
        lambda: scan(agent, catalogue=""),
    ):
        with pytest.raises(ValueError, match="catalogue is empty"):
            call()


def test_where_the_cache_is_is_found_out_late() -> None:
    code = "import sys; from sessiontree import *; sys.exit('platformdirs' in sys.modules or 'sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_it_is_made_when_it_is_wanted_and_private(agent: Path, catalogue: Path) -> None:
    SessionManager.list_all(agent_dir=agent)
    assert not catalogue.exists()
    SessionManager.list_all(agent_dir=agent, catalogue=catalogue)
    if os.name == "posix":
        assert catalogue.stat().st_mode & 0o777 == 0o600
        assert catalogue.parent.stat().st_mode & 0o777 == 0o700
    assert list(catalogue.parent.iterdir()) == [catalogue]


# What changes in the store


def test_case_51(tmp_path: Path, catalogue: Path) -> None:
    """One path is rewritten in place again and again; the case's own file says what is right after each step."""
    path = tmp_path / "agent/sessions/--p--/one.jsonl"
    path.parent.mkdir(parents=True)
    steps: dict[str, tuple[int, dict[str, bool]]] = {
        "1": (2, {"apples": True, "cherry": False}),
        "2": (1, {"apples": True, "stored": False}),
        "3": (3, {"apples": False, "cherry": True, "stored": True}),
        "4": (3, {"cherry": False, "grapes": True}),
        "5": (3, {"half": False}),
        "5 completed": (4, {"half done": True}),
    }
    for step, (message_count, words) in steps.items():
        settle()
        before = path.stat() if path.exists() else None
        if step == "5 completed":
            with path.open("ab") as file:
                file.write(b' done"}}\n')
        else:
            with path.open("r+b" if before else "wb") as file:
                file.write((CASE_51 / f"step{step}.jsonl").read_bytes())
                file.truncate()
        if before is not None and step in ("4", "5 completed"):
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        for _ in range(2):
            [info] = SessionManager.list_all(agent_dir=tmp_path / "agent", catalogue=catalogue)
            assert info.message_count == message_count, step
            assert {word: word in info.all_messages_text for word in words} == words, step
            settle()
        assert_same(tmp_path / "agent", catalogue)
    replacement = write(tmp_path / "other", (CASE_51 / "step1.jsonl").read_bytes())
    replacement.replace(path)
    [info] = SessionManager.list_all(agent_dir=tmp_path / "agent", catalogue=catalogue)
    assert info.message_count == 2
    path.unlink()
    assert SessionManager.list_all(agent_dir=tmp_path / "agent", catalogue=catalogue) == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["b.jsonl", "long.jsonl"])
def test_whatever_becomes_of_a_file(agent: Path, catalogue: Path, change: str, name: str) -> None:
    path = agent / "sessions/--p1--" / name
    settle()
    assert_same(agent, catalogue)
    for number in (1, 2):
        CHANGES[change](path, number)
        assert_same(agent, catalogue)
        settle()
        assert_same(agent, catalogue)


def test_folders_come_and_go(agent: Path, catalogue: Path) -> None:
    settle()
    assert_same(agent, catalogue)
    shutil.move(agent / "sessions/--p0--", agent / "sessions/--p2--")
    assert_same(agent, catalogue)
    shutil.copytree(agent / "sessions/--p2--", agent / "sessions/--p0--")
    settle()
    assert_same(agent, catalogue)
    shutil.rmtree(agent / "sessions/--p1--")
    assert_same(agent, catalogue)
    write(agent / "sessions/--p3--/new.jsonl", session(9))
    assert_same(agent, catalogue)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_followed_to_the_files_of_now(agent: Path, catalogue: Path) -> None:
    folder = agent / "sessions/--p0--"
    outside = [write(agent.parent / f"outside{number}", session(number + 20)) for number in range(2)]
    (folder / "link.jsonl").symlink_to(outside[0])
    settle()
    assert_same(agent, catalogue)
    (folder / "link.jsonl").unlink()
    (folder / "link.jsonl").symlink_to(outside[1])
    assert_same(agent, catalogue)
    append(outside[1], 3)
    assert_same(agent, catalogue)


def test_forks_are_counted_once_whoever_was_read(agent: Path, catalogue: Path) -> None:
    settle()
    CHANGES["fork"](agent / "sessions/--p0--/a.jsonl", 1)
    assert_same(agent, catalogue)
    settle()
    CHANGES["fork"](agent / "sessions/--p0--/a.jsonl", 2)
    before = scan(agent / "sessions/--p0--/a.jsonl", catalogue=catalogue).usage
    assert scan(agent / "sessions/--p0--/a.jsonl").usage == before
    assert_same(agent, catalogue)


def test_one_catalogue_serves_every_call(agent: Path, catalogue: Path) -> None:
    settle()
    path = agent / "sessions/--p0--/a.jsonl"
    write(agent / "sessions/--p0--/none.jsonl", b"{}\n")
    for _ in range(2):
        assert scan([path, agent], catalogue=catalogue) == scan([path, agent])
        assert scan(path.parent / "none.jsonl", catalogue=catalogue) == scan(path.parent / "none.jsonl")
        assert SessionManager.find("s1", agent_dir=agent, catalogue=catalogue) == SessionManager.find(
            "s1", agent_dir=agent
        )
        listed = SessionManager.list("/team/app", session_dir=path.parent, catalogue=catalogue)
        assert listed == SessionManager.list("/team/app", session_dir=path.parent)
        with_text = SessionManager.list_all(agent_dir=agent, catalogue=catalogue, text=True)
        assert [info.all_messages_text for info in with_text] == [info.all_messages_text for info in scan(agent)]
    with pytest.raises(sessiontree.FormatError) as warm:
        scan(agent, catalogue=catalogue, strict=True)
    with pytest.raises(sessiontree.FormatError) as cold:
        scan(agent, strict=True)
    assert str(warm.value) == str(cold.value)


def test_progress_tells_of_files_that_need_not_be_read(agent: Path, catalogue: Path) -> None:
    settle()
    told: list[tuple[int, int]] = []
    for _ in range(2):
        SessionManager.list_all(lambda *numbers: told.append(numbers), agent_dir=agent, catalogue=catalogue)
    assert told == [(number + 1, len(NAMES)) for number in range(len(NAMES))] * 2


def bytes_read(work: Callable[[], object]) -> int:
    """How many bytes this process reads meanwhile."""

    def so_far() -> int:
        return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])

    before = so_far()
    work()
    return so_far() - before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what is read")
def test_only_what_changed_is_read(agent: Path, catalogue: Path) -> None:
    path = agent / "sessions/--p1--/long.jsonl"
    path.write_bytes(session(1, size=5_000_000))
    size = path.stat().st_size
    settle()
    scan(agent, catalogue=catalogue)

    def again() -> object:
        return SessionManager.list_all(agent_dir=agent, catalogue=catalogue)

    assert bytes_read(lambda: SessionManager.list_all(agent_dir=agent)) > size
    assert bytes_read(again) < size / 5
    append(path, 5)
    settle()
    assert bytes_read(again) < size / 2, "only the end, and what is known of the rest"
    assert bytes_read(again) < size / 5


@settings(max_examples=strategies.EXAMPLES // 10, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(sorted(CHANGES)), st.integers(0, 999), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_any_changes(steps: list[tuple[str, str, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        agent, catalogue = Path(name, "agent"), Path(name, "catalogue")
        fill(agent)
        settle()
        assert_same(agent, catalogue)
        for file, change, number, is_settled in steps:
            CHANGES[change](agent / f"sessions/--p{NAMES.index(file) % 2}--" / file, number)
            if is_settled:
                settle()
            assert_same(agent, catalogue)


def test_a_file_that_is_edited_while_it_is_read_and_grows_then(tmp_path: Path, catalogue: Path) -> None:
    path = write(tmp_path / "store/long.jsonl", HEADER + LINE % b"OLD" + FILLER * 20_000)
    settle()
    for _ in range(3):
        edit = threading.Timer(random.uniform(0.0, 0.05), edited, [path, b"OLD", b"NEW"])
        edit.start()
        scan(path.parent, catalogue=catalogue)
        edit.join()
        settle()
        with path.open("ab") as file:
            file.write(FILLER)
        for _ in range(2):
            assert scan(path.parent, catalogue=catalogue) == scan(path.parent)
        edited(path, b"NEW", b"OLD")
        settle()


def test_one_that_took_the_number_of_an_old_one_is_not_read_on(tmp_path: Path, catalogue: Path) -> None:
    text = HEADER + FILLER * 200 + LINE % b"one" + FILLER * 400
    path = write(tmp_path / "store/long.jsonl", text)
    settle()
    scan(path.parent, catalogue=catalogue)
    for new in (text, text.replace(b"one", b"two") + FILLER):
        path.with_name("draft").write_bytes(new)
        path.with_name("draft").replace(path)
    settle()
    assert scan(path.parent, catalogue=catalogue) == scan(path.parent)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_that_is_forked_while_it_is_open_does_without(agent: Path, catalogue: Path) -> None:
    expected, is_over = scan(agent), threading.Event()

    def listing() -> None:
        while not is_over.is_set():
            scan(agent, catalogue=catalogue)

    other = threading.Thread(target=listing)
    other.start()
    try:
        for _ in range(40):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(scan(agent, catalogue=catalogue) != expected)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        is_over.set()
        other.join()


def test_one_file_is_looked_up_by_itself(tmp_path: Path, catalogue: Path) -> None:
    folder = tmp_path / "store"
    for number in range(300):
        write(folder / f"{number:03}.jsonl", HEADER + LINE % (b"%d" % number))
    settle()
    everything = scan(folder, catalogue=catalogue)
    some = [info.path for info in everything][:7]
    assert scan(some, catalogue=catalogue) == scan(some)
    assert scan([*some, folder], catalogue=catalogue) == everything
    (folder / "000.jsonl").unlink()
    assert scan(folder, catalogue=catalogue) == scan(folder)


def test_what_was_found_is_kept_in_portions(tmp_path: Path, catalogue: Path) -> None:
    for number in range(12):
        write(tmp_path / f"store/{number}.jsonl", HEADER + SHORT * 60_000)
    settle()
    expected = scan(tmp_path / "store")
    for _ in range(2):
        assert scan(tmp_path / "store", catalogue=catalogue) == expected


def edited(path: Path, old: bytes, new: bytes) -> None:
    """Change some bytes of a file where they stand."""
    with path.open("r+b") as file:
        at = file.read(10_000).index(old)
        file.seek(at)
        file.write(new)


def test_many_processes_at_once(tmp_path: Path, catalogue: Path) -> None:
    """Each changes a store of its own; they share the catalogue."""
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                str(HERE / "changing_store.py"),
                str(tmp_path / f"agent{seed}"),
                str(catalogue),
                str(seed),
                "25",
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    everything = [tmp_path / f"agent{seed}" for seed in range(3)]
    while any(process.poll() is None for process in processes):
        scan([agent for agent in everything if (agent / "sessions").exists()], catalogue=catalogue)
    assert [process.communicate(timeout=60)[1] for process in processes] == [""] * 3
    for agent in everything:
        assert_same(agent, catalogue)


# What is wrong with the catalogue


def flip(catalogue: Path) -> None:
    data = bytearray(catalogue.read_bytes())
    for place in range(0, len(data), 97):
        data[place] ^= 0x40
    catalogue.write_bytes(data)


def cut_short(catalogue: Path) -> None:
    catalogue.write_bytes(catalogue.read_bytes()[: catalogue.stat().st_size // 2])


def empty(catalogue: Path) -> None:
    catalogue.write_bytes(b"")


def swap_rows(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as database, database:
        [(one, other)] = database.execute("SELECT min(sealed), max(sealed) FROM listed").fetchall()
        database.execute("UPDATE listed SET sealed = CASE sealed WHEN ? THEN ? ELSE ? END", (one, other, one))


def drop_a_table(catalogue: Path) -> None:
    with closing(sqlite3.connect(catalogue)) as database, database:
        database.execute("DROP TABLE records")


@pytest.mark.parametrize("damage", [flip, cut_short, empty, swap_rows, drop_a_table])
def test_a_damaged_catalogue_is_replaced(agent: Path, catalogue: Path, damage: Callable[[Path], None]) -> None:
    settle()
    assert_same(agent, catalogue)
    damage(catalogue)
    assert_same(agent, catalogue)
    with closing(sqlite3.connect(catalogue)) as database:
        assert database.execute("SELECT count(*) FROM listed").fetchone() == (len(NAMES),)


@pytest.mark.parametrize("content", [b"some notes\n" * 100, b"x" * 68 + b"session notes", session(1)])
def test_what_never_was_a_catalogue_is_left_alone(agent: Path, tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "precious", content)
    assert_same(agent, path)
    assert path.read_bytes() == content


def test_what_a_power_cut_left_blank_is_replaced(agent: Path, catalogue: Path) -> None:
    expected = scan(agent)
    for _ in range(2):
        assert scan(agent, catalogue=catalogue) == expected
        catalogue.write_bytes(bytes(catalogue.stat().st_size))
        assert scan(agent, catalogue=catalogue) == expected
        assert catalogue.read_bytes().startswith(b"SQLite format 3")


def test_neither_is_another_programs_database(agent: Path, tmp_path: Path) -> None:
    path = tmp_path / "precious"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE listed (folder, name, sealed)")
    before = path.read_bytes()
    assert_same(agent, path)
    assert path.read_bytes() == before


def test_a_place_that_holds_no_file(agent: Path, tmp_path: Path) -> None:
    assert_same(agent, tmp_path)
    assert_same(agent, agent / "sessions/--p0--/a.jsonl/below")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert_same(agent, tmp_path / "pipe")


HOLD = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_one_that_somebody_holds_is_not_waited_for(agent: Path, catalogue: Path) -> None:
    settle()
    assert_same(agent, catalogue)
    # Another process: what one process locks it does not keep from itself.
    command = [sys.executable, "-c", HOLD, str(catalogue)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        append(agent / "sessions/--p0--/a.jsonl", 5)
        start = time.perf_counter()
        SessionManager.list_all(agent_dir=agent, catalogue=catalogue)
        assert time.perf_counter() - start < 4
        assert_same(agent, catalogue)
        holder.communicate()
    assert_same(agent, catalogue)


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
@pytest.mark.parametrize("mode", [0o444, 0, None], ids=["readable", "unreadable", "missing"])
def test_a_folder_that_may_only_be_read(open_folder: Path, mode: int | None) -> None:
    agent, catalogue = open_folder / "agent", open_folder / "catalogue"
    fill(agent)
    settle()
    before = None
    if mode is not None:
        found(agent, catalogue)
        catalogue.chmod(mode)
        append(agent / "sessions/--p0--/a.jsonl", 5)
        before = catalogue.read_bytes() if os.getuid() == 0 or mode else None
    open_folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, str(HERE / "read_only_catalogue.py"), str(agent), str(catalogue)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "permissions do not apply" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stderr) == (0, "")
    assert catalogue.exists() == (mode is not None)
    assert before is None or catalogue.read_bytes() == before


# The command


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.add("one", small_session("s1", text="Hello"))
    return made


def in_cache(home: Home) -> list[str]:
    return [path.name for path in home.folder.joinpath(".cache").rglob("*") if path.is_file()]


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is elsewhere there")
@pytest.mark.parametrize(
    "command", [["list", "--all"], ["show", "s1", "--all"], ["tree", "--all"], ["name", "s1", "--all"]]
)
def test_the_command_keeps_a_catalogue_unless_told_not_to(home: Home, command: list[str]) -> None:
    plain = home.run(*command, "--no-catalogue")
    assert (plain.returncode, in_cache(home)) == (0, [])
    for _ in range(2):
        kept = home.run(*command)
        assert (kept.stdout, kept.stderr, kept.returncode) == (plain.stdout, plain.stderr, 0)
    assert in_cache(home) == ["catalogue.sqlite"]
    elsewhere = home.given(XDG_CACHE_HOME=str(home.folder / "elsewhere"))
    assert elsewhere.run(*command).stdout == plain.stdout
    assert (home.folder / "elsewhere/sessiontree/catalogue.sqlite").is_file()


def test_a_check_reads_for_itself(home: Home) -> None:
    assert home.run("check").returncode == 0
    assert in_cache(home) == []
    assert home.run("check", "--no-catalogue").returncode == 2


def test_the_long_one_is_long() -> None:
    assert len(long_session(1)) > 2 * 256 * 1024
