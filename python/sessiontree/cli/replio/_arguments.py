"""Arguments that several of these commands take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_project_argument(parser: argparse.ArgumentParser) -> None:
    """Add `-C`."""
    about = "the project's folder, or the .replio/sessions in it (this one)"
    parser.add_argument("-C", dest="cwd", metavar="DIR", default=os.curdir, help=about)


def add_name_argument(parser: argparse.ArgumentParser, *, nargs: str | None = None) -> None:
    """Add NAME, and `-C`.

    Args:
        parser: What to add them to.
        nargs: None for one session; `+` or `*` for several, which are then `names`.
    """
    about = "a session: its name, a start of it that no other's has, or its file's path"
    if nargs == "*":
        about += " (all)"
    parser.add_argument("names" if nargs else "name", metavar="NAME", nargs=nargs, help=about)
    add_project_argument(parser)
