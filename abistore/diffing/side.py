"""One side of a comparison, and pairs of symbol versions of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from copy import copy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import msgspec

from abistore.diffing.reuse import Carrying, Derived, LazyValue, Note, Summaries, Watched, WatchedNames
from abistore.diffing.surface.consumers import Consumers, ReleaseExports
from abistore.diffing.surface.export_table import ExportTable
from abistore.diffing.surface.from_debug_info import GuessedConsumers
from abistore.diffing.types.sameness import TypeSide
from abistore.diffing.types.vtables import VirtualTables
from abistore.model.declarations import SELF, TYPES, Declared, Facet, Name
from abistore.model.layout import disagreement, undescribed_classes
from abistore.model.names.qualified import last_component
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Enum, Enumerator, Foreign, Function, Library, Variable
from abistore.model.snapshot import (
    SEPARATOR,
    HeadersRead,
    Location,
    Snapshot,
    Variants,
    bound,
    declared_as,
    exported_as,
    given,
    symbols_of,
)
from abistore.model.structure import references

if TYPE_CHECKING:
    from abistore.diffing.surface.compiled import Internals
    from abistore.diffing.surface.public_api import Overload


class SideFacts(Derived):
    """A snapshot, and answers about it that take a look at all of its declarations. They are kept.

    :meth:`after` gives the side of a later release, with the answers that hold there too: what has to be worked out
    again grows with what differs. ``files`` tells in which file each declaration stands.
    """

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str] | None = None) -> None:
        self.snapshot = snapshot
        self.types = TypeSide(snapshot)
        self.tables = VirtualTables(self.types)
        self._graph = LazyValue(lambda: Reach(snapshot))
        self._borrowed = LazyValue(self._in_headers_of_others)
        self._own_folders = LazyValue(self._folders_of_exports)
        self._files = files
        self._met_through: dict[Name, tuple[Name, ...]] = {}
        self._before: tuple[SideFacts, Collection[Name]] | None = None

    @property
    def files(self) -> Mapping[Name, str]:
        """The file in which each declaration stands, as far as is known."""
        if self._files is None:
            self._files = {name: place.file for name, place in self.snapshot.locations.items()}
        return self._files

    @property
    def reach(self) -> Reach:
        """Which names the exports reach."""
        return self._graph()

    @property
    def borrowed(self) -> Mapping[Name, tuple[str, ...]]:
        """What stands in headers of other libraries, each with the members of classes that come from there."""
        return self._borrowed()

    def _in_headers_of_others(self) -> Mapping[Name, tuple[str, ...]]:
        from abistore.diffing.surface.consumers import in_headers_of_others  # few types change

        return in_headers_of_others(self.exporting, self.files)

    @property
    def own_folders(self) -> frozenset[str]:
        """The folders in which exports stand, each with a slash at its end."""
        return self._own_folders()

    def _folders_of_exports(self) -> frozenset[str]:
        from abistore.diffing.surface.consumers import own_folders  # few types change

        return own_folders(self.exporting, self.files)

    @cached_property
    def exports(self) -> ExportTable:
        """The export table."""
        return ExportTable(self._exported)

    @property
    def _exported(self) -> Mapping[Name, Variants]:
        return self.snapshot.entries.get("symbol", {})

    def met_through(self, name: Name) -> tuple[Name, ...]:
        """The exports that consumers can name through which they meet ``name``, sorted; of some, a single version."""
        if name not in self._met_through:
            symbols, can_name = self.snapshot.entries.get("symbol", {}), self.consumers.can_name
            reaching = {*self.reach.exports_reaching(name), *self.consumers.called_beside(name)}
            exports = ((each, exported_as(each, symbols)) for each in sorted(reaching))
            self._met_through[name] = tuple([each for each, of in exports if symbols.get(of) and can_name(of)])
        return self._met_through[name]

    @cached_property
    def undescribed(self) -> frozenset[Name]:
        """The classes whose layout the evidence leaves out."""
        return undescribed_classes(self.snapshot, lambda name: bool(self.tables.methods(name)))

    @cached_property
    def enumerators(self) -> Mapping[Name, int]:
        """What headers enumerate without a scope of its own, as a program names it: ``geo::RED``."""
        return {
            each: value
            for name, shapes in self.snapshot.entries.get("source", {}).items()
            if name.kind == "enum"
            for each, value in enumerated(name, shapes)
        }

    @cached_property
    def lent(self) -> frozenset[Name]:
        """The types that stand in development packages of other projects."""
        read = self.snapshot.provenance.headers
        return frozenset(read.lent) if isinstance(read, HeadersRead) else frozenset()

    @cached_property
    def unnamed_enums(self) -> Mapping[Name, tuple[Enumerator, ...]]:
        """The enumerations of headers that have no name, of which each enumerator is a constant of its own."""
        from abistore.diffing.types.closed_classes import number  # headers alone write values

        found: dict[Name, list[Enumerator]] = {}
        for name, shapes in self.snapshot.entries.get("source", {}).items():
            for shape in shapes if name.kind == "variable" else ():
                if not isinstance(shape, Declared) or shape.within is None:
                    continue
                value = number(shape)
                if value is not None:
                    own = Enumerator(last_component(name.spelling), value)
                    found.setdefault(Name("enum", shape.within), []).append(own)
        return {enum: tuple(each) for enum, each in found.items()}

    @cached_property
    def overload_sets(self) -> Mapping[Name, tuple[Overload, ...]]:
        """The functions that headers declare and people can call, by what a program calls them."""
        from abistore.diffing.surface.public_api import overload_sets  # most comparisons are without headers

        return overload_sets(self.snapshot.entries.get("source", {}))

    @cached_property
    def internals(self) -> Internals:
        """What headers declare in namespaces that say that they are internal."""
        from abistore.diffing.surface.compiled import Internals  # few comparisons have source breaks

        return Internals(self.snapshot, self.files)

    @cached_property
    def disagreeing(self) -> frozenset[Name]:
        """The types of which headers and debug information say different things."""
        return frozenset(name for name, disagrees in self._disagreements.all().items() if disagrees)

    @cached_property
    def _disagreements(self) -> Summaries[bool]:
        return Summaries(self.snapshot.entries.get("source", {}), partial(_disagrees, self.snapshot))

    def variants(self, facet: Facet, name: Name) -> Variants:
        """All shapes of ``name``."""
        return self.snapshot.variants(facet, name)

    def shape(self, name: Name, facet: Facet | None = None) -> AnyShape | None:
        """The one shape of ``name``, in any facet that describes it; ``None`` where it has none or several."""
        variants = self.snapshot.variants(facet, name) if facet else self.snapshot.described(name)
        return variants[0] if len(variants) == 1 else None

    @cached_property
    def library(self) -> Library | None:
        """What the file says of itself: SONAME, needed libraries, hardening."""
        found = self.shape(SELF, "symbol")
        return found if isinstance(found, Library) else None

    @property
    def is_of_cpp(self) -> bool:
        """Whether a source of the library is C++, as far as debug information tells."""
        return any("C++" in language or "plus_plus" in language for language in self.snapshot.provenance.languages)

    @property
    def version_definitions(self) -> tuple[str, ...]:
        """The version nodes that the library defines."""
        return self.library.on_elf.version_definitions if self.library else ()

    @property
    def first_version(self) -> str:
        """The version node that programs get which ask for none, as far as is known."""
        return self.library.on_elf.first_version if self.library else ""

    @property
    def exporting(self) -> ReleaseExports:
        """The snapshot with its export table."""
        return ReleaseExports(self.snapshot, self.exports)

    @cached_property
    def consumers(self) -> Consumers:
        """The programs built against this release."""
        guessed = GuessedConsumers(self.exporting, self.types, self._graph, self.files)
        read = self.snapshot.provenance.headers
        words_alone = isinstance(read, HeadersRead) and not read.files and read.aside is not None
        unread = "source" not in self.snapshot.entries or self.snapshot.evidence_of("source").state == "missing"
        if unread and not words_alone:
            return guessed
        from abistore.diffing.surface.from_headers import ToldConsumers  # most comparisons are without headers

        return ToldConsumers(self.exporting, self.types, guessed, self.files)

    def after(
        self, snapshot: Snapshot, changed: Collection[Name], files: Mapping[Name, str] | None = None
    ) -> SideFacts:
        """The side of ``snapshot``, which differs from this one's in what the ``changed`` names are, in any facet.

        Where declarations stand may differ too, and so may everything that is no declaration.
        """
        self._settle()
        later = SideFacts(snapshot, files)
        later._before = self, changed
        later._carry(self, changed)
        return later

    def placed(self, places: Mapping[Name, Location]) -> SideFacts:
        """The same, of which the declarations stand in other places; what is found out about one is known of both."""
        found = copy(self)
        found.snapshot = msgspec.structs.replace(self.snapshot, locations=places)
        found.exports, found.consumers, found._files = self.exports, self.consumers, self.files
        return found

    def watched(self, note: Note, *, located: bool) -> SideFacts:
        """The same, which tells ``note`` of everything that is looked at.

        Where declarations stand is known where it is to be ``located``, and only by the file.
        """
        entries = {facet: Watched(held, note) for facet, held in self.snapshot.entries.items()}
        places = Watched(Places(self.files), note, "place") if located else {}
        found = SideFacts(msgspec.structs.replace(self.snapshot, entries=entries, locations=places))
        found.tables = self.tables.watched(found.types, note)
        found._graph.put(self.reach.watched(note))
        found.enumerators = Watched(self.enumerators, note, "enumerator")
        found.unnamed_enums = Watched(self.unnamed_enums, note, "unnamed enum")
        found.overload_sets = Watched(self.overload_sets, note, "overloads")
        found.undescribed = WatchedNames(self.undescribed).watched(note, "undescribed")
        return found

    def _settle(self) -> None:
        """Take what the release before was asked since this one was made, and let go of it."""
        if self._before is not None:
            self._carry(*self._before)
            self._before = None

    def _carry(self, before: SideFacts, changed: Collection[Name]) -> None:
        if before._graph.known and not self._graph.known:
            self._graph.put(before.reach.after(self.snapshot, changed))
        self.tables.carry(before.tables, changed)
        if "exports" in vars(before) and before._exported == self._exported:
            vars(self).setdefault("exports", before.exports)
        Carrying(changed, lambda: self._resolving(before, changed)).carry(self, before)

    def _resolving(self, before: SideFacts, changed: Collection[Name]) -> set[Name]:
        """The ``changed`` names, and those that look through them when they resolve a type: aliases and templates."""
        found = set(changed)
        pending = [
            name for name in changed if name.kind == "alias" or before._is_foreign(name) or self._is_foreign(name)
        ]
        while pending:
            name = pending.pop()
            for user in (*before.reach.users(name), *self.reach.users(name)):
                if user not in found:
                    found.add(user)
                    if user.kind == "alias":
                        pending.append(user)
        return found

    def _is_foreign(self, name: Name) -> bool:
        return any(isinstance(shape, Foreign) for shape in self.snapshot.described(name))


def _disagrees(snapshot: Snapshot, name: Name) -> bool:
    return disagreement(snapshot, name) is not None


def enumerated(name: Name, shapes: Variants) -> Iterator[tuple[Name, int]]:
    """The enumerators of an enumeration that stand beside it, by the names of constants, with their values."""
    around = name.spelling[: len(name.spelling) - len(last_component(name.spelling))]
    for shape in shapes:
        if isinstance(shape, Enum) and not shape.scoped:
            for each in shape.enumerators:
                yield Name("variable", f"{around}{each.name}"), each.value


class Places(Mapping[Name, Location]):
    """Where declarations stand, as far as the file tells."""

    def __init__(self, files: Mapping[Name, str]) -> None:
        self._files = files

    def __getitem__(self, name: Name) -> Location:
        return Location(self._files[name], 0)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


NONE: Final[Mapping[Name, Variants]] = {}


class VersionPair(msgspec.Struct, frozen=True):
    """The declarations of an export that programs were built for, and that they get: ``part`` names an old version."""

    export: Name
    part: str
    old: Name
    new: Name


def has_versions(old: SideFacts, new: SideFacts, name: Name) -> bool:
    """Whether ``name`` is an export with several versions on one side, or the declaration of one of these."""
    if any(len(side.variants("symbol", name)) > 1 for side in (old, new)):
        return True
    return SEPARATOR in name.spelling and exported(old, new, name) != name


def exported(old: SideFacts, new: SideFacts, name: Name) -> Name:
    """The export that ``name`` is a version of, on any side; else ``name``."""
    found = exported_as(name, old.snapshot.entries.get("symbol", NONE))
    return found if found != name else exported_as(name, new.snapshot.entries.get("symbol", NONE))


def version_pairs(old: SideFacts, new: SideFacts, export: Name) -> Iterator[VersionPair]:
    """For each version of ``export`` that programs may ask for, what they get now. Versions they lose are left out."""
    before, after = (symbols_of(side.variants("symbol", export)) for side in (old, new))
    for symbol in before if after else ():
        got = given(after, symbol.version, new.first_version)
        if got is not None:
            part = "" if symbol.version == bound(before).version else f"version {symbol.version}"
            yield VersionPair(export, part, declared_as(export, before, symbol), declared_as(export, after, got))


def is_of_unknown_version(side: SideFacts, export: Name) -> bool:
    """Whether a side describes one of several versions, and not which one: snapshots of former versions do so."""
    symbols = symbols_of(side.variants("symbol", export))
    if len(symbols) < 2:
        return False
    default = bound(symbols)
    return any(each.elf is None or each.elf.own_place is None for each in symbols if each is not default)


def still_meets(old: SideFacts, new: SideFacts, declared: Name, type: Name) -> bool:
    """Whether programs that meet ``type`` through what was ``declared`` before get a declaration that uses it now."""
    export = exported(old, new, declared)
    if not has_versions(old, new, export) or not new.variants("symbol", export):
        return bool(new.variants("symbol", export))
    if is_of_unknown_version(old, export) or is_of_unknown_version(new, export):
        return True
    got = next((each.new for each in version_pairs(old, new, export) if each.old == declared), None)
    if got is None or got == declared:
        return got is not None
    return not (new.variants("layout", got) and new.snapshot.has(type)) or got in new.reach.exports_reaching(type)


def default_moved(old: SideFacts, new: SideFacts, export: Name) -> bool:
    """Whether new links get another version of ``export`` than the programs of the old release do."""
    first = next((each for each in version_pairs(old, new, export) if not each.part), None)
    return first is not None and first.new != export


def declared_differently(old: SideFacts, new: SideFacts, export: Name) -> bool:
    """Whether what new links get of ``export`` takes or returns something else than before, as far as both tell."""
    if is_of_unknown_version(old, export) or is_of_unknown_version(new, export):
        return False
    before, after = old.snapshot.described(export), new.snapshot.described(export)
    if not before or not after:
        return False
    return _anonymous(before) != _anonymous(after) or any(_differs(old, new, each) for each in _reached(new, export))


def _anonymous(shapes: Variants) -> Variants:
    """The shapes without the names of the functions that implement a version."""
    found = (each for each in shapes if isinstance(each, Function | Variable))
    return tuple(msgspec.structs.replace(each, display="") for each in found)


def _differs(old: SideFacts, new: SideFacts, type: Name) -> bool:
    before, after = old.snapshot.described(type), new.snapshot.described(type)
    return bool(before and after) and before != after


def _reached(side: SideFacts, export: Name) -> Iterator[Name]:
    """The types that ``export`` mentions, that these mention, and so on."""
    seen, pending = {export}, [export]
    while pending:
        shapes = side.snapshot.described(pending.pop())
        found = {each for shape in shapes for each, _ in references(shape)} - seen
        seen |= found
        pending += found
        yield from found


class ShownPlaces:
    """The places of a snapshot's declarations as people are shown them: with one path for each header.

    Who reads headers calls them by paths within what was given (``tally.h``). Debug information has the paths of the
    build (``include/tally.h``), which lead to the file in the sources: a header has that one wherever it is known.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def of(self, name: Name) -> Location | None:
        """The place of a declaration; ``None`` where it is not known."""
        place = self._snapshot.locations.get(name)
        return None if place is None else self.shown(place)

    def shown(self, place: Location) -> Location:
        """A place in this snapshot as people are shown it."""
        if place.file not in self._headers:
            return place
        return Location(self._paths.get(place.file, f"{self._folder}{place.file}"), place.line)

    @cached_property
    def _headers(self) -> frozenset[str]:
        read = self._snapshot.provenance.headers
        return frozenset(read.files) if isinstance(read, HeadersRead) else frozenset()

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """The path that most types of a header have in debug information; of several the shortest."""
        counts = Counter(path for path in self._of_types() if path not in self._headers)
        found: dict[str, str] = {}
        for path in sorted(counts, key=lambda each: (-counts[each], len(each), each)):
            for header in _ends(path):
                if header in self._headers:
                    found.setdefault(header, path)
                    break
        return found

    @cached_property
    def _folder(self) -> str:
        """Where the given headers lie in the sources; empty where that is not known, or not one folder."""
        read = self._snapshot.provenance.headers
        found = {path.removesuffix(header) for header, path in self._paths.items()}
        return found.pop() if isinstance(read, HeadersRead) and len(read.given) == len(found) == 1 else ""

    def _of_types(self) -> Iterator[str]:
        for name, shapes in self._snapshot.entries.get("source", {}).items():
            if name.kind in TYPES and any(isinstance(each, Declared) for each in shapes):
                place = self._snapshot.locations.get(name)
                if place is not None:
                    yield place.file


def _ends(path: str) -> Iterator[str]:
    """What a path ends with, from one folder below the first to the name alone: ``foo/a.h`` and ``a.h``."""
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(1, len(parts)))
