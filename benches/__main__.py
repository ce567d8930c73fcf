"""`python -m benches report`, from the project's folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests"))  # the reference, and what installs pi


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    report = commands.add_parser("report", help="measure everything in one run, and write RESULTS.md and plot.svg")
    report.add_argument("--scale", type=float, default=1.0, help="size of the stores, 1 being the size that is quoted")
    report.add_argument("--large", action="store_true", help="with one session of 2 GB, and a store of 2 GB")
    report.add_argument("--out", type=Path, default=HERE, metavar="DIR", help="where to write; the default is benches/")
    given = parser.parse_args()

    from .report import measure  # late: it imports from the folder named above
    from .results import write

    write(measure(given.scale, is_large=given.large), given.out)


if __name__ == "__main__":
    main()
