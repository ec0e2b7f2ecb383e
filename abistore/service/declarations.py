"""The facts and declarations of one snapshot, in the words of its format, and since when headers deprecate one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model import words
from abistore.model.declarations import FACETS, SELF, Declared, Facet, Kind, Name
from abistore.model.history import Release
from abistore.model.names.qualified import demangle, normal_name
from abistore.model.names.spelling import spelled_out
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Function, Library, Variable
from abistore.model.snapshot import Evidence, Location, Provenance, ReleaseTag, Snapshot, evidence_of, snapshot_digest
from abistore.model.structure import without_cycle_collection
from abistore.model.words import did_you_mean, near_name
from abistore.report.model import Report, ReportedFinding
from abistore.report.wording import lengthened, shortened
from abistore.service.database import Database
from abistore.service.judging import WAS_DEPRECATED
from abistore.service.listing import releases_of
from abistore.service.snapshots import Selection, operands

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
    reach = Reach(snapshot)
    return tuple(
        DeclarationText(
            name=one,
            display=display(one, snapshot.variants("layout", one)),
            facet=facet,
            location=snapshot.locations.get(one),
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
