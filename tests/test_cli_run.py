"""`sessiontree run`: a stream or a program, what is told of it, and that nothing is left running."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli_support import COMMAND, Home, dangerous
from event_support import HEADER, VECTORS, answer, attempt, lines, stream, stream_file, user
from sessiontree import SessionManager
from sessiontree.events import read_run

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN = [HEADER, *attempt(user(), answer("Done\nand dusted"))]
OF_THE_VIEW = re.compile(r"\x1b\[(\?25[hl]|\d+A|2K)|[\r\n]")
"""What moves the cursor about, hides it, and clears lines."""

HOSTILE = "\x1b[31mred\x1b]0;title\x07 \x9b31m\x00\u202eevil\u2028x\ud83d"

TALK = """
import json, os, signal, sys, time

def say(*events):
    for event in events:
        sys.stdout.write(json.dumps(event) + "\\n")
        sys.stdout.flush()

RUN = json.loads(%r)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stream.jsonl"
    path.write_bytes(lines(RUN))
    return path


def agent(script: str) -> tuple[str, ...]:
    """A program that talks as an agent does."""
    return ("--", sys.executable, "-c", TALK % json.dumps(RUN) + script)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not status.exists() or "\nState:\tZ" not in status.read_text(encoding="utf-8")


def gone(pid: int) -> bool:
    """Whether a process ends within a moment."""
    for _ in range(100):
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


# A stream


def test_the_answer_comes_out(home: Home, file: Path) -> None:
    done = home.run("run", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done\nand dusted\n", "")
    for arguments in ((), ("-",)):
        piped = subprocess.run(
            [*COMMAND, "run", *arguments], input=file.read_bytes(), capture_output=True, check=True, timeout=60
        )
        assert piped.stdout.decode() == done.stdout


@pytest.mark.parametrize("folder", VECTORS, ids=lambda folder: folder.name)
def test_real_streams(home: Home, folder: Path, tmp_path: Path) -> None:
    right = read_run(stream(folder))
    done = home.run("run", stream_file(folder, tmp_path), "--json")
    assert json.loads(done.stdout) == {**json.loads(json.dumps(right.to_dict())), "session_file": None}
    assert done.returncode == (0 if right.status == "ok" else 1)


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([], "incomplete: the stream ended before the run did"),
        ([HEADER, {"type": "agent_start"}], "incomplete: the stream ended before the run did"),
        (attempt(user(), answer("Half", "error", errorMessage="503")), "error: 503"),
        (attempt(user(), answer("Half", "aborted")), "aborted: the stream does not say why"),
    ],
)
def test_a_run_that_failed(home: Home, file: Path, events: list[Any], told: str) -> None:
    file.write_bytes(lines(events))
    done = home.run("run", file)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"sessiontree: {told}\n")


def test_damage_is_told(home: Home, file: Path) -> None:
    file.write_bytes(lines(RUN) + b"odd\n\x1b[31m\n")
    done = home.run("run", file)
    assert (done.returncode, done.stdout) == (0, "Done\nand dusted\n")
    assert done.stderr.startswith(f"sessiontree: 2 damaged lines, the first of them {file}:9: expected an object")
    piped = subprocess.run([*COMMAND, "run"], input=file.read_bytes(), capture_output=True, check=True, timeout=60)
    assert b"the first of them -:9: expected an object" in piped.stderr


def test_without_standard_input(home: Home) -> None:
    closed = ("/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND)
    for arguments in ((), ("-",)):
        done = home.run("run", *arguments, command=closed)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("sessiontree: nothing to read: ")
    script = "RUN[-1]['messages'][-1]['content'][0]['text'] = repr(sys.stdin.read()); say(*RUN)"
    assert home.run("run", *agent(script), command=closed).stdout == "''\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["/no/such/file"], 1),
        (["--"], 2),
        (["file", "--", "true"], 2),
        (["--save", "x", "--save-session"], 2),
        (["--unknown"], 2),
        (["-C", "/no/such/folder", "--", "true"], 1),
    ],
)
def test_bad_usage(home: Home, arguments: list[str], code: int) -> None:
    done = home.run("run", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert done.stderr


# Keeping it


def test_a_run_is_kept_as_a_session(home: Home, file: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    done = home.run("run", file, "--save", path, "--json")
    assert json.loads(done.stdout)["session_file"] == str(path)
    with SessionManager.open(path, strict=True) as manager:
        assert [entry.raw["message"]["role"] for entry in manager.get_branch()] == ["user", "assistant"]
        assert manager.get_header().cwd == "/team/app"
    kept = path.read_bytes()
    again = home.run("run", file, "--save", path)
    assert (again.returncode, again.stdout) == (1, "")
    assert path.read_bytes() == kept

    done = home.run("run", file, "--save-session", "--json")
    assert home.ids("-C", "/team/app") == [
        SessionManager.open(json.loads(done.stdout)["session_file"]).get_session_id()
    ]
    assert home.run("run", file, "--save-session", "--session-dir", tmp_path / "flat").returncode == 0
    assert len(list((tmp_path / "flat").iterdir())) == 1


def test_nothing_is_kept_of_nothing(home: Home, file: Path, tmp_path: Path) -> None:
    file.write_bytes(lines([HEADER, {"type": "thinking_level_changed", "level": "high"}]))
    done = home.run("run", file, "--save", tmp_path / "kept.jsonl", "--json")
    assert json.loads(done.stdout)["session_file"] is None
    assert not (tmp_path / "kept.jsonl").exists()


def test_a_run_that_cannot_be_kept_goes_on(home: Home) -> None:
    done = home.run("run", "--save", "/proc/nowhere/kept.jsonl", *agent("say(*RUN)"))
    assert (done.returncode, done.stdout) == (1, "Done\nand dusted\n")
    assert done.stderr.startswith("sessiontree: /proc/nowhere")


@pytest.mark.parametrize("cwd", [7, "", "relative", "/with\0nul", None])
def test_a_header_whose_folder_is_none(home: Home, file: Path, cwd: object) -> None:
    file.write_bytes(lines([{**HEADER, "cwd": cwd}, *RUN[1:]]))
    done = home.run("run", file, "--save-session", "--json", "-C", "/team/other")
    with SessionManager.open(json.loads(done.stdout)["session_file"], read_only=True) as manager:
        assert manager.get_header().cwd == "/team/other"


def test_nobody_need_read_what_a_program_says(home: Home) -> None:
    script = "[print('x' * 100_000, file=sys.stderr, flush=True) for _ in range(10)]; say(*RUN)"
    ours = subprocess.Popen(
        [*COMMAND, "run", *agent(script)], env=home.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert ours.stderr is not None
    ours.stderr.close()
    assert ours.stdout is not None
    with ours.stdout:
        assert ours.stdout.read() == b"Done\nand dusted\n"
    assert ours.wait(timeout=60) == 0


# A program


def test_a_program_is_read(home: Home) -> None:
    done = home.run("run", "--json", *agent("say(*RUN); print('a warning', file=sys.stderr)"))
    assert (done.returncode, done.stderr) == (0, "a warning\n")
    run = json.loads(done.stdout)
    assert (run["status"], run["exit_code"], run["stderr"]) == ("ok", 0, "a warning\n")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("say(*RUN)", 0),
        ("say(*RUN); sys.exit(7)", 7),
        ("say(*RUN); os.kill(os.getpid(), signal.SIGKILL)", 137),
        ("say(*RUN[:-1]); os.kill(os.getpid(), signal.SIGSEGV)", 1),
        ("sys.exit(3)", 1),
        ("say(*RUN); os.close(1); time.sleep(0.3); sys.exit(5)", 5),
    ],
)
def test_the_exit_code(home: Home, script: str, code: int) -> None:
    assert home.run("run", *agent(script)).returncode == code


def test_a_program_that_cannot_start(home: Home, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program", encoding="utf-8")
    for program, code in (("no-such-program", 127), (str(tmp_path), 126), (str(plain), 126), (f"{plain}/x", 126)):
        done = home.run("run", "--", program)
        assert (done.returncode, done.stdout) == (code, ""), program
        assert done.stderr.startswith("sessiontree: ")


def test_options_after_the_dashes_are_the_programs_own(home: Home, tmp_path: Path) -> None:
    script = "say(*RUN); print(sys.argv[1:], os.getcwd(), file=sys.stderr)"
    done = home.run("run", "-C", tmp_path, *agent(script), "--json", "--", "-C", "x")
    assert done.stdout == "Done\nand dusted\n"
    assert done.stderr == f"['--json', '--', '-C', 'x'] {tmp_path}\n"


def test_a_flood_on_standard_error_holds_nothing_up(home: Home) -> None:
    script = "say(*RUN[:-1]); sys.stderr.write('x' * 3_000_000 + 'end'); sys.stderr.flush(); say(RUN[-1])"
    done = home.run("run", "--json", *agent(script))
    assert done.returncode == 0
    assert len(done.stderr) == 3_000_003
    kept = json.loads(done.stdout)["stderr"]
    assert (len(kept), kept[-4:]) == (65_536, "xend")


def test_standard_input_is_the_programs(home: Home) -> None:
    script = "RUN[-1]['messages'][-1]['content'][0]['text'] = sys.stdin.read(); say(*RUN)"
    done = subprocess.run(
        [*COMMAND, "run", *agent(script)], input=b"a prompt", capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"a prompt\n"


# Nothing is left running

TALKS_ON = """
import os, sys, time
if {is_elsewhere}:
    os.setsid()
open({pid!r}, "w").write(str(os.getpid()))
while True:
    print('{{"type":"x"}}', flush=True)
    time.sleep({pause})
"""


@pytest.mark.parametrize("pause", [0.01, 0])
@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_what_a_program_leaves_may_talk_on(home: Home, tmp_path: Path, is_elsewhere: bool, pause: float) -> None:
    pid = tmp_path / "pid"
    child = TALKS_ON.format(is_elsewhere=is_elsewhere, pid=str(pid), pause=pause)
    script = f"import subprocess; subprocess.Popen([sys.executable, '-c', {child!r}]); say(*RUN); time.sleep(1)"
    start = time.monotonic()
    done = home.run("run", *agent(script))
    assert (done.returncode, done.stdout) == (0, "Done\nand dusted\n")
    assert time.monotonic() - start < 20
    assert gone(int(pid.read_text(encoding="utf-8")))  # also of one elsewhere, which can say nothing any more


def test_what_a_program_leaves_is_ended(home: Home, tmp_path: Path) -> None:
    leave = "import subprocess; child = subprocess.Popen(['sleep', '1000'])"
    script = f"{leave}; open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid)); say(*RUN)"
    start = time.monotonic()
    assert home.run("run", *agent(script)).returncode == 0
    assert time.monotonic() - start < 20
    assert gone(int((tmp_path / "pid").read_text(encoding="utf-8")))


def test_a_program_that_hangs_up_and_goes_on_is_ended(home: Home) -> None:
    start = time.monotonic()
    done = home.run("run", *agent("say(*RUN); os.close(1); time.sleep(60)"))
    assert (done.returncode, done.stdout) == (143, "Done\nand dusted\n")
    assert time.monotonic() - start < 20


class Started:
    """The command, with a program that has begun to talk and goes on for a minute."""

    def __init__(self, home: Home, script: str) -> None:
        begin = "say(*RUN[:3]); print(os.getpid(), file=sys.stderr, flush=True); time.sleep(60)"
        command = [*COMMAND, "run", "--json", *agent(f"{script}\n{begin}")]
        # Those that run in the background may be born with interrupts ignored.
        wake = (
            "import signal, sys, os; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", wake, *command],
            env=home.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        self.child = int(self.process.stderr.readline())

    def end(self) -> tuple[int, dict[str, Any]]:
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, json.loads(out)


ABORT = """
def abort(*_):
    message = {"role": "assistant", "content": [], "stopReason": "aborted", "errorMessage": "interrupted"}
    say({"type": "agent_end", "messages": [message]})
    sys.exit(9)

signal.signal(signal.SIGINT, abort)
"""


@pytest.fixture
def started() -> Iterator[list[Started]]:
    all_of_them: list[Started] = []
    yield all_of_them
    for one in all_of_them:
        one.process.kill()
        one.process.communicate()


def test_an_interrupt_reaches_the_program_which_may_finish(home: Home, started: list[Started]) -> None:
    started.append(Started(home, ABORT))
    started[0].process.send_signal(signal.SIGINT)
    code, run = started[0].end()
    assert (code, run["status"], run["error_message"], run["exit_code"]) == (1, "aborted", "interrupted", 9)
    assert gone(started[0].child)


def test_a_program_that_ignores_interrupts_is_ended_by_more_of_them(home: Home, started: list[Started]) -> None:
    started.append(Started(home, "signal.signal(signal.SIGINT, signal.SIG_IGN)"))
    started[0].process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert is_running(started[0].child)
    started[0].process.send_signal(signal.SIGINT)
    code, run = started[0].end()
    assert (code, run["status"], run["exit_code"]) == (1, "incomplete", 143)


def test_a_program_that_ignores_all_it_can_is_killed(home: Home, started: list[Started]) -> None:
    started.append(Started(home, "signal.signal(signal.SIGTERM, signal.SIG_IGN)"))
    for _ in range(3):
        assert is_running(started[0].child)
        started[0].process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
    code, run = started[0].end()
    assert (code, run["status"], run["exit_code"]) == (1, "incomplete", 137)


def test_a_program_that_is_stopped_is_told(home: Home, started: list[Started]) -> None:
    started.append(Started(home, ABORT))
    os.kill(started[0].child, signal.SIGSTOP)
    started[0].process.send_signal(signal.SIGINT)
    code, run = started[0].end()
    assert (code, run["status"], run["exit_code"]) == (1, "aborted", 9)


AT_ONCE = """
import os, signal, subprocess, sys
from sessiontree import cli

def start(*arguments, start=subprocess.Popen, **options):
    process = start(*arguments, **options)
    os.kill(os.getpid(), signal.SIGTERM)
    return process

subprocess.Popen = start
sys.exit(cli.main())
"""
"""The command, which is ended as soon as there is a program."""


def test_a_signal_may_come_while_the_program_starts(home: Home) -> None:
    done = home.run("run", "--json", *agent("time.sleep(60)"), command=(sys.executable, "-c", AT_ONCE))
    run = json.loads(done.stdout)
    assert (done.returncode, run["status"], run["exit_code"]) == (1, "incomplete", 143)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_reach_the_program(home: Home, started: list[Started], number: signal.Signals) -> None:
    started.append(Started(home, ""))
    started[0].process.send_signal(number)
    code, run = started[0].end()
    assert (code, run["status"], run["exit_code"]) == (1, "incomplete", 128 + number)
    assert gone(started[0].child)


# On a terminal

LIVE = """
say(*RUN[:5])
text = ""
start = {"role": "assistant", "content": []}
say({"type": "message_start", "message": start})
say({"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "delayMs": 5, "errorMessage": "overl\\x1boaded"})
say({"type": "tool_execution_start", "toolCallId": "c", "toolName": "ba\\x1bsh", "args": {"command": "ls \\x07"}})
for word in ["Once ", "upon ", "a \\x1b[31m ", "time\\n", "\\u202e it was"]:
    say({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": word}})
    time.sleep(0.15)
print("warn\\x1b[31ming", file=sys.stderr, flush=True)
say(*RUN[5:])
"""


def test_a_terminal_shows_the_run_as_it_goes_on(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    shown = home.on_terminal("run", *agent(LIVE))
    assert shown.code == 0
    for seen in (
        "Once upon",
        "retry 1 of 3: overl\\x1boaded",
        "… ba\\x1bsh ls \\x07",
        "warn\\x1b[31ming",
        "running, 1 tool call",
    ):
        assert seen in shown.raw, seen
    screen = [line for line in shown.screen() if line]
    assert screen[0] == "warn\\x1b[31ming"
    assert screen[1:3] == ["Done", "and dusted"]
    assert screen[3].startswith("ok, 1 tool call, 18 tokens, $1.00, ")
    assert len(screen) == 4


def test_a_flood_on_standard_error_is_shown_quickly(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    script = "sys.stderr.write('\\n'.join(map(str, range(20_000))) + '\\n'); say(*RUN)"
    shown = home.on_terminal("run", *agent(script))
    assert "\r\n19999\r\n" in shown.raw
    assert shown.raw.count("\x1b[2K") < 1000, "how often the view was drawn anew"


def test_nothing_dangerous_reaches_a_terminal(home: Home, file: Path) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    failed = attempt(user(HOSTILE), answer(HOSTILE, "error", errorMessage=HOSTILE))
    for events in (attempt(user(HOSTILE), answer(HOSTILE)), failed):
        text = json.dumps(events[0]) + "\n" + "\n".join(json.dumps(event) for event in [HEADER, *events])
        file.write_text(text + f"\n{json.dumps(HOSTILE)}", encoding="utf-8")
        for columns in (2, 20, 80):
            shown = home.on_terminal("run", file, columns=columns, elsewhere="stderr")
            assert dangerous("".join(shown.lines)) == set()
            shown = home.on_terminal("run", file, columns=columns, elsewhere="stdout")
            assert dangerous(OF_THE_VIEW.sub("", shown.raw)) == set()


def test_the_view_fits_any_terminal(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    for columns, rows in ((20, 5), (3, 3), (200, 60)):
        shown = home.on_terminal("run", *agent(LIVE), columns=columns, lines=rows)
        assert (shown.code, "Traceback" in shown.raw) == (0, False)


def test_an_interrupt_at_the_terminal(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    script = f"{ABORT}\n{LIVE.replace('say(*RUN[5:])', 'time.sleep(60)')}"
    shown = home.on_terminal("run", *agent(script), interrupt_at="upon", elsewhere="stdout")
    assert shown.code == 1
    assert "sessiontree: aborted: interrupted" in shown.raw


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_another_program_is_read(home: Home, tmp_path: Path, interrupt: signal.Signals) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = TALK % json.dumps(RUN) + LIVE.replace("say(*RUN[5:])", "time.sleep(60)")
    with subprocess.Popen(["/bin/sh", "-c", 'exec "$0" -c "$1" > "$2"', sys.executable, script, pipe]) as talker:
        shown = home.on_terminal("run", pipe, interrupt_at="upon", interrupt=interrupt)
        talker.kill()
    assert shown.code == 128 + interrupt
    assert shown.raw.count("\x1b[?25h") == shown.raw.count("\x1b[?25l") == 1, "the cursor is shown again"
    assert [line for line in shown.screen() if line] == []


def test_without_a_view(home: Home) -> None:
    pytest.importorskip("pty", reason="no pseudo-terminals here")
    shown = home.given(TERM="dumb").on_terminal("run", *agent(LIVE))
    assert shown.raw.splitlines()[:3] == ["warn\\x1b[31ming", "Done", "and dusted"]
