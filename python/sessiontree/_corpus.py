"""The sample store's maker: sessions such as Elyra and pi leave behind, from a seed, with totals known beforehand.

Sizes and contents follow real stores: mostly tool output and code, some reasoning and images, now and then a branch, a
compaction, a fork, an old file, and (with `damage`) the faults that docs/reading.md has rules for. No message has the role
`branchSummary` or `compactionSummary`: these arise when a context is built, pi writes them to no file.

A grammar says what entries and texts look like. Text is made once, in pools, and sliced. A file depends on the options and
its number alone, so any number of workers makes the same store. A worker is this file run as a program: nothing to fork
in a process with threads, no `__main__` to import again. Hence nothing but the standard library is imported here.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_left
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Profile:
    """A kind of store, and its size unless the caller says otherwise.

    Attributes:
        sessions: How many files.
        mean_bytes: Their mean size.
        sigma: The spread of their log-normal sizes: the median is exp(-sigma²/2) of the mean.
        compact_bytes: How much a session grows between two compactions.
    """

    sessions: int
    mean_bytes: int
    sigma: float
    compact_bytes: int = 800_000


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile(2_000, 500_000, 1.4),
        "small": Profile(10_000, 20_000, 0.6),
        "large": Profile(1, 200_000_000, 0.1, 16_000_000),
    }
)


@dataclass(frozen=True)
class Corpus:
    """A store that was made, and what a reader must find in it.

    Attributes:
        folder: The agent folder; the sessions are in its `sessions/`.
        sessions: Files written.
        listed: Those that are sessions; the others are empty or have no header.
        bytes: Their size, all files together.
        messages: `message_count`, summed over the listed.
        damaged: Listed sessions whose `damage_count` is not 0.
    """

    folder: Path
    sessions: int
    listed: int
    bytes: int
    messages: int
    damaged: int

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        return {**asdict(self), "folder": str(self.folder)}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Corpus:
        """The corpus that `to_dict` told of."""
        return cls(**{**row, "folder": Path(row["folder"])})


# What is written: a rule has alternatives, one a line with its weight, or words. `<word>` is what rule `word` gives,
# `<hex 12>` is what the method `hex("12")` of the one who writes gives.
_GRAMMAR = """
word = session index parse buffer handler token stream config worker cache route model schema entry branch commit layout
word = render query client server socket retry budget limit offset cursor header payload record writer reader chunk merge
word = split label state event queue batch scope module export import value result option context content usage summary
Word = Session Buffer Token Config Schema Entry Cursor Reader Writer Label State Queue Option Range Matcher Node Edge
verb = get set load save parse build find open read write merge split apply check update remove resolve
say = the a this that we should now need to first then because which file test function error value returns instead when
say = before after change only input output is are was not also still each path looks like probably wrong correct fix add
say = remove run let me you can it in of for with on and or but so edge case handled missing reference already don't I'll
sign = → ✓ ✗ … — “ ” é ü 日本語 文件 ошибка 🚀 ✅ │ • ’
suffix = ts py rs go md json toml css tsx sh
level = off low medium high
tool = read read read read read bash bash bash bash bash edit edit edit write task
name
    5 <word><Word>
    3 <word>_<word>
    2 <Word><Word>
path
    1 src/<word>/<verb>-<word>.<suffix>
phrase
    1 <say> <say> <say> <say>
speech
    1 <phrase>
    2 <phrase> <say> <say> <phrase>
    1 <phrase> <phrase> <say> <phrase>
code
    2 import { <name>, <name> } from "../<word>/<word>.js";
    3 const <name> = await <verb><Word>(<word>, { <name>: <number>, "<word>": true });
    3     if (<name> !== undefined && <name>.length > <number>) {
    2         return <name>.map((<word>) => <word>.<name> ?? "<word> <word>").join("\\n");
    2             throw new Error(`Invalid <word> '${<name>}': expected <name>`);
    2         }
    3     // <speech>
    2 def <verb>_<word>(self, <name>: str, <name>: int = <number>) -> dict[str, Any]:
    2         let <word> = self.<name>.<verb>(&<name>)?.unwrap_or_default();
    2     "<name>": { "<word>": "<word>", "version": "^<number>.<number>" },
    2         expect(<name>.<name>).toEqual(["<word>", '<word>', <number>]);
    2     regex = /^\\s*\\"(<word>|<name>)\\"\\s*:\\s*(\\d+)/gm;
    3             <name>.<verb>(<name>, <word>[<number>], <number>);
    1 # <sign> <speech> <sign>
    3
bash
    5 <path>:<number>:    <name> = <name>(<word>)
    4 -rw-r--r--  1 user staff <number> Mar 14 09:26 <word>.<suffix>
    4  \x1b[32m✓\x1b[39m <path> \x1b[2m(<number> tests)\x1b[22m \x1b[33m<number>\x1b[2mms\x1b[22m\x1b[39m
    2 FAIL  <path> > <speech>
    2     at <name> (/home/user/<path>:<number>:<number>)
    2 [2025-11-03T09:26:53.589Z] INFO <word>: <speech> id="<hex 12>"
    2    Compiling <word>-<word> v0.<number>.1
    2 │   ├── <word>.<suffix>
    2 +    <name>: <name>; // <speech>
    2 {"level":"info","<word>":<number>,"msg":"<speech>"}
    1 warning: unused variable: `<name>` --> <path>:<number>
    1 C:\\Users\\dev\\<word>\\<word>.<suffix>
    1 <sign> <speech> <sign>
    1
prose
    3 I looked at `<path>`: <speech>, so <speech>.
    3 <Word> <speech>. Then <speech>, <speech> and <speech>.
    2 - <Word> <speech>
    2 The "<word> <word>" <speech> <sign>
    1 ## <Word> <word>
    2 Now <speech>; <speech>. `<name>` <speech>, because <speech>.
    2
thinking
    55 {"type":"thinking","thinking":"<text prose 320>","thinkingSignature":"<noise 420 .6>"},
    45
remark
    60 {"type":"text","text":"<text prose 140>"},
    40
facts
    1 "api":"<api>","provider":"<provider>","model":"<model>","usage":<usage>
    1 "api":"<api>","provider":"<provider>","model":"<model>","usage":<usage>,"responseId":"msg_<hex 24>"
user
    25 "role":"user","content":"<text prose 220>"
    67 "role":"user","content":[{"type":"text","text":"<text prose 220>"}]
    8 "role":"user","content":[{"type":"text","text":"<text prose 220>"}<image>]
answer
    97 "role":"assistant","content":[<thinking>{"type":"text","text":"<text prose 700>"}],<facts>,"stopReason":"stop"
    2 "role":"assistant","content":[],<facts>,"stopReason":"error","errorMessage":"529 {\\"type\\":\\"overloaded\\"}"
    1 "role":"assistant","content":[],<facts>,"stopReason":"aborted"
calling
    1 "role":"assistant","content":[<thinking><remark><calls>],<facts>,"stopReason":"toolUse"
read_arguments
    1 "path":"<path>"
    1 "path":"<path>","offset":<number>,"limit":<number>
bash_arguments
    1 "command":"npm test 2>&1 | tail -40"
    1 "command":"cd /home/user/proj && rg -n \\"<word>\\" src | head"
    1 "command":"python3 - <<'EOF'\\nimport json\\nprint(json.dumps({\\"<word>\\": <number>}))\\nEOF"
edit_arguments
    1 "path":"<path>","oldText":"<text code 260>","newText":"<text code 330>"
write_arguments
    1 "path":"<path>","content":"<text code 2200>"
task_arguments
    1 "agent":"reviewer","task":"<text prose 300>"
read_result
    97 "content":[{"type":"text","text":"<text code 4200 1.25>"}]
    3 "content":[{"type":"text","text":"<text code 500>"}<image>]
bash_result
    19 "content":[{"type":"text","text":"<text bash 1900 1.45>"}]
    1 "content":[{"type":"text","text":"<text bash 40000 .1>"}],"details":{"fullOutputPath":"/tmp/pi-bash-<hex 16>.log"}
edit_result
    1 "content":[{"type":"text","text":"Replaced text in <path>."}],"details":{"diff":"<text bash 900>"}
write_result
    1 "content":[{"type":"text","text":"Successfully wrote <number> bytes to <path>"}]
task_result
    1 "content":[{"type":"text","text":"<text prose 1500>"}],"usage":<usage>
    1 "content":[{"type":"text","text":"<text prose 1500>"}],"details":{"modelUsage":{"<provider>/<model>":<usage>}}
failed
    19 false
    1 true
system
    1 "role":"system","content":"","sections":{"preamble":"<text prose 5000 .2>"},"toolsAdded":[{"name":"read"}]
bash_execution
    1 "role":"bashExecution","command":"git status","output":"<text bash 600>","exitCode":0,"cancelled":false
hook_message
    1 "role":"<hook_role>","customType":"plan","content":"<text prose 400>","display":true
model_change
    1 "provider":"<other_provider>","modelId":"<model>"
thinking_level_change
    1 "thinkingLevel":"<level>"
session_info
    1 "name":"  <Word> <word> <sign>"
custom
    1 "customType":"<word>","data":{"count":<number>,"items":["a","b"],"nested":{"on":true,"value":null}}
custom_message
    1 "customType":"plan","content":"<text prose 400>","display":true
usage
    1 "kind":"cache_warm","provider":"<provider>","model":"<model>","usage":<usage>
label
    4 "targetId":"<recent 40>","label":"<word>"
    1 "targetId":"<recent 40>"
context_edit
    1 "targetId":"<recent 20>","replacement":null
    1 "targetId":"<recent 20>","replacement":{"content":"(<speech>)"}
files
    1 "details":{"readFiles":["<path>","<path>"],"modifiedFiles":["<path>"]},"fromHook":false
summary
    1 "summary":"<text prose 3000 .4>",<files>
    1 "summary":"<text prose 3000 .4>",<files>,"usage":<usage>
branch_summary
    1 "fromId":"<left>",<summary>
compaction
    3 <kept>,"tokensBefore":190000,<summary>
    1 <kept>,"tokensBefore":190000,<summary>,"systemMessage":{"role":"system","content":"You help."}
linear_aside
    25 custom
    10 hook_message
    10 model_change
    5 thinking_level_change
    15 session_info
    10 bash_execution
    2 compaction
aside
    75 <linear_aside>
    15 custom_message
    15 label
    10 usage
    5 context_edit
    10 branch_summary
"""
_MARK = re.compile(r"<(\w+)((?: [\w.]+)*)>")  # splits a template into text, name, arguments, text, ..., text
_Piece: TypeAlias = "bytes | tuple[str, list[str]]"


@cache
def _grammar() -> dict[str, list[list[_Piece]]]:
    """Each rule's alternatives, as often as they weigh."""
    rules: dict[str, list[list[_Piece]]] = {}
    name = ""
    for line in _GRAMMAR.strip().splitlines():
        rule, equals, words = line.partition(" = ")
        if line.startswith("    "):
            weight, _, template = line.strip("\n").lstrip().partition(" ")
            rules[name] += [_pieces(template)] * int(weight)
        elif equals:
            rules.setdefault(rule, []).extend([word.encode()] for word in words.split())
        else:
            name = line
            rules[name] = []
    return rules


def _pieces(template: str) -> list[_Piece]:
    text, *marks = _MARK.split(template)
    pieces: list[_Piece] = [text.encode()]
    for name, arguments, after in zip(marks[::3], marks[1::3], marks[2::3], strict=True):
        pieces += [(name, arguments.split()), after.encode()]
    return pieces


class _Writer:
    """Writes what the grammar says."""

    def __init__(self, r: Random) -> None:
        self.r = r
        self.rules = _grammar()

    def write(self, rule: str) -> bytes:
        alternatives = self.rules[rule]
        pieces = alternatives[int(self.r.random() * len(alternatives))]
        return b"".join([piece if isinstance(piece, bytes) else self.mark(*piece) for piece in pieces])

    def mark(self, name: str, arguments: list[str]) -> bytes:
        """What a mark stands for: a rule or a method."""
        if name in self.rules and not arguments:
            return self.write(name)
        made: bytes = getattr(self, name)(*arguments)
        return made

    def number(self) -> bytes:
        """One to five digits, each count as likely."""
        return b"%d" % 10 ** (5 * self.r.random())

    def hex(self, digits: str) -> bytes:
        return b"%0*x" % (int(digits), self.r.getrandbits(4 * int(digits)))


class _Text:
    """Text of one kind, as it stands in JSON; a text of about any length is one slice of it, cut at line ends."""

    distinct, lines = 2_500, 80_000  # the latter are about 4 MB, far more than the longest text

    def __init__(self, kind: str) -> None:
        writer = _Writer(Random(f"text:{kind}"))
        r = writer.r
        made = [writer.write(kind).decode() for _ in range(self.distinct)]
        made = [line.replace("    ", "\t") if r.random() < 0.4 else line for line in made]
        pool = r.choices([json.dumps(line, ensure_ascii=False)[1:-1].encode() for line in made], k=self.lines)
        self.json = b"\\n".join(pool)
        self.starts = list(accumulate((len(line) + 2 for line in pool), initial=0))

    def take(self, r: Random, size: int) -> bytes:
        """About `size` bytes, at least one line."""
        first = r.randrange(self.lines * 4 // 5)
        last = bisect_left(self.starts, self.starts[first] + size, first + 1, self.lines)
        return self.json[self.starts[first] : self.starts[last] - 2]


_text = cache(_Text)


@cache
def _noise() -> bytes:
    return base64.b64encode(Random("noise").randbytes(1_500_000))


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST_MS, _SPAN_MS = 1_733_234_400_000, 60_000_000_000  # sessions begin within 700 days from 2024-12-03
_HOME = "/home/user/.elyra/agent/sessions"  # `parentSession` points there, not to where the store happens to be made
_MODELS = (
    (b"anthropic", b"claude-sonnet-4-5", b"anthropic-messages"),
    (b"anthropic", b"claude-opus-4-5", b"anthropic-messages"),
    (b"openai", b"gpt-5.2-codex", b"openai-responses"),
    (b"google", b"gemini-3-pro", b"google-generative-ai"),
)
_PRICES = {"input": 3e-6, "output": 15e-6, "cacheRead": 3e-7, "cacheWrite": 3.75e-6}


class _Session(_Writer):
    """One session as it grows: its lines, the ids from the root to the leaf, its clock."""

    def __init__(self, r: Random, version: int, compact_bytes: int) -> None:
        super().__init__(r)
        self.version, self.compact_bytes = version, compact_bytes
        self.ms = _FIRST_MS + r.randrange(_SPAN_MS)
        self.id_seed = r.getrandbits(32)
        self.calls: list[tuple[bytes, bytes]] = []
        self.path: list[bytes] = []
        self.messages = self.size = self.compacted_at = self.target = 0
        self.lines = [self.header()]
        self.entry("model_change")
        self.entry("thinking_level_change")

    def header(self, more: str = "") -> bytes:
        """Begin a file: its header, in some project, and its name below `sessions/`."""
        bits = f"{self.ms:012x}7{self.hex('3').decode()}a{self.hex('15').decode()}"
        session_id = "-".join((bits[:8], bits[8:12], bits[12:16], bits[16:20], bits[20:]))
        project = f"proj{self.r.randrange(25):02d}"
        version = f'"version":{self.version},' if self.version > 1 else ""
        self.name = f"--home-user-{project}--/{re.sub('[:.]', '-', self.time())}_{session_id}.jsonl"
        facts = f'{version}"id":"{session_id}","timestamp":"{self.time()}","cwd":"/home/user/{project}"{more}'
        return f'{{"type":"session",{facts}}}'.encode()

    def fork(self, r: Random) -> None:
        """Become a copy of this session under a new header."""
        self.r = r
        self.ms += r.randrange(100_000_000)
        self.lines[0] = self.header(f',"parentSession":"{_HOME}/{self.name}"')

    def grow(self, target: int) -> None:
        """Go on, turn by turn, until the file has about `target` bytes."""
        self.target = target - 1_500  # what the last turn adds too much, on average
        self.longest = min(50_000, max(2_500, target // 4))  # 50 KB: where pi cuts a tool's output
        self.images = self.r.randint(1, 5) if self.r.random() < 0.2 else 0
        if target > 20_000 and not self.messages and self.r.random() < 0.4:
            self.entry("system")
        while self.size < self.target or not self.messages:
            if self.size - self.compacted_at > self.compact_bytes:
                self.entry("compaction")
            self.turn()

    def turn(self) -> None:
        """A question, what it takes to answer it, the answer."""
        self.entry("user")
        if self.r.random() < 0.2:
            self.entry(self.write("aside" if self.version > 1 else "linear_aside").decode())
        for _ in range(min(40, int(self.r.expovariate(1 / 6)))):
            if self.size > self.target:
                break
            self.calls = [(self.write("tool"), self.hex("24")) for _ in range(self.r.choice((1, 1, 1, 1, 1, 1, 1, 2, 3)))]
            self.entry("calling")
            while self.calls:
                self.entry("result")
        self.entry("answer")

    def entry(self, rule: str) -> None:
        """Append an entry; rules of messages begin with a role. Ids count up in steps, so they look random and differ."""
        if rule == "branch_summary":
            self.go_back()
        self.ms += self.r.randrange(5, 3_000)
        body, kind = self.write(rule), rule
        if body.startswith(b'"role"'):
            body, kind = b'"message":{%b,"timestamp":%d}' % (body, self.ms), "message"
            self.messages += 1
        new_id = b"%08x" % ((self.id_seed + len(self.lines) * 0x9E3779B1) % 2**32)
        parent = b'"%b"' % self.path[-1] if self.path else b"null"
        links = b'"id":"%b","parentId":%b,' % (new_id, parent) if self.version > 1 else b""
        line = b'{"type":"%b",%b"timestamp":"%b",%b}' % (kind.encode(), links, self.time().encode(), body)
        self.path.append(new_id)
        self.lines.append(line)
        self.size += len(line) + 1

    def time(self) -> str:
        return (_EPOCH + timedelta(milliseconds=self.ms)).isoformat(timespec="milliseconds")[:23] + "Z"
