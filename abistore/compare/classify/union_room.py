"""Records that lie only in unions which have room for what they gain: ``union { struct key key; char pad[64]; }``."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.types.registers import LARGEST
from abistore.compare.types.type_side import TypeSide
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Field, Inline, Named, Record


def has_room_in_unions(record: Changed[Record], context: Context) -> bool:
    """Whether a record only grew, and all that mentions it are unions that hold it by value, and whose size stays.

    Who has one has the union, so that the library finds the room; what programs left there was padding to them. What
    is small and goes by value may go in other registers with another member.
    """
    name = record.subject.name
    if not all(each in record.new.fields for each in record.old.fields):
        return False
    largest, size = LARGEST.get(context.old.snapshot.target.machine, 0), context.old.types.layouts.size
    if any((size(Named(each)) or 0) <= largest for each in context.passed_with(name)):
        return False
    return not context.old.consumers.compilers_of(name) and _have_room(name, context)


def _have_room(name: Name, context: Context) -> bool:
    users = list(_users(name, context))
    return bool(users) and all(_has_room(name, user, context) for user in users)


def _users(name: Name, context: Context) -> Iterator[Name]:
    """What mentions a type, by any of its names."""
    pending, seen = [name], {name}
    while pending:
        for user in context.old.reach.users(pending.pop()):
            shape = context.old.shape(user)
            if not (isinstance(shape, Alias) and isinstance(shape.target, Named)):
                yield user
            elif user not in seen:
                seen.add(user)
                pending.append(user)


def _has_room(name: Name, user: Name, context: Context) -> bool:
    old, new = context.old.shape(user), context.new.shape(user)
    if not isinstance(old, Record) or not isinstance(new, Record):
        return False
    if old.size != new.size:
        return old.fields == new.fields and _ends_with(old, name, context) and _have_room(user, context)
    before, after = _unions(old), _unions(new)
    held = [place for place, union in before.items() if _holds(union, name, context.old.types)]
    return len(held) == _mentions(old, user, name, context) > 0 and all(
        place in after and after[place].size == before[place].size for place in held
    )


def _ends_with(struct: Record, name: Name, context: Context) -> bool:
    """Whether a type is that of the last member of a struct, which grows with it, and of no other."""
    last = context.old.types.bare(struct.fields[-1].type)[0] if struct.fields else None
    return struct.sort != "union" and last == Named(name) and _mentions(struct, name, name, context) == 1


def _mentions(record: Record, user: Name, name: Name, context: Context) -> int:
    return sum(_bare(each, context) == name for each, _ in references(record, user))


def _bare(mentioned: Name, context: Context) -> Name:
    found = context.old.types.bare(Named(mentioned))[0]
    return found.name if isinstance(found, Named) else mentioned


def _unions(record: Record) -> dict[str, Record]:
    """The unions that a record is or has without a name for their type, by where they are."""
    inner = ((field.name or str(field.offset), _inline(field)) for field in record.fields)
    found = {place: shape for place, shape in inner if isinstance(shape, Record) and shape.sort == "union"}
    return {"": record, **found} if record.sort == "union" else found


def _inline(field: Field) -> AnyShape | None:
    return field.type.shape if isinstance(field.type, Inline) else None


def _holds(union: Record, name: Name, types: TypeSide) -> bool:
    return any(types.bare(field.type)[0] == Named(name) for field in union.fields)
