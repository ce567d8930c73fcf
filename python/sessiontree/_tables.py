"""`Table`: what a scan's sessions hold, as rows that Arrow's consumers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _native

if TYPE_CHECKING:
    from ._native import SessionInfo
    from ._types import TableName


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A table of what some sessions hold, which Arrow's consumers take as it is: pyarrow, polars, pandas, duckdb.

    It follows Arrow's PyCapsule interface, and needs none of them. Rows come in the order of the sessions, and within
    each in the order of its file. Each use reads the files anew, in parallel, as batches are asked for, and holds only
    a few of these at once; a use that ends early ends the reading. A file that has changed or gone since the scan is an
    error that names it: in whose words is the consumer's matter.

    Attributes:
        name: Which table it is.
        infos: The sessions.

    Rule: docs/tables.md, which tells of every column.
    """

    name: TableName
    infos: tuple[SessionInfo, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(_native.table_columns(self.name))

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self.columns)} columns, {len(self.infos)} sessions>"

    def __arrow_c_schema__(self) -> object:
        """The schema, as a capsule of Arrow's C data interface."""
        return _native.table_schema(self.name)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A new stream of the rows, as a capsule of Arrow's C stream interface.

        Args:
            requested_schema: Not looked at, as the interface allows: the schema is always the table's own.
        """
        return _native.table_stream(self.name, self.infos)
