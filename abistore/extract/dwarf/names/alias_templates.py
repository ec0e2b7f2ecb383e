"""Alias templates: GCC writes every use as a typedef of the same name, so only the targets tell them apart."""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import TypeAlias

import msgspec

from abistore.model.cpp_names.normal import qualified
from abistore.model.names import Name
from abistore.model.shapes import Alias, AnyShape, Named, Qualified, TypeRef
from abistore.model.structure import mentioned, with_types


class AliasMeaning(msgspec.Struct, frozen=True):
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
            if not all(map(resolved.keeps, shapes)):
                entries[name] = distinct(map(resolved.shape, shapes))


def distinct(shapes: Iterable[AnyShape]) -> list[AnyShape]:
    """``shapes`` without repetitions."""
    found: list[AnyShape] = []
    for shape in shapes:
        if shape not in found:
            found.append(shape)
    return found


class _Resolved:
    """Rewrites types, each once. ``targets`` says what stands in place of the mentions of these names."""

    def __init__(self, targets: dict[Name, TypeRef]) -> None:
        self._targets = targets
        self._known: dict[int, tuple[TypeRef, TypeRef]] = {}
        self._kept: set[int] = set()

    def keeps(self, shape: AnyShape) -> bool:
        """Whether ``shape`` mentions nothing that is replaced: most do, and the types of most were seen before."""
        types = mentioned(shape)
        return self._kept.issuperset(map(id, types)) or all(map(is_, map(self.of, types), types))

    def shape(self, shape: AnyShape) -> AnyShape:
        """``shape`` with targets in place of mentions; the same object, and looked at no further, without any."""
        return shape if self.keeps(shape) else with_types(shape, self.of)

    def of(self, type: TypeRef) -> TypeRef:
        """``type`` with targets in place of mentions; the same object where it mentions none."""
        known = self._known.get(id(type))
        if known is None:
            self._known[id(type)] = type, type  # what mentions itself through an alias ends here
            known = self._known[id(type)] = type, self._rewritten(type)
            if known[1] is type:
                self._kept.add(id(type))
        return known[1]

    def _rewritten(self, type: TypeRef) -> TypeRef:
        if isinstance(type, Named):
            target = self._targets.get(type.name)
            return type if target is None else self.of(target)
        found = with_types(type, self.of)
        if found is not type and isinstance(found, Qualified):
            return qualified(found.target, found.qualifiers)
        return found
