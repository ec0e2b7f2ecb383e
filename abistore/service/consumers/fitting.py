"""What a release lacks that a consumer needs: its name, symbols, symbol versions, data sizes, and types as built."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from abistore.model.findings import Impact
from abistore.model.judging.consumers import BuiltType, ConsumedSymbol, ConsumerDetails, asks_for, base_name
from abistore.model.labels.sonames import library_name
from abistore.model.names import EXPORTS, Name, is_number
from abistore.model.shapes import Foreign, Opaque
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.tables import Symbol
from abistore.report.model import ReportedFinding
from abistore.service.judging.judging import judge

Sort: TypeAlias = Literal["symbol", "version", "size", "type", "change"]


WORDS: Mapping[str, str] = {
    "asks-at-run-time": "what it asks for by dlsym or GetProcAddress",
    "no-types": "the types it was built with: it has no debug information about them",
    "some-types": "some of the types it was built with: its debug information is not whole",
}
"""What of a consumer is not checked, in words."""


def _ordinals(snapshot: Snapshot) -> Mapping[int, Name]:
    if snapshot.target.format != "pe":
        return {}
    from abistore.compare.scopes.numbers import exports_by_number  # DLLs alone have numbers

    return exports_by_number(snapshot)


class BrokenBy(msgspec.Struct, frozen=True, order=True):
    """What breaks a consumer: a symbol or a version of it that is missing, data of another size than its copy, a type
    that it was built with otherwise, or a change since the release before that it meets.

    ``kind`` is that of the finding, where it is one; ``detail`` says more.
    """

    sort: Sort
    symbol: str
    kind: str = ""
    detail: str = ""


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

    def changed(self, types: Mapping[Name, BuiltType], imports: Collection[str]) -> Iterator[BrokenBy]:
        """The types that a consumer was built with otherwise, and that it meets through what it imports.

        The release is judged as the replacement of itself with the consumer's types.
        """
        differing = frozenset((name, built.shapes) for name, built in types.items() if self._differs(name, built))
        for each in self._changes(differing) if differing else ():
            if Impact[each.impact.upper()] is Impact.BREAKING and meets(each, imports):
                yield told("type", each)

    def hurts(self, finding: ReportedFinding, types: Mapping[Name, BuiltType], imports: Collection[str]) -> bool:
        """Whether a consumer with these types and imports meets a change, and was not built with what is here."""
        return not self.is_as_built(Name(finding.subject, finding.symbol), types) and meets(finding, imports)

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


def meets(finding: ReportedFinding, imports: Collection[str]) -> bool:
    """Whether a built program that imports these symbols meets a finding."""
    from abistore.service.judging.programs import is_met

    return is_met(finding, frozenset(imports))


def told(sort: Sort, finding: ReportedFinding) -> BrokenBy:
    """A finding as what breaks a consumer."""
    values = " -> ".join(value for value in (finding.old_value, finding.new_value) if value is not None)
    detail = ": ".join(filter(None, (finding.part, values)))
    return BrokenBy(sort, finding.symbol, finding.kind, detail)
