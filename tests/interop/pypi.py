"""Replio, installed from PyPI in a virtual environment of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

from interop.installs import TIMEOUT_S, UnavailableError, is_installed, mark

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "0.28.0"
"""The last one with the commands and names that the format's documentation has; 0.33.0 brought another form of file."""

_SPECS = [f"replio=={VERSION}"]
_UNAVAILABLE = "No matching distribution found"
"""What pip says in the end, whatever keeps it from the index."""


def install(base: Path) -> Path:
    """Install Replio below `base`; what is there already stays. Gives the Python that has it.

    Raises:
        UnavailableError: There is no pip, or it cannot fetch Replio.
        CalledProcessError: pip fails for any other reason.
    """
    folder = base / f"replio-{VERSION}"
    python = folder / "bin/python"
    if is_installed(folder, _SPECS):
        return python
    if importlib.util.find_spec("pip") is None:
        raise UnavailableError("there is no pip here")
    venv.create(folder, clear=True)
    flags = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary=:all:", "--retries=1"]
    try:
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", python, "install", *flags, *_SPECS],
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"pip install of {_SPECS[0]} took more than {TIMEOUT_S} s") from error
    except subprocess.CalledProcessError as error:
        if _UNAVAILABLE not in error.stderr:
            error.add_note(error.stderr)
            raise
        raise UnavailableError(f"pip cannot install {_SPECS[0]} here: {_UNAVAILABLE}") from error
    mark(folder, _SPECS)
    return python
