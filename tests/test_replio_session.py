"""A Replio session in memory: what is appended, what a provider is sent, what compacting does."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from replio_support import (
    LATER,
    TIME,
    Clock,
    Json,
    answer,
    call,
    command,
    contents,
    document,
    on_disk,
    put,
    record,
    result,
    store_in,
    user,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessiontree.replio import ReplioSession


def loaded(project: Path, *messages: object, **more: object) -> ReplioSession:
    """A session that holds these messages, on a clock that has gone on by a second."""
    clock = Clock()
    store = store_in(project, clock=clock)
    put(store, "s", document("s", *messages, **more))
    clock.tick()
    return store.load("s")


# Appending


def test_a_message_has_what_it_is_given_in_that_order(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    name = session.append("tool", "text", tool_call_id="c1", tool="grep", analysis=None, extra={"b": 1, "a": [8.0]})
    assert name is not None
    assert re.fullmatch("msg_[0-9a-f]{16}", name)
    message: Json = dict(session.messages[0])
    right: Json = {"role": "tool", "content": "text", "timestamp": LATER, "id": name}
    right |= {"tool_call_id": "c1", "tool": "grep", "extra": {"b": 1, "a": [8.0]}}
    assert message == right
    assert list(message) == list(right)
    assert list(message["extra"]) == ["b", "a"]


def test_time_and_id_may_be_given(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    assert session.append("user", "hi", timestamp="then", id="mine") == "mine"
    assert session.messages == ({"role": "user", "content": "hi", "timestamp": "then", "id": "mine"},)
    assert session.updated_at == LATER, "a time that is given does not count"


def test_ids_differ(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    assert len({session.append("user", "hi") for _ in range(50)}) == 50


def test_older_messages_get_no_ids(tmp_path: Path) -> None:
    session = loaded(tmp_path, user("old"))
    session.append("user", "new")
    assert ["id" in message for message in on_disk(session)["messages"]] == [False, True]


def test_an_answer_with_nothing_in_it_is_not_written(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    assert session.append("assistant", None, model="m", duration=1.5) is None
    assert session.append("assistant", "", thinking="", tool_calls=[]) is None
    assert (session.messages, session.updated_at) == ((), TIME)


def test_an_answer_of_thoughts_alone_is_written(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    assert session.append("assistant", None, thinking="cut off mid-thou") is not None
    assert [session.messages[0][key] for key in ("content", "thinking")] == ["", "cut off mid-thou"]


def test_an_answer_that_calls_has_no_content(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    session.append("assistant", None, tool_calls=[call("c1")])
    assert session.messages[0]["content"] is None
    assert session.messages[0]["tool_calls"] == [call("c1")]


@pytest.mark.parametrize("role", ["user", "tool", "command", "system", "developer"])
def test_other_messages_may_be_empty(tmp_path: Path, role: str) -> None:
    session = loaded(tmp_path)
    assert session.append(role, "") is not None
    assert [(message["role"], message["content"]) for message in session.messages] == [(role, "")]


ADDITIONS: dict[str, Callable[[ReplioSession], object]] = {
    "message": lambda session: session.append("user", "hi"),
    "error": lambda session: session.add_error(500, "broken"),
    "permission": lambda session: session.add_permission("grep", "allow", "granted"),
}


@pytest.mark.parametrize("kind", ADDITIONS)
def test_all_that_is_added_moves_the_time_and_is_saved_at_once(tmp_path: Path, kind: str) -> None:
    session = loaded(tmp_path)
    ADDITIONS[kind](session)
    assert (session.created_at, session.updated_at) == (TIME, LATER)
    assert on_disk(session)["updated_at"] == LATER
    assert len(on_disk(session)[f"{kind}s"]) == 1


def test_errors_are_logged_each_time_and_those_without_a_code_have_0(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    codes: tuple[Any, ...] = (503, 503, None, "")
    for code in codes:
        session.add_error(code, "gone")
    session.add_error(0, "x", timestamp="then", attempt=3)
    first = {"code": 503, "message": "gone", "timestamp": LATER}
    last = {"code": 0, "message": "x", "timestamp": "then", "attempt": 3}
    assert session.errors == (first, first, {**first, "code": 0}, {**first, "code": 0}, last)
    assert list(session.errors[0]) == ["code", "message", "timestamp"]


def test_permissions_have_a_path_where_there_is_one_and_any_action(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    session.add_permission("run", "ask", "declined", "/srv/x")
    session.add_permission("run", "grant", "granted", scope="session", granted_by="user")
    with_path, granted = session.permissions
    assert with_path == {"tool": "run", "action": "ask", "decision": "declined", "path": "/srv/x", "timestamp": LATER}
    assert granted == {
        **{"tool": "run", "action": "grant", "decision": "granted"},
        **{"scope": "session", "granted_by": "user", "timestamp": LATER},
    }


class Odd:
    """Nothing that JSON knows."""


UNWRITABLE = [
    *[(float("nan"), ValueError), (float("inf"), ValueError), (-float("inf"), ValueError), ("\ud83d", ValueError)],
    *[({1, 2}, TypeError), (b"bytes", TypeError), (Odd(), TypeError), (1j, TypeError)],
]


@pytest.mark.parametrize(("value", "error"), UNWRITABLE, ids=lambda one: repr(one)[:20])
@pytest.mark.parametrize("nest", [lambda one: one, lambda one: [{"deep": [one]}]], ids=["plain", "nested"])
def test_what_cannot_be_written_changes_nothing(
    tmp_path: Path, value: object, error: type[Exception], nest: Callable[[object], object]
) -> None:
    session = loaded(tmp_path, user())
    assert session.path is not None
    before = session.path.read_bytes()
    additions: list[Callable[[], object]] = [
        lambda: session.append("user", nest(value)),
        lambda: session.append("user", "hi", field=nest(value)),
        lambda: session.add_error(1, "x", field=nest(value)),
        lambda: session.add_permission("a", "b", "c", field=nest(value)),
    ]
    for add in additions:
        with pytest.raises(error):
            add()
    assert (session.messages, session.errors, session.permissions) == ((user(),), (), ())
    assert (session.updated_at, session.path.read_bytes()) == (TIME, before)
    session.append("user", "hi")
    assert len(on_disk(session)["messages"]) == 2


def test_a_key_that_is_half_a_character_cannot_be_written(tmp_path: Path) -> None:
    session = loaded(tmp_path)
    with pytest.raises(ValueError, match="surrogate"):
        session.append("user", "hi", field={"\udc00": 1})
    assert session.messages == ()


def test_what_was_given_or_handed_out_may_be_changed_without_changing_the_log(tmp_path: Path) -> None:
    session = loaded(tmp_path, user("old", more=[1]))
    more: Any = {"kept": [1]}
    session.append("user", "new", more=more)
    more["kept"].append(2)
    for message in session.messages:
        message["content"] = "changed"
    session.append("user", "last")
    assert contents(on_disk(session)["messages"]) == ["old", "new", "last"]
    assert on_disk(session)["messages"][1]["more"] == {"kept": [1]}
    assert session.to_markdown() == store_in(tmp_path).export("s", "-")


def test_the_log_has_no_way_to_take_back(tmp_path: Path) -> None:
    session = loaded(tmp_path, user())
    for name in ("messages", "errors", "permissions", "sub_sessions"):
        assert isinstance(getattr(session, name), tuple)
        with pytest.raises(AttributeError):
            setattr(session, name, ())


# The context


def test_messages_of_unknown_roles_are_sent(tmp_path: Path) -> None:
    odd = [user(), {"role": "developer", "content": "x"}, {"content": "no role"}, {"role": 5}]
    assert loaded(tmp_path, *odd).provider_messages() == odd


@pytest.mark.parametrize("odd", [None, "2", 2.0, -1, 0, True, [2]], ids=repr)
def test_a_boundary_is_a_whole_number_above_0(tmp_path: Path, odd: object) -> None:
    session = loaded(tmp_path, user("a"), user("b"), record("S", odd))
    assert contents(session.provider_messages()) == ["Summary of earlier conversation:\n\nS", "a", "b"]


def test_the_last_summary_and_the_largest_boundary_count(tmp_path: Path) -> None:
    messages = [user(str(number)) for number in range(4)]
    session = loaded(
        tmp_path, *messages, record("older", 3), record("newer", 1), command("/compact", result="", compact_from=4)
    )
    assert contents(session.provider_messages()) == ["Summary of earlier conversation:\n\nnewer", "3"]


def test_a_boundary_beyond_the_end_leaves_the_summary_alone(tmp_path: Path) -> None:
    session = loaded(tmp_path, user(), record("S", 10**30))
    assert contents(session.provider_messages()) == ["Summary of earlier conversation:\n\nS"]


def test_what_is_no_object_counts_for_a_boundary(tmp_path: Path) -> None:
    session = loaded(tmp_path, "text", user("a"), None, user("b"), record("S", 3))
    assert contents(session.provider_messages())[1:] == ["b"]
    assert contents(session.messages) == ["a", "b", "/compact"]


def test_results_without_a_call_before_them_are_left_out(tmp_path: Path) -> None:
    session = loaded(
        tmp_path,
        result("c1", "too early"),
        answer(None, tool_calls=[call("c1"), call("")]),
        result("c1", "first"),
        result("c1", "again"),
        *[result("c9", "unknown"), result("", "empty"), {"role": "tool", "content": "none", "tool_call_id": None}],
    )
    assert contents(session.provider_messages()) == [None, "first", "again"]


def test_unanswered_calls_can_be_left_out(tmp_path: Path) -> None:
    session = loaded(
        tmp_path,
        user("go"),
        answer("Both.", tool_calls=[call("c1"), call("c2")]),
        result("c1", "one"),
        answer("Text stays.", tool_calls=[call("c3")]),
        answer(None, tool_calls=[call("c4")]),
    )
    assert session.provider_messages() == list(session.messages)
    sent = session.provider_messages(drop_unanswered=True)
    assert contents(sent) == ["go", "Both.", "one", "Text stays."]
    assert sent[1]["tool_calls"] == [call("c1")]
    assert "tool_calls" not in sent[3]
    assert session.messages[1]["tool_calls"] == [call("c1"), call("c2")]


def test_only_what_providers_know_can_be_sent(tmp_path: Path) -> None:
    more = {
        "id": "msg_1",
        "thinking": "t",
        "reasoning": "auto",
        "mode": "build",
        "model": "m",
        "duration": 1.0,
        "odd": 1,
    }
    session = loaded(
        tmp_path, user("go", **more), answer(None, tool_calls=[call("c1")], **more), result("c1", analysis="a")
    )
    assert session.provider_messages(strip=True) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1")]},
        {"role": "tool", "content": "Result", "tool_call_id": "c1"},
    ]
    assert session.provider_messages() == list(session.messages)


def test_a_leading_system_prompt_can_be_kept(tmp_path: Path) -> None:
    prompt = {"role": "system", "content": "Be terse."}
    session = loaded(tmp_path, prompt, user("a"), {"role": "system", "content": "context"}, user("b"), record("S", 3))
    summary = "Summary of earlier conversation:\n\nS"
    assert contents(session.provider_messages()) == [summary, "b"]
    assert contents(session.provider_messages(keep_system=True)) == ["Be terse.", summary, "b"]


def test_a_leading_system_prompt_that_is_sent_anyway_is_sent_once(tmp_path: Path) -> None:
    session = loaded(tmp_path, {"role": "system", "content": "Be terse."}, user("a"))
    assert session.provider_messages(keep_system=True) == list(session.messages)


# Compacting


def six(project: Path, *more: Json) -> ReplioSession:
    return loaded(project, *[user(str(number)) for number in range(6)], *more)


def test_a_summary_never_lands_in_another_command(tmp_path: Path) -> None:
    session = six(tmp_path, command("/model x"))
    assert session.compact("S") == 7
    assert session.messages[6] == command("/model x")
    assert (session.messages[7]["content"], session.messages[7]["compact_from"]) == ("/compact", 3)


def test_the_bare_command_at_the_end_becomes_the_record(tmp_path: Path) -> None:
    bare = command("/compact", id="msg_given", result=None)
    session = six(tmp_path, bare)
    assert session.compact("S") == 6
    assert on_disk(session)["messages"][6:] == [{**bare, "result": "S", "compact_from": 2}]


def test_a_bare_command_before_the_end_stays(tmp_path: Path) -> None:
    session = six(tmp_path, command("/compact"), user("6"))
    assert session.compact("S") == 8
    assert session.messages[6] == command("/compact")


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    session = six(tmp_path)
    assert session.compact("first", keep=2) == 6
    assert session.compact("second", keep=2) == 7
    assert [message.get("result") for message in session.messages[6:]] == ["first", "second"]


def test_a_boundary_never_shrinks(tmp_path: Path) -> None:
    session = six(tmp_path)
    assert session.compact("first", keep=1) == 6
    for keep in (2, 3, 5):
        assert session.compact(lambda _: pytest.fail("asked"), keep=keep) is None
    assert len(session.messages) == 7
    assert contents(session.provider_messages())[1:] == ["5"]


@pytest.mark.parametrize("keep", [0, -1, 6, 7, sys.maxsize])
def test_where_nothing_is_to_be_compacted_nobody_is_asked(tmp_path: Path, keep: int) -> None:
    session = six(tmp_path)
    assert session.compact(lambda _: pytest.fail("asked"), keep=keep) is None
    assert len(on_disk(session)["messages"]) == 6


def test_an_empty_session_has_nothing_to_compact(tmp_path: Path) -> None:
    assert loaded(tmp_path).compact("S") is None
    assert loaded(tmp_path, command("/compact")).compact("S", keep=1) is None


@pytest.mark.parametrize("summary", [None, "", " \n\t"])
@pytest.mark.parametrize("bare", [[], [command("/compact")]], ids=["appended", "completed"])
def test_a_blank_summary_changes_nothing(tmp_path: Path, summary: str | None, bare: list[Json]) -> None:
    session = six(tmp_path, *bare)
    before = session.messages
    assert session.compact(lambda _: summary) is None
    assert (session.messages, session.updated_at, session.has_summary) == (before, TIME, False)


def test_a_summariser_that_fails_changes_nothing(tmp_path: Path) -> None:
    session = six(tmp_path)

    def fail(_: list[Json]) -> str:
        raise KeyError("no provider")

    with pytest.raises(KeyError, match="no provider"):
        session.compact(fail)
    assert len(session.messages) == len(on_disk(session)["messages"]) == 6


def test_a_compaction_is_saved_at_once(tmp_path: Path) -> None:
    session = six(tmp_path)
    session.compact("  S\n")
    assert session.has_summary
    last = on_disk(session)["messages"][-1]
    assert [last[key] for key in ("role", "content", "timestamp", "result", "compact_from")] == [
        "command",
        "/compact",
        LATER,
        "S",
        2,
    ]
    assert on_disk(session)["updated_at"] == LATER
    assert contents(store_in(tmp_path).read("s").provider_messages())[1:] == list("2345")


def test_how_much_is_kept_can_be_set_for_all(tmp_path: Path) -> None:
    store = store_in(tmp_path, compact_keep=1)
    session = store.create("s")
    for number in range(4):
        session.append("user", str(number))
    session.compact("S")
    assert session.messages[-1]["compact_from"] == 3


def test_what_is_no_object_counts_for_compacting(tmp_path: Path) -> None:
    session = loaded(tmp_path, None, user("a"), "text", user("b"))
    assert session.compact(lambda messages: str(contents(messages)), keep=1) == 4
    assert session.messages[-1]["result"] == "['a']"
    assert on_disk(session)["messages"][4]["compact_from"] == 3
    assert contents(session.provider_messages())[1:] == ["b"]


def test_a_summariser_that_appends_loses_nothing(tmp_path: Path) -> None:
    session = six(tmp_path)

    def summarize(_: list[Json]) -> str:
        session.append("user", "meanwhile")
        return "S"

    session.compact(summarize)
    assert "meanwhile" in contents(on_disk(session)["messages"])
    assert session.has_summary
