"""Declarations written as a C or C++ programmer writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import assert_never

from abistore.model.cpp_names.declarators import declare
from abistore.model.cpp_names.definitions import INDENT, enum_text, record_lines
from abistore.model.cpp_names.prototypes import declared_text, function_text, prototype
from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Enum,
    Foreign,
    Function,
    Named,
    Opaque,
    Pointer,
    Qualified,
    Record,
    Variable,
)
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Import, Library, MachoLibrary, Symbol
from abistore.model.words.counting import counted
from abistore.model.words.elf_symbols import binding, is_read_only, symbol_type, visibility


def declaration(
    name: Name,
    shape: AnyShape,
    snapshot: Snapshot | None = None,
    layouts: Layouts | None = None,
    *,
    languages: Collection[str] | None = None,
) -> str:
    """``shape`` as the declaration of ``name``; records with byte offsets (``byte:bit`` for bit-fields).

    With the ``snapshot`` that the shape is from, records tell their padding too; who spells many of them passes its
    ``layouts``, which know what others embed. ``languages`` are those of the sources, by default of the snapshot's.
    """
    match shape:
        case Function():
            return function_text(shape, c=_is_c(name, shape, snapshot, languages))
        case Variable():
            return f"{'static ' if shape.owner else ''}{declare(shape.type, shape.display)};"
        case Record():
            if layouts is None and snapshot is not None:
                layouts = Layouts(snapshot)
            return "\n".join(record_lines(name.spelling, shape, snapshot, layouts))
        case Enum():
            return enum_text(name.spelling, shape)
        case Alias():
            return f"typedef {_tag(name, shape, snapshot)}{declare(shape.target, name.spelling)};"
        case Opaque():
            return f"{shape.sort} {name.spelling};"
        case Foreign():
            size = f"  // {counted(shape.size, 'byte')}" if shape.size is not None else ""
            return f"{shape.sort} {name.spelling};{size}"
        case Symbol():
            return _symbol(name, shape)
        case Import():
            version = f"@{shape.version}" if shape.version else ""
            origin = f" from {shape.library}" if shape.library else ""
            return f"{'weak ' if shape.weak else ''}import {name.spelling}{version}{origin}"
        case Library():
            return "\n".join(_library(shape))
        case Declared():
            return declared_text(name, shape)
        case _:
            assert_never(shape)


def spelled_out(
    name: Name,
    shapes: Sequence[AnyShape],
    snapshot: Snapshot | None = None,
    layouts: Layouts | None = None,
    *,
    languages: Collection[str] | None = None,
) -> Iterator[str]:
    """Each of the ``shapes`` of a name as its declaration; what a header alone tells of a function stands in its own.

    ``deprecated int draw(int count = 1);`` is two shapes: the types, and the name and default of the parameter.
    """
    match tuple(shapes):
        case (Function() as function, Declared() as told) | (Declared() as told, Function() as function) if len(
            function.parameters
        ) == len(told.parameters):
            yield prototype(function, told, c=_is_c(name, function, snapshot, languages))
        case _:
            for shape in shapes:
                yield declaration(name, shape, snapshot, layouts, languages=languages)


def _is_c(name: Name, shape: Function, snapshot: Snapshot | None, languages: Collection[str] | None) -> bool:
    """Whether C callers may declare the function: it is not mangled, and not all of the library is known to be C++."""
    if shape.method is not None or "::" in shape.display or is_mangled(name.spelling):
        return False
    known = languages if languages is not None or snapshot is None else snapshot.provenance.languages
    return not known or not all(each.startswith("C++") for each in known)


def _tag(name: Name, shape: Alias, snapshot: Snapshot | None) -> str:
    """The word that tells a C tag from an alias of the same spelling: ``typedef struct box box;``."""
    target = shape.target
    while isinstance(target, Pointer | Qualified):
        target = target.target
    if not (isinstance(target, Named) and target.name.spelling == name.spelling):
        return ""
    if target.name.kind == "enum":
        return "enum "
    found = snapshot.variants("layout", target.name) if snapshot is not None else ()
    return next((f"{each.sort} " for each in found if isinstance(each, Record | Opaque | Foreign)), "")


def _symbol(name: Name, shape: Symbol) -> str:
    version = f"{'@@' if shape.default else '@'}{shape.version}" if shape.version else ""
    protected = " protected" if visibility(shape) == "protected" else ""
    size = f", {counted(shape.size, 'byte')}" if shape.size else ""
    behind = f" -> {shape.forwarded_to}" if shape.forwarded_to else ""
    memory = " read-only" if is_read_only(shape) else ""
    absolute = " absolute" if shape.elf and shape.elf.absolute else ""
    return f"{binding(shape)}{protected}{memory}{absolute} {symbol_type(shape)} {name.spelling}{version}{size}{behind}"


def _library(shape: Library) -> Iterator[str]:
    apple = shape.macho
    kind = apple.file_type if apple else shape.file_kind
    yield f"{kind} {shape.name or ('(no install name)' if apple else '(no SONAME)')}"
    for label, values in (
        ("needs", shape.needed),
        ("loads at the first call", shape.on_pe.delay_loaded),
        ("rpath", shape.on_elf.rpath),
        ("runpath", shape.search_paths),
        ("defines", shape.on_elf.version_definitions),
        ("requires", tuple(f"{version} of {library}" for library, version in shape.on_elf.version_requirements)),
        ("features", shape.features),
        ("refused for", shape.on_elf.refusals),
        *(_apple(shape, apple) if apple else ()),
    ):
        if values:
            yield f"{INDENT}{label} {', '.join(values)}"


def _apple(shape: Library, facts: MachoLibrary) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the tables of a Mach-O file say, as labels with their values."""
    yield "compatibility version", tuple(filter(None, [shape.compatibility_version]))
    yield "oldest system", tuple(filter(None, [facts.minimum_os]))
    yield "re-exports", facts.reexports
    yield "links", tuple(f"{library} ({word})" for library, word in facts.linkage)
    yield "requires", tuple(f"{version} of {library}" for library, version in facts.requirements)
    yield "only for", facts.clients
    yield "tells linkers", facts.directives or ()
    yield "protected by", shape.protections
