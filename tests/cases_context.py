"""Sessions whose context is odd, and what is right for each; and what old versions become."""

from __future__ import annotations

from cases_open import (
    LINKS,
    NAMES,
    TIME,
    TIME_MS,
    Json,
    Right,
    answer,
    chain,
    derived_id,
    entry,
    label,
    session,
    user,
)

_M1, _M2, _M3 = (("message", {"message": user(f"q{number}")}) for number in (1, 2, 3))
_SYSTEM = {"role": "system", "content": "Be kind."}
_TOOL = {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [{"type": "text", "text": "long"}]}
_BASH = {"role": "bashExecution", "command": "ls", "output": "a", "timestamp": TIME_MS}
_SUMMARY = {"role": "compactionSummary", "summary": "S", "tokensBefore": 5, "timestamp": TIME_MS}


def message(found: object) -> tuple[str, Json]:
    return "message", {"message": found}


def messages(*found: object) -> bytes:
    return chain(*map(message, found))


def compaction(first_kept: object, **fields: object) -> tuple[str, Json]:
    return "compaction", {"summary": "S", "firstKeptEntryId": first_kept, "tokensBefore": 5, **fields}


def edit(target: object, *replacement: object) -> tuple[str, Json]:
    return "context_edit", {"targetId": target, **({"replacement": replacement[0]} if replacement else {})}


def model(provider: object, model_id: object) -> tuple[str, Json]:
    return "model_change", {"provider": provider, "modelId": model_id}


def thinking(level: object) -> tuple[str, Json]:
    return "thinking_level_change", {"thinkingLevel": level}


def custom_message(**fields: object) -> tuple[str, Json]:
    return "custom_message", {"customType": "memo", "content": "c", "display": True, **fields}


def branch_summary(**fields: object) -> tuple[str, Json]:
    return "branch_summary", {"summary": "B", "fromId": "x", **fields}


def _text(text: str) -> list[Json]:
    return [{"type": "text", "text": text}]


SETTINGS: dict[str, tuple[bytes, Right]] = {
    "the model: the last of changes and answers": (
        chain(model("a", "one"), message(answer(provider="b", model="two"))),
        {"model": ("b", "two")},
    ),
    "the model: a change after an answer": (
        chain(message(answer(provider="b", model="two")), model("a", "one")),
        {"model": ("a", "one")},
    ),
    "the model: odd ones do not count": (
        chain(
            model("a", "one"),
            model("b", 2),
            model(None, "three"),
            message(answer(provider="c")),
            ("model_change", {}),
            message(answer(provider=["d"], model="four")),
            message(user(provider="e", model="five")),
        ),
        {"model": ("a", "one")},
    ),
    "the model: an answer without content tells it too": (
        chain(message({"role": "assistant", "provider": "a", "model": "one"})),
        {"model": ("a", "one")},
    ),
    "the thinking level: odd ones do not count": (
        chain(thinking("low"), thinking("high"), thinking(3), thinking(None), ("thinking_level_change", {})),
        {"thinking_level": "high", "messages": []},
    ),
    "settings before a compaction count": (
        chain(model("a", "one"), thinking("high"), compaction("nobody")),
        {"model": ("a", "one"), "thinking_level": "high", "messages": [_SUMMARY]},
    ),
    "settings of other branches do not count": (
        session(
            entry("a", None),
            entry("b", "a", "model_change", provider="a", modelId="one"),
            entry("c", "a", "thinking_level_change", thinkingLevel="high"),
            entry("d", "a"),
        ),
        {"model": None, "thinking_level": "off"},
    ),
    "an edit that takes an answer out leaves its model": (
        chain(message(answer(provider="a", model="one")), edit("e1", None)),
        {"messages": [], "model": ("a", "one")},
    ),
}

MESSAGES: dict[str, tuple[bytes, Right]] = {
    "messages without role and content give none": (
        messages({}, {"role": 5, "content": {}}, {"text": "x"}, {"content": None}, None, "text", [user()]),
        {"entry_count": 7, "messages": []},
    ),
    "a message that lacks only its role is passed on": (
        messages({"content": "x", "more": 1}, {"role": None, "content": []}, {"role": 5, "content": "y"}),
        {"messages": [{"content": "x", "more": 1}, {"role": None, "content": []}, {"role": 5, "content": "y"}]},
    ),
    "a message that lacks only its content": (
        messages(
            *({"role": role, "k": 1} for role in ("user", "assistant", "toolResult", "system", "custom", "robot"))
        ),
        {
            "messages": [
                {"role": "user", "k": 1, "content": []},
                {"role": "assistant", "k": 1, "content": []},
                {"role": "toolResult", "k": 1, "content": []},
                {"role": "system", "k": 1, "content": ""},
                {"role": "custom", "k": 1},
                {"role": "robot", "k": 1},
            ]
        },
    ),
    "odd content": (
        messages(
            *({"role": role, "content": {"text": "x"}} for role in ("user", "assistant", "toolResult", "system")),
            {"role": "custom", "content": 5},
            {"role": "user", "content": 0},
            {"role": "user", "content": False},
        ),
        {
            "messages": [
                {"role": "user", "content": []},
                {"role": "assistant", "content": []},
                {"role": "toolResult", "content": []},
                {"role": "system", "content": ""},
                {"role": "custom", "content": 5},
                {"role": "user", "content": []},
                {"role": "user", "content": []},
            ]
        },
    ),
    "content that is usable stays": (
        messages(answer("x"), {"role": "assistant", "content": "text"}, {"role": "system", "content": [5]}, user("")),
        {
            "messages": [
                {"role": "assistant", "content": _text("x")},
                {"role": "assistant", "content": "text"},
                {"role": "system", "content": [5]},
                user(""),
            ]
        },
    ),
    "the file's own entries stay as they are": (
        messages({"role": "user"}),
        {"raw": [entry("e1", None, "message", message={"role": "user"})]},
    ),
    "custom messages": (
        chain(custom_message(details={"k": 1}), custom_message(content=_text("x"), display=False)),
        {
            "messages": [
                {
                    "role": "custom",
                    "customType": "memo",
                    "content": "c",
                    "display": True,
                    "details": {"k": 1},
                    "timestamp": TIME_MS,
                },
                {"role": "custom", "customType": "memo", "content": _text("x"), "display": False, "timestamp": TIME_MS},
            ]
        },
    ),
    "odd custom messages": (
        chain(
            custom_message(customType=5, content={}, display="yes", details=0, timestamp="soon"),
            custom_message(content=None, details=None),
            ("custom_message", {}),
        ),
        {
            "messages": [
                {"role": "custom", "content": [], "details": 0},
                {"role": "custom", "customType": "memo", "content": [], "display": True, "timestamp": TIME_MS},
                {"role": "custom", "content": [], "timestamp": TIME_MS},
            ]
        },
    ),
    "branch summaries": (
        chain(branch_summary(details={"k": 1}), branch_summary(fromId=5, timestamp=5)),
        {
            "messages": [
                {"role": "branchSummary", "summary": "B", "fromId": "x", "timestamp": TIME_MS},
                {"role": "branchSummary", "summary": "B"},
            ]
        },
    ),
    "branch summaries without a summary give none": (
        chain(branch_summary(summary=""), branch_summary(summary=None), branch_summary(summary=["B"])),
        {"messages": []},
    ),
    "all else gives none": (
        chain(
            model("a", "one"),
            thinking("low"),
            ("custom", {"customType": "x", "data": user()}),
            label("e1", "x"),
            ("session_info", {"name": "n"}),
            ("usage", {"usage": {"input": 1}, "message": user()}),
            edit("nobody", None),
            ("decision", {"message": user()}),
            ("Message", {"message": user()}),
        ),
        {"entry_count": 9, "messages": []},
    ),
    "without a leaf, nothing": (
        session(entry(None, None, "message", message=answer(provider="a", model="one"))),
        {"messages": [], "model": None},
    ),
}

COMPACTIONS: dict[str, tuple[bytes, Right]] = {
    "its summary, what it keeps, and what follows": (
        chain(_M1, _M2, compaction("e2"), _M3),
        {"messages": [_SUMMARY, user("q2"), user("q3")]},
    ),
    "the first kept is of another branch": (
        session(
            entry("a", None, "message", message=user("q1")),
            entry("b", "a", "message", message=user("q2")),
            entry("c", "a", "compaction", summary="S", firstKeptEntryId="b", tokensBefore=5),
        ),
        {"messages": [_SUMMARY]},
    ),
    "the first kept is itself": (chain(_M1, compaction("e2"), _M2), {"messages": [_SUMMARY, user("q2")]}),
    "the first kept comes after it": (chain(_M1, compaction("e3"), _M2), {"messages": [_SUMMARY, user("q2")]}),
    "the first kept is odd": (chain(_M1, compaction(["e1"]), _M2), {"messages": [_SUMMARY, user("q2")]}),
    "the first kept is none": (chain(_M1, compaction(None), _M2), {"messages": [_SUMMARY, user("q2")]}),
    "the first kept gives no message itself": (
        chain(_M1, thinking("low"), _M2, compaction("e2")),
        {"messages": [_SUMMARY, user("q2")]},
    ),
    "its first field, odd": (
        chain(_M1, compaction("e1", summary=5, tokensBefore="5", timestamp="soon")),
        {"messages": [{"role": "compactionSummary", "summary": ""}, user("q1")]},
    ),
    "no fields": (
        chain(_M1, ("compaction", {})),
        {"messages": [{"role": "compactionSummary", "summary": "", "timestamp": TIME_MS}]},
    ),
    "tokens that are no number": (
        chain(compaction(None, tokensBefore=True)),
        {"messages": [{"role": "compactionSummary", "summary": "S", "timestamp": TIME_MS}]},
    ),
    "tokens as they are": (
        chain(compaction(None, tokensBefore=-0.5)),
        {"messages": [{"role": "compactionSummary", "summary": "S", "tokensBefore": -0.5, "timestamp": TIME_MS}]},
    ),
    "the last on the path counts, an older one that it keeps gives none": (
        chain(_M1, compaction("e1", summary="old"), _M2, compaction("e1"), _M3),
        {"messages": [_SUMMARY, user("q1"), user("q2"), user("q3")]},
    ),
    "the first kept is an older compaction": (
        chain(_M1, compaction("e1", summary="old", systemMessage=_SYSTEM), _M2, compaction("e2")),
        {"messages": [_SUMMARY, user("q2")]},
    ),
    "on another branch it does not count": (
        session(
            entry("a", None, "message", message=user("q1")),
            entry("b", "a", "compaction", summary="S"),
            entry("c", "a", "message", message=user("q2")),
        ),
        {"messages": [user("q1"), user("q2")]},
    ),
    "what it keeps, all kinds": (
        chain(branch_summary(), custom_message(), message(_BASH), compaction("e1")),
        {"said": [("compactionSummary", "S"), ("branchSummary", "B"), ("custom", "c"), ("bashExecution", "")]},
    ),
    "a system message before the summary replaces those that are kept": (
        chain(
            message(_SYSTEM),
            _M1,
            message(_SYSTEM),
            compaction("e1", systemMessage={"role": "system", "content": "Now."}),
            message({"role": "system", "content": "More."}),
        ),
        {
            "said": [
                ("system", "Now."),
                ("compactionSummary", "S"),
                ("user", "q1"),
                ("system", "More."),
            ]
        },
    ),
    "without one, those that are kept go all the same": (
        chain(message(_SYSTEM), _M1, compaction("e1")),
        {"said": [("compactionSummary", "S"), ("user", "q1")]},
    ),
    "an odd one is none": (
        chain(message(_SYSTEM), compaction("e1", systemMessage="Now.")),
        {"said": [("compactionSummary", "S")]},
    ),
    "an empty one is none": (
        chain(message(_SYSTEM), compaction("e1", systemMessage={})),
        {"said": [("compactionSummary", "S")]},
    ),
    "one without content": (
        chain(message(_SYSTEM), compaction("e1", systemMessage={"role": "system", "content": None})),
        {"messages": [{"role": "system", "content": ""}, _SUMMARY]},
    ),
}

_ODD_REPLACEMENTS: list[object] = [5, "text", [], {}, {"content": None}, {"content": {}}]

EDITS: dict[str, tuple[bytes, Right]] = {
    "null takes the message out": (chain(_M1, _M2, edit("e1", None)), {"messages": [user("q2")]}),
    "missing is not null": (chain(_M1, edit("e1")), {"messages": [user("q1")]}),
    "odd ones do not count": (
        chain(_M1, *(edit("e1", odd) for odd in _ODD_REPLACEMENTS), edit(5, None)),
        {"messages": [user("q1")]},
    ),
    "an odd one leaves the one before it": (
        chain(_M1, edit("e1", {"content": "new"}), edit("e1", {"content": 5}), edit("e1")),
        {"messages": [user("new")]},
    ),
    "only the content is replaced": (
        chain(
            _M1,
            message(answer(model="m")),
            message(_TOOL),
            edit("e1", {"content": "one", "role": "assistant"}),
            edit("e2", {"content": "two"}),
            edit("e3", {"content": "three"}),
        ),
        {
            "messages": [
                user("one"),
                {"role": "assistant", "content": _text("two"), "model": "m"},
                {**_TOOL, "content": _text("three")},
            ]
        },
    ),
    "lists are taken as they are": (
        chain(_M1, message(_TOOL), edit("e1", {"content": []}), edit("e2", {"content": [5, *_text("x")]})),
        {"messages": [user([]), {**_TOOL, "content": [5, *_text("x")]}]},
    ),
    "a content that was missing": (
        chain(message({"role": "user"}), edit("e1", {"content": "new"})),
        {"messages": [{"role": "user", "content": "new"}]},
    ),
    "the last for a target wins": (
        chain(
            _M1, _M2, edit("e1", None), edit("e2", {"content": "x"}), edit("e1", {"content": "back"}), edit("e2", None)
        ),
        {"messages": [user("back")]},
    ),
    "of a custom message": (
        chain(custom_message(), edit("e1", {"content": "new"})),
        {
            "messages": [
                {"role": "custom", "customType": "memo", "content": "new", "display": True, "timestamp": TIME_MS},
            ]
        },
    ),
    "of what has no content to replace": (
        chain(
            branch_summary(),
            message(_BASH),
            compaction("e1"),
            message(_SYSTEM),
            *(edit(f"e{number}", {"content": "new"}) for number in (1, 2, 3, 4)),
        ),
        {
            "messages": [
                _SUMMARY,
                {"role": "branchSummary", "summary": "B", "fromId": "x", "timestamp": TIME_MS},
                _BASH,
                _SYSTEM,
            ]
        },
    ),
    "summaries can be taken out": (
        chain(branch_summary(), compaction("e1", systemMessage=_SYSTEM), edit("e1", None), edit("e2", None)),
        {"messages": []},
    ),
    "what goes before a summary is a message like others": (
        chain(
            _M1, compaction("e1", systemMessage={"role": "assistant", "content": None}), edit("e2", {"content": "new"})
        ),
        {
            "messages": [
                {"role": "assistant", "content": [{"type": "text", "text": "new"}]},
                _SUMMARY,
                user("q1"),
            ]
        },
    ),
    "what the system says before a summary stays": (
        chain(_M1, compaction("e1", systemMessage=_SYSTEM), edit("e2", {"content": "new"})),
        {"messages": [_SYSTEM, _SUMMARY, user("q1")]},
    ),
    "of an unknown target": (chain(_M1, edit("nobody", None)), {"messages": [user("q1")]}),
    "before the range that is kept it does not count": (
        chain(_M1, edit("e3", None), _M2, compaction("e3")),
        {"messages": [_SUMMARY, user("q2")]},
    ),
    "in the range that is kept it counts": (
        chain(_M1, _M2, edit("e2", None), compaction("e2")),
        {"messages": [_SUMMARY]},
    ),
    "on another branch it does not count": (
        session(
            entry("a", None, "message", message=user("q1")),
            entry("b", "a", "context_edit", targetId="a", replacement=None),
            entry("c", "a", "message", message=user("q2")),
        ),
        {
            "messages": [user("q1"), user("q2")],
            "said_at": {None: [("user", "q1"), ("user", "q2")], "b": [], "c": [("user", "q1"), ("user", "q2")]},
        },
    ),
}


def old(*records: Json | str, **header: object) -> bytes:
    """A session of version 1."""
    return session(*records, version=None, **header)


def _old(kind: str = "message", **fields: object) -> Json:
    return {"type": kind, "timestamp": TIME, **fields}


def _old_compaction(index: object) -> Json:
    return _old("compaction", summary="S", firstKeptEntryIndex=index, tokensBefore=5)


_Q1, _Q2 = (_old(message=user(f"q{number}")) for number in (1, 2))
_D = [derived_id("s", number) for number in range(8)]
_HOOK = {"role": "hookMessage", "customType": "memo", "content": "x", "display": True}

_KEPT_VERSIONS: list[object] = [3, 3.5, 99, "1", [], True]

VERSIONS: dict[str, tuple[bytes, Right]] = {
    "1: a chain with derived ids, whatever ids there are": (
        old(_Q1, entry("e1", "nobody", "label"), entry("e1", "e1")),
        {
            "header": {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/team/app"},
            "branch": _D[1:4],
            "raw": [
                {**_Q1, "id": _D[1], "parentId": None},
                entry(_D[2], _D[1], "label"),
                entry(_D[3], _D[2]),
            ],
            "damage": [],
        },
    ),
    "1: later headers and joined objects take a number": (
        old(_Q1, {"type": "session", "id": "t"}, '{"type":"x"}{"a":1} {"id":"y"}', "[", _Q2),
        {"branch": [_D[1], _D[3], _D[4], _D[5]], "damage": [("header", 3), ("joined", 4), ("line", 5)]},
    ),
    "1: what stands before the header takes none": (
        b'{"type":"title"}\n\n{\n' + old(_Q1, _Q2),
        {"branch": _D[1:3], "damage": [("line", 3)]},
    ),
    "1: an index counts the header as 0": (
        old(_Q1, _Q2, _old_compaction(2)),
        {
            "messages": [_SUMMARY, user("q2")],
            "raw": [
                {**_Q1, "id": _D[1], "parentId": None},
                {**_Q2, "id": _D[2], "parentId": _D[1]},
                {
                    **_old("compaction", summary="S", tokensBefore=5, firstKeptEntryId=_D[2]),
                    "id": _D[3],
                    "parentId": _D[2],
                },
            ],
        },
    ),
    "1: an index of a later header names nothing": (
        old(_Q1, {"type": "session", "id": "t"}, _Q2, _old_compaction(2)),
        {"messages": [_SUMMARY]},
    ),
    "1: an index behind one counts it": (
        old(_Q1, {"type": "session", "id": "t"}, _Q2, _old_compaction(3)),
        {"messages": [_SUMMARY, user("q2")]},
    ),
    "1: an index is a number, however it is written": (
        old(_Q1, _Q2, _old_compaction(2.0)),
        {"messages": [_SUMMARY, user("q2")]},
    ),
    **{
        f"1: an index of {index} names nothing": (
            old(_Q1, _old_compaction(index)),
            {
                "messages": [_SUMMARY],
                "raw": [
                    {**_Q1, "id": _D[1], "parentId": None},
                    {**_old("compaction", summary="S", tokensBefore=5), "id": _D[2], "parentId": _D[1]},
                ],
            },
        )
        for index in (0, -1, 1.5, 3, 2**70)
    },
    **{
        f"1: an index of {index!r} is none, and stays": (
            old(_Q1, _old_compaction(index)),
            {
                "messages": [_SUMMARY],
                "raw": [
                    {**_Q1, "id": _D[1], "parentId": None},
                    {**_old_compaction(index), "id": _D[2], "parentId": _D[1]},
                ],
            },
        )
        for index in ("1", True, None, [1])
    },
    "1: an index in other entries stays": (
        old(_old("custom", firstKeptEntryIndex=1)),
        {"raw": [{**_old("custom", firstKeptEntryIndex=1), "id": _D[1], "parentId": None}]},
    ),
    **{
        f"{version}: the role hookMessage becomes custom": (
            session({**_old(message=_HOOK), "id": "e1", "parentId": None}, version=version),
            {
                "header": {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/team/app"},
                "messages": [{**_HOOK, "role": "custom"}],
            },
        )
        for version in (1, 1.9, 0, -1, None, 2, 2.5)
    },
    **{
        f"{version!r}: read as 3, and kept": (
            session(entry("e1", None, "message", message=_HOOK), version=version),
            {
                "header": {"type": "session", "version": version, "id": "s", "timestamp": TIME, "cwd": "/team/app"},
                "messages": [_HOOK],
                "branch": ["e1"],
            },
        )
        for version in _KEPT_VERSIONS
    },
    "2: ids stay, and so does an index": (
        session({**_old_compaction(1), "id": "e1", "parentId": "nobody"}, version=2),
        {"raw": [{**_old_compaction(1), "id": "e1", "parentId": "nobody"}], "damage": [("parent", 2)]},
    ),
    "2: the role of other things stays": (
        session(
            entry("e1", None, "message", role="hookMessage", message={"role": "user", "content": [_HOOK]}),
            entry("e2", "e1", "compaction", systemMessage=_HOOK),
            version=2,
        ),
        {
            "raw": [
                entry("e1", None, "message", role="hookMessage", message={"role": "user", "content": [_HOOK]}),
                entry("e2", "e1", "compaction", systemMessage=_HOOK),
            ]
        },
    ),
}

TABLES = {
    "links": LINKS,
    "names": NAMES,
    "settings": SETTINGS,
    "messages": MESSAGES,
    "compactions": COMPACTIONS,
    "edits": EDITS,
    "versions": VERSIONS,
}
ODD = {f"{table}: {name}": case for table, cases in TABLES.items() for name, case in cases.items()}
"""All of them, those of `cases_open` too."""
