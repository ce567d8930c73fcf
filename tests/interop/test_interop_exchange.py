"""One file, two programs: each opens what the other wrote, appends to it, and loses nothing of the other's."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from interop.same import assert_same
from interop.sides import PARTS, OurSide
from support import DATA, write

if TYPE_CHECKING:
    from collections.abc import Callable

    from interop.sides import Pi, Side

_CWD = "/home/user/project"
_USAGE = {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3, "cost": {"total": 0.5}}


@pytest.fixture(params=["ours first", "pi first"])
def makers(request: pytest.FixtureRequest, any_pi: Pi) -> list[Callable[..., Side]]:
    """How to make a manager of either side, in both orders, for each version of pi."""
    ours_and_theirs: list[Callable[..., Side]] = [OurSide.make, any_pi.make]
    return ours_and_theirs if request.param == "ours first" else ours_and_theirs[::-1]


def say(side: Side, role: str, text: str) -> str:
    """Append a message; give its entry's id."""
    message: dict[str, Any] = {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": 1_733_234_400_000,
    }
    if role == "assistant":
        message |= {"api": "messages", "provider": "anthropic", "model": "claude-sonnet-4-5", "usage": _USAGE}
        message |= {"stopReason": "stop"}
    return str(side.call("append_message", message))


def live(side: Side) -> list[str]:
    """Do one of everything; give the new entries' ids."""
    first = say(side, "user", "question\u2028with 日本語 and \x00")
    ids = [first, say(side, "assistant", "answer"), side.call("append_label_change", first, "start")]
    ids += [
        side.call("append_model_change", "openai", "gpt-5.2-codex"),
        side.call("append_thinking_level_change", "high"),
    ]
    ids += [side.call("append_custom_entry", "state", {"count": 1}), side.call("append_session_info", "a\nname")]
    ids += [side.call("append_custom_message_entry", "note", "remember", True, {"why": "so"})]
    side.call("branch", first)
    ids += [
        say(side, "assistant", "another answer"),
        side.call("branch_with_summary", first, "what was tried", None, True),
    ]
    ids += [say(side, "user", "go on"), side.call("append_compaction", "it began", ids[1], 1000, {"readFiles": []})]
    ids += [side.call("append_label_change", first, None), side.call("append_label_change", ids[1], "end")]
    return [*ids, say(side, "assistant", "done")]


def written(path: Path, *, blanks: bool = False) -> list[str]:
    """The ids in a file, in its order; each line is whole, some perhaps blank, the first is the header."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    header, *entries = [json.loads(line) for line in data.splitlines() if line or not blanks]
    assert header["type"] == "session"
    assert "session" not in {entry["type"] for entry in entries}
    return [entry["id"] for entry in entries]


def begin(make: Callable[..., Side], folder: Path) -> Path:
    """A session in the folder that has one of everything."""
    with closing(make("create", _CWD, folder)) as side:
        ids = live(side)
        path = Path(side.parts("facts")["facts"]["file"])
    assert written(path) == ids
    return path


def test_append_to_what_the_other_wrote(makers: list[Callable[..., Side]], tmp_path: Path) -> None:
    path = begin(makers[0], tmp_path)
    ids = written(path)
    for make in (makers[1], makers[0], makers[1]):
        with closing(make("open", path)) as side:
            ids += live(side)
            assert [entry["id"] for entry in side.parts("entries")["entries"]] == ids
        assert written(path) == ids
    with closing(makers[0]("open", path)) as first, closing(makers[1]("open", path)) as second:
        assert_same(first.parts(*PARTS), second.parts(*PARTS))


def test_one_line_each_in_turn(makers: list[Callable[..., Side]], tmp_path: Path) -> None:
    path = begin(makers[0], tmp_path)
    ids = written(path)
    for turn in range(20):
        with closing(makers[turn % 2]("open", path)) as side:
            assert side.parts("facts")["facts"]["leaf"] == ids[-1]
            ids.append(say(side, "user", f"turn {turn}"))
    assert written(path) == ids


@pytest.mark.parametrize("seed", range(3))
def test_both_have_it_open(makers: list[Callable[..., Side]], tmp_path: Path, seed: int) -> None:
    """Each goes on from its own leaf; ours sees the other's entries, pi does not until it opens the file again."""
    r = Random(f"live:{seed}")
    path = begin(makers[0], tmp_path)
    ids = written(path)
    with closing(makers[0]("open", path)) as first, closing(makers[1]("open", path)) as second:
        for turn in range(40):
            side = r.choice((first, second))
            leaf = side.parts("facts")["facts"]["leaf"]
            ids.append(say(side, r.choice(("user", "assistant")), f"turn {turn}"))
            assert side.parts("entries")["entries"][-1]["parentId"] == leaf
        assert written(path) == ids
        ours = first if isinstance(first, OurSide) else second
        assert isinstance(ours, OurSide)
        ours.manager.refresh()
        assert [entry["id"] for entry in ours.parts("entries")["entries"]] == ids
    with closing(makers[0]("open", path)) as first, closing(makers[1]("open", path)) as second:
        assert_same(first.parts(*PARTS), second.parts(*PARTS))


def test_both_write_at_once(any_pi: Pi, tmp_path: Path) -> None:
    path = begin(OurSide.make, tmp_path)
    before = written(path)
    count = 300
    with closing(OurSide.make("open", path)) as ours, closing(any_pi.make("open", path)) as theirs:
        for number in range(count):
            theirs.send("append_custom_entry", "theirs", {"number": number, "text": "x" * 3_000})
        mine = [
            ours.call("append_custom_entry", "ours", {"number": number, "text": "y" * 3_000}) for number in range(count)
        ]
        others = [theirs.receive() for _ in range(count)]
    ids = written(path, blanks=True)[len(before) :]  # a blank: our LF after a line that pi had not ended yet
    assert [id_ for id_ in ids if id_ in mine] == mine
    assert [id_ for id_ in ids if id_ in others] == others
    assert len(ids) == len({*ids}) == 2 * count


@pytest.mark.parametrize("name", ["v1-linear", "v1-compaction-index", "v2-hook-message"])
def test_what_one_has_migrated_the_other_leaves_alone(
    makers: list[Callable[..., Side]], tmp_path: Path, name: str
) -> None:
    path = write(tmp_path / "session.jsonl", (DATA / "pi" / name / "input.jsonl").read_bytes())
    with closing(makers[0]("open", path)) as first:
        migrated = path.read_bytes()
        with closing(makers[1]("open", path)) as second:
            assert_same(first.parts(*PARTS), second.parts(*PARTS))
    assert path.read_bytes() == migrated
    assert json.loads(migrated.splitlines()[0])["version"] == 3


def test_branched_and_forked_sessions(makers: list[Callable[..., Side]], tmp_path: Path) -> None:
    path = begin(makers[0], tmp_path)
    with closing(makers[0]("open", path)) as first:
        ids = [entry["id"] for entry in first.parts("entries")["entries"]]
        branched = first.call("create_branched_session", ids[-1])
    for file in (branched, path):
        with closing(makers[1]("fork_from", file, "/home/user/fork", tmp_path)) as second:
            facts = second.parts("facts")["facts"]
            with closing(makers[0]("open", facts["file"])) as first:
                assert_same(first.parts(*PARTS), second.parts(*PARTS))
                assert facts["cwd"] == "/home/user/fork"
                assert first.parts("header")["header"]["parentSession"] == str(file)


def test_each_continues_where_the_other_was(makers: list[Callable[..., Side]], tmp_path: Path) -> None:
    paths = [begin(make, tmp_path) for make in makers]
    for newest, path in enumerate(paths):
        for at, other in enumerate(paths):
            os.utime(other, (1_700_000_000 + (at == newest),) * 2)
        for make in makers:
            with closing(make("continue_recent", _CWD, tmp_path)) as side:
                assert side.parts("facts")["facts"]["file"] == str(path)
