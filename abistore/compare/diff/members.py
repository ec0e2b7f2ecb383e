"""The differing parts of a declaration of both sides: fields, bases, virtual methods, enumerators, parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.regrouped_fields import is_alternative_of, regrouped
from abistore.compare.parts import InnerField, Parameter, Result
from abistore.compare.types.equivalence import Sameness
from abistore.model.cpp_names.spelling import spell
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.shapes import (
    Array,
    Base,
    Declared,
    Enum,
    Enumerator,
    Field,
    Function,
    Inline,
    Named,
    Qualified,
    Record,
    TypeRef,
    VirtualMethod,
)

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
        case Enum(), Enum():
            yield from _enumerators(delta)
        case Declared(), Declared():
            yield from _arguments(delta)


def _arguments(delta: Changed[Declared]) -> Iterator[Delta[Any]]:
    """The parameters as headers write them; those of another number of them have a finding of their own."""
    old, new, name = delta.old.parameters, delta.new.parameters, delta.subject.name
    if len(old) == len(new):
        for position, (before, after) in enumerate(zip(old, new, strict=True), 1):
            if before != after:
                yield Changed(Subject(name, f"parameter {position}"), before, after, delta)


def _signature(delta: Changed[Function]) -> Iterator[Delta[Any]]:
    old, new, name = delta.old, delta.new, delta.subject.name
    if old.result != new.result:
        yield Changed(Subject(name, "result"), Result(old.result), Result(new.result), delta)
    if len(old.parameters) == len(new.parameters):
        for position, (before, after) in enumerate(zip(old.parameters, new.parameters, strict=True), 1):
            if before != after:
                subject = Subject(name, f"parameter {position}")
                yield Changed(subject, Parameter(position, before), Parameter(position, after), delta)


# --- fields -------------------------------------------------------------------------------------------------------


def flat_fields(record: Record) -> list[Field | InnerField]:
    """The fields of ``record``, with those of its anonymous members in their place at offsets in ``record``.

    An unnamed bit-field is left out, an empty anonymous member too.
    """
    return list(_flatten(record, 0, 0))


def _flatten(record: Record, start: int, depth: int) -> Iterator[Field | InnerField]:
    for field in record.fields:
        placed = msgspec.structs.replace(field, offset=start + field.offset) if start else field
        if field.name:
            yield InnerField(placed, record.sort == "union") if depth else placed
        elif isinstance(field.type, Inline) and isinstance(field.type.shape, Record):
            yield from _flatten(field.type.shape, placed.offset, depth + 1)


def plain(field: Field | InnerField) -> Field:
    """The field itself, wherever it is declared."""
    return field.field if isinstance(field, InnerField) else field


def nameless(type: TypeRef) -> tuple[tuple[int | None, ...], Record | Enum] | None:
    """The anonymous type that ``type`` is, or is an array of, behind the array's bounds; ``None`` for other types."""
    bounds: list[int | None] = []
    while isinstance(type, Array | Qualified):
        if isinstance(type, Array):
            bounds.append(type.count)
            type = type.element
        else:
            type = type.target
    return (tuple(bounds), type.shape) if isinstance(type, Inline) else None


def told_by_parts(old: Field, new: Field) -> bool:
    """Whether both fields are of anonymous types whose members or enumerators can be compared one by one."""
    before, after = nameless(old.type), nameless(new.type)
    if before is None or after is None or before[0] != after[0] or _sort(before[1]) != _sort(after[1]):
        return False
    return not before[0] or before[1].size == after[1].size


def _sort(shape: Record | Enum) -> str:
    return "enum" if isinstance(shape, Enum) else "union" if shape.sort == "union" else "struct"


def _fields(delta: Changed[Record], context: Context) -> Iterator[Delta[Any]]:
    old, new = _by_key(flat_fields(delta.old), _field_name), _by_key(flat_fields(delta.new), _field_name)
    gone = [field for key, field in old.items() if key not in new]
    come = [field for key, field in new.items() if key not in old]
    renamed = list(_same_place(gone, come, context))
    for key, before in old.items():
        if key in new and plain(before) != plain(new[key]):
            yield from _change(delta, before, new[key])
    for before, after in renamed:
        yield from _change(delta, before, after)
    gone = _without(gone, (before for before, _ in renamed))
    come = _without(come, (after for _, after in renamed))
    groups = list(regrouped(gone, come, context)) if "union" not in (delta.old.sort, delta.new.sort) else []
    for single, joined in groups:
        yield Changed(_part(delta, single.fields[0].name), single, joined, delta)
    for field in _without(gone, (each for group, _ in groups for each in group.fields)):
        yield Removed(_part(delta, plain(field).name), field, delta)
    for field in _without(come, (each for _, group in groups for each in group.fields)):
        yield Added(_part(delta, plain(field).name), field, delta)


def _without(fields: Iterable[Field | InnerField], others: Iterable[Field | InnerField]) -> list[Field | InnerField]:
    known = set(others)
    return [field for field in fields if field not in known]


def _change(delta: Changed[Record], old: Field | InnerField, new: Field | InnerField) -> Iterator[Changed[Any]]:
    subject, before, after = _part(delta, plain(old).name), plain(old), plain(new)
    if isinstance(old, InnerField) and isinstance(new, InnerField):
        yield Changed(subject, old, new, delta)
    else:
        yield Changed(subject, before, after, delta)
    if before.type != after.type and told_by_parts(before, after):
        inner = nameless(before.type), nameless(after.type)
        if inner[0] is not None and inner[1] is not None:
            yield Changed(subject, inner[0][1], inner[1][1], delta)


def _field_name(field: Field | InnerField) -> str:
    return plain(field).name


def _same_place(
    gone: Sequence[Field | InnerField], come: Sequence[Field | InnerField], context: Context
) -> Iterator[tuple[Field | InnerField, Field | InnerField]]:
    """Old and new fields of different names that are one field renamed: same offset, same width, same type.

    The same type goes before another one of the same representation, and that before a union which has it.
    """
    left, free = list(gone), dict[object, list[Field | InnerField]]()
    for each in come:
        free.setdefault(_place(each), []).append(each)
    for most in (Sameness.QUALIFIERS, Sameness.REPRESENTATION, None):
        alone = []
        for before in left:
            there = free.get(_place(before), [])
            after = next((each for each in there if _is_one_field(plain(before), plain(each), most, context)), None)
            if after is None:
                alone.append(before)
            else:
                there.remove(after)
                yield before, after
        left = alone


def _place(field: Field | InnerField) -> tuple[int, int | None]:
    return plain(field).offset, plain(field).bit_size


def _is_one_field(old: Field, new: Field, most: Sameness | None, context: Context) -> bool:
    """Whether fields at one place are alike; without ``most``, whether the new one is a union with the old one."""
    if most is None:
        return is_alternative_of(old.type, new.type, context)
    return context.stored(old.type, new.type) <= most


# --- bases, virtual methods, enumerators ----------------------------------------------------------------------------


def _bases(delta: Changed[Record], context: Context) -> Iterator[Delta[Any]]:
    """Bases pair by type, and those that are left by being one type under two names."""
    old, new = _by_key(delta.old.bases, _base_type), _by_key(delta.new.bases, _base_type)
    _pair_rest(old, new, lambda before, after: context.stored(before.type, after.type) <= Sameness.SPELLING)
    yield from _paired(delta, old, new, lambda base: f"base {_spelled(base.type)}")


def _base_type(base: Base) -> TypeRef:
    return base.type


def _spelled(type: TypeRef) -> str:
    return type.name.spelling if isinstance(type, Named) else "(anonymous)"


def _virtuals(delta: Changed[Record]) -> Iterator[Delta[Any]]:
    """Virtual methods pair by name and symbol, so that one that only moved is changed and not removed.

    Those that are left pair by slot: what callers of the slot called, and what they call now.
    """
    old = _by_key(delta.old.virtuals, _virtual_key)
    new = _by_key(delta.new.virtuals, _virtual_key)
    _pair_rest(old, new, lambda before, after: before.display == after.display and before.slot == after.slot)
    _pair_rest(old, new, lambda before, after: before.slot is not None and before.slot == after.slot)
    yield from _paired(delta, old, new, _declared)


def _declared(method: VirtualMethod) -> str:
    return f"{method.display}({', '.join(map(spell, method.parameters))})"


def _virtual_key(method: VirtualMethod) -> tuple[str, str]:
    return method.display, method.symbol


def _enumerators(delta: Changed[Enum]) -> Iterator[Delta[Any]]:
    old = {each.name: each for each in delta.old.enumerators}
    new = {each.name: each for each in delta.new.enumerators}
    come: dict[int, list[Enumerator]] = {}
    for each in new.values():
        if each.name not in old:
            come.setdefault(each.value, []).append(each)
    kept_values = {new[name].value for name in old if name in new}
    renamed: dict[str, Enumerator] = {}
    for each in old.values():
        if each.name not in new and each.value not in kept_values and come.get(each.value):
            renamed[each.name] = come[each.value].pop(0)
    taken = {each.name for each in renamed.values()}
    for name, each in old.items():
        after = new.get(name) or renamed.get(name)
        if after is None:
            yield Removed(_part(delta, name), each, delta)
        elif after != each:
            yield Changed(_part(delta, name), each, after, delta)
    for name, each in new.items():
        if name not in old and name not in taken:
            yield Added(_part(delta, name), each, delta)


# --- pairing by key -------------------------------------------------------------------------------------------------


def _by_key(parts: Iterable[P], key: Callable[[P], object]) -> dict[object, P]:
    """``parts`` by ``key`` and, for those that share one, by their turn among them."""
    found: dict[object, P] = {}
    turns: dict[object, int] = {}
    for part in parts:
        own = key(part)
        turn = turns[own] = turns.get(own, -1) + 1
        found[own, turn] = part
    return found


def _pair_rest(old: dict[object, P], new: dict[object, P], same: Callable[[P, P], bool]) -> None:
    """Moves parts of ``new`` without a partner to the key of an old one without, where both are the ``same``."""
    for key in [each for each in old if each not in new]:
        other = next((each for each in new if each not in old and same(old[key], new[each])), None)
        if other is not None:
            new[key] = new.pop(other)


def _paired(
    delta: Changed[Any], old: Mapping[object, P], new: Mapping[object, P], spell: Callable[[P], str]
) -> Iterator[Delta[Any]]:
    for key, before in old.items():
        if key not in new:
            yield Removed(_part(delta, spell(before)), before, delta)
        elif before != new[key]:
            yield Changed(_part(delta, spell(before)), before, new[key], delta)
    for key, after in new.items():
        if key not in old:
            yield Added(_part(delta, spell(after)), after, delta)


def _part(delta: Changed[Any], part: str) -> Subject:
    subject: Subject = delta.subject
    return Subject(subject.name, f"{subject.part}.{part}" if subject.part else part)
