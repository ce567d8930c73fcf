"""Random sessions: steps from a seed, each one that either side may refuse, with what the format knows in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from interop.pair import EntryAt, FileAt, FileOf

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from interop.pair import Pair

Json: TypeAlias = dict[str, Any]

FOLDER = "sessions"
"""Below a side's own folder, where its sessions go."""

_CWDS = ("/home/user/project", "/home/user/other project", "/srv/проект")
_TEXTS = (
    "plain",
    "",
    " ",
    "two\nlines\r\nand a tab\t",
    'quotes " and \\ and / and \x00\x1f\x7f',
    "line\u2028separators\u2029and\x85",
    "ýmis góð orð, 日本語, 👩‍👩‍👧, e\u0301",
    "</script><!-- \ufeff \ufffd",
    "long " * 500,
)
_VALUES: tuple[object, ...] = (
    0,
    False,
    "",
    [],
    {},
    -1,
    1.5,
    1e-7,
    12345678901,
    True,
    {"nested": [{"null": None}], "": "empty key"},
)
_USAGE = {
    "input": 12,
    "output": 3,
    "cacheRead": 0,
    "cacheWrite": 1,
    "totalTokens": 16,
    "cost": {"input": 0.01, "output": 0.02, "cacheRead": 0, "cacheWrite": 0.001, "total": 0.031},
}
_MODELS = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5.2-codex"), ("", ""))
_UNKNOWN = "ffffffff"


class Steps:
    """Steps on one pair.

    Nothing is forked or opened again whose file is not there yet.
    """

    def __init__(self, pair: Pair, r: Random, *, persisted: bool) -> None:
        self.pair = pair
        self.r = r
        self.persisted = persisted
        self.time_ms = 1_733_234_400_000
        self._files = 0

    def start(self) -> None:
        cwd = self.r.choice(_CWDS)
        if self.persisted:
            self.pair.make("create", cwd, FileAt(FOLDER))
        else:
            self.pair.make("in_memory", cwd)

    def step(self) -> None:
        """Do one more step."""
        step: Callable[[Steps], object] = self.r.choice(_STEPS)
        step(self)

    def user(self) -> None:
        content = self.r.choice((self._text(), self._blocks()))
        self._message({"role": "user", "content": content})

    def assistant(self) -> None:
        provider, model = self.r.choice(_MODELS)
        call = {"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": self._text()}}
        thinking = {"type": "thinking", "thinking": self._text()}
        content = [block for block in (thinking, *self._blocks(), call) if self.r.random() < 0.6]
        facts = {"api": "messages", "provider": provider, "model": model, "usage": _USAGE, "stopReason": "stop"}
        self._message({"role": "assistant", "content": content, **facts})

    def tool_result(self) -> None:
        facts = {"toolCallId": "call_1", "toolName": "bash", "isError": self.r.random() < 0.2}
        details = self.r.choice(({}, {"details": self.r.choice(_VALUES)}))
        self._message({"role": "toolResult", "content": self._blocks(), **facts, **details})

    def bash_execution(self) -> None:
        facts: Json = {"command": self._text(), "output": self._text(), "cancelled": False, "truncated": False}
        exit_code = self.r.choice(({}, {"exitCode": 0}, {"exitCode": 1, "excludeFromContext": True}))
        self._message({"role": "bashExecution", **facts, **exit_code})

    def custom_message(self) -> None:
        self._message(
            {"role": "custom", "customType": "plan", "content": self._text(), "display": self.r.random() < 0.5}
        )

    def model_change(self) -> None:
        self.pair.do("append_model_change", *self.r.choice(_MODELS))

    def thinking_level_change(self) -> None:
        self.pair.do("append_thinking_level_change", self.r.choice(("off", "minimal", "low", "high")))

    def compaction(self) -> None:
        entries = self._entries()
        kept = self.r.choice((*self._any(entries), *self._any(self._branch(entries)), _UNKNOWN))
        self.pair.do("append_compaction", self._text(), kept, self.r.randrange(200_000), *self._extras())

    def custom_entry(self) -> None:
        self.pair.do("append_custom_entry", "state", *self.r.choice(((), (self.r.choice(_VALUES),))))

    def custom_message_entry(self) -> None:
        content = self.r.choice((self._text(), self._blocks()))
        details = self.r.choice(((), (self.r.choice(_VALUES),)))
        self.pair.do("append_custom_message_entry", "note", content, self.r.random() < 0.5, *details)

    def name(self) -> None:
        name = self.r.choice(("Name", "  in blanks\t", "several\nlines\r\n\r\nof it\n", "", " \n ", "日本語"))
        self.pair.do("append_session_info", name)

    def label(self) -> None:
        for target in self._any(self._entries()):
            self.pair.do("append_label_change", target, self.r.choice(("one", "two", " three ", "日本語")))

    def clear_label(self) -> None:
        entries = self._entries()
        labelled = [entry for entry in entries if any(other.get("targetId") == entry["id"] for other in entries)]
        for target in self._any(labelled):
            self.pair.do("append_label_change", target, None)

    def usage(self) -> None:
        note = self.r.choice(((), ("a note",)))
        self.pair.do("append_usage", "cache_warm", *self.r.choice(_MODELS), _USAGE, *note)

    def context_edit(self) -> None:
        replacement = self.r.choice((None, {"content": self._blocks()}))
        entries = self._entries()
        for target in self._any(self.r.choice((entries, self._branch(entries)))):
            self.pair.do("append_context_edit", target, replacement)

    def branch(self) -> None:
        for target in self._any(self._entries()):
            self.pair.do("branch", target)

    def branch_with_summary(self) -> None:
        target = self.r.choice((*self._any(self._entries()), None))
        self.pair.do("branch_with_summary", target, self._text(), *self._extras())

    def reset_leaf(self) -> None:
        self.pair.do("reset_leaf")

    def unknown(self) -> None:
        """What neither side takes; nothing may change."""
        name, *args = self.r.choice(
            (
                ("branch", _UNKNOWN),
                ("branch_with_summary", _UNKNOWN, "a summary"),
                ("append_label_change", _UNKNOWN, "a label"),
                ("append_context_edit", _UNKNOWN, None),
                ("create_branched_session", _UNKNOWN),
            )
        )
        assert self.pair.do(str(name), *args) == "refused"

    def create_branched_session(self) -> None:
        """Not from a session whose file is yet to come: pi names it as the parent even so."""
        if not self.persisted or Path(self.pair.ours.files[-1]).exists():
            for target in self._any(self._entries()):
                self.pair.do("create_branched_session", target)

    def new_session(self) -> None:
        options = self.r.choice(({}, {"parentSession": "/home/user/parent.jsonl"}, {"id": f"given-{self._number()}"}))
        self.pair.do("new_session", options)

    def fork(self) -> None:
        for file in self._any_file():
            self.pair.make("fork_from", file, self.r.choice(_CWDS), FileAt(FOLDER))

    def reopen(self) -> None:
        for file in self._any_file():
            self.pair.make("open", file, FileAt(FOLDER))

    def set_session_file(self) -> None:
        new = FileAt(f"{FOLDER}/named-{self._number()}.jsonl")
        if self.persisted:
            self.pair.do("set_session_file", self.r.choice((*self._any_file(), new)))

    def _message(self, message: Json) -> None:
        self.time_ms += 1_000
        timed = self.r.random() < 0.9
        self.pair.do("append_message", {**message, "timestamp": self.time_ms} if timed else message)

    def _text(self) -> str:
        return self.r.choice(_TEXTS)

    def _blocks(self) -> list[Json]:
        image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
        texts = [{"type": "text", "text": self._text()} for _ in range(self.r.randrange(3))]
        return [*texts, image] if self.r.random() < 0.2 else texts

    def _extras(self) -> tuple[object, ...]:
        details = {"readFiles": ["a.py"], "modifiedFiles": []}
        return self.r.choice(((), (details,), (details, True), (None, False)))

    def _entries(self) -> list[Json]:
        return self.pair.entries()

    def _any(self, entries: list[Json]) -> list[EntryAt]:
        """One of the entries, or none where there are none."""
        return [EntryAt(int(self.r.choice(entries)["id"].removeprefix("#")))] if entries else []

    def _branch(self, entries: list[Json]) -> list[Json]:
        on_branch = {*self.pair.ours.parts("branch")["branch"]}
        return [entry for entry in entries if entry["id"] in on_branch]

    def _number(self) -> int:
        self._files += 1
        return self._files

    def _any_file(self) -> list[FileOf]:
        """One of the pair's files, or none where there are none; the last is likelier than the others."""
        both = zip(self.pair.ours.files, self.pair.theirs.files, strict=True)
        there = [FileOf(at) for at, files in enumerate(both) if all(Path(file).exists() for file in files)]
        return [self.r.choice((*there, there[-1], there[-1]))] if there else []


_GROWING: tuple[Callable[[Steps], object], ...] = (
    *(Steps.user, Steps.assistant) * 4,
    *(Steps.tool_result, Steps.bash_execution, Steps.custom_message),
    *(Steps.model_change, Steps.thinking_level_change, Steps.name, Steps.usage),
    *(Steps.custom_entry, Steps.custom_message_entry, Steps.context_edit),
    *(Steps.label, Steps.label, Steps.label, Steps.clear_label),
    *(Steps.compaction, Steps.branch, Steps.branch, Steps.branch_with_summary, Steps.reset_leaf, Steps.unknown),
)
_MOVING: tuple[Callable[[Steps], object], ...] = (
    *(Steps.create_branched_session, Steps.fork, Steps.reopen) * 2,
    *(Steps.new_session, Steps.set_session_file),
)
_STEPS = (*_GROWING * 3, *_MOVING)
