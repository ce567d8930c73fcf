"""One session: the entries that it grows by, turn after turn, and the file that they make."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

from ._texts import Rules, Writer, noise, rules, text

if TYPE_CHECKING:
    from random import Random

# What an entry holds beside its type, id, parent and time; a message's rule begins with its role. The rules `aside_1`
# to `aside_3` name the entries that, in a file of that version, come now and then between a question and its answer.
_ENTRIES = rules(r"""
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
answer 2 "role":"assistant","content":[],<facts>,"stopReason":"error","errorMessage":"529 {\"type\":\"overloaded\"}"
answer 1 "role":"assistant","content":[],<facts>,"stopReason":"aborted"
calling 1 "role":"assistant","content":[<thinking><remark><calls>],<facts>,"stopReason":"toolUse"
tool = read read read read read bash bash bash bash bash edit edit edit write task
result 1 "role":"toolResult",<next_result>,"isError":<failed>
failed = false false false false false false false false false true
read_arguments 1 "path":"<path>","offset":<number>,"limit":<number>
read_result 30 "content":[{"type":"text","text":"<text code 3900 1.25>"}]
read_result 1 "content":[{"type":"text","text":"<text code 400>"}<image>]
bash_arguments 1 "command":"cd /home/user/proj && rg -n \"<word>\" src | head -<number>"
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
""")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS, _SPAN_MS = 1_733_234_400_000, 60_000_000_000  # sessions begin within 700 days from 2024-12-03
_HOME = "/home/user/.elyra/agent/sessions"  # `parentSession` points there, not to where the store happens to be made
_PRICES = {"input": 3e-6, "output": 15e-6, "cacheRead": 3e-7, "cacheWrite": 3.75e-6}


@dataclass(frozen=True)
class File:
    """A session file, and what a reader must find in it.

    Attributes:
        name: Its path below `sessions/`.
        data: Its bytes.
        time_ms: When it was last written to.
        messages: Its `message_count`; 0 if it is not listed.
        is_listed: Whether it is a session; if not, it is empty or has no header.
        is_damaged: Whether its `damage_count` is not 0.
    """

    name: str
    data: bytes
    time_ms: int
    messages: int
    is_listed: bool = True
    is_damaged: bool = False


class Session(Writer):
    """One session as it grows: its lines, the ids from the root to the leaf, its clock.

    The methods after `_entry` are for the grammar's marks; some move the session on.
    """

    rules: ClassVar[Rules] = {**Writer.rules, **_ENTRIES}

    def __init__(self, r: Random, version: int) -> None:
        super().__init__(r)
        self.version = version
        self.time_ms = _FIRST_MS + r.randrange(_SPAN_MS)
        self.first_id = r.getrandbits(32)
        self.branch: list[bytes] = []
        self.messages = self.size_bytes = self.compacted_at = 0
        self.lines = [self._header()]
        self._entry("model_change")
        self._entry("thinking_level_change")

    def fork(self, r: Random) -> None:
        """Become a copy of this session under a new header."""
        self.r = r
        self.time_ms += r.randrange(100_000_000)
        self.lines[0] = self._header(f',"parentSession":"{_HOME}/{self.name}"')

    def grow(self, target_bytes: int) -> None:
        """Go on, turn by turn, until the file has about that size."""
        self.target_bytes = target_bytes - 4_000  # what the last turn adds too much, on average
        self.longest = min(50_000, max(2_500, target_bytes // 4))  # 50 KB: where pi cuts a tool's output
        self.images = self.r.choice((0, 0, 1, 2)) + target_bytes // 20_000_000
        if target_bytes > 20_000 and not self.messages and self.r.random() < 0.4:
            self._entry("system")
        while self.size_bytes < self.target_bytes or not self.messages:
            if self.size_bytes - self.compacted_at > max(800_000, target_bytes // 12):
                self._entry("compaction")
            self._turn()

    def file(self) -> File:
        """The file as it stands now."""
        return File(self.name, b"\n".join([*self.lines, b""]), self.time_ms, self.messages)

    def _header(self, more: str = "") -> bytes:
        """Begin a file: its header, in some project, and its name below `sessions/`."""
        digits = f"{self.time_ms:012x}7{self.r.getrandbits(12):03x}a{self.r.getrandbits(60):015x}"
        session_id = re.sub("(.{8})(.{4})(.{4})(.{4})", r"\1-\2-\3-\4-", digits, count=1)
        time, project = self._time(), f"proj{self.r.randrange(25):02d}"
        self.name = f"--home-user-{project}--/{re.sub('[:.]', '-', time)}_{session_id}.jsonl"
        version = f'"version":{self.version},' if self.version > 1 else ""
        facts = f'{version}"id":"{session_id}","timestamp":"{time}","cwd":"/home/user/{project}"{more}'
        return f'{{"type":"session",{facts}}}'.encode()

    def _turn(self) -> None:
        """A question, what it takes to answer it, the answer."""
        self._entry("user")
        if self.r.random() < 0.25:
            self._entry(self.write(f"aside_{self.version}").decode())
        for _ in range(min(40, int(self.r.expovariate(1 / 6)))):
            if self.size_bytes > self.target_bytes:
                break
            self._entry("calling")
            while self.open_calls:
                self._entry("result")
        self._entry("answer")

    def _entry(self, rule: str) -> None:
        """Append an entry. Ids go up in steps that make them look random."""
        self.time_ms += self.r.randrange(5, 3_000)
        body, kind = self.write(rule), rule
        if body.startswith(b'"role"'):
            body, kind = b'"message":{%b,"timestamp":%d}' % (body, self.time_ms), "message"
            self.messages += 1
        new_id = b"%08x" % ((self.first_id + len(self.lines) * 0x9E3779B1) % 2**32)
        parent = b'"%b"' % self.branch[-1] if self.branch else b"null"
        links = b'"id":"%b","parentId":%b,' % (new_id, parent) if self.version > 1 else b""
        line = b'{"type":"%b",%b"timestamp":"%b",%b}' % (kind.encode(), links, self._time().encode(), body)
        self.branch.append(new_id)
        self.lines.append(line)
        self.size_bytes += len(line) + 1

    def _time(self) -> str:
        return (_EPOCH + timedelta(milliseconds=self.time_ms)).isoformat(timespec="milliseconds")[:23] + "Z"

    def hex(self, digits: str) -> bytes:
        return b"%0*x" % (int(digits), self.r.getrandbits(4 * int(digits)))

    def text(self, kind: str, median: str, sigma: str = "1") -> bytes:
        return text(self.r, kind, min(self.longest, self._log_normal(median, sigma)))

    def noise(self, median: str, sigma: str) -> bytes:
        return noise(self.r, min(900_000, self._log_normal(median, sigma) // 4 * 4))

    def _log_normal(self, median: str, sigma: str) -> int:
        return int(float(median) * math.exp(self.r.gauss(0, float(sigma))))

    def image(self) -> bytes:
        """An image after other content, if the session has one left and room for it."""
        if not self.images or self.target_bytes - self.size_bytes < 500_000:
            return b""
        self.images -= 1
        return b',{"type":"image","data":"%b","mimeType":"image/png"}' % self.noise("280000", ".4")

    def spent(self) -> bytes:
        """Tokens and cost of one request."""
        context = min(12_000 + (self.size_bytes - self.compacted_at) // 4, 190_000)
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
        self.open_calls = [(b"toolu_01" + self.hex("24"), self.write("tool")) for _ in range(count)]
        block = b'{"type":"toolCall","id":"%b","name":"%b","arguments":{%b}}'
        calls = self.open_calls
        return b",".join([block % (call, tool, self.write(f"{tool.decode()}_arguments")) for call, tool in calls])

    def next_result(self) -> bytes:
        call, tool = self.open_calls.pop(0)
        return b'"toolCallId":"%b","toolName":"%b",%b' % (call, tool, self.write(f"{tool.decode()}_result"))

    def recent(self, count: str) -> bytes:
        """One of the last entries of the branch."""
        return self.r.choice(self.branch[-int(count) :])

    def kept(self) -> bytes:
        """Compact: where what is kept begins, by id, or by number in version 1."""
        self.compacted_at = self.size_bytes
        count = min(len(self.branch), self.r.randint(6, 24))
        if self.version == 1:
            return b'"firstKeptEntryIndex":%d' % (len(self.lines) - count)
        return b'"firstKeptEntryId":"%b"' % self.branch[-count]

    def left(self) -> bytes:
        """Go back to an earlier entry; early on, now and then, to before the first. Give the leaf that was left."""
        leaf = self.branch[-1]
        restart = len(self.branch) < 40 and self.r.random() < 0.1
        del self.branch[0 if restart else max(1, len(self.branch) - self.r.randint(3, 40)) :]
        return leaf
