"""`sessiontree show`: a branch as a transcript, and as the file has it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import COMMAND, Home, conversation, message, session

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def transcript(home: Home, *entries: dict[str, Any], options: Sequence[str] = ()) -> str:
    """What is shown of a session of these entries, below the head."""
    path = home.add("1", conversation(*entries))
    done = home.run("show", path, *options)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("\n\n", 1)[1]


def body(home: Home, *entries: dict[str, Any], options: Sequence[str] = ()) -> list[str]:
    """The lines that are shown of an entry, below its heading, without their indentation."""
    return [line.removeprefix("  ") for line in transcript(home, *entries, options=options).splitlines()[1:]]


# The head


def test_the_head_tells_what_it_is_about_where_when_and_how_much(home: Home) -> None:
    path = home.add("1", session("s1", cwd=f"{home.folder}/app", text="Fix\nthe parser", tokens=1_234, cost=0.5))
    done = home.run("show", path)
    assert done.stdout.splitlines()[:4] == [
        "Fix the parser",
        "~/app, 2 entries, 2026-01-05 10:00, 1.23k tokens, $0.50",
        str(path),
        "",
    ]
    path.write_bytes(session("s1", name="The parser", answers=0))
    assert home.run("show", path).stdout.splitlines()[:2] == ["The parser", "/team/app, 2 entries, 2026-01-05 10:00"]


def test_the_head_tells_the_branchs_model_times_and_cost(home: Home) -> None:
    used = [{"usage": {"totalTokens": 10, "cost": {"total": cost}}} for cost in (0.25, 0.5, 0)]
    path = home.add(
        "1",
        conversation(
            {"type": "model_change", "provider": "acme", "modelId": "one"},
            message("user", "Hello"),
            message("assistant", "A", provider="acme", model="two", **used[0]),
            message("assistant", "B", provider="acme", model="three", parentId="e2", **used[1]),
            message("assistant", "C", provider="acme", model=3, parentId="e2", **used[2]),
        ),
    )
    known = "10:00 to 10:05, 30.0 tokens, $0.75"
    for leaf, entries, model, cost in [
        ("e2", 2, "one", "nothing"),
        ("e3", 3, "two", "$0.25"),
        ("e4", 3, "three", "$0.50"),
        ("e5", 3, "one", "nothing"),
    ]:
        facts = home.run("show", path, "--leaf", leaf).stdout.splitlines()[1]
        known = f"2026-01-05 10:00 to 10:05, 30 tokens, $0.75, {cost} of it on this branch"
        assert facts == f"/team/app, {entries} entries, acme/{model}, {known}"


def test_times_are_local_and_a_new_day_is_told(home: Home) -> None:
    path = home.add("1", conversation(*(message("user", "x") for _ in range(4))).replace(b"T10:0", b"T22:5"))
    lines = home.given(TZ="UTC-1").run("show", path).stdout.splitlines()
    assert lines[1].endswith("2026-01-05 23:50 to 23:54")
    assert lines[4] == "user  2026-01-05 23:51  e1"
    lines = home.given(TZ="UTC-1:06").run("show", path).stdout.splitlines()
    assert lines[1].endswith("2026-01-05 23:56 to 2026-01-06 00:00")
    assert lines[4::3] == [
        "user  2026-01-05 23:57  e1",
        "user  23:58  e2",
        "user  23:59  e3",
        "user  2026-01-06 00:00  e4",
    ]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
@pytest.mark.parametrize("zone", ["UTC-14", "UTC+12"])
def test_times_at_the_calendars_ends(home: Home, time: str, zone: str) -> None:
    path = home.add("1", session(time=time))
    done = home.given(TZ=zone).run("show", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "  e0" in done.stdout


# The entries


def test_a_conversation(home: Home) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "grep -n\n  foo"}}
    edit = {"type": "toolCall", "name": "edit", "arguments": {"path": "a.py", "n": 3, "all": True, "deep": {"a": [1]}}}
    entries = [
        {"type": "model_change", "provider": "acme", "modelId": "acme-1"},
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        message("user", "Please look at this:\n\n\tx = 1\r\n"),
        message(
            "assistant",
            [{"type": "thinking", "thinking": "Hm.\nLet me\nsee"}, {"type": "text", "text": "I look."}, call, edit],
            model="acme-1",
            stopReason="toolUse",
        ),
        message("toolResult", [{"type": "text", "text": "3: foo\n"}], toolName="bash", isError=False),
        message(
            "toolResult",
            [{"type": "image", "mimeType": "image/png", "data": "A" * 4000}],
            toolName="edit",
            isError=True,
        ),
        message("assistant", "I", model="acme-1", stopReason="error", errorMessage="overloaded"),
    ]
    assert transcript(home, *entries) == (
        "model: acme/acme-1  2026-01-05 10:01  e1\n"
        "thinking level: high  10:02  e2\n"
        "\n"
        "user  10:03  e3\n"
        "  Please look at this:\n"
        "\n"
        "      x = 1\n"
        "\n"
        "assistant  10:04  e4  acme-1\n"
        "  thinking: Hm.\n"
        "  Let me\n"
        "  see\n"
        "  I look.\n"
        "  → bash  grep -n foo\n"
        "  → edit  path: a.py, n: 3, all: true, deep: {…}\n"
        "\n"
        "result of bash  10:05  e5\n"
        "  3: foo\n"
        "\n"
        "error of edit  10:06  e6\n"
        "  [image/png, 3.00kB]\n"
        "\n"
        "assistant  10:07  e7  acme-1\n"
        "  I\n"
        "  stopped: error: overloaded\n"
    )


def test_all_other_entries(home: Home) -> None:
    usage = {"totalTokens": 1200, "cost": {"total": 0.02}}
    entries: list[dict[str, Any]] = [
        {"type": "compaction", "summary": "They did\nthis.", "firstKeptEntryId": "e9", "tokensBefore": 50_000},
        {"type": "branch_summary", "fromId": "e9", "summary": "Tried it."},
        {"type": "custom_message", "customType": "todo", "content": "Remember", "display": False},
        {
            "type": "custom_message",
            "customType": "note",
            "content": [{"type": "text", "text": "Seen"}],
            "display": True,
        },
        {"type": "custom", "customType": "state", "data": {"count": 42, "on": None}},
        {"type": "label", "targetId": "e1", "label": "start"},
        {"type": "label", "targetId": "e2"},
        {"type": "session_info", "name": "Named"},
        {"type": "session_info"},
        {"type": "usage", "kind": "title", "provider": "acme", "model": "mini", "usage": usage, "note": "why"},
        {"type": "context_edit", "targetId": "e3", "replacement": {"content": "short"}},
        {"type": "context_edit", "targetId": "e3", "replacement": None},
        {"type": "decision", "why": "because"},
    ]
    assert transcript(home, *entries) == (
        "compaction  [start]  2026-01-05 10:01  e1  50.0k tokens before\n"
        "  They did\n"
        "  this.\n"
        "\n"
        "branch summary  10:02  e2  of the branch to e9\n"
        "  Tried it.\n"
        "\n"
        "custom message todo  10:03  e3  hidden\n"
        "  Remember\n"
        "\n"
        "custom message note  10:04  e4\n"
        "  Seen\n"
        "\n"
        "custom state: count: 42, on: null  10:05  e5\n"
        "label: e1: start  10:06  e6\n"
        "label: e2: none any more  10:07  e7\n"
        "name: Named  10:08  e8\n"
        "name: none any more  10:09  e9\n"
        "usage: title, acme/mini, 1.20k tokens, $0.02, why  10:10  e10\n"
        "context edit: e3: now short  10:11  e11\n"
        "context edit: e3: left out  10:12  e12\n"
        "decision  10:13  e13\n"
    )


def test_all_other_messages(home: Home) -> None:
    command = {"command": "make", "output": "no rule\n", "exitCode": 2, "cancelled": True, "truncated": True}
    entries = [
        message("bashExecution", None, **command, excludeFromContext=True),
        message("bashExecution", None, command="true", output="", exitCode=0, cancelled=False, truncated=False),
        message("custom", "Remember", customType="todo", display=True),
        message("system", "Be brief"),
        message("robot", "beep"),
        message("user", [{"type": "video"}, {}, None, 3]),
    ]
    assert transcript(home, *entries) == (
        "command  2026-01-05 10:01  e1  not sent to the model\n"
        "  $ make\n"
        "  no rule\n"
        "  exit code 2, cancelled, its output was cut\n"
        "\n"
        "command  10:02  e2\n"
        "  $ true\n"
        "\n"
        "custom message todo  10:03  e3\n"
        "  Remember\n"
        "\n"
        "system  10:04  e4\n"
        "  Be brief\n"
        "\n"
        "robot  10:05  e5\n"
        "  beep\n"
        "\n"
        "user  10:06  e6\n"
        "  [video]\n"
        "  [no type]\n"
        "  [no type]\n"
        "  [no type]\n"
    )


TYPES = [
    *("message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message"),
    *("label", "session_info", "usage", "context_edit", "other"),
]
FIELDS = [
    *("message", "provider", "modelId", "thinkingLevel", "summary", "tokensBefore", "fromId", "customType", "content"),
    *("display", "data", "targetId", "label", "name", "kind", "model", "usage", "note", "replacement"),
]
ROLES = [
    *("user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary", "compactionSummary", "system"),
]
MESSAGE_FIELDS = [
    *("toolName", "isError", "model", "stopReason", "errorMessage", "command", "output", "exitCode", "summary"),
    *("tokensBefore", "fromId", "customType", "display"),
]
ODD: list[Any] = [None, True, 0, -1.5, "", "text", [], {}, [None, {"a": [[]]}], {"type": "text"}]


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
def test_a_value_of_any_type_is_shown_somehow(home: Home, odd: object) -> None:
    block = {"type": "toolCall", "name": odd, "arguments": odd}
    parts = [{"type": odd}, {"type": "text", "text": odd}, {"type": "thinking", "thinking": odd}, block]
    image = {"type": "image", "data": odd, "mimeType": odd}
    entries = [{"type": one, **dict.fromkeys(FIELDS, odd)} for one in TYPES]
    entries += [
        message(role, content, **dict.fromkeys(MESSAGE_FIELDS, odd))
        for role in ROLES
        for content in (odd, [*parts, image])
    ]
    entries += [{"type": "usage", "usage": {"totalTokens": odd, "cost": {"total": odd}}}]
    entries += [
        {"type": "context_edit", "replacement": {"content": odd}},
        {"type": odd},
        message("user", [odd], timestamp=odd),
    ]
    path = home.add("1", conversation(*entries))
    for options in ((), ("--full",)):
        done = home.run("show", path, *options)
        assert (done.returncode, done.stderr) == (0, "")
        headings = [line for line in done.stdout.splitlines() if line[:1].strip()]
        assert len(headings) == 3 + len(entries)
    assert home.run("tree", path, "--full").returncode == 0


# What is cut


def test_long_results_are_cut_and_what_is_left_out_is_told(home: Home) -> None:
    for role in ({"role": "toolResult", "toolName": "bash"}, {"role": "custom"}):
        result = message(role.pop("role"), [{"type": "text", "text": "\n".join(map(str, range(50)))}], **role)
        cut = role.get("toolName") is not None
        lines = body(home, result)
        assert lines == [*map(str, range(10)), "… 40 more lines"] if cut else [*map(str, range(50))]
        assert body(home, result, options=["--full"]) == [*map(str, range(50))]


def test_only_as_much_is_cut_as_is_worth_a_line(home: Home) -> None:
    text = "\n".join(map(str, range(10)))
    assert body(home, message("toolResult", text + "\n\n")) == [*map(str, range(10))]
    assert body(home, message("toolResult", text + "\n10"))[-1] == "… 1 more line"


def test_a_long_line_of_a_result_is_cut(home: Home) -> None:
    lines = body(home.given(COLUMNS="52"), message("toolResult", "x" * 1_000_150 + "\nend"))
    assert lines == ["x" * 150 + "…", "end", "… 1,000,000 more characters"]
    assert body(home, message("toolResult", "x" * 100_000), options=["--full"]) == ["x" * 100_000]


def test_thoughts_calls_and_system_messages_are_cut_but_not_what_is_said(home: Home) -> None:
    home = home.given(COLUMNS="40")
    numbers = "\n".join(map(str, range(8)))
    arguments = {"path": "a.py", "text": "one\ntwo " + "x" * 100}
    thought = message("assistant", [{"type": "thinking", "thinking": numbers}])
    call = message("assistant", [{"type": "toolCall", "name": "edit", "arguments": arguments}])
    assert body(home, thought) == ["thinking: 0", "1", "2", "… 5 more lines"]
    assert body(home, thought, options=["--full"]) == ["thinking: 0", *map(str, range(1, 8))]
    assert body(home, call) == ["→ edit  path: a.py, text: one two xxx…"]
    full = ["→ edit", "  path: a.py", "  text: one", "  two " + "x" * 100]
    assert body(home, call, options=["--full"]) == full
    assert body(home, message("system", numbers)) == [*map(str, range(5)), "… 3 more lines"]
    for role in ("user", "assistant", "custom"):
        assert body(home, message(role, numbers + "x" * 1000)) == [*map(str, range(7)), "7" + "x" * 1000]
    for kind in ("compaction", "branch_summary"):
        assert body(home, {"type": kind, "summary": numbers}) == [*map(str, range(8))]


def test_remarks_take_one_line(home: Home) -> None:
    home = home.given(COLUMNS="40")
    for entry in ({"type": "session_info", "name": "n\nx" * 100}, {"type": "custom", "data": {"a": "b\nc" * 999}}):
        [line] = transcript(home, entry).splitlines()
        assert len(line) == 40
        assert line.endswith("…")


def test_ascii_output(home: Home) -> None:
    call = message("assistant", [{"type": "toolCall", "name": "ls", "arguments": {}}, {"type": "text", "text": "é"}])
    result = message("toolResult", "\n" * 20 + "é\n" * 20)
    said = transcript(home.given(PYTHONIOENCODING="ascii"), call, result)
    assert said.isascii()
    assert "  -> ls\n  \\xe9\n" in said
    assert "  ~ 10 more lines\n" in said


# Which branch


def branches() -> bytes:
    """A fork at e1; e2 and e3 are on the one branch, e4 and e5 on the other, which is the active one."""
    return conversation(
        message("user", "root"),
        message("assistant", "left 1"),
        message("user", "left 2"),
        message("assistant", "right 1", parentId="e1"),
        {"type": "label", "targetId": "e4", "label": "here"},
    )


def test_the_active_branch_or_the_one_that_ends_at_an_entry(home: Home) -> None:
    path = home.add("1", branches())
    said = home.run("show", path).stdout
    assert [word for word in ("root", "left 1", "left 2", "right 1") if word in said] == ["root", "right 1"]
    assert "assistant  [here]  10:04  e4\n" in said
    said = home.run("show", path, "--leaf", "e2").stdout
    assert [word for word in ("  root", "left 1", "left 2", "right 1") if word in said] == ["  root", "left 1"]


def test_a_session_without_entries(home: Home) -> None:
    path = home.add("1", conversation())
    done = home.run("show", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"(no messages)\n/team/app, 0 entries, 2026-01-05 10:00\n{path}\n"
    assert json.loads(home.run("show", path, "--json").stdout)["entries"] == []
    assert len(home.run("show", path, "--jsonl").stdout.splitlines()) == 1


# JSON


def test_json_is_what_the_file_holds(home: Home) -> None:
    odd = {
        "type": "decision",
        "why": "\x1b[31m\u202e\U0001f680 \x7f\x9b",
        "n": [1, 2.5, None, 2**63, 1e300],
        "": {"é": []},
    }
    data = conversation(message("user", "One"), odd, message("assistant", "Two", parentId="e1", extra=True))
    path = home.add("1", data)
    records = [json.loads(line) for line in data.splitlines()]
    for leaf, chosen in [("e2", records[:3]), ("e3", [*records[:2], records[3]])]:
        for variables in ({}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}):
            done = home.given(**variables).run("show", path, "--leaf", leaf, "--json")
            assert json.loads(done.stdout) == {"header": chosen[0], "entries": chosen[1:]}
            done = home.given(**variables).run("show", path, "--leaf", leaf, "--jsonl")
            assert [json.loads(line) for line in done.stdout.splitlines()] == chosen


def test_what_jsonl_prints_is_a_session(home: Home) -> None:
    path = home.add("1", branches())
    copy = home.add("2", home.run("show", path, "--jsonl").stdout.encode())
    assert [row["id"] for row in home.rows("tree", copy)] == ["e1", "e4", "e5"]
    assert home.run("check", copy).returncode == 0


def test_values_that_python_has_its_own_ideas_of(home: Home) -> None:
    deep = "[" * 3_000 + "]" * 3_000
    data = f'{{"deep":{deep},"big":1e400,"half":"\\ud83d","exact":18446744073709551615}}'
    line = f'{{"type":"custom","id":"e1","data":{data}}}'
    path = home.add("1", conversation() + line.encode() + b"\n")
    for options in ((), ("--full",)):
        assert home.run("show", path, *options).returncode == 0
    for form in ("--json", "--jsonl"):
        done = home.run("show", path, form)
        assert (done.returncode, done.stderr) == (0, "")
        said = done.stdout.replace(" ", "").replace("\n", "")
        assert f'"deep":{deep}' in said
        assert '"exact":18446744073709551615' in said
        assert "Infinity" not in said


# Streams


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no SIGPIPE here")
@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)], ids=" ".join)
def test_quiet_when_nobody_reads_on(home: Home, form: tuple[str, ...]) -> None:
    path = home.add("1", conversation(*(message("user", "x" * 10_000) for _ in range(100))))
    command = [*COMMAND, "show", str(path), *form]
    with subprocess.Popen(command, env=home.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(timeout=60) == -signal.SIGPIPE
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)], ids=" ".join)
@pytest.mark.parametrize("count", [1, 300])
def test_a_full_disk_is_told_of_once(home: Home, form: tuple[str, ...], count: int) -> None:
    path = home.add("1", conversation(*(message("user", "x" * 100) for _ in range(count))))
    done = home.run("-c", 'exec "$@" >/dev/full', "sh", *COMMAND, "show", path, *form, command=["sh"])
    assert (done.returncode, done.stderr) == (1, "sessiontree: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell's words")
def test_no_output_is_styled_or_paged_but_a_terminals(home: Home) -> None:
    path = home.add("1", conversation(*(message("user", "x") for _ in range(100))))
    done = home.given(FORCE_COLOR="1", PAGER="echo paged").run("show", path)
    assert "\x1b" not in done.stdout
    assert "paged" not in done.stdout
