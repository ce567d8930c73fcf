"""What is logged, all of it under the name `sessiontree`."""

from __future__ import annotations


def warn_unread(count: int) -> None:
    """Warn of session files that could not be read, and were left out."""
    import logging  # late: hardly any listing needs it

    logging.getLogger("sessiontree").warning(
        "could not be read: %d (scan() and `sessiontree check` tell what and why)", count
    )
