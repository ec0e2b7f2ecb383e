"""Types in signatures: qualifiers behind pointers, handles, and function pointers that only the library supplies.

Types that the mangled name of a function spells: while the symbol stays, they are the same types.

Where debug information disagrees, one compiler described a type in another way: Clang calls a closure ``{lambda}`` and
nothing more, and places a typedef of a class that a unit does not define outside of it. What changed *within* a type
that kept its name is a finding of the type.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec.structs import replace

from abistore.diffing.context import Context
from abistore.diffing.kinds.release_constants import release_words
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.export_table import is_runtime_symbol
from abistore.diffing.types.sameness import NUMBERS, Sameness, TypeSide
from abistore.model.declarations import COPIED, Changed, Declared, Name
from abistore.model.names.qualified import class_behind, demangle, entity, last_component
from abistore.model.names.symbols import CLASS_DATA, is_declared, is_mangled
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Enum,
    Function,
    Inline,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    TypeRef,
)
from abistore.model.structure import references


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


def holds_enumerators(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether an integer became a wider enumeration of which each enumerator, and each union of them, fits in it.

    Built callers read the low part of the register. All machines return it as they would the integer: extended.
    """
    integer, enum = context.old.types.bare(old)[0], _enum(new, context.new.types)
    if enum is None or not isinstance(integer, Primitive) or not integer.size < enum.size:
        return False
    target = context.old.snapshot.target
    if enum.size > 8 or (8 * enum.size > target.bits and target.endianness == "big"):
        return False  # not in one register, or the first of two holds the upper half
    numbers = _numbers(integer)
    return bool(enum.enumerators) and all(each.value in numbers for each in enum.enumerators)


def _enum(type: TypeRef, side: TypeSide) -> Enum | None:
    match side.bare(type)[0]:
        case Named(name):
            shape = side.shape(name)
            return shape if isinstance(shape, Enum) else None
        case Inline(Enum() as shape):
            return shape
        case _:
            return None


def _numbers(integer: Primitive) -> range:
    """The numbers that an integer holds on every platform: ``char`` may be signed or not. None of other types."""
    bits = 8 * integer.size
    match NUMBERS.get(integer.spelling):
        case "signed":
            return range(-(1 << bits - 1), 1 << bits - 1)
        case "unsigned":
            return range(1 << bits)
        case "either":
            return range(1 << bits - 1)
        case _:
            return range(0)


ANYTHING = ("std::any", "std::exception_ptr")
"""Classes of which an object holds one of any type."""

WRITTEN = frozenset({*COPIED, "defined", "defined_within"})
"""What is said of functions that a header defines."""


def never_exchanged(name: Name, context: Context) -> bool:
    """Whether no function or variable through which programs meet the library leads to the type ``name``.

    Then code of programs and code of the library each keep to what they were compiled with. Headers must tell all that
    there is, and nothing may be of any type. What uses the type may still be exchanged without being named: as a class
    that a base stands for, or that is thrown; by a callback, and by a function that headers leave to programs. Objects
    of another library's types may come by way of that one.
    """
    side = context.old
    if not side.snapshot.evidence_of("source").declares_all or not side.consumers.offers(name):
        return False
    anything: bool = context.once(passes_anything)
    if anything or context.affected(name) or not _is_own(name, side):
        return False
    return not any(_is_exchanged(each, context) for each in _users(name, side))


def _is_own(name: Name, side: SideFacts) -> bool:
    """Whether a type is made of those that the library's headers define, of C++'s own, and of numbers."""
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        if not each.spelling.startswith("std::") and not side.consumers.offers(_template(each)):
            return False
        come = {used for shape in side.snapshot.described(each) for used in _made_of(shape)} - seen
        seen |= come
        pending += come
    return True


def _template(name: Name) -> Name:
    """The template that a type is an instance of; any other type itself."""
    return Name(name.kind, name.spelling.partition("<")[0])


def _made_of(shape: AnyShape) -> Iterator[Name]:
    """The types that an alias stands for, and the arguments of a template's instance."""
    types = (shape.target,) if isinstance(shape, Alias) else getattr(shape, "arguments", ())
    yield from (used for type in types for used, _ in references(Alias(type)))


def passes_anything(context: Context) -> bool:
    """Whether programs and the old release may exchange objects of which no declaration tells the type."""
    side = context.old
    if side.consumers.take_untyped() or any(context.affected(Name("record", each)) for each in ANYTHING):
        return True
    exports = (
        each for each in side.exports.names.values() if each.kind == "function" and side.consumers.can_name(each)
    )
    return any(not side.snapshot.described(each) and not is_runtime_symbol(each.spelling) for each in exports)


def _users(name: Name, side: SideFacts) -> Iterator[Name]:
    """The declarations that lead to a type, and the type."""
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        yield each
        come = set(side.reach.users(each)) - seen
        seen |= come
        pending += come


def _is_exchanged(user: Name, context: Context) -> bool:
    """Whether objects may come through a declaration that no export leads to."""
    side = context.old
    shapes = side.snapshot.described(user)
    if user.kind == "function":
        return not side.variants("symbol", user) and not _is_written(user, side)
    if any(isinstance(each, Alias) and _is_callback(each, side) for each in shapes):
        return True
    return any(isinstance(each, Record) and _has_stand_in(user, each, context) for each in shapes)


def _is_written(function: Name, side: SideFacts) -> bool:
    """Whether headers have the code of a function, or none declares it for programs to define."""
    texts = [each for each in side.variants("source", function) if isinstance(each, Declared)]
    return not texts or any(not WRITTEN.isdisjoint(each.traits) for each in texts)


def _is_callback(alias: Alias, side: SideFacts) -> bool:
    bare, _ = side.types.bare(alias.target)
    if isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return isinstance(bare, Procedure)


def _has_stand_in(name: Name, record: Record, context: Context) -> bool:
    """Whether who has an object of another type may find one of this class: it is thrown, or has such a base."""
    side = context.old
    if side.tables.is_polymorphic(record) or name.spelling in context.once(classes_with_data):
        return True
    for base in record.bases:
        bare, _ = side.types.bare(base.type)
        if isinstance(bare, Named) and context.affected(bare.name):
            return True
        if (known := side.tables.record(base)) is not None and _has_stand_in(*known, context):
            return True
    return False


def classes_with_data(context: Context) -> frozenset[str]:
    """The classes of which the old release exports type information or tables."""
    symbols = (each.spelling for each in context.old.snapshot.entries.get("symbol", {}))
    return frozenset(class_behind(each) for each in symbols if each.startswith(CLASS_DATA))


def returns_anew(alias: Changed[Alias], context: Context) -> bool:
    """Whether a type of function pointers differs only in that what returned nothing returns a number or pointer."""
    old, new = _procedure(alias.old.target, context), _procedure(alias.new.target, context, new=True)
    if old is None or new is None or old.variadic != new.variadic or len(old.parameters) != len(new.parameters):
        return False
    result, _ = context.new.types.bare(new.result)
    floating = isinstance(result, Primitive) and ("float" in result.spelling or "double" in result.spelling)
    small = isinstance(result, Primitive) and 0 < result.size <= 8 and not floating
    return (
        context.old.types.bare(old.result)[0] == VOID
        and (small or isinstance(result, Pointer))
        and all(context.passed(*pair) <= Sameness.SPELLING for pair in zip(old.parameters, new.parameters, strict=True))
    )


def only_handed_out(name: Name, context: Context) -> bool:
    """Whether all that mentions an alias in the old release are functions that return it, and take none."""
    users = context.old.reach.users(name)
    return bool(users) and all(_only_returns(user, name, context) for user in users)


def _only_returns(user: Name, name: Name, context: Context) -> bool:
    shape = context.old.shape(user)
    if not isinstance(shape, Function) or shape.result != Named(name):
        return False
    return all(each != name for each, _ in references(replace(shape, result=VOID)))


def _procedure(type: TypeRef, context: Context, *, new: bool = False) -> Procedure | None:
    side = context.new.types if new else context.old.types
    bare, _ = side.bare(type)
    if isinstance(bare, Pointer):
        bare, _ = side.bare(bare.target)
    return bare if isinstance(bare, Procedure) else None


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
    """What a parameter's declaration names, behind pointers and qualifiers."""
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
