"""Imports follow the arrows of the architecture, in both languages, and no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

FORMATS = frozenset({"elyra", "replio", "events"})
"""Modules that know a program's format; they never import each other, nor what joins them."""

JOINING = frozenset(
    {"sources", "headers", "known", "scan", "_scan", "contexts", "_contexts", "tables", "record", "cli"}
)


def rust_modules() -> dict[str, set[str]]:
    """Each top-level module of the core, with the modules it uses."""
    uses: dict[str, set[str]] = {}
    source = ROOT / "rust/sessiontree-core/src"
    for file in source.rglob("*.rs"):
        if file.name == "lib.rs":
            continue
        module = file.relative_to(source).parts[0].removesuffix(".rs")
        code = file.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        named = set(re.findall(r"crate::(\w+)", code))
        for group in re.findall(r"crate::\{([^}]*)", code):
            named |= set(re.findall(r"(\w+)(?:::|,|$)", group))
        uses.setdefault(module, set()).update(named - {module})
    return uses


def python_modules() -> dict[str, set[str]]:
    """Each top-level module of the package, with the modules it imports."""
    uses: dict[str, set[str]] = {}
    source = ROOT / "python/sessiontree"
    for file in source.rglob("*.py"):
        parts = file.relative_to(source).with_suffix("").parts
        if parts[0] in ("__init__", "__main__"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = parts[: len(parts) - node.level]
                names = [node.module.split(".")[0]] if node.module else [alias.name for alias in node.names]
                uses.setdefault(parts[0], set()).update((*base, name)[0] for name in names)
    return {module: used - {module} for module, used in uses.items()}


@pytest.mark.parametrize("modules", [rust_modules(), python_modules()], ids=["rust", "python"])
def test_formats_know_neither_each_other_nor_what_joins_them(modules: dict[str, set[str]]) -> None:
    assert modules.keys() >= FORMATS
    for name in FORMATS:
        assert not modules[name] & ((FORMATS - {name}) | JOINING), name
    for name, used in modules.items():
        if name not in FORMATS | JOINING:
            assert not used & (FORMATS | JOINING), name


def test_rust_modules_stand_in_the_order_of_the_data() -> None:
    """A module uses only modules that are declared before it."""
    order = re.findall(
        r"^(?:pub )?mod (\w+);", (ROOT / "rust/sessiontree-core/src/lib.rs").read_text(encoding="utf-8"), re.M
    )
    uses = rust_modules()
    assert set(order) == uses.keys()
    for place, module in enumerate(order):
        assert uses[module] <= set(order[:place]), module


def test_only_one_place_imports_orjson_and_only_the_binding_knows_pyo3() -> None:
    python = [file for file in (ROOT / "python").rglob("*.py") if "orjson" in file.read_text(encoding="utf-8")]
    assert [file.name for file in python] == ["_json.py"]
    assert "pyo3" not in (ROOT / "rust/sessiontree-core/Cargo.toml").read_text(encoding="utf-8")


def test_only_the_crew_knows_rayon() -> None:
    rust = [
        file
        for file in (ROOT / "rust/sessiontree-core/src").rglob("*.rs")
        if "rayon" in file.read_text(encoding="utf-8")
    ]
    assert [file.name for file in rust] == ["crew.rs"]
