"""Which public headers come along with others."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.inclusions.lost import LostHeaders, lost_everywhere, lost_here
from abistore.compare.context import Context
from abistore.compare.diff.parts import HeaderIncludes
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import without_parameters
from abistore.model.deltas import Removed
from abistore.model.findings import Impact
from abistore.model.names import TYPES, Name

MOST_SAID = 3


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="library",
    action="removed",
    aliases=("include_graph_public_header_drift",),
)
def header_include_removed(includes: Removed[HeaderIncludes], context: Context) -> Iterator[Note]:
    """A main public header brings another one along no longer, and so does no header that sources begin with.

    Built programs do not notice. Sources that include the main header alone do not find what the other one declares,
    though both are installed: it never had to be included by itself. A header that no other includes is one that
    sources begin with; a main one is the only such, is called like the library, or leads to half of all headers.

    Fix: include the other header again.
    """
    lost = lost_everywhere(includes.old.file, context)
    if lost is not None:
        yield _note(lost)


@rule(
    Impact.RISK,
    variant="covered",
    evidence="source",
    element="library",
    action="removed",
    aliases=("include_graph_public_header_drift",),
)
def header_include_removed_covered(includes: Removed[HeaderIncludes], context: Context) -> Iterator[Note]:
    """A public header brings another one along no longer, which others still do, or which sources include themselves.

    Built programs do not notice. Sources stop compiling that use what the other header declares and include neither it
    nor another one that brings it along.

    Fix: include the other header again, or tell users to include what they use.
    """
    lost = lost_here(includes.old.file, context)
    if lost is not None:
        yield _note(lost)


def _note(lost: LostHeaders) -> Note:
    said = list(dict.fromkeys(without_parameters(demangle(name.spelling)) for name in sorted(lost.names, key=_rank)))
    more = f" and {len(said) - MOST_SAID} more" if len(said) > MOST_SAID else ""
    what = f": {', '.join(said[:MOST_SAID])}{more}" if said else ""
    return Note(f"sources that include it alone miss what others declare{what}", ", ".join(lost.headers), None)


def _rank(name: Name) -> tuple[bool, bool, Name]:
    """Types first, then functions, then variables and macros."""
    return name.kind not in TYPES, name.kind != "function", name
