"""Replio: a project listed and previewed, against the simple ways in Python; and a large session exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import reference_replio
import reference_replio_export
from sessiontree.replio import ReplioStore

from . import musts, replio_stores

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

    from .jobs import Field


def test_list(field: Field, scale: float, is_full_size: bool) -> None:
    figures = field.replio_listing(replio_stores.project(scale)).figures
    print(*figures.items(), sep="\n")
    assert musts.unmet(musts.of_replio_listing(figures), is_full_size) == []


def test_previews(field: Field, scale: float) -> None:
    print(*field.replio_previews(replio_stores.project(scale)).figures.items(), sep="\n")


def test_export(scale: float, benchmark: BenchmarkFixture, is_full_size: bool, tmp_path: Path) -> None:
    large = replio_stores.large(scale)
    store = ReplioStore(large.folder)
    [name] = store.list()
    path = benchmark(store.export, name, tmp_path / "exported.md")
    document = reference_replio.read(large.files[0].read_bytes(), name)
    assert path.read_text(encoding="utf-8") == reference_replio_export.markdown(document)
    assert benchmark.stats is not None
    info = {"megabytes": large.bytes / 1e6, "seconds": benchmark.stats.stats.median}
    benchmark.extra_info.update(info)
    print(*(f"{key:32}{value:10.3f}" for key, value in info.items()), sep="\n")
    assert musts.unmet(musts.of_replio_export(info["seconds"]), is_full_size) == []
