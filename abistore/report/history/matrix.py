"""Matrices of releases as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from abistore.model.findings import Verdict
from abistore.model.words.characters import in_line
from abistore.model.words.counting import counted
from abistore.report.history.model import Matrix
from abistore.report.page.templates import asset, environment

SIGNS: Mapping[Verdict, str] = {
    Verdict.NO_CHANGE: "=",
    Verdict.COMPATIBLE: "+",
    Verdict.COMPATIBLE_WITH_RISK: "?",
    Verdict.API_BREAK: "s",
    Verdict.BREAKING: "X",
}
PARTIAL, SELF, UNJUDGED, UNASKED = "*", "\\", "!", ""
LEGEND = "= no change, + compatible, ? with risk, s sources break, X programs break"
NARROW = 7
"""So many letters of a version stand above a column of text."""

TONES: Mapping[Verdict, str] = {
    Verdict.NO_CHANGE: "compatible",
    Verdict.COMPATIBLE: "compatible",
    Verdict.COMPATIBLE_WITH_RISK: "risk",
    Verdict.API_BREAK: "api_break",
    Verdict.BREAKING: "breaking",
}


class MatrixCell(NamedTuple):
    """One cell of a page: its sign, its colour, and what it says in words."""

    sign: str
    tone: str
    title: str


def as_text(matrices: Sequence[Matrix]) -> str:
    """The matrices as columns of signs."""
    return "\n\n".join("\n".join(_text(matrix)) for matrix in matrices)


def _text(matrix: Matrix) -> Iterator[str]:
    versions = [in_line(each.version, 40) for each in matrix.releases]
    first = max(len("built against"), *map(len, versions))
    heads = [version if len(version) <= NARROW else f"{version[: NARROW - 1]}~" for version in versions]
    wide = max(3, *map(len, heads))
    yield f"{matrix.line}; policy {matrix.policy}"
    yield f"{'built against'.ljust(first)}  runs on"
    yield f"{''.ljust(first)}  {' '.join(head.ljust(wide) for head in heads)}".rstrip()
    for row, version in enumerate(versions):
        cells = (_sign(matrix, row, column).ljust(wide) for column in range(len(versions)))
        yield f"{version.ljust(first)}  {' '.join(cells)}".rstrip()
    yield LEGEND
    if any(_is_partial(matrix, row, column) for row in range(len(versions)) for column in range(len(versions))):
        yield f"{PARTIAL} one of the two releases shows less than the other, so that something may have gone unseen"
    yield from (f"{UNJUDGED} {each.new} was not judged against {each.old}: {each.reason}" for each in matrix.unjudged)


def _sign(matrix: Matrix, row: int, column: int) -> str:
    verdict = matrix.verdicts[row][column]
    if verdict is not None:
        return SIGNS[verdict] + (PARTIAL if _is_partial(matrix, row, column) else "")
    if row == column:
        return SELF
    return UNJUDGED if row < column or matrix.downgrades else UNASKED


def _is_partial(matrix: Matrix, row: int, column: int) -> bool:
    return matrix.partial[row][column] and matrix.verdicts[row][column] not in {None, Verdict.BREAKING}


def as_html(matrices: Sequence[Matrix]) -> str:
    """The matrices as one self-contained page."""
    return (
        environment()
        .get_template("matrix.html")
        .render(
            matrices=[(matrix, cells_of(matrix)) for matrix in matrices],
            style=asset("page.css"),
            matrix_style=asset("matrix.css"),
            counted=counted,
        )
    )


def cells_of(matrix: Matrix) -> list[tuple[str, list[MatrixCell]]]:
    """The rows of a matrix, each with the version that programs were built against."""
    places = range(len(matrix.releases))
    return [(matrix.releases[row].version, [_cell(matrix, row, column) for column in places]) for row in places]


def _cell(matrix: Matrix, row: int, column: int) -> MatrixCell:
    verdict, sign = matrix.verdicts[row][column], _sign(matrix, row, column)
    old, new = matrix.releases[row].version, matrix.releases[column].version
    if verdict is None:
        return MatrixCell(sign, "unchecked" if sign == UNJUDGED else "self", f"{old} on {new}: not judged")
    partial = _is_partial(matrix, row, column)
    tone = "unchecked" if partial and verdict <= Verdict.COMPATIBLE else TONES[verdict]
    words = verdict.name.replace("_", " ").lower()
    return MatrixCell(sign, tone, f"built against {old}, on {new}: {words}{', checked in part' if partial else ''}")
