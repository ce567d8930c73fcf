"""Where the catalogue is: what scans have found, kept so that the next one reads only what has changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._types import StrPath


def catalogue_path(catalogue: bool | StrPath | None) -> Path | None:
    """The catalogue's file, or None if there is to be none.

    Args:
        catalogue: True for the user's own, in the cache folder; a path for that file; False or None for none.

    Raises:
        ValueError: The path is empty.
    """
    if catalogue is None or catalogue is False:
        return None
    if catalogue is True:
        from platformdirs import user_cache_path  # late: who wants no catalogue does not wait for it

        path = user_cache_path("sessiontree", appauthor=False) / "catalogue.sqlite"
        return path if path.is_absolute() else None  # who has no home has no cache either
    if not os.fspath(catalogue):
        raise ValueError("catalogue is empty: expected a path, True, or False")
    return Path(os.path.abspath(catalogue))  # noqa: PTH100  links not resolved
