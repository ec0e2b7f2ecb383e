"""Implicit conversions between types of two releases, as C (C17 6.3.2.3, 6.5.16.1) and C++ ([conv]) have them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.equivalence import lists_nothing, outline, owned_by
from abistore.compare.types.sameness import FLOATS, Sameness, is_void
from abistore.compare.types.type_side import TypeSide
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import (
    Enum,
    Foreign,
    Inline,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from abistore.model.snapshot import HeadersRead, Snapshot

BOTH = frozenset({"c", "c++"})


def languages(name: Name, context: Context) -> frozenset[str]:
    """The languages of sources that use a declaration: those that the headers serve, or both where nothing says it.

    Debug information of C says nothing of C++ programs: most headers of C libraries serve them too.
    """
    if is_mangled(name.spelling):
        return frozenset({"c++"})
    told = [_served(side.snapshot) for side in (context.old, context.new)]
    return told[0] & told[1] or BOTH


def _served(snapshot: Snapshot) -> frozenset[str]:
    read = snapshot.provenance.headers
    if isinstance(read, HeadersRead) and read.language:
        return frozenset({"c++"}) if read.language == "c++" else frozenset(read.serves or BOTH)
    compiled = snapshot.provenance.languages
    return frozenset({"c++"}) if compiled and all("++" in each for each in compiled) else BOTH


def accepts(name: Name, old: TypeRef, new: TypeRef, context: Context, *, certain: bool = False) -> bool:
    """Whether all that sources of ``name`` pass as ``old`` converts to ``new``.

    ``certain``: not where that is unknown, as of classes that may have conversions of their own.
    """
    return all(_Conversion(context, each, certain=certain).converts(old, new) for each in languages(name, context))


def serves(name: Name, old: TypeRef, new: TypeRef, context: Context, *, certain: bool = False) -> bool:
    """Whether what is of type ``new`` can be used wherever sources of ``name`` use an ``old``; see ``accepts``."""
    spoken = languages(name, context)
    backwards = (_Conversion(context, each, backwards=True, used=True, certain=certain) for each in spoken)
    return all(each.converts(new, old) for each in backwards)


def replaces(old: Name, new: Name, context: Context) -> bool:
    """Whether what converted to the old type of a name converts to its new one, and members have the same names."""
    (before, _), (after, _) = context.old.types.bare(Named(old)), context.new.types.bare(Named(new))
    shapes = [
        side.shape(each.name) if isinstance(each, Named) else each for side, each in _sides(before, after, context)
    ]
    match shapes:
        case [Record() as one, Record() as other]:
            return outline(one) == outline(other)
        case [Record(), _] | [_, Record()]:
            return False
        case [Enum() | Primitive() | Pointer(), Enum() | Primitive() | Pointer()]:
            return all(_Conversion(context, each).converts(before, after) for each in languages(old, context))
        case _:
            return True


def _sides(old: TypeRef, new: TypeRef, context: Context) -> Iterable[tuple[TypeSide, TypeRef]]:
    return (context.old.types, old), (context.new.types, new)


def is_exchangeable(name: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether sources of ``name`` can write and read an object that was ``old`` and is ``new``."""
    return accepts(name, old, new, context) and serves(name, old, new, context)


_UNWRITABLE: Final = ("{", "<lambda", "(anonymous ")
"""What names of closures and of unnamed types have in them."""


@dataclass(frozen=True, slots=True)
class _Conversion:
    """Converts types of one release to those of the other: ``backwards`` where that is the old one.

    ``used``: the value is also used as it is, so that ``void *`` does not do for a pointer that is dereferenced.
    """

    context: Context
    language: str
    backwards: bool = False
    used: bool = False
    certain: bool = False

    def converts(self, source: TypeRef, target: TypeRef) -> bool:
        """Whether a value of type ``source`` converts to ``target``. What a name stands for is reported for it."""
        pair = (target, source) if self.backwards else (source, target)
        if only_named_otherwise(*pair, self.context) or (_is_nameless(source) and _is_nameless(target)):
            return True
        before, after = self._source.bare(source)[0], self._target.bare(target)[0]
        if owned_by(before) and owned_by(before) == owned_by(after) and before != after:
            return isinstance(before, Named) and before.name.spelling.startswith("std::auto_ptr<")  # not the other way
        if self._is_same(before, after) or (not self.certain and self._is_untold(before, after)):
            return True
        if isinstance(before, Pointer) and isinstance(after, Pointer):
            return self._points(before, after)
        if is_void(before) or is_void(after):
            return False
        if _is_number(before, self._source) and _is_number(after, self._target):
            return self._counts(before, after) and not (self.used and self._is_wider(before, after))
        return self._derives(before, after)

    @property
    def _source(self) -> TypeSide:
        return self.context.new.types if self.backwards else self.context.old.types

    @property
    def _target(self) -> TypeSide:
        return self.context.old.types if self.backwards else self.context.new.types

    def _is_untold(self, source: TypeRef, target: TypeRef) -> bool:
        """Whether one side does not say what a type is, or a class may have conversions of its own."""
        if isinstance(source, Special) != isinstance(target, Special):
            return True
        if self.language == "c":
            return False
        before, after = (self.context.new, self.context.old) if self.backwards else (self.context.old, self.context.new)
        return _converts_itself(source, before) or _converts_itself(target, after)

    def _is_same(self, source: TypeRef, target: TypeRef) -> bool:
        pair = (target, source) if self.backwards else (source, target)
        return self.context.stored(*pair) <= Sameness.SPELLING or self._is_compatible(source, target)

    def _is_compatible(self, source: TypeRef, target: TypeRef) -> bool:
        """Whether one is an enumeration and the other the integer that represents it: in C, compatible types.

        So is a function type without a list of parameters for functions that are called as if there was none.
        """
        if self.language != "c":
            return False
        if isinstance(source, Procedure) and isinstance(target, Procedure) and lists_nothing(target):
            return self.context.stored(*((target, source) if self.backwards else (source, target))) < Sameness.DIFFERENT
        one, other = _enum(source, self._source), _enum(target, self._target)
        if one is not None and other is None:
            return self._source.bare(one.underlying)[0] == target if one.underlying is not None else False
        if other is not None and one is None:
            return self._target.bare(other.underlying)[0] == source if other.underlying is not None else False
        return False

    def _counts(self, source: TypeRef, target: TypeRef) -> bool:
        """Numbers convert to each other; in C++, to no enumeration, and from none that is scoped."""
        scoped = _enum(source, self._source)
        if self.language == "c++":
            return _enum(target, self._target) is None and not (scoped is not None and scoped.scoped)
        return True

    def _is_wider(self, source: TypeRef, target: TypeRef) -> bool:
        """Whether a number has values that the other type lacks: ``{}`` converts none ([dcl.init.list])."""
        before, after = self._source.layouts.size(source), self._target.layouts.size(target)
        fraction, other = (isinstance(each, Primitive) and each.spelling in FLOATS for each in (source, target))
        return fraction != other or (before is not None and after is not None and before > after)

    def _points(self, source: Pointer, target: Pointer) -> bool:
        (before, had), (after, has) = self._source.bare(source.target), self._target.bare(target.target)
        if source.sort != target.sort or not _plain(had) <= _plain(has):
            return False
        functions = isinstance(before, Procedure) or isinstance(after, Procedure)
        if is_void(after):
            return not functions
        if is_void(before):
            return self.language == "c" and not self.used and not functions
        if isinstance(before, Pointer) and isinstance(after, Pointer):
            return self._points_deeper(before, after, constant="const" in has)
        return self._is_same(before, after) or self._derives(before, after)

    def _points_deeper(self, source: Pointer, target: Pointer, *, constant: bool) -> bool:
        """Pointers behind pointers: C++ adds qualifiers where all levels above are constant, and C never."""
        (before, had), (after, has) = self._source.bare(source.target), self._target.bare(target.target)
        if source.sort != target.sort:
            return False
        added = constant and self.language == "c++" and _plain(had) <= _plain(has)
        if _plain(had) != _plain(has) and not added:
            return False
        if isinstance(before, Pointer) and isinstance(after, Pointer):
            return self._points_deeper(before, after, constant=constant and "const" in has)
        return self._is_same(before, after)

    def _derives(self, source: TypeRef, target: TypeRef) -> bool:
        """Whether a class has the other one as a public base."""
        if self.language != "c++" or not isinstance(source, Named):
            return False
        return any(self._is_same(base, target) for base in _bases(source, self._source))


def _is_nameless(type: TypeRef) -> bool:
    """Whether a type leads to a class without a name that sources can write, as a closure: compilers differ on it."""
    behind = isinstance(type, Pointer)
    while isinstance(type, Pointer | Qualified):
        type = type.target
    if isinstance(type, Inline):
        return behind and isinstance(type.shape, Record)
    return isinstance(type, Named) and any(mark in type.name.spelling for mark in _UNWRITABLE)


def _converts_itself(type: TypeRef, side: SideFacts) -> bool:
    if not isinstance(type, Named) or type.name.kind != "record":
        return False
    return isinstance(side.shape(type.name), Foreign) or bool(side.tables.constructors(type.name))


def _plain(qualifiers: Collection[str]) -> frozenset[str]:
    return frozenset(qualifiers) - {"restrict"}


def _enum(type: TypeRef, side: TypeSide) -> Enum | None:
    shape = side.shape(type.name) if isinstance(type, Named) else type.shape if isinstance(type, Inline) else None
    return shape if isinstance(shape, Enum) else None


def _is_number(type: TypeRef, side: TypeSide) -> bool:
    return isinstance(type, Primitive) or _enum(type, side) is not None


def _bases(type: Named, side: TypeSide) -> Iterable[TypeRef]:
    """All public bases of a class, direct ones first."""
    pending, seen = [type], {type}
    while pending:
        shape = side.shape(pending.pop(0).name)
        for base in shape.bases if isinstance(shape, Record) else ():
            bare = side.bare(base.type)[0]
            if base.access == "public" and isinstance(bare, Named) and bare not in seen:
                seen.add(bare)
                pending.append(bare)
                yield bare
