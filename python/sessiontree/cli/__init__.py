"""The command `sessiontree`: one file a command, loaded when it is called."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

from ..elyra.paths import pi_agent_dir
from ..errors import SessionError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, USAGE, NO_SUCH_SESSION, DAMAGED = 0, 1, 2, 3, 4
"""Exit codes."""

_INTERRUPTED = 130

_COMMANDS = {
    "list": "list sessions, newest first",
    "check": "tell what is damaged in sessions",
    "demo": "write a sample store, and list it",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code.

    Args:
        argv: The arguments without the program's name; None means `sys.argv`'s.
    """
    _prepare_streams()
    argv = sys.argv[1:] if argv is None else argv
    arguments = _parser(argv[:1]).parse_args(argv)
    if arguments.pi:
        arguments.agent_dir = pi_agent_dir()
    try:
        return arguments.run(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except FileNotFoundError as error:
        return _fail(error, NO_SUCH_SESSION)
    except (OSError, SessionError, ValueError) as error:
        return _fail(error, FAILED)


def _prepare_streams() -> None:
    logging.basicConfig(format="sessiontree: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # real streams, both
    if hasattr(signal, "SIGPIPE"):  # `sessiontree list | head` ends as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _parser(wanted: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands; only the wanted one is loaded, and knows its arguments."""
    parser = argparse.ArgumentParser(prog="sessiontree", description="Sessions of coding agents: list and check them.")
    parser.add_argument("--version", action=_Version, nargs=0, help="tell the version, and end")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    where = _where()
    for name, about in _COMMANDS.items():
        command = commands.add_parser(name, help=about, description=f"{about.capitalize()}.", parents=[where])
        if name in wanted:
            importlib.import_module(f".{name}", __name__).add_arguments(command)
    return parser


def _where() -> argparse.ArgumentParser:
    """The options that every command has."""
    where = argparse.ArgumentParser(add_help=False)
    group = where.add_argument_group("where to look")
    group.add_argument("-C", dest="cwd", metavar="DIR", default=os.curdir, help="the project's folder (this one)")
    homes = group.add_mutually_exclusive_group()
    homes.add_argument("--agent-dir", metavar="DIR", help="the agent's folder (~/.elyra/agent)")
    homes.add_argument("--pi", action="store_true", help="look in pi's agent folder (~/.pi/agent)")
    group.add_argument("--session-dir", metavar="DIR", help="a folder that holds session files directly")
    return where


class _Version(argparse.Action):
    """Looks the version up only when asked: importlib.metadata is slow to load."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        parser.exit(message=f"sessiontree {version('sessiontree')}\n")


def _fail(error: Exception, code: int) -> int:
    from ._text import visible

    told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    print(f"sessiontree: {visible(told)}", file=sys.stderr)
    return code
