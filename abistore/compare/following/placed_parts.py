"""Records, vtables and enumerations of one release as parts that lie behind each other."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.side import SideFacts
from abistore.compare.types.fields import flat_fields, nameless, plain
from abistore.compare.types.vtables import DEEPEST, is_destructor
from abistore.model.cpp_names.declarators import spell
from abistore.model.layout.replay import LaidPart, Layout
from abistore.model.names import Name
from abistore.model.shapes import Base, Enum, Field, Named, Record, VirtualMethod

POINTER = "vtable pointer"
INHERITED = "inherited slots"
VIRTUAL = "virtual "


def keyed(record: Record) -> Iterator[tuple[str, Field]]:
    """The data members by what findings call them; those without a name are counted."""
    unnamed = 0
    for field in record.fields:
        unnamed += not field.name
        yield field.name or f"({unnamed})", field


def base_key(base: Base) -> str:
    """What findings call a base; of a virtual one that is its key behind :data:`VIRTUAL`."""
    called = f"base {base.type.name.spelling if isinstance(base.type, Named) else '(anonymous)'}"
    return f"{VIRTUAL}{called}" if base.virtual else called


def method_key(method: VirtualMethod) -> str:
    """What findings call a virtual function."""
    return f"{method.display}({', '.join(map(spell, method.parameters))})"


def record_layout(record: Record, side: SideFacts, *, packed: bool) -> Layout:
    """A record in bits. In a ``packed`` one all that is known of a member's alignment is that it is a byte."""
    layouts, word = side.types.layouts, side.snapshot.target.bits
    parts = [LaidPart(POINTER, 0, (word, word), word)] if record.has_vptr else []
    parts += [_base(base, base.offset, side) for base in record.bases if base.offset is not None and not base.virtual]
    for key, field in keyed(record):
        room = 8 * (layouts.size(field.type) or 0)
        bits = room if field.bit_size is None else field.bit_size
        alignment = 8 * (layouts.alignment(field.type) or 0)
        unit = 0 if field.bit_size is None else room
        if packed:
            alignment, unit = (1 if unit else 8), 0
        end = field.offset + bits
        parts.append(LaidPart(key, field.offset, (end, end), alignment, unit))
    parts.sort(key=lambda each: each.start)
    parts += _virtual_parts(record, side, max((each.ends[1] for each in parts), default=0))
    whole = Layout(tuple(parts), 8 * record.size, 8 * layouts.record_alignment(record))
    return whole._replace(sort="union") if record.sort == "union" else whole


def _base(base: Base, offset: int, side: SideFacts) -> LaidPart:
    size, alignment = side.types.layouts.size(base.type), side.types.layouts.alignment(base.type)
    found = side.tables.record(base)
    whole = 8 * (size or 0)
    own = whole if found is None else own_bits(found, side)
    return LaidPart(base_key(base), offset, (offset + whole, offset + own), 8 * (alignment or 0))


def _virtual_parts(record: Record, side: SideFacts, end: int) -> Iterator[LaidPart]:
    """The virtual bases of an object that is no base itself: they lie behind everything else, one after the other."""
    for base in virtual_bases(record, side):
        found = side.tables.record(base)
        alignment = 8 * (side.types.layouts.alignment(base.type) or 1)
        own = own_bits(found, side) if found else 8 * (side.types.layouts.size(base.type) or 0)
        start = -(-end // alignment) * alignment
        end = start + own
        yield LaidPart(base_key(base), start, (end, end), alignment)


def virtual_bases(record: Record, side: SideFacts) -> Iterator[Base]:
    """The virtual bases of a record and of its bases, each once."""
    seen: set[str] = set()
    met: set[Name] = set()
    pending = [record]
    for each in pending:
        for base in each.bases:
            key = base_key(base)
            if base.virtual and key not in seen:
                seen.add(key)
                yield base
            found = side.tables.record(base)
            if found and found[0] not in met:
                met.add(found[0])
                pending.append(found[1])


def own_bits(found: tuple[Name, Record], side: SideFacts, depth: int = 0) -> int:
    """Where a class's last member ends, in whole bytes: what derives from it may put its own ones there."""
    name, record = found
    known = side.tables.own_bits
    if name not in known:
        known[name] = _own_bits(record, side, depth)
    return known[name]


def _own_bits(record: Record, side: SideFacts, depth: int) -> int:
    ends: list[int] = [side.snapshot.target.bits if record.has_vptr else 0]
    for field in record.fields:
        size = side.types.layouts.size(field.type) or 0
        ends.append(field.offset + (8 * size if field.bit_size is None else field.bit_size))
    for base in record.bases:
        found = side.tables.record(base)
        if base.offset is not None and found is not None and depth < DEEPEST:
            ends.append(base.offset + own_bits(found, side, depth + 1))
        elif base.offset is not None:
            ends.append(base.offset + 8 * (side.types.layouts.size(base.type) or 0))
    return -(-max(ends) // 8) * 8


def slots_layout(record: Record, side: SideFacts) -> Layout:
    """The primary vtable: what the base brings, and the class's own functions behind it."""
    inherited = side.tables.inherited(record)
    count = max(inherited, default=-1) + 1
    parts = [LaidPart(INHERITED, 0, (count, count))] if count else []
    every = side.tables.slots(record)
    for method in record.virtuals:
        if method.slot is not None and method.slot >= count:
            width = 2 if is_destructor(method) and every.get(method.slot + 1) is method else 1
            end = method.slot + width
            parts.append(LaidPart(method_key(method), method.slot, (end, end)))
    parts.sort(key=lambda each: each.start)
    return Layout(tuple(parts), max(every, default=-1) + 1)


def numbers_layout(enum: Enum) -> Layout:
    """The enumerators as numbers in the order of declaration."""
    return Layout(
        tuple(LaidPart(each.name, each.value, (each.value + 1, each.value + 1)) for each in enum.enumerators),
        sort="sequence",
    )


def inner_record(field: Field) -> Record | None:
    """The record without a name that a member is of, or is an array of."""
    found = nameless(field.type)
    return found[1] if found and isinstance(found[1], Record) else None


def inner_names(field: Field) -> frozenset[str]:
    """The members that an anonymous one brings into the record around it."""
    return frozenset(plain(each).name for each in flat_fields(Record("struct", 0, (field,))))
