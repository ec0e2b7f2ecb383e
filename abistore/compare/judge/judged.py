"""What the rules find about one declaration, and about the library itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.declarations import FacetDeclarations
from abistore.compare.diff.evidence import evidence_deltas
from abistore.compare.diff.exported.numbers import number_deltas
from abistore.compare.diff.unseen import UnseenMark, comparable, marks
from abistore.compare.judge.findings import explained
from abistore.model.deltas import Delta
from abistore.model.findings import Finding, Impact
from abistore.model.names import FACETS, SELF, Facet, Name
from abistore.model.reach.graph import DECLARING


class Judged(msgspec.Struct, frozen=True):
    """The findings about one name, by the facet that shows them, and what was not seen of it."""

    symbol: tuple[Finding, ...] = ()
    layout: tuple[Finding, ...] = ()
    source: tuple[Finding, ...] = ()
    marks: tuple[UnseenMark, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings."""
        return (*self.symbol, *self.layout, *self.source)


class LibraryDeltas(msgspec.Struct, frozen=True):
    """What differs in the library as a whole, each with the facet that shows it, and in each of its exports."""

    own: Sequence[tuple[Facet, Delta[Any]]]
    exports: Mapping[Name, Sequence[Delta[Any]]]


def library_deltas(context: Context) -> LibraryDeltas:
    """The deltas of the export table, of the evidence and of the toolchains."""
    own: list[tuple[Facet, Delta[Any]]] = []
    exports: dict[Name, list[Delta[Any]]] = {}
    for delta in (*_export_deltas(context), *number_deltas(context)):
        if delta.subject.name == SELF:
            own.append(("symbol", delta))
        else:
            exports.setdefault(delta.subject.name, []).append(delta)
    if context.moves:
        from abistore.compare.diff.patterns.moved_names import moved_declarations  # few scopes move

        own += moved_declarations(context)
    return LibraryDeltas([*own, *evidence_deltas(context)], exports)


def _export_deltas(context: Context) -> Iterable[Delta[Any]]:
    if not context.differing["symbol"] and not context.moves:
        return ()
    from abistore.compare.diff.exports import export_deltas  # many builds differ in declarations alone

    return export_deltas(context)


def judge_library(context: Context, deltas: Iterable[tuple[Facet, Delta[Any]]]) -> Judged:
    """What the rules find about the library as a whole."""
    found: dict[Facet, list[Finding]] = {facet: [] for facet in FACETS}
    for facet, delta in deltas:
        found[facet] += explained(delta, facet, context)
    return _judged(found, ())


class DeclarationJudge:
    """Judges declarations of both sides, each by itself."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._facets = {facet: FacetDeclarations(context, facet) for facet in DECLARING if comparable(context, facet)}

    @property
    def facets(self) -> Collection[Facet]:
        """The facets in which both sides show what they declare."""
        return self._facets.keys()

    def judge(self, name: Name, exported: Iterable[Delta[Any]]) -> Judged:
        """What the rules find about ``name``, of which the export table's deltas are given."""
        context, found = self._context, dict[Facet, list[Finding]]()
        found["symbol"] = [each for delta in exported for each in explained(delta, "symbol", context)]
        unseen: list[UnseenMark] = []
        for facet, declarations in self._facets.items():
            deltas = declarations.deltas(name)
            found[facet] = [each for delta in deltas for each in explained(delta, facet, context)]
            if any(each.impact is Impact.API_BREAK for each in found[facet]):
                from abistore.compare.judge.own_declarations import told_of_own  # many releases break no source

                found[facet] = list(told_of_own(found[facet], context))
            unseen += marks(context, facet, name)
        return _judged(found, unseen)


def _judged(found: Mapping[Facet, Sequence[Finding]], unseen: Iterable[UnseenMark]) -> Judged:
    """A finding from headers that the export table or debug information gives too is left out."""
    symbol, layout, source = (tuple(found.get(facet, ())) for facet in FACETS)
    known = {*symbol, *layout} if source else ()
    by_headers = tuple(msgspec.structs.replace(each, facet="source") for each in source if each not in known)
    return Judged(symbol, layout, by_headers, tuple(unseen))


def joined(judged: Iterable[Judged]) -> list[Finding]:
    """All findings: those that the export tables show first, those that headers show last."""
    found = list(judged)
    return [finding for facet in FACETS for each in found for finding in getattr(each, facet)]
