"""Let a writer meet another one at each system call that it makes, and print what went wrong; a test runs this.

    met.py CASE FOLDER

The other one comes when the writer stands still at its first stop, then, in a new round, at its second, and so on. If
it is one of ours it may have to wait for a lock: then the writer goes on meanwhile.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import scenarios_replio as replio
from elyra_support import CWD, entry, line, old_session, records, session, user, whole_lines
from killed import MAX_PROBLEMS, NOT_HERE, Channel
from scenarios import NAME, SESSION, migrated
from sessiontree import ConflictError, NameTakenError, SessionManager
from stepped import fork, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios import Say

PATIENCE_S = 0.01
"""How long the writer is held up for another one of ours."""

OLD = old_session()
OLD_ENTRIES = 5
FOREIGN = line(entry("f0000001", "e3000003", "custom", customType="foreign"))
REFUSED = "refused"


@dataclass(frozen=True)
class Case:
    """Two that meet.

    Attributes:
        file: What is in the file before; None where there is none.
        work: The writer that is stopped; says the ids of what it has kept, and `REFUSED` for a call that raised.
        other: The one that comes meanwhile; says likewise.
        check: What must hold in the folder in the end, given what both said.
        name: The file's name.
        patience_s: How long the writer is held up for the other one; None for one that takes no lock: until it ended.
    """

    file: bytes | None
    work: Callable[[Path, Say], None]
    other: Callable[[Path, Say], None]
    check: Callable[[Path, list[str], list[str]], None]
    name: str = NAME
    patience_s: float | None = PATIENCE_S


def _append(path: Path, say: Say) -> None:
    with SessionManager.open(path) as manager:
        say(manager.append_message(user("Ours " * 100)))
        say(manager.append_custom_entry("note"))


def _append_in_place(path: Path, say: Say) -> None:
    """Append without a lock, as a program that knows of none."""
    with path.open("ab", buffering=0) as file:
        file.write(FOREIGN)
    say("f0000001")


def _both_kept(path: Path, ours: list[str], theirs: list[str]) -> None:
    found = records(path)
    ids = [record["id"] for record in found if record["type"] != "session"]
    assert len(set(ids)) == len(ids), "an id is used twice"
    assert len(ours) == 2
    assert {*ours, *theirs} <= set(ids), "lost"
    parents = {record["id"]: record["parentId"] for record in found if record["type"] != "session"}
    assert parents[ours[1]] == ours[0], "the leaf was moved"
    assert path.read_bytes().startswith(SESSION)


def _append_with_little_room(path: Path, say: Say) -> None:
    """Append what the disk has no room for, then what it has."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with SessionManager.open(path) as manager:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(SESSION) + len(FOREIGN) + 100, hard))
        try:
            manager.append_message(user("Too long " * 1000))
        except OSError:
            say(REFUSED)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        say(manager.append_message(user("Short")))


def _nothing_cut_off(path: Path, ours: list[str], theirs: list[str]) -> None:
    """Where the other one wrote right behind a broken line the two are one line, but nothing of it is gone."""
    data = path.read_bytes()
    assert data.startswith(SESSION)
    assert FOREIGN in data, f"cut off: {theirs}"
    assert ours[0] == REFUSED
    assert whole_lines(data)[-1]["id"] in (ours[1], *theirs)
    assert ours[1] in [record.get("id") for record in whole_lines(data)], "what comes next is not whole"


def _all_read(path: Path, say: Say) -> None:
    """Read what another one appends, each entry once, and append."""
    seen: list[str | None] = []
    with SessionManager.open(path) as manager:
        seen += [one.id for one in manager.get_entries()]
        seen += [one.id for one in manager.refresh()]
        ours = [manager.append_custom_entry("note"), manager.append_custom_entry("note")]
        for one in ours:
            say(one)
        assert len(set(seen)) == len(seen), "an entry is new twice"
        got = [one.id for one in manager.get_entries()]
        manager.refresh()
        assert len(set(got)) == len(got), "an entry is there twice"


def _migrate(path: Path, say: Say) -> None:
    with SessionManager.open(path) as manager:
        say(manager.append_custom_entry("note"))
        say(manager.append_custom_entry("note"))


def _both_migrated(path: Path, ours: list[str], theirs: list[str]) -> None:
    data = path.read_bytes()
    assert data.startswith(migrated(OLD)), "not migrated, or twice"
    added = [json.loads(one)["id"] for one in data[len(migrated(OLD)) :].splitlines()]
    assert sorted(added) == sorted({*ours, *theirs}), "lost"
    assert len(added) == 4
    assert list(path.parent.glob("*.jsonl")) == [path]


def _open_old(path: Path, say: Say) -> None:
    try:
        SessionManager.open(path).close()
    except ConflictError:
        say(REFUSED)


def _nothing_left_behind(path: Path, ours: list[str], theirs: list[str]) -> None:
    with SessionManager.open(path) as manager:
        assert len(manager.get_entries()) >= OLD_ENTRIES, "the old entries are gone"
    assert b'"foreign"' in path.read_bytes(), f"lost: {theirs}, {ours}"


def _start(path: Path, say: Say) -> None:
    """Write the first entry of a session that is not there yet."""
    with SessionManager.open(path, cwd=CWD) as manager:
        try:
            say(manager.append_message(user()))
        except (ConflictError, NameTakenError):
            say(REFUSED)


def _one_has_started(path: Path, ours: list[str], theirs: list[str]) -> None:
    found = records(path)
    assert [record["type"] for record in found].count("session") == 1, "not one header"
    assert found[0]["type"] == "session", "the header comes first"
    said = [one for one in (*ours, *theirs) if one != REFUSED]
    assert said, "both were refused"
    assert set(said) == {record["id"] for record in found[1:]}, "lost"


def _put_there(path: Path, say: Say) -> None:
    """Make the file, all at once, unless there is one."""
    whole = path.with_name("foreign")
    whole.write_bytes(session("foreign"))
    with suppress(FileExistsError):
        path.hardlink_to(whole)
        say("foreign")
    whole.unlink()


def _not_overwritten(path: Path, ours: list[str], theirs: list[str]) -> None:
    data = path.read_bytes()
    if theirs:
        assert data.startswith(session("foreign")), "overwritten"
        assert data == session("foreign") or ours != [REFUSED]
    else:
        assert ours != [REFUSED]
    assert list(path.parent.glob("*.jsonl")) == [path]


CASES = {
    "append-foreign": Case(SESSION, _append, _append_in_place, _both_kept),
    "append-ours": Case(SESSION, _append, _append, _both_kept),
    "read-foreign": Case(SESSION, _all_read, _append_in_place, _both_kept),
    "read-ours": Case(SESSION, _all_read, _append, _both_kept),
    "no-room-foreign": Case(SESSION, _append_with_little_room, _append_in_place, _nothing_cut_off),
    "migrate-ours": Case(OLD, _migrate, _migrate, _both_migrated),
    "migrate-foreign": Case(OLD, _open_old, _append_in_place, _nothing_left_behind),
    "fill-ours": Case(b"", _start, _start, _one_has_started),
    "create-ours": Case(None, _start, _start, _one_has_started),
    "create-foreign": Case(None, _start, _put_there, _not_overwritten),
}

REPLIO_CASES = {
    "replio-ours": Case(replio.SESSION, replio.append_one, replio.append_one, replio.both_kept, replio.NAME),
    "replio-foreign": Case(replio.SESSION, replio.append_one, replio.rewrite, replio.foreign_kept, replio.NAME, None),
    "replio-create": Case(replio.SESSION, replio.create_late, replio.create_late, replio.one_created, replio.NAME),
    "replio-begin": Case(replio.SESSION, replio.begin, replio.begin, replio.both_begun, replio.NAME),
}


def meet(case: Case, folder: Path) -> dict[str, object]:
    """Let the two meet at each stop of the first."""
    path = folder / case.name
    stops, problems, ended = 0, list[str](), False
    while not ended and len(problems) < MAX_PROBLEMS:
        stops += 1
        for one in folder.iterdir():
            one.unlink()
        if case.file is not None:
            path.write_bytes(case.file)
        ours, theirs = Channel(), Channel()
        writer = start(partial(case.work, path, ours.say))
        for _ in range(stops):
            ended = not writer.step()
            if ended:
                break
        other = fork(partial(case.other, path, theirs.say))
        code = _wait(other, case.patience_s)
        writer.release()
        codes = (writer.finish(), _wait(other, None) if code is None else code)
        said = ours.said(), theirs.said()
        try:
            assert codes == (0, 0), f"exit codes {codes}, and the error above"
            case.check(path, *said)
        except Exception as error:
            problems.append(f"stop {stops}: {type(error).__name__}: {error}")
    return {"stops": stops, "problems": problems}


def _wait(pid: int, seconds: float | None) -> int | None:
    """Wait for the end of a child, at most so long; its exit code, or None."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, 0 if end is None else os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if end is not None and time.monotonic() > end:
            return None
        time.sleep(0.0005)


def main(case_name: str, folder: str) -> None:
    case = (CASES | REPLIO_CASES)[case_name]
    path = Path(folder, case.name)
    try:
        start(lambda: None).kill()
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(NOT_HERE)
    for work in (case.work, case.other):  # so that what is imported late is there
        path.unlink(missing_ok=True)
        if case.file is not None:
            path.write_bytes(case.file)
        work(path, lambda _: None)
    print(json.dumps(meet(case, Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
