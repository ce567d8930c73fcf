"""The oracle for opening a session, held against vectors, cases and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

import cases_context
import cases_open
import strategies
from opened import Facts, assert_same, brief, is_refused, reference_facts, vector_facts
from reference_session import open_session, tree
from support import same_facts, vector_file, vectors

if TYPE_CHECKING:
    from pathlib import Path


def opened(data: bytes) -> Facts:
    session = open_session(data)
    assert session is not None
    return reference_facts(session)


@pytest.mark.parametrize("folder", vectors(), ids=lambda folder: folder.name)
def test_vector(folder: Path) -> None:
    data = vector_file(folder).read_bytes()
    if is_refused(folder):
        assert open_session(data) is None
        return
    assert_same(*vector_facts(folder, opened(data)))


@pytest.mark.parametrize("name", cases_open.CASES)
def test_case(name: str) -> None:
    right = cases_open.CASES[name]
    assert_same(same_facts(brief(opened(cases_open.data(name))), right), right)


def test_a_conversation_as_deep_as_it_is_long() -> None:
    right = cases_open.DEEP_CHAIN
    assert_same(same_facts(brief(opened(cases_open.deep_chain())), right), right)


@pytest.mark.parametrize("name", cases_context.ODD)
def test_odd(name: str) -> None:
    data, right = cases_context.ODD[name]
    assert_same(same_facts(brief(opened(data)), right), right)


@given(data=strategies.session_files())
@settings(max_examples=strategies.EXAMPLES // 4, deadline=None)
def test_a_tree_has_every_node_once(data: bytes) -> None:
    session = open_session(data)
    if session is not None:
        names = [name for _, name in tree(session)]
        assert sorted(names) == sorted(session.nodes)
        assert set(session.tips) == {name for name in names if not session.children.get(name)}
