"""What Replio itself made of its sessions: the folders and tables of `data/replio`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support import DATA

if TYPE_CHECKING:
    from pathlib import Path

_VECTORS = DATA / "replio"


def folders() -> list[Path]:
    """A folder for each session of the flat form."""
    return sorted(_VECTORS.glob("c*"))


def turns_folders() -> list[Path]:
    """A folder for each session of the later form."""
    return sorted((_VECTORS / "turns_0_36").iterdir())


def table(name: str) -> Any:  # noqa: ANN401  whatever stands in the JSON
    return value(_VECTORS / f"{name}.json")


def value(path: Path) -> Any:  # noqa: ANN401  whatever stands in the JSON
    return json.loads(path.read_text(encoding="utf-8"))
