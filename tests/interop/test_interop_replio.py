"""Replio's sessions: each program reads what the other wrote, makes the same of it, and loses nothing that is in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from interop.provider import Answer, serve
from interop.replio_sessions import sessions
from interop.replio_side import Replio, Step, Theirs, plain_store
from interop.same import assert_same
from replio_support import STAMP, TIME, Clock, Json, on_disk, put, store_in
from sessiontree import ConflictError
from sessiontree.replio import slug

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from interop.replio_side import Projects
    from sessiontree.replio import ReplioSession, ReplioStore

KEYS = ("name", "messages", "errors", "permissions", "created_at", "updated_at", "parent_id", "sub_sessions")
SUMMARY = "  What was found,\nand what is open.\n"


@pytest.fixture(params=sessions().items(), ids=lambda item: item[0])
def given(request: pytest.FixtureRequest) -> Json:
    """A session as it stands in a file, each in turn."""
    session: Json = request.param[1]
    return session


@pytest.fixture
def theirs(replio: Replio, tmp_path: Path) -> Theirs:
    """The project of a test, on their side."""
    return Theirs(replio, tmp_path)


@pytest.fixture
def ours(tmp_path: Path) -> ReplioStore:
    """The same project on our side."""
    return plain_store(tmp_path)


def read(session: ReplioSession, preview: list[str]) -> Json:
    """A session of ours as `Theirs.read` tells it."""
    values = {key: getattr(session, key) for key in KEYS}
    return {
        "session": {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()},
        "context": session.provider_messages(),
        "folded": session.fold([*session.messages]),
        "preview": preview,
        "markdown": session.to_markdown(),
    }


def assert_all_same(ours: ReplioStore, theirs: Theirs, name: str) -> None:
    """Hold against each other what the two make of a session; numbers and the order of keys too."""
    ours_found, theirs_found = read(ours.read(name), ours.preview(name).lines()), theirs.read(name)
    assert_same(ours_found, theirs_found)
    assert json.dumps(ours_found["session"]["messages"]) == json.dumps(theirs_found["session"]["messages"])
    assert ours.export(name, "-") == theirs_found["markdown"]


# Reading


def test_we_read_what_it_writes(ours: ReplioStore, theirs: Theirs, given: Json) -> None:
    put(ours, given["name"], given)
    theirs.save(given["name"])
    assert_all_same(ours, theirs, given["name"])


def test_it_reads_what_we_write(ours: ReplioStore, theirs: Theirs, given: Json) -> None:
    session = ours.create(given["name"], parent=given.get("parent_id") or None)
    for message in given["messages"]:
        fields = {"role": "notice", "content": None, **message}
        session.append(fields.pop("role"), fields.pop("content"), **fields)
    for error in given["errors"]:
        fields = {"code": None, "message": "", **error}
        session.add_error(fields.pop("code"), fields.pop("message"), **fields)
    for permission in given.get("permissions", []):
        session.add_permission(**permission)
    in_memory = read(session, ours.preview(session).lines())
    ours.save(session)
    assert_same(in_memory, theirs.read(given["name"]))
    assert_all_same(ours, theirs, given["name"])


def test_it_reads_what_we_load_and_save(ours: ReplioStore, theirs: Theirs, given: Json) -> None:
    put(ours, given["name"], given)
    session = ours.load(given["name"])
    session.append("user", "One more.")
    ours.save()
    assert_all_same(ours, theirs, given["name"])


# Writing


def test_its_bytes_stay(ours: ReplioStore, theirs: Theirs, given: Json) -> None:
    if not given["messages"]:
        pytest.skip("a session without messages is not written")
    path = put(ours, given["name"], given)
    theirs.save(given["name"])
    before, _, after = path.read_text(encoding="ascii").partition("\n  ],\n")
    ours.load(given["name"]).append("user", "One more.")
    ours.save()
    written = path.read_text(encoding="ascii")
    assert written.startswith(f"{before},\n    {{\n")
    assert written.endswith(re.sub('"updated_at": "[^"]*"', f'"updated_at": "{TIME}"', after))


@pytest.mark.parametrize("max_chars", [0, 10, 1000])
def test_results_that_are_left_out(projects: Projects, given: Json, max_chars: int) -> None:
    settings = {"noise_tools": ["web_fetch"], "session_tool_max_chars": max_chars}
    projects.put(given["name"], given)
    store = projects.store(**settings)
    store.save(store.load(given["name"]))
    projects.theirs.save(given["name"], **settings)
    ours, theirs = (json.dumps(one["messages"]) for one in projects.documents(given["name"]))
    assert ours == theirs.replace("from log; see tool call", "from log, see tool call")


@pytest.mark.parametrize("keep", [0, 1, 2, 4])
def test_compaction(projects: Projects, given: Json, keep: int) -> None:
    if is_compacted_otherwise(given["messages"], keep):
        pytest.skip("in test_interop_replio_differences.py")
    projects.put(given["name"], given)
    store = projects.store()
    asked: list[list[Json]] = []

    def summarize(messages: list[Json]) -> str:
        asked.append(messages)
        return SUMMARY

    index = store.load(given["name"]).compact(summarize, keep=keep)
    store.save()
    asked_by_them = projects.theirs.compact(given["name"], keep, SUMMARY)
    assert asked == ([] if asked_by_them is None else [asked_by_them])
    assert store.read(given["name"]).provider_messages() == projects.theirs.read(given["name"])["context"]
    ours, theirs = (one["messages"] for one in projects.documents(given["name"]))
    if index is not None:
        for record in (ours[index], theirs[index]):
            record["id"] = record["timestamp"] = None
    assert ours == theirs


def is_compacted_otherwise(messages: list[Json], keep: int) -> bool:
    """Whether we do on purpose what Replio does not: see the tests of differences."""
    if not messages:
        return False
    last = messages[-1]
    is_bare = last.get("content") == "/compact" and not last.get("result") and last.get("compact_from") is None
    if last.get("role") == "command" and not is_bare:
        return True
    records = [one for one in messages if one.get("role") == "command" and one.get("result")]
    boundaries = [one["compact_from"] for one in records if isinstance(one.get("compact_from"), int)]
    counted = len(messages) - (last.get("role") == "command")
    return keep > 0 and 0 < counted - keep <= max(boundaries, default=0)


# Names and files


@pytest.mark.parametrize(
    "text",
    [
        "Why does the second pump of the third line stop each night?",
        "Größe, façade, ½ and ﬁ: what does a slug make of such a text as this?",
        "a" * 60,
        " leading space that must not be where this is cut",
        "path/to/../a file: 'quotes' \"and\" more\nlines than one",
    ],
)
def test_a_slug_of_a_long_text(theirs: Theirs, text: str) -> None:
    assert theirs.automatic_name(STAMP, text) == f"ses_{STAMP}_{slug(text)}"


@pytest.mark.parametrize(
    "parent", ["ses_20310304_050607_tank", "my notes", "..", "Ünïcode-ª²", "x" * 70, "_-a.b-_", "?"]
)
def test_names_of_delegations(ours: ReplioStore, theirs: Theirs, parent: str) -> None:
    for _ in range(3):  # the later ones have suffixes
        name = theirs.sub_name(STAMP, parent)
        session = ours.create(parent=parent)
        assert session.name == name
        session.append("user", "x")
        ours.save(session)


@pytest.mark.parametrize("job", ["nightly report", "Ünïcode ª²", "  a/b  ", "..", "x" * 70])
def test_names_of_jobs(ours: ReplioStore, theirs: Theirs, job: str) -> None:
    assert ours.create(job=job).name == theirs.job_name(TIME, job)


def test_listings(ours: ReplioStore, theirs: Theirs) -> None:
    for name in ("ses_b", "sub_a", "job_z", "Notes", "paper", "2031", "über", "a b", "a.b", "\U0001f680", "\uffff"):
        session = ours.create(name)
        session.append("user", "x")
        ours.save(session)
        theirs.live(f"{name} of theirs", [("add_message", ["user", "x"], {})])
    assert ours.list() == theirs.names()
    assert len(ours.list()) == 22
    assert theirs.delete("Notes")
    assert ours.delete("paper")
    assert not ours.delete("Notes")
    assert not theirs.delete("paper")
    assert ours.list() == theirs.names()


# Together


def test_each_goes_on_with_what_the_other_wrote(tmp_path: Path, theirs: Theirs) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"pattern": "é"}'}}
    for number in range(3):
        session = store_in(tmp_path, clock=Clock()).load_or_create("together")
        session.append("user", f"ours {number}: é\u2028\U0001f680")
        session.append("assistant", None, tool_calls=[call], thinking="…")
        session.add_permission("grep", "allow", "granted", path="/srv")
        steps: list[Step] = [
            ("add_message", ["tool", f"theirs {number}"], {"tool_call_id": "c1", "tool": "grep", "analysis": None}),
            ("add_message", ["assistant", "Done."], {"duration": 8.0, "model": "toy-1b"}),
            ("add_error", [503, "Unavailable"], {}),
        ]
        theirs.live("together", steps)
    ours = plain_store(tmp_path)
    assert_all_same(ours, theirs, "together")
    session = ours.read("together")
    assert [message["role"] for message in session.messages] == ["user", "assistant", "tool", "assistant"] * 3
    assert len({message["id"] for message in session.messages}) == 12
    assert (len(session.errors), len(session.permissions)) == (3, 3)


def test_its_messages_are_not_written_over(tmp_path: Path, theirs: Theirs) -> None:
    session = store_in(tmp_path).create("together")
    session.append("user", "ours")
    theirs.live("together", [("add_message", ["user", "theirs"], {})])
    with pytest.raises(ConflictError):
        session.append("user", "ours again")
    assert session.path is not None
    assert [message["content"] for message in on_disk(session)["messages"]] == ["ours", "theirs"]


# Runs


def run(replio: Replio, project: Path, script: Sequence[Answer], *options: str) -> list[list[Json]]:
    """Let Replio answer in the project, its model being a script; gives the messages that this was sent, each time."""
    with serve(script) as served:
        settings = {"provider": "openai", "base_url": served.url, "model": "fake-1", "stream_retries": 0}
        (project / ".replio/config.json").write_text(json.dumps(settings))
        done = replio.run("run", "--path", project, "--prompt", "What is here?", "--yes", *options)
    assert json.loads(done.stdout), done.stderr
    return [request["messages"] for request in served.asked]


def test_a_run_goes_on_with_a_session_of_ours(replio: Replio, tmp_path: Path, ours: ReplioStore) -> None:
    (tmp_path / "tank.txt").write_text("depth 4 m\n")
    session = ours.create("tank")
    for message in sessions()["c10_compaction_boundary_decreases"]["messages"]:
        session.append(**message)
    ours.save()
    said = "It is 4 m deep.\u2028 \U0001f600"
    script = [Answer("Let me look.", ("file_read", {"path": str(tmp_path / "tank.txt")})), Answer(said)]
    first, second = run(replio, tmp_path, script, "--session-id", "tank")
    assert first[:-1] == session.provider_messages()

    after = ours.read("tank")
    assert after.messages[: len(session.messages)] == session.messages
    new = after.messages[len(session.messages) :]
    assert [message["role"] for message in new] == ["user", "assistant", "tool", "assistant"]
    assert (new[0]["content"], new[2]["content"].count("depth 4 m"), new[3]["content"]) == ("What is here?", 1, said)
    assert after.provider_messages() == [*second, new[3]]
    assert [(one["tool"], one["decision"]) for one in after.permissions] == [("file_read", "granted")]
    assert ours.export("tank", "-") == replio.run("export", "tank", "--path", tmp_path, "--out", "-").stdout


def test_a_run_that_fails(replio: Replio, tmp_path: Path, ours: ReplioStore) -> None:
    run(replio, tmp_path, [Answer(status=503)])
    [info] = ours.infos()
    assert (info.message_count, info.first_message) == (1, "What is here?")
    session = ours.read(info.id)
    [error] = session.errors
    assert error["code"] == 503
    assert f"- `503` {error['message']} at {error['timestamp']}" in session.to_markdown()
