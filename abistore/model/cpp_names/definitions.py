"""Records and enumerations, records with the places of their members, written as a C or C++ programmer writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.model.cpp_names.declarators import declare, spell, spelled_field
from abistore.model.cpp_names.qualified import last_component
from abistore.model.cpp_names.virtuals import inherited, override_key, traits
from abistore.model.layout.layouts import Hole, Layouts
from abistore.model.mangling.symbols import qualifiers
from abistore.model.names import UNNAMED_ENUM
from abistore.model.shapes import Access, Base, Enum, Field, Record, VirtualMethod
from abistore.model.snapshot import Snapshot
from abistore.model.words.counting import counted

INDENT = "    "
COMMENT_COLUMN = 48


def record_lines(name: str, shape: Record, snapshot: Snapshot | None, layouts: Layouts | None) -> Iterator[str]:
    """A record line by line, with padding where ``layouts`` tell it."""
    bases = ", ".join(_base(base) for base in shape.bases)
    aligned = f"alignas({shape.alignment}) " if shape.alignment and not shape.packed else ""
    yield f"{shape.sort} {aligned}{name}{f' : {bases}' if bases else ''} {{"
    gaps = {gap.offset: gap for gap in layouts.holes(shape)} if layouts is not None else {}
    if shape.has_vptr:
        yield _commented(f"{INDENT}void** (vtable pointer);", "0")
    access: Access = "private" if shape.sort == "class" else "public"
    for field in shape.fields:
        for start in sorted(start for start in gaps if start < field.offset):
            yield f"{INDENT}/* {_hole(gaps.pop(start))} */"
        if field.access != access:
            access = field.access
            yield f"{access}:"
        yield _commented(f"{INDENT}{'mutable ' if field.mutable else ''}{spelled_field(field)};", _place(field))
    for start in sorted(gaps):
        yield f"{INDENT}/* {_hole(gaps[start])} */"
    yield from _functions_of(shape, access, snapshot)
    packed = ", packed" if shape.packed or (layouts is not None and layouts.is_packed(shape)) else ""
    yield f"}};  // {counted(shape.size, 'byte')}{packed}"


def _functions_of(shape: Record, access: Access, snapshot: Snapshot | None) -> Iterator[str]:
    overridden = inherited(shape, snapshot) if snapshot is not None else frozenset()
    for method in shape.virtuals:
        if method.access != access:
            access = method.access
            yield f"{access}:"
        words = traits(method, snapshot) if snapshot is not None else ()
        text = _virtual(method, words, overriding=override_key(method) in overridden)
        yield _commented(f"{INDENT}{text}", "" if method.slot is None else f"slot {method.slot}")
    for deleted in shape.deleted:
        yield f"{INDENT}{deleted} = delete;"


def _place(field: Field) -> str:
    return str(field.offset // 8) + ("" if field.bit_size is None else f":{field.offset % 8}")


def _hole(hole: Hole) -> str:
    kind = "padding" if hole.tail else "hole"
    length = counted(hole.length, "bit") if hole.length % 8 else counted(hole.length // 8, "byte")
    return f"{length} {kind}"


def _base(base: Base) -> str:
    place = "" if base.offset is None else f" /* at {base.offset // 8} */"
    return f"{'virtual ' if base.virtual else ''}{base.access} {spell(base.type)}{place}"


def _virtual(method: VirtualMethod, words: Iterable[str], *, overriding: bool) -> str:
    last = method.display.rpartition("::")[2] if last_component(method.display).startswith("~") else method.display
    called = " ".join([f"{last}({', '.join(map(spell, method.parameters))})", *qualifiers(method.symbol), *words])
    text = called if last.startswith("~") else declare(method.result, called)
    return f"{f'{text} override' if overriding else f'virtual {text}'}{' = 0' if method.pure else ''};"


def _commented(text: str, comment: str) -> str:
    return f"{text.ljust(COMMENT_COLUMN - 1)} // {comment}" if comment else text


def _constant(name: str, shape: Enum) -> str | None:
    """``const int geo::limit = 8;``, which debug information shows as an enumeration of that value."""
    before, unnamed, rest = name.partition(UNNAMED_ENUM)
    if not unnamed or len(shape.enumerators) != 1 or shape.underlying is None or rest[:-1] != shape.enumerators[0].name:
        return None
    return f"const {spell(shape.underlying)} {before}{rest[:-1]} = {shape.enumerators[0].value};"


def enum_text(name: str, shape: Enum) -> str:
    """An enumeration with its enumerators and its size; one of a single value and no name is a constant."""
    if (constant := _constant(name, shape)) is not None:
        return constant
    underlying = f" : {spell(shape.underlying)}" if shape.underlying is not None else ""
    lines = [f"enum {'class ' if shape.scoped else ''}{name}{underlying} {{"]
    lines += [f"{INDENT}{item.name} = {item.value}," for item in shape.enumerators]
    return "\n".join([*lines, f"}};  // {counted(shape.size, 'byte')}"])
