r"""Replio projects from seeds, in the very bytes that Replio writes; made on the first run and found again by others.

What costs a reader time is as in real projects: most bytes are tool results, all that is not ASCII is escaped as
`\uXXXX`, each value has a line of its own, and the times of a session stand behind all of its messages.
"""

from __future__ import annotations

import json
import math
import shutil
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from sessiontree._corpus._texts import Rules, Writer, rules, text

from .stores import BASE, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Json: TypeAlias = dict[str, Any]

SESSIONS = 2_000
MEAN_BYTES = 200_000
LARGE_BYTES = 20_000_000

_SIGMA = 0.5
"""Of the sizes, which are log-normal: the median is 0.88 of the mean."""

_LAST_BYTES = 40_000
"""By so much, or about, the last turn and the white space would make a session larger than wanted."""

_ABROAD = 6
"""One session in so many is not in English."""

_FIRST = datetime(2026, 1, 5, 10, tzinfo=UTC)


def project(scale: float) -> Store:
    """2,000 sessions of 200 KB, or a part of them."""
    r = Random("replio sizes")
    sizes = [int(MEAN_BYTES * r.lognormvariate(-_SIGMA * _SIGMA / 2, _SIGMA)) for _ in range(int(SESSIONS * scale))]
    return _made("R", f"replio-{scale}", sizes)


def large(scale: float) -> Store:
    """One session of 20 MB, or of a part of that."""
    return _made("R large", f"replio-large-{scale}", [int(LARGE_BYTES * scale)])


def _made(name: str, folder: str, sizes: Sequence[int]) -> Store:
    path = BASE / folder
    if not path.exists():
        part = path.with_name(f".{folder}")
        shutil.rmtree(part, ignore_errors=True)
        _make(part, sizes)
        part.rename(path)
    return Store.of(name, path, int((path / "messages").read_text()), ".replio/sessions/*.json")


def _make(folder: Path, sizes: Sequence[int]) -> None:
    sessions = folder / ".replio/sessions"
    sessions.mkdir(parents=True)
    messages, before = 0, ""
    for number, size in enumerate(sizes):
        session = _Session(Random(f"replio {number}"), _FIRST + timedelta(minutes=37 * number))
        document = session.document(size, before)
        messages += sum(message["role"] != "command" for message in document["messages"])
        with (sessions / f"{document['name']}.json").open("w", encoding="ascii") as file:
            json.dump(document, file, indent=2)
        before = document["name"]
    (folder / "messages").write_text(str(messages))


_ABROAD_TEXTS = rules("""
ru = сессия строка файл ошибка проверка сервер запрос ответ поток почему нужно сначала потом работает тест буфер
ja = セッション ファイル 行を読む エラー 確認する サーバー 要求 応答 まず 次に テスト 直します 日本語 設定
de = Sitzung Datei Prüfung Größe für über zurück Fehler Anfrage zuerst danach läuft Puffer öffnen schließen Schlüssel
saying 1 <abroad> <abroad> <abroad> <abroad>
saying 3 <abroad> <abroad> <abroad> <saying>
""")


class _Session(Writer):
    """One session as it grows, and its clock."""

    rules: ClassVar[Rules] = {**Writer.rules, **_ABROAD_TEXTS}

    def __init__(self, r: Random, start: datetime) -> None:
        super().__init__(r)
        self._start = self._time = start
        self._language = r.choice(("ru", "ja", "de")) if r.randrange(_ABROAD) == 0 else None
        self._messages: list[Json] = []
        self._errors: list[Json] = []
        self._permissions: list[Json] = []
        self._size_bytes = 0

    def document(self, size_bytes: int, before: str) -> Json:
        """The session when it has grown to about so many bytes; now and then the child of the one `before`."""
        while self._size_bytes < max(1, size_bytes - _LAST_BYTES):
            self._turn()
            if self.r.random() < 0.04:
                self._compact()
        kind = self.r.choices(("ses", "job", "sub"), (16, 2, 2))[0]
        stamp = f"{self._start:%Y%m%d_%H%M%S}"
        slug = "_".join(self.word("word") for _ in range(4))
        is_child = kind == "sub" and before != ""
        return {
            "name": f"sub_{stamp}_{before[-64:]}" if is_child else f"{kind}_{stamp}_{slug}",
            "messages": self._messages,
            "errors": self._errors,
            "permissions": self._permissions,
            "created_at": _iso(self._start),
            "updated_at": _iso(self._time),
            "parent_id": before if is_child else "",
            "sub_sessions": [],
        }

    # What happens

    def _turn(self) -> None:
        """A question, what is done about it, and mostly an answer."""
        r = self.r
        asked = self._time
        if r.random() < 0.1:
            self._say("command", r.choice(("/model llama3.3", "/mode plan", "/context", "/session list")))
        self._say("user", self._prose(220))
        for _ in range(int(r.expovariate(1 / 4))):
            self._round()
        if r.random() < 0.03:
            message = f"Stream ended before a completion event: {self._prose(60)}"
            error = {"code": r.choice((0, 429, 503)), "message": message, "timestamp": _iso(self._time)}
            self._add(self._errors, error)
            return
        seconds = round((self._time - asked).total_seconds() + r.random() * 9, 1)
        spoken = {"duration": seconds, "model": "llama3.2", "provider": "ollama"}
        self._say("assistant", self._prose(900), **spoken, **self._thought(0.7))

    def _round(self) -> None:
        """Calls of tools, and what comes of each."""
        calls: list[Json] = []
        for _ in range(self.r.choice((1, 1, 1, 2, 3))):
            [tool] = self.r.choices([*_TOOLS], [tool.weight for tool in _TOOLS.values()])
            function = {"name": tool, "arguments": json.dumps(_TOOLS[tool].arguments(self))}
            calls.append({"id": f"call_{self.r.getrandbits(96):024x}", "type": "function", "function": function})
        self._say("assistant", None, tool_calls=calls, **self._thought(0.5))
        for call in calls:
            tool = call["function"]["name"]
            permission = {"tool": tool, "action": "allow", "decision": "granted", "timestamp": _iso(self._time)}
            path = json.loads(call["function"]["arguments"]).get("path")
            self._add(self._permissions, permission if path is None else permission | {"path": path})
            analysis = self._prose(90) if self.r.random() < 0.2 else None
            self._say("tool", _TOOLS[tool].result(self), tool_call_id=call["id"], tool=tool, analysis=analysis)

    def _compact(self) -> None:
        boundary = max(0, len(self._messages) - 4)
        self._say("command", "/compact", result=self._prose(2_500), compact_from=boundary)

    # What it says

    def _say(self, role: str, content: str | None, **fields: object) -> None:
        self._time += timedelta(seconds=int(self.r.expovariate(1 / 20)))
        id_ = f"msg_{self.r.getrandbits(64):016x}"
        message = {"role": role, "content": content, "timestamp": _iso(self._time), "id": id_, **fields}
        self._add(self._messages, message)

    def _add(self, log: list[Json], record: Json) -> None:
        log.append(record)
        self._size_bytes += len(json.dumps(record))

    def _thought(self, likely: float) -> Json:
        thinking = self._prose(420) if self.r.random() < likely else None
        return {"thinking": thinking, "reasoning": "auto", "mode": "build"}

    def _prose(self, size: int) -> str:
        size = int(size * self.r.lognormvariate(0, 0.5)) + 20
        if self._language is None:
            return self.text("prose", size)
        return " ".join(self.word("saying") for _ in range(math.ceil(size / 50)))

    def abroad(self) -> bytes:
        """For the grammar: mostly a word of the session's language, else a name out of the code."""
        return self.write(self._language if self._language and self.r.random() < 0.9 else "name")

    def word(self, rule: str) -> str:
        """What the grammar has for this."""
        return self.write(rule).decode()

    def text(self, kind: str, size: int) -> str:
        """About so many bytes of a kind of text."""
        decoded: str = json.loads(b'"%b"' % text(self.r, kind, size))
        return decoded

    def output(self, kind: str, size: int) -> str:
        """What a tool puts out: mostly about so much, now and then a lot."""
        return self.text(kind, min(int(size * self.r.lognormvariate(-0.5, 1)), 100_000))


class _Tool(NamedTuple):
    """A tool: how often it is called, with what, and what comes of it."""

    weight: int
    arguments: Callable[[_Session], Json]
    result: Callable[[_Session], str]


_TOOLS = {
    "file_read": _Tool(5, lambda s: {"path": s.word("path")}, lambda s: s.output("code", 6_000)),
    "run_command": _Tool(4, lambda s: {"command": f"pytest -q {s.word('path')}"}, lambda s: s.output("bash", 3_000)),
    "grep": _Tool(3, lambda s: {"pattern": s.word("name"), "path": "src"}, lambda s: s.output("bash", 2_000)),
    "file_edit": _Tool(
        2,
        lambda s: {"path": s.word("path"), "old": s.text("code", 260), "new": s.text("code", 330)},
        lambda s: f"Edited {s.word('path')}",
    ),
    "web_search": _Tool(1, lambda s: {"query": s.word("speech")}, lambda s: s.output("prose", 4_000)),
    "web_fetch": _Tool(
        1,
        lambda s: {"url": f"https://example.org/{s.word('word')}"},
        lambda _: "[web_fetch result excluded from log; see tool call above for parameters]",
    ),
}


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds")
