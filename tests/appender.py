"""Append to a session when told to, and print the ids that came back; a test runs several of these as processes.

appender.py PATH COUNT TEXT
"""

from __future__ import annotations

import json
import sys

from elyra_support import user
from sessiontree import SessionManager


def main(path: str, count: int, text: str) -> None:
    with SessionManager.open(path) as manager:
        leaf = manager.get_leaf_id()
        print("ready", flush=True)
        sys.stdin.readline()
        ids = [manager.append_message(user(text * (1 + number % 50))) for number in range(count)]
        assert manager.get_leaf_id() == ids[-1]
    print(json.dumps({"leaf": leaf, "ids": ids}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
