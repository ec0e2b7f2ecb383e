"""How far a type of the old side and one of the new side are the same for a built consumer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TypeAlias

from msgspec.structs import replace

from abistore.diffing.types.mentions import is_reserved
from abistore.diffing.types.sameness import (
    Sameness,
    TypeSide,
    enum_and_integer,
    enums,
    flat_fields,
    is_void,
    plain,
    primitives,
    scalars,
)
from abistore.model.declarations import Name, is_unnamed_enum
from abistore.model.names.qualified import plain_template
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Field,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot
from abistore.model.structure import inner, mentioned, references

Pair: TypeAlias = tuple[TypeRef, TypeRef]
"""A type of the old side and one of the new side."""


class Equivalence:
    """Compares types of two sides, old side first. Answers are kept.

    ``renames`` are records and enums that are one declaration under two names: what differs in them is their own.
    """

    def __init__(self, old: TypeSide, new: TypeSide, renames: Mapping[Name, Name] | None = None) -> None:
        self.old_side = old
        self.new_side = new
        self.renames: Mapping[Name, Name] = {} if renames is None else renames
        self._known: dict[Pair, Sameness] = {}
        self._tentative: dict[Pair, tuple[Sameness, frozenset[Pair]]] = {}
        self._assumed: set[Pair] = set()
        self._leaned_on: set[Pair] = set()

    def passed(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far a value passed or returned as ``old`` arrives as ``new``."""
        if old == new:
            return Sameness.IDENTICAL
        return min(max(Sameness.SPELLING, self._handed(*pair)) for pair in self._meant(old, new))

    def stored(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far memory laid out as ``old`` can be used as ``new``."""
        if old == new:
            return Sameness.IDENTICAL
        key = (old, new)
        if key in self._known:
            return self._known[key]
        if key not in self._tentative:
            return self._work_out(key)
        found, leaned_on = self._tentative[key]
        self._leaned_on |= leaned_on
        return found

    def _work_out(self, key: Pair) -> Sameness:
        """Compare two types; an answer that leans on an assumption is kept as long as that is made."""
        before, self._leaned_on = self._leaned_on, set()
        found = self._compare(*key)
        if self._leaned_on:
            self._tentative[key] = found, frozenset(self._leaned_on)
        else:
            self._known[key] = found
        self._leaned_on |= before
        return found

    def same_record(self, old: Record, new: Record) -> Sameness:
        """How far two records of different names have the same content."""
        if old.size != new.size or outline(old) != outline(new):
            return Sameness.DIFFERENT
        return self.same_content(old, new)

    def same_content(self, old: Record, new: Record, most: Sameness = Sameness.REINTERPRETED) -> Sameness:
        """How far two records of one outline have the same content, or the first answer above ``most``."""
        if None not in (old.passing, new.passing) and old.passing != new.passing:
            return Sameness.DIFFERENT
        found = Sameness.IDENTICAL
        for before, after in zip(_held(old), _held(new), strict=True):
            found = max(found, self.stored(before, after))
            if found > most:
                break
        return found

    def is_alternative(self, old: TypeRef, new: TypeRef) -> bool:
        """Whether ``new`` is a union of ``old``'s size, one alternative of which is represented as ``old``."""
        shape = self._shape(self.new_side.bare(new)[0], self.new_side)
        if not isinstance(shape, Record) or shape.sort != "union" or self.old_side.layouts.size(old) != shape.size:
            return False
        alternatives = (field.type for field in shape.fields if field.bit_size is None)
        return any(self.stored(old, each) <= Sameness.REPRESENTATION for each in alternatives)

    def _compare(self, old: TypeRef, new: TypeRef) -> Sameness:
        _, old_qualifiers = self.old_side.bare(old)
        _, new_qualifiers = self.new_side.bare(new)
        found = Sameness.SPELLING
        if old_qualifiers != new_qualifiers:
            atomic = "atomic" in old_qualifiers ^ new_qualifiers
            found = Sameness.REINTERPRETED if atomic else Sameness.QUALIFIERS
        return max(found, min(self._unqualified(*pair) for pair in self._meant(old, new)))

    def _meant(self, old: TypeRef, new: TypeRef) -> Iterator[Pair]:
        """All that two types may mean: what any of it has in common is no difference."""
        return product(self.old_side.meanings(old), self.new_side.meanings(new))

    def _handed(self, old: TypeRef, new: TypeRef) -> Sameness:
        if _is_aggregate(old) != _is_aggregate(new):
            return Sameness.DIFFERENT
        return self._unqualified(old, new)

    def _unqualified(self, old: TypeRef, new: TypeRef) -> Sameness:
        if old == new:
            return Sameness.IDENTICAL
        match old, new:
            case Primitive(), Primitive():
                return primitives(old, new)
            case Pointer(), Pointer():
                return self._pointers(old, new)
            case Procedure(), Procedure():
                return self._procedures(old, new)
            case MemberPointer(), MemberPointer():
                if isinstance(old.target, Procedure) != isinstance(new.target, Procedure):
                    return Sameness.DIFFERENT
                return max(self.stored(old.owner, new.owner), self.stored(old.target, new.target))
            case Array(), Array() if old.vector or new.vector or old.count == new.count:
                if (old.vector, old.count) != (new.vector, new.count):
                    return Sameness.DIFFERENT
                return self.stored(old.element, new.element)
            case Array(), Array() if self._has_rows(old, self.old_side) and self._has_rows(new, self.new_side):
                return Sameness.DIFFERENT  # rows of another length: each index leads to another element
            case (Array(element, count=1, vector=False), _) if not isinstance(new, Array):
                return min(self._single(element, new), self._definitions(old, new))
            case (_, Array(element, count=1, vector=False)) if not isinstance(old, Array):
                return min(self._single(old, element), self._definitions(old, new))
            case Special(), Special():
                return Sameness.DIFFERENT
            case (Special(), _) | (_, Special()):
                return Sameness.REINTERPRETED  # one side's evidence does not say what the type is
            case _:
                return self._definitions(old, new)

    def _single(self, old: TypeRef, new: TypeRef) -> Sameness:
        """How far one thing and an array of one such thing are alike."""
        return max(Sameness.REPRESENTATION, self.stored(old, new))

    @staticmethod
    def _has_rows(array: Array, side: TypeSide) -> bool:
        element = side.bare(array.element)[0]
        return isinstance(element, Array) and not element.vector

    def _pointers(self, old: Pointer, new: Pointer) -> Sameness:
        found = Sameness.SPELLING if old.sort == new.sort else Sameness.REPRESENTATION
        old_target, _ = self.old_side.bare(old.target)
        new_target, _ = self.new_side.bare(new.target)
        if is_void(old_target) != is_void(new_target):
            if isinstance(old_target, Procedure) or isinstance(new_target, Procedure):
                return Sameness.REINTERPRETED
            return max(found, Sameness.REPRESENTATION)
        return max(found, self.stored(old.target, new.target))

    def _procedures(self, old: Procedure, new: Procedure) -> Sameness:
        if lists_nothing(old) != lists_nothing(new):
            return self._listed(old, new)
        if len(old.parameters) != len(new.parameters) or old.variadic != new.variadic:
            return Sameness.DIFFERENT
        parts = [self.passed(*pair) for pair in zip(old.parameters, new.parameters, strict=True)]
        if old.result != new.result:
            parts += [self.passed(old.result, new.result), Sameness.SPELLING]
        return max(parts, default=Sameness.IDENTICAL)

    def _listed(self, old: Procedure, new: Procedure) -> Sameness:
        """How far ``int (*)()`` of C, which may be called with anything, is one with parameters.

        Calls without a list pass what one with a list takes, but for a ``float``, and for further arguments.
        """
        side, listed = (self.new_side, new) if lists_nothing(old) else (self.old_side, old)
        bare = [side.bare(each)[0] for each in listed.parameters]
        if listed.variadic or any(isinstance(each, Primitive) and each.spelling == "float" for each in bare):
            return Sameness.DIFFERENT
        return max(Sameness.REINTERPRETED, self.passed(old.result, new.result))

    def _definitions(self, old: TypeRef, new: TypeRef) -> Sameness:
        if isinstance(old, Named) and isinstance(new, Named) and self.renames.get(old.name) == new.name:
            return Sameness.SPELLING
        old_shape, new_shape = self._shape(old, self.old_side), self._shape(new, self.new_side)
        match old_shape, new_shape:
            case Record(), Record():
                return self._records(old, new, old_shape, new_shape)
            case Enum(), Enum():
                found = enums(old_shape, new_shape)
                return found if self._renamed(old, new) else max(found, Sameness.REPRESENTATION)
            case Enum(), Primitive():
                return enum_and_integer(old_shape, new_shape)
            case Primitive(), Enum():
                return enum_and_integer(new_shape, old_shape)
            case Opaque(), Opaque():
                return Sameness.SPELLING if self._renamed(old, new) else Sameness.DIFFERENT
            case Foreign(), Foreign():
                return self._foreign(old, new, old_shape, new_shape)
            case _:
                return self._scalar_by_scalar(old, new)

    def _shape(self, type: TypeRef, side: TypeSide) -> object:
        if isinstance(type, Named):
            return side.shape(type.name)
        return type.shape if isinstance(type, Inline) else type

    def _records(self, old: TypeRef, new: TypeRef, old_shape: Record, new_shape: Record) -> Sameness:
        """Records that are being compared already, as a list's node within itself, are taken for the same."""
        pair = (old, new)
        if pair in self._assumed:
            self._leaned_on.add(pair)
            return Sameness.SPELLING
        self._assumed.add(pair)
        try:
            found = self.same_record(old_shape, new_shape)
            by_scalars = found is Sameness.DIFFERENT and not self._has_moved_fields(old_shape, new_shape)
            if by_scalars:
                found = self._scalar_by_scalar(old, new)
        finally:
            self._assumed.discard(pair)
        if pair in self._leaned_on:
            self._leaned_on.discard(pair)
            self._tentative.clear()
        if found is Sameness.DIFFERENT or by_scalars or not isinstance(old, Named) or not isinstance(new, Named):
            return found
        return max(found, Sameness.SPELLING if self._renamed(old, new) else Sameness.REPRESENTATION)

    def _has_moved_fields(self, old: Record, new: Record) -> bool:
        """Whether a field of the same name lies elsewhere, or is another one in storage of the same size.

        Scalar by scalar, ``struct { int x, y; }`` and ``struct { int y, x; }`` are alike.
        """
        after = _named_fields(new)
        for name, field in _named_fields(old).items():
            other = after.get(name, field)
            if other.offset != field.offset:
                return True
            sizes = self.old_side.layouts.size(field.type), self.new_side.layouts.size(other.type)
            if sizes[0] == sizes[1] and self.stored(field.type, other.type) is Sameness.DIFFERENT:
                return True
        return False

    def _foreign(self, old: TypeRef, new: TypeRef, old_shape: Foreign, new_shape: Foreign) -> Sameness:
        """One template of the standard library with the same arguments, which compilers spell in different ways."""
        same_size = (old_shape.size, old_shape.alignment) == (new_shape.size, new_shape.alignment)
        owned = owned_by(old)
        if same_size and owned and owned == owned_by(new) and _template(old) != _template(new):
            return Sameness.REPRESENTATION
        arguments = old_shape.arguments, new_shape.arguments
        if (
            not same_size
            or not arguments[0]
            or len(arguments[0]) != len(arguments[1])
            or _template(old) != _template(new)
        ):
            return Sameness.DIFFERENT
        found = max(self.stored(*pair) for pair in zip(*arguments, strict=True))
        return Sameness.SPELLING if found <= Sameness.SPELLING else Sameness.DIFFERENT

    def _renamed(self, old: TypeRef, new: TypeRef) -> bool:
        if not isinstance(old, Named) or not isinstance(new, Named):
            return True
        return not self.new_side.has(old.name) and not self.old_side.has(new.name)

    def _scalar_by_scalar(self, old: TypeRef, new: TypeRef) -> Sameness:
        old_size, new_size = self.old_side.layouts.size(old), self.new_side.layouts.size(new)
        if old_size is None or old_size != new_size or not (_is_aggregate(old) or _is_aggregate(new)):
            return Sameness.DIFFERENT
        old_parts = scalars(old, self.old_side.snapshot, self.old_side.layouts)
        new_parts = scalars(new, self.new_side.snapshot, self.new_side.layouts)
        if old_parts is None or new_parts is None or len(old_parts) != len(new_parts):
            return Sameness.DIFFERENT
        found = Sameness.REPRESENTATION
        for (old_place, old_scalar), (new_place, new_scalar) in zip(old_parts, new_parts, strict=True):
            if old_place != new_place:
                return Sameness.DIFFERENT
            found = max(found, self.stored(old_scalar, new_scalar))
        return found


def outline(record: Record) -> tuple[object, ...]:
    """What two records share that have the same content: all but the types of what they hold."""
    return (
        record.size,
        record.sort == "union",
        record.alignment,
        len(record.virtuals),
        record.has_vptr,
        tuple((each.name, each.offset, each.bit_size) for each in record.fields),
        tuple((each.offset, each.virtual) for each in record.bases),
    )


def _held(record: Record) -> Iterator[TypeRef]:
    yield from (each.type for each in record.fields)
    yield from (each.type for each in record.bases)


def _named_fields(record: Record) -> Mapping[str, Field]:
    """The fields that consumers have a reason to touch, by name, those of anonymous members too."""
    fields = map(plain, flat_fields(record))
    return {field.name: field for field in fields if not is_reserved(field)}


def _template(type: TypeRef) -> str:
    return type.name.spelling.partition("<")[0] if isinstance(type, Named) else ""


def _is_aggregate(type: TypeRef) -> bool:
    match type:
        case Named(name):
            return name.kind == "record"
        case Inline(shape):
            return isinstance(shape, Record)
        case Array():
            return True
        case _:
            return False


def owned_by(type: TypeRef) -> str:
    """What a standard class is nothing but a pointer to, with a destructor that deletes that; else empty."""
    match plain_template(type.name.spelling) if isinstance(type, Named) else None:
        case "std::auto_ptr", [target]:
            return target
        case "std::unique_ptr", [target, deleter] if deleter == f"std::default_delete<{target}>":
            return target
    return ""


def lists_nothing(procedure: Procedure) -> bool:
    """Whether a function type of C has no list of parameters: in a list something stands before ``...``."""
    return procedure.variadic and not procedure.parameters


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


def mentions_alike(name: Name, user: Name, old: Snapshot, new: Snapshot) -> bool:
    """Whether ``name`` is in a type that the declaration of ``user`` is made of on both sides."""
    kept = {type for shape in old.described(user) for type in _parts(shape)}
    kept &= {type for shape in new.described(user) for type in _parts(shape)}
    return any(name == mentioned for type in kept for mentioned, _ in references(Alias(type)))


def _parts(shape: AnyShape) -> tuple[TypeRef, ...]:
    if isinstance(shape, Enum):
        return ()
    return mentioned(replace(shape, arguments=()) if isinstance(shape, Record) else shape)
