"""``INSERT ... ON CONFLICT DO NOTHING``, which SQLite and PostgreSQL spell alike."""

from __future__ import annotations

from sqlalchemy import ClauseElement, Insert, Table, insert, text
from sqlalchemy.sql import SyntaxExtension


class _DoNothing(SyntaxExtension, ClauseElement):
    def apply_to_insert(self, insert_stmt: Insert) -> None:
        """Stand behind the values."""
        insert_stmt.apply_syntax_extension_point(lambda _: [text("ON CONFLICT DO NOTHING")], "post_values")


def insert_new(table: Table) -> Insert:
    """An ``INSERT`` into ``table`` that leaves out rows which are there."""
    return insert(table).ext(_DoNothing())
