"""What is found about one declaration between two releases, without a look at all the others that differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from abistore.compare.context import Context
from abistore.compare.judge.judged import DeclarationJudge, LibraryDeltas, judge_library, library_deltas
from abistore.compare.policies.applied import AppliedRuling
from abistore.model.deltas import Delta
from abistore.model.findings import Finding
from abistore.model.names import SELF, Facet, Name

if TYPE_CHECKING:
    from abistore.compare.policies.ruling import Ruling


class JudgedAlone:
    """Findings about single names, as the comparison of both releases has them before it folds any.

    A fold never hides weight, so that what breaks here breaks there.
    """

    def __init__(self, context: Context, by: Ruling | None = None) -> None:
        old, new = context.old.snapshot.version, context.new.snapshot.version
        self._context = context
        self._by = by and by.between(old, new)
        self._declared = DeclarationJudge(context)

    @property
    def facets(self) -> Collection[Facet]:
        """The facets in which both sides show what they declare."""
        return self._declared.facets

    @cached_property
    def deltas(self) -> LibraryDeltas:
        """What differs in the export tables."""
        return library_deltas(self._context)

    def about(self, name: Name) -> Sequence[Finding]:
        """All findings about ``name``; about the library itself where that is meant."""
        if name == SELF:
            return self._ruled(judge_library(self._context, self.deltas.own).findings)
        return self._ruled(self._declared.judge(name, self.deltas.exports.get(name, ())).findings)

    def judged(self, exports: Iterable[Delta[Any]]) -> Sequence[Finding]:
        """The findings about the library itself that such differences of its exports make."""
        return self._ruled(judge_library(self._context, [("symbol", delta) for delta in exports]).findings)

    def declared(self, name: Name) -> Sequence[Finding]:
        """The findings about the declaration of ``name``; the export tables are not looked at."""
        return self._ruled(self._declared.judge(name, ()).findings)

    def _ruled(self, found: Sequence[Finding]) -> Sequence[Finding]:
        return AppliedRuling(self._context, self._by).judge(found)
