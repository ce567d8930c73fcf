"""What is logged, all of it under the name `sessiontree`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def warn_unread(count: int) -> None:
    """Warn of session files that could not be read, and were left out."""
    import logging  # late: hardly any listing needs it

    logging.getLogger("sessiontree").warning(
        "could not be read: %d (scan() and `sessiontree check` tell what and why)", count
    )


def warn_config(path: Path, reason: object) -> None:
    """Warn of a config file, or of something in it, that is not followed."""
    import logging

    logging.getLogger("sessiontree").warning("%s is not followed: %s", path, reason)
