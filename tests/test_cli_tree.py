"""`sessiontree tree`: the branches drawn, and as rows."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import Home, conversation, message, session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def entries(shape: str) -> list[dict[str, Any]]:
    """Messages by id and parent: `a b:a c:a` are a root with two children; without a parent, it is the one before."""
    made: list[dict[str, Any]] = []
    for word in shape.split():
        name, colon, parent = word.partition(":")
        links = {"id": name} | ({"parentId": parent or None} if colon else {})
        made.append(message("user", name.upper(), **links))
    return made


def drawn(home: Home, *made: dict[str, Any], options: Sequence[str] = ()) -> list[str]:
    """The lines drawn of a session of these entries."""
    path = home.add("1", conversation(*made))
    done = home.run("tree", path, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def shape(home: Home, text: str, *more: dict[str, Any], options: Sequence[str] = ()) -> list[str]:
    """The lines drawn, without what the entries say."""
    lines = drawn(home, *entries(text), *more, options=options)
    return [re.split(" (?:user|label): ", line)[0] for line in lines]


# The drawing


def test_a_linear_session_is_a_column(home: Home) -> None:
    assert drawn(home, *entries("a b c")) == ["● a user: A", "● b user: B", "◉ c (leaf) user: C"]


def test_only_what_branches_off_the_active_branch_is_further_in(home: Home) -> None:
    assert shape(home, "a b c d:b e f:b g") == [
        "● a",
        "● b",
        "├─○ c",
        "├─○ d",
        "│ ○ e",
        "● f",
        "◉ g (leaf)",
    ]


def test_forks_of_forks(home: Home) -> None:
    assert shape(home, "a b c d:b e:d f:d g:f h:a") == [
        "● a",
        "├─○ b",
        "│ ├─○ c",
        "│ ○ d",
        "│ ├─○ e",
        "│ ○ f",
        "│ ○ g",
        "◉ h (leaf)",
    ]


def test_the_active_branch_goes_straight_on_however_little_it_holds(home: Home) -> None:
    assert shape(home, "a b c d e f:a") == ["● a", "├─○ b", "│ ○ c", "│ ○ d", "│ ○ e", "◉ f (leaf)"]


def test_what_follows_the_leaf_is_not_on_the_branch(home: Home) -> None:
    late = message("user", "LATE", id="b", parentId="x")
    assert shape(home, "a", late, message("user", "X", id="x", parentId="a")) == ["● a", "◉ x (leaf)", "○ b"]


def test_each_root_starts_a_tree(home: Home) -> None:
    assert shape(home, "a b c: d e:gone f") == ["○ a", "○ b", "", "○ c", "○ d", "", "● e", "◉ f (leaf)"]


def test_labels_stand_beside_their_entries(home: Home) -> None:
    label = {"type": "label", "id": "l", "targetId": "b", "label": "start\nhere"}
    assert drawn(home, *entries("a b"), label) == [
        "● a user: A",
        "● b [start here] user: B",
        "◉ l (leaf) label: b: start here",
    ]


def test_what_entries_say(home: Home) -> None:
    call = {"type": "toolCall", "name": "bash", "arguments": {"command": "ls"}}
    thought = {"type": "thinking", "thinking": "Hm"}
    said = [
        message("user", "\n Please\n\n do it "),
        message("assistant", [thought, call]),
        message("toolResult", "one\ntwo", toolName="bash"),
        message("assistant", [thought]),
        message("assistant", [thought, {"type": "text", "text": "Done"}]),
        {"type": "compaction", "summary": "They did."},
        {"type": "model_change", "provider": "acme", "modelId": "acme-1"},
        {"type": "decision"},
    ]
    assert [line.split(" ", 2)[2] for line in drawn(home, *said)] == [
        "user: Please do it",
        "assistant: → bash ls",
        "result of bash: one two",
        "assistant: thinking: Hm",
        "assistant: Done",
        "compaction: They did.",
        "model: acme/acme-1",
        "(leaf) decision",
    ]


def test_lines_are_cut_to_the_width(home: Home) -> None:
    text = "x" * 1_000_000
    lines = drawn(home.given(COLUMNS="30"), *(message("user", text, id=f"{number}" * 99) for number in range(3)))
    assert [len(line) for line in lines] == [30] * 3
    lines = drawn(home.given(COLUMNS="70"), message("user", text, id="0199aaaa-0000-7000-8000-000000000001"))
    assert lines == ["◉ 0199aaaa-0000-7000-8000-000000000001 (leaf) user: " + "x" * 17 + "…"]


def test_ascii_output(home: Home) -> None:
    assert shape(home.given(PYTHONIOENCODING="ascii"), "a b c d e f g h i j k l m n:a") == [
        "* a",
        "|-o b",
        "| ~ 10 entries",
        "| o m",
        "@ n (leaf)",
    ]


# Folding


LONG = " ".join(f"n{number}" for number in range(50))


def test_a_long_run_is_folded_to_its_ends(home: Home) -> None:
    assert shape(home, LONG) == ["● n0", "… 48 entries", "◉ n49 (leaf)"]
    assert len(shape(home, LONG, options=["--full"])) == 50


def test_forks_labelled_entries_and_the_leaf_are_not_folded(home: Home) -> None:
    fork = message("user", "X", id="x", parentId="n12")
    label = {"type": "label", "id": "l", "targetId": "n30", "label": "L", "parentId": "x"}
    cleared = [{"type": "label", "targetId": "n40", "label": one} for one in ("Y", "")]
    order = LONG.replace(" n20 n21", " n21:n20")
    leaf = message("user", "N20", id="n20", parentId="n19")
    assert shape(home, order, fork, label, *cleared, leaf) == [
        "● n0",
        "… 11 entries",
        "● n12",
        "├─○ x",
        "│ ○ l",
        "│ ○ e52",
        "│ ○ e53",
        "● n13",
        "● n14",
        "● n15",
        "● n16",
        "● n17",
        "● n18",
        "● n19",
        "◉ n20 (leaf)",
        "… 9 entries",
        "○ n30 [L]",
        "… 18 entries",
        "○ n49",
    ]


def test_short_runs_are_not_folded(home: Home) -> None:
    assert len(shape(home, " ".join(LONG.split()[:9]))) == 9
    assert shape(home, " ".join(LONG.split()[:10]))[1:-1] == ["… 8 entries"]


# Any tree


def random_shape(size: int, seed: int, straight: float) -> str:
    """A tree of that size; `straight` of its entries follow the one before."""
    choose = random.Random(seed)
    words = ["n0"]
    for number in range(1, size):
        parent = number - 1 if choose.random() < straight else choose.randrange(number)
        words.append(f"n{number}:n{parent}")
    return " ".join(words)


@pytest.mark.parametrize("straight", [0, 0.5, 0.9, 1])
@pytest.mark.parametrize("size", [1, 20, 2_000])
def test_every_entry_is_drawn_once_below_its_parent(home: Home, size: int, straight: float) -> None:
    text = random_shape(size, size, straight)
    parents = dict(word.partition(":")[::2] for word in text.split())
    columns: dict[int, str] = {}
    seen: list[str] = []
    for line in shape(home, text, options=["--full"]):
        level = next(place for place, character in enumerate(line) if character in "●○◉") // 2
        name = line.split()[-1 - line.endswith("(leaf)")]
        starts = line[2 * level - 2 : 2 * level] == "├─"
        columns = {column: one for column, one in columns.items() if column <= level}
        assert parents[name] == ((columns[level - 1] if starts else columns[level]) if columns else "")
        assert set(line[: 2 * level]) <= {"│", "├", "─", " "}
        columns[level] = name
        seen.append(name)
    assert sorted(seen) == sorted(parents)


def test_however_forks_are_nested_lines_stay_narrow(home: Home) -> None:
    size = 4_000
    everywhere = " ".join(["n0", *(f"n{number}:n{(number - 1) // 2}" for number in range(1, size))])
    comb = " ".join(["n0", *(f"n{number}:n{max(0, number - 2 + number % 2)}" for number in range(1, size))])
    for text in (everywhere, comb):
        lines = shape(home.given(COLUMNS="300"), text, options=["--full"])
        levels = [line.count("│") + line.count("├") for line in lines]
        assert max(levels) <= math.log2(size) + 1
        narrow = drawn(home.given(COLUMNS="20"), *entries(text), options=["--full"])
        assert max(map(len, narrow)) == 20
        assert all(any(mark in line[:11] for mark in "●○◉") for line in narrow)


@pytest.mark.parametrize("fork", [False, True])
def test_depth_is_no_limit(home: Home, fork: bool) -> None:
    size = 100_000
    data = bytearray(conversation())
    for number in range(size):
        parent = number - 1 - (fork and number % 2 == 0 and number > 0)
        link = f'"id":"n{number}","parentId":"n{parent}"'
        data += f'{{"type":"message",{link},"message":{{"role":"user","content":"x"}}}}\n'.encode()
    path = home.add("1", bytes(data))
    done = home.run("tree", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == (size if fork else 3)
    rows = home.rows("tree", path)
    assert len(rows) == size
    assert rows[-1]["depth"] == (size // 2 if fork else size - 1)


def test_a_circle_is_drawn_once(home: Home) -> None:
    assert shape(home, "a:c b:a c:b d:a") == ["● a", "├─● b", "│ ● c", "◉ d (leaf)"]
    assert shape(home, "a:b b:a c:a d:c e:b") == ["● a", "├─○ c", "│ ○ d", "● b", "◉ e (leaf)"]
    assert shape(home, "a:a b:a") == ["● a", "◉ b (leaf)"]


def test_a_session_without_entries(home: Home) -> None:
    path = home.add("1", conversation({"type": "custom", "id": None}))
    done = home.run("tree", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert home.run("tree", path, "--json").stdout == "[]\n"
    assert home.run("tree", path, "--jsonl").stdout == ""


# JSON


def test_json_is_a_row_an_entry_depth_first(home: Home) -> None:
    label = {"type": "label", "id": "l", "targetId": "b", "label": "L", "parentId": "b"}
    path = home.add("1", conversation(*entries("a b c d:gone e:a"), label))
    rows = home.rows("tree", path)
    assert json.loads(home.run("tree", path, "--json").stdout) == rows
    assert [list(row) for row in rows] == [
        ["id", "parentId", "type", "timestamp", "label", "depth", "isLeaf", "onBranch"]
    ] * 6
    assert [tuple(row.values()) for row in rows] == [
        ("a", None, "message", "2026-01-05T10:01:00.000Z", None, 0, False, True),
        ("b", "a", "message", "2026-01-05T10:02:00.000Z", "L", 1, False, True),
        ("c", "b", "message", "2026-01-05T10:03:00.000Z", None, 2, False, False),
        ("l", "b", "label", "2026-01-05T10:06:00.000Z", None, 2, True, True),
        ("e", "a", "message", "2026-01-05T10:05:00.000Z", None, 1, False, False),
        ("d", "gone", "message", "2026-01-05T10:04:00.000Z", None, 0, False, False),
    ]


def test_json_of_times_that_cannot_be_read(home: Home) -> None:
    path = home.add("1", session(time="yesterday"))
    assert {row["timestamp"] for row in home.rows("tree", path)} == {None}


def names(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_children_are_oldest_first_in_both_forms(home: Home) -> None:
    late, early = message("user", "L", id="b", parentId="a"), message("user", "E", id="c", parentId="a")
    made = [
        *entries("a"),
        {**late, "timestamp": "2026-01-05T12:00:00Z"},
        early,
        message("user", "X", id="d", parentId="a"),
    ]
    assert names(home.rows("tree", home.add("1", conversation(*made)))) == ["a", "c", "d", "b"]
    assert shape(home, "", *made) == ["● a", "├─○ c", "├─○ b", "◉ d (leaf)"]
