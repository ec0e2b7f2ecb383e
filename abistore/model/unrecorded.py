"""Facts that an input does not record, and what two snapshots can both say.

A fact is a field of a shape (``Record.passing``), or a class of shapes (``Import``). Evidence names the facts that its
input never records: ABIXML has no ``noreturn``, a Debian symbols file has no sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from operator import is_
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from abistore.model import shapes
from abistore.model.digest import sort_variants
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import AnyShape, Node
from abistore.model.snapshot import Evidence, Snapshot, Variants
from abistore.model.structure import held, is_struct

WORDS: Final[Mapping[str, str]] = {
    "Base.access": "access of base classes",
    "Base.offset": "offsets of base classes",
    "Enum.scoped": "scoped enumerations",
    "Enum.underlying": "underlying types of enumerations",
    "Field.access": "access of members",
    "Field.bit_size": "widths of bit-fields",
    "Field.mutable": "mutable members",
    "Field.offset": "offsets of members",
    "Foreign": "types of the standard library",
    "Foreign.alignment": "alignments of the standard library's types",
    "Foreign.arguments": "template arguments of the standard library's types",
    "Foreign.size": "sizes of the standard library's types",
    "Function.calling_convention": "calling conventions",
    "Function.noreturn": "noreturn",
    "Function.prototyped": "prototypes",
    "Import": "imports",
    "Library.features": "loader requirements",
    "Library.needed": "dependencies",
    "Library.protections": "hardening",
    "Library.search_paths": "search paths",
    "Library.weaknesses": "weaknesses of the file",
    "Method.defaulted": "defaulted members",
    "Method.deleted": "deleted members",
    "Method.explicit": "explicit",
    "Method.reference": "ref-qualifiers",
    "Method.slot": "vtable slots of exported methods",
    "Record.alignment": "alignas",
    "Record.arguments": "template arguments of records",
    "Record.deleted": "deleted members of records",
    "Record.passing": "how records are passed by value",
    "Record.virtuals": "virtual methods",
    "Symbol.default": "default symbol versions",
    "Symbol.elf": "IFUNC, unique and protected symbols",
    "Symbol.size": "sizes of data symbols",
    "Symbol.table": "contents of vtables",
    "Symbol.type": "types of symbols",
    "Symbol.weak": "weak symbols",
    "ElfLibrary.rpath": "RPATH",
    "ElfLibrary.version_definitions": "version definitions",
    "ElfLibrary.version_requirements": "version requirements",
}
"""What messages call each fact. Evidence of a newer abistore may name others."""

_NEUTRAL: Final[Mapping[tuple[str, str], Any]] = {
    ("Base", "offset"): 0,
    ("Field", "offset"): 0,
    ("Foreign", "alignment"): None,
    ("Foreign", "size"): None,
    ("Symbol", "type"): "unknown",
}
"""What stands for a fact that nobody knows, in fields without a default."""


def unrecorded_by(evidence: Evidence) -> frozenset[str]:
    """The facts that the input of a facet does not record."""
    return frozenset(evidence.unrecorded or ())


def spelled(facts: Iterable[str]) -> str:
    """Facts in words: ``imports, noreturn``."""
    return ", ".join(sorted(WORDS.get(fact, fact) for fact in facts))


def unlike(old: Iterable[Evidence], new: Iterable[Evidence]) -> bool:
    """Whether one side records facts that the other does not."""
    before, after = ({each.facet: unrecorded_by(each) for each in side} for side in (old, new))
    return any(before.get(facet) != after.get(facet) for facet in before.keys() & after.keys())


def common_ground(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both snapshots without the facts that either does not record: the same objects where there are none."""
    if not unlike(old.evidence, new.evidence):
        return old, new
    cuts = {facet: cut(_facts(old, facet) | _facts(new, facet)) for facet in FACETS}
    return _without(old, cuts), _without(new, cuts)


def _facts(snapshot: Snapshot, facet: Facet) -> frozenset[str]:
    return unrecorded_by(snapshot.evidence_of(facet))


def _without(snapshot: Snapshot, cuts: Mapping[Facet, Cut]) -> Snapshot:
    entries = {facet: cuts[facet].table(held) for facet, held in snapshot.entries.items()}
    return msgspec.structs.replace(snapshot, entries=entries)


@cache
def cut(facts: frozenset[str]) -> Cut:
    """What takes ``facts`` out of shapes."""
    return Cut(facts)


class Cut:
    """Takes facts out of shapes: what is left says nothing about them."""

    def __init__(self, facts: Collection[str]) -> None:
        self._classes = frozenset(fact for fact in facts if "." not in fact)
        self._fields: dict[str, list[str]] = {}
        for fact in facts:
            owner, _, field = fact.partition(".")
            if field and field in getattr(getattr(shapes, owner, None), "__struct_fields__", ()):
                self._fields.setdefault(owner, []).append(field)
        self._known: dict[Node, Node] = {}

    def table(self, entries: Mapping[Name, Variants]) -> Mapping[Name, Variants]:
        """The entries of a facet; names of which nothing is left are taken out."""
        if not self._classes and not self._fields:
            return entries
        found = ((name, self.variants(held)) for name, held in entries.items())
        return {name: left for name, left in found if left}

    def variants(self, variants: Variants) -> Variants:
        """What is left of the shapes of one name."""
        left: list[AnyShape] = [self._struct(shape) for shape in variants if type(shape).__name__ not in self._classes]
        if len(left) == len(variants) and all(map(is_, left, variants)):
            return variants
        return sort_variants(left)

    def _struct(self, struct: Any) -> Any:
        if isinstance(struct, Node):
            known = self._known.get(struct)
            if known is None:
                known = self._known[struct] = self._rebuilt(struct)
            return known
        return self._rebuilt(struct)

    def _rebuilt(self, struct: Any) -> Any:
        kind: type[msgspec.Struct] = struct.__class__
        changed = {field: _neutral(kind, field) for field in self._fields.get(kind.__name__, ())}
        for field in _parts(kind):
            if field not in changed:
                changed[field] = self._value(getattr(struct, field))
        if all(value is getattr(struct, field) for field, value in changed.items()):
            return struct
        found = msgspec.structs.replace(struct, **changed)
        return _emptied(found)

    def _value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            found = tuple(self._struct(each) if isinstance(each, msgspec.Struct) else each for each in value)
            return value if all(map(is_, found, value)) else found
        return self._struct(value) if isinstance(value, msgspec.Struct) else value


def _emptied(struct: Any) -> Any:
    """A library that says nothing of ELF any more has no part for it."""
    if isinstance(struct, shapes.Library) and struct.elf == shapes.ElfLibrary():
        force_setattr(struct, "elf", None)
    return struct


@cache
def _parts(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that hold structs, or tuples of them."""
    return tuple(
        field
        for field, classes in held(struct).items()
        if any(is_struct(each) and each is not Name for each in classes)
    )


@cache
def _neutral(struct: type[msgspec.Struct], field: str) -> Any:
    """What a field has where nothing is known of it: its default, if it has one."""
    if (struct.__name__, field) in _NEUTRAL:
        return _NEUTRAL[struct.__name__, field]
    return {each.name: each for each in msgspec.structs.fields(struct)}[field].default
