"""The stub of the native module, and what the package exports."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import typing
from importlib.resources import files
from statistics import median
from typing import TYPE_CHECKING

import pytest

import sessiontree
from sessiontree import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT_MS = 50

MODULES = ["camel", "context", "elyra", "errors", "events", "info", "messages", "record", "replio", "usage"]
"""Those of the package that are public."""


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


def _import_times(code: str) -> list[tuple[str, float, float]]:
    """Each module that is imported: its name, its own milliseconds, and those with what it imports in turn."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()[1:]]
    return [(name.strip(), int(own) / 1000, int(cumulative) / 1000) for own, cumulative, name in rows]


def test_importing_is_quick() -> None:
    """`-X importtime`, cumulative, median of 10."""
    times = [_import_times("import sessiontree")[-1] for _ in range(10)]
    assert {name for name, _, _ in times} == {"sessiontree"}
    assert median(time for _, _, time in times) < IMPORT_MS


def test_our_modules_are_imported_quickly_once_their_names_are_asked_for() -> None:
    code = "from sessiontree import SessionManager, contexts, scan"
    times = [[row for row in _import_times(code) if row[0].startswith("sessiontree")] for _ in range(10)]
    assert all("sessiontree.elyra.manager" in {name for name, _, _ in rows} for rows in times)
    assert median(sum(own for _, own, _ in rows) for rows in times) < IMPORT_MS


ASK = """
import sessiontree, sys
name = sys.argv[1]
assert name in dir(sessiontree)
value = getattr(sessiontree, name)
assert value is getattr(sessiontree, name)
print(getattr(value, "__name__", name).rpartition(".")[2])
"""


@pytest.mark.parametrize("name", ["SessionInfo", "SessionManager", "Usage", "contexts", "scan", *MODULES])
def test_each_name_can_be_the_first_that_is_asked_for(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", ASK, name], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == name


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'sessiontree' has no attribute 'nothing'"):
        _ = sessiontree.nothing  # type: ignore[attr-defined]
    assert not hasattr(sessiontree, "pathlib")
    names: dict[str, object] = {}
    exec("from sessiontree import *", names)
    assert names.keys() - {"__builtins__"} == set(sessiontree.__all__)
