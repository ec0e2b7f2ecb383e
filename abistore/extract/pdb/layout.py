"""What a PDB file says about a DLL's exports and the types that they reach."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec.structs import replace

from abistore.extract.exports import Exports
from abistore.extract.facets import FacetReading
from abistore.extract.pdb import leaves as leaf
from abistore.extract.pdb.container import PdbContainer
from abistore.extract.pdb.members import PdbMember, parts
from abistore.extract.pdb.records import shape_of
from abistore.extract.pdb.symbols import DebugModules, PdbSymbol, Place, symbols_at
from abistore.extract.pdb.type_records import TypeRecords
from abistore.extract.pdb.types import PdbTypes
from abistore.model.budget import fitted, weakened
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import entity, last_component, scope
from abistore.model.cycles import without_cycle_collection
from abistore.model.mangling.symbols import is_declared
from abistore.model.names import Name, by_name
from abistore.model.shapes import Access, AnyShape, Function, Method, Qualified, Variable
from abistore.model.snapshot import Evidence, Target

TYPES, IDS = 2, 4

CONVENTIONS: Final = {
    **{0x00: "cdecl", 0x02: "pascal", 0x04: "fastcall", 0x07: "stdcall", 0x09: "syscall", 0x0B: "thiscall"},
    0x18: "vectorcall",
}
"""CV_call_e, as attributes spell them; others are the platform's own."""

UNRECORDED: Final = (
    "Enum.scoped",
    "Method.deleted",
    "Method.explicit",
    "Method.reference",
    "Record.alignment",
    "Record.deleted",
)
"""What PDB files have no word for, whoever writes them."""

_HINT: Final = "build all of the library with /Zi (clang-cl: -g) and link it with /DEBUG:FULL"


def read_layout(
    container: PdbContainer, exports: Exports, sections: Sequence[int], target: Target, runtime: bool
) -> FacetReading:
    """Reads what describes ``exports``, and all that it mentions. ``sections`` are the addresses of the sections.

    Raises :class:`abistore.errors.ExtractError` where the PDB file is corrupt.
    """
    with without_cycle_collection():
        reading = _Reading(container, exports, sections, target, runtime)
        reading.read_exports()
        reading.read_reached()
        return reading.finished()


class _Reading:
    """One reading: what is found at the addresses of exports, and the shapes so far."""

    def __init__(
        self, container: PdbContainer, exports: Exports, sections: Sequence[int], target: Target, runtime: bool
    ) -> None:
        self._exports = exports
        self._target = target
        self._places = {address: _place(address, sections) for address in exports.by_address}
        modules = DebugModules(container)
        self._found = modules.find({place for place in self._places.values() if place is not None})
        self._ids = TypeRecords(container.stream(IDS)) if container.stream(IDS) else None
        self.types = PdbTypes(
            TypeRecords(container.stream(TYPES)),
            dict(modules.aliases()),
            shape_of,
            word=target.bits // 8,
            runtime=runtime,
        )
        self._entries: dict[Name, tuple[AnyShape, ...]] = {}
        self._described: set[str] = set()

    def read_exports(self) -> None:
        """Enters the function or variable of each export."""
        for address, names in self._exports.by_address.items():
            place = self._places[address]
            there = symbols_at(self._found, place) if place else []
            for symbol in names:
                chosen = _own(symbol, there, alone=len(names) == 1)
                kind = self._exports.kinds[symbol]
                if chosen is not None and chosen.is_function == (kind == "function") and chosen.type:
                    self._entries[Name(kind, symbol)] = (self._shape(chosen, symbol),)
                    self._described.add(symbol)

    def read_reached(self) -> None:
        """Reads the members of every type that was mentioned, until nothing new is."""
        while self.types.pending:
            name, index = self.types.pending.pop()
            self._entries[name] = (shape_of(self.types, index, name),)

    def finished(self) -> FacetReading:
        """The facet, with its types within their budget."""
        entries, refused = fitted(self._entries)
        return FacetReading(
            entries={name: tuple(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            evidence=weakened(self._evidence(), refused + self.types.budget.refused),
            compilers=tuple(sorted(filter(None, self._found.compilers))),
            languages=tuple(sorted(self._found.languages)),
        )

    def _evidence(self) -> Evidence:
        places = {symbol: self._places[at] for at, names in self._exports.by_address.items() for symbol in names}
        absent = {each for each in self._exports.kinds if is_declared(each)} - self._described
        assembled = {each for each in absent if places.get(each) in self._found.without_types}
        forwarded = {each for each in absent if each not in places}
        missing = sorted(absent - assembled - forwarded)
        count = sum(map(is_declared, self._described))
        evidence = Evidence("layout", "full", described=count, expected=count + len(missing), unrecorded=UNRECORDED)
        if not missing:
            return evidence
        return replace(
            evidence,
            state="partial" if count else "missing",
            reason="partial-debug-info" if count else "no-debug-info",
            detail=f"{len(missing)} exports are not described, e.g. {', '.join(missing[:3])}",
            hint=_HINT,
        )

    # --- shapes ---------------------------------------------------------------------------------------------------

    def _shape(self, found: PdbSymbol, symbol: str) -> AnyShape:
        display = normal_name(found.name)
        if not found.is_function:
            return self._variable(found, display)
        index = self._function_type(found)
        taken = self.types.procedure(index)
        kind, data = self.types.records.record(index)
        convention = data[4] if kind == leaf.PROCEDURE else data[12]
        method = self._method(index, data, display) if kind == leaf.MEMBER_FUNCTION else None
        return Function(
            display,
            taken.result,
            taken.parameters,
            taken.variadic,
            found.noreturn,
            calling_convention=self._convention(convention, method, taken.variadic),
            method=method,
        )

    def _function_type(self, found: PdbSymbol) -> int:
        """The type of a function; object files tell it by way of its number among identities."""
        if not found.by_id or self._ids is None or found.type not in self._ids:
            return found.type
        kind, data = self._ids.record(found.type)
        return int(struct.unpack_from("<I", data, 4)[0]) if kind in _IDENTITIES else found.type

    def _convention(self, code: int, method: Method | None, variadic: bool) -> str | None:
        said = CONVENTIONS.get(code)
        if self._target.machine != "i386":
            return said if said == "vectorcall" else None
        usual = "thiscall" if method is not None and not method.static and not variadic else "cdecl"
        return None if said == usual else said

    def _method(self, index: int, data: bytes, display: str) -> Method | None:
        owner, this = struct.unpack_from("<II", data, 4)
        named = self.types.of(owner)
        name = getattr(named, "name", None)
        if not isinstance(name, Name):
            return None
        part = self._declared(owner, index, last_component(display))
        words = self._qualifiers(this)
        if part is None:
            return Method(name, static=not this, qualifiers=words)
        virtual: Literal["no", "virtual", "pure"] = "pure" if part.is_pure else "virtual" if part.is_virtual else "no"
        slot = part.value // self.types.word if part.is_new and part.value >= 0 else None
        return Method(name, part.access, part.is_static, virtual, slot, words)

    def _declared(self, owner: int, index: int, name: str) -> PdbMember | None:
        """How a class declares the member function ``name`` of this type."""
        kind, data = self.types.records.record(self.types.records.definition(owner))
        if kind not in leaf.RECORDS:
            return None
        (listed,) = struct.unpack_from("<I", data, 4)
        for part in parts(self.types.records, listed):
            if part.leaf == leaf.METHOD and part.type == index and part.name == name:
                return part
        return None

    def _qualifiers(self, this: int) -> tuple[str, ...]:
        """The qualifiers of the object that ``this`` points to."""
        if this < self.types.records.first:
            return ()
        target = getattr(self.types.of(this), "target", None)
        if isinstance(target, Qualified):
            return target.qualifiers
        pointed = getattr(target, "target", None)  # ``this`` is itself constant
        return pointed.qualifiers if isinstance(pointed, Qualified) else ()

    def _variable(self, found: PdbSymbol, display: str) -> Variable:
        outer = scope(display)
        owner = self.types.records.defines(outer) if outer else None
        type = self.types.of(found.type)
        if owner is None:
            return Variable(display, type)
        named = getattr(self.types.of(owner), "name", None)
        _, data = self.types.records.record(owner)
        (listed,) = struct.unpack_from("<I", data, 4)
        name = last_component(display)
        members = (each for each in parts(self.types.records, listed) if each.leaf == leaf.STATIC_MEMBER)
        access: Access = next((each.access for each in members if each.name == name), "public")
        return Variable(display, type, named, access) if isinstance(named, Name) else Variable(display, type)


_IDENTITIES: Final = frozenset({leaf.FUNCTION_ID, leaf.MEMBER_FUNCTION_ID})


def _place(address: int, sections: Sequence[int]) -> Place | None:
    """The section of an absolute address, and the offset in it."""
    at = [number for number, start in enumerate(sections, 1) if start <= address]
    return (at[-1], address - sections[at[-1] - 1]) if at else None


def _without_arguments(name: str) -> str:
    """A name without the template arguments of its last part: compilers write them, or leave them out."""
    return f"{scope(name)}::{last_component(name)}"


def _own(symbol: str, there: Iterable[PdbSymbol], *, alone: bool) -> PdbSymbol | None:
    """Which of the symbols at an address the export is: linkers fold equal functions into one."""
    candidates = list({(each.name, each.type): each for each in there}.values())
    readable = entity(demangle(symbol))
    named = [each for each in candidates if _without_arguments(normal_name(each.name)) == _without_arguments(readable)]
    if named:
        return named[0]
    unreadable = readable == symbol and not symbol.isidentifier()
    return candidates[0] if len(candidates) == 1 and alone and unreadable else None
