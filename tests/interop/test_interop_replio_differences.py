"""Where we do on purpose what Replio does not, each shown on both sides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import vectors_replio
from interop.driven import RefusedError
from replio_support import SEED_KEYS, STAMP, TIME, Json, answer, command, document, record, result, store_in, user
from sessiontree import FormatError, InvalidNameError, ReadOnlyError
from sessiontree.replio import slug

if TYPE_CHECKING:
    from interop.replio_side import Projects

# Names


def test_the_slug_of_a_short_text_is_all_of_it(projects: Projects) -> None:
    assert slug("What is OEE?") == "what_is_oee"
    assert projects.theirs.automatic_name(STAMP, "What is OEE?") == f"ses_{STAMP}_what_is"


def test_a_session_without_a_slug_has_its_prefix(projects: Projects) -> None:
    session = projects.store().create()
    session.append("user", "日本語")
    assert session.name == f"ses_{STAMP}"
    assert projects.theirs.automatic_name(STAMP, "日本語") == STAMP


def test_two_sessions_of_one_second_are_two(projects: Projects) -> None:
    store = store_in(projects.folders[0])
    for _ in range(2):
        store.create().append("user", "one two three")
        projects.theirs.automatic_name(STAMP, "one two three")
    assert store.list() == [f"ses_{STAMP}_one_two_three", f"ses_{STAMP}_one_two_three_2"]
    assert projects.theirs.names() == [f"ses_{STAMP}_one_two"]


def test_no_name_leads_out_of_the_folder(projects: Projects) -> None:
    with pytest.raises(InvalidNameError):
        projects.store().create("../escaped")
    projects.theirs.live("../escaped", [("add_message", ["user", "x"], {})])
    assert [(folder / ".replio/escaped.json").exists() for folder in projects.folders] == [False, True]


def test_only_sessions_are_listed(projects: Projects) -> None:
    projects.put(".hidden", {})
    for folder in projects.folders:
        (folder / ".replio/sessions/folder.json").mkdir()
    assert projects.store().list() == []
    assert projects.theirs.names() == [".hidden", "folder"]


# Writing


def test_a_result_that_is_left_out_is_marked_with_a_comma(projects: Projects) -> None:
    projects.session(result("c", "page", tool="open"))
    store = projects.store(noise_tools=["open"])
    store.save(store.load("s"))
    projects.theirs.save("s", noise_tools=["open"])
    marks = [one["messages"][0]["content"] for one in projects.documents()]
    assert marks == [f"[open result excluded from log{sign} see tool call above for parameters]" for sign in (",", ";")]


def test_a_text_is_cut_once(projects: Projects) -> None:
    projects.session(result("c", "x" * 100))
    for _ in range(2):
        store = projects.store(session_tool_max_chars=10)
        store.save(store.load("s"))
        projects.theirs.save("s", session_tool_max_chars=10)
    cut = [one["messages"][0]["content"] for one in projects.documents()]
    assert cut == [f"xxxxxxxxxx… (truncated from {length} chars)" for length in (100, 38)]


def test_keys_of_a_later_version_stay(projects: Projects) -> None:
    projects.put("s", document("s", user(), role="lead"))
    store_in(projects.folders[0]).load("s").append("user", "x")
    projects.theirs.save("s")
    ours, theirs = projects.documents()
    assert ours["role"] == "lead"
    assert "role" not in theirs


def test_what_is_absent_is_left_out(projects: Projects) -> None:
    store_in(projects.folders[0]).create("s").append("assistant", "x", thinking=None)
    projects.theirs.live("s", [("add_message", ["assistant", "x"], {"thinking": None})])
    ours, theirs = (one["messages"][0] for one in projects.documents())
    assert "thinking" not in ours
    assert theirs["thinking"] is None


def test_text_is_written_as_it_is(projects: Projects) -> None:
    store_in(projects.folders[0]).create("s").append("user", "é")
    projects.theirs.live("s", [("add_message", ["user", "é"], {})])
    ours, theirs = projects.files()
    assert '"é"'.encode() in ours
    assert rb'"\u00e9"' in theirs


def test_keys_stand_in_the_order_of_the_documentation(projects: Projects) -> None:
    store_in(projects.folders[0]).create("s").append("user", "x")
    projects.theirs.live("s", [("add_message", ["user", "x"], {})])
    ours, theirs = map(list, projects.documents())
    assert ours == SEED_KEYS
    assert theirs == ["name", "messages", "errors", "permissions", *SEED_KEYS[1:3], *SEED_KEYS[6:]]


def test_an_error_without_a_code_has_0(projects: Projects) -> None:
    store_in(projects.folders[0]).create("s").add_error(None, "x")
    projects.theirs.live("s", [("add_message", ["user", "x"], {}), ("add_error", ["", "x"], {})])
    assert [one["errors"][0]["code"] for one in projects.documents()] == [0, ""]


def test_errors_alone_are_saved(projects: Projects) -> None:
    store_in(projects.folders[0]).create("s").add_error(0, "x")
    projects.theirs.live("s", [("add_error", [0, "x"], {})])
    assert (projects.store().list(), projects.theirs.names()) == (["s"], [])


def test_what_was_deleted_does_not_come_back(projects: Projects) -> None:
    projects.put("s", document("s", user()))
    store = store_in(projects.folders[0])
    session = store.load("s")
    assert store.delete("s")
    session.append("user", "more")
    projects.theirs.delete_and_go_on("s")
    assert (store.list(), projects.theirs.names()) == ([], ["s"])


# Reading


def refused(projects: Projects) -> tuple[str | None, bool]:
    """What kind of error we have for the session, and whether they have one."""
    kind = None
    try:
        projects.store().read("s")
    except FormatError as error:
        kind = error.kind
    try:
        projects.theirs.read("s")
    except RefusedError:
        return kind, True
    return kind, False


@pytest.mark.parametrize(
    ("content", "right"),
    [
        ("\ufeff" + json.dumps(document("s", user())), (None, True)),
        ('{"messages": []}', (None, True)),
        ('{"name": "s", "messages": {"a": 1}}', ("corrupt", True)),
        ('{"name": "s", "messages": {}}', ("corrupt", False)),
        ('{"name": "s", "messages": [{"role": "assistant", "content": "x", "duration": NaN}]}', ("corrupt", False)),
        ('{"name": "s", "messages": [], "turns": []}', ("unsupported", False)),
        ('{"name": "s", "messages": [{"role": "us', ("corrupt", True)),
    ],
    ids=["mark", "no name", "object", "empty object", "NaN", "both forms", "cut"],
)
def test_what_is_a_session(projects: Projects, content: str, right: tuple[str | None, bool]) -> None:
    projects.put("s", content.encode())
    assert refused(projects) == right


def test_the_files_name_counts(projects: Projects) -> None:
    projects.put("s", document("other", user()))
    assert projects.store().read("s").name == "s"
    assert projects.theirs.read("s")["session"]["name"] == "other"
    store = projects.store()
    store.save(store.load("s"))
    projects.theirs.save("s")
    assert (projects.store().list(), projects.theirs.names()) == (["s"], ["other", "s"])


def test_times_are_not_made_up(projects: Projects) -> None:
    projects.put("s", {"name": "s", "messages": [user()]})
    session = projects.store().read("s")
    assert (session.created_at, session.updated_at) == (TIME, TIME)
    assert projects.theirs.read("s")["session"]["created_at"] > "2026"
    assert projects.theirs.read("s")["session"]["created_at"] != TIME


def test_what_is_no_object_costs_itself(projects: Projects) -> None:
    session = projects.session(user("a"), 17, record("S", 3), user("b"))
    assert [message.get("content") for message in session.provider_messages()[1:]] == ["b"]
    assert [one.kind for one in session.damage] == ["line"]
    assert refused(projects) == (None, True)


def test_half_an_emoji(projects: Projects) -> None:
    projects.put("s", document("s"))
    projects.theirs.live("s", [("add_message", ["user", "\ud83d"], {})])
    projects.put("s", projects.files()[1])
    session = store_in(projects.folders[0]).load("s")
    assert session.messages[0]["content"] == "\ufffd"
    with pytest.raises(ValueError, match="surrogate"):
        session.append("user", "\ud83d")
    session.append("user", "x")
    assert rb'"\ud83d"' in projects.files()[0]


def test_later_sessions_are_read_and_kept(projects: Projects) -> None:
    """Those of 0.33.0, which have a name: later ones it refuses."""
    [folder, *_] = vectors_replio.turns_folders()
    projects.put("s", {**vectors_replio.value(folder / "session.json"), "name": "s"})
    session = projects.store().load("s")
    assert session.provider_messages()
    with pytest.raises(ReadOnlyError):
        session.append("user", "x")
    assert projects.theirs.read("s")["session"]["messages"] == []
    projects.theirs.live("s", [("add_message", ["user", "x"], {})])
    assert ["turns" in one for one in projects.documents()] == [True, False]


# Context and export


def test_true_is_no_index(projects: Projects) -> None:
    session = projects.session(user("a"), user("b"), record("S", True))
    assert len(session.provider_messages()) == 3
    assert len(projects.theirs.read("s")["context"]) == 2


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (user(["x"]), "```json\n["),
        (user(None), "### User"),
        (answer("x", thinking=5), "x"),
        (answer(None, tool_calls=[{"id": "c", "function": None}]), "**Tool call: ?**"),
    ],
    ids=["list", "null", "thinking", "function"],
)
def test_what_is_no_text_is_exported(projects: Projects, message: Json, text: str) -> None:
    assert text in projects.session(message).to_markdown()
    assert refused(projects) == (None, True)


# Compaction


def test_a_summary_has_a_record_of_its_own(projects: Projects) -> None:
    projects.compact([user("a"), user("b"), command("/model x")], keep=1)
    ours, theirs = (one["messages"][2:] for one in projects.documents())
    assert [(one["content"], one.get("result")) for one in ours] == [("/model x", None), ("/compact", "T")]
    assert [(one["content"], one.get("result")) for one in theirs] == [("/model x", "T")]


def test_a_summary_is_not_written_over(projects: Projects) -> None:
    projects.compact([user("a"), user("b"), user("c"), record("S", 1)], keep=2)
    results = [[one["result"] for one in document["messages"][3:]] for document in projects.documents()]
    assert results == [["S", "T"], ["T"]]


def test_nothing_falls_between_two_summaries(projects: Projects) -> None:
    """What lies before the older boundary and behind the newer is in neither the summary nor the context."""
    projects.compact([*map(user, "abcd"), record("S", 3), user("e")], keep=4)
    contexts = [projects.store().read("s").provider_messages(), projects.theirs.read("s")["context"]]
    said = [[one["content"].rpartition("\n")[2] for one in context] for context in contexts]
    assert said == [["S", "d", "e"], ["T", "d", "e"]]
    assert projects.theirs.read("s")["session"]["messages"][-1]["compact_from"] == 2
