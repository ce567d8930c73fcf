"""Opening a session for reading: vectors in full, files that have gone wrong in public, odd fields."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

import cases_context
import cases_open
import sessiontree
from cases_open import answer, chain, entry, session, user
from opened import CLASSES, Facts, assert_same, brief, is_refused, manager_facts, reference_facts, vector_facts
from reference_session import open_session
from sessiontree import EntryNotFoundError, FormatError, SessionManager, scan
from support import same_facts, vector_file, vectors, write

if TYPE_CHECKING:
    from pathlib import Path


def opened(path: Path) -> Facts:
    with SessionManager.open(path, read_only=True) as manager:
        return manager_facts(manager)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


# Vectors and cases


@pytest.fixture(params=vectors(), ids=lambda folder: folder.name)
def vector(request: pytest.FixtureRequest, path: Path) -> Path:
    """The vector's folder; its file is copied."""
    folder: Path = request.param
    write(path, vector_file(folder).read_bytes())
    return folder


def test_vector(vector: Path, path: Path) -> None:
    if is_refused(vector):
        with pytest.raises(FormatError) as caught:
            SessionManager.open(path, read_only=True)
        assert caught.value.path == path
        return
    assert_same(*vector_facts(vector, opened(path)))


def test_all_else_is_as_the_reference_has_it(vector: Path, path: Path) -> None:
    expected = open_session(path.read_bytes())
    if not is_refused(vector):
        assert expected is not None
        assert_same(opened(path), reference_facts(expected))


def test_reading_leaves_the_file_as_it_was(vector: Path, path: Path) -> None:
    def state() -> tuple[bytes, int, int, list[Path]]:
        return path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino, list(path.parent.iterdir())

    before = state()
    if is_refused(vector):
        with pytest.raises(FormatError):
            SessionManager.open(path, read_only=True)
    else:
        opened(path)
    assert state() == before


def test_damage_is_what_a_scan_finds(vector: Path, path: Path) -> None:
    if not is_refused(vector):
        with SessionManager.open(path, read_only=True) as manager:
            assert manager.damage == scan(path).damage


@pytest.mark.parametrize("name", cases_open.CASES)
def test_case(name: str, path: Path) -> None:
    right = cases_open.CASES[name]
    write(path, cases_open.data(name))
    found = opened(path)
    assert_same(same_facts(brief(found), right), right)
    assert path.read_bytes() == cases_open.data(name)
    assert opened(path) == found


@pytest.mark.parametrize("name", cases_context.ODD)
def test_odd(name: str, path: Path) -> None:
    data, right = cases_context.ODD[name]
    write(path, data)
    assert_same(same_facts(brief(opened(path)), right), right)


# What is no session


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \r\n\n",
        b"\0\0",
        b"{}\n[]\nno session\n",
        b'{"type":"message","id":"a"}\n{"type":"session","id":"s"}\n',
        b'{"type":"session"}\n{"type":"session","id":"s"}\n',
        b'{"type":"session","id":7}\n',
    ],
)
def test_what_is_no_session_is_refused(path: Path, data: bytes) -> None:
    write(path, data)
    with pytest.raises(FormatError) as caught:
        SessionManager.open(path, read_only=True)
    assert caught.value.path == path
    assert str(path) in str(caught.value)
    assert path.read_bytes() == data


def test_what_is_missing_is_refused(path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        SessionManager.open(path, read_only=True)
    assert caught.value.filename == str(path)
    assert list(path.parent.iterdir()) == []


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"(?s).") as caught:
        SessionManager.open(tmp_path, read_only=True)
    assert caught.value.filename == str(tmp_path)


def test_strict_raises_at_the_first_damage(path: Path) -> None:
    write(path, session("{", entry("a", None), "["))
    with pytest.raises(FormatError) as caught:
        SessionManager.open(path, read_only=True, strict=True)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_strict_lets_whole_files_pass(path: Path) -> None:
    write(path, session(entry("a", None)))
    assert SessionManager.open(path, read_only=True, strict=True).get_leaf_id() == "a"


# What is asked for


def test_unknown_ids(path: Path) -> None:
    write(path, session(entry("a", "nobody")))
    manager = SessionManager.open(path, read_only=True)
    assert manager.get_entry("nobody") is None
    assert manager.get_label("nobody") is None
    for ask in (manager.get_branch, manager.branch):
        with pytest.raises(EntryNotFoundError) as caught:
            ask("nobody")
        assert caught.value.entry_id == "nobody"
    assert manager.get_leaf_id() == "a"


def test_the_leaf_can_be_moved(path: Path) -> None:
    write(path, chain(("message", {"message": user("q")}), ("message", {"message": answer("a")})))
    with SessionManager.open(path, read_only=True) as manager:
        manager.branch("e1")
        assert manager.get_leaf_id() == "e1"
        assert [one.id for one in manager.get_branch()] == ["e1"]
        assert [message["role"] for message in manager.build_session_context().messages] == ["user"]
        manager.reset_leaf()
        assert (manager.get_leaf_id(), manager.get_leaf_entry()) == (None, None)
        assert manager.get_branch() == []
        assert manager.build_session_context().messages == []
        assert [one.id for one in manager.get_branch("e2")] == ["e1", "e2"]
    assert opened(path)["leaf_id"] == "e2"


def test_the_session_s_own_facts(path: Path) -> None:
    write(path, session(parentSession="/team/old.jsonl", extra=[1]))
    with SessionManager.open(path, read_only=True) as manager:
        header = manager.get_header()
        assert (header.type, header.id, header.version, header.cwd) == ("session", "s", 3, "/team/app")
        assert header.parent_session == "/team/old.jsonl"
        assert header.timestamp is not None
        assert header.timestamp.isoformat() == "2026-01-05T10:00:00+00:00"
        assert header.raw["extra"] == [1]
        assert (manager.get_session_id(), str(manager.get_cwd())) == ("s", "/team/app")
        assert (manager.get_session_file(), manager.get_session_dir()) == (path, path.parent)
        assert manager.is_persisted()


@pytest.mark.parametrize("odd", [None, 5, [], ""])
def test_odd_fields_of_a_header_are_none(path: Path, odd: object) -> None:
    write(path, session(timestamp=odd, parentSession=odd))
    header = SessionManager.open(path, read_only=True).get_header()
    assert (header.timestamp, header.parent_session) == (None, None)


FIELDS: list[tuple[str, str, str, object, list[object]]] = [
    ("message", "message", "message", {"role": "user", "content": "x"}, [5, "text", []]),
    ("model_change", "provider", "provider", "acme", [5, {}]),
    ("model_change", "model_id", "modelId", "acme-1", [5, {}]),
    ("thinking_level_change", "thinking_level", "thinkingLevel", "high", [5, {}]),
    ("compaction", "summary", "summary", "S", [5, []]),
    ("compaction", "first_kept_entry_id", "firstKeptEntryId", "a", [5, []]),
    ("compaction", "tokens_before", "tokensBefore", 50, ["50", True, []]),
    ("compaction", "details", "details", {"readFiles": []}, []),
    ("compaction", "from_hook", "fromHook", True, [1, "true"]),
    ("compaction", "usage", "usage", {"input": 1}, [5, []]),
    ("compaction", "system_message", "systemMessage", {"role": "system", "content": "x"}, [5, "text"]),
    ("branch_summary", "from_id", "fromId", "a", [5, []]),
    ("branch_summary", "summary", "summary", "S", [5, []]),
    ("branch_summary", "details", "details", [1], []),
    ("branch_summary", "from_hook", "fromHook", False, [0, "false"]),
    ("branch_summary", "usage", "usage", {"input": 1}, [5, []]),
    ("custom", "custom_type", "customType", "memo", [5, {}]),
    ("custom", "data", "data", {"count": 42}, []),
    ("custom_message", "custom_type", "customType", "memo", [5, {}]),
    ("custom_message", "content", "content", "text", [5, {}]),
    ("custom_message", "content", "content", [{"type": "text", "text": "x"}], [True]),
    ("custom_message", "display", "display", False, [0, "no"]),
    ("custom_message", "details", "details", 5, []),
    ("label", "target_id", "targetId", "a", [5, {}]),
    ("label", "label", "label", "here", [5, {}]),
    ("session_info", "name", "name", "So", [5, {}]),
    ("usage", "kind", "kind", "cache_warm", [5, {}]),
    ("usage", "provider", "provider", "acme", [5, {}]),
    ("usage", "model", "model", "acme-1", [5, {}]),
    ("usage", "usage", "usage", {"input": 1}, [5, []]),
    ("usage", "note", "note", "why", [5, {}]),
    ("context_edit", "target_id", "targetId", "a", [5, {}]),
    ("context_edit", "replacement", "replacement", {"content": "x"}, [5, "text"]),
]


@pytest.mark.parametrize(("kind", "name", "key", "value", "odd"), FIELDS)
def test_a_field_of_the_wrong_type_is_none(
    path: Path, kind: str, name: str, key: str, value: object, odd: list[object]
) -> None:
    records = [entry(f"e{number}", None, kind) | {key: one} for number, one in enumerate([value, None, *odd])]
    write(path, session(*records, entry("last", None, kind)))
    with SessionManager.open(path, read_only=True) as manager:
        entries = manager.get_entries()
    assert [getattr(one, name) for one in entries] == [value] + [None] * (len(entries) - 1)
    assert [one.raw for one in entries[:-1]] == records


# Depth


def test_a_conversation_as_deep_as_it_is_long(path: Path) -> None:
    right = cases_open.DEEP_CHAIN
    write(path, cases_open.deep_chain())
    found = opened(path)
    assert_same(same_facts(brief(found), right), right)
    with SessionManager.open(path, read_only=True) as manager:
        [root] = manager.get_tree()
        assert [row["id"] for row in root.to_dict()] == [name for _, name in right["rows"]]


def test_a_tree_of_a_million(path: Path) -> None:
    depth = 1_000_000
    lines = (f'{{"id":"{number}","parentId":"{number - 1}"}}\n' for number in range(1, depth + 1))
    write(path, session() + "".join(lines).encode())
    manager = SessionManager.open(path, read_only=True)
    assert manager.get_leaf_id() == str(depth)
    assert len(manager.get_branch()) == depth
    [node] = roots = manager.get_tree()
    count = 1
    while node.children:
        [node] = node.children
        count += 1
    assert (count, node.entry.id) == (depth, str(depth))
    del roots, manager
    assert node.entry.id == str(depth), "what is held stays when the rest is freed"


def test_deep_values(path: Path) -> None:
    depth = 100_000
    deep = "[" * depth + '{"a":1e400}' + "]" * depth
    line = '{{"type":"{}","id":"{}","parentId":{},"{}":{}}}'
    write(
        path,
        session(
            line.format("message", "a", "null", "message", f'{{"role":"user","content":{deep}}}'),
            line.format("custom_message", "b", '"a"', "content", deep),
            line.format("custom", "c", '"b"', "data", '{"a":' * depth + "[]" + "}" * depth),
        ),
    )
    expected = open_session(path.read_bytes())
    assert expected is not None
    assert_same(opened(path), reference_facts(expected))


# What comes out


def test_every_type_has_its_class(path: Path) -> None:
    kinds = [*CLASSES, "decision_log", "session_x", 7]
    write(path, session(*(entry(f"e{number}", None, kind) for number, kind in enumerate(kinds)), {"id": "last"}))
    with SessionManager.open(path, read_only=True) as manager:
        entries = manager.get_entries()
    names = [*CLASSES.values(), *["UnknownEntry"] * 4]
    assert [type(one) for one in entries] == [getattr(sessiontree, name) for name in names]
    assert all(isinstance(one, sessiontree.Entry) for one in entries)


def test_an_entry_that_is_read_twice_is_equal(path: Path) -> None:
    write(path, session(entry("a", None), entry("b", None)))
    one, two = (SessionManager.open(path, read_only=True).get_entries() for _ in range(2))
    assert one == two
    assert one[0] != one[1]


def test_what_comes_out_can_be_changed_without_harm(path: Path) -> None:
    write(path, chain(("message", {"message": user("q")})))
    with SessionManager.open(path, read_only=True) as manager:
        manager.build_session_context().messages.clear()
        manager.get_entries().clear()
        manager.get_branch().clear()
        manager.get_tree().clear()
        manager.get_tips().clear()
        manager.get_children(None).clear()
        assert [message["role"] for message in manager.build_session_context().messages] == ["user"]
        for ids in (manager.get_entries(), manager.get_branch(), manager.get_tips(), manager.get_children(None)):
            assert [one.id for one in ids] == ["e1"]
        assert [node.entry.id for node in manager.get_tree()] == ["e1"]


def test_tree_nodes_are_views(path: Path) -> None:
    write(path, chain(("message", {"message": user("q")}), ("label", {"targetId": "e1", "label": "x"}), ("other", {})))
    with SessionManager.open(path, read_only=True) as manager:
        [root] = manager.get_tree()
        [other] = manager.get_tree()
    assert root != other
    assert (root.label, [child.entry.id for child in root.children]) == ("x", ["e2"])
    assert "e3" not in repr(root)
    with pytest.raises(TypeError):
        pickle.dumps(root)


def test_a_tree_is_drawn_for_a_notebook_and_cannot_act_there() -> None:
    manager = SessionManager.in_memory()
    first = manager.append_custom_entry("a")
    manager.append_label_change(first, "<script>alert(1)</script>")
    for _ in range(2):
        manager.branch(first)
        manager.append_custom_entry("b")
    [root] = manager.get_tree()
    drawn = root._repr_html_()
    assert "[&lt;script&gt;alert(1)&lt;/script&gt;]" in drawn
    assert [line.count("  ") for line in drawn.splitlines()] == [0, 1, 1, 1]
    for _ in range(300):
        manager.append_custom_entry("c")
    assert len(root._repr_html_().splitlines()) == 4, "a view of the tree as it was"
    [root] = manager.get_tree()
    assert len(root._repr_html_().splitlines()) == 201
