"""List a store as a user who may read its catalogue, or not, but not write to it; a test runs this as a process.

read_only_catalogue.py AGENT CATALOGUE
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from as_nobody import drop_rights
from changing_store import assert_same


def main(agent: Path, catalogue: Path) -> None:
    drop_rights()
    if os.access(catalogue.parent, os.W_OK):
        sys.exit("permissions do not apply here")
    assert_same(agent, catalogue)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
