"""`sessiontree replio list`, `preview`, `context` and `check`: what they tell, and that they leave all as it is."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_replio_support import CALLS, TIME, Project, call, message, project_in
from cli_support import COMMAND
from sessiontree.cli.replio import COMMANDS
from sessiontree.replio import ReplioStore


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path)


CUT = b'{\n  "messages": [\n    {"role": "us'

# Listing


def test_sessions_are_listed_by_name_with_the_parents_of_children(project: Project) -> None:
    project.add("ses_2", message("user", "x"))
    project.add("sub_1_ses_2", parent_id="ses_2")
    project.add("sub_2_orphan")
    project.add("sub_3_gone", parent_id="ses no longer there/or anywhere")
    project.add("note", parent_id="ses_2")
    for name in ("job_1", "Zebra", "a.b", "20310304_040000", "\U0001f680", "é"):
        project.add(name)
    (project.sessions / "notes.txt").write_text("{")
    (project.sessions / ".hidden.json").write_text("{")
    (project.sessions / "folder.json").mkdir()
    assert project.said("list").splitlines() == [
        "  20310304_040000",
        "  Zebra",
        "  a.b",
        "  job_1",
        "  note",
        "  ses_2",
        "  sub_1_ses_2  (child of ses_2)",
        "  sub_2_orphan",
        "  sub_3_gone  (child of ses no longer there/or anywhere)",
        "  é",
        "  \U0001f680",
    ]


def test_no_sessions(project: Project) -> None:
    for _ in range(2):
        assert project.said("list") == "  No sessions found\n"
        assert [project.said("list", form) for form in ("--json", "--jsonl", "--names")] == ["[]\n", "", ""]
        project.sessions.mkdir(parents=True, exist_ok=True)


def test_what_cannot_be_read_is_marked_and_what_can_is_listed(project: Project) -> None:
    project.put("cut", CUT)
    project.put("latin", '{"messages": [{"content": "grüße"}]}'.encode("latin-1"))
    project.put("sub_list", b"[]")
    project.add("odd", 5, message("user", "x"))
    project.put("bom", b'\xef\xbb\xbf{"messages": []}')
    project.put("turns", b'{"session_name": "turns", "turns": []}')
    project.put("both", b'{"messages": [], "turns": []}')
    (project.sessions / "link.json").symlink_to(project.sessions / "nowhere.json")
    assert project.said("list").splitlines() == [
        "  bom",
        "  both  (damaged)",
        "  cut  (damaged)",
        "  latin  (damaged)",
        "  odd  (damaged)",
        "  sub_list  (damaged)",
        "  turns",
    ]


@pytest.mark.skipif(sys.platform == "darwin", reason="takes no such names")
def test_a_file_whose_name_is_none_is_listed_and_said_to_have_none(project: Project) -> None:
    for name in ("two\nlines", "\x1b[31m", "caf\udce9"):
        project.put(name, b"{}")
    assert project.said("list").splitlines() == [
        r"  \x1b[31m  (invalid name)",
        r"  caf\udce9  (invalid name)",
        r"  two\nlines  (invalid name)",
    ]
    assert project.said("list", "--names") == ""
    done = project.run("preview", "caf\udce9")
    assert (done.returncode, done.stdout) == (2, "")


def test_json_of_a_listing(project: Project) -> None:
    paths = [str(project.add("note", parent_id="x")), str(project.put("ses_cut", CUT)), str(project.add("ses_é"))]
    rows = [
        {"name": "note", "path": paths[0], "parent_id": "x", "problem": None},
        {"name": "ses_cut", "path": paths[1], "parent_id": None, "problem": "damaged"},
        {"name": "ses_é", "path": paths[2], "parent_id": "", "problem": None},
    ]
    assert json.loads(project.said("list", "--json")) == rows
    assert project.rows("list") == rows


def test_names_alone_are_told_without_a_look_at_the_files(project: Project) -> None:
    project.put("cut", CUT)
    project.add("two words")
    assert project.said("list", "--names") == "cut\ntwo words\n"
    done = project.run("list", "--names", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "goes without --json" in done.stderr


# Where to look


def test_a_project_is_named_by_its_folder_or_that_of_its_sessions(project: Project) -> None:
    project.add("one")
    (project.folder / "link").symlink_to(project.sessions)
    for folder in (project.folder, project.sessions, ".replio", "../project", ".replio/sessions/../sessions", "link"):
        assert project.said("list", "-C", folder) == "  one\n"
        assert project.said("list", "-C", folder, "--names") == "one\n"
    assert project.home.run("replio", "list", cwd=project.sessions).stdout == "  one\n"


def test_a_project_with_documents_of_its_own_has_no_sessions(project: Project) -> None:
    package = project.folder / "package.json"
    package.write_text('{"name": "app"}')
    assert project.said("list") == "  No sessions found\n"
    assert project.run("delete", "package").returncode == 3
    assert package.exists()


def test_a_project_that_is_not_there_is_told(project: Project) -> None:
    (project.folder / "file").touch()
    for folder, said in (("missing", "No such file or directory"), ("file", "Not a directory")):
        done = project.run("list", "-C", folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"sessiontree: {project.folder}/{folder}")
        assert done.stderr.endswith(f": {said}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        *(("list",), ("list", "--json"), ("list", "--names"), ("check",), ("check", "ses"), ("preview", "ses")),
        *(("context", "ses"), ("export", "ses"), ("export", "ses", "--out", "-"), ("delete", "ses")),
    ],
    ids=" ".join,
)
def test_what_reads_makes_no_folder(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.run(*arguments)
    assert done.returncode == (3 if "ses" in arguments else 0)
    assert project.files() == []


# By which names


def test_a_session_is_named_by_its_name_or_a_start_of_it_or_its_path(project: Project) -> None:
    project.add("ses_1")
    path = project.add("ses_1_long")
    project.add("a.json.bak")
    for name, found in [
        ("ses_1", "ses_1"),
        ("ses_1_", "ses_1_long"),
        (".replio/sessions/ses_1_long.json", "ses_1_long"),
        (str(path), "ses_1_long"),
        ("../project/.replio/sessions/ses_1.json", "ses_1"),
        ("a.json", "a.json.bak"),
    ]:
        assert project.said("preview", name).split()[0] == found, name
    in_folder = project.home.run("replio", "preview", "ses_1.json", cwd=project.sessions)
    assert in_folder.stdout.split()[0] == "ses_1"


def test_a_start_of_several_names_is_none(project: Project) -> None:
    paths = [project.add(f"ses_{number}") for number in range(3)]
    for action in ("preview", "context", "export", "delete", "check"):
        done = project.run(action, "ses_")
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.splitlines() == [
            "sessiontree: 'ses_' is the start of 3 sessions' names",
            *(f"  {path}" for path in paths),
        ]
    assert all(path.exists() for path in paths)


@pytest.mark.parametrize("action", ["preview", "context", "export", "delete", "check"])
def test_a_session_that_is_not_there_is_told_in_replios_words(project: Project, action: str) -> None:
    project.add("ses_1")
    done = project.run(action, "missing")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "sessiontree: Session not found: missing\n")
    done = project.run(action, "se\x1bs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.isprintable() != done.stderr.endswith("\n")


@pytest.mark.parametrize("action", ["preview", "context", "export", "delete", "check"])
@pytest.mark.parametrize("name", ["", ".", "..", "../outside", "/etc/passwd", "a\\b", ".hidden", "x" * 252])
def test_a_name_that_leads_elsewhere_is_refused(project: Project, action: str, name: str) -> None:
    outside = project.folder / ".replio/outside.json"
    project.add("ses_1")
    outside.write_text('{"messages": []}')
    done = project.run(action, name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sessiontree: ")
    assert outside.exists()


def test_names_that_begin_with_a_dash(project: Project) -> None:
    project.add("-C")
    assert project.said("preview", "--", "-C").startswith("  -C - 0 messages\n")
    assert project.said("preview", "--json", "--", "-C").startswith('{"name":"-C",')


# Previews


def test_a_preview_is_replios(project: Project) -> None:
    project.add("ses_tank", *CALLS, parent_id="lead", sub_sessions=["sub_a", "sub_b"])
    assert project.said("preview", "ses_tank").splitlines() == [
        "  ses_tank - 6 messages",
        f"    created {TIME} · updated {TIME}",
        "    roles: system 1 · user 1 · assistant 2 · tool 1 · command 1",
        "    tools: read_file",
        "    parent: lead",
        "    sub-sessions: sub_a, sub_b",
    ]
    project.add("empty")
    assert project.said("preview", "empty").splitlines()[-1] == "    roles: "


def test_json_of_a_preview(project: Project) -> None:
    project.add("ses_tank", *CALLS)
    told = {
        "name": "ses_tank",
        "created_at": TIME,
        "updated_at": TIME,
        "message_count": 6,
        "roles": {"system": 1, "user": 1, "assistant": 2, "tool": 1, "command": 1},
        "tools": ["read_file"],
        "parent_id": "",
        "sub_sessions": [],
    }
    for form in ("--json", "--jsonl"):
        assert json.loads(project.said("preview", "ses_tank", form)) == told


# Contexts

SUMMED_UP = [
    *CALLS,
    message("command", "/compact", result="The tank is 4 m deep.", compact_from=4),
    message("user", "And the other?"),
    message("assistant", "Wait", tool_calls=[call("c2", "grep", "{}")]),
]


def test_a_context_is_a_transcript_below_its_size(project: Project) -> None:
    path = project.add("ses_tank", *CALLS)
    assert project.said("context", "ses_tank").splitlines() == [
        "ses_tank",
        "~/project, 5 messages, 48 characters, about 12 tokens, 2031-03-04 05:06",
        str(path),
        "",
        "system",
        "  Be brief.",
        "",
        "user",
        "  How deep is the tank?",
        "",
        "assistant",
        "  thinking: The sheet knows.",
        "  → read_file  tank.txt",
        "",
        "result of read_file",
        "  4 m",
        "",
        "assistant  toy-1b",
        "  It is 4 m deep.",
    ]


def test_json_of_a_context_is_what_the_api_gives(project: Project) -> None:
    project.add("ses_tank", *SUMMED_UP)
    session = ReplioStore(project.folder).read("ses_tank")
    for options, keywords in [
        ((), {}),
        (("--drop-unanswered",), {"drop_unanswered": True}),
        (("--strip",), {"strip": True}),
        (("--keep-system",), {"keep_system": True}),
    ]:
        messages = session.provider_messages(**keywords)
        document = json.loads(project.said("context", "ses_tank", "--json", *options))
        characters = sum(len(message["content"] or "") for message in messages)
        assert document == {
            "name": "ses_tank",
            "characters": characters,
            "tokens": characters // 4,
            "messages": messages,
        }
        assert project.rows("context", "ses_tank", *options) == messages


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "0 characters, about 1 token"),
        (None, "0 characters, about 1 token"),
        ("é", "1 character, about 1 token"),
        ("\U0001f680" * 999, "999 characters, about 249 tokens"),
        ("x" * 1_000, "1.0k characters, about 250 tokens"),
        ("x" * 999_950, "1000.0k characters, about 249,987 tokens"),
        ("x" * 1_250_000, "1.2M characters, about 312,500 tokens"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, 5, {"type": "text", "text": "two"}], "6 characters, "),
        ({"odd": True}, "0 characters, "),
    ],
    ids=["empty", "null", "one", "999", "1000", "999950", "million", "blocks", "odd"],
)
def test_the_size_of_a_context(project: Project, content: object, told: str) -> None:
    project.add("s", message("user", content))
    assert f"1 message, {told}" in project.said("context", "s").splitlines()[1]


def test_all_of_a_context_is_shown_when_asked_for(project: Project) -> None:
    calls = [
        call("1", "grep", '{"pattern": "a", "flags": {"i": true}}'),
        call("2", "odd", "no JSON"),
        {"id": "3"},
        {"function": None},
        7,
    ]
    project.add(
        "s",
        message("tool", "\n".join(map(str, range(20))), tool_call_id="1"),
        message("assistant", [{"type": "text", "text": "Look:"}], tool_calls=calls),
        message("tool", "\n".join(map(str, range(20))), tool_call_id="1"),
        message("tool", {"found": [1]}, tool_call_id="2", tool="odd"),
        message("assistant", 5, thinking=["odd"]),
        message("narrator", "Meanwhile"),
        {},
    )
    short, full = project.said("context", "s").splitlines(), project.said("context", "s", "--full").splitlines()
    assert short[4:11] == [
        "assistant",
        "  Look:",
        "  → grep  pattern: a, flags: {…}",
        "  → odd  no JSON",
        *["  → a tool"] * 2,
        "",
    ]
    assert "  … 10 more lines" in short
    assert "  19" in full
    assert full[full.index("  → grep") :][:3] == ["  → grep", "    pattern: a", '    flags: {"i":true}']
    for lines in (short, full):
        assert lines[-8:] == [
            *("result of odd", "", "assistant"),
            *("", "narrator", "  Meanwhile"),
            *("", "message without a role"),
        ]


def test_numbers_come_out_as_they_are(project: Project) -> None:
    project.put("s", b'{"messages": [{"role": "user", "content": "x", "n": [8.0, 123456789012345678901234567890]}]}')
    assert '"n":[8.0,123456789012345678901234567890]' in project.said("context", "s", "--jsonl")


def test_a_log_of_turns_is_read_like_the_others(project: Project) -> None:
    part = {"type": "user", "text": "Hello", "timestamp": TIME}
    project.put("t", json.dumps({"session_name": "t", "turns": [{"index": 1, "parts": [part]}]}).encode())
    assert project.said("context", "t").splitlines()[-2:] == ["user", "  Hello"]
    assert project.said("preview", "t").startswith("  t - 1 messages\n")
    assert project.said("check") == ""


# What is wrong


def test_damage_and_links_that_lead_nowhere_are_told(project: Project) -> None:
    cut = project.put("cut", CUT)
    odd = project.add("odd", 5, message("user", "x"), parent_id="gone", sub_sessions=["cut", "lost"])
    project.add("sound")
    done = project.run("check")
    assert (done.returncode, done.stderr) == (4, "")
    told = [line.partition(": ") for line in done.stdout.splitlines()]
    assert [place for place, _, _ in told] == [f"{cut}:3", f"{odd}:6", str(odd), str(odd)]
    assert [rest.partition(": ")[0] for _, _, rest in told] == ["file", "line", "link", "link"]
    assert told[2][2] == "link: parent_id names 'gone': there is no such session"
    assert told[3][2] == "link: sub_sessions names 'lost': there is no such session"


def test_links_are_no_damage(project: Project) -> None:
    path = project.add("sub_1", parent_id="gone")
    done = project.run("check")
    said = f"{path}: link: parent_id names 'gone': there is no such session\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    project.add("gone")
    assert project.said("check") == ""


def test_named_sessions_are_checked_and_missing_ones_told(project: Project) -> None:
    cut, link = project.put("cut", CUT), project.add("link", parent_id="gone")
    project.add("sound")
    assert project.said("check", "sound") == ""
    assert project.said("check", "link", "sou").startswith(f"{link}: link: ")
    done = project.run("check", "missing", "cut", link)
    assert (done.returncode, done.stderr) == (4, "sessiontree: Session not found: missing\n")
    assert [line.split(": ")[1] for line in done.stdout.splitlines()] == ["file", "link"]
    assert done.stdout.startswith(f"{cut}:3: ")
    done = project.run("check", "missing", "sound")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "sessiontree: Session not found: missing\n")


def test_json_of_reports(project: Project) -> None:
    cut, link = project.put("cut", CUT), project.add("link", parent_id="gone")
    for form in ("--json", "--jsonl"):
        done = project.run("check", form)
        assert done.returncode == 4
        reports: list[dict[str, Any]] = (
            json.loads(done.stdout) if form == "--json" else [json.loads(line) for line in done.stdout.splitlines()]
        )
        assert all(report.pop("reason") for report in reports)
        assert reports == [
            {"kind": "file", "path": str(cut), "line": 3, "offset": 34},
            {
                **{"kind": "link", "path": str(link), "line": None, "offset": None},
                **{"session": "link", "key": "parent_id", "missing": "gone"},
            },
        ]
    assert [project.said("check", "--json", "-C", project.home.folder), project.said("list", "--names")] == [
        "[]\n",
        "cut\nlink\n",
    ]


@pytest.mark.parametrize("action", ["preview", "context", "export"])
def test_a_damaged_session_is_told_and_ends_with_4(project: Project, action: str) -> None:
    cut, odd = project.put("cut", CUT), project.add("odd", 5, message("user", "x"))
    before = cut.read_bytes(), odd.read_bytes()
    done = project.run(action, "cut")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"sessiontree: {cut}:3: ")
    done = project.run(action, "odd")
    assert done.returncode == 4
    assert "odd" in done.stdout
    assert done.stderr == f"sessiontree: {odd}: 1 report of damage (sessiontree check tells where)\n"
    assert (cut.read_bytes(), odd.read_bytes()) == before


# The command itself


def test_alone_it_prints_its_help_and_ends_as_bad_usage(project: Project) -> None:
    for command, names in (((*COMMAND, "replio"), COMMANDS), (COMMAND, ["list", "replio"])):
        done = project.run(command=command)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("usage: sessiontree ")
        assert all(f"\n    {name} " in done.stderr for name in names)
    assert project.said("--help") == project.run().stderr


@pytest.mark.parametrize("action", COMMANDS)
def test_help(project: Project, action: str) -> None:
    assert f"usage: sessiontree replio {action} " in project.said(action, "--help")


@pytest.mark.parametrize(
    "arguments",
    [
        *(("no",), ("list", "x"), ("preview",), ("preview", "a", "b"), ("delete",), ("export",), ("context",)),
        *(("list", "--json", "--jsonl"), ("new", "a", "b"), ("-C", ".", "list"), ("--", "list"), ("list", "--\x1b[2J")),
    ],
    ids=repr,
)
def test_bad_arguments_are_told_and_exit_with_2(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: sessiontree replio ")
    assert "\x1b" not in done.stderr
    assert project.files() == []


def test_it_loads_late_what_is_slow(project: Project) -> None:
    code = (
        "import sys; from sessiontree.cli import main; main(['replio', 'list', '--names'])\n"
        "print({'rich', 'orjson', 'html', 'send2trash', 'sessiontree.cli.replio.context'} & set(sys.modules))"
    )
    assert project.run("-c", code, command=[sys.executable]).stdout == "set()\n"


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no SIGPIPE here")
@pytest.mark.parametrize(
    "arguments",
    [("list",), ("context", "s", "--full"), ("context", "s", "--json"), ("export", "s", "--out", "-")],
    ids=" ".join,
)
def test_quiet_when_nobody_reads_on(project: Project, arguments: tuple[str, ...]) -> None:
    project.add("s", message("user", "line\n" * 200_000))
    for number in range(2_000):
        project.put(f"{number}{'x' * 200}", b"{}")
    command = [*COMMAND, "replio", *arguments]
    with subprocess.Popen(
        command, cwd=project.folder, env=project.home.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert len(process.stdout.read(1)) == 1
        process.stdout.close()
        assert process.wait(timeout=60) == -signal.SIGPIPE
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("size", [10, 1_000_000])
@pytest.mark.parametrize("arguments", [("context", "s", "--jsonl"), ("export", "s", "--out", "-")], ids=" ".join)
def test_a_full_disk_is_told_of_once(project: Project, arguments: tuple[str, ...], size: int) -> None:
    project.add("s", message("user", "x" * size))
    done = project.run("-c", 'exec "$@" >/dev/full', "sh", *COMMAND, "replio", *arguments, command=["sh"])
    assert (done.returncode, done.stderr) == (1, "sessiontree: No space left on device\n")
