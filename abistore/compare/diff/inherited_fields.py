"""Fields that moved between a class and a base that it got or lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import msgspec

from abistore.compare.context import Context
from abistore.compare.types.fields import InnerField, flat_fields, plain
from abistore.compare.types.sameness import Sameness
from abistore.compare.types.vtables import DEEPEST, VirtualTables
from abistore.model.shapes import WIDTH, Base, Record
from abistore.model.shapes import Field as OwnField

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
