"""``INSERT ... ON CONFLICT DO NOTHING``, which SQLite and PostgreSQL spell alike."""

from __future__ import annotations

from sqlalchemy import ClauseElement, Insert, Table, insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import SyntaxExtension


class _DoNothing(SyntaxExtension, ClauseElement):
    inherit_cache = True
    _traverse_internals = []  # noqa: RUF012 (so SQLAlchemy declares it)

    def apply_to_insert(self, insert_stmt: Insert) -> None:
        """Stand behind the values."""
        insert_stmt.apply_syntax_extension_point(self.append_replacing_same_type, "post_values")


@compiles(_DoNothing)
def _spelled(element: _DoNothing, compiler: object, **options: object) -> str:
    return "ON CONFLICT DO NOTHING"


def insert_new(table: Table) -> Insert:
    """An ``INSERT`` into ``table`` that leaves out rows which are there."""
    return insert(table).ext(_DoNothing())
