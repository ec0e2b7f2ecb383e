"""Aligned columns of text."""

from __future__ import annotations

from collections.abc import Sequence

from abistore.model.words.characters import in_line

LONGEST = 400
"""How many characters a cell has at most: the longest is what all rows are filled up to."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows below their heads; the columns in ``right`` are numbers. No trailing blanks, and a row is one line."""
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
