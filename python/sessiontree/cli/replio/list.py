"""`sessiontree replio list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import FormatError, InvalidNameError, SessionNotFoundError
from .. import DONE
from .._arguments import add_json_arguments
from .._output import note, print_json, wants_json
from .._progress import progress
from .._text import visible
from ._arguments import add_project_argument
from ._find import open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from ..._types import OnProgress
    from ...replio import ReplioStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `list` takes."""
    parser.set_defaults(run=run)
    about = "names alone, a line each, as shells complete them: no file is read, and what no shell can show is left out"
    parser.add_argument("--names", action="store_true", help=about)
    add_json_arguments(parser, "session")
    add_project_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read them all, and print."""
    store = open_store(arguments)
    if arguments.names:
        if wants_json(arguments):
            raise ValueError("--names prints nothing but names: it goes without --json and --jsonl")
        _print_names(store)
        return DONE
    with progress("Reading") as on_progress:
        rows = list(_rows(store, on_progress))
    if wants_json(arguments):
        print_json(arguments, rows)
        return DONE
    for row in rows:
        print(visible(f"  {row['name']}{_annotations(row)}"))
    if not rows:
        print("  No sessions found")
        note(f"looked in {store.sessions_dir}")
    if any(row["problem"] == "damaged" for row in rows):
        note("sessiontree replio check tells what is damaged")
    return DONE


def _print_names(store: ReplioStore) -> None:
    for name in store.list():
        if visible(name) == name:
            print(name)


def _rows(store: ReplioStore, on_progress: OnProgress | None) -> Iterator[dict[str, Any]]:
    """What is told of each session: of one that cannot be read, that it is there."""
    names = store.list()
    for number, name in enumerate(names, 1):
        parent, problem = None, None
        try:
            session = store.read(name)
        except SessionNotFoundError:
            continue  # it was deleted meanwhile
        except InvalidNameError:
            problem = "invalid name"
        except (FormatError, OSError):
            problem = "damaged"
        else:
            parent, problem = session.parent_id, "damaged" if session.damage else None
        path = str(store.sessions_dir / f"{name}.json")
        yield {"name": name, "path": path, "parent_id": parent, "problem": problem}
        if on_progress is not None:
            on_progress(number, len(names))


def _annotations(row: Mapping[str, Any]) -> str:
    is_child = row["name"].startswith("sub_") and row["parent_id"]
    parent = f"  (child of {row['parent_id']})" if is_child else ""
    return parent + (f"  ({row['problem']})" if row["problem"] else "")
