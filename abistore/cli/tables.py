"""Aligned columns of text."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.model.words.characters import in_line

LONGEST = 400
"""The longest cell, in characters: all rows are padded to the longest of a column."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows below their heads, each in one line without trailing blanks. The columns in ``right`` are numbers."""
    every = [list(heads), *([in_line(cell, LONGEST) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(heads))]
    lines = (
        "  ".join(
            cell.rjust(widths[column]) if column in right else cell.ljust(widths[column])
            for column, cell in enumerate(row)
        )
        for row in every
    )
    return "\n".join(line.rstrip() for line in lines)
