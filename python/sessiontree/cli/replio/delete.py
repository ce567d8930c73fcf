"""`sessiontree replio delete`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import SessionNotFoundError
from .. import DONE, FAILED, NO_SUCH_SESSION, fail
from .._arguments import add_json_arguments
from .._asking import can_ask, is_agreed
from .._output import count, note, print_json, wants_json
from .._text import visible
from ._arguments import add_name_argument
from ._find import find, not_found, open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from ...replio import ReplioStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `delete` takes."""
    parser.set_defaults(run=run)
    parser.description = (
        "Remove sessions, for good. A whole name, or a file's path, is enough; before it removes what was named by a"
        " start of its name, it asks. Links to them stay: `check` lists those."
    )
    add_name_argument(parser, nargs="+")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_json_arguments(parser, "deleted session")


def run(arguments: argparse.Namespace) -> int:
    """Find all of them, ask if need be, and delete."""
    store = open_store(arguments)
    found = {given: find(store, given) for given in arguments.names}
    guessed = [name for given, name in found.items() if given != name and Path(given).name != f"{name}.json"]
    if guessed and not arguments.yes and not _is_agreed(guessed):
        note("nothing was deleted")
        return FAILED
    failures: list[OSError | SessionNotFoundError] = []
    rows = _deleted(store, dict.fromkeys(found.values()), failures)
    if wants_json(arguments):
        print_json(arguments, rows)
    else:
        for row in rows:
            print(visible(f"Deleted session: {row['name']}"))
    code = DONE
    for error in failures:
        code = fail(error, NO_SUCH_SESSION if isinstance(error, SessionNotFoundError) else FAILED)
    return code


def _is_agreed(names: list[str]) -> bool:
    """Show what is meant by the starts that were given, and ask.

    Raises:
        ValueError: There is nobody to ask.
    """
    if not can_ask():
        raise ValueError(f"{names[0]} was named by its start, and there is no terminal to ask on: --yes deletes it")
    for name in names:
        print(visible(f"  {name}"), file=sys.stderr)
    return is_agreed(f"Delete {count(len(names), 'session')}?")


def _deleted(
    store: ReplioStore, names: Iterable[str], failures: list[OSError | SessionNotFoundError]
) -> Iterator[dict[str, str]]:
    """Delete each, and tell; what fails does not keep the others."""
    for name in names:
        try:
            if not store.delete(name):
                raise not_found(name)  # somebody else was faster
        except (OSError, SessionNotFoundError) as error:
            failures.append(error)
        else:
            yield {"name": name, "path": str(store.path_of(name))}
