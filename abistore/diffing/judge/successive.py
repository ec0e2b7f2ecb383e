"""Judging releases one after the other, by what differs from the previous one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from abistore.diffing.context import RULES, Context, Renames
from abistore.diffing.evidence_gaps import not_checked
from abistore.diffing.exports import surely_moved_exports
from abistore.diffing.judge.consequences import fold, has_root
from abistore.diffing.judge.judged import (
    AppliedRuling,
    DeclarationJudge,
    Differences,
    IndependentFindings,
    Judged,
    LibraryDeltas,
    SortedFindings,
    aligned_context,
    compare,
    compared,
    concluded,
    joined,
    judge_library,
    judge_modes,
    library_deltas,
    refuse_strangers,
    worst_of,
)
from abistore.diffing.reuse import Differing, Key, Readers, Watched
from abistore.diffing.scopes import moves_between
from abistore.diffing.side import Places, SideFacts
from abistore.model.declarations import FACETS, SELF, Delta, Facet, Name
from abistore.model.findings import Comparison, Finding, Impact, Side, Verdict
from abistore.model.format_gaps import unlike
from abistore.model.names.qualified import class_behind, siblings, template_behind
from abistore.model.shapes import Function
from abistore.model.snapshot import Entries, Evidence, HeadersRead, Provenance, Snapshot

if TYPE_CHECKING:
    from abistore.diffing.judge.judged import Ruling
    from abistore.diffing.scopes import Move
    from abistore.diffing.suppression import Suppression


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


class FindingGroup(NamedTuple):
    """The findings about some declarations, which no finding outside the group depends on.

    ``worst`` is the worst impact before a ruling is applied. ``asked`` are the names of which the findings mattered.
    """

    members: frozenset[Name]
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    used: frozenset[Suppression]
    worst: Impact | None
    asked: frozenset[Name]


Watching = Callable[[set[Key]], tuple[Context, AppliedRuling]]
"""Makes a context that notes what is looked at, and a ruling applied in it."""


class FindingGroups:
    """The findings about all declarations, in groups. A group is kept until something that it depends on differs.

    ``findings`` and ``suppressed`` are those of all groups. Where nothing is ``folded``, each declaration is a group of
    its own, and its findings stand side by side: the worst of all is the same, because no fold hides weight.
    """

    def __init__(self, *, folded: bool = True) -> None:
        self._fold = folded
        self._numbers = count()
        self._groups: dict[int, FindingGroup] = {}
        self._of: dict[Name, int] = {}
        self._asking = Readers[int]()
        self._looking = Readers[int]()
        self._families: dict[str, set[Name]] = {}
        self.findings, self.suppressed = SortedFindings(), SortedFindings()

    def __iter__(self) -> Iterator[FindingGroup]:
        return iter(self._groups.values())

    def renew(
        self,
        judged: Mapping[Name, Judged],
        changed: Collection[Name],
        keys: Iterable[Key],
        watching: Watching,
    ) -> None:
        """Group anew what the findings of ``changed`` names, or something that was looked at by ``keys``, touch."""
        for name in changed if self._fold else ():
            self._note_families(name, name in judged)
        numbers = (
            self._asking.of(changed) | self._looking.of(keys) | {self._of[each] for each in changed if each in self._of}
        )
        loose = set(changed)
        for number in numbers:
            loose |= self._dissolve(number)
        loose = {name for name in loose if name in judged}
        self._regroup(sorted(loose), judged, watching)

    def _note_families(self, name: Name, found: bool) -> None:
        for family in _families(name):
            names = self._families.setdefault(family, set())
            (names.add if found else names.discard)(name)

    def _dissolve(self, number: int) -> frozenset[Name]:
        group = self._groups.pop(number)
        for table, findings in ((self.findings, group.findings), (self.suppressed, group.suppressed)):
            for each in findings:
                table.remove(each)
        self._asking.forget(number)
        self._looking.forget(number)
        for name in group.members:
            del self._of[name]
        return group.members

    def _regroup(self, names: Iterable[Name], judged: Mapping[Name, Judged], watching: Watching) -> None:
        """Make the groups of ``names``.

        A group that meets another one waits: all that others add to the two is folded with them at once.
        """
        waiting: dict[Name, set[Name]] = {}
        for name in names:
            if name not in self._of and name not in waiting:
                self._grow({name}, judged, watching, waiting, patient=True)
        while waiting:
            self._grow(next(iter(waiting.values())), judged, watching, waiting, patient=False)

    def _grow(
        self,
        members: set[Name],
        judged: Mapping[Name, Judged],
        watching: Watching,
        waiting: dict[Name, set[Name]],
        *,
        patient: bool,
    ) -> None:
        """Make the group of ``members``: larger ones, until it depends on no others' findings."""
        while True:
            seen: set[Key] = set()
            group = self._folded(members, judged, *watching(seen))
            others = {each for each in group.asked if each in judged} - members
            if not others:
                break
            members |= others
            met = [each for each in others if each in self._of or each in waiting]
            for each in met:
                members.update(self._dissolve(self._of[each]) if each in self._of else waiting.get(each, ()))
            if met and patient:
                waiting.update(dict.fromkeys(members, members))
                return
        for name in members:
            waiting.pop(name, None)
        self._keep(group, seen)

    def _keep(self, group: FindingGroup, seen: set[Key]) -> None:
        number = next(self._numbers)
        self._groups[number] = group
        for table, findings in ((self.findings, group.findings), (self.suppressed, group.suppressed)):
            for finding in findings:
                table.add(finding)
        self._of.update(dict.fromkeys(group.members, number))
        self._asking.keep(number, group.asked)
        self._looking.keep(number, seen)

    def _folded(
        self, members: set[Name], judged: Mapping[Name, Judged], context: Context, ruling: AppliedRuling
    ) -> FindingGroup:
        found = joined(judged[name] for name in sorted(members))
        if not self._fold:
            alone = tuple(ruling.judge(found))
            return FindingGroup(frozenset(members), alone, (), frozenset(), worst_of(found), frozenset())
        asked = self._related(members)
        kept = ruling.judge(found)
        findings = fold(kept, RULES, context, asked)
        suppressed = fold(ruling.suppressed, RULES, context, asked)
        return FindingGroup(
            frozenset(members),
            tuple(findings),
            tuple(suppressed),
            frozenset(ruling.used),
            worst_of(found),
            frozenset(asked),
        )

    def _related(self, members: Iterable[Name]) -> set[Name]:
        """The names whose findings matter to those of ``members`` by what they are called."""
        found = set[Name]()
        families = set[str]()
        for name in members:
            together = siblings(name.spelling)
            if len(together) > 1:
                found.update(Name(kind, symbol) for symbol in together for kind in ("function", "variable"))
            if subject := class_of(name):
                found.add(Name("record", subject))
            families.update(_families(name))
        return found.union(*(self._families.get(family, ()) for family in families))


def _families(name: Name) -> list[str]:
    """The class that ``name`` belongs to, and the template that it is an instance of."""
    return [family for family in (class_of(name), template_behind(name)) if family]


def class_of(name: Name) -> str:
    """The class that compilers emit ``name`` for, or that it is called as; empty for others."""
    return name.spelling if name.kind in ("record", "enum", "alias") else class_behind(name.spelling)


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
    return (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


WITNESSES = 3
"""So many declarations that broke one pair are asked first about the next."""


class Replacing:
    """The verdicts about one old release and others, of which each is near the one before.

    No worse verdict than a break can follow: where a declaration that broke the last pair breaks this one too, no
    other is looked at. Everything else is judged as :class:`JudgedAgainst` does, by what differs.
    """

    def __init__(self, old: SideFacts, by: Ruling | None = None) -> None:
        self._old, self._by = old, by
        self._against: JudgedAgainst | None = None
        self._differences = Differences(old)
        self._since: set[Name] = set()
        self.witnesses: tuple[Name, ...] = ()

    def note(self, changed: Collection[Name]) -> None:
        """The next release differs from the last one in what these names are."""
        self._differences.note(changed)
        if self._against is not None:
            self._since.update(changed)

    def verdict(self, new: SideFacts, hints: Iterable[Name] = ()) -> Verdict:
        """The verdict that comparing both releases gives. ``hints`` are names that may break them.

        Raises :class:`abistore.errors.Incomparable` for releases of two targets.
        """
        old = self._old.snapshot
        refuse_strangers(old, new.snapshot)
        if unlike(old.evidence, new.snapshot.evidence):
            return compare(old, new.snapshot, self._by).verdict
        if moves := self._differences.moves(new):
            return self._moved(new, moves)
        context = Context(self._old, new, renames=self._differences.renames(new))
        broken = self._broken_again(context, new, dict.fromkeys((*self.witnesses, *hints)))
        if broken is None:
            return self._judged(new)
        self.witnesses = tuple(dict.fromkeys((broken, *self.witnesses)))[:WITNESSES]
        return Verdict.BREAKING

    def _moved(self, new: SideFacts, moves: Sequence[Move]) -> Verdict:
        """The verdict about a release of which names are others: without a look at the rest where that breaks it."""
        context = Context(self._old, new, differing=self._differences.of(new), moves=moves)
        if _breaks(JudgedAlone(context, self._by).judged(surely_moved_exports(context))):
            return Verdict.BREAKING
        return compare(self._old.snapshot, new.snapshot, self._by).verdict

    def _broken_again(self, context: Context, new: SideFacts, names: Collection[Name]) -> Name | None:
        """The first of ``names`` that breaks this pair."""
        if not names:
            return None
        alone, exported = JudgedAlone(context, self._by), []
        for name in names:
            if any(self._differ(new, facet, name) for facet in alone.facets) and _breaks(alone.declared(name)):
                return name
            if self._differ(new, "symbol", name):
                exported.append(name)
        return next((name for name in exported if _breaks(alone.about(name))), None)

    def _differ(self, new: SideFacts, facet: Facet, name: Name) -> bool:
        return self._old.variants(facet, name) != new.variants(facet, name)

    def _judged(self, new: SideFacts) -> Verdict:
        differs = self._differences.of(new)
        if self._against is None:
            suppressing = self._by is not None and bool(self._by.suppressions.entries)
            self._against = JudgedAgainst(self._old, self._by, folded=suppressing)
        found = self._against.judge(new, self._since, differs, (_named(self._old), _named(new)))
        self._since = set()
        if found.verdict is Verdict.BREAKING:
            self.witnesses = tuple(dict.fromkeys(each.name for each in _breaking(found)))[:WITNESSES]
        return found.verdict


def _breaking(found: Comparison) -> Iterator[Finding]:
    """The breaks: what the declarations themselves show comes first, which is asked again at the least cost."""
    breaks = [each for each in found.findings if each.impact is Impact.BREAKING]
    yield from sorted(breaks, key=lambda each: each.facet == "symbol")


def _breaks(found: Iterable[Finding]) -> bool:
    return any(each.impact is Impact.BREAKING for each in found)


def _named(side: SideFacts) -> Side:
    """A side by its name: nobody asks a verdict for a digest, which takes a look at the whole release."""
    snapshot = side.snapshot
    return Side(snapshot.library, snapshot.version, "", str(snapshot.target), None, snapshot.evidence, 0)
