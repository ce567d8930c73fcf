"""`sessiontree.camel`: the API in the spelling of the format's own page."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, assert_type

import pytest

import camel_stub
import sessiontree
from elyra_support import CWD, answer, entry, header, line, session, user
from sessiontree import camel
from sessiontree.camel import SessionManager, camel_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

API = """
create(cwd, sessionDir?)
open(path, sessionDir?)
continueRecent(cwd, sessionDir?)
inMemory(cwd?)
forkFrom(sourcePath, targetCwd, sessionDir?)
list(cwd, sessionDir?, onProgress?)
listAll(onProgress?)
newSession(options?)
setSessionFile(path)
createBranchedSession(leafId)
appendMessage(message)
appendThinkingLevelChange(level)
appendModelChange(provider, modelId)
appendCompaction(summary, firstKeptEntryId, tokensBefore, details?, fromHook?)
appendCustomEntry(customType, data?)
appendSessionInfo(name)
appendCustomMessageEntry(customType, content, display, details?)
appendLabelChange(targetId, label)
getLeafId()
getLeafEntry()
getEntry(id)
getBranch(fromId?)
getTree()
getChildren(parentId)
getLabel(id)
branch(entryId)
resetLeaf()
branchWithSummary(entryId, summary, details?, fromHook?)
buildSessionContext()
getEntries()
getHeader()
getSessionName()
getCwd()
getSessionDir()
getSessionId()
getSessionFile()
isPersisted()
"""
"""The format's own page, "SessionManager API"."""

CALLS = [(name, given) for name, given in re.findall(r"(\w+)\((.*)\)", API)]


@pytest.fixture
def manager() -> SessionManager:
    return SessionManager.inMemory(CWD)


@pytest.fixture
def agent_dir(tmp_path: Path) -> Path:
    """An agent's folder with one session, `s1`."""
    folder = tmp_path / "sessions" / "--team-app--"
    folder.mkdir(parents=True)
    (folder / "2026-01-05T10-00-00-000Z_s1.jsonl").write_bytes(session("s1"))
    return tmp_path


# Names


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("list", "list"),
        ("list_all", "listAll"),
        ("first_kept_entry_id", "firstKeptEntryId"),
        ("listAll", "listAll"),
        ("_private_name_", "_privateName_"),
        ("__len__", "__len__"),
        ("MessageEntry", "MessageEntry"),
    ],
)
def test_the_rule(name: str, spelled: str) -> None:
    assert camel_case(name) == spelled


@pytest.mark.parametrize(("name", "given"), CALLS, ids=[name for name, _ in CALLS])
def test_the_whole_api_is_there_in_both_spellings(name: str, given: str) -> None:
    snake = re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
    assert callable(getattr(sessiontree.SessionManager, snake))
    method = getattr(SessionManager, name)
    assert method.__name__ == name
    parameters = inspect.signature(method).parameters.values()
    positional = [
        one.name + ("" if one.default is one.empty else "?")
        for one in parameters
        if one.kind is one.POSITIONAL_OR_KEYWORD and one.name != "self"
    ]
    assert ", ".join(positional) == ("" if given == "options?" else given)


def test_all_that_is_exported_has_both_spellings() -> None:
    assert {*camel.__all__} == {*map(camel_case, sessiontree.__all__), "camel_case"}
    names = 0
    for exported in sessiontree.__all__:
        thing, spelled = getattr(sessiontree, exported), getattr(camel, camel_case(exported))
        assert spelled is thing or exported in ("SessionManager", "contexts", "scan", "pi_agent_dir")
        for name in vars(thing) if isinstance(thing, type) else ():
            assert name.startswith("_") or hasattr(spelled, camel_case(name)), f"{exported}.{name}"
            names += camel_case(name) != name
    assert names > 50


# A session


def test_a_session_in_memory(manager: SessionManager) -> None:
    first = manager.appendMessage(user("Question"))
    manager.appendThinkingLevelChange("high")
    manager.appendModelChange("acme", modelId="acme-1")
    manager.appendMessage(answer())
    manager.appendLabelChange(targetId=first, label="start")

    context = manager.buildSessionContext()
    assert_type(context, camel.SessionContext)
    assert context.thinkingLevel == "high"
    assert context.model is not None
    assert_type(context.model, camel.Model)
    assert context.model.modelId == "acme-1"

    entries = manager.getEntries()
    assert [one.parentId for one in entries] == [None, *(one.id for one in entries[:-1])]
    assert isinstance(entries[1], camel.ThinkingLevelChangeEntry)
    assert entries[1].thinkingLevel == "high"
    assert isinstance(entries[4], camel.LabelEntry)
    assert (entries[4].targetId, entries[4].label) == (first, "start")

    (root,) = manager.getTree()
    assert_type(root.children, list[camel.TreeNode])
    assert root.labelTimestamp == entries[4].timestamp
    assert root.children[0].entry.parentId == manager.getBranch(fromId=first)[0].id

    assert_type(manager.usage(branchOnly=True), camel.Usage)
    assert manager.getHeader().parentSession is None
    assert manager.getHeader().toDict() == manager.get_header().to_dict()


def test_branching_and_summing_up(manager: SessionManager) -> None:
    first = manager.appendMessage(user())
    manager.appendMessage(answer())
    left = manager.getLeafId()
    compacted = manager.getEntry(manager.appendCompaction("Sum", firstKeptEntryId=first, tokensBefore=9, fromHook=True))
    assert isinstance(compacted, camel.CompactionEntry)
    assert (compacted.firstKeptEntryId, compacted.tokensBefore, compacted.fromHook) == (first, 9, True)
    manager.branch(entryId=left or "")
    manager.branchWithSummary(first, "Left", fromHook=False)
    summary = manager.getLeafEntry()
    assert isinstance(summary, camel.BranchSummaryEntry)
    assert (summary.fromId, summary.parentId) == (left, first)
    manager.resetLeaf()
    assert manager.getLeafId() is None


def test_usage(manager: SessionManager) -> None:
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10, "cost": {"total": 0.5}}
    manager.appendMessage({**answer(), "usage": usage})
    total = manager.usage()
    assert (total.cacheRead, total.cacheWrite, total.totalTokens, total.costTotal) == (3, 4, 10, 0.5)
    assert total.byModel["acme/acme-1"].totalTokens == 10


def test_errors_tell_what_they_know(manager: SessionManager) -> None:
    with pytest.raises(camel.EntryNotFoundError) as caught:
        manager.branch("nowhere")
    assert caught.value.entryId == "nowhere"
    with pytest.raises(camel.SessionNotFoundError) as lost:
        raise sessiontree.SessionNotFoundError("gone", other_project="/else")
    assert lost.value.otherProject == "/else"
    assert camel.AmbiguousSessionError("which", candidates=()).candidates == ()


def test_a_listing(agent_dir: Path) -> None:
    told: list[tuple[int, int]] = []
    (info,) = SessionManager.list(CWD, onProgress=lambda done, of: told.append((done, of)), agentDir=agent_dir)
    assert_type(info, camel.SessionInfo)
    assert told == [(1, 1)]
    assert (info.messageCount, info.firstMessage, info.leafId) == (3, "First", "e3000003")
    assert info.allMessagesText == "First Answer Last"
    assert info.parentSessionPath is None
    assert info.usage.totalTokens == 0


def test_damage(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(header()) + b"{\n" + line(entry("e1", None, message=user())))
    (damage,) = SessionManager.open(path).damage
    assert not damage.isNote


def test_functions(agent_dir: Path) -> None:
    found = camel.scan(agent_dir, onProgress=lambda *_: None)
    assert [info.entryCount for info in found] == [3]
    assert found[0].sizeBytes == found[:1][0].sizeBytes > 0
    assert camel.piAgentDir() == sessiontree.pi_agent_dir()


# Options


def test_a_dict_of_options_comes_last(agent_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "flat"
    (info,) = SessionManager.listAll({"agentDir": agent_dir})
    calls: list[Callable[[], object]] = [
        lambda: SessionManager.list(CWD, {"agentDir": agent_dir})[0],
        lambda: SessionManager.list(CWD, None, None, {"agentDir": agent_dir})[0],
        lambda: SessionManager.listAll(None, {"agentDir": agent_dir, "threads": 1})[0],
        lambda: SessionManager.find("s1", {"agentDir": agent_dir}),
        lambda: SessionManager.find("s1", CWD, {"agentDir": agent_dir}),
    ]
    for call in calls:
        assert call() == info
    with SessionManager.continueRecent(CWD, {"agentDir": agent_dir}) as recent:
        assert (type(recent), recent.getSessionId()) == (SessionManager, "s1")
    with SessionManager.open(info.path, None, {"readOnly": True}) as opened, pytest.raises(camel.ReadOnlyError):
        opened.newSession()
    with SessionManager.create(CWD, folder, {"id": "s2", "parentSession": info.path}) as made:
        header = made.getHeader()
        assert (header.id, header.parentSession, made.getSessionDir()) == ("s2", str(info.path), folder)
    with SessionManager.forkFrom(info.path, "/other", folder, {"id": "s3"}) as fork:
        assert (fork.getSessionId(), fork.getCwd()) == ("s3", "/other")
    SessionManager.delete("s3", {"sessionDir": folder})
    assert list(folder.iterdir()) == []


def test_new_session_takes_an_option_object(manager: SessionManager) -> None:
    assert manager.newSession({"parentSession": "/before.jsonl"}) is None
    assert manager.getHeader().parentSession == "/before.jsonl"
    manager.newSession()
    assert manager.getHeader().parentSession is None


def test_arguments_have_either_spelling(agent_dir: Path) -> None:
    calls: Any = SessionManager
    assert (
        calls.listAll(agent_dir=agent_dir) == calls.listAll(agentDir=agent_dir) == calls.list_all(agent_dir=agent_dir)
    )
    with calls.continueRecent("/new", {"agent_dir": agent_dir}) as started:
        assert started.getSessionDir().parent == agent_dir / "sessions"
        started.branch(entry_id=started.appendMessage(user()))


def test_options_that_do_not_exist_or_come_twice(manager: SessionManager) -> None:
    before = manager.getSessionId()
    call: Any = manager.newSession
    for wrong in ({"parent": "/x"}, {"id": "a", "x": 1}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            call(wrong)
    with pytest.raises(TypeError, match="multiple values"):
        call({"id": "a"}, id="b")
    assert manager.getSessionId() == before


def test_a_message_is_no_dict_of_options(manager: SessionManager) -> None:
    message = {"role": "custom", "id": "mine", "content": "x"}
    entry = manager.getEntry(manager.appendMessage(message))
    assert isinstance(entry, camel.MessageEntry)
    assert entry.message == message
    data = manager.getEntry(manager.appendCustomEntry("memo", {"id": 1}))
    assert isinstance(data, camel.CustomEntry)
    assert (data.customType, data.data) == ("memo", {"id": 1})


# One API, not two


def test_the_objects_are_those_of_the_package(manager: SessionManager) -> None:
    assert isinstance(manager, sessiontree.SessionManager)
    entry_id = manager.append_message(user())
    assert manager.getEntry(entry_id) == manager.get_entry(entry_id)
    things = (manager.getEntry(entry_id), manager.buildSessionContext(), manager.usage(), manager.getHeader())
    for thing in things:
        assert getattr(sessiontree, type(thing).__name__) is type(thing)
        pickled = pickle.dumps(thing)
        assert b"camel" not in pickled
        assert pickle.loads(pickled) == thing


UNTOUCHED = """
import importlib, sys, sessiontree
assert "sessiontree.camel" not in sys.modules
exported = [getattr(sessiontree, name) for name in sessiontree.__all__]
before = [dict(vars(one)) for one in exported]
of_all = dict(vars(sessiontree))
import sessiontree.camel
of_all["camel"] = sessiontree.camel
assert vars(sessiontree) == of_all
for one, old in zip(exported, before):
    new = dict(vars(one))
    assert {name: new[name] for name in old} == old
    added = new.keys() - old.keys()
    assert all(name != name.lower() for name in added), added
    assert not added or one not in (sessiontree.SessionManager, sessiontree.scan)
after = [dict(vars(one)) for one in exported]
importlib.reload(sessiontree.camel)
assert [dict(vars(one)) for one in exported] == after
"""


def test_importing_it_adds_names_and_changes_none() -> None:
    subprocess.run([sys.executable, "-c", UNTOUCHED], check=True)


# The stub


def test_the_stub_is_what_its_script_makes() -> None:
    told = "run `python tests/camel_stub.py`"
    assert camel_stub.STUB.read_text(encoding="utf-8") == camel_stub.stub(), told


def test_all_that_the_stub_has_is_there() -> None:
    nodes = [node for node in ast.parse(camel_stub.stub()).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    public = [node for node in nodes if not node.name.startswith("_")]
    assert {node.name for node in public} == {*camel.__all__}
    for node in public:
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef):
                there = getattr(camel, node.name)
                assert hasattr(there, member.name), f"{node.name}.{member.name}"


def test_details_are_no_options() -> None:
    manager = camel.SessionManager.inMemory()
    id = manager.appendMessage({"role": "user", "content": "Hello"})
    manager.appendCompaction("S", id, 5, {"readFiles": []})
    leaf = manager.getLeafEntry()
    assert isinstance(leaf, sessiontree.CompactionEntry)
    assert leaf.details == {"readFiles": []}
