"""The command `sessiontree`: one file a command, loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Never

from ..elyra.paths import pi_agent_dir
from ..errors import AmbiguousSessionError, EntryNotFoundError, FormatError, SessionError, SessionNotFoundError
from ._text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType

DONE, FAILED, USAGE, NO_SUCH_SESSION, DAMAGED = 0, 1, 2, 3, 4
"""Exit codes."""

_INTERRUPTED = 130

_COMMANDS = {
    "list": "list sessions, newest first",
    "show": "show a session as a transcript",
    "tree": "draw a session's branches",
    "context": "print the messages that a model is sent",
    "fork": "copy a session into a project",
    "branch": "copy one branch of a session into a new one",
    "name": "tell or set a session's name",
    "label": "tell or set an entry's label",
    "delete": "delete sessions",
    "check": "tell what is damaged in sessions",
    "run": "show a running agent, and what its run comes to",
    "replio": "list, read, begin, export and check the sessions of a Replio project",
    "demo": "write a sample store, and list it",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code.

    Args:
        argv: The arguments without the program's name; None means `sys.argv`'s, and that the process is all the
            command's own.
    """
    if argv is None:
        _prepare_process()
        argv = sys.argv[1:]
    code = _run(argv)
    try:
        sys.stdout.flush()
    except OSError as error:  # a full disk, say; Python would try again at exit, and complain at length
        with suppress(OSError):
            sys.stdout.close()
        return fail(error, FAILED)
    return code


def fail(error: Exception, code: int) -> int:
    """Tell of an error; returns the exit code given."""
    said = [error.filename, error.strerror] if isinstance(error, OSError) else []
    print(f"sessiontree: {visible(': '.join(str(word) for word in said if word) or str(error))}", file=sys.stderr)
    return code


def _run(argv: Sequence[str]) -> int:
    try:
        arguments = _parse(argv)
        if getattr(arguments, "pi", False):
            arguments.agent_dir = pi_agent_dir()
        return _run_command(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except FormatError as error:
        return fail(error, DAMAGED)
    except ValueError as error:
        return fail(error, USAGE)
    except (OSError, SessionError, RuntimeError) as error:  # the last from the core, without threads, and for no home
        return fail(error, FAILED)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    """What was given: of a command, options may stand anywhere between its other arguments.

    After the first `--` there are none; where a command runs a program, all that stands there is that.
    """
    parser = _Parser(
        prog="sessiontree",
        description="Sessions of coding agents: list, read, change and check them.",
        epilog="Exit codes: 0 done, 1 failed, 2 bad usage, 3 no such session or entry, 4 damaged input.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="tell the version, and end")
    command, own = _command(parser, __name__, _COMMANDS, argv)
    if "--" not in own:
        return command.parse_intermixed_args(own)
    if command.get_default("program") is None:
        return command.parse_args(own)  # the other would take what stands behind it for options
    place = own.index("--")
    if not own[place + 1 :]:
        command.error("expected a COMMAND after --")
    arguments = command.parse_intermixed_args(own[:place])
    arguments.program = own[place + 1 :]
    return arguments


def _run_command(arguments: argparse.Namespace) -> int:
    try:
        code: int = arguments.run(arguments)
    except (SessionNotFoundError, AmbiguousSessionError, EntryNotFoundError) as error:
        from ._find import explain_not_found

        code = fail(error, NO_SUCH_SESSION)
        explain_not_found(error, arguments)
    return code


def _prepare_process() -> None:
    logging.basicConfig(format="sessiontree: %(message)s")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the caller closed it, as with `2>&-`
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  open as long as the process lives
        getattr(sys, name).reconfigure(errors="backslashreplace")
    if hasattr(signal, "SIGPIPE"):  # `sessiontree list | head` ends as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for ends in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, ends, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> Never:
    """End by a signal as by an error, so that nothing stays on the screen, and the cursor comes back."""
    sys.exit(128 + number)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong without sending the terminal what it was sent."""

    def error(self, message: str) -> Never:
        super().error(visible(message))


def _command(
    parser: argparse.ArgumentParser, package: str, commands: Mapping[str, str], argv: Sequence[str]
) -> tuple[argparse.ArgumentParser, Sequence[str]]:
    """The parser of the command that is called, which alone is loaded, and the arguments that are its own.

    Args:
        parser: What all commands of the package are added to.
        package: Where their modules are; one that has `COMMANDS` of its own is a package itself.
        commands: Each command's name, and what it does.
        argv: The arguments from the command's name on.
    """
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    known = {
        name: subparsers.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", allow_abbrev=False)
        for name, about in commands.items()
    }
    if not argv:
        parser.print_help(sys.stderr)
        parser.exit(USAGE)
    name, *own = argv
    if name not in known:
        parser.parse_args(argv)  # ends it, if the name is wrong, or is an option such as --help
        parser.error("expected a COMMAND first")
    module = importlib.import_module(f".{name}", package)
    if hasattr(module, "COMMANDS"):
        return _command(known[name], module.__name__, module.COMMANDS, own)
    module.add_arguments(known[name])
    return known[name], own


class _Version(argparse.Action):
    """Looks the version up only when asked: importlib.metadata is slow to load."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"sessiontree {version('sessiontree')}")
        parser.exit()
