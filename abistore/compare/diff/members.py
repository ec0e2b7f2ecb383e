"""The differing parts of a declaration of both sides: fields, bases, virtual methods, enumerators, parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import starmap
from typing import Any, TypeVar

from abistore.compare.context import Context
from abistore.compare.diff.inherited_fields import all_fields
from abistore.compare.diff.parts import Parameter, Result, WrittenMember
from abistore.compare.diff.regrouped_fields import named_as_whole, regrouped
from abistore.compare.types.fields import InnerField, nameless, plain, told_by_parts
from abistore.compare.types.sameness import Sameness
from abistore.model.cpp_names.declarators import spell
from abistore.model.declared import Argument, Declared
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.names import Name
from abistore.model.shapes import Base, Enum, Field, Function, Named, Opaque, Record, TypeRef, VirtualMethod

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
    name: Name, records: tuple[Record, Record], whole: Collection[Field], context: Context
) -> tuple[dict[object, Field | InnerField], dict[object, Field | InnerField]]:
    """The fields of both sides but those in ``whole``, with equal keys for those that are one.

    Fields pair by name, those that moved into a base, or from one, too. Those that are left pair as code in headers
    tells, or else by place, as one field renamed, the most alike types first.
    """
    both = all_fields(*records, context)
    old, new = (_by_key([each for each in side if plain(each) not in whole], _name) for side in both)
    gone = {_name(field): key for key, field in old.items() if key not in new}
    come = {_name(field): key for key, field in new.items() if key not in old}
    if gone and come and context.old.variants("source", name):
        from abistore.compare.diff.headers.fields_in_code import told_renames  # not needed without headers

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


def _name(field: Field | InnerField) -> str:
    return plain(field).name


def _place(field: Field | InnerField) -> tuple[int, int | None]:
    return plain(field).offset, plain(field).bit_size


def _is_stored_alike(old: Field | InnerField, new: Field | InnerField, context: Context) -> bool:
    return context.stored(plain(old).type, plain(new).type) <= Sameness.QUALIFIERS


def _is_represented_alike(old: Field | InnerField, new: Field | InnerField, context: Context) -> bool:
    return context.stored(plain(old).type, plain(new).type) <= Sameness.REPRESENTATION


def _is_alternative(old: Field | InnerField, new: Field | InnerField, context: Context) -> bool:
    return context.equivalence.is_alternative(plain(old).type, plain(new).type)


def _change(delta: Changed[Record], old: Field | InnerField, new: Field | InnerField) -> Iterator[Changed[Any]]:
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
