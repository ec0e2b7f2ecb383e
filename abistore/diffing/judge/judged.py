"""Deltas turned into findings by the rules, and findings into the verdict about two releases."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace as replace_struct

from abistore.diffing.context import RULES, Context, Note, Renames, Spelled, in_c, rules_for
from abistore.diffing.declarations import FacetDeclarations
from abistore.diffing.evidence_gaps import UnseenMark, comparable, marks, not_checked
from abistore.diffing.judge.consequences import fold
from abistore.diffing.kinds.equivalent_declarations import is_meaningless
from abistore.diffing.members import children
from abistore.diffing.modes import evidence_deltas
from abistore.diffing.parts import InMode, SourceBreak, Unexplained, WorstImpact
from abistore.diffing.reuse import Differing, differing, renewed
from abistore.diffing.scopes import Move, aligned, may_move, moves_of
from abistore.diffing.side import ShownPlaces, SideFacts
from abistore.diffing.tables import number_deltas
from abistore.errors import Incomparable
from abistore.model.declarations import FACETS, SELF, Added, Changed, Delta, Facet, Name, Removed, Subject
from abistore.model.findings import (
    ENGINE,
    VERDICT_OF,
    Comparison,
    Finding,
    Impact,
    NotChecked,
    RulingKey,
    Side,
    Verdict,
    order,
)
from abistore.model.format_gaps import VARIANT, unlike, unrecorded_by
from abistore.model.names.spelling import mentions
from abistore.model.reach import DECLARING
from abistore.model.shapes import HeadersMode
from abistore.model.snapshot import MODES, HeadersRead, Location, Snapshot, Variants, snapshot_digest
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.diffing.policy import FindingFacts, Policy
    from abistore.diffing.suppression import Suppression, Suppressions


class Differences:
    """The names that differ from an old release, kept from one new release to the next.

    Only the names that :meth:`note` tells of are looked at again.
    """

    def __init__(self, old: SideFacts) -> None:
        self._old = old
        self._differing: Differing | None = None
        self._pending: set[Name] = set()
        self._uncompared: set[Name] | None = None
        self._gone: set[Name] = set()
        self._come: set[Name] = set()
        self._unlooked: set[Name] | None = None
        self._left: set[Name] = set()
        self._arrived: set[Name] = set()

    def note(self, changed: Collection[Name]) -> None:
        """The next release differs from the last one in what these names are."""
        self._pending.update(changed)
        for names in (self._uncompared, self._unlooked):
            if names is not None:
                names.update(changed)

    def of(self, new: SideFacts) -> Differing:
        """The names in which a release differs."""
        old = self._old.snapshot
        if self._differing is None:
            self._differing = differing(old, new.snapshot)
        elif self._pending:
            self._differing = renewed(self._differing, old, new.snapshot, self._pending)
        self._pending = set()
        return self._differing

    def moves(self, new: SideFacts) -> Sequence[Move]:
        """The scopes, and the versions in names, that are others in a release."""
        self._compare_names(new)
        return moves_of(self._old.snapshot, new.snapshot, self._left, self._arrived)

    def renames(self, new: SideFacts) -> Renames | None:
        """That no type was renamed, where none went or none came; else it is to be found out."""
        self._compare_types(new)
        return None if self._gone and self._come else Renames({}, {})

    def _compare_names(self, new: SideFacts) -> None:
        """Keep which names went and came that something may have moved: a release without any is asked no more."""
        old = self._old.snapshot
        names = self._unlooked if self._unlooked is not None else frozenset().union(*self.of(new).values())
        for name in names:
            if may_move(name):
                before, after = old.has(name), new.snapshot.has(name)
                (self._left.add if before and not after else self._left.discard)(name)
                (self._arrived.add if after and not before else self._arrived.discard)(name)
        self._unlooked = set()

    def _compare_types(self, new: SideFacts) -> None:
        names: Iterable[Name] = self._uncompared if self._uncompared is not None else self._declared(new)
        for name in names:
            if name.kind in ("record", "enum"):
                before, after = self._old.types.has(name), new.types.has(name)
                (self._gone.add if before and not after else self._gone.discard)(name)
                (self._come.add if after and not before else self._come.discard)(name)
        self._uncompared = set()

    def _declared(self, new: SideFacts) -> Collection[Name]:
        differs = self.of(new)
        return {name for facet in DECLARING for name in differs[facet]}


def explained(delta: Delta[Any], facet: Facet, context: Context) -> Iterator[Finding]:
    """What the rules say about ``delta``; a difference that none of them knows is a finding too."""
    silent = True
    for finding in findings_of(delta, facet, context):
        silent = False
        yield finding
    if silent and isinstance(delta, Changed) and not is_meaningless(delta, context):
        subject, old, new = delta.subject, Unexplained(delta.old), Unexplained(delta.new)
        yield from findings_of(Changed(subject, old, new), facet, context)


def findings_of(delta: Delta[Any], facet: Facet, context: Context) -> Iterator[Finding]:
    """What the rules say about ``delta`` and, where both sides have its declaration, about its parts."""
    shape = delta.old if isinstance(delta, Removed | Changed) else delta.new
    for rule in rules_for(facet, (type(delta), type(shape))):
        for note in rule.notes(delta, context):
            yield Finding(
                kind=rule.kind,
                name=delta.subject.name,
                part=delta.subject.part,
                description=note.description,
                impact=rule.impact,
                facet=rule.evidence,
                old_value=None if note.old is None else str(note.old),
                new_value=None if note.new is None else str(note.new),
                location=_location(delta, context),
                affected=_affected(delta, note.affected, context),
                gone=isinstance(delta, Removed),
                in_c=_in_c(note, context),
            )
    if isinstance(delta, Changed):
        for child in children(delta, context):
            yield from findings_of(child, facet, context)


def _in_c(note: Note, context: Context) -> tuple[str | None, str | None] | None:
    """The values of a note as C spells them, where they are different then."""
    if not isinstance(note.old, Spelled) and not isinstance(note.new, Spelled):
        return None
    sides = zip((note.old, note.new), mentions(context.old.snapshot, context.new.snapshot), strict=True)
    old, new = (None if value is None else in_c(value, mention) for value, mention in sides)
    return None if (old, new) == (note.old, note.new) else (old, new)


def _location(delta: Delta[Any], context: Context) -> Location | None:
    name = delta.subject.name
    if isinstance(delta, Removed):
        return context.old.snapshot.locations.get(name)
    return context.new.snapshot.locations.get(name) or context.old.snapshot.locations.get(name)


def _affected(delta: Delta[Any], stated: tuple[Name, ...], context: Context) -> tuple[Name, ...]:
    if stated:
        return tuple(sorted(stated))
    name = delta.subject.name
    if (isinstance(delta, Added) and delta.within is None) or name == SELF or name.kind == "import":
        return ()
    kept = name.kind == "enum" and not (isinstance(delta, Removed) and delta.within is None)
    return context.affected(name) or (context.taking_numbers if kept else ())


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """The worst impact of ``findings``, or that there are none."""
    worst = worst_of(findings)
    return Verdict.NO_CHANGE if worst is None else VERDICT_OF[worst]


def worst_of(findings: Iterable[Finding]) -> Impact | None:
    """The worst impact of ``findings``; ``None`` without any."""
    return max((finding.impact for finding in findings), default=None)


class SortedFindings:
    """Findings, worst first. Adding or removing one leaves the others in place."""

    def __init__(self) -> None:
        self._keys: list[tuple[object, ...]] = []
        self._findings: list[Finding] = []

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings in order."""
        return self._findings

    def add(self, finding: Finding) -> None:
        """Put a finding in its place."""
        key = order(finding)
        place = bisect_right(self._keys, key)
        self._keys.insert(place, key)
        self._findings.insert(place, finding)

    def remove(self, finding: Finding) -> None:
        """Take out a finding that was put in."""
        place = bisect_left(self._keys, order(finding))
        while self._findings[place] is not finding:
            place += 1
        del self._keys[place], self._findings[place]

    def including(self, more: Iterable[Finding]) -> tuple[Finding, ...]:
        """These and some others, in order."""
        if not self._findings:
            return tuple(sorted(more, key=order))
        found = SortedFindings()
        found._keys, found._findings = [*self._keys], [*self._findings]
        for each in more:
            found.add(each)
        return tuple(found._findings)


def _strict() -> Policy:
    from abistore.diffing.policy import STRICT

    return STRICT


def _nothing() -> Suppressions:
    from abistore.diffing.suppression import NOTHING

    return NOTHING


class Ruling(Struct, frozen=True):
    """What findings are judged by: a policy and suppressions, read and checked."""

    policy: Policy = field(default_factory=_strict)
    suppressions: Suppressions = field(default_factory=_nothing)

    @property
    def key(self) -> RulingKey:
        """What verdicts by this ruling are stored under."""
        return RulingKey(self.policy.name, self.policy.digest, self.suppressions.digest)

    def between(self, old_version: str | None, new_version: str | None) -> Ruling:
        """The ruling without the suppressions that are meant for other versions than these two."""
        return replace_struct(self, suppressions=self.suppressions.between(old_version, new_version))


class AppliedRuling:
    """What a ruling makes of the findings of one comparison; ``suppressed`` and ``used`` say what it took, and by what.
    ``overruled`` are suppressions that would have hidden what public code leads to.

    Without a ruling each finding keeps the impact of its kind, and none is suppressed. It acts before consequences are
    folded under their causes: a cause that is milder now, or suppressed, hides no consequence that weighs more or hits
    another declaration.
    """

    def __init__(self, context: Context, by: Ruling | None) -> None:
        self._context = context
        self.by = by
        self.key = by.key if by else RulingKey()
        self.suppressed: list[Finding] = []
        self.used: set[Suppression] = set()
        self.overruled: dict[Suppression, str] = {}

    def judge(self, found: Sequence[Finding]) -> list[Finding]:
        """The findings that count, each with its effective impact; the others are kept in ``suppressed``."""
        if self.by is None:
            return list(found)
        judged = [self.by.policy.judged(self._facts(finding)) for finding in found]
        if not self.by.suppressions.entries:
            return judged
        facts = [self._facts(finding) for finding in judged]
        kept, suppressed, used = self.by.suppressions.split(facts)
        self.overruled |= self.by.suppressions.overruled(facts)
        self.suppressed += suppressed
        self.used |= used
        return kept

    def notes(self) -> tuple[str, ...]:
        """Which overrides and suppressions expired, matched nothing or lack a reason."""
        return (*self.by.policy.notes(), *self.by.suppressions.notes(self.used, self.overruled)) if self.by else ()

    def _facts(self, finding: Finding) -> FindingFacts:
        from abistore.diffing.policy import FindingFacts  # without a ruling none are asked for

        return FindingFacts(finding, RULES[finding.kind], self._context)


def refuse_strangers(old: Snapshot, new: Snapshot) -> None:
    """Raises :class:`abistore.errors.Incomparable` for snapshots of two targets.

    Where an input does not tell which ABI of its machine it is for, that is told as not checked.
    """
    told = not any(VARIANT in unrecorded_by(each.evidence_of("symbol")) for each in (old, new))
    if not old.target.fits(new.target, variants=told):
        raise Incomparable(
            f"{old.label} is for {old.target} and {new.label} for {new.target}",
            "compare builds for the same machine, word size and byte order",
        )


class IndependentFindings(msgspec.Struct, frozen=True):
    """Findings that no other finding depends on, and the suppressed ones among them; both worst first."""

    findings: SortedFindings
    suppressed: SortedFindings


PROVEN: Final = frozenset(
    {"declaration_changed.undeclared", "symbols_removed.undeclared", "type_private_changed.opaque"}
)
"""Kinds that headers prove to concern no program, as far as these are all public ones."""


def _resting_on_headers(findings: Iterable[Finding]) -> Iterator[str]:
    if proven := sum(finding.kind in PROVEN for finding in findings):
        yield (
            f"{counted(proven, 'change is', 'changes are')} private, provided that the given headers are all public "
            "headers"
        )


def concluded(
    context: Context,
    ruling: AppliedRuling,
    folded: Sequence[Finding],
    worst: Impact | None,
    skipped: Iterable[NotChecked],
    *,
    rest: IndependentFindings | None = None,
) -> Comparison:
    """The comparison that has these findings, and the ``rest``, with what follows from them as a whole.

    ``worst`` is the worst of all findings before the ``ruling`` was applied.
    """
    rest = rest or IndependentFindings(SortedFindings(), SortedFindings())
    more = ruling.judge(_conclusions(context, worst, worst_of([*folded, *rest.findings.findings[:1]])))
    findings = rest.findings.including([*folded, *(each for each in more if each.impact is not Impact.ADVICE)])
    placed = PlacedFindings(context)
    cards = context.cards or (card(context.old.snapshot), card(context.new.snapshot))
    return Comparison(
        old=cards[0],
        new=cards[1],
        verdict=verdict_of(findings[:1]),
        findings=tuple(map(placed.of, findings)),
        not_checked=tuple(skipped),
        suppressed=tuple(map(placed.of, rest.suppressed.including(fold(ruling.suppressed, RULES, context)))),
        policy=ruling.key.policy,
        engine=str(ENGINE),
        notes=(*ruling.notes(), *_resting_on_headers(findings)),
        policy_digest=ruling.key.policy_digest,
        suppression_digest=ruling.key.suppression_digest,
        advice=tuple(sorted((each for each in more if each.impact is Impact.ADVICE), key=order)),
        policy_file=ruling.by.policy.file if ruling.by else None,
        suppression_files=ruling.by.suppressions.files if ruling.by else (),
    )


class PlacedFindings:
    """Findings with the places that people are shown."""

    def __init__(self, context: Context) -> None:
        self._old, self._new = ShownPlaces(context.old.snapshot), ShownPlaces(context.new.snapshot)

    def of(self, finding: Finding) -> Finding:
        """The finding and its consequences with such places."""
        if finding.location is None and not finding.consequences:
            return finding
        consequences = tuple(map(self.of, finding.consequences))
        side = self._old if finding.gone or self._new.of(finding.name) is None else self._new
        location = finding.location and side.shown(finding.location)
        if location == finding.location and consequences == finding.consequences:
            return finding
        return replace_struct(finding, location=location, consequences=consequences)


def _conclusions(context: Context, worst: Impact | None, effective: Impact | None) -> list[Finding]:
    """What follows from the findings as a whole, advice for the most part.

    It must follow from the worst of the rules' own impacts and from the worst effective one: a policy invents none.
    """
    own = _conclusion(context, worst)
    judged = _conclusion(context, effective) if own else []
    return [each for each in own if each in judged]


def _conclusion(context: Context, worst: Impact | None) -> list[Finding]:
    old, new = context.old.library, context.new.library
    if old is None or new is None:
        return []
    delta = Changed(Subject(SELF), WorstImpact(old.name, worst), WorstImpact(new.name, worst))
    return list(findings_of(delta, "symbol", context))


def card(snapshot: Snapshot) -> Side:
    """What a comparison says of one of its sides."""
    return Side(
        library=snapshot.library,
        version=snapshot.version,
        digest=snapshot_digest(snapshot).hex(),
        target=str(snapshot.target),
        soname=snapshot.facts.name if snapshot.facts else None,
        evidence=snapshot.evidence,
        exports=snapshot.exports,
    )


def told_of_own(findings: Iterable[Finding], context: Context) -> Iterator[Finding]:
    """The findings about declarations, in which a source break of what is the library's own is told as such."""
    for finding in findings:
        if finding.impact is Impact.API_BREAK and _is_own(finding, context):
            subject = Subject(finding.name, finding.part)
            old, new = (SourceBreak(finding.description, value) for value in (finding.old_value, finding.new_value))
            for own in findings_of(Changed(subject, old, new), "source", context):
                is_same = (own.old_value, own.new_value) == (finding.old_value, finding.new_value)
                shown = finding.in_c if is_same else own.in_c
                yield replace_struct(own, gone=finding.gone, location=finding.location, in_c=shown)
        else:
            yield finding


def _is_own(finding: Finding, context: Context) -> bool:
    side = context.old if context.old.variants("source", finding.name) else context.new
    return context.old.internals.own(finding.name, side.variants("source", finding.name))


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
        from abistore.diffing.exports import moved_declarations  # few scopes move

        own += moved_declarations(context)
    return LibraryDeltas([*own, *evidence_deltas(context)], exports)


def _export_deltas(context: Context) -> Iterable[Delta[Any]]:
    if not context.differing["symbol"] and not context.moves:
        return ()
    from abistore.diffing.exports import export_deltas  # many builds differ in declarations alone

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


LANGUAGES: Final = frozenset({"C", "C++"})
"""The modes that are the other language."""


def judge_modes(context: Context) -> Judged:
    """What programs meet that are built in one mode, beside what all programs meet.

    Nothing where a side's headers were not read mode by mode, nor where scopes moved: modes have the names of their own
    release.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead) or not (old.modes or new.modes):
        return Judged()
    if MODES not in old.facts or MODES not in new.facts or context.moves:
        return Judged()
    before, after = ({each.name: each for each in read.modes} for read in (old, new))
    first: dict[tuple[object, ...], Changed[InMode]] = {}
    for mode in sorted(before.keys() | after.keys()):
        for delta in _deltas(context, before.get(mode, HeadersMode(mode)), after.get(mode, HeadersMode(mode))):
            first.setdefault((delta.subject.name, delta.new.said, delta.old.value, delta.new.value), delta)
    return Judged(source=tuple(each for delta in first.values() for each in explained(delta, "source", context)))


def _deltas(context: Context, old: HeadersMode, new: HeadersMode) -> Iterator[Changed[InMode]]:
    """What differs in one mode; nothing where programs could not be built in it before.

    Headers that do not parse in any mode, for want of a file, tell nothing by not parsing in this one.
    """
    if old.failure:
        return
    if new.failure:
        if context.new.snapshot.evidence_of("source").declares_all and _was_read(context, old):
            was = InMode(new.name, Impact.API_BREAK, "the headers do not parse", None)
            yield Changed(Subject(SELF, new.name), was, replace_struct(was, value=new.failure))
        return
    sides = _Side(context.old, old, new), _Side(context.new, new, old)
    names = [name for name in sides[0].names if sides[0].of(name) and sides[0].of(name) != sides[1].of(name)]
    if not names:
        return
    shown = DeclarationJudge(
        Context(
            *(SideFacts(each.snapshot()) for each in sides),
            differing={"symbol": frozenset(), "layout": frozenset(), "source": frozenset(names)},
        )
    )
    everywhere = DeclarationJudge(context)
    for name in names:
        known = {_fact(each) for each in everywhere.judge(name, ()).findings}
        found = [each for each in shown.judge(name, ()).findings if _fact(each) not in known and _weighs(each)]
        if found:
            worst = max(found, key=lambda each: each.impact)
            was = InMode(new.name, worst.impact, worst.description, worst.old_value, worst.part, worst.affected)
            yield Changed(Subject(name, new.name), was, replace_struct(was, value=worst.new_value))


class _Side:
    """One release as programs of one mode see it. What both modes do not tell differently is as for all programs."""

    def __init__(self, side: SideFacts, mode: HeadersMode, other: HeadersMode) -> None:
        self._snapshot = _spoken(side.snapshot, mode.name)
        self._main: Mapping[Name, Variants] = side.snapshot.entries.get("source", {})
        self._mode = {each.name: each.shapes for each in mode.entries}
        self.names = sorted({each.name for one in (mode, other) for each in one.entries})

    def of(self, name: Name) -> Variants:
        return self._mode[name] if name in self._mode else self._main.get(name, ())

    def snapshot(self) -> Snapshot:
        """The release with what headers alone tell of these names: debug information is that of another mode."""
        source = {**self._main, **self._mode}
        told = frozenset(self.names)
        layout = self._snapshot.entries.get("layout")
        kept = {} if layout is None else {"layout": {name: layout[name] for name in layout if name not in told}}
        shown = {"source": {name: shapes for name, shapes in source.items() if shapes}}
        return replace_struct(self._snapshot, entries={**self._snapshot.entries, **kept, **shown})


def _spoken(snapshot: Snapshot, mode: str) -> Snapshot:
    """The release to sources of one language, where the mode is one: what converts in C++ may not in C."""
    read = snapshot.provenance.headers
    if mode not in LANGUAGES or not isinstance(read, HeadersRead):
        return snapshot
    return replace_struct(
        snapshot,
        provenance=replace_struct(
            snapshot.provenance, headers=replace_struct(read, language=mode.lower(), serves=(mode.lower(),))
        ),
    )


def _was_read(context: Context, mode: HeadersMode) -> bool:
    """Whether it is known that the old headers parse in a mode; in the other language only if they ask for it."""
    read = context.old.snapshot.provenance.headers
    if mode.name not in LANGUAGES or not isinstance(read, HeadersRead):
        return True
    return bool(mode.entries) or any("__cplusplus" in each.text for each in read.conditions)


def _fact(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.part, finding.old_value, finding.new_value


def _weighs(finding: Finding) -> bool:
    return finding.impact > Impact.COMPATIBLE and not finding.kind.startswith("evidence_")


def compared(context: Context, by: Ruling | None) -> Comparison:
    """What changed between two releases, of which something is known already, and what that means for consumers.

    Raises :class:`abistore.errors.Incomparable` for releases of two targets.
    """
    old, new = context.old.snapshot, context.new.snapshot
    refuse_strangers(old, new)
    context = aligned_context(context)
    ruling = AppliedRuling(context, by and by.between(old.version, new.version))
    deltas, declared = library_deltas(context), DeclarationJudge(context)
    names = {*deltas.exports, *(name for facet in declared.facets for name in context.differing[facet])}
    judged = {name: declared.judge(name, deltas.exports.get(name, ())) for name in sorted(names)}
    found = joined([judge_library(context, deltas.own), judge_modes(context), *judged.values()])
    marked = ((name, each.marks) for name, each in judged.items())
    folded = fold(ruling.judge(found), RULES, context)
    return concluded(context, ruling, folded, worst_of(found), not_checked(context, declared.facets, marked))


def aligned_context(context: Context, moves: tuple[Move, ...] | None = None) -> Context:
    """The context with the new release under the old names; the same one where no scope moved.

    What a comparison says of its sides is of what was read. ``moves`` are what moved, if that was found out already.
    """
    if context.moves:
        return context
    old, new = context.old.snapshot, context.new.snapshot
    sides = aligned(old, new, context.differing, moves)
    if not sides.moves:
        return context
    cards = context.cards or (card(old), card(new))
    later = SideFacts(sides.new)
    return Context(context.old, later, differing=sides.differing, cards=cards, moves=sides.moves)


def compare(old: Snapshot, new: Snapshot, by: Ruling | None = None, differing: Differing | None = None) -> Comparison:
    """What changed from ``old`` to ``new``, and what that means for consumers built against ``old``.

    Without a ruling each finding has the impact of its kind. Facts that one side's input never records are left out of
    both. Who knows which names are ``differing`` then can say so.

    Raises :class:`abistore.errors.Incomparable` for snapshots of two targets.
    """
    first, second = both_record(old, new)
    cards = (card(old), card(new)) if first is not old or second is not new else None
    return compared(Context(SideFacts(first), SideFacts(second), differing=differing, cards=cards), by)


def both_record(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both snapshots without the facts that either does not record: the same objects where there are none."""
    if not unlike(old.evidence, new.evidence):
        return old, new
    from abistore.model.format_gaps import common_ground  # most inputs record the same

    return common_ground(old, new)
