"""Texts: a grammar that writes lines of them, and pools of such lines to take longer ones from."""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import cache
from itertools import accumulate
from random import Random
from typing import ClassVar, TypeAlias

_Part: TypeAlias = bytes | list[str]
"""Bytes as they are, or a mark: its name and its arguments."""

Rules: TypeAlias = Mapping[str, list[list[_Part]]]
"""Each rule's alternatives, as often as they weigh."""


def rules(grammar: str) -> Rules:
    """Read a grammar.

    A line is one of a rule's alternatives, with its weight; after ` = ` each word is one. `<word>` stands for what rule
    `word` gives; `<hex 12>`, there being no such rule, for what the writer's method `hex("12")` gives.
    """
    read: dict[str, list[list[_Part]]] = {}
    for line in grammar.strip().splitlines():
        rule, weight, template = (*line.split(" ", 2), "")[:3]
        alternatives = template.split() if weight == "=" else [template] * int(weight)
        read.setdefault(rule, []).extend(map(_parts, alternatives))
    return read


def _parts(template: str) -> list[_Part]:
    pieces = re.split(r"<(\w+(?: [\w.]+)*)>", template)  # every second one is a mark
    return [piece.split() if at % 2 else piece.encode() for at, piece in enumerate(pieces)]


_TEXTS = rules("""
word = session index parser buffer handler token stream config worker cache route model schema entry branch commit
word = render query client server socket retry budget limit offset cursor header payload record writer reader chunk
word = merge split label state event queue batch scope module export import value result layout option context usage
Word = Session Buffer Token Config Schema Entry Cursor Reader Writer Label State Queue Option Range Matcher Node Edge
verb = get set load save parse build find open read write merge split apply check update remove resolve
say = the a this that we should now need to first then because which file test function error value returns when
say = instead before after change only input output is are was not also still each path looks like probably wrong fix
say = add correct remove run let me you can it in of for with on and or but so edge case missing already don't I'll
sign = → ✓ ✗ … — “ ” é ü 日本語 文件 ошибка 🚀 ✅ │ • ’
suffix = ts py rs go md json toml css tsx sh
number = 0 1 3 7 12 25 40 64 96 128 200 365 404 512 1024 4096 8080 30000 65536 250000
name 2 <word><Word>
name 1 <word>_<word>
path 1 src/<word>/<verb>-<word>.<suffix>
speech 1 <say> <say> <say> <say>
speech 2 <say> <say> <say> <speech>
code 2 import { <name>, <name> } from "../<word>/<word>.js";
code 3 const <name> = await <verb><Word>(<word>, { <name>: <number>, "<word>": true });
code 3     if (<name> !== undefined && <name>.length > <number>) {
code 2         return <name>.map((<word>) => <word>.<name> ?? "<word> <word>").join("\\n");
code 2             throw new Error(`Invalid <word> '${<name>}': expected <name>`);
code 4         }
code 3     // <speech>
code 2 def <verb>_<word>(self, <name>: str, <name>: int = <number>) -> dict[str, Any]:
code 4         expect(<name>.<name>).toEqual({ "<name>": ["<word>", "<word>", <number>] });
code 1     regex = /^\\s*\\"(<word>|<name>)\\"\\s*:\\s*(\\d+)/gm;
code 1 # <sign> <speech> <sign>
code 3
bash 5 <path>:<number>:    <name> = <name>(<word>)
bash 4 -rw-r--r--  1 user staff <number> Mar 14 09:26 <word>.<suffix>
bash 3  \x1b[32m✓\x1b[39m <path> \x1b[2m(<number> tests)\x1b[22m \x1b[33m<number>\x1b[2mms\x1b[22m\x1b[39m
bash 2     at <name> (/home/user/<path>:<number>:<number>)
bash 3 [2025-11-03T09:26:53.589Z] INFO <word>: <speech>
bash 2 │   ├── <word>.<suffix>
bash 3 +    <name>: <name>; // <speech>
bash 4 {"level":"info","<word>":<number>,"msg":"<speech>"}
bash 1 C:\\Users\\dev\\<word>\\<word>.<suffix>
prose 3 I looked at `<path>`: <speech>, so <speech>.
prose 3 <Word> <speech>. Then <speech>, <speech> and <speech>.
prose 2 - The "<word> <word>" <speech> <sign>
prose 2
""")


class Writer:
    """Writes what a grammar says, at random."""

    rules: ClassVar[Rules] = _TEXTS

    def __init__(self, r: Random) -> None:
        self.r = r

    def write(self, rule: str) -> bytes:
        """One of the rule's alternatives, its marks filled in."""
        alternatives = self.rules[rule]
        parts = alternatives[int(self.r.random() * len(alternatives))]
        return b"".join([part if isinstance(part, bytes) else self._fill(*part) for part in parts])

    def _fill(self, name: str, *arguments: str) -> bytes:
        if name in self.rules:
            return self.write(name)
        made: bytes = getattr(self, name)(*arguments)
        return made


class _Pool:
    """Lines of one kind, as they stand in JSON; a text of about any length is one slice, cut at line ends."""

    def __init__(self, kind: str) -> None:
        writer = Writer(Random(f"text:{kind}"))
        lines = [writer.write(kind).decode() for _ in range(2_500)]
        lines[::2] = [line.replace("    ", "\t") for line in lines[::2]]
        encoded = [json.dumps(line, ensure_ascii=False)[1:-1].encode() for line in lines]
        pool = writer.r.choices(encoded, k=80_000)  # about 4 MB, far more than the longest text
        self.json = b"\\n".join(pool)
        self.starts = list(accumulate((len(line) + 2 for line in pool), initial=0))

    def take(self, r: Random, size: int) -> bytes:
        first = r.randrange(len(self.starts) * 4 // 5)
        last = bisect_left(self.starts, self.starts[first] + size, first + 1, len(self.starts) - 1)
        return self.json[self.starts[first] : self.starts[last] - 2]


_pool = cache(_Pool)


def text(r: Random, kind: str, size: int) -> bytes:
    """About so many bytes, at least a line, of `prose`, `code` or `bash`, as they stand in a JSON string."""
    return _pool(kind).take(r, size)


@cache
def _noise() -> bytes:
    return base64.b64encode(Random("base64").randbytes(1_500_000))


def noise(r: Random, size: int) -> bytes:
    """So many bytes of base64, up to 2 MB; a multiple of 4 makes it valid."""
    start = r.randrange(len(_noise()) - size)
    return _noise()[start : start + size]
