"""Where the two differ on purpose: each test is a point of docs/differences.md, and shows what both sides do there."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interop.driven import RefusedError
from interop.files import HEADER, REFUSED, TIME, TIME_MS, A, B, Both, entry, header, ids, said
from interop.sides import OurSide
from sessiontree import SessionManager
from support import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from interop.files import Make
    from interop.sides import Pi

# Reading


@pytest.mark.parametrize(
    "before", ["\ufeff", '{"type":"title","title":"x"}\n', "17\n"], ids=["mark", "title", "number"]
)
def test_what_stands_before_the_header(both: Both, before: str) -> None:
    ours, theirs = both.read(before + HEADER + A, "entries")
    assert ids(ours) == ["aaaaaaaa"]
    assert theirs == REFUSED


@pytest.mark.parametrize("line", ["17", '"text"', "[1]", "true", "{}"])
def test_json_that_is_no_entry(both: Both, line: str) -> None:
    ours, theirs = both.read(f"{HEADER}{A}{line}\n", "entries", "facts")
    assert ids(ours) == ["aaaaaaaa"]
    assert ours["facts"]["leaf"] == "aaaaaaaa"
    assert theirs["entries"][1:] == [json.loads(line)]
    assert theirs["facts"]["leaf"] is None


def test_joined_lines(both: Both) -> None:
    ours, theirs = both.read(HEADER + A[:-1] + B, "entries")
    assert ids(ours) == ["aaaaaaaa", "bbbbbbbb"]
    assert ids(theirs) == []


def test_nuls(both: Both) -> None:
    ours, theirs = both.read(f"{HEADER}\0\0{A}", "entries")
    assert ids(ours) == ["aaaaaaaa"]
    assert ids(theirs) == []


def test_cr_alone_ends_no_line(both: Both) -> None:
    data = HEADER + A[:-1] + "\r" + B
    ours, theirs = both.rows(data)
    assert ours[0]["messageCount"] == theirs[0]["messageCount"] == 2
    ours_open, theirs_open = both.read(data, "entries")
    assert (ids(ours_open), ids(theirs_open)) == (["aaaaaaaa", "bbbbbbbb"], [])


def test_a_version_that_is_no_number(both: Both) -> None:
    ours, theirs = both.read(header(version=True) + A, "entries")
    assert ids(ours) == ["aaaaaaaa"]
    assert ids(theirs) != ["aaaaaaaa"]


def test_ids_of_a_migration(both: Both) -> None:
    data = header(version=1) + A + B
    again = [both.read(data, "entries") for _ in range(2)]
    assert ids(again[0][0]) == ids(again[1][0])
    assert ids(again[0][1]) != ids(again[1][1])


def test_a_migration_keeps_lines_that_it_cannot_read(both: Both) -> None:
    ours, theirs = both.after_open(header(version=2) + A + "torn {\n" + B)
    assert ours.splitlines()[2] == b"torn {"
    assert b"torn" not in theirs
    assert json.loads(ours.splitlines()[0])["version"] == json.loads(theirs.splitlines()[0])["version"] == 3


@pytest.mark.parametrize("data", ["", HEADER + A[:-1]], ids=["empty", "no last LF"])
def test_opening_does_not_write(both: Both, data: str) -> None:
    ours, theirs = both.after_open(data)
    assert ours == data.encode()
    assert theirs != data.encode()


def test_the_last_lf_comes_with_the_first_entry(both: Both) -> None:
    for make, path in both.sides(HEADER + A[:-1]):
        with closing(make("open", path)) as side:
            side.call("append_session_info", "name")
        assert [json.loads(line)["type"] for line in path.read_text().splitlines()][1:] == ["message", "session_info"]


# Tree and context


def test_an_entry_without_an_id_is_no_node(both: Both) -> None:
    nameless = json.dumps({"type": "message", "parentId": "aaaaaaaa", "message": {"role": "user", "content": "y"}})
    ours, theirs = both.read(f"{HEADER}{A}{nameless}\n", "facts", "entries", "tree", "context")
    assert len(ours["entries"]) == len(theirs["entries"]) == 2
    assert (ours["facts"]["leaf"], theirs["facts"]["leaf"]) == ("aaaaaaaa", None)
    assert (len(ours["tree"]), len(theirs["tree"])) == (1, 2)


def test_circles_and_repeated_ids_end(tmp_path: Path) -> None:
    """pi takes all memory on both, so that only ours can be shown."""
    for number, data in enumerate(
        (HEADER + entry("aaaaaaaa", "aaaaaaaa"), HEADER + A + B + said("aaaaaaaa", "bbbbbbbb"))
    ):
        with closing(OurSide.make("open", write(tmp_path / f"{number}.jsonl", data.encode()))) as side:
            assert sorted(row["id"] for row in side.parts("tree")["tree"]) == sorted({*ids(side.parts("entries"))})
            assert side.parts("branch")["branch"][-1] == "aaaaaaaa"


def test_orphans_are_children_of_nothing(both: Both) -> None:
    ours, theirs = both.read(HEADER + A + said("bbbbbbbb", "cccccccc"), "roots", "tree")
    assert (ours["roots"], theirs["roots"]) == (["aaaaaaaa", "bbbbbbbb"], ["aaaaaaaa"])
    assert ours["tree"] == theirs["tree"]


@pytest.mark.parametrize("fields", [{"parentId": ""}, {"parentId": 5}], ids=["empty", "number"])
def test_a_parent_that_is_none(both: Both, fields: dict[str, object]) -> None:
    ours, theirs = both.read(HEADER + entry("aaaaaaaa", None, **fields), "roots", "tree")
    assert (ours["roots"], theirs["roots"]) == (["aaaaaaaa"], [])
    assert ours["tree"] == theirs["tree"]


def test_fields_of_a_wrong_type_count_as_absent(both: Both) -> None:
    label = entry("cccccccc", "bbbbbbbb", type="label", targetId="aaaaaaaa", label=5)
    name = entry("dddddddd", "cccccccc", type="session_info", name=5)
    ours, theirs = both.read(HEADER + A + B + label + name, "facts", "labels")
    assert (ours["labels"], theirs["labels"]) == ({}, {"aaaaaaaa": 5})
    assert ours["facts"]["name"] is None
    assert "error" in theirs["facts"]


def test_a_name_is_trimmed_as_python_does(both: Both) -> None:
    name = entry("bbbbbbbb", "aaaaaaaa", type="session_info", name="\ufeffname\x1c")
    ours, theirs = both.read(HEADER + A + name, "facts")
    assert (ours["facts"]["name"], theirs["facts"]["name"]) == ("\ufeffname", "name\x1c")


def test_no_message_where_there_is_none(both: Both) -> None:
    data = (
        HEADER
        + A
        + entry("bbbbbbbb", "aaaaaaaa", type="message")
        + entry("cccccccc", "bbbbbbbb", type="message", message=5)
    )
    ours, theirs = both.read(data, "context")
    assert [message["content"] for message in ours["context"]["messages"]] == ["x"]
    assert "error" in theirs["context"]
    rows = both.rows(data)
    assert [row["messageCount"] for row in rows[0]] == [3]
    assert rows[1] == []


def test_a_message_that_says_nothing(both: Both) -> None:
    data = HEADER + A + entry("bbbbbbbb", "aaaaaaaa", type="message", message={"timestamp": 1})
    ours, theirs = both.read(data, "context")
    assert (len(ours["context"]["messages"]), len(theirs["context"]["messages"])) == (1, 2)


def test_content_of_a_wrong_type(both: Both) -> None:
    data = HEADER + said("aaaaaaaa", None, content={"a": 1})
    ours, theirs = both.read(data, "context")
    assert ours["context"]["messages"][0]["content"] == []
    assert theirs["context"]["messages"][0]["content"] == {"a": 1}
    rows = both.rows(data)
    assert [row["firstMessage"] for row in rows[0]] == ["(no messages)"]
    assert rows[1] == []


def test_settings_of_a_wrong_type(both: Both) -> None:
    thinking = entry("bbbbbbbb", "aaaaaaaa", type="thinking_level_change", thinkingLevel=1)
    compaction = entry("cccccccc", "bbbbbbbb", type="compaction", firstKeptEntryId="bbbbbbbb", tokensBefore=1)
    ours, theirs = both.read(HEADER + said("aaaaaaaa", None, role="assistant") + thinking + compaction, "context")
    assert (ours["context"]["model"], theirs["context"]["model"]) == (None, {})
    assert (ours["context"]["thinkingLevel"], theirs["context"]["thinkingLevel"]) == ("off", 1)
    assert ours["context"]["messages"][0]["summary"] == ""
    assert "summary" not in theirs["context"]["messages"][0]


# Listing


def test_a_block_without_text(both: Both) -> None:
    content = [{"type": "text"}, {"type": "text", "text": "b"}]
    ours, theirs = both.rows(HEADER + said("aaaaaaaa", None, content=content))
    assert (ours[0]["firstMessage"], theirs[0]["firstMessage"]) == ("b", " b")


def test_a_time_that_no_datetime_holds(both: Both) -> None:
    ours, theirs = both.rows(HEADER + said("aaaaaaaa", None, timestamp=9e15))
    assert (ours[0]["modified"], theirs[0]["modified"]) == (TIME, None)


def test_a_file_is_listed_once(both: Both) -> None:
    for path in both.write(HEADER + A):
        path.with_name("again.jsonl").symlink_to(path)
    ours, theirs = both.rows(HEADER + A)
    assert (len(ours), len(theirs)) == (1, 2)


def test_folders_that_share_a_name(pi: Pi, tmp_path: Path) -> None:
    agent = tmp_path / "agent"
    for home in (agent, pi.home / "agent"):
        write(home / "sessions/--a-b--/session.jsonl", (header(cwd="/a/b") + A).encode())
    assert [len(SessionManager.list(cwd, agent_dir=agent)) for cwd in ("/a/b", "/a-b")] == [1, 0]
    assert [len(pi.rows(None, cwd)) for cwd in ("/a/b", "/a-b")] == [1, 1]


def test_a_long_header_is_found(both: Both) -> None:
    continued = []
    for make, path in both.sides(header(meta="m" * 1_100_000) + A):
        with closing(make("continue_recent", "/p", path.parent)) as side:
            continued.append(side.parts("facts")["facts"]["id"] == "0199")
    assert continued == [True, False]


# Writing


def test_a_branched_session_is_written_at_once(both: Both) -> None:
    there = []
    for make, path in both.sides(HEADER + entry("aaaaaaaa", None) + said("bbbbbbbb", "aaaaaaaa")):
        with closing(make("open", path)) as side:
            there.append(Path(side.call("create_branched_session", "aaaaaaaa")).exists())
    assert there == [True, False]


def test_a_parent_is_named_that_is_there(pi: Pi, tmp_path: Path) -> None:
    parents = []
    makes: list[Make] = [OurSide.make, pi.make]
    for make in makes:
        with closing(make("create", "/p", tmp_path)) as side:
            side.call("create_branched_session", side.call("append_custom_entry", "state"))
            parents.append("parentSession" in side.parts("header")["header"])
    assert parents == [False, True]


def test_an_empty_label_is_not_written(both: Both) -> None:
    entries = []
    for make, path in both.sides(HEADER + A):
        with closing(make("open", path)) as side:
            side.call("append_label_change", "aaaaaaaa", "")
            entries.append(side.parts("entries")["entries"][-1])
    assert "label" not in entries[0]
    assert entries[1]["label"] == ""


def test_a_compaction_has_no_system_message(both: Both) -> None:
    system = entry("aaaaaaaa", None, type="message", message={"role": "system", "content": "You help.", "timestamp": 1})
    entries = []
    for make, path in both.sides(HEADER + system + B):
        with closing(make("open", path)) as side:
            side.call("append_compaction", "summary", "bbbbbbbb", 1)
            entries.append(side.parts("entries")["entries"][-1])
    assert "systemMessage" not in entries[0]
    assert "systemMessage" in entries[1]


def test_an_edit_is_written_as_it_was_given(both: Both) -> None:
    edits, contents = [], []
    for make, path in both.sides(HEADER + said("aaaaaaaa", None, role="assistant")):
        with closing(make("open", path)) as side:
            side.call("append_context_edit", "aaaaaaaa", {"content": "edited"})
            edits.append(side.parts("entries")["entries"][-1]["replacement"]["content"])
            contents.append(side.parts("context")["context"]["messages"][0]["content"])
    blocks = [{"type": "text", "text": "edited"}]
    assert edits == ["edited", blocks]
    assert contents == [blocks, blocks]


def test_what_is_refused_here_alone(both: Both) -> None:
    for make, path in both.sides(HEADER + A):
        with closing(make("open", path)) as side:
            for name, *args in (("append_message", {"content": "x"}), ("append_compaction", "summary", None, 1)):
                if make == OurSide.make:
                    with pytest.raises(RefusedError):
                        side.call(str(name), *args)
                else:
                    side.call(str(name), *args)


def test_a_fork_keeps_the_lines(both: Both) -> None:
    odd = A.replace('"id"', '"i\\u0064"').replace('"x"', '"\\ud83d"')
    lines = []
    for make, path in both.sides(HEADER + odd):
        with closing(make("fork_from", path, "/q", path.parent)) as side:
            lines.append(Path(side.parts("facts")["facts"]["file"]).read_text().splitlines()[1])
    assert lines[0] == odd.rstrip()
    assert lines[1] != odd.rstrip()


@pytest.mark.parametrize("version", [1, 2])
def test_a_fork_of_an_old_session_is_migrated(both: Both, version: int) -> None:
    forked = []
    for make, path in both.sides(header(version=version) + said("aaaaaaaa", None, role="hookMessage")):
        with closing(make("fork_from", path, "/q", path.parent)) as side:
            parts = side.parts("header", "entries")
            forked.append((parts["header"]["version"], parts["entries"][0]["message"]["role"]))
    assert forked == [(3, "custom"), (3, "hookMessage")]


def test_entries_of_others_are_noticed(both: Both) -> None:
    counts = []
    for make, path in both.sides(HEADER + A):
        with closing(make("open", path)) as side, closing(make("open", path)) as other:
            other.call("append_session_info", "theirs")
            side.call("append_session_info", "mine")
            counts.append(len(side.parts("entries")["entries"]))
    assert counts == [3, 2]


def test_an_empty_cwd_is_an_error(pi: Pi, tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        OurSide.make("create", "", tmp_path)
    pi.make("create", "", tmp_path).close()


# pi 0.73.1


def test_an_older_pi_writes_a_session_twice(start_pi: Callable[[str], Pi], tmp_path: Path) -> None:
    """It does where more than the answer comes to what has none; a second copy is reported, and costs nothing."""
    path = write(tmp_path / "session.jsonl", (HEADER + A).encode())
    with closing(start_pi("0.73.1").make("open", path)) as old:
        old.call("append_session_info", "name")
        old.call("append_message", {"role": "assistant", "content": [], "timestamp": TIME_MS})
    with SessionManager.open(path) as manager:
        assert [entry.type for entry in manager.get_entries()] == ["message", "message", "session_info", "message"]
        assert len(manager.get_branch()) == 3
        assert {one.kind for one in manager.damage} == {"header", "repeated"}


def test_an_older_pi_names_the_branch_that_is_gone_to(start_pi: Callable[[str], Pi], pi: Pi, tmp_path: Path) -> None:
    left = []
    makes: list[Make] = [OurSide.make, pi.make, start_pi("0.73.1").make]
    for number, make in enumerate(makes):
        path = write(
            tmp_path / f"{number}.jsonl", (HEADER + A + said("bbbbbbbb", "aaaaaaaa", role="assistant")).encode()
        )
        with closing(make("open", path)) as side:
            side.call("branch_with_summary", "aaaaaaaa", "summary")
            left.append(side.parts("entries")["entries"][-1]["fromId"])
    assert left == ["bbbbbbbb", "bbbbbbbb", "aaaaaaaa"]
