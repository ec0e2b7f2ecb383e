"""Programs: what they import, the report for given ones, and stored ones: added, removed, and broken by releases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec
from msgspec.structs import replace

from abistore.errors import InputError, SnapshotNotFound, UsageError
from abistore.extract.files import InputFile, open_input
from abistore.extract.packages.libraries import entries, is_binary, is_debug_file
from abistore.extract.packages.streams import UnpackBounds, damage_told
from abistore.extract.reader import ExtractOptions, is_package
from abistore.limits import allow_more
from abistore.model.approvals import (
    BreakSort,
    BrokenBy,
    BuiltType,
    ConsumedSymbol,
    Consumer,
    ConsumerDetails,
    StoredConsumer,
    Unseen,
    asks_for,
    base_name,
)
from abistore.model.decision import AllowPlan, AllowRule, OldAndNew
from abistore.model.declarations import EXPORTS, Name, is_number
from abistore.model.findings import VERDICT_OF, Impact, Verdict
from abistore.model.history import Release
from abistore.model.labels import check_not_blank, library_name
from abistore.model.shapes import Foreign, Import, Library, Opaque, Symbol
from abistore.model.snapshot import Provenance, Snapshot, Variants, distributed, loaded_as, snapshot_digest
from abistore.model.words import counted, listed
from abistore.report.model import Report, ReportedFinding, VerdictName, every
from abistore.report.releases import summary
from abistore.service.database import Database, line_target, user, using
from abistore.service.judging import judge
from abistore.service.snapshots import capture, captured_all, check_label

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store

WORDS: Mapping[str, str] = {
    "asks-at-run-time": "symbols that it looks up with dlsym or GetProcAddress",
    "no-types": "the types it was built with: it has no debug information about them",
    "some-types": "some of the types it was built with: its debug information is incomplete",
}
"""What of a consumer is not checked, in words."""


def _ordinals(snapshot: Snapshot) -> Mapping[int, Name]:
    if snapshot.target.format != "pe":
        return {}
    from abistore.diffing.scopes import exports_by_number  # DLLs alone have numbers

    return exports_by_number(snapshot)


class ReleaseNeeds:
    """A release as consumers meet it; what several of them share is worked out once.

    ``known`` are the names that the line's releases ever exported or described.
    """

    def __init__(self, snapshot: Snapshot, sonames: Collection[str], known: Collection[Name]) -> None:
        self.snapshot = snapshot
        self._sonames = frozenset(map(base_name, sonames))
        self._symbols = {
            name.spelling: tuple(each for each in shapes if isinstance(each, Symbol))
            for name, shapes in snapshot.entries.get("symbol", {}).items()
            if name.kind in EXPORTS
        }
        self._ordinals = _ordinals(snapshot)
        self._exported = {name.spelling for name in known if name.kind in EXPORTS}
        self._described = {name for name in known if name.kind not in EXPORTS}
        self._types = snapshot.entries.get("layout", {})
        self._judged: dict[frozenset[tuple[Name, Variants]], tuple[ReportedFinding, ...]] = {}
        self._files: dict[Name, str] = {}

    def loads(self, details: ConsumerDetails) -> bool:
        """Whether the loader takes this release for what a consumer asks for."""
        facts = self.snapshot.facts
        if facts is None or not facts.name:
            return asks_for(details, self.snapshot.library, self._sonames)
        return base_name(facts.name) in set(map(base_name, details.needed))

    def own(self, imports: Iterable[ConsumedSymbol]) -> tuple[ConsumedSymbol, ...]:
        """The imports that this library is to provide."""
        return tuple(each for each in imports if self._is_own(each))

    def _is_own(self, symbol: ConsumedSymbol) -> bool:
        if symbol.library:
            name = base_name(symbol.library)
            return name in self._sonames or library_name(name) == self.snapshot.library
        return symbol.symbol in self._exported

    def ordinals(self, symbols: Collection[str]) -> frozenset[str]:
        """The exports that are asked for by their number, ``#12``."""
        asked = {int(each[1:]) for each in symbols if each.startswith("#")}
        return frozenset(self._ordinals[each].spelling for each in asked if each in self._ordinals)

    def lacking(self, own: Iterable[ConsumedSymbol]) -> Iterator[BrokenBy]:
        """The symbols and versions that are missing, and data of another size."""
        for each in own:
            found = self._symbols.get(each.symbol, ())
            if each.symbol.startswith("#"):
                if int(each.symbol[1:]) not in self._ordinals:
                    yield BrokenBy("symbol", each.symbol, detail="no export has this number")
            elif not found:
                if not each.weak:
                    yield BrokenBy("symbol", each.symbol, detail="not exported")
            elif each.version and all(one.version not in {None, each.version} for one in found):
                has = ", ".join(sorted(str(one.version) for one in found))
                yield BrokenBy("version", each.symbol, detail=f"needs {each.version}, there is {has}")
            elif each.copied and found[0].size and found[0].size != each.copied:
                yield BrokenBy("size", each.symbol, detail=f"{each.copied} bytes in the program, {found[0].size} here")

    def retargeted(self, own: Iterable[ConsumedSymbol], before: Snapshot) -> Iterator[BrokenBy]:
        """The numbers of a DLL that were those of other named exports in the release ``before``."""
        asked = {each.symbol: int(each.symbol[1:]) for each in own if each.symbol.startswith("#")}
        former = _ordinals(before) if asked else {}
        for symbol, number in asked.items():
            old, new = former.get(number), self._ordinals.get(number)
            if old is not None and new is not None and old != new and not (is_number(old) or is_number(new)):
                detail = f"{old.spelling} before, {new.spelling} here"
                yield BrokenBy("symbol", symbol, "pe_ordinal_retargeted", detail)

    def changed(self, types: Mapping[Name, BuiltType], imports: frozenset[str]) -> Iterator[BrokenBy]:
        """The types that a consumer was built with otherwise, and that it meets through what it imports.

        The release is judged as the replacement of itself with the consumer's types.
        """
        differing = frozenset((name, built.shapes) for name, built in types.items() if self._differs(name, built))
        for each in self._changes(differing) if differing else ():
            if Impact[each.impact.upper()] is Impact.BREAKING and is_met(each, imports):
                yield told("type", each)

    def hurts(self, finding: ReportedFinding, types: Mapping[Name, BuiltType], imports: frozenset[str]) -> bool:
        """Whether a consumer with these types and imports meets a change, and was not built with what is here."""
        return not self.is_as_built(Name(finding.subject, finding.symbol), types) and is_met(finding, imports)

    def unsettled(self, types: Mapping[Name, BuiltType]) -> Iterator[str]:
        """What cannot be told of a consumer's types."""
        if "layout" not in self.snapshot.entries:
            yield "the release does not describe its types"
            return
        for name, built in sorted(types.items()):
            if name in self._types and not self._is_same(name, built) and self._is_elsewhere(name, built):
                yield f"{name}: the program declares it in {built.file}, the library in {self._file(name)}"
            elif name in self._types and len(built.shapes) > 1 and not self._is_same(name, built):
                yield f"{name}: the program was built with several definitions"
            elif name not in self._types and name in self._described:
                yield f"{name}: the release does not describe it"

    def is_as_built(self, name: Name, types: Mapping[Name, BuiltType]) -> bool:
        """Whether a consumer was built with a type just as the release has it."""
        return name in types and name in self._types and self._is_same(name, types[name])

    def _differs(self, name: Name, built: BuiltType) -> bool:
        shapes = self._types.get(name, ())
        is_own = bool(shapes) and not any(isinstance(each, (Foreign, Opaque)) for each in shapes)
        return (
            is_own and len(built.shapes) == 1 and not self._is_same(name, built) and not self._is_elsewhere(name, built)
        )

    def _is_same(self, name: Name, built: BuiltType) -> bool:
        return set(self._types[name]) == set(built.shapes)

    def _is_elsewhere(self, name: Name, built: BuiltType) -> bool:
        """Whether the consumer has a type of its own by that name, as the file tells that declares it."""
        file = self._file(name)
        return bool(file and built.file and file != built.file)

    def _file(self, name: Name) -> str:
        if name not in self._files:
            place = self.snapshot.locations.get(name)
            self._files[name] = place.file.replace("\\", "/").rpartition("/")[2] if place else ""
        return self._files[name]

    def _changes(self, differing: frozenset[tuple[Name, Variants]]) -> tuple[ReportedFinding, ...]:
        if differing not in self._judged:
            layout = {**self._types, **dict(differing)}
            entries = {**self.snapshot.entries, "layout": layout}
            believed = msgspec.structs.replace(self.snapshot, entries=entries)
            self._judged[differing] = judge(believed, self.snapshot).changes
        return self._judged[differing]


def unseen(details: ConsumerDetails) -> Iterator[str]:
    """What of a consumer is not checked, in words."""
    yield from (WORDS[each] for each in details.unseen)


def told(sort: BreakSort, finding: ReportedFinding) -> BrokenBy:
    """A finding as what breaks a consumer."""
    values = " -> ".join(value for value in finding.shown if value is not None)
    detail = ": ".join(filter(None, (finding.part, values)))
    return BrokenBy(sort, finding.symbol, finding.kind, detail)


ASKING = frozenset({"dlsym", "dlvsym", "GetProcAddress", "NSLookupSymbolInModule", "NSAddressOfSymbol"})
"""The functions by which a program asks for symbols while it runs."""

TYPES = ("record", "enum")


class ReadConsumers(msgspec.Struct, frozen=True):
    """What was read of a path; ``left_out`` tells of binaries that use no library, or are damaged, each with a word."""

    consumers: tuple[Consumer, ...]
    left_out: tuple[str, ...] = ()


def read_consumers(path: str | Path, options: ExtractOptions, name: str = "") -> ReadConsumers:
    """The consumers at ``path``: a program or library, or all of those in a package or a folder.

    ``name`` is what a single one is called in place of its file. Raises :class:`InputError` where there is none.
    """
    options = msgspec.structs.replace(options, programs=True)
    with open_input(Path(path)) as file:
        if is_package(file):
            return _packaged(file, options)
        read = captured_all(file, options=options)
    return ReadConsumers(tuple(consumer_of(each, name or Path(path).name) for each in read))


def _packaged(package: InputFile, options: ExtractOptions) -> ReadConsumers:
    """The binaries of a package or folder, each called by what it was found in and its path there."""
    where, found, left_out = package.path.resolve().name, list[Consumer](), list[str]()
    bounds = UnpackBounds(str(package.path), package.size, options.max_bytes)
    with damage_told(str(package.path)):
        for entry in entries(package, bounds):
            if entry.keep is None or not is_binary(entry.head) or is_debug_file(entry.path):
                continue
            with entry.keep() as file:
                allow_more(file.size)
                try:
                    read = captured_all(file, options=options)
                except InputError as error:
                    left_out.append(f"{entry.path} ({error.message.rpartition(': ')[2]})")
                    continue
            found += [consumer_of(each, f"{where}:{entry.path}", where) for each in read]
    if not found:
        others = f"; left out: {', '.join(left_out[:5])}" if left_out else ""
        raise InputError(f"{package.path}: contains no program{others}", "name a package or folder with programs")
    return ReadConsumers(tuple(found), tuple(sorted(left_out)))


def consumer_of(snapshot: Snapshot, name: str, package: str = "") -> Consumer:
    """What the snapshot of a program, or of a library, asks of other libraries."""
    facts = snapshot.facts
    imports = tuple(sorted(_imports(snapshot)))
    details = ConsumerDetails(
        name,
        str(snapshot.target),
        snapshot.provenance.file,
        snapshot.provenance.sha256,
        facts.needed if isinstance(facts, Library) else (),
        tuple(_unseen(snapshot, imports)),
        package,
    )
    return Consumer(details, imports, dict(_types(snapshot)))


def _imports(snapshot: Snapshot) -> Iterator[ConsumedSymbol]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        for shape in shapes:
            if isinstance(shape, Import):
                copied = _size(snapshot, name.spelling)
                yield ConsumedSymbol(name.spelling, shape.version or "", shape.library or "", shape.weak, copied)


def _size(snapshot: Snapshot, symbol: str) -> int:
    """The size of the data that a program has of its own under the name of an import."""
    own = snapshot.variants("symbol", Name("variable", symbol))
    return next((shape.size for shape in own if isinstance(shape, Symbol)), 0)


def _unseen(snapshot: Snapshot, imports: tuple[ConsumedSymbol, ...]) -> Iterator[Unseen]:
    if any(each.symbol in ASKING for each in imports):
        yield "asks-at-run-time"
    evidence = snapshot.evidence_of("layout")
    if evidence.state == "missing":
        yield "no-types"
    elif evidence.state == "partial":
        yield "some-types"


def _types(snapshot: Snapshot) -> Iterator[tuple[Name, BuiltType]]:
    for name, shapes in sorted(snapshot.entries.get("layout", {}).items()):
        whole = tuple(shape for shape in shapes if not isinstance(shape, Opaque))
        if name.kind in TYPES and whole:
            place = snapshot.locations.get(name)
            yield name, BuiltType(whole, place.file.replace("\\", "/").rpartition("/")[2] if place else "")


class AddedConsumer(msgspec.Struct, frozen=True):
    """A consumer that was added. ``known``: it was stored with this content before."""

    details: ConsumerDetails
    imports: int
    types: int
    known: bool


class AddedConsumers(msgspec.Struct, frozen=True):
    """What an addition stored; ``left_out`` are binaries of packages that could not be read, each with a word."""

    added: tuple[AddedConsumer, ...]
    left_out: tuple[str, ...] = ()


class ShownConsumer(msgspec.Struct, frozen=True):
    """A consumer with everything that is stored of it: ``types`` are the names of those it was built with."""

    consumer: StoredConsumer
    symbols: tuple[ConsumedSymbol, ...]
    types: tuple[Name, ...]


def add_consumers(
    paths: Sequence[str | Path],
    *,
    name: str = "",
    options: ExtractOptions | None = None,
    actor: str = "",
    database: Database = None,
) -> AddedConsumers:
    """Store what programs and libraries import, and the types that they were built with.

    A path is a program, a library, or a package or folder of them. One of the same ``name`` and target takes the place
    of the one before. All are stored, or none. Raises :class:`InputError`.
    """
    if name:
        check_label("name", name)
        if len(paths) > 1:
            raise UsageError("--name applies to one program", "omit it: each is named after its file")
    read = [read_consumers(path, options or ExtractOptions(), name) for path in paths]
    consumers = list(_once(read))
    with using(database, write=True, create=True) as store:
        new = store.add_consumers(consumers, actor or user())
    added = tuple(
        AddedConsumer(each.details, len(each.imports), len(each.types), not is_new)
        for each, is_new in zip(consumers, new, strict=True)
    )
    return AddedConsumers(added, tuple(word for each in read for word in each.left_out))


def _once(read: Sequence[ReadConsumers]) -> Iterator[Consumer]:
    """All consumers. Raises :class:`UsageError` where two of one target have one name."""
    seen = set[tuple[str, str]]()
    for consumer in (one for each in read for one in each.consumers):
        if consumer.details.key in seen:
            raise UsageError(
                f"{consumer.details.name}: two programs with the same name for {consumer.details.target}",
                "add them one by one, each with --name",
            )
        seen.add(consumer.details.key)
        yield consumer


def consumers(
    library: str | None = None, *, database: Database = None, target: str | None = None
) -> tuple[StoredConsumer, ...]:
    """The stored consumers, by name; those of one ``library``, of one ``target``, if given."""
    with using(database) as store, store.reading():
        platform = line_target(store, target)
        check_not_blank("the library", library)
        kept = store.consumers() if library is None else users_of(store, library)
        return tuple(each for each in kept if platform in {None, each.details.target})


def show_consumer(name: str, *, database: Database = None, target: str | None = None) -> ShownConsumer:
    """All that is stored of one consumer. Raises :class:`SnapshotNotFound`."""
    with using(database) as store, store.reading():
        found = named(store, name, target)
        if len(found) > 1:
            targets = ", ".join(each.details.target for each in found)
            raise UsageError(f"{name}: there is one for each of {targets}", "choose one with --target")
        key = found[0].details.key
        return ShownConsumer(found[0], store.consumer_imports()[key], tuple(sorted(store.consumer_types()[key])))


def remove_consumers(
    names: Sequence[str], *, actor: str = "", database: Database = None, target: str | None = None
) -> tuple[ConsumerDetails, ...]:
    """Take consumers out of the store, by names or patterns (``curl.deb:*``). Raises :class:`SnapshotNotFound`."""
    with using(database, write=True) as store:
        found = {each.details.key: each.details for name in names for each in named(store, name, target)}
        store.remove_consumers(tuple(found), actor or user())
    return tuple(found[key] for key in sorted(found))


def named(store: Store, name: str, target: str | None = None) -> list[StoredConsumer]:
    """The consumers that a name or pattern means. Raises :class:`SnapshotNotFound` where there is none."""
    platform = line_target(store, target)
    every = store.consumers()
    own = [each for each in every if platform in {None, each.details.target}]
    found = [each for each in own if each.details.name == name] or [
        each for each in own if fnmatchcase(each.details.name, name)
    ]
    if not found:
        raise SnapshotNotFound(f"{name}: no such consumer", "see `abistore consumers list`")
    return found


def asked_numbers(store: Store) -> set[tuple[str, int]]:
    """What the stored consumers ask DLLs for by number: the name of the DLL, in lower case, and the number."""
    return {
        (each.library.lower(), int(each.symbol[1:]))
        for imports in store.consumer_imports().values()
        for each in imports
        if each.library and each.symbol[:1] == "#" and each.symbol[1:].isdecimal()
    }


def consumers_of(store: Store, library: str, target: str, sonames: Collection[str]) -> list[Consumer]:
    """The stored consumers that ask the loader for a library of a target, with what they import and were built with."""
    own = [
        each.details
        for each in store.consumers()
        if each.details.target == target and asks_for(each.details, library, sonames)
    ]
    imports, types = (store.consumer_imports(), store.consumer_types()) if own else ({}, {})
    return [Consumer(each, imports[each.key], types[each.key]) for each in own]


def users_of(store: Store, library: str) -> tuple[StoredConsumer, ...]:
    """The stored consumers that ask the loader for a library, by any name that it had in a release."""
    every = store.consumers()
    sonames = {release.soname for release in store.releases(library) if release.soname} if every else set()
    return tuple(each for each in every if asks_for(each.details, library, sonames))


def with_consumers(store: Store, report: Report, sides: tuple[Snapshot, Snapshot]) -> Report:
    """The report with the stored consumers that each break hurts, and notes on all of them.

    A break hurts a consumer that meets it through what it imports, if the loader takes the new side for what the
    consumer asks for, and if it was not built with the type as the new side has it. ``sides`` are those compared.
    """
    new = sides[1]
    releases = store.releases(report.old.library)
    named = (report.old.soname, report.new.soname, *(each.soname for each in releases))
    sonames = {each for each in named if each}
    known = consumers_of(store, report.old.library, str(new.target), sonames)
    needs = ReleaseNeeds(new, sonames, {name for side in sides for name in names_of(side)})
    loading = [each for each in known if needs.loads(each.details)]
    changes = _named(report.changes, loading, needs)
    hurt = {name for each in changes for name in each.consumers}
    notes = tuple(_notes(report.old.library, known, loading, hurt))
    return replace(report, changes=changes, notes=(*report.notes, *notes))


def names_of(side: Snapshot) -> Iterator[Name]:
    """What a side exports and describes."""
    for facet in ("symbol", "layout"):
        yield from side.entries.get(facet, {})


def _named(
    findings: Sequence[ReportedFinding], consumers: Sequence[Consumer], needs: ReleaseNeeds
) -> tuple[ReportedFinding, ...]:
    met = [(each, frozenset(one.symbol for one in needs.own(each.imports))) for each in consumers]

    def hurt(finding: ReportedFinding) -> tuple[str, ...]:
        if Impact[finding.impact.upper()] is not Impact.BREAKING:
            return ()
        return tuple(one.details.name for one, imports in met if needs.hurts(finding, one.types, imports))

    return tuple(replace(each, consumers=hurt(each)) for each in findings)


def _notes(
    library: str, known: Sequence[Consumer], loading: Sequence[Consumer], hurt: Collection[str]
) -> Iterator[str]:
    if not known:
        yield f"no known consumer of {library}: `abistore consumers add` stores what programs use"
        return
    which = f": {listed(hurt)}" if hurt else ""
    yield f"affects {len(hurt)} of {counted(len(known), 'known consumer')} of {library}{which}"
    others = {each.details.name for each in known} - {each.details.name for each in loading}
    if others:
        have = counted(len(others), "known consumer has", "known consumers have")
        yield f"{have} to be rebuilt for another SONAME: {listed(others)}"
    unsure = {each.details.name for each in loading if each.details.unseen} - set(hurt)
    if unsure:
        why = sorted({word for each in loading if each.details.name in unsure for word in unseen(each.details)})
        yield f"not checked of {counted(len(unsure), 'known consumer')} ({listed(unsure)}): {'; '.join(why)}"


def allow_plan(
    store: Store, old: Release, soname: str | None, new: Provenance, rule: AllowRule = "scheme"
) -> AllowPlan:
    """The plan for a build with ``soname`` beside a stored release. Consumers are read where the name is another.

    ``new`` tells which package the build is from, and which names programs load it by.
    """
    library = old.line.library
    users = users_of(store, library) if soname and old.soname and soname != old.soname else ()
    return AllowPlan(
        rule,
        store.scheme(library),
        tuple(sorted({each.details.name for each in users})),
        loaded_as=loaded_as(new),
        packages=OldAndNew(distributed(old.provenance), distributed(new)),
    )


DllNumber: TypeAlias = tuple[str, int]
"""The number of an export, with the name of its DLL in lower case."""


def judge_asked(old: Snapshot, new: Snapshot, by: Ruling | None, asked: Collection[DllNumber]) -> Report:
    """:func:`judge` of two snapshots, with named exports compared by number as well, where programs ask for it."""
    if not asked:
        return judge(old, new, by)
    from abistore.diffing.scopes import asked_by_number  # few programs ask for numbers

    first, second = (asked_by_number(each, _of_dll(each, asked)) for each in (old, new))
    report = judge(first, second, by)
    cards = (
        msgspec.structs.replace(card, digest=snapshot_digest(side).hex(), exports=side.exports)
        for card, side in ((report.old, old), (report.new, new))
    )
    return msgspec.structs.replace(report, **dict(zip(("old", "new"), cards, strict=True)))


def _of_dll(snapshot: Snapshot, asked: Collection[DllNumber]) -> frozenset[int]:
    name = (snapshot.facts.name if snapshot.facts else None) or ""
    is_dll = snapshot.target.format == "pe"
    return frozenset(number for dll, number in asked if is_dll and dll == name.lower())


class BuiltProgram(msgspec.Struct, frozen=True):
    """A program or library as the dynamic linker meets it: the symbols and the libraries that it asks for.

    ``numbers`` are the exports of DLLs that it asks for by number, each with the DLL: ``("foo.dll", 7)``.
    """

    name: str
    imports: frozenset[str]
    needed: tuple[str, ...]
    numbers: frozenset[DllNumber] = frozenset()


def read_program(path: str | Path) -> BuiltProgram:
    """The program at ``path``. Raises :class:`InputError` and its kinds."""
    snapshot = capture(path, options=ExtractOptions(layout=False, programs=True))
    numbers = frozenset(_numbers(snapshot))
    return BuiltProgram(Path(path).name, frozenset(_imported(snapshot)), _needed(snapshot), numbers)


def _imported(snapshot: Snapshot) -> Iterable[str]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        if any(isinstance(shape, Import) for shape in shapes) and not _is_number(name):
            yield name.spelling


def _numbers(snapshot: Snapshot) -> Iterable[DllNumber]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        for shape in shapes:
            if isinstance(shape, Import) and shape.library and _is_number(name):
                yield shape.library.lower(), int(name.spelling[1:])


def _is_number(name: Name) -> bool:
    return name.kind == "import" and is_number(Name("function", name.spelling))


def _numbered(old: Iterable[Snapshot]) -> Mapping[DllNumber, Collection[str]]:
    """What the exports of DLLs are called by the numbers that programs ask for: the number, and their name if any."""
    from abistore.diffing.scopes import exports_by_number

    return {
        (snapshot.facts.name.lower(), number): {f"#{number}", name.spelling}
        for snapshot in old
        if snapshot.target.format == "pe" and snapshot.facts and snapshot.facts.name
        for number, name in exports_by_number(snapshot).items()
    }


def _needed(snapshot: Snapshot) -> tuple[str, ...]:
    facts = snapshot.facts
    return facts.needed if isinstance(facts, Library) else ()


def for_programs(report: Report, programs: Sequence[BuiltProgram], old: Sequence[Snapshot]) -> Report:
    """The report with the findings set aside that no program meets, and the verdict of the others.

    A program meets a finding through the exports that it imports: the changed one, or one of those that the finding
    affects. What concerns the library as a whole stays. What breaks sources does not concern what is built.
    ``old`` are the old side's libraries. Raises :class:`UsageError` for a program that imports nothing of these.
    """
    exports = {name.spelling for side in old for name in side.entries.get("symbol", {}) if name.kind in EXPORTS}
    numbers = _numbered(old)
    used = [_used(program, exports, numbers, report) for program in programs]
    imports = frozenset[str]().union(*used)
    names = ", ".join(program.name for program in programs)
    kept, aside = list[ReportedFinding](), list[ReportedFinding]()
    for each in report.changes:
        (kept if is_met(each, imports) else aside).append(each)
    worst = max((VERDICT_OF[_impact(each)] for each in kept), default=Verdict.NO_CHANGE)
    count = len(imports.intersection(exports))
    note = f"judged for {names}, which import{'s' * (len(programs) == 1)} {count:,} of {len(exports):,} exports"
    return msgspec.structs.replace(
        report,
        verdict=cast(VerdictName, worst.name),
        exit_code=worst.exit_code,
        summary=summary(kept),
        changes=tuple(kept),
        suppressed=(*report.suppressed, *(_set_aside(each, names) for each in aside)),
        suppressed_count=report.suppressed_count + len(aside),
        advice=(),
        notes=(*report.notes, note),
    )


def _used(
    program: BuiltProgram, exports: Collection[str], numbers: Mapping[DllNumber, Collection[str]], report: Report
) -> frozenset[str]:
    used = program.imports.intersection(exports).union(*(numbers.get(each, ()) for each in program.numbers))
    if used:
        return used
    linked = f"; it needs {', '.join(program.needed[:3])}" if program.needed else "; it needs no shared library"
    raise UsageError(
        f"{program.name}: imports nothing that {report.old.library} exports{linked}",
        "name a program that was linked with the old side; its file does not show what it loads with dlopen",
    )


def is_met(finding: ReportedFinding, imports: frozenset[str]) -> bool:
    """Whether a built program meets a finding, or what follows from it."""
    return _impact(finding) is not Impact.API_BREAK and any(_is_own(each, imports) for each in every((finding,)))


def _is_own(finding: ReportedFinding, imports: frozenset[str]) -> bool:
    if finding.subject in EXPORTS and finding.symbol:
        return finding.symbol in imports or not imports.isdisjoint(finding.affected)
    return not finding.affected or not imports.isdisjoint(finding.affected)


def _impact(finding: ReportedFinding) -> Impact:
    return Impact[finding.impact.upper()]


def _set_aside(finding: ReportedFinding, names: str) -> ReportedFinding:
    source = _impact(finding) is Impact.API_BREAK
    why = "existing binaries are not affected" if source else "imports no export that uses it"
    return msgspec.structs.replace(finding, suppressed_by=f"--for {names}", suppression_reason=why)
