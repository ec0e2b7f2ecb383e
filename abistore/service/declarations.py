"""The facts and declarations of a snapshot: in the words of its format, as texts, compared, and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import Incomparable, SnapshotNotFound
from abistore.limits import limits_for
from abistore.model import words
from abistore.model.declarations import EXPORTS, FACETS, SELF, TYPES, Declared, Facet, Kind, Name
from abistore.model.history import LogEvent, Release
from abistore.model.names.qualified import demangle, normal_name
from abistore.model.names.spelling import Mention, mention_of, mentions, spelled_out
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Function, Library, Variable
from abistore.model.snapshot import (
    Evidence,
    Location,
    Provenance,
    ReleaseTag,
    Snapshot,
    Variants,
    evidence_of,
    snapshot_digest,
)
from abistore.model.structure import references, without_cycle_collection
from abistore.model.words import did_you_mean, near_name
from abistore.report.model import ComparedDeclaration, Report, ReportedFinding
from abistore.report.wording import differing, lengthened, shortened
from abistore.service.database import Database, using
from abistore.service.judging import WAS_DEPRECATED
from abistore.service.listing import in_line, releases_of
from abistore.service.snapshots import OperandPair, Selection, is_reference, operands

if TYPE_CHECKING:
    from abistore.diffing.side import SideFacts
    from abistore.store.store import Store


class Hardening(msgspec.Struct, frozen=True):
    """What protects a process that loads the file. ``branch_protection`` names IBT, SHSTK, BTI, PAC notes."""

    relro: Literal["none", "partial", "full"]
    bind_now: bool
    executable_stack: bool
    stack_canary: bool
    fortify: bool
    branch_protection: tuple[str, ...]
    text_relocations: bool
    writable_executable_segment: bool


class Facts(msgspec.Struct, frozen=True):
    """What the file says of itself, in the words of its format. ``hardening`` is known of ELF files only."""

    file_kind: str
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    version_definitions: tuple[str, ...]
    version_requirements: tuple[tuple[str, str], ...]
    hardening: Hardening | None
    features: tuple[str, ...]


def facts_of(shape: Library, *, elf: bool) -> Facts:
    """The facts of a library's shape; whether it is of an ELF file."""
    return Facts(
        file_kind=shape.file_kind,
        soname=shape.name,
        needed=shape.needed,
        rpath=shape.on_elf.rpath,
        runpath=shape.search_paths,
        version_definitions=shape.on_elf.version_definitions,
        version_requirements=shape.on_elf.version_requirements,
        hardening=_hardening(shape) if elf else None,
        features=shape.features,
    )


def _hardening(shape: Library) -> Hardening:
    had = {*shape.protections, *shape.weaknesses}
    return Hardening(
        relro="full" if words.FULL_RELRO in had else "partial" if words.PARTIAL_RELRO in had else "none",
        bind_now=words.BIND_NOW in had,
        executable_stack=words.EXECUTABLE_STACK in had,
        stack_canary=words.STACK_CANARY in had,
        fortify=words.FORTIFY in had,
        branch_protection=tuple(sorted(had & words.BRANCHES)),
        text_relocations=words.TEXT_RELOCATIONS in had,
        writable_executable_segment=words.WRITABLE_CODE in had,
    )


MATCHES_SHOWN = 5
LINKED = frozenset({"function", "variable", "import"})


def declarations_near(text: str, known: Iterable[str]) -> str:
    """The hint with the declarations that ``text`` probably means."""
    near = near_name(text, (shortened(one) or "" for one in known), MATCHES_SHOWN)
    return did_you_mean(near, "only exports and the types they reach are recorded")


def display(name: Name, shapes: Iterable[AnyShape]) -> str:
    """How a programmer calls one name whose ``shapes`` are known: demangled, or as the debug information has it."""
    spelling = demangle(name.spelling) if name.kind in LINKED else name.spelling
    if spelling == name.spelling:
        for shape in shapes:
            if isinstance(shape, Function | Variable):
                return shape.display
    return spelling or "the library"


class DeclaredExports(msgspec.Struct, frozen=True):
    """Where public headers and the export table of a library differ, by linker names, sorted.

    Sources cannot use what is ``undeclared``; what uses something ``unexported`` compiles and does not link.
    Where a header did not parse, exports that may stand there are in neither.
    """

    undeclared: tuple[str, ...]
    unexported: tuple[str, ...]


def declared_exports(snapshot: Snapshot) -> DeclaredExports | None:
    """The differences; ``None`` where no headers were read."""
    if snapshot.evidence_of("source").state == "missing":
        return None
    from abistore.diffing.rules.headers_declarations import is_unexported  # not needed without headers
    from abistore.diffing.side import SideFacts

    side = SideFacts(snapshot)
    exports = (name for name in snapshot.entries.get("symbol", {}) if name.kind in ("function", "variable"))
    unexported = (
        name
        for name, shapes in snapshot.entries.get("source", {}).items()
        if any(is_unexported(side, name, shape) for shape in shapes if isinstance(shape, Declared))
    )
    return DeclaredExports(
        tuple(sorted({name.spelling for name in exports if _is_undeclared(side, name)})),
        tuple(sorted({name.spelling for name in unexported})),
    )


def _is_undeclared(side: SideFacts, export: Name) -> bool:
    consumers = side.consumers
    return not consumers.can_name(export) and consumers.concealment(export) == "undeclared"


class StoredFacts(msgspec.Struct, frozen=True):
    """What the store knows of a snapshot beside its content."""

    profile: str
    sequence: int
    ingested: datetime
    released: datetime | None
    revision: str | None
    url: str | None
    tags: tuple[ReleaseTag, ...] = ()


class SnapshotCard(msgspec.Struct, frozen=True):
    """A snapshot at a glance. ``counts`` are distinct names by kind; ``exports`` are functions and variables."""

    library: str
    version: str | None
    digest: str
    target: str
    exports: int
    counts: Mapping[Kind, int]
    facts: Facts | None
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    stored: StoredFacts | None
    headers: DeclaredExports | None = None


class TypeUsers(msgspec.Struct, frozen=True):
    """The exports, by their linker names, that use a type: by value, so that its layout matters, or only by pointer."""

    by_value: tuple[str, ...]
    by_pointer: tuple[str, ...]


class DeclarationText(msgspec.Struct, frozen=True):
    """One declaration as one facet saw it, in C or C++ with offsets and holes: one text for each variant.

    ``used`` says which exports use a type; it is ``None`` for functions and variables.
    """

    name: Name
    display: str
    facet: Facet
    location: Location | None
    texts: tuple[str, ...]
    used: TypeUsers | None


class DeclaredIn(msgspec.Struct, frozen=True):
    """The declarations of one name in one of several libraries."""

    operand: str
    declarations: tuple[DeclarationText, ...]


def card(operand: str | Path, *, database: Database = None, selection: Selection | None = None) -> SnapshotCard:
    """The card of a stored or captured snapshot."""
    with operands(database, selection) as reader:
        found = reader.read(operand)
    snapshot = found.snapshot
    kinds = Counter(name.kind for name in {name for entries in snapshot.entries.values() for name in entries})
    return SnapshotCard(
        library=snapshot.library,
        version=snapshot.version,
        digest=found.release.digest if found.release else snapshot_digest(snapshot).hex(),
        target=str(snapshot.target),
        exports=snapshot.exports,
        counts=dict(sorted(kinds.items())),
        facts=facts_of(snapshot.facts, elf=snapshot.target.format == "elf") if snapshot.facts else None,
        evidence=snapshot.evidence,
        provenance=snapshot.provenance,
        stored=_stored(found.release) if found.release else None,
        headers=_headers(snapshot),
    )


def _headers(snapshot: Snapshot) -> DeclaredExports | None:
    if snapshot.evidence_of("source").state == "missing":
        return None
    with limits_for(snapshot.weight, f"spelling declarations of {snapshot.label}"):
        return declared_exports(snapshot)


def declarations(
    operand: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[DeclarationText, ...]:
    """The declarations called ``name``, in each facet that saw them. Raises :class:`SnapshotNotFound`."""
    with operands(database, selection) as reader:
        snapshot = reader.read(operand).snapshot
    with limits_for(snapshot.weight, f"spelling declarations of {snapshot.label}"):
        return _declarations(snapshot, find(snapshot, name))


def _declarations(snapshot: Snapshot, names: tuple[Name, ...]) -> tuple[DeclarationText, ...]:
    from abistore.diffing.side import ShownPlaces  # stored verdicts are shown without loading the engine

    reach, places = Reach(snapshot), ShownPlaces(snapshot)
    return tuple(
        DeclarationText(
            name=one,
            display=display(one, snapshot.variants("layout", one)),
            facet=facet,
            location=places.of(one),
            texts=tuple(spelled_out(one, snapshot.variants(facet, one), snapshot)),
            used=None if one.kind in LINKED else _users(reach, one),
        )
        for one in names
        for facet in FACETS
        if snapshot.variants(facet, one)
    )


def _users(reach: Reach, name: Name) -> TypeUsers:
    by_value = reach.exports_reaching(name, by_value=True)
    others = set(reach.exports_reaching(name)) - set(by_value)
    return TypeUsers(tuple(one.spelling for one in by_value), tuple(one.spelling for one in sorted(others)))


def find(snapshot: Snapshot, text: str) -> tuple[Name, ...]:
    """The names that ``text`` means: by linker name, normal spelling, or qualified name with or without parameters.

    Raises :class:`SnapshotNotFound` with the nearest names as the hint.
    """
    names = sorted({name for entries in snapshot.entries.values() for name in entries} - {SELF})
    wanted = {normal_name(one) for one in lengthened(text)}
    exact = tuple(name for name in names if name.spelling in {text, *wanted})
    if exact:
        return exact
    shown = {name: display(name, snapshot.variants("layout", name)) for name in names}
    described = tuple(name for name in names if wanted & {shown[name], shown[name].partition("(")[0]})
    if described:
        return described
    unseen = "; its types are not known, for want of debug information" if not snapshot.entries.get("layout") else ""
    raise SnapshotNotFound(
        f"{snapshot.library}: no declaration named {text}{unseen}", declarations_near(text, shown.values())
    )


def declared_names(operand: str, start: str, *, database: Database = None) -> tuple[str, ...]:
    """What the declarations of a release are called that begin with ``start``: by linker name, or in the source.

    Of a library those of its latest release. Raises :class:`SnapshotNotFound`.
    """
    reference = operand if "@" in operand else f"{operand}@latest"
    with operands(database, None) as reader:
        snapshot = reader.read(reference).snapshot
    names = {name for entries in snapshot.entries.values() for name in entries} - {SELF}
    called = {display(name, snapshot.variants("layout", name)).partition("(")[0] for name in names}
    return tuple(sorted(each for each in called | {name.spelling for name in names} if each.startswith(start)))


def _stored(release: Release) -> StoredFacts:
    return StoredFacts(
        release.line.profile,
        release.sequence,
        release.ingested,
        release.released,
        release.revision,
        release.url,
        release.tags,
    )


DEPRECATED = "deprecated"


class DeclaredLife(NamedTuple):
    """A declaration of headers: where in release order it was deprecated and removed, ``None`` if it was not.

    ``is_private``: a private member, which programs can use through inline functions of the headers only.
    """

    display: str
    since: int | None = None
    removed: int | None = None
    is_private: bool = False


class DeclaredLives(NamedTuple):
    """The lives of all public declarations that were ever deprecated or removed; ``read`` are places with headers."""

    lives: Mapping[Name, DeclaredLife]
    read: Sequence[int]


def declared_lives(store: Store, releases: Sequence[Release]) -> DeclaredLives:
    """Walk the releases of a line, in release order. One whose headers were not read says nothing."""
    walk, found = store.walk(), dict[Name, DeclaredLife]()
    read, pending, known = list[int](), set[Name](), dict[Name, bool]()
    for place, release in enumerate(releases):
        with limits_for(release.declarations << 8, f"reading {release.reference}"), without_cycle_collection():
            step = walk.step(release)
            pending |= step.changed
            if evidence_of(release.evidence, "source").state == "missing":
                continue
            _note(found, known, step.snapshot, (place, pending if read else _all(step.snapshot)))
        read.append(place)
        pending = set()
    return DeclaredLives(found, read)


def _all(snapshot: Snapshot) -> Iterable[Name]:
    return snapshot.entries.get("source", {}).keys()


def _note(
    found: dict[Name, DeclaredLife], known: dict[Name, bool], snapshot: Snapshot, changed: tuple[int, Iterable[Name]]
) -> None:
    """What a release says of the declarations that differ from the one before; ``known`` are private or not."""
    place, names = changed
    for name in names:
        declared = next(_declared(snapshot, name), None)
        life = found.get(name)
        if declared is None:
            if name in known:
                was_private = known.pop(name)
                life = life or DeclaredLife(_display(snapshot, name), is_private=was_private)
                found[name] = life._replace(removed=place)
            continue
        known[name] = _is_private(snapshot, name)
        if DEPRECATED not in declared.traits:
            found.pop(name, None)
        elif life is None or life.removed is not None or life.since is None:
            found[name] = DeclaredLife(_display(snapshot, name), since=place, is_private=known[name])


def _declared(snapshot: Snapshot, name: Name) -> Iterator[Declared]:
    return (shape for shape in snapshot.variants("source", name) if isinstance(shape, Declared))


def _is_private(snapshot: Snapshot, name: Name) -> bool:
    shapes = snapshot.variants("source", name)
    functions = [shape.method.access for shape in shapes if isinstance(shape, Function) and shape.method is not None]
    return "private" in functions or any(isinstance(each, Variable) and each.access == "private" for each in shapes)


def _display(snapshot: Snapshot, name: Name) -> str:
    return display(name, (*snapshot.variants("layout", name), *snapshot.variants("source", name)))


def with_deprecation_dates(store: Store, report: Report, old: Release) -> Report:
    """The report, in which removed declarations say since which stored release they were deprecated."""
    if old.candidate or not any(WAS_DEPRECATED in each.description for each in report.changes):
        return report
    releases = releases_of(store, old.line)
    ordered = releases[: next(at for at, each in enumerate(releases) if each.sequence == old.sequence) + 1]
    found = declared_lives(store, ordered)

    def said(finding: ReportedFinding) -> ReportedFinding:
        life = found.lives.get(Name(finding.subject, finding.symbol))
        if life is None or life.since is None:
            return finding
        since = f"{ordered[life.since].version}{' or earlier' if life.since == found.read[0] else ''}"
        return replace(finding, description=finding.description.replace(WAS_DEPRECATED, f"; deprecated since {since}"))

    return replace(report, changes=tuple(map(said, report.changes)))


OF_TYPES: Final[tuple[Facet, ...]] = ("layout", "source", "symbol")
OF_OTHERS: Final[tuple[Facet, ...]] = ("source", "layout", "symbol")
"""The facets whose text says most: headers name parameters, debug information has the layout of what they hide."""

DifferenceState: TypeAlias = Literal["same", "changed", "added", "removed"]


class DeclarationLife(msgspec.Struct, frozen=True):
    """Where a declaration of a release appears in its line, changed last, and is gone (empty: it is not).

    ``first_stored``: ``since`` is the oldest release of the line, so that nobody knows whether it was there before.
    """

    since: str
    changed: str = ""
    until: str = ""
    first_stored: bool = False


class ShownDeclaration(msgspec.Struct, frozen=True):
    """One declaration in C or C++, with offsets, as the ``facet`` that says most has it; ``life`` of a stored one."""

    name: Name
    display: str
    facet: Facet
    location: Location | None
    text: str
    used: TypeUsers | None
    life: DeclarationLife | None = None


class DeclarationDifference(msgspec.Struct, frozen=True):
    """What differs in a declaration between two sides, line by line behind ``-``, ``+``, or ``!`` where only the place.

    ``said`` tells what the texts do not show, such as a name that is meant as another kind of type.
    """

    name: Name
    display: str
    facet: Facet
    state: DifferenceState
    lines: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


class DeclaredName(msgspec.Struct, frozen=True):
    """A declaration in a list, with its text where that is one line."""

    name: Name
    display: str
    text: str = ""


def shown_declarations(
    operand: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[ShownDeclaration, ...]:
    """Each declaration called ``name`` once, with its life where it is stored. Raises :class:`SnapshotNotFound`."""
    found = declarations(operand, name, database=database, selection=selection)
    by_name = {(each.name, each.facet): each for each in found}
    lives = _lives(operand, name, database, selection) if is_reference(operand) else {}
    texts = [by_name[one, _facet(one, {facet for other, facet in by_name if other == one})] for one in _names(by_name)]
    return tuple(
        ShownDeclaration(
            each.name, each.display, each.facet, each.location, "\n".join(each.texts), each.used, lives.get(each.name)
        )
        for each in texts
    )


def _names(keys: Iterable[tuple[Name, Facet]]) -> tuple[Name, ...]:
    return tuple(dict.fromkeys(name for name, _ in keys))


def _facet(name: Name, facets: Iterable[Facet]) -> Facet:
    order = OF_TYPES if name.kind in TYPES else OF_OTHERS
    return min(facets, key=order.index)


# --- two sides ----------------------------------------------------------------------------------------------------


def declaration_differences(
    old: str | Path, new: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[DeclarationDifference, ...]:
    """What differs in each declaration called ``name``. Raises :class:`SnapshotNotFound` where no side has it."""
    with operands(database, selection) as reader:
        pair = reader.pair(old, new)
    if not isinstance(pair, OperandPair):
        raise Incomparable("a side holds several libraries", "choose one of them")
    sides = pair.old.snapshot, pair.new.snapshot
    with limits_for(sum(each.weight for each in sides), f"comparing declarations of {sides[1].label}"):
        return tuple(_difference(one, sides) for one in _named(sides, name))


def _named(sides: Sequence[Snapshot], name: str) -> tuple[Name, ...]:
    found = set[Name]()
    missing = []
    for side in sides:
        try:
            found |= set(find(side, name))
        except SnapshotNotFound as error:
            missing.append(error)
    if not found:
        raise missing[-1]
    return tuple(sorted(found))


def _difference(name: Name, sides: tuple[Snapshot, Snapshot]) -> DeclarationDifference:
    facet = _shared_facet(name, sides)
    before, after = (each.variants(facet, name) for each in sides)
    state: DifferenceState = "same" if before == after else "changed"
    if not before or not after:
        state = "added" if after else "removed"
    old, new = mentions(*sides)
    texts = _text(name, before, sides[0], old), _text(name, after, sides[1], new)
    told = display(name, (*before, *after))
    return DeclarationDifference(name, told, facet, state, differing_lines(name, *texts), spelled_alike(before, after))


def differing_lines(name: Name, before: str | None, after: str | None) -> tuple[str, ...]:
    """What differs between two texts of a declaration, with lines around it; nothing where they are alike."""
    if before == after:
        return ()
    return tuple(differing(ComparedDeclaration(name.spelling, name.kind, before, after)))


def _shared_facet(name: Name, sides: tuple[Snapshot, Snapshot]) -> Facet:
    """The facet by which both sides show it; of one that a side lacks, the facet by which the other one shows it."""
    old, new = ({facet for facet in OF_TYPES if side.variants(facet, name)} for side in sides)
    return _facet(name, old & new or old | new)


def _text(name: Name, shapes: Variants, side: Snapshot, mention: Mention) -> str | None:
    return "\n".join(spelled_out(name, shapes, side, mention=mention)) if shapes else None


def spelled_alike(before: Variants, after: Variants) -> tuple[str, ...]:
    """What differs in declarations where their texts do not: a type of one name that is of another kind."""
    old, new = _kinds(before), _kinds(after)
    differs = [each for each in sorted(old.keys() & new.keys()) if old[each] != new[each]]
    return tuple(f"{each} is meant as {_listed(new[each])}, and was as {_listed(old[each])}" for each in differs)


WORDS: Final[Mapping[str, str]] = {"alias": "a typedef", "record": "a struct, class or union", "enum": "an enum"}


def _kinds(shapes: Iterable[AnyShape]) -> dict[str, frozenset[Kind]]:
    found: dict[str, set[Kind]] = {}
    for shape in shapes:
        for name, _ in references(shape):
            found.setdefault(name.spelling, set()).add(name.kind)
    return {spelling: frozenset(kinds) for spelling, kinds in found.items()}


def _listed(kinds: frozenset[Kind]) -> str:
    return " and ".join(WORDS.get(each, each) for each in sorted(kinds))


# --- lists --------------------------------------------------------------------------------------------------------


def declared_like(
    operand: str | Path,
    pattern: str,
    kinds: Sequence[Kind] = (*EXPORTS, *TYPES),
    *,
    database: Database = None,
    selection: Selection | None = None,
) -> tuple[DeclaredName, ...]:
    """The declarations whose name in the source, or whose symbol, a glob fits (``LZ4F_*``), by name."""
    with operands(database, selection) as reader:
        snapshot = reader.read(operand).snapshot
    with limits_for(snapshot.weight, f"listing declarations of {snapshot.label}"):
        found = [_listed_name(snapshot, name) for name in _of_kinds(snapshot, kinds)]
        fitting = (
            each for each in found if fnmatchcase(each.display, pattern) or fnmatchcase(each.name.spelling, pattern)
        )
        return tuple(sorted(fitting, key=lambda each: (each.display, each.name)))


def _of_kinds(snapshot: Snapshot, kinds: Sequence[Kind]) -> set[Name]:
    return {name for entries in snapshot.entries.values() for name in entries if name.kind in kinds} - {SELF}


def _listed_name(snapshot: Snapshot, name: Name) -> DeclaredName:
    facet = _facet(name, [each for each in OF_TYPES if snapshot.variants(each, name)])
    text = _text(name, snapshot.variants(facet, name), snapshot, mention_of(snapshot.provenance)) or ""
    return DeclaredName(name, display(name, snapshot.described(name)), "" if "\n" in text else text)


# --- lives --------------------------------------------------------------------------------------------------------


def _lives(
    reference: str, name: str, database: Database, selection: Selection | None
) -> Mapping[Name, DeclarationLife]:
    chosen = selection or Selection()
    with using(database) as store, store.reading():
        release, ordered = in_line(store, reference, chosen.target, chosen.profile)
        if release.candidate:
            return {}
        places = {each.version: number for number, each in enumerate(ordered)}
        events = store.logs(lengthened(name), release.line.library).get(release.line, ())
        return dict(_each_life(events, places, places[release.version]))


def _each_life(
    events: Sequence[LogEvent], places: Mapping[str, int], here: int
) -> Iterator[tuple[Name, DeclarationLife]]:
    for name in sorted({event.name for event in events}):
        own = [event for event in events if event.name == name]
        facet = _life_facet(name, {event.facet for event in own})
        life = _life([event for event in own if event.facet == facet and event.release.version in places], places, here)
        if life is not None:
            yield name, life


def _life_facet(name: Name, facets: Iterable[Facet]) -> Facet:
    """Exports live in the table of symbols; types where they are described."""
    order: tuple[Facet, ...] = ("symbol", "layout", "source") if name.kind in EXPORTS else OF_TYPES
    return min(facets, key=order.index)


def _life(events: Iterable[LogEvent], places: Mapping[str, int], here: int) -> DeclarationLife | None:
    life: DeclarationLife | None = None
    for event in events:
        version, is_past = event.release.version, places[event.release.version] <= here
        if is_past and event.action == "appeared":
            life = DeclarationLife(version, first_stored=event.first_stored)
        elif is_past and event.action == "changed" and life is not None:
            life = msgspec.structs.replace(life, changed=version)
        elif not is_past and event.action == "vanished" and life is not None:
            return msgspec.structs.replace(life, until=version)
    return life
