"""What two snapshots can both say: shapes without the facts that the input of either does not record."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from contextlib import suppress
from copy import copy
from functools import cache
from operator import is_
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from abistore.model.digest import sort_variants
from abistore.model.names import EXPORTS, FACETS, Facet, Name
from abistore.model.recorded.unrecorded import (
    ATOMIC,
    BIT_FIELDS,
    BY_DEMANGLED,
    BY_NAME,
    DEMANGLED,
    DIMENSIONS,
    ORDER,
    PARTICULAR,
    SIGNS,
    SOME_EXPORTS,
    UNIQUE,
    UNSAID,
    VARIANTS,
    VOIDS,
    unlike,
    unrecorded_by,
)
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Enum,
    Enumerator,
    Field,
    Function,
    MemberPointer,
    Named,
    Node,
    Primitive,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.structure import CLASSES, inner, is_struct, mentioned
from abistore.model.structure import held as parts_of
from abistore.model.tables import ElfLibrary, Library, Symbol

_NEUTRAL: Final[Mapping[tuple[str, str], Any]] = {
    ("Base", "offset"): 0,
    ("Field", "offset"): 0,
    ("Foreign", "alignment"): None,
    ("Foreign", "size"): None,
    ("Symbol", "type"): "unknown",
}
"""What stands for a fact that nobody knows, in fields without a default."""


def common_ground(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both snapshots without the facts that either does not record: the same objects where there are none."""
    if not unlike(old.evidence, new.evidence):
        return old, new
    old, new = _joined(old, new), _joined(new, old)
    cuts = {facet: cut(_facts(old, facet) | _facts(new, facet)) for facet in FACETS}
    old, new = (_without(each, cuts) for each in (old, new))
    if VARIANTS in _facts(old, "layout") | _facts(new, "layout"):
        unsure = _with_variants(old) | _with_variants(new)
        old, new = (_without_names(each, unsure) for each in (old, new))
    if "Symbol.type" in _facts(new, "symbol"):
        return old, _of_kinds(new, old)
    return (_of_kinds(old, new), new) if "Symbol.type" in _facts(old, "symbol") else (old, new)


def _facts(snapshot: Snapshot, facet: Facet) -> frozenset[str]:
    return unrecorded_by(snapshot.evidence_of(facet))


def _without(snapshot: Snapshot, cuts: Mapping[Facet, Cut]) -> Snapshot:
    entries = {facet: cuts[facet].table(held) for facet, held in snapshot.entries.items()}
    return msgspec.structs.replace(snapshot, entries=entries)


def _joined(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """``snapshot``, whose exports are demangled in part, with the mangled names that ``other`` has for these."""
    if DEMANGLED not in _facts(snapshot, "symbol"):
        return snapshot
    from abistore.model.cpp_names.demangle import demangle  # few inputs need it

    mangled: dict[str, list[Name]] = {}
    for name in other.entries.get("symbol", ()):
        if name.kind in EXPORTS and (spelled := demangle(name.spelling)) != name.spelling:
            mangled.setdefault(spelled, []).append(name)
    entries: dict[Name, Variants] = {}
    for name, held in snapshot.entries.get("symbol", {}).items():
        for each in mangled.get(name.spelling, [name]) if name.kind in EXPORTS else [name]:
            entries[each] = sort_variants((*entries.get(each, ()), *held))
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "symbol": entries})


def _with_variants(snapshot: Snapshot) -> set[Name]:
    return {name for name, shapes in snapshot.entries.get("layout", {}).items() if len(shapes) > 1}


def _without_names(snapshot: Snapshot, names: Container[Name]) -> Snapshot:
    layout = {name: shapes for name, shapes in snapshot.entries.get("layout", {}).items() if name not in names}
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "layout": layout})


def _of_kinds(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """``snapshot``, whose input does not tell functions from data, with the kinds that ``other`` has of exports."""
    kinds = {name.spelling: name for name in other.entries.get("symbol", ()) if name.kind in EXPORTS}
    entries = {
        name if name.kind not in EXPORTS else kinds.get(name.spelling, name): shapes
        for name, shapes in snapshot.entries.get("symbol", {}).items()
    }
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "symbol": entries})


@cache
def cut(facts: frozenset[str]) -> Cut:
    """What takes ``facts`` out of shapes."""
    return Cut(facts)


class Cut:
    """Takes facts out of shapes: what is left says nothing about them."""

    def __init__(self, facts: Collection[str]) -> None:
        self._particular = PARTICULAR.intersection(facts)
        plain = [fact for fact in facts if fact not in PARTICULAR]
        self._classes = frozenset(fact for fact in plain if "." not in fact)
        self._fields: dict[str, list[str]] = {}
        self._unsaid: frozenset[Name] = frozenset()
        self._some = SomeExports(facts)
        for fact in plain:
            owner, _, field = fact.partition(".")
            if field and field in getattr(CLASSES.get(owner), "__struct_fields__", ()):
                self._fields.setdefault(owner, []).append(field)
        self._known: dict[Node, Node] = {}

    def table(self, entries: Mapping[Name, Variants]) -> Mapping[Name, Variants]:
        """The entries of a facet; names of which nothing is left are taken out."""
        if not self._classes and not self._fields and not self._particular and not self._some:
            return entries
        cut = self
        if UNSAID in self._particular and (unsaid := _unsaid_aliases(entries)):
            cut = copy(self)
            cut._unsaid, cut._known = unsaid, {}
        found = ((name, cut.variants(held)) for name, held in entries.items() if name not in cut._unsaid)
        return {name: left for name, left in found if left and not self._some.mean(name, left)}

    def variants(self, variants: Variants) -> Variants:
        """What is left of the shapes of one name."""
        left: list[AnyShape] = [self._struct(shape) for shape in variants if not self._unknown(shape)]
        if len(left) == len(variants) and all(map(is_, left, variants)):
            return variants
        return sort_variants(left)

    def _unknown(self, shape: AnyShape) -> bool:
        if type(shape).__name__ in self._classes:
            return True
        if UNIQUE in self._particular and isinstance(shape, Symbol) and shape.elf and shape.elf.unique:
            return True
        told = UNSAID in self._particular and isinstance(shape, Function | Variable)
        return told and any(is_unsaid(each, self._unsaid) for each in mentioned(shape))

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
        if any(value is not getattr(struct, field) for field, value in changed.items()):
            struct = _emptied(msgspec.structs.replace(struct, **changed))
        return self._without_particular(struct) if self._particular else struct

    def _without_particular(self, struct: Any) -> Any:
        match struct:
            case Array() if DIMENSIONS in self._particular and isinstance(struct.element, Array):
                return struct.element
            case Enum() if SIGNS in self._particular:
                return msgspec.structs.replace(struct, enumerators=_signed(struct))
            case Qualified() if ATOMIC in self._particular and "atomic" in struct.qualifiers:
                left = tuple(each for each in struct.qualifiers if each != "atomic")
                return msgspec.structs.replace(struct, qualifiers=left) if left else struct.target
            case Qualified(target=target) if VOIDS in self._particular and target == VOID:
                return VOID
            case Library() if ORDER in self._particular:
                return msgspec.structs.replace(struct, needed=tuple(sorted(struct.needed)))
            case Record():
                fields = tuple(field for field in struct.fields if not self._leaves_out(field))
                return struct if len(fields) == len(struct.fields) else msgspec.structs.replace(struct, fields=fields)
        return struct

    def _leaves_out(self, field: Field) -> bool:
        if field.bit_size is not None and BIT_FIELDS in self._particular:
            return True
        return UNSAID in self._particular and is_unsaid(field.type, self._unsaid)

    def _value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            found = tuple(self._struct(each) if isinstance(each, msgspec.Struct) else each for each in value)
            return value if all(map(is_, found, value)) else found
        return self._struct(value) if isinstance(value, msgspec.Struct) else value


class SomeExports:
    """Patterns of exports of which an input does not tell whether they are there."""

    def __init__(self, facts: Iterable[str]) -> None:
        some = [fact for fact in facts if fact.startswith(SOME_EXPORTS)]
        self._plain = _compiled(frozenset(each.removeprefix(BY_NAME) for each in some if each.startswith(BY_NAME)))
        spelled = frozenset(each.removeprefix(BY_DEMANGLED) for each in some if each.startswith(BY_DEMANGLED))
        self._demangled = _compiled(spelled)

    def __bool__(self) -> bool:
        return self._plain is not None or self._demangled is not None

    def mean(self, name: Name, shapes: Variants) -> bool:
        """Whether a pattern means an export, in any of its versions."""
        if not self or name.kind not in EXPORTS:
            return False
        from abistore.model.cpp_names.demangle import demangle  # few inputs need it

        for shape in shapes:
            version = (isinstance(shape, Symbol) and shape.version) or "Base"
            for patterns, spelling in ((self._plain, name.spelling), (self._demangled, demangle(name.spelling))):
                if patterns is not None and patterns.Match(f"{spelling}@{version}"):
                    return True
        return False


def _compiled(patterns: frozenset[str]) -> Any:
    """RE2's set of patterns, which matches in time proportional to the text; ``None`` without any."""
    if not patterns:
        return None
    import re2  # type: ignore[import-untyped]  # few inputs need it

    options = re2.Options()
    options.log_errors = False
    found = re2.Set.SearchSet(options)
    count = 0
    for pattern in sorted(patterns):
        with suppress(re2.error):  # of a file that nobody here wrote: what means nothing takes nothing out
            found.Add(pattern)
            count += 1
    if not count:
        return None
    found.Compile()
    return found


def is_unsaid(type: TypeRef, aliases: Container[Name]) -> bool:
    """Whether a type is made of what some tools leave out with all that uses it; ``aliases`` stand for such types."""
    pending = [type]
    while pending:
        found = pending.pop()
        match found:
            case MemberPointer():
                return True
            case Qualified() if "atomic" in found.qualifiers:
                return True
            case Primitive() if found.spelling == "std::nullptr_t":
                return True
            case Named() if found.name in aliases:
                return True
        pending += inner(found)
    return False


def _unsaid_aliases(entries: Mapping[Name, Variants]) -> frozenset[Name]:
    """The aliases of what is left out, through other aliases too."""
    aliases = {name: shape.target for name, shapes in entries.items() for shape in shapes if isinstance(shape, Alias)}
    found: set[Name] = set()
    while more := {name for name, type in aliases.items() if name not in found and is_unsaid(type, found)}:
        found |= more
    return frozenset(found)


def _signed(enum: Enum) -> tuple[Enumerator, ...]:
    """The enumerators, each as a signed number of the enumeration's width."""
    limit = 1 << max(8 * enum.size - 1, 7)
    return tuple(
        msgspec.structs.replace(each, value=each.value - 2 * limit) if each.value >= limit else each
        for each in enum.enumerators
    )


def _emptied(struct: Any) -> Any:
    """A library that says nothing of ELF any more has no part for it."""
    if isinstance(struct, Library) and struct.elf == ElfLibrary():
        force_setattr(struct, "elf", None)
    return struct


@cache
def _parts(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that hold structs, or tuples of them."""
    return tuple(
        field
        for field, classes in parts_of(struct).items()
        if any(is_struct(each) and each is not Name for each in classes)
    )


@cache
def _neutral(struct: type[msgspec.Struct], field: str) -> Any:
    """What a field has where nothing is known of it: its default, if it has one."""
    if (struct.__name__, field) in _NEUTRAL:
        return _NEUTRAL[struct.__name__, field]
    return {each.name: each for each in msgspec.structs.fields(struct)}[field].default
