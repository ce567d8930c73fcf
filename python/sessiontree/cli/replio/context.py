"""`sessiontree replio context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ... import _json, _native
from ..._listing import session_at
from .. import _transcript
from .._arguments import add_json_arguments, add_pager_argument
from .._find import read_code
from .._output import count, print_document, print_jsonl
from .._pager import print_lines
from ._arguments import add_name_argument
from ._find import find, open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..._native import SessionInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `context` takes."""
    parser.set_defaults(run=run)
    parser.epilog = "Characters are counted as code points; four of them are taken for a token."
    add_name_argument(parser)
    parser.add_argument("--drop-unanswered", action="store_true", help="without tool calls that have no result")
    about = "without the keys of messages that providers do not know"
    parser.add_argument("--strip", action="store_true", help=about)
    about = "with the system messages that the log begins with, whatever was summed up"
    parser.add_argument("--keep-system", action="store_true", help=about)
    parser.add_argument("--full", action="store_true", help="cut nothing")
    add_pager_argument(parser)
    add_json_arguments(parser, "message", "an object with `name`, `characters`, `tokens` and `messages`")


def run(arguments: argparse.Namespace) -> int:
    """Build the context, and print it."""
    store = open_store(arguments)
    name = find(store, arguments.name)
    messages = store.read(name).provider_messages(
        drop_unanswered=arguments.drop_unanswered, strip=arguments.strip, keep_system=arguments.keep_system
    )
    info = session_at(store.path_of(name))
    if arguments.jsonl:
        print_jsonl(messages)
    elif arguments.json:
        characters = _characters(messages)
        facts = {"name": name, "characters": characters, "tokens": _tokens(characters)}
        print_document(facts, "messages", messages)
    else:
        print_lines(arguments, _lines(info, messages, full=arguments.full))
    return read_code(info)


def _lines(info: SessionInfo, messages: Sequence[Mapping[str, Any]], *, full: bool) -> Iterator[str]:
    characters = _characters(messages)
    yield from _transcript.head(
        info,
        count(len(messages), "message"),
        f"{_short(characters)} character{'s' * (characters != 1)}",
        f"about {count(_tokens(characters), 'token')}",
    )
    shared = _json.loads(_native.replio_shared([_json.encode(message) for message in messages]))
    yield from _transcript.message_lines(shared, full=full)


def _characters(messages: Iterable[Mapping[str, Any]]) -> int:
    """How long the contents are in all; of one that is a list of blocks, their texts."""
    return sum(len(text) for message in messages for text in _texts(message.get("content")))


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in cast("list[object]", content):
            match block:
                case {"text": str(text)}:
                    yield text
                case _:
                    pass


def _tokens(characters: int) -> int:
    return max(1, characters // 4)


def _short(number: int) -> str:
    """A number as Replio writes it."""
    if number < 1_000:
        return str(number)
    return f"{number / 1_000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"
