"""`sessiontree context`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import _transcript
from ._arguments import add_json_arguments, add_leaf_argument, add_pager_argument, add_session_arguments
from ._find import find_or_newest, open_session, read_code
from ._output import count, print_document, print_jsonl
from ._pager import print_lines

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from .. import SessionContext
    from .._native import SessionInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `context` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "Where standard output is no terminal, --json is what it prints anyway."
    add_session_arguments(parser, nargs="?")
    add_leaf_argument(parser)
    parser.add_argument("--full", action="store_true", help="on a terminal, cut nothing")
    add_pager_argument(parser)
    add_json_arguments(parser, "message", "an object with `messages`, `thinkingLevel` and `model`")


def run(arguments: argparse.Namespace) -> int:
    """Build the context, and print it."""
    info = find_or_newest(arguments)
    with open_session(info, arguments.leaf) as session:
        context = session.build_session_context()
    if arguments.jsonl:
        print_jsonl(context.messages)
    elif arguments.json or not sys.stdout.isatty():
        print_document(_settings(context), "messages", context.messages)
    else:
        print_lines(arguments, _lines(info, context, full=arguments.full))
    return read_code(info)


def _settings(context: SessionContext) -> dict[str, object]:
    """All but the messages, under the format's names."""
    model = context.model
    return {
        "thinkingLevel": context.thinking_level,
        "model": model and {"provider": model.provider, "modelId": model.model_id},
    }


def _lines(info: SessionInfo, context: SessionContext, *, full: bool) -> Iterator[str]:
    model = context.model
    yield from _transcript.head(
        info,
        count(len(context.messages), "message"),
        f"{model.provider}/{model.model_id}" if model else "no model",
        f"thinking {context.thinking_level}",
    )
    yield from _transcript.message_lines(context.messages, full=full)
