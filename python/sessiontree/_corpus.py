"""The sample store's maker: sessions such as Elyra and pi leave behind, from a seed, with totals known beforehand.

Sizes and contents follow real stores: mostly tool output and code, some reasoning and images, now and then a branch,
a compaction, a fork, an old file, and (with `damage`) the faults that docs/reading.md has rules for. No message has the
role `branchSummary` or `compactionSummary`: these arise when a context is built, no program writes them to a file.

A grammar says what entries and texts look like; text is made once, in pools, and sliced. A file depends on the options
and its number alone, so any number of workers makes the same store. A worker is this file run as a program: nothing is
forked in a process with threads, no `__main__` is imported again. So only the standard library is imported here.
"""

from __future__ import annotations

import base64
import errno
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from itertools import accumulate
from operator import add
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, TypeAlias

OnProgress: TypeAlias = Callable[[int, int], object]
_Rows: TypeAlias = Generator[list[int], None, None]


@dataclass(frozen=True)
class Profile:
    """A kind of store, and its size unless the caller says otherwise.

    Attributes:
        sessions: How many files.
        mean_bytes: Their mean size.
        sigma: The spread of their log-normal sizes: the median is exp(-sigma²/2) of the mean.
    """

    sessions: int
    mean_bytes: int
    sigma: float


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile(2_000, 500_000, 1.4),
        "small": Profile(10_000, 20_000, 0.6),
        "large": Profile(1, 200_000_000, 0.1),
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
        return cls(Path(row["folder"]), **{name: count for name, count in row.items() if name != "folder"})


# What is written. A line is one of a rule's alternatives, with its weight; after ` = ` each word is one.
# `<word>` stands for what rule `word` gives, `<hex 12>` for what the session's method `hex("12")` gives.
_GRAMMAR = """
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
user 3 "role":"user","content":"<text prose 220>"
user 8 "role":"user","content":[{"type":"text","text":"<text prose 220>"}]
user 1 "role":"user","content":[{"type":"text","text":"<text prose 220>"}<image>]
thinking 5 {"type":"thinking","thinking":"<text prose 240>","thinkingSignature":"<noise 360 .6>"},
thinking 4
remark 3 {"type":"text","text":"<text prose 110>"},
remark 2
facts 1 "api":"<model 0>-messages","provider":"<model 0>","model":"<model 1>","usage":<spent>
facts 1 <facts>,"responseId":"msg_<hex 24>"
answer 97 "role":"assistant","content":[<thinking>{"type":"text","text":"<text prose 560>"}],<facts>,"stopReason":"stop"
answer 2 "role":"assistant","content":[],<facts>,"stopReason":"error","errorMessage":"529 {\\"type\\":\\"overloaded\\"}"
answer 1 "role":"assistant","content":[],<facts>,"stopReason":"aborted"
calling 1 "role":"assistant","content":[<thinking><remark><calls>],<facts>,"stopReason":"toolUse"
tool = read read read read read bash bash bash bash bash edit edit edit write task
result 1 "role":"toolResult",<next_result>,"isError":<failed>
failed = false false false false false false false false false true
read_arguments 1 "path":"<path>","offset":<number>,"limit":<number>
read_result 30 "content":[{"type":"text","text":"<text code 3900 1.25>"}]
read_result 1 "content":[{"type":"text","text":"<text code 400>"}<image>]
bash_arguments 1 "command":"cd /home/user/proj && rg -n \\"<word>\\" src | head -<number>"
bash_result 30 "content":[{"type":"text","text":"<text bash 1900 1.45>"}]
bash_result 1 "content":[{"type":"text","text":"<text bash 50000 .1>"}],"details":{"fullOutputPath":"/tmp/<hex 16>.log"}
edit_arguments 1 "path":"<path>","oldText":"<text code 260>","newText":"<text code 330>"
edit_result 1 "content":[{"type":"text","text":"Replaced text in <path>."}],"details":{"diff":"<text bash 900>"}
write_arguments 1 "path":"<path>","content":"<text code 2000>"
write_result 1 "content":[{"type":"text","text":"Successfully wrote <number> bytes to <path>"}]
task_arguments 1 "agent":"reviewer","task":"<text prose 300>"
task_result 1 "content":[{"type":"text","text":"<text prose 1500>"}],"usage":<spent>
task_result 1 "content":[{"type":"text","text":"<text prose 1500>"}],"details":{"modelUsage":{"<model 1>":<spent>}}
system 1 "role":"system","content":"","sections":{"preamble":"<text prose 5000 .2>"},"toolsAdded":[{"name":"read"}]
bash_execution 1 "role":"bashExecution","command":"git status","output":"<text bash 600>","exitCode":0,"cancelled":false
hook_message 1 "role":"hookMessage","customType":"plan","content":"<text prose 400>","display":true
migrated_hook_message 1 "role":"custom","customType":"plan","content":"<text prose 400>","display":true
model_change 1 "provider":"<other_model 0>","modelId":"<model 1>"
models = anthropic/claude-sonnet-4-5 anthropic/claude-opus-4-5 openai/gpt-5.2-codex google/gemini-3-pro
thinking_level_change 1 "thinkingLevel":"<level>"
level = off low medium high
session_info 1 "name":"  <Word> <word> <sign>"
custom 1 "customType":"<word>","data":{"count":<number>,"items":["a","b"],"nested":{"on":true,"value":null}}
custom_message 1 "customType":"plan","content":"<text prose 400>","display":true
usage 1 "kind":"cache_warm","provider":"<model 0>","model":"<model 1>","usage":<spent>
label 2 "targetId":"<recent 40>","label":"<word>"
label 1 "targetId":"<recent 40>"
context_edit 1 "targetId":"<recent 20>","replacement":null
context_edit 1 "targetId":"<recent 20>","replacement":{"content":"(<speech>)"}
summary 1 "summary":"<text prose 3000 .4>","details":{"readFiles":["<path>"],"modifiedFiles":["<path>"]}
summary 1 <summary>,"usage":<spent>
branch_summary 1 "fromId":"<left>",<summary>,"fromHook":false
compaction 3 <kept>,"tokensBefore":190000,<summary>
compaction 1 <kept>,"tokensBefore":190000,<summary>,"systemMessage":{"role":"system","content":"You help."}
aside_1 = custom custom hook_message hook_message model_change thinking_level_change session_info bash_execution
aside_1 = custom custom hook_message hook_message model_change session_info session_info bash_execution compaction
aside_2 = custom custom hook_message hook_message model_change thinking_level_change session_info bash_execution label
aside_2 = custom custom hook_message hook_message model_change session_info session_info bash_execution branch_summary
aside_3 = custom custom custom_message custom_message model_change thinking_level_change session_info session_info usage
aside_3 = custom label label context_edit migrated_hook_message bash_execution branch_summary branch_summary compaction
"""
_MARK = re.compile(rb"<(\w+)((?: [\w.]+)*)>")


@cache
def _grammar() -> Mapping[str, list[bytes]]:
    """Each rule's alternatives, as often as they weigh."""
    rules: dict[str, list[bytes]] = {}
    for line in _GRAMMAR.strip().splitlines():
        rule, weight, template = (*line.split(" ", 2), "")[:3]
        alternatives = template.split() if weight == "=" else [template] * int(weight)
        rules.setdefault(rule, []).extend(alternative.encode() for alternative in alternatives)
    return rules


class _Writer:
    """Writes what the grammar says."""

    def __init__(self, r: Random) -> None:
        self.r = r

    def write(self, rule: str) -> bytes:
        alternatives = _grammar()[rule]
        return _MARK.sub(self.fill, alternatives[int(self.r.random() * len(alternatives))])

    def fill(self, mark: re.Match[bytes]) -> bytes:
        name = mark[1].decode()
        if name in _grammar():
            return self.write(name)
        made: bytes = getattr(self, name)(*mark[2].decode().split())
        return made


class _Text:
    """Text of one kind, as it stands in JSON; a text of about any length is one slice of it, cut at line ends."""

    def __init__(self, kind: str) -> None:
        writer = _Writer(Random(f"text:{kind}"))
        lines = [writer.write(kind).decode() for _ in range(2_500)]
        lines[::2] = [line.replace("    ", "\t") for line in lines[::2]]
        encoded = [json.dumps(line, ensure_ascii=False)[1:-1].encode() for line in lines]
        pool = writer.r.choices(encoded, k=80_000)  # about 4 MB, far more than the longest text
        self.json = b"\\n".join(pool)
        self.starts = list(accumulate((len(line) + 2 for line in pool), initial=0))

    def take(self, r: Random, size: int) -> bytes:
        """About `size` bytes, at least one line."""
        first = r.randrange(len(self.starts) * 4 // 5)
        last = bisect_left(self.starts, self.starts[first] + size, first + 1, len(self.starts) - 1)
        return self.json[self.starts[first] : self.starts[last] - 2]


_text = cache(_Text)


@cache
def _base64() -> bytes:
    return base64.b64encode(Random("base64").randbytes(1_500_000))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS, _SPAN_MS = 1_733_234_400_000, 60_000_000_000  # sessions begin within 700 days from 2024-12-03
_HOME = "/home/user/.elyra/agent/sessions"  # `parentSession` points there, not to where the store happens to be made
_PRICES = {"input": 3e-6, "output": 15e-6, "cacheRead": 3e-7, "cacheWrite": 3.75e-6}


class _Session(_Writer):
    """One session as it grows: its lines, the ids from the root to the leaf, its clock.

    The methods after `entry` are for the grammar's marks; some move the session on.
    """

    def __init__(self, r: Random, version: int) -> None:
        super().__init__(r)
        self.version = version
        self.ms = _FIRST_MS + r.randrange(_SPAN_MS)
        self.id_seed = r.getrandbits(32)
        self.path: list[bytes] = []
        self.messages = self.size = self.compacted_at = 0
        self.lines = [self.header()]
        self.entry("model_change")
        self.entry("thinking_level_change")

    def header(self, more: str = "") -> bytes:
        """Begin a file: its header, in some project, and its name below `sessions/`."""
        digits = f"{self.ms:012x}7{self.r.getrandbits(12):03x}a{self.r.getrandbits(60):015x}"
        session_id = re.sub("(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", digits, count=1)
        time, project = self.time(), f"proj{self.r.randrange(25):02d}"
        self.name = f"--home-user-{project}--/{re.sub('[:.]', '-', time)}_{session_id}.jsonl"
        version = f'"version":{self.version},' if self.version > 1 else ""
        facts = f'{version}"id":"{session_id}","timestamp":"{time}","cwd":"/home/user/{project}"{more}'
        return f'{{"type":"session",{facts}}}'.encode()

    def fork(self, r: Random) -> None:
        """Become a copy of this session under a new header."""
        self.r = r
        self.ms += r.randrange(100_000_000)
        self.lines[0] = self.header(f',"parentSession":"{_HOME}/{self.name}"')

    def grow(self, target: int) -> None:
        """Go on, turn by turn, until the file has about `target` bytes."""
        self.target = target - 4_000  # what the last turn adds too much, on average
        self.longest = min(50_000, max(2_500, target // 4))  # 50 KB: where pi cuts a tool's output
        self.images = self.r.choice((0, 0, 1, 2)) + target // 20_000_000
        if target > 20_000 and not self.messages and self.r.random() < 0.4:
            self.entry("system")
        while self.size < self.target or not self.messages:
            if self.size - self.compacted_at > max(800_000, target // 12):
                self.entry("compaction")
            self.turn()

    def turn(self) -> None:
        """A question, what it takes to answer it, the answer."""
        self.entry("user")
        if self.r.random() < 0.25:
            self.entry(self.write(f"aside_{self.version}").decode())
        for _ in range(min(40, int(self.r.expovariate(1 / 6)))):
            if self.size > self.target:
                break
            self.entry("calling")
            while self.open_calls:
                self.entry("result")
        self.entry("answer")

    def entry(self, rule: str) -> None:
        """Append an entry; a message's rule begins with its role. Ids go up in steps that make them look random."""
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

    def hex(self, digits: str) -> bytes:
        return b"%0*x" % (int(digits), self.r.getrandbits(4 * int(digits)))

    def log_normal(self, median: str, sigma: str) -> int:
        return int(float(median) * math.exp(self.r.gauss(0, float(sigma))))

    def text(self, kind: str, median: str, sigma: str = "1") -> bytes:
        return _text(kind).take(self.r, min(self.longest, self.log_normal(median, sigma)))

    def noise(self, median: str, sigma: str) -> bytes:
        size = min(900_000, self.log_normal(median, sigma) // 4 * 4)
        start = self.r.randrange(len(_base64()) - size)
        return _base64()[start : start + size]

    def image(self) -> bytes:
        """An image after other content, if the session has one left and room for it."""
        if not self.images or self.target - self.size < 500_000:
            return b""
        self.images -= 1
        return b',{"type":"image","data":"%b","mimeType":"image/png"}' % self.noise("280000", ".4")

    def spent(self) -> bytes:
        """Tokens and cost of one request."""
        context = min(12_000 + (self.size - self.compacted_at) // 4, 190_000)
        counts = (self.r.randint(2, 900), self.r.randint(40, 2_500), context, self.r.randrange(6_000))
        tokens = dict(zip(_PRICES, counts, strict=True))
        cost = {key: count * _PRICES[key] for key, count in tokens.items()}
        usage = {**tokens, "totalTokens": sum(counts), "cost": {**cost, "total": math.fsum(cost.values())}}
        return json.dumps(usage, separators=(",", ":")).encode()

    def model(self, part: str) -> bytes:
        return self.model_name.split(b"/")[int(part)]

    def other_model(self, part: str) -> bytes:
        """Switch to another model, perhaps the same."""
        self.model_name = self.write("models")
        return self.model(part)

    def calls(self) -> bytes:
        """Call one tool, at times two or three."""
        count = max(1, self.r.randint(-9, 3))
        self.open_calls = [(b"toolu_01" + self.hex("24"), self.write("tool").decode()) for _ in range(count)]
        block = b'{"type":"toolCall","id":"%b","name":"%b","arguments":{%b}}'
        calls = self.open_calls
        return b",".join([block % (call, tool.encode(), self.write(f"{tool}_arguments")) for call, tool in calls])

    def next_result(self) -> bytes:
        call, tool = self.open_calls.pop(0)
        return b'"toolCallId":"%b","toolName":"%b",%b' % (call, tool.encode(), self.write(f"{tool}_result"))

    def recent(self, count: str) -> bytes:
        """One of the last entries of the branch."""
        return self.r.choice(self.path[-int(count) :])

    def kept(self) -> bytes:
        """Compact: where what is kept begins, by id, or by number in version 1."""
        self.compacted_at = self.size
        count = min(len(self.path), self.r.randint(6, 24))
        if self.version == 1:
            return b'"firstKeptEntryIndex":%d' % (len(self.lines) - count)
        return b'"firstKeptEntryId":"%b"' % self.path[-count]

    def left(self) -> bytes:
        """Go back to an earlier entry; early on, now and then, to before the first. Give the leaf that was left."""
        leaf = self.path[-1]
        restart = len(self.path) < 40 and self.r.random() < 0.1
        del self.path[0 if restart else max(1, len(self.path) - self.r.randint(3, 40)) :]
        return leaf


class _Place:
    """Somewhere in a file, not in its first line nor its last, where something is to happen."""

    def __init__(self, session: _Session) -> None:
        self.r = session.r
        at = self.r.randrange(1, len(session.lines) - 1)
        self.line = session.lines[at]
        self.head = b"".join(line + b"\n" for line in session.lines[:at])
        self.tail = b"".join(b"\n" + line for line in session.lines[at + 1 :]) + b"\n"

    def put(self, line: bytes) -> bytes:
        """The file with that in the line's place."""
        return self.head + line + self.tail

    def insert(self, *lines: bytes) -> bytes:
        """The file with one of `lines` before the line."""
        return self.put(self.r.choice(lines) + b"\n" + self.line)

    def torn(self) -> bytes:
        return self.line[: self.r.randrange(1, len(self.line))]

    def nuls(self) -> bytes:
        return bytes(self.r.randrange(1, 5_000))

    def change(self, pattern: bytes, *templates: bytes) -> bytes:
        """The file with one of `templates` for the first match of `pattern` from here on; the last line has one."""
        return self.head + re.sub(pattern, self.r.choice(templates), self.line + self.tail, count=1)


@dataclass(frozen=True)
class _Damage:
    """What happens to a file; how often the line's entry is read then; whether it counts; whether a session is left."""

    happen: Callable[[_Place], bytes]
    read: int = 1
    counts: bool = False
    listed: bool = True


_IN_TEXT = rb'("(?:text|content|model)":")'
_DAMAGES: tuple[_Damage, ...] = (
    _Damage(lambda at: at.put(at.torn()), read=0, counts=True),
    _Damage(lambda at: at.put(at.line.replace(b'":', b'"', 1)), read=0, counts=True),  # a lost byte
    _Damage(lambda at: at.put(at.torn() + at.line), read=0, counts=True),  # torn, and tried again
    _Damage(lambda at: at.put(at.torn() + at.nuls()), read=0, counts=True),
    _Damage(lambda at: at.put(at.nuls() + at.line), counts=True),
    _Damage(lambda at: at.put(at.line) + at.torn(), counts=True),  # a torn last line
    _Damage(lambda at: at.head + at.line + at.tail[1:], counts=True),  # two entries on a line
    _Damage(lambda at: at.insert(at.line), read=2, counts=True),  # an id twice
    _Damage(lambda at: at.insert(at.head.partition(b"\n")[0]), counts=True),  # a header twice
    _Damage(lambda at: at.insert(b"null", b"[]", b"17", b'"text"', b"{}", b"Killed"), counts=True),
    _Damage(lambda at: at.change(_IN_TEXT, b"\\1caf\xe9 ", b"\\1\xff\xfe ", b"\\1\xed\xa0\xbd "), counts=True),
    _Damage(lambda at: at.change(_IN_TEXT, rb"\1\\ud83d ", rb"\1\\udc00 ")),
    _Damage(lambda at: at.change(_IN_TEXT, b"\\1a\xe2\x80\xa8b ")),
    _Damage(lambda at: at.change(rb'("parentId":")\w+', rb"\1missing")),
    _Damage(lambda at: at.change(rb'("id":("\w+"),"parentId":)"\w+"', rb"\1\2")),  # its own parent
    _Damage(lambda at: at.change(rb'("usage":{"input":)\d+', rb"\1-5", rb"\g<1>1e400", rb'\1"12"', rb"\1null")),
    _Damage(lambda at: at.put(at.line).replace(b"\n", b"\r\n")),
    _Damage(lambda at: at.insert(b"", b" \t", b"\r")),
    _Damage(lambda at: b"\xef\xbb\xbf" + at.put(at.line)),
    _Damage(lambda at: b'\n{"type":"title","title":"x"}\n' + at.put(at.line)),
    _Damage(lambda at: at.put(at.line)[:-1]),
    _Damage(lambda at: b"", listed=False),
    _Damage(lambda at: b" \n\n", listed=False),
    _Damage(lambda at: at.put(at.line).partition(b"\n")[2], listed=False),  # no header
)

# Which sessions are special, by their number modulo `_CYCLE`: so small stores have all cases too.
_CYCLE = 48
_DAMAGED = (5, 17, 29, 41)
_FORKED = (11, 35)  # from the session before
_VERSIONS = {8: 1, 21: 2, 44: 2}
_SILENT = 26  # left before anything was said


@dataclass(frozen=True)
class _Options:
    """All that a store's bytes depend on; `version` goes up when this file makes others of the same options."""

    profile: str
    sessions: int
    mean_bytes: int
    seed: int
    damage: bool
    version: int = 1

    @cached_property
    def sizes(self) -> list[int]:
        """How big each session is to be; forks not smaller than what they are forks of."""
        r = Random(f"sizes:{self.seed}")
        sizes = [r.lognormvariate(0, PROFILES[self.profile].sigma) for _ in range(self.sessions)]
        unit = self.mean_bytes * self.sessions / math.fsum(sizes)  # unlike `sum`, alike in every Python
        for fork in range(1, self.sessions):
            if fork % _CYCLE in _FORKED:
                sizes[fork - 1 : fork + 1] = sorted(sizes[fork - 1 : fork + 1])
        return [int(size * unit) for size in sizes]

    def session(self, number: int) -> _Session:
        r = Random(f"{self.seed}:{number}")
        place = number % _CYCLE
        if place in _FORKED:
            session = self.session(number - 1)
            session.fork(r)
        else:
            session = _Session(r, _VERSIONS.get(place, 3))
        if place != _SILENT:
            session.grow(self.sizes[number])
        return session

    def write(self, folder: Path, share: int = 0, shares: int = 1) -> _Rows:
        """Write a share of the files; give for each what it adds to a `Corpus`, in the order of its fields."""
        for number in range(share, self.sessions, shares):
            session = self.session(number)
            data = b"\n".join([*session.lines, b""])
            messages, listed, counts = session.messages, True, False
            cycle, place = divmod(number, _CYCLE)
            if self.damage and place in _DAMAGED:
                damage = _DAMAGES[(cycle * len(_DAMAGED) + _DAMAGED.index(place)) % len(_DAMAGES)]
                at = _Place(session)
                messages += (damage.read - 1) * at.line.startswith(b'{"type":"message"')
                data, listed, counts = damage.happen(at), damage.listed, damage.counts
            path = folder / "sessions" / session.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            time_ns = session.ms * 1_000_000
            os.utime(path, ns=(time_ns, time_ns))
            yield [1, listed, len(data), messages * listed, counts]


def _work(folder: str, options: str, share: str, shares: str) -> None:
    """Be a worker: write a share of the files, tell of each on stdout."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end with the parent
    for row in _Options(**json.loads(options)).write(Path(folder), int(share), int(shares)):
        print(json.dumps(row), flush=True)


def _rows_of_workers(options: _Options, folder: Path, workers: int) -> _Rows:
    """What so many workers tell; closed early, it ends them."""
    reader, writer = os.pipe()
    processes: list[subprocess.Popen[bytes]] = []
    with os.fdopen(reader) as rows:
        try:
            with os.fdopen(writer, "wb") as out:  # one pipe for all: a row is short, so it arrives whole
                for share in range(workers):
                    task = (str(folder), json.dumps(asdict(options)), str(share), str(workers))
                    # A process group of its own: Ctrl-C is for this process, which ends its workers itself.
                    command = (sys.executable, "-I", __file__, *task)
                    processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, process_group=0))
            yield from map(json.loads, rows)
        finally:
            for process in processes:
                process.kill()
                process.wait()


_MANIFEST = "corpus.json"
_MADE_BY = "sessiontree._corpus"
_BYTES_PER_JOB = 40_000_000  # less is written before another worker has started


def _manifest(folder: Path) -> dict[str, Any] | None:
    """What the store's manifest says; None where there is none of ours, and behind a link."""
    if folder.is_symlink():
        return None
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_bytes())
        return manifest if manifest["made_by"] == _MADE_BY else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


@contextmanager
def _scratch(folder: Path) -> Generator[Path, None, None]:
    """A folder beside `folder`, deleted afterwards with all that is in it."""
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)


def _options(profile: str, sessions: int | None, mean_bytes: int | None, seed: int, damage: bool) -> _Options:
    if profile not in PROFILES:
        raise ValueError(f"profile is {profile!r}: expected one of {', '.join(PROFILES)}")
    sessions = PROFILES[profile].sessions if sessions is None else sessions
    mean_bytes = PROFILES[profile].mean_bytes if mean_bytes is None else mean_bytes
    if sessions < 1 or mean_bytes < 1:
        raise ValueError(f"sessions is {sessions}, mean_bytes is {mean_bytes}: expected 1 or more")
    return _Options(profile, sessions, mean_bytes, seed, damage)


def _check_replaceable(folder: Path) -> None:
    """Raise FileExistsError unless nothing is there, or an empty folder, or a store with its manifest."""
    empty = not folder.is_symlink() and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir())))
    if not empty and _manifest(folder) is None:
        raise FileExistsError(errno.EEXIST, "is no sample store: expected one, or an empty folder", str(folder))


def _make(folder: Path, options: _Options, jobs: int | None, on_progress: OnProgress | None) -> Corpus:
    if jobs is None:
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        jobs = max(1, min(cpus, options.sessions * options.mean_bytes // _BYTES_PER_JOB))
    if jobs < 1:
        raise ValueError(f"jobs is {jobs}: expected 1 or more")
    folder = folder.absolute()
    _check_replaceable(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(folder) as scratch:
        new = scratch / "new"
        workers = min(jobs, options.sessions)
        rows = options.write(new) if workers == 1 else _rows_of_workers(options, new, workers)
        totals = [0] * 5
        with closing(rows):
            for row in rows:
                totals = list(map(add, totals, row))
                if on_progress is not None:
                    on_progress(totals[0], options.sessions)
        if totals[0] < options.sessions:
            raise ChildProcessError(f"a worker ended early: {totals[0]} of {options.sessions} sessions were written")
        corpus = Corpus(folder, *totals)
        manifest = {"made_by": _MADE_BY, "options": asdict(options), "corpus": {**asdict(corpus), "folder": "."}}
        (new / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        _check_replaceable(folder)
        if folder.exists():
            folder.rename(scratch / "old")
        new.rename(folder)
    return corpus


def write_corpus(
    folder: Path,
    *,
    profile: str = "default",
    sessions: int | None = None,
    mean_bytes: int | None = None,
    seed: int = 1,
    damage: bool = True,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    """Make a sample store, in place of an older one if there is one.

    It is made beside the folder and moved there when it is whole: what is interrupted leaves nothing behind. The same
    options give the same bytes and file times.

    Args:
        folder: The agent folder to make. What is there must be a sample store, or empty.
        profile: A name in `PROFILES`.
        sessions: How many files; None is the profile's number.
        mean_bytes: Their mean size, met within a few percent (no file is below some 2 KB); None is the profile's.
        seed: Another seed makes another store.
        damage: Whether one file in twelve has a fault.
        jobs: How many processes write it; None is as many as pay off on the CPUs that this process may use.
        on_progress: Called with (files written, files in all) after each file. What it raises ends the work.

    Raises:
        FileExistsError: Something else is in the folder.
        ValueError: There is no such profile, or a number is below 1.
    """
    return _make(folder, _options(profile, sessions, mean_bytes, seed, damage), jobs, on_progress)


def open_corpus(
    folder: Path,
    *,
    profile: str = "default",
    sessions: int | None = None,
    mean_bytes: int | None = None,
    seed: int = 1,
    damage: bool = True,
    jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Corpus:
    """Give the sample store in a folder if it was made with these options (see `write_corpus`), else make it anew.

    Only the manifest is looked at: what was changed in the store since it was made stays as it is.

    Raises:
        FileExistsError: Something else is in the folder.
        ValueError: There is no such profile, or a number is below 1.
    """
    options = _options(profile, sessions, mean_bytes, seed, damage)
    manifest = _manifest(folder)
    if manifest is not None and manifest.get("options") == asdict(options):
        return Corpus.from_dict({**manifest["corpus"], "folder": folder.absolute()})
    return _make(folder, options, jobs, on_progress)


def remove_corpus(folder: Path) -> bool:
    """Delete a sample store; tell whether there was one. Anything else, a link to one too, is left alone."""
    if _manifest(folder) is None:
        return False
    with _scratch(folder) as scratch:
        folder.rename(scratch / "old")
    return True


if __name__ == "__main__":
    _work(*sys.argv[1:])
