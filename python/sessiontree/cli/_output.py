"""JSON on standard output: one document, or a line a row."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .. import _json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping


def add_json_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json` and `--jsonl`; `what` names a row."""
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help=f"one JSON document: a list of {what}s")
    output.add_argument("--jsonl", action="store_true", help=f"a line of JSON for each {what}")


def wants_json(arguments: argparse.Namespace) -> bool:
    """Whether either of them was given."""
    return bool(arguments.json or arguments.jsonl)


def print_json(arguments: argparse.Namespace, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the rows in the form that was asked for, escaped where a terminal would act on them."""
    texts = (_json.dumps(row, escaped=sys.stdout.isatty()) for row in rows)
    print("[" + ",\n ".join(texts) + "]" if arguments.json else "\n".join(texts))
