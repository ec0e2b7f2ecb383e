"""What a dump declares, gathered as debug information would show it: shapes by name, places, and how much there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.dwarf.shapes.destructors import place_destructors
from abistore.extract.facets import FacetReading
from abistore.extract.foreign.vptrs import place_vptrs
from abistore.extract.types.foreign import is_foreign, is_runtime
from abistore.extract.types.references import References
from abistore.model.budget import HINT, REASON, fitted, told
from abistore.model.cpp_names.demangle import demangle
from abistore.model.digest import sort_variants
from abistore.model.mangling.symbols import is_declared, is_mangled
from abistore.model.names import Name, by_name
from abistore.model.shapes import AnyShape, Foreign, Function, Opaque, Pointer, Qualified, Sort, TypeRef
from abistore.model.snapshot import Evidence, Location, Variants
from abistore.model.words.counting import counted

MAX_DEPTH: Final = 150
"""How many types may be nested in one another without a name between them. Real code stays below 20."""

TOO_DEEP: Final = "type nested too deeply"

VA_LIST: Final = {"typedef __va_list_tag __va_list_tag": "__va_list_tag"}
"""What dumps call the type behind ``va_list``, and its name."""


class Tables(NamedTuple):
    """What a dump says of the symbol tables: the entries of the facet, and the kind of each exported symbol."""

    entries: Mapping[Name, Variants]
    kinds: Mapping[str, Name]
    soname: str | None


class Gathered:
    """Shapes by name. ``references`` makes each type once; what is only declared becomes :class:`Opaque` at the end.

    ``vptr_bytes`` is the size of a vtable pointer, where the dump does not say which classes bring one in.
    """

    def __init__(self, soname: str | None, *, vptr_bytes: int | None = None) -> None:
        self._vptr_bytes = vptr_bytes
        self.runtime = is_runtime(soname)
        self.references = References()
        self.entries: dict[Name, list[AnyShape]] = {}
        self.locations: dict[Name, Location] = {}
        self.declared: dict[Name, set[Sort]] = {}

    def add(self, name: Name, shape: AnyShape, location: Location | None = None) -> None:
        """Record one shape of ``name``; equal ones are kept once."""
        shapes = self.entries.setdefault(name, [])
        if not any(_says_as_much(known, shape) for known in shapes):
            shapes.append(shape)
        if location is not None and location.file:
            self.locations.setdefault(name, location)

    def is_foreign(self, spelling: str) -> bool:
        """Whether a type of this name is the standard library's or the compiler's."""
        return is_foreign(spelling, self.runtime)

    def reading(self, kinds: Mapping[str, Name], evidence: Evidence, languages: Iterable[str]) -> FacetReading:
        """The layout facet; ``evidence`` has what is known of it beside the numbers of exports."""
        for name, sorts in self.declared.items():
            if name not in self.entries:
                foreign = self.is_foreign(name.spelling)
                self.entries[name] = [Foreign(sort, None, None) if foreign else Opaque(sort) for sort in sorted(sorts)]
        if self._vptr_bytes is not None:
            place_vptrs(self.entries, self._vptr_bytes)
        place_destructors(self.entries)
        entries, refused = fitted(self.entries)
        return FacetReading(
            entries={name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            locations=self.locations,
            evidence=_counted(self._coverage(kinds, evidence), refused + self.references.budget.refused),
            languages=tuple(sorted(set(languages))),
        )

    def _coverage(self, kinds: Mapping[str, Name], evidence: Evidence) -> Evidence:
        wanted = [symbol for symbol in kinds if is_declared(symbol)]
        absent = sorted(symbol for symbol in wanted if kinds[symbol] not in self.entries)
        count = len(wanted) - len(absent)
        evidence = replace(evidence, described=count, expected=len(wanted))
        if not absent:
            return evidence
        some = counted(len(absent), "export is", "exports are")
        return replace(
            evidence,
            state="partial" if count else "missing",
            reason=evidence.reason or "not-in-the-dump",
            detail="; ".join(filter(None, (evidence.detail, f"{some} not described, e.g. {', '.join(absent[:3])}"))),
            hint=evidence.hint or "make the dump anew of a library built with -g, or ingest the library itself",
        )


def _says_as_much(known: AnyShape, shape: AnyShape) -> bool:
    """Whether two shapes are equal. Versions of a symbol may be implemented by functions of other names."""
    if isinstance(known, Function) and isinstance(shape, Function):
        return replace(known, display="") == replace(shape, display="")
    return known == shape


def _counted(evidence: Evidence, refused: int) -> Evidence:
    if not refused:
        return evidence
    state = "missing" if evidence.state == "missing" else "partial"
    detail = "; ".join(filter(None, (evidence.detail, told(refused))))
    return replace(evidence, state=state, reason=evidence.reason or REASON, detail=detail, hint=evidence.hint or HINT)


def is_data(symbol: str) -> bool:
    """Whether a symbol is mangled as that of data: no function has a name without parameters."""
    return is_mangled(symbol) and "(" not in demangle(symbol).replace("(anonymous namespace)", "")


def as_parameter(type: TypeRef) -> TypeRef:
    """A parameter's type without ``const`` and ``volatile`` of its own, which callers never see."""
    if isinstance(type, Qualified):
        kept = tuple(each for each in type.qualifiers if each not in ("const", "volatile"))
        return Qualified(type.target, kept) if kept else type.target
    return type


def qualifiers_of(this: TypeRef | None) -> tuple[str, ...]:
    """The qualifiers of a method, by the type of its ``this``: ``const`` where that points to a constant."""
    if isinstance(this, Qualified):
        this = this.target
    if isinstance(this, Pointer) and isinstance(this.target, Qualified):
        return this.target.qualifiers
    return ()
