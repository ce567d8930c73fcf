"""Replio sessions of odd form: old files, damage, and the later form; nothing crashes, and nothing is lost."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from replio_support import TIME, answer, call, command, contents, document, dumped, put, result, store_in, user
from sessiontree import FormatError, ReadOnlyError
from support import DATA, FILE_TIME, write
from vectors_replio import turns_folders, value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessiontree.replio import ReplioSession, ReplioStore


# What has gone wrong in public


def case(name: str, project: Path) -> ReplioStore:
    """The store of a case's files."""
    store = store_in(project)
    for path in (DATA / "cases" / name).iterdir():
        write(store.sessions_dir / path.name, path.read_bytes())
    return store


def test_case_59_a_context_begins_with_no_result_of_what_was_trimmed(tmp_path: Path) -> None:
    store = case("59-replio-compaction-boundary", tmp_path)
    [name] = store.list()
    session = store.load(name)
    assert [len(one) for one in (session.messages, session.errors, session.permissions)] == [10, 0, 1]
    assert [(message["role"], message["content"]) for message in session.provider_messages()] == [
        ("system", "Summary of earlier conversation:\n\nWe talked about x."),
        ("assistant", "x is a letter"),
        ("user", "Really?"),
        ("assistant", "Yes"),
        ("user", "Thanks"),
    ]
    [info] = store.infos()
    assert (info.name, info.first_message, info.message_count) == (name, "What is x", 8)
    assert info.modified == datetime(2026, 1, 5, 10, 30, tzinfo=UTC)
    before = value(store.sessions_dir / f"{name}.json")
    store.save()
    after = value(store.sessions_dir / f"{name}.json")
    assert after == before | {"parent_id": "", "sub_sessions": []} | {"messages": after["messages"]}
    assert after["future_key"] == {"a": 1}
    assert after["messages"][2]["content"] == "result a"


def test_case_61_a_broken_file_costs_only_itself(tmp_path: Path) -> None:
    store = case("61-replio-truncated", tmp_path)
    assert store.list() == ["cut", "good", "list", "other", "zero"]
    assert [(info.id, info.first_message) for info in store.infos()] == [("good", "fine")]
    for name in ("cut", "list", "other", "zero"):
        with pytest.raises(FormatError) as caught:
            store.read(name)
        assert caught.value.kind == "corrupt"
    with pytest.raises(FormatError, match="byte 305"):
        store.read("cut")


def test_case_63_old_files_and_odd_values_are_read(tmp_path: Path) -> None:
    store = case("63-replio-legacy-and-odd", tmp_path)
    infos = {info.id: info for info in store.infos()}
    assert sorted(infos) == store.list() == ["bom", "legacy", "nomessages", "odd"]
    legacy, odd, empty = (store.read(name) for name in ("legacy", "odd", "nomessages"))
    assert [len(one) for one in (legacy.messages, legacy.errors)] == [2, 0]
    assert infos["legacy"].first_message == "hello"
    assert infos["legacy"].modified == datetime.fromtimestamp(FILE_TIME, UTC)
    assert infos["bom"].first_message == "with BOM"
    assert (len(odd.messages), [damage.kind for damage in odd.damage]) == (6, ["line"])
    assert (odd.name, infos["odd"].name, infos["odd"].first_message) == ("odd", "odd", "surrogate \ufffd here")
    assert odd.to_markdown().encode()
    assert infos["odd"].modified == datetime(2026, 1, 5, 10, tzinfo=UTC), "the time of the last message, with its zone"
    assert [len(one) for one in (empty.messages, empty.errors)] == [0, 1]
    assert (infos["nomessages"].first_message, infos["nomessages"].message_count) == ("(no messages)", 0)


def test_a_file_beyond_the_limit_costs_only_itself(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "good", document("good", user()))
    path = put(store, "long", b'{"messages":[]')
    with path.open("r+b") as file:
        file.truncate(2**29 + 1)  # a hole: it takes no room on the disk
    assert store.list() == ["good", "long"]
    assert [info.id for info in store.infos()] == ["good"]
    with pytest.raises(FormatError, match="512 MiB"):
        store.read("long")


# Odd values


def test_times_that_are_missing_are_those_of_messages_and_never_now(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    timed = [user(timestamp="2031-03-04T01:00:00+00:00"), user(timestamp=None), user(timestamp="2031-03-04T02:00:00Z")]
    put(store, "timed", {"messages": [{"role": "user"}, *timed, {"role": "user", "timestamp": 5}]})
    put(store, "untimed", {"messages": [{"role": "user"}], "created_at": None})
    timed_session, untimed = store.read("timed"), store.read("untimed")
    assert (timed_session.created_at, timed_session.updated_at) == (timed[0]["timestamp"], timed[2]["timestamp"])
    assert (untimed.created_at, untimed.updated_at) == ("", "")
    assert "- Created: \n- Updated: \n" in store.export("untimed", "-")
    assert store.read("untimed").created_at == ""
    [info] = [info for info in store.infos() if info.id == "untimed"]
    assert info.created is None


def test_times_are_kept_as_they_stand(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", created_at="soon", updated_at="2031-03-04 05:06:07"))
    session = store.load("s")
    assert (session.created_at, session.updated_at) == ("soon", "2031-03-04 05:06:07")
    store.save()
    assert value(store.sessions_dir / "s.json")["created_at"] == "soon"


def test_what_is_no_object_stays_in_the_file_and_is_reported(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    odd: list[Any] = ["text", 5, None, [{}], True]
    path = put(store, "s", document("s", *odd, user("a"), errors=[1], permissions=["x"], sub_sessions=[2, "sub"]))
    session = store.load("s")
    assert contents(session.messages) == ["a"]
    assert (session.errors, session.permissions, session.sub_sessions) == ((), (), ("sub",))
    assert {damage.kind for damage in session.damage} == {"line"}
    assert len(session.damage) == 8
    assert (
        session.damage[0].line == path.read_text(encoding="utf-8")[: path.read_bytes().index(b'"text"')].count("\n") + 1
    )
    assert store.preview("s").message_count == 1
    session.append("user", "b")
    session.add_error(1, "x")
    file = value(path)
    assert file["messages"][:5] == odd
    assert [file["errors"][0], file["permissions"], file["sub_sessions"]] == [1, ["x"], [2, "sub"]]


@pytest.mark.parametrize("key", ["messages", "errors", "permissions", "sub_sessions", "turns"])
@pytest.mark.parametrize("odd", [{}, "text", 5, True], ids=repr)
def test_lists_that_are_none_are_damage(tmp_path: Path, key: str, odd: object) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", {"name": "s", key: odd})
    with pytest.raises(FormatError) as caught:
        store.read("s")
    assert caught.value.kind == "corrupt"
    assert store.infos() == []
    assert path.read_bytes() == dumped({"name": "s", key: odd})


ODD_FILES = {
    "blank": b" \n\t",
    "NULs": b"\0" * 4096,
    "two": b'{"messages":[]}{"messages":[]}',
    "a comma too many": b'{"messages":[],}',
    "infinite": b'{"messages":[{"duration":-Infinity}]}',
    "no UTF-8": b'{"messages":[{"role":"user","content":"\xff"}]}',
    "half a surrogate as bytes": b'{"messages":[{"role":"user","content":"\xed\xa0\xbd"}]}',
    "a raw line break in a text": b'{"messages":[{"role":"user","content":"a\nb"}]}',
    "two byte-order marks": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "UTF-16": '{"messages":[]}'.encode("utf-16"),
    "cut in a text": b'{"messages":[{"role":"us',
    "cut in an escape": b'{"messages":[{"role":"\\u00',
    "cut behind the list": b'{"messages":[]',
}


@pytest.mark.parametrize("name", ODD_FILES)
def test_what_is_no_session_is_told_and_left_alone(tmp_path: Path, name: str) -> None:
    store = store_in(tmp_path)
    path = put(store, "s", ODD_FILES[name])
    for use in (store.read, store.load_or_create, store.preview, store.export):
        with pytest.raises(FormatError) as caught:
            use("s")
        assert (caught.value.kind, caught.value.path) == ("corrupt", path)
        assert "byte" in caught.value.reason
    assert (store.list(), store.infos(), path.read_bytes()) == (["s"], [], ODD_FILES[name])


DEEP = 100_000
EXTREMES = {
    "deep nesting": b'[{"a":' * (DEEP // 2) + b"1" + b"}]" * (DEEP // 2),
    "a long integer": b"9" * 5000,
    "a long fraction": b"0." + b"3" * 5000,
    "an infinite number": b"1e400",
    "a long text": b'"' + b"\\u0041" * 200_000 + b'"',
    "a key given many times": b'{"a":1' + b',"a":2' * 20_000 + b"}",
}


HOLDERS = [
    b'{"role":"user","content":%}',
    b'{"role":"assistant","thinking":%,"duration":1}',
    b'{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"t","arguments":%}}]}',
    b'{"role":"tool","tool_call_id":"c","content":%}',
    b'{"role":"command","content":"/compact","result":"S","compact_from":%}',
    b'{"role":"developer","field":%}',
]
"""Messages of each role; the value stands at the sign."""


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_values_are_read_and_kept(tmp_path: Path, name: str) -> None:
    store, extreme = store_in(tmp_path), EXTREMES[name]
    messages = b",".join(HOLDERS).replace(b"%", extreme)
    put(store, "s", b'{"more":%s,"messages":[%s]}' % (extreme, messages))
    session = store.load("s")
    assert session.to_markdown() == store.export("s", "-")
    sent = session.provider_messages()
    assert sent[0]["content"].endswith("S")
    assert len(sent) == (1 if name == "a long integer" else 6)
    folded: list[object] = []
    session.compact(folded.extend, keep=1)
    assert len(folded) == (0 if name == "a long integer" else 4)
    assert store.preview("s").roles == {"user": 1, "assistant": 2, "tool": 1, "command": 1, "developer": 1}
    assert [info.id for info in store.infos()] == ["s"]
    session.append("user", "after")
    data = (store.sessions_dir / "s.json").read_bytes()
    assert b'"more": ' + extreme in data
    assert all(one.replace(b"%", extreme) in data for one in HOLDERS)


def test_folding_refuses_a_number_that_nothing_can_be_written_for(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    with pytest.raises(ValueError, match="finite"):
        session.fold([{"role": "user", "content": float("inf")}])


def test_numbers_are_exact(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    numbers = [2**64, -(2**80), 8.0, 8, 0.1, -0.0, 10**4000, 1e300, 2**53 + 1, 5e-324]
    put(store, "s", {"messages": [{"n": numbers}]})
    session = store.load("s")
    session.append("user", "x", n=numbers)
    for message in (*session.messages, *store.read("s").messages):
        assert json.dumps(dict(message)["n"]) == json.dumps(numbers)


def test_an_integer_beyond_what_python_reads_stays_in_the_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    long = b"1" + b"0" * 5000
    path = put(store, "s", b'{"messages":[{"n":%s},{"n":18446744073709551616}]}' % long)
    session = store.load("s")
    assert [dict(message)["n"] for message in session.messages] == [float("inf"), 2**64]
    session.append("user", "x")
    assert long in path.read_bytes()
    with pytest.raises(ValueError, match=r"."):
        session.append("user", "x", n=10**5000)


def test_nesting_that_is_deep_can_be_appended(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    deep: Any = 1
    for _ in range(DEEP):
        deep = [deep]
    session = store.create("s")
    session.append("user", "hi", field=deep)
    assert b"[" * 10 in (store.sessions_dir / "s.json").read_bytes().replace(b"\n", b"").replace(b" ", b"")
    message: Any = store.read("s").messages[0]
    found, depth = message["field"], 0
    while isinstance(found, list):
        [found], depth = found, depth + 1
    assert (found, depth) == (1, DEEP)


def test_a_value_that_holds_itself_cannot_be_written(tmp_path: Path) -> None:
    session = store_in(tmp_path).create("s")
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"."):
        session.append("user", "hi", field=loop)
    assert session.messages == ()


def test_half_a_surrogate_is_a_sign_of_its_own_and_stays_in_the_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    message = b'{"role":"user","content":"a\\ud83d b\\ude00","\\udfff":1}'
    put(store, "s", b'{"messages":[%s]}' % message)
    session = store.load("s")
    assert session.messages == ({"role": "user", "content": "a\ufffd b\ufffd", "\ufffd": 1},)
    assert store.export("s", "-").encode()
    session.append("user", "after")
    assert message in (store.sessions_dir / "s.json").read_bytes()


# Odd content in an export


def exported(store: ReplioStore, *messages: object, **more: object) -> str:
    """The export without its head."""
    put(store, "s", document("s", *messages, **more))
    text = store.export("s", "-")
    assert text == store.read("s").to_markdown()
    return text.partition("\n---\n\n")[2]


def test_an_export_stands_what_the_original_crashed_at(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert exported(store, user(content=None)) == f"### User - {TIME}\n"
    calls = [{"id": "c", "function": None}, {"id": "c", "function": {"name": None, "arguments": None}}, None]
    block = "\n**Tool call: ?**\n\n```json\n\n```\n"
    assert exported(store, answer(None, tool_calls=calls)) == f"### Assistant - {TIME}\n\n{block * 3}"
    assert exported(store, answer("x", tool_calls=None, thinking=None)) == f"### Assistant - {TIME}\n\nx\n"


@pytest.mark.parametrize("odd", [["a", {"b": None}], {"c": [1, 2.0]}, 5, True, 8.0, [], {}], ids=repr)
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
def test_content_that_is_no_text_is_exported_as_json(tmp_path: Path, role: str, odd: object) -> None:
    text = exported(store_in(tmp_path), {"role": role, "content": odd, "timestamp": TIME})
    fence = text.partition("```json\n")[2].partition("\n```")[0]
    assert json.dumps(json.loads(fence)) == json.dumps(odd)


@pytest.mark.parametrize("odd", [["a"], {"b": 1}, 5, False], ids=repr)
def test_thoughts_and_arguments_that_are_no_text_are_exported_as_json(tmp_path: Path, odd: object) -> None:
    store = store_in(tmp_path)
    assert "```json\n" in exported(store, answer("x", thinking=odd))
    function = {"name": "grep", "arguments": odd}
    assert "**Tool call: grep**\n\n```json\n" in exported(store, answer("x", tool_calls=[{"function": function}]))


def test_a_fence_is_longer_than_any_in_what_it_holds(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    text = exported(
        store, result("c", "a ```` b"), answer(None, tool_calls=[call("c", arguments="```")]), user([{"x": "`````"}])
    )
    assert "\n`````text\na ```` b\n`````\n" in text
    assert "\n````json\n```\n````\n" in text
    assert "\n``````json\n" in text


def test_an_export_has_no_permissions_links_or_ids(tmp_path: Path) -> None:
    permission = {"tool": "secret_tool", "action": "ask", "decision": "granted"}
    text = exported(
        store_in(tmp_path),
        user("x", id="msg_5", mode="plan", reasoning="r"),
        permissions=[permission],
        parent_id="p_p",
        sub_sessions=["s_s"],
    )
    assert text == f"### User - {TIME}\n\nx\n"


# The later form

CHANGES: dict[str, Callable[[ReplioStore, ReplioSession], object]] = {
    "append": lambda _, session: session.append("user", "hi"),
    "error": lambda _, session: session.add_error(1, "x"),
    "permission": lambda _, session: session.add_permission("a", "b", "c"),
    "compact": lambda _, session: session.compact("S", keep=1),
    "save": lambda store, session: store.save(session),
    "save the current one": lambda store, _: store.save(),
    "finish": lambda store, session: store.finish(_child(store, session.name)),
}


def _child(store: ReplioStore, parent: str) -> str:
    put(store, "sub_child", document("sub_child", parent_id=parent))
    return "sub_child"


@pytest.fixture(params=turns_folders(), ids=lambda folder: folder.name)
def turns(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ReplioStore, ReplioSession]:
    """A store with a session of the later form, which is loaded."""
    store = store_in(tmp_path)
    path = store.sessions_dir / "turns.json"
    shutil.copyfile(request.param / "session.json", path)
    return store, store.load("turns")


@pytest.mark.parametrize("change", CHANGES)
def test_turns_are_never_emptied_or_rewritten(turns: tuple[ReplioStore, ReplioSession], change: str) -> None:
    store, session = turns
    path = store.sessions_dir / "turns.json"
    before, messages = path.read_bytes(), session.messages
    with pytest.raises(ReadOnlyError):
        CHANGES[change](store, session)
    assert (path.read_bytes(), session.messages) == (before, messages)
    assert messages


def test_turns_are_never_created_over(turns: tuple[ReplioStore, ReplioSession]) -> None:
    store, session = turns
    assert store.load_or_create("turns").messages == session.messages
    with pytest.raises(FileExistsError):
        store.create("turns")


def test_turns_are_listed_and_previewed(turns: tuple[ReplioStore, ReplioSession]) -> None:
    store, session = turns
    [info] = store.infos()
    assert (info.id, info.message_count) == ("turns", sum(message["role"] != "command" for message in session.messages))
    assert info.first_message == next(message["content"] for message in session.messages if message["role"] == "user")
    preview = store.preview("turns")
    assert preview.message_count == len(session.messages)
    assert sum(preview.roles.values()) == len(session.messages)


def test_odd_turns_do_not_crash(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    odd_parts: list[Any] = [
        5,
        None,
        {},
        {"type": "user"},
        {"type": "tool"},
        {"type": "tool", "name": 5, "input": [], "output": {}},
    ]
    odd_parts += [{"type": "text", "text": None}, {"type": "text", "text": ["x"]}, {"type": 5}, {"type": "command"}]
    odd_parts += [{"type": "command", "text": "/compact", "summary": "S", "compact_from": "x"}, {"type": "thinking"}]
    turns: list[Any] = [
        5,
        None,
        {},
        {"parts": None},
        {"parts": {}},
        {"index": "x", "parts": odd_parts},
        {"index": 2, "parts": odd_parts},
    ]
    path = put(store, "s", {"turns": turns, "errors": [5]})
    session = store.load("s")
    assert session.has_summary
    session.provider_messages(drop_unanswered=True, strip=True, keep_system=True)
    session.to_markdown()
    store.preview("s")
    assert [info.id for info in store.infos()] == ["s"]
    assert path.read_bytes() == dumped({"turns": turns, "errors": [5]})


def test_a_command_is_no_message_of_a_listing(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    put(store, "s", document("s", command("/help"), user("a"), command("/exit")))
    [info] = store.infos()
    assert (info.message_count, info.entry_count, store.preview("s").message_count) == (1, 3, 3)
