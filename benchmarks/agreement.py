"""Where debug information and headers of one library differ, and what compilers do that explains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from msgspec.structs import replace

from abistore.model.declarations import Declared, Name
from abistore.model.shapes import Alias, AnyShape, Foreign, Function, Method, Named, Opaque, Record, TypeRef
from abistore.model.snapshot import Variants
from abistore.model.structure import with_types

Entries = Mapping[Name, Variants]


class Difference(NamedTuple):
    """One name that the readers describe differently."""

    name: Name
    layout: Variants
    source: Variants


def differences(layout: Entries, source: Entries) -> Iterator[Difference]:
    """The names that both readers describe, differently."""
    templates = {name for name, shapes in source.items() if any(map(_is_template, shapes))}
    for name in sorted((layout.keys() & source.keys()) - templates):
        seen = tuple(each for each in source[name] if not isinstance(each, Declared))
        if seen and not _agree(layout[name], seen) and not _agree(_plain(layout, name), _plain(source, name)):
            yield Difference(name, layout[name], seen)


def _is_template(shape: AnyShape) -> bool:
    """Whether this tells of a template, which debug information knows by its instances only."""
    return isinstance(shape, Declared) and "template" in shape.traits


def _plain(entries: Entries, name: Name) -> Variants:
    """The shapes of a name without aliases: GCC writes the uses of an alias template as it likes."""

    def of(type: TypeRef) -> TypeRef:
        if isinstance(type, Named) and type.name.kind == "alias":
            shapes = [each for each in entries.get(type.name, ()) if isinstance(each, Alias)]
            return of(shapes[0].target) if shapes else type
        return with_types(type, of)

    shapes = [with_types(each, of) for each in entries[name] if not isinstance(each, Declared)]
    return tuple(shapes)


def _agree(layout: Variants, source: Variants) -> bool:
    if layout == source or any(isinstance(each, Opaque) for each in (*layout, *source)):
        return True
    return len(layout) == len(source) and all(map(_same, layout, source))


def _same(layout: AnyShape, source: AnyShape) -> bool:
    """Whether the shapes are equal, but for what GCC does not record or records beyond what is asked for."""
    match layout, source:
        case Record(), Record():
            symbols = all(each.symbol for each in source.virtuals)
            layout, source = _recorded(layout, symbols=symbols), _recorded(source, symbols=symbols)
            if None in (layout.passing, source.passing):
                layout, source = replace(layout, passing=None), replace(source, passing=None)
            if None in (layout.tail, source.tail):  # headers do not tell what compilers make of defaulted members
                layout, source = replace(layout, tail=None), replace(source, tail=None)
            if source.packed:  # debug information shows packing by the places of members alone
                source = replace(source, packed=False, alignment=None)
            if source.alignment is None:  # that of a member's type is the record's, to GCC
                layout = replace(layout, alignment=None)
        case (Foreign(size=None), Foreign()) | (Foreign(), Foreign(size=None)):
            return True  # one of them only mentions it
        case Foreign(arguments=()), Foreign():
            source = replace(source, arguments=())
        case Function(method=Method() as one), Function(method=Method() as other):
            layout, source = (
                replace(layout, method=replace(one, virtual=_virtual(one))),
                replace(source, method=replace(other, virtual=_virtual(other))),
            )
    return layout == source


def _virtual(method: Method) -> Literal["no", "virtual"]:
    return "no" if method.virtual == "no" else "virtual"


def _recorded(record: Record, *, symbols: bool) -> Record:
    """A record without what GCC never tells: ``mutable``, and which virtual methods are pure.

    Headers do not tell the symbols of the virtual methods of a template's instance.
    """
    fields = tuple([replace(each, mutable=False) for each in record.fields])
    virtuals = tuple([replace(each, pure=False, symbol=each.symbol if symbols else "") for each in record.virtuals])
    return replace(record, fields=fields, virtuals=virtuals)
