"""`sessiontree list`: which sessions, in which order, in which form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_support import COMMAND, SLOW, Home, ago, session
from sessiontree import SessionManager
from sessiontree.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AS_NOBODY = """
import contextlib, os, sys
from as_nobody import drop_rights
from sessiontree.cli import main

closed = sys.argv.pop(1)
with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
    main(sys.argv[1:])  # loads all it needs, which nobody may not be allowed to
drop_rights()
if os.access(closed, os.R_OK):
    sys.exit("permissions do not apply here")
sys.exit(main())
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# The table


def test_a_line_a_session_newest_first(home: Home) -> None:
    app = f"{home.folder}/app"
    home.add("1", session("1", cwd=app, time=ago(days=3), name="Fix the parser", tokens=1_234, cost=0.5))
    home.add(
        "2",
        session(
            "2", cwd="/team/site", time=ago(minutes=5), text="\n" * 5_000 + "Add\n\n  a page", answers=12, tokens=45_678
        ),
    )
    home.add("3", session("3", cwd="", time=ago(days=800), text="", cost=0.001))
    home.add("4", session("4", cwd="/team/site", time=ago(days=65)) + b"{")
    done = home.given(COLUMNS="60").run("list", "--all")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "AGE  PROJECT     SESSION         MSGS  TOKENS    COST",
        " 5m  /team/site  Add a page        13   45.7k",
        " 3d  ~/app       Fix the parser     2   1.23k   $0.50",
        "2mo  /team/site  ! Hello            2",
        " 2y              (no messages)      2          <$0.01",
    ]


def test_a_home_is_a_tilde(home: Home) -> None:
    for number, cwd in enumerate(["/team/si", "/team/si/te", "/team/site", "/team"]):
        home.add(str(number), session(cwd=cwd, time=ago(days=number + 1)))
    done = home.given(HOME="/team/si").run("list", "--all", "--agent-dir", home.agent)
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == ["~", "~/te", "/team/site", "/team"]


def test_a_narrow_table_leaves_columns_out_before_it_cuts_what_a_session_is_about(home: Home) -> None:
    text = "Rename the configuration loader"
    home.add("1", session(cwd="/team/long-names/app", time=ago(days=3), text=text, tokens=950, cost=0.5))
    for columns, row in [
        ("200", " 3d  /team/long-names/app  Rename the configuration loader     2     950  $0.50"),
        ("80", " 3d  /team/long-names/app  Rename the configuration loader     2     950  $0.50"),
        ("60", " 3d  …long-names/app  Rename the confi…     2     950  $0.50"),
        ("48", " 3d  …g-names/app  Rename the con…     2     950"),
        ("40", " 3d  …names/app  Rename the confi…     2"),
        ("32", " 3d  …mes/app  Rename the confi…"),
        ("20", " 3d  Rename the con…"),
        ("10", "Rename th…"),
    ]:
        done = home.given(COLUMNS=columns).run("list", "--all")
        assert done.stdout.splitlines()[1] == row


def test_numbers_of_any_size_take_little_room(home: Home) -> None:
    sizes = [0.4, 999.4, 999.5, 9_994, 9_995, 99_949, 99_950, 99_999.5, 999_499, 999_500, 1.5e18, 1e300]
    for number, size in enumerate(sizes):
        home.add(str(number), session(str(number), time=ago(days=number + 1), tokens=size, cost=size))
    lines = home.given(COLUMNS="100").run("list", "--all").stdout.splitlines()[1:]
    assert [line.split()[-2:] for line in lines] == [
        ["0", "$0.40"],
        ["999", "$999.40"],
        ["1.00k", "$999.50"],
        ["9.99k", "$9,994.00"],
        ["10.0k", "$9,995.00"],
        ["99.9k", "$99,949.00"],
        ["100k", "$99,950.00"],
        ["100k", "$100k"],
        ["999k", "$999k"],
        ["1.00M", "$1.00M"],
        ["1.50E", "$1.50E"],
        ["1e+300", "$1e+300"],
    ]


def test_ascii_output_stays_within_its_width(home: Home) -> None:
    home.add("1", session(cwd="/été/" + "x" * 50, text="日本 " * 20))
    lines = home.given(COLUMNS="60", PYTHONIOENCODING="ascii").run("list", "--all").stdout.splitlines()
    assert lines[1].split()[1:3] == ["~" + "x" * 14, r"\u65e5\u672c"]
    assert all(line.isascii() and len(line) <= 60 for line in lines)


def test_no_output_is_styled_but_a_terminals(home: Home) -> None:
    home.add("1", session())
    assert "\x1b" not in home.given(FORCE_COLOR="1").run("list", "--all").stdout


# Which sessions


@pytest.fixture
def projects(home: Home) -> Home:
    """Two projects that share a folder, and one of its own."""
    home.add("1", session("app", cwd="/a/b", time=ago(days=1)), cwd="/a/b")
    home.add("2", session("alike", cwd="/a-b", time=ago(days=2)), cwd="/a-b")
    home.add("3", session("site", cwd="/site", time=ago(days=3)), cwd="/site")
    return home


def test_the_projects_own_sessions_or_all(projects: Home) -> None:
    assert projects.ids("-C", "/a/b") == ["app"]
    assert projects.ids("-C", "/site/sub/..") == ["site"]
    assert projects.ids("-C", "/a/b", "--all") == ["app", "alike", "site"]
    assert projects.ids() == []


def test_the_project_is_this_folder(home: Home) -> None:
    here = home.folder / "project"
    here.mkdir()
    home.add("1", session("here", cwd=str(here)), cwd=str(here))
    done = home.run("list", "--jsonl", cwd=here)
    assert json.loads(done.stdout)["id"] == "here"


def test_homes(home: Home) -> None:
    elsewhere, pi, flat = home.folder / "elsewhere", home.folder / "pi", home.folder / "flat"
    home.add("1", session("elyra"))
    home.add("1", session("elsewhere"), agent=elsewhere)
    home.add("1", session("pi"), agent=home.folder / ".pi/agent")
    home.add("1", session("other pi"), agent=pi)
    flat.mkdir()
    (flat / "1.jsonl").write_bytes(session("flat"))
    (flat / "2.jsonl").write_bytes(session("flat too", cwd="/team/site", time=ago(days=0)))
    named = {"ELYRA_CODING_AGENT_DIR": str(elsewhere)}
    flat_named = {**named, "ELYRA_CODING_AGENT_SESSION_DIR": str(flat)}

    assert home.ids("--all") == ["elyra"]
    assert home.given(**named).ids("--all") == ["elsewhere"]
    assert home.given(**flat_named).ids("--all") == ["flat too", "flat"]
    assert home.given(**flat_named).ids("-C", "/team/app") == ["flat"]
    assert home.given(**flat_named).ids("--all", "--agent-dir", home.agent) == ["elyra"]
    assert home.ids("--all", "--agent-dir", elsewhere, "--session-dir", flat) == ["flat too", "flat"]
    assert home.given(**flat_named).ids("--all", "--pi") == ["pi"]
    assert home.given(PI_CODING_AGENT_DIR=str(pi)).ids("--all", "--pi") == ["other pi"]


def test_since_and_until(home: Home) -> None:
    for day in (28, 29, 30):
        home.add(str(day), session(str(day), time=f"2026-03-{day}T12:00:00.000Z"))
    for hours in (1, 30):
        home.add(f"{hours}h", session(f"{hours}h", time=ago(hours=hours)))
    dated = ["30", "29", "28"]
    assert home.ids("--all", "--since", "2d", "--until", "90m") == ["30h"]
    assert home.ids("--all", "--since", "29h") == ["1h"]
    assert home.ids("--all", "--until", "1w") == dated
    assert home.ids("--all", "--until", "2026-03-29") == ["29", "28"]
    assert home.ids("--all", "--since", "2026-03-29", "--until", "2026-03-29") == ["29"]
    assert home.ids("--all", "--since", "2026-03-29T12:00Z", "--until", "2026-03-30T12:00Z") == ["29"]
    assert home.ids("--all", "--since", "2026-03-29T12:00+01:00", "--until", "2026-03-29T12:01") == ["29"]


def test_dates_are_local_and_may_have_23_hours(home: Home) -> None:
    # in Berlin, 2026-03-29 is from 23:00 to 22:00 UTC
    for time in ("28T22:59", "28T23:00", "29T21:59", "29T22:00"):
        home.add(time[:5], session(time, time=f"2026-03-{time}:00.000Z"))
    berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
    day = ("--since", "2026-03-29", "--until", "2026-03-29")
    assert home.given(TZ=berlin).ids("--all", *day) == ["29T21:59", "28T23:00"]


# The order and the number


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("modified", "abcde"),
        ("created", "eabdc"),
        ("messages", "bacde"),
        ("tokens", "cabde"),
        ("cost", "dabce"),
        ("size", "bcade"),
        ("project", "eabcd"),
        ("name", "caebd"),
    ],
)
def test_sorting_keeps_equal_ones_newest_first(home: Home, key: str, expected: str) -> None:
    time = "2026-01-0%d" + "T10:00:00.000Z"
    home.add("a", session("a", time=time % 5, name="beta"))
    home.add("b", session("b", time=time % 4, text="hello", answers=3))
    home.add("c", session("c", time=time % 3, name="Alpha", tokens=5).replace(b'"timestamp"', b'"_imestamp"', 1))
    home.add("d", session("d", time=time % 2, text="hello", cost=5))
    home.add("e", session("e", time=time % 1, cwd="", text="Gamma").replace(b"-01-01T", b"-02-01T", 1))
    assert home.ids("--all", "--sort", key) == list(expected)


def test_limit(home: Home) -> None:
    for number in range(30):
        home.add(str(number), session(str(number), time=ago(days=number + 1)))
    newest = [str(number) for number in range(30)]
    assert home.ids("--all") == home.ids("--all", "--limit", "0") == newest
    assert home.ids("--all", "--limit", "2") == newest[:2]
    done = home.run("list", "--all", "--limit", "2")
    assert (len(done.stdout.splitlines()), done.stderr) == (3, "")
    assert len(home.run("list", "--all").stdout.splitlines()) == 31


# JSON


def test_json_is_what_the_api_gives(home: Home) -> None:
    home.add("1", session("1", name="Grüße", tokens=5, cost=0.25))
    home.add("2", session("2", cwd="/site", text="\x1b[31m\u202e\U0001f680 \x7f\x9b"))
    expected = [info.to_dict() for info in SessionManager.list_all(agent_dir=home.agent)]
    assert len(expected) == 2
    for variables in ({}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}):
        assert home.given(**variables).rows("list", "--all") == expected
        assert json.loads(home.given(**variables).run("list", "--all", "--json").stdout) == expected


def test_json_of_nothing(home: Home) -> None:
    assert json.loads(home.run("list", "--json").stdout) == []
    assert home.run("list", "--jsonl").stdout == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems want UTF-8")
def test_a_path_that_is_not_utf8_survives_json(home: Home) -> None:
    path = home.add(os.fsdecode(b"caf\xe9"), session())
    assert [row["path"] for row in home.rows("list", "--all")] == [str(path)]


# Nothing to list


def test_no_sessions_are_no_failure_and_no_talk_in_a_pipe(home: Home) -> None:
    for arguments in ((), ("--all",), ("-C", "/nowhere"), ("--session-dir", "/nowhere"), ("--agent-dir", "/nowhere")):
        done = home.run("list", *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("arguments", [("list",), ("list", "--all", "--json"), ("check",)])
def test_everyone_is_told_when_only_pis_home_exists(home: Home, arguments: tuple[str, ...]) -> None:
    home.add("1", session(), agent=home.folder / ".pi/agent")
    done = home.run(*arguments)
    said = f"sessiontree: {home.agent} has no sessions; pi's are in {home.folder}/.pi/agent: add --pi\n"
    assert (done.returncode, done.stderr) == (0, said)
    for more in (("--pi",), ("--agent-dir", "/nowhere"), ("--session-dir", "/nowhere")):
        assert home.run(*arguments, *more).stderr == ""
    home.add("1", session())
    assert home.run(*arguments).stderr == ""


# Usage


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nothing",),
        ("list", "--limit", "-1"),
        ("list", "--limit", "many"),
        ("list", "--sort", "colour"),
        ("list", "--since", "yesterday"),
        ("list", "--since", "2026-02-30"),
        ("list", "--until", "5x"),
        ("list", "--until", "9999999999999y"),
        ("list", "--json", "--jsonl"),
        ("list", "--pi", "--agent-dir", "/a"),
        ("list", "--lim", "5"),
        ("list", "file"),
        ("demo", "--sessions", "0"),
        ("demo", "--agent-dir", "/a"),
        ("check", "--all"),
    ],
)
def test_bad_arguments_are_told_and_exit_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert "sessiontree" in said.err
    assert "function" not in said.err
    assert "_" not in said.err, "a name of ours"


def test_an_empty_folder_name_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-C", ""]) == 2
    assert capsys.readouterr().err == "sessiontree: cwd is empty: expected a folder\n"


def test_the_version_goes_to_standard_output(home: Home) -> None:
    done = home.run("--version")
    assert done.stdout.startswith("sessiontree ")
    assert (done.returncode, done.stderr) == (0, "")


# Output that goes nowhere, and the end before the end


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no SIGPIPE here")
def test_quiet_when_nobody_reads_on(home: Home) -> None:
    home.add("1", session(text="x" * 1_000_000))
    command = [*COMMAND, "list", "--all", "--json"]
    with subprocess.Popen(command, env=home.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10) == b'[{"path":"'
        process.stdout.close()
        assert process.wait(timeout=60) == -signal.SIGPIPE
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize(("count", "size"), [(1, 10), (1, 1_000_000), (300, 100)])
def test_a_full_disk_is_told_of_once(home: Home, count: int, size: int) -> None:
    for number in range(count):
        home.add(str(number), session(text="x" * size))
    done = home.run("-c", 'exec "$@" >/dev/full', "sh", *COMMAND, "list", "--all", "--jsonl", command=["sh"])
    assert (done.returncode, done.stderr) == (1, "sessiontree: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell's words")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_may_be_closed(home: Home, closed: str) -> None:
    home.add("1", session())
    done = home.run("-c", f'exec "$@" {closed}', "sh", *COMMAND, "list", "--all", command=["sh"])
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == (2 if closed == "2>&-" else 0)
    done = home.run("-c", f'exec "$@" {closed}', "sh", *COMMAND, "check", "nothing", command=["sh"])
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_it_without_a_word(home: Home) -> None:
    command = [sys.executable, "-c", SLOW.replace("time.sleep(1)", "print(flush=True); time.sleep(60)"), "list"]
    with subprocess.Popen(command, env=home.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")


# What may not be read


@pytest.fixture
def open_home() -> Iterator[Home]:
    """A home that every user may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Home(Path(name))


@pytest.fixture
def run_as_nobody(open_home: Home) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a user who may not read the path that comes first."""
    tests = str(Path(__file__).parent)
    return lambda *arguments: open_home.given(PYTHONPATH=tests).run(
        *arguments, command=[sys.executable, "-c", AS_NOBODY]
    )


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_may_not_be_read_is_told(
    open_home: Home, run_as_nobody: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    good = open_home.add("good", session("good"))
    closed = open_home.add("closed", session("closed"))
    closed.chmod(0)
    listed = run_as_nobody(closed, "list", "--all", "--jsonl")
    assert json.loads(listed.stdout)["id"] == "good"
    assert listed.returncode == 0
    assert "could not be read" in listed.stderr
    checked = run_as_nobody(closed, "check", good, closed)
    assert (checked.returncode, checked.stdout) == (4, f"{closed}: file: Permission denied\n")

    good.parent.chmod(0)
    checked = run_as_nobody(good.parent, "check", good)
    assert (checked.returncode, checked.stderr) == (3, f"sessiontree: {good}: Permission denied\n")
    closed.parent.parent.chmod(0)
    for command in ("list", "check"):
        done = run_as_nobody(closed.parent.parent, command, *["--all"][: command == "list"])
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"sessiontree: {closed.parent.parent}: Permission denied\n"
