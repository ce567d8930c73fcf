"""Session files of odd kinds, and what is right for each once it is open."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeAlias

from support import DATA

Json: TypeAlias = dict[str, Any]
Right: TypeAlias = dict[str, Any]
"""Facts of an open session, by the names in `opened.brief`."""

TIME = "2026-01-05T10:00:00.000Z"
TIME_MS = 1_767_607_200_000


# Kinds that have gone wrong in public


def data(name: str) -> bytes:
    return (DATA / "cases" / name).read_bytes()


def derived_id(session_id: str, number: int) -> str:
    """The id that an entry of version 1 gets, where no earlier one has it."""
    return sha256(f"{session_id}\n{number}\n0".encode()).hexdigest()[:8]


_LEGACY = [derived_id("legacy-1", number) for number in range(1, 6)]

CASES: dict[str, Right] = {
    "01-torn-tail-append/input.jsonl": {
        "entry_count": 2,
        "leaf_id": "e2000002",
        "name": None,
        "said": [("user", "Rename the config loader"), ("assistant", "Renamed it.")],
        "damage": [("line", 4)],
    },
    "03-glued-records/input.jsonl": {
        "entry_count": 4,
        "leaf_id": "e4000004",
        "said": [
            ("user", "List the failing tests"),
            ("assistant", "Three fail. }{ is only text here."),
            ("user", "Fix the first"),
            ("assistant", "Fixed."),
        ],
        "damage": [("joined", 3)],
    },
    "05-u2028-in-text/input.jsonl": {
        "entry_count": 3,
        "leaf_id": "e3000003",
        "name": "Sep\u2028arated",
        "said": [("user", "First\u2028second\u2029third\u0085fourth"), ("assistant", "Seen \u2028 it.")],
        "damage": [],
    },
    "20-duplicate-header-and-entries/input.jsonl": {
        "session_id": "0199aaaa-0000-7000-8000-000000000020",
        "entry_count": 7,
        "leaf_id": "e5000005",
        "name": "Twice",
        "said": [("user", "Go on"), ("assistant", "Going.")],
        "rows": [(0, "a1000001"), (1, "b2000002"), (2, "c3000003"), (3, "d4000004"), (4, "e5000005")],
        "damage": [("header", 4), ("repeated", 5), ("repeated", 6)],
    },
    "23-self-parent/input.jsonl": {
        "entry_count": 3,
        "leaf_id": "e3000003",
        "said": [("assistant", "own parent"), ("user", "next")],
        "rows": [(0, "e1000001"), (0, "e2000002"), (1, "e3000003")],
        "damage": [("circle", 3)],
    },
    "27-firstkept-label-fork/input.jsonl": {
        "entry_count": 7,
        "leaf_id": "e7000007",
        "labels": {"e1000001": "start"},
        "said": [
            ("compactionSummary", "Old things."),
            ("user", "Kept question"),
            ("assistant", "Kept answer"),
            ("user", "After"),
        ],
    },
    "29-two-compactions-overlap/input.jsonl": {
        "entry_count": 9,
        "leaf_id": "e9000009",
        "said": [
            ("compactionSummary", "second summary"),
            ("assistant", "a2"),
            ("user", "u3"),
            ("assistant", "a3"),
            ("user", "u4"),
        ],
    },
    "30-content-null/input.jsonl": {
        "entry_count": 6,
        "leaf_id": "e6000006",
        "said": [
            ("user", ""),
            ("assistant", ""),
            ("user", "Real question"),
            ("toolResult", ""),
            ("custom", ""),
            ("assistant", "Done"),
        ],
    },
    "32-v1-legacy/input.jsonl": {
        "session_id": "legacy-1",
        "branch": _LEGACY,
        "leaf_id": "65744067",  # printf 'legacy-1\n5\n0' | sha256sum
        "said": [
            ("compactionSummary", "v1 summary"),
            ("assistant", "v1 answer"),
            ("custom", "from a hook"),
            ("user", "later"),
        ],
        "damage": [],
    },
    "64-append-failure/input.jsonl": {
        "entry_count": 2,
        "leaf_id": "e2000002",
        "said": [("user", "Before"), ("assistant", "Fine")],
    },
    **{
        f"42-prefix-ambiguity/sessions/s{number}.jsonl": {
            "entry_count": 1,
            "leaf_id": "e1000001",
            "said": [("user", f"session {number}")],
        }
        for number in (1, 2, 3, 4)
    },
}

DEEP = 20_000
DEEP_CHAIN: Right = {
    "entry_count": DEEP,
    "leaf_id": f"{DEEP:08x}",
    "roots": ["00000001"],
    "rows": [(number, f"{number + 1:08x}") for number in range(DEEP)],
    "said": [("assistant", f"a{number}") if number % 2 else ("user", f"q{number}") for number in range(DEEP)],
    "damage": [],
}


def deep_chain() -> bytes:
    """A conversation that is as deep as it is long."""
    return session(
        *(
            entry(
                f"{number + 1:08x}",
                f"{number:08x}" if number else None,
                "message",
                message=answer(f"a{number}") if number % 2 else user(f"q{number}"),
            )
            for number in range(DEEP)
        )
    )


# Odd fields, one lesson each


def session(*records: Json | str, **header: object) -> bytes:
    """A session file of these entries; a text is a line as it stands."""
    first = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/team/app"} | header
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in (first, *records)).encode() + b"\n"


def entry(entry_id: object, parent_id: object, kind: object = "custom", **fields: object) -> Json:
    return {"type": kind, "id": entry_id, "parentId": parent_id, "timestamp": TIME, **fields}


def user(content: object = "q", **fields: object) -> Json:
    return {"role": "user", "content": content, "timestamp": TIME_MS, **fields}


def answer(text: str = "a", **fields: object) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], **fields}


def chain(*parts: tuple[str, Json]) -> bytes:
    """A session of entries of these types and fields, each the child of the one before it: e1, e2, and so on."""
    return session(
        *(
            entry(f"e{number}", f"e{number - 1}" if number > 1 else None, kind, **fields)
            for number, (kind, fields) in enumerate(parts, 1)
        )
    )


def _ids(*names: str, at: int = 0) -> list[tuple[int, str]]:
    return [(at + depth, name) for depth, name in enumerate(names)]


def siblings(*times: object) -> bytes:
    """A root and children of it with these timestamps: e1, e2, and so on."""
    children = [entry(f"e{number}", "root", timestamp=time) for number, time in enumerate(times, 1)]
    return session(entry("root", None), *children)


def _at(second: int) -> str:
    return f"2026-01-05T10:00:{second:02}Z"


LINKS: dict[str, tuple[bytes, Right]] = {
    "a circle: a walk stops where it has been, the tree begins at the first on it": (
        session(entry("a", "c"), entry("c", "b"), entry("b", "a")),
        {
            "branch": ["c", "a", "b"],
            "branches": {None: ["c", "a", "b"], "a": ["b", "c", "a"], "c": ["a", "b", "c"], "b": ["c", "a", "b"]},
            "rows": _ids("a", "b", "c"),
            "children": {None: ["a"], "a": ["b"], "b": ["c"], "c": []},
            "tips": ["c"],
            "damage": [("circle", 2)],
        },
    ),
    "a tail on a circle": (
        session(entry("t", "b"), entry("a", "b"), entry("b", "a")),
        {
            "rows": [(0, "a"), (1, "b"), (2, "t")],
            "branches": {None: ["a", "b"], "t": ["a", "b", "t"], "a": ["b", "a"], "b": ["a", "b"]},
            "damage": [("circle", 3)],
        },
    ),
    "its own parent": (
        session(entry("a", "a"), entry("b", "a")),
        {"rows": _ids("a", "b"), "branch": ["a", "b"], "tips": ["b"], "damage": [("circle", 2)]},
    ),
    "an unknown parent": (
        session(entry("a", "nobody"), entry("b", "a"), entry("c", None)),
        {"rows": [(0, "a"), (1, "b"), (0, "c")], "branch": ["c"], "damage": [("parent", 2)]},
    ),
    "an unknown parent stays the entry's": (
        session(entry("a", "nobody")),
        {"entries": [{"type": "custom", "id": "a", "parent_id": "nobody"}], "roots": ["a"]},
    ),
    "a parent further down": (
        session(entry("b", "a"), entry("a", None)),
        {"rows": _ids("a", "b"), "leaf_id": "a", "branch": ["a"], "tips": ["b"], "damage": []},
    ),
    "a repeated id stands where the last one does": (
        session(entry("a", None), entry("b", "a"), entry("a", "x", "label"), entry("c", "a")),
        {
            "entry_count": 4,
            "rows": [(0, "a"), (1, "b"), (1, "c")],
            "children": {None: ["a"], "a": ["b", "c"], "b": [], "c": []},
            "tips": ["b", "c"],
            "branch": ["a", "c"],
            "damage": [("repeated", 4), ("parent", 4)],
        },
    ),
    "without an id: an entry, no node, not the leaf": (
        session(entry("a", None), entry(None, "a"), entry("", "a"), entry(7, "a")),
        {
            "entries": [
                {"type": "custom", "id": "a", "parent_id": None},
                *[{"type": "custom", "id": None, "parent_id": "a"}] * 3,
            ],
            "leaf_id": "a",
            "rows": _ids("a"),
            "tips": ["a"],
            "damage": [],
        },
    ),
    "odd parents are none": (
        session(entry("a", 7), entry("b", ""), entry("c", ["a"]), entry("d", "c")),
        {"roots": ["a", "b", "c"], "branch": ["c", "d"], "damage": []},
    ),
    "an odd type": (
        session(entry("a", None, 7), entry("b", "a", None), entry("c", "b", "Message")),
        {
            "entries": [
                {"type": None, "id": "a", "parent_id": None},
                {"type": None, "id": "b", "parent_id": "a"},
                {"type": "Message", "id": "c", "parent_id": "b"},
            ],
            "branch": ["a", "b", "c"],
        },
    ),
    "no entries": (
        session(),
        {
            "entries": [],
            "leaf_id": None,
            "leaf": None,
            "branch": [],
            "tree": [],
            "tips": [],
            "children": {None: []},
            "messages": [],
            "thinking_level": "off",
            "model": None,
        },
    ),
    "none that has an id": (
        session(entry(None, None, "message", message=user())),
        {"entry_count": 1, "leaf_id": None, "tree": [], "branch": [], "messages": []},
    ),
    "children stand by their time, equal ones as in the file": (
        siblings(_at(3), _at(1), _at(2), _at(1), "2026-01-05T09:00:01.000-01:00"),
        {
            "rows": [(0, "root"), (1, "e2"), (1, "e4"), (1, "e5"), (1, "e3"), (1, "e1")],
            "children": {
                None: ["root"],
                "root": ["e1", "e2", "e3", "e4", "e5"],
                "e1": [],
                "e2": [],
                "e3": [],
                "e4": [],
                "e5": [],
            },
        },
    ),
    "an unreadable time is that of the sibling before": (
        siblings(_at(3), "soon", _at(1), 12, None, _at(2)),
        {"rows": [(0, "root"), (1, "e3"), (1, "e4"), (1, "e5"), (1, "e6"), (1, "e1"), (1, "e2")]},
    ),
    "an unreadable time with none before it is the oldest": (
        siblings("soon", "+012026-01-05", _at(2), _at(1)),
        {"rows": [(0, "root"), (1, "e1"), (1, "e2"), (1, "e4"), (1, "e3")]},
    ),
    "times before 1970": (
        siblings("1970-01-01", "1969-12-31", "0001-01-01T00:00:00Z"),
        {"rows": [(0, "root"), (1, "e3"), (1, "e2"), (1, "e1")]},
    ),
    "roots stand as in the file": (
        session(entry("a", None, timestamp=_at(2)), entry("b", None, timestamp=_at(1))),
        {"rows": [(0, "a"), (0, "b")]},
    ),
    "times of entries": (
        session(*(entry(None, None, timestamp=time) for time in ("2026-01-05", TIME, "2026-01-05T24:00Z", "then", 5))),
        {
            "timestamps": [
                datetime(2026, 1, 5, tzinfo=UTC),
                datetime(2026, 1, 5, 10, tzinfo=UTC),
                datetime(2026, 1, 6, tzinfo=UTC),
                None,
                None,
            ]
        },
    ),
}


def label(target: object, *text: object, **fields: object) -> tuple[str, Json]:
    return "label", {"targetId": target, **({"label": text[0]} if text else {}), **fields}


def name(*text: object) -> tuple[str, Json]:
    return "session_info", {"name": text[0]} if text else {}


NAMES: dict[str, tuple[bytes, Right]] = {
    "the last label wins, and its time": (
        chain(label("e1", "one"), label("e1", "two", timestamp=_at(2)), label("e2", "of a label")),
        {
            "labels": {"e1": "two", "e2": "of a label"},
            "label_timestamps": {
                "e1": datetime(2026, 1, 5, 10, 0, 2, tzinfo=UTC),
                "e2": datetime(2026, 1, 5, 10, tzinfo=UTC),
            },
        },
    ),
    "labels are cleared by none, an empty one, and an odd one": (
        chain(
            *(label(f"e{number}", "x") for number in (1, 2, 3, 4, 5)),
            label("e1"),
            label("e2", ""),
            label("e3", None),
            label("e4", 5),
            label("e5", " "),
        ),
        {"labels": {"e5": " "}},
    ),
    "a label that is given again": (
        chain(label("e1", "one"), label("e1"), label("e1", "two")),
        {"labels": {"e1": "two"}},
    ),
    "a label whose time cannot be read": (
        chain(label("e1", "x", timestamp="soon")),
        {"labels": {"e1": "x"}, "label_timestamps": {"e1": None}},
    ),
    "a label for nothing": (chain(label("", "x"), label(5, "x"), label(None, "x")), {"labels": {}}),
    "labels count without an id, on any branch, and where their id is repeated": (
        session(
            entry("a", None),
            entry(None, "a", "label", targetId="a", label="without id"),
            entry("b", "nobody", "label", targetId="b", label="elsewhere"),
            entry("c", "a", "label", targetId="c", label="first of two"),
            entry("c", "a"),
        ),
        {"labels": {"a": "without id", "b": "elsewhere", "c": "first of two"}, "leaf_id": "c"},
    ),
    "other entries with a label are none": (session(entry("a", None, targetId="a", label="x")), {"labels": {}}),
    "a name": (chain(name("old"), name("  new \u3000\n")), {"name": "new"}),
    "a name is cleared by none": (chain(name("old"), name()), {"name": None}),
    "a name is cleared by an empty one": (chain(name("old"), name(" \t\r\n")), {"name": None}),
    "a name is cleared by an odd one": (chain(name("old"), name(5)), {"name": None}),
    "a name of an entry without an id, off the branch": (
        session(entry(None, None, "session_info", name="so"), entry("a", None)),
        {"name": "so", "branch": ["a"]},
    ),
}
