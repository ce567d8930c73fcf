"""Output that may be longer than the screen."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from itertools import chain, islice
from typing import TYPE_CHECKING

from ._text import encoding

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator, Iterable


def print_lines(arguments: argparse.Namespace, lines: Iterable[str]) -> None:
    """Print lines as they come; on a terminal in a pager, if they are more than fit.

    Args:
        arguments: Whether a pager is wanted.
        lines: Visible lines, as wide as the terminal at most, or as 20 cells.
    """
    if not arguments.no_pager and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        rest = iter(lines)
        rows = shutil.get_terminal_size().lines  # one of them is the prompt's
        first = list(islice(rest, rows))
        lines = chain(first, rest)
        if len(first) == rows and _is_paged(lines):
            return
    for line in lines:
        print(line)


def _is_paged(lines: Iterable[str]) -> bool:
    """Send the lines to a pager until it ends; False, and nothing is taken, where there is none.

    Raises:
        KeyboardInterrupt: Ctrl-C has ended the pager.
    """
    command = os.environ.get("PAGER", "less -R")
    if not _can_run(command):
        return False
    sys.stdout.flush()
    environment = {"LESS": "R", **os.environ}  # so that `PAGER=less` shows styles, too
    try:
        pager = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, env=environment, encoding=encoding(), errors="backslashreplace"
        )
    except OSError:  # no such program
        return False
    assert pager.stdin is not None
    with _signals_ignored():
        try:
            with suppress(BrokenPipeError), pager.stdin as pipe:  # the reader has seen enough
                pipe.writelines(f"{line}\n" for line in lines)
        finally:
            pager.wait()
    if pager.returncode in (-signal.SIGINT, 128 + signal.SIGINT):  # the shell's way to say the same
        raise KeyboardInterrupt
    return True


def _can_run(command: str) -> bool:
    """Whether there is such a program, as far as that shows; `cat` is not worth it."""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation without its end
        return False
    return bool(words) and words != ["cat"] and shutil.which(words[0]) is not None


@contextmanager
def _signals_ignored() -> Generator[None]:
    """Leave Ctrl-C to the pager, whose the terminal is; and that it ends first is no reason to die."""
    names = [signal.SIGINT, *([signal.SIGPIPE] if hasattr(signal, "SIGPIPE") else [])]
    before = [(name, signal.signal(name, signal.SIG_IGN)) for name in names]
    try:
        yield
    finally:
        for name, handler in before:
            signal.signal(name, handler)
