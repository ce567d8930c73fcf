"""Replio's own sessions and tables: what it made of them comes out here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from replio_support import SEED_KEYS, Clock, Json, dumped, on_disk, put, store_in, user, without_nulls
from sessiontree import FormatError
from sessiontree.replio import ReplioSession, ReplioStore, slug
from vectors_replio import folders, table, turns_folders, value

if TYPE_CHECKING:
    from pathlib import Path

COMPACTIONS = [folder for folder in folders() if (folder / "compact.json").exists()]


def opened(folder: Path, project: Path, **options: Any) -> tuple[ReplioStore, ReplioSession]:  # noqa: ANN401
    """The vector's session in a store of its own."""
    store = store_in(project, autosave=False, **options)
    name = value(folder / "facts.json")["name"]
    put(store, name, (folder / "session.json").read_bytes())
    return store, store.load(name)


@pytest.fixture(params=folders(), ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_what_is_read(folder: Path, tmp_path: Path) -> None:
    session = opened(folder, tmp_path)[1]
    document = value(folder / "session.json")
    assert (session.name, session.format, session.damage) == (document["name"], "messages", ())
    for key in SEED_KEYS:
        read = getattr(session, key)
        if key in document:
            assert (list(read) if isinstance(read, tuple) else read) == document[key]
        else:
            assert not read


def test_context(folder: Path, tmp_path: Path) -> None:
    session = opened(folder, tmp_path)[1]
    assert session.provider_messages() == value(folder / "provider_messages.json")
    assert session.has_summary == bool(value(folder / "facts.json")["compaction_records"])


def test_folded(folder: Path, tmp_path: Path) -> None:
    session = opened(folder, tmp_path)[1]
    assert session.fold(list(session.messages)) == value(folder / "folded_messages.json")


def test_export(folder: Path, tmp_path: Path) -> None:
    store, session = opened(folder, tmp_path)
    right = (folder / "export.md").read_bytes()
    path = store.export(session.name)
    assert path == store.exports_dir / f"{session.name}.md"
    assert path.read_bytes() == right
    assert store.export(session.name, "-") == session.to_markdown() == right.decode()


def test_preview(folder: Path, tmp_path: Path) -> None:
    store, session = opened(folder, tmp_path)
    preview, facts = store.preview(session.name), value(folder / "facts.json")
    assert "".join(f"{line}\n" for line in preview.lines()) == (folder / "preview.txt").read_text(encoding="utf-8")
    assert preview.message_count == facts["messages"]
    assert list(preview.roles.items()) == [tuple(pair) for pair in facts["roles"]]
    assert list(preview.tools) == facts["tools"]
    assert (preview.parent_id, list(preview.sub_sessions)) == (facts["parent_id"], facts["sub_sessions"])
    assert store.preview(session) == preview


def test_persisted(folder: Path, tmp_path: Path) -> None:
    store, session = opened(folder, tmp_path, **value(folder / "params.json"))
    in_memory = session.messages
    assert store.save() == session.path
    assert on_disk(session) == value(folder / "persisted.json")
    assert session.messages == in_memory


@pytest.mark.parametrize("way", ["callable", "text"])
@pytest.mark.parametrize("folder", COMPACTIONS, ids=lambda folder: folder.name)
def test_compact(folder: Path, tmp_path: Path, way: str) -> None:
    for right in value(folder / "compact.json"):
        session = opened(folder, tmp_path)[1]
        given: list[list[Json]] = []

        def summarize(messages: list[Json], given: list[list[Json]] = given, right: Json = right) -> str:
            given.append(messages)
            return f" {right['summary']}\n"

        index = session.compact(summarize if way == "callable" else right["summary"], keep=right["keep"])
        assert index == (right["record_index"] if right["compacted"] else None)
        assert session.provider_messages() == right["provider_messages_after"]
        assert len(session.messages) == right["messages_after"]
        if way == "callable":
            assert given == ([right["summarized_input"]] if right["compacted"] else [])
        if index is not None:
            last = session.messages[index]
            assert (last["role"], last["content"]) == ("command", "/compact")
            assert (last["result"], last["compact_from"]) == (right["summary"], right["compact_from"])


# Tables


@pytest.mark.parametrize("row", table("slugs"), ids=lambda row: repr(row["text"])[:30])
def test_slug(row: Json, tmp_path: Path) -> None:
    assert slug(row["text"]) == row["slug"]
    store = store_in(tmp_path)
    session = store.create()
    assert session.name == "ses_20310304_050607"
    session.append("user", row["text"])
    assert session.name == "_".join(filter(None, ("ses_20310304_050607", row["slug"])))
    assert store.list() == [session.name]


@pytest.mark.parametrize("row", table("names")["sub"], ids=lambda row: row["parent"][:30])
def test_name_of_a_delegation(row: Json, tmp_path: Path) -> None:
    if row["parent"]:
        session = store_in(tmp_path).create(parent=row["parent"])
        assert (session.name, session.parent_id) == (row["name"], row["parent"])


@pytest.mark.parametrize("row", table("names")["job"], ids=lambda row: row["job"])
def test_name_of_a_job(row: Json, tmp_path: Path) -> None:
    session = store_in(tmp_path).create(job=row["job"])
    assert (session.name, session.parent_id) == (row["name"], "")
    session.append("user", "hi")
    assert session.name == row["name"]


@pytest.mark.parametrize("saved", [True, False], ids=["on disk", "in memory"])
def test_names_that_are_taken(tmp_path: Path, saved: bool) -> None:
    right = table("names")["collisions"]
    store = store_in(tmp_path)
    for kind, key in (("sub", "parent"), ("job", "name")):
        option = "parent" if kind == "sub" else "job"
        sessions = [store.create(**{option: right[f"{kind}_{key}"]}) for _ in range(3) if not saved]
        for _ in range(3 - len(sessions)):
            sessions.append(store.create(**{option: right[f"{kind}_{key}"]}))
            sessions[-1].append("user", "hi")
        assert [session.name for session in sessions] == right[f"{kind}_names_in_order"]


def test_listing(tmp_path: Path) -> None:
    right = table("listing")
    store = store_in(tmp_path)
    for document in right["files"]:
        put(store, document["name"], document)
    for name in right["other_files"]:
        (store.sessions_dir / name).write_text("x", encoding="utf-8")
    assert store.list() == right["list"]
    assert sorted(info.id for info in store.infos()) == sorted(right["list"])
    previews = {row["command"].split()[-1]: row["output"] for row in right["commands"][:2]}
    for name, output in previews.items():
        assert "".join(f"{line}\n" for line in store.preview(name).lines()) == output
    export = right["commands"][5]
    assert store.export("alpha", "-") == export["output"]
    assert [store.delete("alpha"), store.delete("alpha")] == [True, False]
    assert store.list() == [name for name in right["list"] if name != "alpha"]


def test_empty_listing(tmp_path: Path) -> None:
    right = table("listing_empty")
    store = store_in(tmp_path)
    for name in right["other_files"]:
        (store.sessions_dir / name).write_text("x", encoding="utf-8")
    assert (store.list(), store.infos(), store.current) == (right["list"], [], right["current"])


METHODS = {"add_message": "append", "add_error": "add_error", "add_permission": "add_permission"}


def numbered(messages: list[Json]) -> list[Json]:
    """The messages without their generated ids, whose form is looked at, and without nulls."""
    for message in messages:
        assert message["id"] == "msg_given" or re.fullmatch("msg_[0-9a-f]{16}", message["id"])
    return [without_nulls({**message, "id": ""}) for message in messages]


def test_lifecycle(tmp_path: Path) -> None:
    right, clock = table("lifecycle"), Clock()
    store = store_in(tmp_path, clock=clock, autosave=False, **right["params"])
    session = store.create("demo")
    assert session.created_at == session.updated_at == right["created_at"]
    for step in right["steps"]:
        clock.tick()
        getattr(session, METHODS[step["call"]])(*step["args"], **step["kwargs"])
        assert session.updated_at == step["updated_at"]
    assert numbered([dict(message) for message in session.messages]) == numbered(right["in_memory_messages"])
    assert len({message["id"] for message in session.messages}) == len(session.messages)
    assert list(session.messages[1]) == [
        "role",
        "content",
        "timestamp",
        "id",
        "tool_calls",
        "thinking",
        "reasoning",
        "mode",
    ]

    assert store.save() == session.path
    file = on_disk(session)
    assert list(file) == SEED_KEYS
    assert numbered(file.pop("messages")) == numbered(right["file"].pop("messages"))
    assert file == right["file"]
    assert session.path is not None
    assert session.path.read_bytes() == dumped(value(session.path))
    again = store.read("demo")
    assert numbered(again.provider_messages()[1:]) == numbered(right["provider_after_reload"][1:])
    assert again.provider_messages()[0] == right["provider_after_reload"][0]


REFUSED = {name: "corrupt" for name in ("empty", "cut", "list", "text", "msgsdict", "nan", "latin")}
READ: dict[str, dict[str, object]] = {
    "noname": {"name": "noname"},
    "othername": {"name": "othername"},
    "nulls": {"messages": (), "errors": (), "permissions": (), "parent_id": "", "sub_sessions": ()},
    "nostamps": {"created_at": "", "updated_at": ""},
    "unknown": {"messages": ()},
    "bom": {"messages": ()},
    "surrogate": {"messages": ({"role": "user", "content": "\ufffd"},)},
    "dupkeys": {"messages": ()},
    "turns": {"format": "turns", "is_read_only": True},
    "turns_named": {"format": "turns", "is_read_only": True},
    "nonmsg": {"messages": ()},
}


def test_all_odd_files_are_here() -> None:
    assert {row["name"] for row in table("odd_files")} == READ.keys() | REFUSED.keys()


@pytest.mark.parametrize("row", table("odd_files"), ids=lambda row: row["name"])
def test_odd_file(row: Json, tmp_path: Path) -> None:
    store, data = store_in(tmp_path), row["text"].encode(row["encoding"])
    put(store, "good", {"name": "good", "messages": [user()]})
    path = put(store, row["name"], data)
    assert store.list() == sorted(["good", row["name"]])
    if row["name"] in REFUSED:
        for read in (store.read, store.load, store.load_or_create, store.preview, store.export):
            with pytest.raises(FormatError) as caught:
                read(row["name"])
            assert (caught.value.kind, caught.value.path) == (REFUSED[row["name"]], path)
        assert [info.id for info in store.infos()] == ["good"]
    else:
        session = store.read(row["name"])
        assert {key: getattr(session, key) for key in READ[row["name"]]} == READ[row["name"]]
        assert {info.id for info in store.infos()} == {"good", row["name"]}
        store.preview(row["name"])
        store.export(row["name"])
    assert path.read_bytes() == data


# The later form


def as_sent(messages: list[Json]) -> list[Json]:
    known = ("role", "content", "tool_calls", "tool_call_id", "thinking")
    return [{key: message[key] for key in known if key in message} for message in messages]


@pytest.mark.parametrize("folder", turns_folders(), ids=lambda folder: folder.name)
def test_turns(folder: Path, tmp_path: Path) -> None:
    store = store_in(tmp_path)
    document = value(folder / "session.json")
    path = put(store, document["session_name"], (folder / "session.json").read_bytes())
    session = store.load(document["session_name"])
    assert (session.format, session.is_read_only, session.damage) == ("turns", True, ())
    assert as_sent(session.provider_messages()) == value(folder / "provider_messages.json")
    assert session.to_markdown().encode() == (folder / "export.md").read_bytes()
    assert store.export(session.name).read_bytes() == (folder / "export.md").read_bytes()
    assert path.read_bytes() == (folder / "session.json").read_bytes()
