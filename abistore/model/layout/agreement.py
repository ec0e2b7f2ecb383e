"""Where the headers and the debug information of one snapshot disagree about a type."""

from __future__ import annotations

from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Declared, Enum, Record
from abistore.model.snapshot import Snapshot, Variants


def disagreement(snapshot: Snapshot, name: Name) -> tuple[str, str] | None:
    """What the headers say of ``name``, and what debug information says instead; ``None`` where they agree.

    A dummy definition in a header says nothing, and where one of them has several definitions one may fit.
    """
    source = snapshot.variants("source", name)
    if any("dummy" in shape.traits for shape in source if isinstance(shape, Declared)):
        return None
    header, binary = _only(source), _only(snapshot.variants("layout", name))
    match header, binary:
        case Record(), Record() if header.size != binary.size:
            return f"{header.size} bytes", f"{binary.size} bytes"
        case Record(), Record():
            return _fields(header, binary)
        case Enum(), Enum():
            values = {each.name: each.value for each in binary.enumerators}
            differing = [each for each in header.enumerators if values.get(each.name, each.value) != each.value]
            return next(((f"{e.name} = {e.value}", f"{e.name} = {values[e.name]}") for e in differing), None)
        case _:
            return None


def _fields(header: Record, binary: Record) -> tuple[str, str] | None:
    offsets = {field.name: field.offset for field in binary.fields if field.name}
    for field in header.fields:
        other = offsets.get(field.name, field.offset)
        if other != field.offset:
            return f"{field.name} at offset {field.offset // 8}", f"{field.name} at offset {other // 8}"
    return None


def _only(variants: Variants) -> AnyShape | None:
    shapes = [shape for shape in variants if not isinstance(shape, Declared)]
    return shapes[0] if len(shapes) == 1 else None
