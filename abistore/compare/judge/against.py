"""Judging releases one after the other against one old release, by what differs from the one before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from abistore.compare.context import Context, Renames
from abistore.compare.diff.unseen import not_checked
from abistore.compare.differing import Differing
from abistore.compare.judge.concluding import IndependentFindings, concluded, refuse_strangers
from abistore.compare.judge.consequences import fold
from abistore.compare.judge.findings import worst_of
from abistore.compare.judge.groups import FindingGroups
from abistore.compare.judge.judged import DeclarationJudge, Judged, LibraryDeltas, judge_library, library_deltas
from abistore.compare.judge.modes import judge_modes
from abistore.compare.judge.roots import has_root
from abistore.compare.judge.whole import aligned_context, compared
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.reuse.watching import Key, Readers, Watched
from abistore.compare.rule import RULES
from abistore.compare.scopes.found import moves_between
from abistore.compare.side import Places, SideFacts
from abistore.model.findings import Comparison, Side
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import Function
from abistore.model.snapshot import Entries, Evidence, HeadersRead, Provenance, Snapshot

if TYPE_CHECKING:
    from abistore.compare.policies.ruling import Ruling
    from abistore.compare.scopes.moves import Move

NOTHING: Differing = {facet: frozenset() for facet in FACETS}


class JudgedAgainst:
    """One release, and what was found against it in the release that was judged last.

    The rules look at the new release through tables that note what is looked at. What they found about a declaration
    is kept for as long as nothing of that differs, and so it equals what they would find. Without ``folded`` no finding
    has consequences: that is enough for a verdict, unless suppressions take consequences with their cause.
    """

    def __init__(self, old: SideFacts, by: Ruling | None = None, *, folded: bool = True) -> None:
        self._fold = folded
        self._by = self._meant = by
        self._old = old.placed(Places(old.files) if by else {})
        self._forget()

    def _forget(self) -> None:
        self._last: SideFacts | None = None
        self._renames = Renames({}, {})
        self._deltas = LibraryDeltas((), {})
        self._judged: dict[Name, Judged] = {}
        self._found: dict[Name, Judged] = {}
        self._marked: dict[Name, Judged] = {}
        self._readers = Readers[Name]()
        self._missed = set[Name]()
        self._groups = FindingGroups(folded=self._fold)

    def judge(
        self, new: SideFacts, changed: Collection[Name], differing: Differing, cards: tuple[Side, Side] | None = None
    ) -> Comparison:
        """What changed from the old release to ``new``, without the places where it did.

        ``changed`` are the names in which ``new`` differs from the release that was judged last, in any facet;
        ``differing`` those in which it differs from the old one.
        """
        refuse_strangers(self._old.snapshot, new.snapshot)
        if moves := moves_between(self._old.snapshot, new.snapshot, differing):
            self._missed.update(changed)
            return self._by_itself(Context(self._old, new, differing=differing, cards=cards), moves)
        changed = self._missed.union(changed)
        self._missed = set()
        context = Context(self._old, new, differing=differing, cards=cards)
        deltas, renames = library_deltas(context), context.renames
        if any(has_root(delta) for _, delta in deltas.own):
            self._missed = changed
            return self._by_itself(context, ())
        self._begin(new)
        facets = DeclarationJudge(context).facets
        names = deltas.exports.keys() | {name for facet in facets for name in differing[facet]}
        keys = self._keys(new, changed, renames)
        touched = (
            {*changed, *self._readers.of(keys), *_unequal(self._deltas.exports, deltas.exports)}
            if self._last
            else names
        )
        self._last, self._deltas, self._renames = new, deltas, renames
        fresh = [name for name in sorted(touched) if self._renew(name, name in names)]
        self._groups.renew(self._found, fresh, keys, self._watching)
        return self._concluded(context, facets)

    def _by_itself(self, context: Context, moves: tuple[Move, ...]) -> Comparison:
        """The comparison with a release of which scopes have other names: what is kept has the names of its own."""
        context = aligned_context(context, moves)
        context.new = context.new.placed(Places(context.new.files) if self._by else {})
        return compared(context, self._by)

    def _begin(self, new: SideFacts) -> None:
        """Forget all findings if the releases differ in more than declarations: toolchain, evidence, suppressions."""
        meant = self._by and self._by.between(self._old.snapshot.version, new.snapshot.version)
        if self._last and (meant != self._meant or self._frame(self._last.snapshot) != self._frame(new.snapshot)):
            self._forget()
        self._meant = meant

    def _frame(self, snapshot: Snapshot) -> Snapshot:
        """All of a snapshot that rules may look at without a note of it."""
        provenance = snapshot.provenance
        headers = provenance.headers
        if isinstance(headers, HeadersRead) and self._declares_all(snapshot):
            headers = msgspec.structs.replace(headers, texts=())
        told = Provenance(compilers=provenance.compilers, languages=provenance.languages, headers=headers)
        if self._by:
            told = msgspec.structs.replace(told, file=provenance.file)
        evidence = tuple(
            Evidence(each.facet, each.state, each.reason, unrecorded=each.unrecorded) for each in snapshot.evidence
        )
        entries: Entries = {facet: {} for facet in FACETS if facet in snapshot.entries}
        return Snapshot(snapshot.library, None, snapshot.target, entries, evidence, told)

    def _declares_all(self, snapshot: Snapshot) -> bool:
        """Whether no side's headers have errors, so that nobody asks for their texts."""
        return all(each.evidence_of("source").declares_all for each in (self._old.snapshot, snapshot))

    def _keys(self, new: SideFacts, changed: Collection[Name], renames: Renames) -> set[Key]:
        """What differs from the last release for rules that looked at it."""
        last = self._last
        if last is None:
            return set()
        found: set[Key] = {*changed, *new.reach.noted_otherwise(last.reach, changed)}
        found |= {("members", owner) for side in (last, new) for name in changed for owner in _owners(side, name)}
        found |= {("undescribed", name) for name in last.undescribed ^ new.undescribed}
        found |= {("renamed", name) for name in _unequal(self._renames.targets, renames.targets)}
        found |= {("origin", name) for name in _unequal(self._renames.origins, renames.origins)}
        if last.enumerators is not new.enumerators:
            found |= {("enumerator", name) for name in _unequal(last.enumerators, new.enumerators)}
        if last.unnamed_enums is not new.unnamed_enums:
            found |= {("unnamed enum", name) for name in _unequal(last.unnamed_enums, new.unnamed_enums)}
        if last.overload_sets is not new.overload_sets:
            found |= {("overloads", name) for name in _unequal(last.overload_sets, new.overload_sets)}
        if self._by and last.files is not new.files:
            found |= {("place", name) for name in _unequal(last.files, new.files)}
        return found

    def _renew(self, name: Name, differs: bool) -> bool:
        """Judge ``name`` again, or forget it; whether what is found differs."""
        before, judged = self._judged.get(name, CLEAN), CLEAN
        self._readers.forget(name)
        if differs:
            seen: set[Key] = set()
            judged = DeclarationJudge(self._watched(seen)).judge(name, self._deltas.exports.get(name, ()))
            self._readers.keep(name, seen)
        if judged == before:
            return False
        for table, belongs in ((self._judged, True), (self._found, judged.findings), (self._marked, judged.marks)):
            if belongs and judged != CLEAN:
                table[name] = judged
            else:
                table.pop(name, None)
        return True

    def _watched(self, seen: set[Key]) -> Context:
        """The old release and the last one, looking at which is noted."""
        assert self._last is not None
        note = seen.add
        new = self._last.watched(note, located=self._by is not None)
        renames = Renames(
            Watched(self._renames.targets, note, "renamed"), Watched(self._renames.origins, note, "origin")
        )
        return Context(self._old, new, differing=NOTHING, renames=renames)

    def _watching(self, seen: set[Key]) -> tuple[Context, AppliedRuling]:
        context = self._watched(seen)
        return context, AppliedRuling(context, self._meant)

    def _concluded(self, context: Context, facets: Collection[Facet]) -> Comparison:
        library = (*judge_library(context, self._deltas.own).findings, *judge_modes(context).findings)
        ruling = AppliedRuling(context, self._meant)
        folded = fold(ruling.judge(library), RULES, context)
        ruling.used.update(*(group.used for group in self._groups))
        worst = [worst_of(library), *(group.worst for group in self._groups)]
        most = max((each for each in worst if each is not None), default=None)
        marked = ((name, each.marks) for name, each in self._marked.items())
        rest = IndependentFindings(self._groups.findings, self._groups.suppressed)
        return concluded(context, ruling, folded, most, not_checked(context, facets, marked), rest=rest)


CLEAN = Judged()


def _owners(side: SideFacts, name: Name) -> Iterator[Name]:
    """The classes of which ``name`` is a member function."""
    for shape in side.snapshot.described(name):
        if isinstance(shape, Function) and shape.method is not None:
            yield shape.method.owner


def _unequal(old: Mapping[Name, object], new: Mapping[Name, object]) -> Iterator[Name]:
    """The names that two tables map to different values."""
    return (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
