"""Deltas of the evidence: less debug information, other headers, other compiler options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abistore.compare.context import Context
from abistore.compare.diff.headers.include_names import include_names_lost
from abistore.compare.diff.parts import InlineNamespace, PublicHeader
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.findings import evidence_rank
from abistore.model.names import SELF, Facet
from abistore.model.snapshot import MOST_INLINE, HeadersRead, Snapshot


def evidence_deltas(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """How the evidence of each facet, and the recorded options, differ; each with the facet that it is about."""
    facets: tuple[Facet, ...] = ("layout", "source")
    for facet in facets:
        before, after = context.old.snapshot.evidence_of(facet), context.new.snapshot.evidence_of(facet)
        if evidence_rank(before) != evidence_rank(after):
            yield facet, Changed(Subject(SELF, f"{facet} evidence"), before, after)
    yield from _headers(context)
    yield from _namespaces(context)
    old, new = context.old.snapshot, context.new.snapshot
    if old.provenance.compilers != new.provenance.compilers:
        from abistore.compare.diff.modes import toolchain_deltas  # most releases are built alike

        yield from (("layout", delta) for delta in toolchain_deltas(old, new))


def _headers(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """The public headers that programs cannot include any more, or for the first time, or that include less."""
    for file in include_names_lost(context.new, context.old):
        yield "source", Removed(Subject(SELF, file), PublicHeader(file))
    for file in include_names_lost(context.old, context.new):
        yield "source", Added(Subject(SELF, file), PublicHeader(file))
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead):
        return
    if old.outlines != new.outlines and set(old.files) & set(new.files):
        from abistore.compare.diff.headers.inclusions import fewer_includes  # many releases include alike

        yield from (("source", delta) for delta in fewer_includes(old, new))


def _namespaces(context: Context) -> Iterator[tuple[Facet, Delta[Any]]]:
    """The namespaces in headers that became inline, or are inline no longer, other than those that moved."""
    old, new = context.old.snapshot, context.new.snapshot
    before, after = (side.evidence_of("source").inline_namespaces or () for side in (old, new))
    if MOST_INLINE in (len(before), len(after)):
        return  # and perhaps more
    moved = {each for move in context.moves for each in (move.before, move.after)}
    for scope in before:
        if scope not in after and scope not in moved and _hides(new, scope):
            yield "source", Removed(Subject(SELF, scope), InlineNamespace(scope))
    for scope in after:
        if scope not in before and scope not in moved and _hides(old, scope):
            yield "source", Added(Subject(SELF, scope), InlineNamespace(scope))


def _hides(side: Snapshot, scope: str) -> bool:
    """Whether a namespace has a type that is not also found, by a using-declaration, in the namespace around it."""
    declared = side.entries.get("source", {})
    around = scope.rpartition("::")[0]
    found = {name.spelling for name in declared if name.kind in ("record", "enum", "alias")}
    inside = (each.removeprefix(scope) for each in found if each.startswith(f"{scope}::"))
    return any(f"{around}{each}" not in found for each in inside)
