"""What headers show programs that are built in one mode only: with ``NDEBUG``, as C++, or with one header alone."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.diff.parts import InMode
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


@rule(Impact.BREAKING, variant="declaration", evidence="source", element="types", action="changed")
def mode_changed_declaration(declaration: Changed[InMode]) -> Iterator[Note]:
    """Programs that are built in one mode see another declaration than the library has.

    A condition of the headers (``#ifdef NDEBUG``, ``#ifdef __cplusplus``, a macro that another header defines) shows
    them another layout or signature than before. Programs of that mode lay objects out and call in another way than the
    library, or than programs that were built before.

    Fix: declare what the library has, in all modes alike.
    """
    if declaration.new.impact is Impact.BREAKING:
        yield _note(declaration)


@rule(Impact.API_BREAK, variant="source", evidence="source", element="functions", action="changed")
def mode_changed_source(declaration: Changed[InMode]) -> Iterator[Note]:
    """Sources that are compiled in one mode stop compiling.

    Built programs do not notice. A condition of the headers takes a declaration away from sources of that mode, or
    stops them with ``#error``: a header that must not be included by itself any more, say.

    Fix: declare in this mode what was declared before.
    """
    if declaration.new.impact is Impact.API_BREAK:
        yield _note(declaration)


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def mode_changed(declaration: Changed[InMode]) -> Iterator[Note]:
    """Programs that are built in one mode may see something else than before.

    A condition of the headers shows them a difference that is a risk where all programs see it.

    Fix: declare in this mode what was declared before.
    """
    if declaration.new.impact is Impact.RISK:
        yield _note(declaration)


def _note(declaration: Changed[InMode]) -> Note:
    old, new = declaration.old, declaration.new
    part = f" ({new.part})" if new.part else ""
    return Note(f"in the mode '{new.mode}': {new.said}{part}", old.value, new.value, new.affected)
