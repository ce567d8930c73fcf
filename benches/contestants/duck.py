"""DuckDB, on all processors: three columns of every line, no text. `python -m benches.contestants.duck FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import duckdb

from .rounds import serve

# A line may have 16 MB, as is DuckDB's default: more makes it slower.
QUERY = """
    select filename, count(*) filter (type = 'message'), max(timestamp), count(parentId)
    from read_ndjson(
        ?,
        columns = {type: 'varchar', timestamp: 'varchar', parentId: 'varchar'},
        filename = true,
        ignore_errors = true
    )
    group by filename
"""


def main() -> None:
    pattern = str(Path(sys.argv[1]) / "sessions/*/*.jsonl")
    connection = duckdb.connect()

    def query() -> list[Any]:
        return connection.execute(QUERY, [pattern]).fetchall()

    serve(query, lambda: {name: [messages] for name, messages, *_ in query()})


if __name__ == "__main__":
    main()
