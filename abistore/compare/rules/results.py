"""What functions return that stay exported."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.conversion import serves
from abistore.compare.classify.parameter_types import TypeDifference, difference
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.classify.signatures.derived_results import points_to_derived
from abistore.compare.classify.signatures.enumerated_results import holds_enumerators
from abistore.compare.classify.signatures.pointee_qualifiers import gains_qualifiers
from abistore.compare.classify.signatures.spelled_types import spells_result
from abistore.compare.context import Context
from abistore.compare.diff.parts import Result
from abistore.compare.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.compare.rule import Note, rule
from abistore.compare.types.sameness import Sameness
from abistore.model.cpp_names.declarators import spell
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Function


def _result(result: Changed[Result], context: Context) -> TypeDifference:
    return difference(result.old.type, result.new.type, context)


def _is_spelled(result: Changed[Result], context: Context) -> bool:
    return spells_result(result.subject.name, result.old.type, result.new.type, context)


def _serves(result: Changed[Result], context: Context) -> bool:
    return serves(result.subject.name, result.old.type, result.new.type, context)


def _types(result: Changed[Result]) -> tuple[str, str]:
    return spell(result.old.type), spell(result.new.type)


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("struct_return_convention_changed",),
)
def func_return_changed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """The return type of a function changed.

    Callers read the result from the wrong register, with the wrong width, or pass no room for a result that is returned
    in memory.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.OTHER and not (
        _is_derived(result, context) or _is_enumerated(result, context) or _is_spelled(result, context)
    ):
        yield Note("the function returns another type", *_types(result))


@rule(Impact.RISK, variant="derived", evidence="layout", element="functions", action="changed")
def func_return_changed_derived(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer or reference to a derived class.

    Objects of the new class begin with one of the old: built callers use that. Where the function is virtual, what
    programs override it with still returns the base, which the library takes for the derived class.

    Fix: nothing, unless programs override the function.
    """
    if _result(result, context) is TypeDifference.OTHER and _is_derived(result, context):
        yield Note("the result is of a derived class", *_types(result))


def _is_derived(result: Changed[Result], context: Context) -> bool:
    return points_to_derived(result.old.type, result.new.type, context)


@rule(Impact.RISK, variant="enumeration", evidence="layout", element="functions", action="changed")
def func_return_changed_enumeration(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a wider enumeration for an integer, which holds all its enumerators.

    The result comes in the same register, of which built callers read the low part: they get the same number. They
    would cut off one that the integer cannot hold. Example: ``uint8_t`` became ``enum state { EMPTY, FULL }``.

    Fix: nothing, as long as the integer holds every value that the function returns.
    """
    if _result(result, context) is TypeDifference.OTHER and _is_enumerated(result, context):
        yield Note("the result is a wider enumeration", *_types(result))


def _is_enumerated(result: Changed[Result], context: Context) -> bool:
    functions = () if result.within is None else (result.within.old, result.within.new)
    if any(isinstance(each, Function) and each.is_virtual for each in functions):  # the library gets what others return
        return False
    return holds_enumerators(result.old.type, result.new.type, context)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def return_pointer_level_changed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer to the old type, or what the old pointer pointed to.

    Callers dereference what is no address, or take an address for the value. Example: ``int`` became ``int *``.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.POINTER_LEVEL:
        yield Note("the result has another level of indirection", *_types(result))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def template_return_type_changed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns the same template with other arguments.

    The result is of another type under the same mangled name: callers use it with the old layout.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.TEMPLATE_ARGUMENT and not _is_spelled(result, context):
        yield Note("the result's template arguments differ", *_types(result))


def _retyped(result: Changed[Result], context: Context) -> Retyped | None:
    found = _result(result, context)
    if found is TypeDifference.REPRESENTATION and _is_spelled(result, context):
        found = TypeDifference.SPELLING
    sameness = SAMENESS.get(found)
    retyped = None if sameness is None else graded(sameness, lambda: _serves(result, context))
    if retyped in (Retyped.RESPELLED, Retyped.CONVERTIBLE):
        return None if only_named_otherwise(result.old.type, result.new.type, context) else retyped
    return retyped


SAMENESS = {
    TypeDifference.SPELLING: Sameness.SPELLING,
    TypeDifference.RESTRICT: Sameness.SPELLING,
    TypeDifference.VA_LIST_GAINED: Sameness.SPELLING,
    TypeDifference.VA_LIST_LOST: Sameness.SPELLING,
    TypeDifference.REPRESENTATION: Sameness.REPRESENTATION,
    TypeDifference.REINTERPRETED: Sameness.REINTERPRETED,
}

variants_of(
    TypedSubject(
        "func_return_changed",
        "result",
        "The return type of a function",
        "functions",
        "Changed[Result]",
        __name__,
        more={
            Retyped.CONVERTIBLE: "Example: ``void *`` became ``struct item *``.",
            Retyped.REINTERPRETED: "A negative error code is such a value.",
            Retyped.INCONVERTIBLE: "Example: ``struct item *`` became ``void *``, and ``first()->size`` is an error.",
        },
        aliases={Retyped.RESPELLED: ("unspecified_return_now_named",)},
    ),
    _retyped,
    _types,
)


@rule(
    Impact.API_BREAK,
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("func_return_pointee_qualifier_changed",),
)
def func_return_pointee_qualifier_added(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer to a type that is ``const`` or ``volatile`` now.

    The pointer is the same, in C++ under the same symbol: built callers read through it as before, and go on writing
    where the library may no longer expect it. Sources that keep it as what it was, ``char *name = get_name();``, do
    not compile in C++, and in C with a warning at best.

    Fix: keep the old type, or add a function with a new name.
    """
    if _is_qualified(result, context) and gains_qualifiers(result.old.type, result.new.type, context):
        yield Note("what the result points to is qualified differently", *_types(result))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def func_return_pointee_qualifier_removed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer to a type that is no longer ``const`` or ``volatile``.

    The pointer is the same, and converts to the one that callers keep it as.

    Fix: nothing.
    """
    if _result(result, context) is TypeDifference.POINTEE_QUALIFIERS and _serves(result, context):
        yield Note("what the result points to is less qualified", *_types(result))


@rule(Impact.API_BREAK, variant="inner", evidence="layout", element="functions", action="changed")
def func_return_pointee_qualifier_removed_inner(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer to pointers, to what is no longer ``const``: ``char **`` for ``const char **``.

    Built callers work as before. Sources that keep the result as what it was do not compile: neither C nor C++ converts
    ``char **`` to ``const char **`` (C17 6.5.16.1).

    Fix: keep the old type, or add a function with a new name.
    """
    if _is_qualified(result, context) and not gains_qualifiers(result.old.type, result.new.type, context):
        yield Note("what the result points to points to a less qualified type", *_types(result))


def _is_qualified(result: Changed[Result], context: Context) -> bool:
    """Whether qualifiers differ so that the result does not convert to what sources keep it as."""
    return _result(result, context) is TypeDifference.POINTEE_QUALIFIERS and not _serves(result, context)


@rule(Impact.COMPATIBLE, variant="value_added", evidence="layout", element="functions", action="changed")
def func_return_changed_value_added(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function that returned nothing returns a value now.

    Built callers ignore the register that holds it.

    Fix: nothing.
    """
    if _result(result, context) is TypeDifference.VOID_TO_VALUE:
        yield Note("the function returns a value now", *_types(result))
