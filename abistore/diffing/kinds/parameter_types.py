"""How one parameter or result type differs from another, conversions between them, and types in signatures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import Final

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.kinds.release_constants import release_words
from abistore.diffing.side import SideFacts
from abistore.diffing.types.equivalence import lists_nothing, outline, owned_by
from abistore.diffing.types.sameness import FLOATS, Sameness, TypeSide, is_void
from abistore.model.declarations import Name
from abistore.model.names.qualified import UNTOLD_CLOSURE, demangle, entity, last_component
from abistore.model.names.symbols import is_declared, is_mangled
from abistore.model.shapes import Enum as EnumShape
from abistore.model.shapes import (
    Foreign,
    Inline,
    Named,
    Opaque,
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
        case [EnumShape() | Primitive() | Pointer(), EnumShape() | Primitive() | Pointer()]:
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


class _Conversion(msgspec.Struct, frozen=True):
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


def _enum(type: TypeRef, side: TypeSide) -> EnumShape | None:
    shape = side.shape(type.name) if isinstance(type, Named) else type.shape if isinstance(type, Inline) else None
    return shape if isinstance(shape, EnumShape) else None


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


VA_LIST = frozenset({"va_list", "__va_list", "__builtin_va_list", "__gnuc_va_list", "__va_list_tag", "std::__va_list"})


class TypeDifference(Enum):
    """What differs between two types at one place of a signature.

    ``SPELLING``: another name of the same type. ``REPRESENTATION``: another type of the same bits.
    ``REINTERPRETED``: the same bits with another meaning.
    ``POINTER_LEVEL``: ``int`` became ``int *``, or the reverse. ``TEMPLATE_ARGUMENT``: ``list<A>`` became ``list<B>``.
    ``VOID_TO_VALUE``: a result that callers of the old function do not look at. ``OTHER``: callers and the function
    disagree.
    """

    NONE = auto()
    SPELLING = auto()
    REPRESENTATION = auto()
    RESTRICT = auto()
    POINTEE_QUALIFIERS = auto()
    VA_LIST_GAINED = auto()
    VA_LIST_LOST = auto()
    REINTERPRETED = auto()
    POINTER_LEVEL = auto()
    TEMPLATE_ARGUMENT = auto()
    VOID_TO_VALUE = auto()
    LONG_DOUBLE = auto()
    OTHER = auto()


VA_LISTS = {
    (False, True): TypeDifference.VA_LIST_GAINED,
    (True, False): TypeDifference.VA_LIST_LOST,
    (True, True): TypeDifference.SPELLING,
}
"""By whether the old and the new type are the platform's argument list."""


def difference(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    """How a value passed or returned as ``old`` differs from one as ``new``."""
    return TypeDifference.NONE if old == new else context.once(_difference, old, new)


def _difference(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    lists = _is_va_list(old, context.old.types), _is_va_list(new, context.new.types)
    if any(lists):
        return VA_LISTS[lists]
    same = context.passed(old, new)
    if same is Sameness.QUALIFIERS or (
        same <= Sameness.QUALIFIERS and _without_restrict(old) == _without_restrict(new)
    ):
        return _qualifiers(old, new)
    if same < Sameness.REINTERPRETED:
        if _is_other_object(old, new, context):
            return TypeDifference.OTHER
        return TypeDifference.SPELLING if same <= Sameness.SPELLING else TypeDifference.REPRESENTATION
    return TypeDifference.REINTERPRETED if same is Sameness.REINTERPRETED else _different(old, new, context)


def _is_other_object(old: TypeRef, new: TypeRef, context: Context) -> bool:
    if any("source" not in side.snapshot.entries for side in (context.old, context.new)):
        return False  # headers alone tell whose a declaration is

    return is_of_third_library(old, new, context)


def _qualifiers(old: TypeRef, new: TypeRef) -> TypeDifference:
    if _without_restrict(old) == _without_restrict(new):
        return TypeDifference.RESTRICT
    return TypeDifference.POINTEE_QUALIFIERS


def _without_restrict(type: TypeRef) -> TypeRef:
    match type:
        case Qualified(target, qualifiers):
            left = tuple(each for each in qualifiers if each != "restrict")
            inner = _without_restrict(target)
            return Qualified(inner, left) if left else inner
        case Pointer(target, sort):
            return Pointer(_without_restrict(target), sort)
        case _:
            return type


def _different(old: TypeRef, new: TypeRef, context: Context) -> TypeDifference:
    old_levels, old_base = context.old.types.levels(old)
    new_levels, new_base = context.new.types.levels(new)
    if (
        isinstance(old_base, Primitive)
        and old_base.spelling == "void"
        and not old_levels
        and _in_register(new, context)
    ):
        return TypeDifference.VOID_TO_VALUE
    functions = isinstance(old_base, Procedure) or isinstance(new_base, Procedure)
    if old_levels != new_levels and not functions and context.stored(old_base, new_base) <= Sameness.QUALIFIERS:
        return TypeDifference.POINTER_LEVEL
    if old_levels == new_levels and _are_long_doubles(old_base, new_base):
        return TypeDifference.LONG_DOUBLE
    if old_levels == new_levels and isinstance(old_base, Named) and isinstance(new_base, Named):
        template = old_base.name.spelling.partition("<")[0]
        if "<" in old_base.name.spelling and new_base.name.spelling.startswith(f"{template}<"):
            may_be_one = _may_be_one(old_base, new_base, context)
            return TypeDifference.SPELLING if may_be_one else TypeDifference.TEMPLATE_ARGUMENT
    return TypeDifference.OTHER


def _may_be_one(old: Named, new: Named, context: Context) -> bool:
    """Whether one instance has a closure among its arguments of which a compiler told nothing, and the sizes agree."""
    if not any(UNTOLD_CLOSURE in each.name.spelling for each in (old, new)):
        return False
    sizes = {context.old.types.layouts.size(old), context.new.types.layouts.size(new)}
    return len(sizes - {None}) < 2


def _are_long_doubles(old: TypeRef, new: TypeRef) -> bool:
    if not (isinstance(old, Primitive) and isinstance(new, Primitive)):
        return False
    return old.spelling == new.spelling and old.spelling.endswith("long double")


def _in_register(type: TypeRef, context: Context) -> bool:
    """Whether a result of ``type`` comes back in a register, where a caller that expects nothing does not miss it."""
    bare, _ = context.new.types.bare(type)
    if isinstance(bare, Named):
        return bare.name.kind == "enum"
    if context.new.snapshot.target.machine == "i386" and isinstance(bare, Primitive) and bare.spelling in FLOATS:
        return False  # comes back on the x87 stack, which the caller does not clear
    return isinstance(bare, Pointer) or (isinstance(bare, Primitive) and 0 < bare.size <= 8)


def _is_va_list(type: TypeRef, side: TypeSide) -> bool:
    """Whether ``type`` is the platform's argument list, as compilers record it: an alias, or its inner record."""
    for _ in range(4):
        if isinstance(type, Named) and type.name.spelling in VA_LIST:
            return True
        type = side.resolve(type)
        if isinstance(type, Pointer | Qualified):
            type = type.target
    return False


def points_to_derived(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether a pointer or reference to a class became one to a class that begins with it as its base."""
    before, after = context.old.types.resolve(old), context.new.types.resolve(new)
    if not (isinstance(before, Pointer) and isinstance(after, Pointer)) or before.sort != after.sort:
        return False
    (one, qualifiers), (other, others) = _class(before.target), _class(after.target)
    return one is not None and other is not None and qualifiers == others and _begins_with(other, one, context)


def _class(type: TypeRef) -> tuple[Name | None, tuple[str, ...]]:
    bare, qualifiers = (type.target, type.qualifiers) if isinstance(type, Qualified) else (type, ())
    return (bare.name if isinstance(bare, Named) and bare.name.kind == "record" else None), qualifiers


def _begins_with(derived: Name, base: Name, context: Context) -> bool:
    """Whether the base is at offset 0 in the new release; a virtual one is elsewhere in what derives further."""
    pending, seen = [derived], {derived}
    while pending:
        shape = context.new.shape(pending.pop())
        bases = shape.bases if isinstance(shape, Record) else ()
        at_start = (each for each in bases if each.offset == 0 and not each.virtual)
        found = {name for name, _ in filter(None, map(context.new.tables.record, at_start))} - seen
        if base in found:
            return True
        seen |= found
        pending += found
    return False


def is_of_third_library(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether both are pointers to structs that headers of two other libraries declare, and nobody defines.

    A library cannot rename what others declare. Where these renamed it, they keep the typedef, or the word that all
    their names begin with: ``cal_comm_t`` and ``ncclComm_t`` share neither.
    """
    before, after = context.old.types.pointee(old, 1), context.new.types.pointee(new, 1)
    if before is None or after is None or before == after or _written(old) == _written(new):
        return False
    foreign = _is_borrowed(before, context.old) and _is_borrowed(after, context.new)
    return foreign and not _share_beginning(before, after)


def _is_borrowed(name: Name, side: SideFacts) -> bool:
    """Whether a struct is declared in included headers only: public ones have a text of it (``Declared``)."""
    shapes = side.variants("source", name)
    return bool(shapes) and all(isinstance(each, Opaque) for each in shapes) and name not in side.files


def _share_beginning(old: Name, new: Name) -> bool:
    first = [release_words(last_component(name.spelling))[:1] for name in (old, new)]
    return first[0] == first[1]


def _written(type: TypeRef) -> TypeRef:
    while isinstance(type, Pointer | Qualified):
        type = type.target
    return type


def loses_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has fewer qualifiers now."""
    return any(before - after for before, after in _pairs(old, new, context))


def gains_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has more qualifiers now."""
    return any(after - before for before, after in _pairs(old, new, context))


def _pairs(old: TypeRef, new: TypeRef, context: Context) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    return zip(_levels(old, context.old.types), _levels(new, context.new.types), strict=False)


def _levels(type: TypeRef, side: TypeSide) -> Iterator[frozenset[str]]:
    """The qualifiers of what is behind each level of pointers, from the outermost one on; ``restrict`` is of none."""
    bare, _ = side.bare(type)
    while isinstance(bare, Pointer):
        bare, qualifiers = side.bare(bare.target)
        yield qualifiers - {"restrict"}


def spells_parameter(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type a parameter has (Itanium C++ ABI 5.1.5, bare-function-type).

    Names of Visual C++ say it too.
    """
    return is_mangled(function.spelling) and not _are_built_in(old, new, context)


def spells_result(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type it returns: those of instances of function templates do."""
    symbol = function.spelling
    return spells_parameter(function, old, new, context) and is_declared(symbol) and _begins_with_result(symbol)


def _are_built_in(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether both are made of built-in types: options of compilers decide how wide ``wchar_t`` and the like are."""
    _, before = context.old.types.levels(old)
    _, after = context.new.types.levels(new)
    return isinstance(before, Primitive) and isinstance(after, Primitive)


@lru_cache(1 << 10)
def _begins_with_result(symbol: str) -> bool:
    told = demangle(symbol)
    return not told.startswith(entity(told))
