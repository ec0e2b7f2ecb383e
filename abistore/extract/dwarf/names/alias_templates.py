"""Alias templates: GCC writes every use as a typedef of the same name, so only the targets tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import is_
from typing import Any, NamedTuple, TypeAlias

import msgspec

from abistore.model.cpp_names.normal import qualified
from abistore.model.names import Name
from abistore.model.shapes import Alias, AnyShape, Named, Node, Qualified, TypeRef
from abistore.model.snapshot_file.fields import held, is_struct


class AliasMeaning(NamedTuple):
    """One meaning of an alias: its mention, what it stands for, and where it is declared.

    The first meaning is mentioned by the alias's own name, further ones by names that no source can hold.
    """

    mention: Named
    target: TypeRef
    place: tuple[str, int]


Meanings: TypeAlias = dict[Name, list[AliasMeaning]]


def meaning_of(alias: Named, target: TypeRef, place: tuple[str, int], meanings: Meanings) -> AliasMeaning:
    """The meaning of one use of ``alias``, one that is known or another."""
    known = meanings.setdefault(alias.name, [])
    for meaning in known:
        if meaning.target is target or meaning.target == target:
            return meaning
    if known:
        alias = Named(Name("alias", f"{alias.name.spelling}\0{len(known)}"))
    known.append(AliasMeaning(alias, target, place))
    return known[-1]


def resolve_alias_templates(entries: dict[Name, list[AnyShape]], aliases: Meanings) -> None:
    """Enters the aliases; puts their targets in place of those that one declaration gives several meanings.

    A name with several declarations keeps its meanings as variants.
    """
    targets: dict[Name, TypeRef] = {}
    for name, meanings in aliases.items():
        if len({meaning.place for meaning in meanings}) == 1 < len(meanings):
            targets.update((meaning.mention.name, meaning.target) for meaning in meanings)
        else:
            targets.update((meaning.mention.name, meanings[0].mention) for meaning in meanings[1:])
            entries[name] = [Alias(meaning.target) for meaning in meanings]
    if targets:
        resolved = _Resolved(targets)
        for name, shapes in entries.items():
            rewritten = [resolved.rewritten(shape) for shape in shapes]
            if not all(map(is_, rewritten, shapes)):
                entries[name] = distinct(rewritten)


def distinct(shapes: Iterable[AnyShape]) -> list[AnyShape]:
    """``shapes`` without repetitions."""
    found: list[AnyShape] = []
    for shape in shapes:
        if shape not in found:
            found.append(shape)
    return found


@cache
def mentioning(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a struct class that hold types, or structs that do."""
    return tuple(field for field, classes in held(struct).items() if any(map(_mentions, classes)))


def _mentions(held: Any) -> bool:
    return is_struct(held) and held is not Name and (issubclass(held, Node) or bool(mentioning(held)))


class _Resolved:
    """Rewrites shapes, each type once. ``targets`` says what stands in place of the mentions of these names."""

    def __init__(self, targets: dict[Name, TypeRef]) -> None:
        self._targets = targets
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, part: Any) -> Any:
        """``part`` with targets in place of mentions; the same object where it mentions none."""
        known = self._known.get(id(part))
        if known is None:
            self._known[id(part)] = part, part  # what mentions itself through an alias ends here
            known = self._known[id(part)] = part, self.rewritten(part)
        return known[1]

    def rewritten(self, part: Any) -> Any:
        """As :meth:`of`, and not remembered: for what hardly ever comes again."""
        if isinstance(part, Named):
            target = self._targets.get(part.name)
            return part if target is None else self.of(target)
        if isinstance(part, tuple):
            rewritten = tuple([self.of(each) for each in part])
            return part if all(map(is_, rewritten, part)) else rewritten
        changed = {}
        for field in mentioning(part.__class__):
            value = getattr(part, field)
            if value:
                found = self.rewritten(value) if value.__class__ is tuple else self.of(value)
                if found is not value:
                    changed[field] = found
        if not changed:
            return part
        if isinstance(part, Qualified):
            return qualified(changed["target"], part.qualifiers)
        return msgspec.structs.replace(part, **changed)
