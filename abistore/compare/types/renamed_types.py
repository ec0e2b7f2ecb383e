"""Which records and enums of the old side are the new side's under another name, changed or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from abistore.compare.types.equivalence import Equivalence, outline
from abistore.compare.types.sameness import Sameness
from abistore.compare.types.type_side import TypeSide
from abistore.model.names import Name, is_unnamed_enum
from abistore.model.shapes import Alias, AnyShape, Enum, Function, Named, Qualified, Record, TypeRef, Variable
from abistore.model.structure import inner

SHARED = 0.5
"""The part of two records' fields (or enums' enumerators) that must have the same names for one to be the other."""


def find_renames(equivalence: Equivalence, differing: Iterable[Name]) -> Mapping[Name, Name]:
    """Pairs names that only one side has: those of the same content, then those that stand in the same places.

    ``differing`` are all names that the two sides show in different ways. ``equivalence`` knows of no renames, and what
    it remembers holds without them only.

    Content alone says nothing where several types have it; a place alone says nothing where most members have other
    names.
    """
    old, new = equivalence.old_side, equivalence.new_side
    names = [(name, old.has(name), new.has(name)) for name in differing]
    gone = sorted(name for name, before, after in names if not after and name.kind in ("record", "enum"))
    come = sorted(name for name, before, after in names if not before and name.kind in ("record", "enum"))
    if not gone or not come:
        return {}
    exact = {**dict(_of_same_content(equivalence, gone, come)), **dict(_of_same_enumerators(equivalence, gone, come))}
    changed = [name for name, before, after in names if before and after]
    return {**exact, **_Places(equivalence, exact).pairs(changed)}


# --- the same content ---------------------------------------------------------------------------------------------


def _of_same_content(
    equivalence: Equivalence, gone: Sequence[Name], come: Sequence[Name]
) -> Iterator[tuple[Name, Name]]:
    """Each distinct shape is compared once, however many names have it, and until a second one has its content."""
    candidates: dict[object, dict[AnyShape, list[Name]]] = {}
    for name in come:
        shape = equivalence.new_side.shape(name)
        if isinstance(shape, Record | Enum) and not is_unnamed_enum(name):
            candidates.setdefault(_outline(name, shape), {}).setdefault(shape, []).append(name)
    matching: dict[AnyShape, list[Name]] = {}
    taken = set[Name]()
    for name in gone:
        shape = equivalence.old_side.shape(name)
        if isinstance(shape, Record | Enum) and not is_unnamed_enum(name):
            if shape not in matching:
                alike = candidates.get(_outline(name, shape), {}).items()
                same = (each for other, names in alike if _same_content(equivalence, shape, other) for each in names)
                matching[shape] = list(islice(same, 2))
            if len(matching[shape]) == 1 and not taken.issuperset(matching[shape]):
                taken.update(matching[shape])
                yield name, matching[shape][0]


def _of_same_enumerators(
    equivalence: Equivalence, gone: Sequence[Name], come: Sequence[Name]
) -> Iterator[tuple[Name, Name]]:
    """Pairs of enumerations in one scope that share an enumerator, of which one at least has no name of its own."""
    holding = {(scope, each): name for name in come for scope, each in _scoped_enumerators(equivalence.new_side, name)}
    taken = set[Name]()
    for name in gone:
        shared = (holding.get(each) for each in _scoped_enumerators(equivalence.old_side, name))
        votes = Counter(each for each in shared if each is not None and each not in taken)
        other = max(votes, key=lambda each: (votes[each], each), default=None)
        if other is not None and (is_unnamed_enum(name) or is_unnamed_enum(other)):
            taken.add(other)
            yield name, other


def _scoped_enumerators(side: TypeSide, name: Name) -> Iterator[tuple[str, str]]:
    shape = side.shape(name) if name.kind == "enum" else None
    scope = name.spelling.rpartition("::")[0]
    return ((scope, each.name) for each in (shape.enumerators if isinstance(shape, Enum) else ()))


def _outline(name: Name, shape: Record | Enum) -> object:
    if isinstance(shape, Enum):
        return name.kind, shape.size, len(shape.enumerators)
    return name.kind, *outline(shape)


def _same_content(equivalence: Equivalence, old: Record | Enum, new: AnyShape) -> bool:
    """Whether two shapes of one outline have the same content."""
    if isinstance(old, Record):
        substance = bool(old.fields or old.bases or old.virtuals)
        most = Sameness.SPELLING
        return substance and isinstance(new, Record) and equivalence.same_content(old, new, most) <= most
    return isinstance(new, Enum) and bool(old.enumerators) and old == new


# --- the same places ----------------------------------------------------------------------------------------------


class _Places:
    """Names that stand for each other in what both sides declare: the same parameter, the same field."""

    def __init__(self, equivalence: Equivalence, exact: Mapping[Name, Name]) -> None:
        self._old, self._new = equivalence.old_side, equivalence.new_side
        self._exact = exact
        self._taken = set(exact.values())
        self._votes: Counter[tuple[Name, Name]] = Counter()

    def pairs(self, changed: Iterable[Name]) -> dict[Name, Name]:
        """The further pairs, each name in one at most."""
        pending = [(name, name) for name in changed]
        pending += self._exact.items()
        found: dict[Name, Name] = {}
        while pending:
            for pair in pending:
                self._walk_shapes(self._old.shape(pair[0]), self._new.shape(pair[1]))
            pending = list(self._decided(found))
            found.update(pending)
        return found

    def _decided(self, found: Mapping[Name, Name]) -> Iterator[tuple[Name, Name]]:
        taken = {*self._taken, *found.values()}
        decided = {*found}
        for (old, new), _ in sorted(self._votes.items(), key=lambda item: (-item[1], item[0])):
            if old not in decided and new not in taken and self._alike(old, new):
                decided.add(old)
                taken.add(new)
                yield old, new

    def _alike(self, old: Name, new: Name) -> bool:
        """Whether most members are the same. Other arguments of one template make another type, not another name."""
        if "<" in old.spelling and old.spelling.partition("<")[0] == new.spelling.partition("<")[0]:
            return False
        match self._old.shape(old), self._new.shape(new):
            case Record() as before, Record() as after:
                return (before.sort == "union") == (after.sort == "union") and _overlap(
                    [each.name for each in before.fields if each.name],
                    [each.name for each in after.fields if each.name],
                )
            case Enum() as before, Enum() as after:
                return _overlap([each.name for each in before.enumerators], [each.name for each in after.enumerators])
            case _:
                return False

    def _is_free(self, old: Name, new: Name) -> bool:
        unknown = not self._new.has(old) and not self._old.has(new)
        return unknown and old not in self._exact and new not in self._taken

    def _walk_shapes(self, old: AnyShape | None, new: AnyShape | None) -> None:
        match old, new:
            case Function(), Function():
                self._walk(old.result, new.result)
                for pair in zip(old.parameters, new.parameters, strict=False):
                    self._walk(*pair)
            case Record(), Record():
                after = {field.name: field.type for field in new.fields if field.name}
                for field in old.fields:
                    if field.name in after:
                        self._walk(field.type, after[field.name])
                for before, base in zip(old.bases, new.bases, strict=False):
                    self._walk(before.type, base.type)
            case Variable(), Variable():
                self._walk(old.type, new.type)
            case Alias(), Alias():
                self._walk(old.target, new.target)

    def _walk(self, old: TypeRef, new: TypeRef) -> None:
        if old == new:
            return
        match self._old.resolve(old), self._new.resolve(new):
            case Named(before), Named(after):
                if before.kind == after.kind and self._is_free(before, after):
                    self._votes[before, after] += 1
            case (Qualified() as before, after) if not isinstance(after, Qualified):
                self._walk(before.target, after)
            case (before, Qualified() as after) if not isinstance(before, Qualified):
                self._walk(before, after.target)
            case (before, after) if type(before) is type(after):
                for pair in zip(inner(before), inner(after), strict=False):
                    self._walk(*pair)


def _overlap(old: Sequence[str], new: Sequence[str]) -> bool:
    return bool(old) and len(set(old) & set(new)) >= SHARED * max(len(old), len(new))
