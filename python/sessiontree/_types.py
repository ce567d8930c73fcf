"""Names for the arguments that many functions take."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]
"""A path as callers give it."""

OnProgress: TypeAlias = Callable[[int, int], object]
"""Called with (files read, files in all); what it returns is ignored."""
