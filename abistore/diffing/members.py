"""Pairs the parts of a declaration: fields, bases, virtual methods, enumerators, parameters.

Fields that went and came as one piece of storage: fields that became an array, a record that became its members.

So are anonymous structs and unions that got a name, or lost the one they had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap, takewhile
from typing import Any, TypeAlias, TypeVar

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.parts import FieldGroup, Parameter, Result, WrittenMember
from abistore.diffing.types.mentions import is_reserved
from abistore.diffing.types.sameness import (
    InnerField,
    Place,
    Sameness,
    flat_fields,
    nameless,
    plain,
    scalars,
    told_by_parts,
)
from abistore.diffing.types.vtables import DEEPEST, VirtualTables
from abistore.model.declarations import Added, Argument, Changed, Declared, Delta, Name, Removed, Subject
from abistore.model.layout import Layouts
from abistore.model.names.spelling import spell
from abistore.model.shapes import WIDTH, Base, Enum, Function, Inline, Named, Opaque, Record, TypeRef, VirtualMethod
from abistore.model.shapes import Field as OwnField
from abistore.model.snapshot import Snapshot

Field: TypeAlias = OwnField | InnerField


def other_bases(old: Record, new: Record, context: Context) -> tuple[list[Base], list[Base]]:
    """The direct bases that only the old side has, and those that only the new side has."""
    gone = [base for base in old.bases if not any(_is_same(base, other, context) for other in new.bases)]
    come = [base for base in new.bases if not any(_is_same(other, base, context) for other in old.bases)]
    return gone, come


def _is_same(old: Base, new: Base, context: Context) -> bool:
    return context.stored(old.type, new.type) <= Sameness.SPELLING


def all_fields(old: Record, new: Record, context: Context) -> tuple[list[Field], list[Field]]:
    """The fields of both sides, with those in place of which the other side's own class has one.

    A field that moved into a base, or from one, is the same member to programs where it lies at the same offset.
    """
    own = flat_fields(old), flat_fields(new)
    if old.bases == new.bases:
        return own
    gone, come = other_bases(old, new, context)
    before = [*own[0], *_missing(own, gone, context.old.tables)]
    return before, [*own[1], *_missing((own[1], own[0]), come, context.new.tables)]


def _missing(own: tuple[Sequence[Field], Sequence[Field]], bases: Sequence[Base], tables: VirtualTables) -> list[Field]:
    """What the ``bases`` bring of that which only the other side's class has; ``own`` is what each class has."""
    names = {plain(each).name for each in own[1]} - {plain(each).name for each in own[0]}
    return [each for each in inherited_fields(bases, tables) if plain(each).name in names]


def inherited_fields(bases: Sequence[Base], tables: VirtualTables, depth: int = 0) -> Iterator[Field]:
    """The fields that ``bases`` bring into a class, where they lie in it; none of virtual bases."""
    for base in bases:
        found = tables.record(base)
        if found is None or base.offset is None or depth == DEEPEST:
            continue
        for field in [*flat_fields(found[1]), *inherited_fields(found[1].bases, tables, depth + 1)]:
            yield _brought(field, base, base.offset)


def _brought(field: Field, base: Base, start: int) -> Field:
    own = plain(field)
    access = min(own.access, base.access, key=WIDTH.__getitem__)
    placed = msgspec.structs.replace(own, offset=start + own.offset, access=access)
    return msgspec.structs.replace(field, field=placed) if isinstance(field, InnerField) else placed


def regrouped(
    gone: Sequence[OwnField | InnerField], come: Sequence[OwnField | InnerField], context: Context
) -> Iterator[tuple[FieldGroup, FieldGroup]]:
    """Fields of the old side and those of the new one in their place, with the same scalars at the same offsets.

    A scalar may also have become room for later use; the reverse is a use of that room, and not told here.
    """
    old = [each for each in _whole(gone) if each.access != "private" and not is_reserved(each)]
    new = _whole(come)
    while old:
        before, after = [old.pop(0)], list[OwnField]()
        if not new:
            return
        while _take(old, before, after, context.old.types.layouts, context.new.types.layouts) | _take(
            new, after, before, context.new.types.layouts, context.old.types.layouts
        ):
            pass
        if len(before) + len(after) > 2 and after and _same_scalars(before, after, context):
            yield FieldGroup(tuple(before)), FieldGroup(tuple(after))


def _whole(fields: Sequence[OwnField | InnerField]) -> list[OwnField]:
    """The fields that are the record's own and no bit-fields, by place."""
    own = (each for each in fields if isinstance(each, OwnField) and each.bit_size is None)
    return sorted(own, key=lambda each: each.offset)


def _take(
    free: list[OwnField], group: list[OwnField], other: list[OwnField], layouts: Layouts, others: Layouts
) -> bool:
    """Moves fields of ``free`` that share storage with one of ``other`` to ``group``; whether there were any.

    ``free`` is in the order of places.
    """
    lain = [_extent(field, others) for field in other]
    end = max((extent[1] for extent in lain), default=0)
    near = takewhile(lambda each: each.offset < end, free)
    taken = [each for each in near if any(_overlap(_extent(each, layouts), extent) for extent in lain)]
    for each in taken:
        free.remove(each)
        group.append(each)
    return bool(taken)


def _same_scalars(before: Sequence[OwnField], after: Sequence[OwnField], context: Context) -> bool:
    reserved = [_extent(each, context.new.types.layouts) for each in after if is_reserved(each)]
    old = _scalars(before, context.old.types.snapshot, context.old.types.layouts)
    new = _scalars(
        [each for each in after if not is_reserved(each)], context.new.types.snapshot, context.new.types.layouts
    )
    if old is None or new is None or not new:
        return False
    for place, scalar in old.items():
        if place in new:
            if context.stored(scalar, new.pop(place)) > Sameness.REPRESENTATION:
                return False
        elif not any(start <= place[0] < end for start, end in reserved):
            return False
    return not new


def _extent(field: OwnField, layouts: Layouts) -> tuple[int, int]:
    return field.offset, field.offset + 8 * (layouts.size(field.type) or 0)


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _scalars(fields: Sequence[OwnField], snapshot: Snapshot, layouts: Layouts) -> dict[Place, TypeRef] | None:
    """The scalars that ``fields`` consist of by their place in the record, in bits; ``None`` where one is not known."""
    found: dict[Place, TypeRef] = {}
    for field in fields:
        parts = scalars(field.type, snapshot, layouts)
        if parts is None:
            return None
        found |= {(field.offset + place, width): scalar for (place, width), scalar in parts}
    return found


def named_as_whole(old: Record, new: Record, context: Context) -> Iterator[tuple[FieldGroup, FieldGroup]]:
    """The members of one side and the field of the other that holds all of them: ``union { int i; } u``."""
    for field, other in _pairs(old, new):
        if context.stored(field.type, other.type) <= Sameness.REPRESENTATION:
            before, after = _group(old, field), _group(new, other)
            if before.fields and after.fields:
                yield before, after


def _pairs(old: Record, new: Record) -> Iterator[tuple[OwnField, OwnField]]:
    """Fields of one place, one of which is anonymous and the other not, where no other field begins there."""
    places = {each.offset: each for each in new.fields} if old.sort != "union" else {}
    for field in old.fields:
        other = places.get(field.offset)
        if other is not None and _is_anonymous(field) != _is_anonymous(other) and other.bit_size is None:
            yield field, other


def _is_anonymous(field: OwnField) -> bool:
    return not field.name and isinstance(field.type, Inline) and isinstance(field.type.shape, Record)


def _group(record: Record, field: OwnField) -> FieldGroup:
    alone = msgspec.structs.replace(record, fields=(field,))
    return FieldGroup(tuple(plain(each) for each in flat_fields(alone)))


P = TypeVar("P")


def children(delta: Changed[Any], context: Context) -> Iterator[Delta[Any]]:
    """The deltas of the parts of ``delta``'s declaration, with ``delta`` as their ``within``."""
    match delta.old, delta.new:
        case Function(), Function():
            yield from _signature(delta)
        case Record(), Record():
            yield from _fields(delta, context)
            yield from _bases(delta, context)
            yield from _virtuals(delta)
        case Opaque(), Opaque():
            yield from _shown_virtuals(delta, context)
        case Enum(), Enum():
            yield from _enumerators(delta)
        case Declared(), Declared():
            yield from _by_position(delta, *_listed(delta.old.parameters, delta.new.parameters))
            yield from _written(delta, context)


def _signature(delta: Changed[Function]) -> Iterator[Delta[Any]]:
    old, new = delta.old, delta.new
    if old.result != new.result:
        yield Changed(_part(delta, "result"), Result(old.result), Result(new.result), delta)
    yield from _by_position(delta, *([*starmap(Parameter, enumerate(side.parameters, 1))] for side in (old, new)))


def _by_position(delta: Changed[Any], old: Sequence[object], new: Sequence[object]) -> Iterator[Changed[Any]]:
    """The parameters that differ; where their number does, that is a finding about the function."""
    pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
    for position, (before, after) in enumerate(pairs, 1):
        if before != after:
            yield Changed(_part(delta, f"parameter {position}"), before, after, delta)


def _listed(old: Sequence[Argument], new: Sequence[Argument]) -> tuple[Sequence[Argument], Sequence[Argument]]:
    """The parameters of both sides: where none has a name or a default, headers list none."""
    return old or [Argument()] * len(new), new or [Argument()] * len(old)


def _written(delta: Changed[Declared], context: Context) -> Iterator[Delta[WrittenMember]]:
    """What members are written as, by the names that they had."""
    old, new = ({member: WrittenMember(text) for member, text in side.expressions} for side in (delta.old, delta.new))
    if old.keys() != new.keys() and delta.subject.name.kind == "record":
        for before, after in renamed_fields(delta.subject.name, context).items():
            if after in new and after not in old:
                new[before] = new.pop(after)
    yield from _by_member(delta, old, new)


def _by_member(
    delta: Changed[Declared], old: Mapping[str, WrittenMember], new: Mapping[str, WrittenMember]
) -> Iterator[Delta[WrittenMember]]:
    for member in sorted(old.keys() | new.keys()):
        subject = _part(delta, member)
        before, after = old.get(member), new.get(member)
        if before is not None and after is None:
            yield Removed(subject, before, delta)
        elif before is None and after is not None:
            yield Added(subject, after, delta)
        elif before is not None and after is not None and before != after:
            yield Changed(subject, before, after, delta)


# --- fields -------------------------------------------------------------------------------------------------------


def _fields(delta: Changed[Record], context: Context) -> Iterator[Delta[Any]]:
    """What differs of the fields; those without a partner may be the same storage, declared as other fields.

    An anonymous struct or union that got a name pairs as a whole, before all others.
    """
    named = list(named_as_whole(delta.old, delta.new, context))
    whole = {each for pair in named for group in pair for each in group.fields}
    old, new = _paired_fields(delta.subject.name, (delta.old, delta.new), whole, context)
    for key, before in old.items():
        if key in new and plain(before) != plain(new[key]):
            yield from _change(delta, before, new[key])
    gone = [field for key, field in old.items() if key not in new]
    come = [field for key, field in new.items() if key not in old]
    groups = list(regrouped(gone, come, context)) if "union" not in (delta.old.sort, delta.new.sort) else []
    for single, joined in [*named, *groups]:
        yield Changed(_part(delta, single.fields[0].name), single, joined, delta)
    regrouped_fields = {each for pair in groups for group in pair for each in group.fields}
    yield from (Removed(_part(delta, _name(each)), each, delta) for each in gone if each not in regrouped_fields)
    yield from (Added(_part(delta, _name(each)), each, delta) for each in come if each not in regrouped_fields)


def _paired_fields(
    name: Name, records: tuple[Record, Record], whole: Collection[OwnField], context: Context
) -> tuple[dict[object, OwnField | InnerField], dict[object, OwnField | InnerField]]:
    """The fields of both sides but those in ``whole``, with equal keys for those that are one.

    Fields pair by name, those that moved into a base, or from one, too. Those that are left pair as code in headers
    tells, or else by place, as one field renamed, the most alike types first.
    """
    both = all_fields(*records, context)
    old, new = (_by_key([each for each in side if plain(each) not in whole], _name) for side in both)
    gone = {_name(field): key for key, field in old.items() if key not in new}
    come = {_name(field): key for key, field in new.items() if key not in old}
    if gone and come and context.old.variants("source", name):
        from abistore.diffing.headers import told_renames  # not needed without headers

        told = told_renames(name, gone, come, context)
        for before, after in told.items():
            new[gone[before]] = new.pop(come[after])
        if len(gone) == len(come) == len(told) + 1:  # the last one is what is left
            _pair_rest(old, new, lambda _: "left", partial(_is_stored_alike, context=context))
    for alike in (_is_stored_alike, _is_represented_alike, _is_alternative):
        _pair_rest(old, new, _place, partial(alike, context=context))
    return old, new


def renamed_fields(name: Name, context: Context) -> Mapping[str, str]:
    """The new names of the fields of a record that have others now."""
    before, after = context.old.shape(name), context.new.shape(name)
    if not (isinstance(before, Record) and isinstance(after, Record)):
        return {}
    old, new = _paired_fields(name, (before, after), (), context)
    pairs = ((_name(field), _name(new[key])) for key, field in old.items() if key in new)
    return {one: other for one, other in pairs if one != other}


def _name(field: OwnField | InnerField) -> str:
    return plain(field).name


def _place(field: OwnField | InnerField) -> tuple[int, int | None]:
    return plain(field).offset, plain(field).bit_size


def _is_stored_alike(old: OwnField | InnerField, new: OwnField | InnerField, context: Context) -> bool:
    return context.stored(plain(old).type, plain(new).type) <= Sameness.QUALIFIERS


def _is_represented_alike(old: OwnField | InnerField, new: OwnField | InnerField, context: Context) -> bool:
    return context.stored(plain(old).type, plain(new).type) <= Sameness.REPRESENTATION


def _is_alternative(old: OwnField | InnerField, new: OwnField | InnerField, context: Context) -> bool:
    return context.equivalence.is_alternative(plain(old).type, plain(new).type)


def _change(delta: Changed[Record], old: OwnField | InnerField, new: OwnField | InnerField) -> Iterator[Changed[Any]]:
    subject, before, after = _part(delta, _name(old)), plain(old), plain(new)
    if isinstance(old, InnerField) and isinstance(new, InnerField):
        yield Changed(subject, old, new, delta)
    else:
        yield Changed(subject, before, after, delta)
    inner = nameless(before.type), nameless(after.type)
    if before.type != after.type and inner[0] and inner[1] and told_by_parts(before, after):
        yield Changed(subject, inner[0][1], inner[1][1], delta)


# --- bases, virtual methods, enumerators ----------------------------------------------------------------------------


def _bases(delta: Changed[Record], context: Context) -> Iterator[Delta[Any]]:
    """Bases pair by type, and those that are left by being one type under two names."""
    old, new = _by_key(delta.old.bases, _type), _by_key(delta.new.bases, _type)
    _pair_rest(old, new, lambda _: "base", lambda *pair: context.stored(*map(_type, pair)) <= Sameness.SPELLING)
    yield from _paired(delta, old, new, lambda base: f"base {_spelled(base.type)}")


def _type(base: Base) -> TypeRef:
    return base.type


def _spelled(type: TypeRef) -> str:
    return type.name.spelling if isinstance(type, Named) else "(anonymous)"


def _virtuals(delta: Changed[Record]) -> Iterator[Delta[Any]]:
    """Virtual methods pair by name and symbol, so that one that only moved is changed and not removed.

    Those that are left pair by slot: what callers of the slot called, and what they call now.
    """
    old, new = map(_by_method, (delta.old, delta.new))
    _pair_rest(old, new, lambda method: (method.display, method.slot))
    _pair_rest(old, new, lambda method: method.slot)
    yield from _paired(delta, old, new, _declared)


def _shown_virtuals(delta: Changed[Opaque], context: Context) -> Iterator[Delta[Any]]:
    """The virtual methods that units show of a class which they only declare, as far as both sides show them.

    One that the other side describes as a plain function has become virtual, or is so no longer.
    """
    name, old, new = delta.subject.name, *(_by_method(side) for side in (delta.old, delta.new))
    if name not in context.old.undescribed or name not in context.new.undescribed:
        return
    became = {key: each for key, each in new.items() if key in old or context.old.tables.has_plain(name, each)}
    was = {key: each for key, each in old.items() if key in new or context.new.tables.has_plain(name, each)}
    yield from _paired(delta, was, became, _declared)


def _by_method(side: Record | Opaque) -> dict[object, VirtualMethod]:
    return _by_key(side.virtuals, lambda method: (method.display, method.symbol))


def _declared(method: VirtualMethod) -> str:
    return f"{method.display}({', '.join(map(spell, method.parameters))})"


def _enumerators(delta: Changed[Enum]) -> Iterator[Delta[Any]]:
    """Enumerators pair by name. One that is left was renamed to one that came with its value, if no other kept that."""
    old, new = (_by_key(side.enumerators, lambda each: each.name) for side in (delta.old, delta.new))
    kept = {new[key].value for key in old if key in new}
    _pair_rest(old, new, lambda each: None if each.value in kept else each.value)
    yield from _paired(delta, old, new, lambda each: each.name)


# --- pairing ----------------------------------------------------------------------------------------------------------


def _by_key(parts: Iterable[P], key: Callable[[P], object]) -> dict[object, P]:
    """``parts`` by ``key`` and, for those that share one, by their turn among them."""
    turns = Counter[object]()
    found: dict[object, P] = {}
    for part in parts:
        own = key(part)
        turns[own] += 1
        found[own, turns[own]] = part
    return found


def _pair_rest(
    old: dict[object, P],
    new: dict[object, P],
    place: Callable[[P], object],
    alike: Callable[[P, P], bool] = lambda before, after: True,
) -> None:
    """Give parts of ``new`` without a partner the key of an old one without, at the same ``place``, that is ``alike``.

    A part whose place is ``None`` gets no partner.
    """
    free: dict[object, list[object]] = {None: []}
    for key, part in new.items():
        if key not in old and place(part) is not None:
            free.setdefault(place(part), []).append(key)
    for key in [each for each in old if each not in new]:
        there = free.get(place(old[key]), [])
        other = next((each for each in there if alike(old[key], new[each])), None)
        if other is not None:
            there.remove(other)
            new[key] = new.pop(other)


def _paired(
    delta: Changed[Any], old: Mapping[object, P], new: Mapping[object, P], called: Callable[[P], str]
) -> Iterator[Delta[Any]]:
    for key, before in old.items():
        if key not in new:
            yield Removed(_part(delta, called(before)), before, delta)
        elif before != new[key]:
            yield Changed(_part(delta, called(before)), before, new[key], delta)
    yield from (Added(_part(delta, called(after)), after, delta) for key, after in new.items() if key not in old)


def _part(delta: Changed[Any], part: str) -> Subject:
    subject: Subject = delta.subject
    return Subject(subject.name, f"{subject.part}.{part}" if subject.part else part)
