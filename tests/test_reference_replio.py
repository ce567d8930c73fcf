"""The oracle for Replio sessions, held against what the program itself made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import reference_replio as reference
from reference_replio_export import markdown
from support import DATA
from vectors_replio import folders, table, value

if TYPE_CHECKING:
    from pathlib import Path

    from reference_replio import Document


def vector(folder: Path) -> Document:
    return reference.read((folder / "session.json").read_bytes(), value(folder / "facts.json")["name"])


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_vector(folder: Path) -> None:
    document, facts, params = vector(folder), value(folder / "facts.json"), value(folder / "params.json")
    assert list(reference.roles(document.messages).items()) == [tuple(pair) for pair in facts["roles"]]
    assert reference.tools(document.messages) == facts["tools"]
    assert reference.provider_messages(document.elements) == value(folder / "provider_messages.json")
    assert reference.fold(document.elements) == value(folder / "folded_messages.json")
    assert markdown(document).encode() == (folder / "export.md").read_bytes()
    assert "".join(f"{line}\n" for line in reference.preview(document)) == (folder / "preview.txt").read_text()
    persisted = [
        reference.persisted(message, params["noise_tools"], params["session_tool_max_chars"])
        for message in document.messages
    ]
    assert persisted == value(folder / "persisted.json")["messages"]


@pytest.mark.parametrize(
    "folder", [one for one in folders() if (one / "compact.json").exists()], ids=lambda one: one.name
)
def test_compaction(folder: Path) -> None:
    document = vector(folder)
    for right in value(folder / "compact.json"):
        done = reference.compaction(document.elements, right["keep"])
        assert (done is not None) == right["compacted"]
        if done is not None:
            assert (done.record_index, done.compact_from) == (right["record_index"], right["compact_from"])
            assert done.summarized == right["summarized_input"]


def test_names() -> None:
    for row in table("slugs"):
        assert reference.slug(row["text"]) == row["slug"]
    names = table("names")
    for row in names["sub"]:
        assert reference.sub_name(names["stamp"], row["parent"]) == row["name"]
    for row in names["job"]:
        assert reference.job_name(names["stamp"], row["job"]) == row["name"]


def test_odd_files() -> None:
    refused = {}
    for odd in table("odd_files"):
        try:
            reference.read(odd["text"].encode(odd["encoding"]), odd["name"])
        except reference.RefusedError as error:
            refused[odd["name"]] = error.kind
    corrupt = dict.fromkeys(("empty", "cut", "list", "text", "msgsdict", "nan", "latin"), "corrupt")
    assert refused == corrupt | {"turns": "unsupported", "turns_named": "unsupported"}


@pytest.mark.parametrize("name", ["cut", "zero", "list", "other"])
def test_broken_files(name: str) -> None:
    with pytest.raises(reference.RefusedError, match="corrupt"):
        reference.read((DATA / f"cases/61-replio-truncated/{name}.json").read_bytes(), name)


def test_the_length_of_a_result_that_was_cut_before_stays() -> None:
    once = reference.cut("x" * 100, 10)
    assert once == "xxxxxxxxxx… (truncated from 100 chars)"
    assert reference.cut(once, 10) == reference.cut(once, 20) == once
    assert reference.cut(once, 5) == "xxxxx… (truncated from 100 chars)"
