"""Made-up Replio sessions, whole and damaged: they are read as the reference reads them, and kept as they were."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

import reference_replio as reference
import strategies_replio as strategies
from reference_replio_export import markdown
from replio_support import STAMP, TIME, dumped, put, store_in
from sessiontree import FormatError
from sessiontree.replio import ReplioStore, slug
from strategies import EXAMPLES

if TYPE_CHECKING:
    from replio_support import Json
    from sessiontree.replio import ReplioSession


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ReplioStore:
    """Where each example's file is written, over the one before."""
    return store_in(tmp_path_factory.mktemp("fuzz"), autosave=False)


def exact(value: object) -> str:
    """A text that differs where values do, `8` and `8.0` among them."""
    return json.dumps(value)


def refusal(store: ReplioStore) -> str | None:
    """The kind of the error that reading gives, or None."""
    try:
        store.read("s")
    except FormatError as error:
        return str(error.kind)
    return None


def reference_refusal(data: bytes) -> str | None:
    """The kind of what the reference raises, or None."""
    try:
        reference.read(data, "s")
    except reference.RefusedError as error:
        return error.kind
    return None


def assert_as_the_reference(store: ReplioStore, data: bytes) -> None:
    """All that is made of a file is what the reference makes of it."""
    path = put(store, "s", data)
    right = reference.read(data, "s")
    session = store.read("s")
    assert exact(session.messages) == exact(right.messages)
    assert exact([session.errors, session.permissions]) == exact([right.errors, right.permissions])
    assert (session.created_at, session.updated_at) == (right.created_at, right.updated_at)
    assert (session.parent_id, list(session.sub_sessions)) == (right.parent_id, right.sub_sessions)
    assert exact(session.provider_messages()) == exact(reference.provider_messages(right.elements))
    assert session.has_summary == any(map(reference.is_record, right.elements))
    assert exact(session.fold(list(session.messages))) == exact(reference.fold(right.elements))
    assert store.preview("s").lines() == reference.preview(right)
    assert session.to_markdown() == store.export("s", "-") == markdown(right)
    [info] = store.infos()
    facts = reference.listing_facts(right)
    assert {name: getattr(info, name) for name in facts} == facts
    assert path.read_bytes() == data


@given(document=strategies.DOCUMENTS)
@settings(max_examples=EXAMPLES // 2, deadline=None)
def test_a_session_is_read_as_the_reference_reads_it(store: ReplioStore, document: Json) -> None:
    assert_as_the_reference(store, strategies.spelt(document))


@given(document=strategies.DOCUMENTS, keep=st.integers(-1, 9))
@settings(max_examples=EXAMPLES // 4, deadline=None)
def test_a_session_is_compacted_as_the_reference_compacts_it(store: ReplioStore, document: Json, keep: int) -> None:
    put(store, "s", strategies.spelt(document))
    session, elements = store.read("s"), reference.read(strategies.spelt(document), "s").elements
    right = reference.compaction(elements, keep)
    asked: list[list[Json]] = []

    def summarize(messages: list[Json]) -> str:
        asked.append(messages)
        return " S "

    index = session.compact(summarize, keep=keep)
    assert index == (None if right is None else right.record_index)
    if right is not None:
        assert exact(asked) == exact([right.summarized])
        record = session.messages[-1]
        assert record | {"timestamp": "", "id": ""} == {
            **{"role": "command", "content": "/compact", "timestamp": "", "id": ""},
            **{"result": "S", "compact_from": right.compact_from},
        }
        logged = [*elements[: right.record_index], record]
        assert exact(session.messages) == exact(reference.objects(logged))
        assert exact(session.provider_messages()) == exact(reference.provider_messages(logged))


@given(data=strategies.damaged())
@settings(max_examples=EXAMPLES // 2, deadline=None)
def test_a_damaged_file_is_read_or_refused_and_never_crashes(store: ReplioStore, data: bytes) -> None:
    path = put(store, "s", data)
    kind, found = reference_refusal(data), refusal(store)
    if kind == "unsupported" and found is None:
        assert store.read("s").format == "turns"
    else:
        assert found == kind
    if kind is None:
        session, right = store.read("s"), reference.read(data, "s")
        assert exact(session.messages) == exact(right.messages)
        assert exact(session.provider_messages()) == exact(reference.provider_messages(right.elements))
    if found is None:
        use(store)
    assert (store.list(), len(store.infos())) == (["s"], found is None)
    assert path.read_bytes() == data


def use(store: ReplioStore) -> None:
    """Do what may stumble over odd values."""
    session = store.read("s")
    session.provider_messages(drop_unanswered=True, strip=True, keep_system=True)
    session.compact(lambda _: None, keep=1)
    assert session.to_markdown() == store.export("s", "-")
    assert store.preview("s") == store.preview(session)


# What is kept


@given(
    role=st.sampled_from(["user", "assistant", "tool", "developer"]),
    content=strategies.ANY,
    more=st.dictionaries(st.from_regex("[a-z]{1,4}_x", fullmatch=True), strategies.ANY, max_size=3),
)
@settings(max_examples=EXAMPLES // 8, deadline=None)
def test_what_was_saved_is_loaded(role: str, content: Any, more: dict[str, Any]) -> None:  # noqa: ANN401
    with TemporaryDirectory() as name:
        store = store_in(Path(name), autosave=False)
        session = store.create("s")
        session.append(role, content, **more)
        session.add_error(0, "x", **more)
        session.add_permission("a", "b", "c", **more)
        path = store.save()
        assert path is not None
        again = store_in(Path(name)).read("s")
        assert exact(entries(again)) == exact(entries(session))
        contents = [] if role == "assistant" and not content else [content]
        assert exact([message["content"] for message in again.messages]) == exact(contents)
        given = {key: one for key, one in more.items() if one is not None}
        for entry in entries(again):
            assert exact({key: entry[key] for key in given}) == exact(given)
        assert path.read_bytes() == dumped(json.loads(path.read_bytes()))


def entries(session: ReplioSession) -> list[Any]:
    return [*session.messages, *session.errors, *session.permissions]


@given(
    pieces=st.lists(strategies.PIECES, max_size=5),
    blank=st.sampled_from(["", " ", "\n\t", "\r\n"]),
    more=strategies.PIECES,
)
@settings(max_examples=EXAMPLES // 4, deadline=None)
def test_untouched_messages_keep_their_bytes(store: ReplioStore, pieces: list[str], blank: str, more: str) -> None:
    listed = f"{blank},{blank}".join(pieces)
    path = put(
        store, "s", f'{{{blank}"odd":{more},"messages"{blank}:[{listed}]{blank}}}'.encode(errors="surrogatepass")
    )
    session = store.read("s")
    before = session.messages
    session.append("developer", "new", id="m")
    store.save(session)
    data, at = path.read_bytes().decode(errors="surrogatepass"), 0
    for piece in (more, *pieces):
        assert piece in data[at:]
        at = data.index(piece, at) + len(piece)
    again = store.read("s").messages
    assert exact(again[:-1]) == exact(before)
    assert again[-1] == {"role": "developer", "content": "new", "timestamp": TIME, "id": "m"}


@given(text=strategies.TEXTS, caps=st.lists(st.integers(-1, 40), min_size=1, max_size=4))
@settings(max_examples=EXAMPLES // 8, deadline=None)
def test_a_result_is_cut_as_the_reference_cuts_it(text: str, caps: list[int]) -> None:
    with TemporaryDirectory() as name:
        store_in(Path(name), session_tool_max_chars=0).create("s").append("tool", text, tool="grep")
        for cap in caps:
            store = store_in(Path(name), session_tool_max_chars=cap)
            store.load("s")
            store.save()
            text = reference.cut(text, cap) if cap > 0 else text
            assert store.read("s").messages[0]["content"] == text


# Names


@given(text=st.one_of(strategies.TEXTS, st.text(), st.text("abc ½ﬁ é-_", min_size=38, max_size=44)))
@settings(max_examples=EXAMPLES, deadline=None)
def test_slugs(text: str) -> None:
    assert slug(text) == reference.slug(text)


@given(text=st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=20))
@settings(max_examples=EXAMPLES, deadline=None)
def test_names_of_jobs_and_delegations(store: ReplioStore, text: str) -> None:
    assert store.create(job=text).name.startswith(reference.job_name(STAMP, text))
    assert store.create(parent=text).name.startswith(reference.sub_name(STAMP, text))
