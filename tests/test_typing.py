"""The stub of the native module, and what the package exports."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import typing
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

import sessiontree
from sessiontree import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT_MS = 50


def documented(tree: ast.AST, holder: object) -> Iterator[tuple[str, str | None, str | None]]:
    """Each thing in the stub that has a docstring, with that and the one at run time."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and (told := ast.get_docstring(node)):
            there = getattr(holder, node.name, None)
            if there is not None:  # a TypedDict is only in the stub
                yield node.name, told, inspect.getdoc(there)
                yield from documented(node, there)


def test_help_says_what_the_stub_says() -> None:
    stub = ast.parse((files("sessiontree") / "_native.pyi").read_text(encoding="utf-8"))
    found = list(documented(stub, _native))
    assert len(found) >= 20
    assert [(name, real) for name, _, real in found] == [(name, told) for name, told, _ in found]


def test_all_that_is_exported_is_there_and_documented() -> None:
    assert sessiontree.__all__ == sorted(sessiontree.__all__)
    for name in sessiontree.__all__:
        assert inspect.getdoc(getattr(sessiontree, name)), name


@pytest.mark.parametrize("name", ["Damage", "Usage"])
def test_types_of_dataclasses_can_be_asked_for(name: str) -> None:
    assert typing.get_type_hints(getattr(sessiontree, name))


def test_the_package_says_that_it_is_typed() -> None:
    assert (files("sessiontree") / "py.typed").is_file()


def test_importing_is_quick() -> None:
    """`-X importtime`, cumulative, median of 10."""
    command = [sys.executable, "-X", "importtime", "-c", "import sessiontree"]
    times = []
    for _ in range(10):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append(int(done.stderr.splitlines()[-1].split("|")[1]) / 1000)
    assert sorted(times)[5] < IMPORT_MS
