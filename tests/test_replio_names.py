"""Names of Replio sessions: which are refused, which are generated, and what becomes of one that is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from replio_support import STAMP, contents, document, on_disk, put, store_in
from sessiontree import InvalidNameError, NameTakenError

if TYPE_CHECKING:
    from pathlib import Path


BAD_NAMES = [
    *["", ".", "..", "../escape", "a/b", "/etc/x", "a\\b", "a\0b", "a\nb", "a\x7fb", "a\x85b", ".hidden", "\ud83d"],
    *["x" * 251, "ü" * 126, "a\tb", "..\\escape"],
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_name_that_leads_elsewhere_or_is_none_is_refused(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    store = store_in(project)
    put(store, "s", document("s"))
    (project / ".replio/escape.json").write_text("{}", encoding="utf-8")
    uses: list[Any] = [store.create, store.read, store.load, store.load_or_create, store.delete, store.preview]
    uses += [store.export, store.children, store.parent, store.finish]
    uses += [lambda name: store.rename("s", name), lambda name: store.rename(name, "t")]
    for use in uses:
        with pytest.raises(InvalidNameError):
            use(name)
    assert store.list() == ["s"]
    assert sorted(path.name for path in (project / ".replio").iterdir()) == ["escape.json", "sessions"]
    assert list(tmp_path.iterdir()) == [project]


@pytest.mark.parametrize(
    "name", ["a.b", "two words", "Größe", "日本", "-", "x" * 250, "ü" * 125, "a.json", "🚀", "ses_"]
)
def test_a_name_may_have_dots_blanks_and_any_letters(tmp_path: Path, name: str) -> None:
    session = store_in(tmp_path).create(name)
    session.append("user", "hi there")
    assert (session.name, session.path) == (name, tmp_path / f".replio/sessions/{name}.json")
    assert store_in(tmp_path).read(name).messages == session.messages


def test_a_generated_name_is_one_for_a_file(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for _ in range(2):
        store.create(job="é" * 300).append("user", "hi")
    store.create(parent="ü" * 120).append("user", "hi")
    job = f"job_{STAMP}_{'é' * 109}"
    assert store.list() == [job, f"{job}_2", f"sub_{STAMP}_{'ü' * 64}"]


def test_sessions_begun_in_one_second_with_the_same_words_are_all_kept(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for number in range(3):
        session = store.create()
        session.append("user", "What is OEE?")
        session.append("user", str(number))
    names = [f"ses_{STAMP}_what_is_oee{suffix}" for suffix in ("", "_2", "_3")]
    assert store.list() == names
    assert [contents(on_disk(store.read(name))["messages"])[1] for name in names] == ["0", "1", "2"]


def test_sessions_of_two_stores_begun_in_one_second_are_both_kept(tmp_path: Path) -> None:
    one, other = store_in(tmp_path), store_in(tmp_path)
    first, second = one.create(), other.create()
    assert first.name == second.name
    first.append("user", "same")
    second.append("user", "same")
    assert sorted((first.name, second.name)) == one.list() == [f"ses_{STAMP}_same", f"ses_{STAMP}_same_2"]


@pytest.mark.parametrize("options", [{"job": "nightly"}, {"parent": "ses_a"}], ids=["job", "parent"])
def test_a_generated_name_that_is_taken_meanwhile_gives_way(tmp_path: Path, options: dict[str, str]) -> None:
    one, other = store_in(tmp_path), store_in(tmp_path)
    first, second = one.create(**options), other.create(**options)
    first.append("user", "first")
    second.append("user", "second")
    assert (second.name, len(one.list())) == (f"{first.name}_2", 2)
    assert on_disk(second)["name"] == second.name
    assert contents(on_disk(first)["messages"]) == ["first"]


def test_an_explicit_name_that_is_taken_is_an_error(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.create("s").append("user", "kept")
    with pytest.raises(NameTakenError):
        store.create("s")
    late = store_in(tmp_path).create("late")
    store.create("late").append("user", "first")
    with pytest.raises(NameTakenError):
        late.append("user", "second")
    assert contents(on_disk(store.read("late"))["messages"]) == ["first"]
    assert late.messages == ()


def test_a_name_that_was_given_later_is_one_that_was_given(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    session = store.create()
    store.rename(session.name, "mine")
    store_in(tmp_path).create("mine").append("user", "first")
    with pytest.raises(NameTakenError):
        session.append("user", "second")
    assert (session.name, store.list()) == ("mine", ["mine"])
    assert contents(on_disk(store.read("mine"))["messages"]) == ["first"]


def test_a_session_has_one_reason_for_its_name(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    with pytest.raises(ValueError, match="name"):
        store.create("s", job="nightly")
    session = store.create("s", parent="ses_a")
    assert (session.name, session.parent_id) == ("s", "ses_a")
    session = store.create(job="nightly", parent="ses_a")
    assert (session.name, session.parent_id) == (f"job_{STAMP}_nightly", "ses_a")


def test_only_the_first_message_of_a_user_gives_an_automatic_name(tmp_path: Path) -> None:
    session = store_in(tmp_path).create()
    session.append("system", "Be terse.")
    assert session.name == f"ses_{STAMP}"
    session.append("user", "Größe?")
    assert session.name == f"ses_{STAMP}_groe"
    session.append("user", "another")
    assert store_in(tmp_path).list() == [session.name] == [f"ses_{STAMP}_groe"]
    assert on_disk(session)["name"] == session.name


def test_a_first_message_without_words_leaves_the_stamp(tmp_path: Path) -> None:
    session = store_in(tmp_path).create()
    session.append("user", "???")
    session.append("user", "words")
    assert session.name == f"ses_{STAMP}"
