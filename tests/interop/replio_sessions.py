"""Sessions in Replio's form: those whose outcome is known, and random ones, with what the format knows in them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

import vectors_replio

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = dict[str, Any]

_SEEDS = 60
_TIME = "2031-03-04T05:06:07+00:00"
_TEXTS = (
    "plain",
    "",
    " ",
    "  two\nlines\r\nand a tab\t\n\n",
    'quotes " and \\ and / and \x00\x1f\x7f',
    "every\rline\x0bboundary\x0cof\x1cPython\x1dand\x1emore\x85of\u2028them\u2029",
    "ýmis góð orð, 日本語, 👩‍👩‍👧, e\u0301 \ufeff\ufffd\uffff",
    "```text\n````\nfences\n```",
    "### User - a heading\n> a quotation",
    "long " * 400,
)
_VALUES: tuple[object, ...] = (
    0,
    -1,
    8.0,
    8,
    1.5,
    12345678901234567890123,
    True,
    False,
    "",
    [],
    {},
    {"nested": [{"null": None}], "": "x"},
)


def sessions() -> Mapping[str, Json]:
    """All of them, each by what the tests call it."""
    vectors = {folder.name: vectors_replio.value(folder / "session.json") for folder in vectors_replio.folders()}
    return vectors | {f"seed-{seed}": _made_up(seed) for seed in range(_SEEDS)}


def _made_up(seed: int) -> Json:
    return _Maker(seed).session()


class _Maker:
    """Makes the session of a seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._r = Random(f"replio session {seed}")
        self._calls: list[str] = []

    def session(self) -> Json:
        r = self._r
        kinds = (self._user, self._user, self._answer, self._calling, self._result, self._result, self._other)
        messages: list[Json] = []
        for _ in range(r.randrange(30)):
            message = r.choice((*kinds, self._command if r.random() < 0.5 else self._user))()
            messages.append(message | self._more(len(messages)))
        return {
            "name": f"ses_20310304_050607_made_up_{self._seed}",
            "messages": messages,
            "errors": [self._error() for _ in range(r.choice((0, 0, 1, 3)))],
            "permissions": [self._permission() for _ in range(r.choice((0, 1, 3)))],
            "created_at": _TIME,
            "updated_at": _TIME,
            "parent_id": r.choice(("", "ses_20310304_050607_parent")),
            "sub_sessions": r.choice(([], ["sub_20310304_050608_made_up"])),
        }

    def _more(self, number: int) -> Json:
        """What any message may have."""
        more: Json = {}
        if self._r.random() < 0.95:
            more["timestamp"] = _TIME
        if self._r.random() < 0.9:
            more["id"] = f"msg_{number:016x}"
        if self._r.random() < 0.1:
            more["unknown"] = self._r.choice(_VALUES)
        return more

    def _text(self) -> str:
        return self._r.choice(_TEXTS)

    def _user(self) -> Json:
        return {"role": "user", "content": self._text()}

    def _answer(self) -> Json:
        r = self._r
        facts: Json = {"duration": r.choice((0, 3, 8.0, 12.5, None)), "model": r.choice(("toy-1b", None))}
        facts |= {"provider": r.choice(("toybox", None)), "thinking": r.choice((None, self._text()))}
        return {"role": "assistant", "content": self._text(), **facts, "reasoning": "auto", "mode": "build"}

    def _calling(self) -> Json:
        r = self._r
        calls = []
        for _ in range(r.randrange(1, 4)):
            self._calls.append(f"call_{len(self._calls)}")
            function = {
                "name": r.choice(("grep", "file_read")),
                "arguments": r.choice(('{"path": "a"}', "", self._text())),
            }
            calls.append({"id": self._calls[-1], "type": "function", "function": function})
        content = r.choice((None, None, "", self._text()))
        return {
            "role": "assistant",
            "content": content,
            "tool_calls": calls,
            "thinking": r.choice((None, self._text())),
        }

    def _result(self) -> Json:
        r = self._r
        of = r.choice((*self._calls[-4:], "call_of_none", "", None))
        content = r.choice((self._text(), self._text(), None))
        analysis = r.choice((None, "", "One line."))
        tool = r.choice(("grep", "web_fetch"))
        return {"role": "tool", "content": content, "tool_call_id": of, "tool": tool, "analysis": analysis}

    def _command(self) -> Json:
        r = self._r
        command: Json = {"role": "command", "content": r.choice(("/model x", "/compact", ""))}
        if r.random() < 0.6:
            command |= {"result": r.choice((self._text(), "Summed up.", None))}
            command |= {"compact_from": r.choice((0, 1, 3, 5, 40, -2, 2.0, "2", None))}
        return command

    def _other(self) -> Json:
        return self._r.choice(({"role": "system"}, {"role": "notice"}, {})) | {"content": self._text()}

    def _error(self) -> Json:
        error: Json = {"code": self._r.choice((0, 401, "")), "message": self._text(), "timestamp": _TIME}
        error.pop(self._r.choice(("none", "none", *error)), None)
        return error

    def _permission(self) -> Json:
        permission = {"tool": "grep", "action": self._r.choice(("allow", "ask", "deny")), "decision": "granted"}
        return permission | self._r.choice(({}, {"path": self._text()}, {"scope": "session"})) | {"timestamp": _TIME}
