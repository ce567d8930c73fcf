"""`sessiontree replio new`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import DONE
from .._arguments import add_facts_arguments
from .._output import print_facts
from ._arguments import add_project_argument
from ._find import find, open_store

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `new` takes."""
    parser.set_defaults(run=run)
    parser.description = (
        "Begin a session, without anything in it, and print its name. A file that is there is never written over."
    )
    parser.epilog = (
        "A name that is made up begins with `ses_`, of a job's run with `job_`, and with `sub_` if there is a parent."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="what to call it (a name is made up)")
    parser.add_argument("--job", metavar="JOB", help="make up a name for a run of this job")
    about = "the session that it is begun from: its name, a start of it that no other's has, or its file's path"
    parser.add_argument("--parent", metavar="NAME", help=about)
    add_facts_arguments(parser, "`name`, `path` and `parent_id` of the new session")
    add_project_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make its file, and print its name."""
    store = open_store(arguments)
    parent = None if arguments.parent is None else find(store, arguments.parent)
    session = store.create(arguments.name, job=arguments.job, parent=parent)
    path = store.save(session)
    facts = {"name": session.name, "path": str(path), "parent_id": session.parent_id}
    print_facts(arguments, facts, session.name)
    return DONE
