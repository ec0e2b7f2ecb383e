"""Parameters and results of functions."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule, spell
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.kinds.parameter_types import (
    TypeDifference,
    accepts,
    difference,
    gains_qualifiers,
    loses_qualifiers,
    points_to_derived,
    serves,
    spells_parameter,
    spells_result,
)
from abistore.diffing.parts import Parameter, Result
from abistore.diffing.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.diffing.types.sameness import Sameness
from abistore.model.declarations import Changed
from abistore.model.findings import Impact


def _is(parameter: Changed[Parameter], context: Context, expected: TypeDifference) -> bool:
    return difference(parameter.old.type, parameter.new.type, context) is expected


def _is_spelled_parameter(parameter: Changed[Parameter], context: Context) -> bool:
    return spells_parameter(parameter.subject.name, parameter.old.type, parameter.new.type, context)


def _accepts(parameter: Changed[Parameter], context: Context) -> bool:
    return accepts(parameter.subject.name, parameter.old.type, parameter.new.type, context)


def _parameter_types(parameter: Changed[Parameter]) -> tuple[str, str]:
    return spell(parameter.old.type), spell(parameter.new.type)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_pointer_level_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter gained or lost a level of indirection.

    The function dereferences a value, or uses an address as the value. Example: ``int`` became ``int *``.

    Fix: keep the function and add one with a new name for the new parameter.
    """
    if _is(parameter, context, TypeDifference.POINTER_LEVEL):
        yield Note("the level of indirection changed", *_parameter_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def template_param_type_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter is the same template with other arguments.

    Its type changed under the same symbol: the function uses the argument with another layout.

    Fix: keep the function and add one with a new name for the new parameter.
    """
    if _is(parameter, context, TypeDifference.TEMPLATE_ARGUMENT) and not _is_spelled_parameter(parameter, context):
        yield Note("the template arguments changed", *_parameter_types(parameter))


def _retyped_parameters(parameter: Changed[Parameter], context: Context) -> Retyped | None:
    found = difference(parameter.old.type, parameter.new.type, context)
    if found is TypeDifference.REPRESENTATION and _is_spelled_parameter(parameter, context):
        found = TypeDifference.SPELLING
    sameness = PARAMETERS_SAMENESS.get(found)
    retyped = None if sameness is None else graded(sameness, lambda: _accepts(parameter, context))
    if retyped in (Retyped.RESPELLED, Retyped.CONVERTIBLE):
        return None if only_named_otherwise(parameter.old.type, parameter.new.type, context) else retyped
    return retyped


PARAMETERS_SAMENESS = {
    TypeDifference.SPELLING: Sameness.SPELLING,
    TypeDifference.REPRESENTATION: Sameness.REPRESENTATION,
    TypeDifference.REINTERPRETED: Sameness.REINTERPRETED,
}

variants_of(
    TypedSubject(
        "func_params_changed",
        "parameter",
        "The type of a parameter",
        "functions",
        "Changed[Parameter]",
        __name__,
        more={
            Retyped.CONVERTIBLE: "Example: ``struct item *`` became ``void *``.",
            Retyped.INCONVERTIBLE: (
                "Example: ``void *`` became ``struct item *``, to which C++ converts no ``void *``; an integer became"
                " an enumeration, or a callback takes other parameters."
            ),
        },
        aliases={Retyped.REINTERPRETED: ("char8t_migration",)},
    ),
    _retyped_parameters,
    _parameter_types,
)


@rule(
    Impact.API_BREAK,
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("param_pointee_qualifier_changed",),
)
def param_pointee_qualifier_removed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter points to a less qualified type, e.g. ``char *`` for ``const char *``.

    The function may now write to memory that existing callers keep constant. Sources that pass a pointer to ``const``
    do not compile in C++, and get a warning in C.

    Fix: keep ``const`` if the function does not write.
    """
    if _is_qualified_parameter(parameter, context) and loses_qualifiers(
        parameter.old.type, parameter.new.type, context
    ):
        yield Note("the parameter's target is less qualified", *_parameter_types(parameter))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def param_pointee_qualifier_added(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter points to a type that is ``const`` or ``volatile`` now.

    The function promises more than before. Existing callers, and nearly all sources, work as before.

    Fix: nothing.
    """
    if _is(parameter, context, TypeDifference.POINTEE_QUALIFIERS) and _accepts(parameter, context):
        yield Note("the parameter's target is qualified", *_parameter_types(parameter))


@rule(Impact.API_BREAK, variant="inner", evidence="layout", element="functions", action="changed")
def param_pointee_qualifier_added_inner(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter points to a pointer to a type that became ``const``: ``const char **`` for ``char **``.

    Existing callers work as before. Sources do not compile: neither C nor C++ converts ``char **`` to ``const char
    **``. The function could store the address of a constant in a pointer that may write (C17 6.5.16.1).

    Fix: keep the type, or add a function with a new name.
    """
    if _is_qualified_parameter(parameter, context) and not loses_qualifiers(
        parameter.old.type, parameter.new.type, context
    ):
        yield Note("the parameter's inner target became const", *_parameter_types(parameter))


def _is_qualified_parameter(parameter: Changed[Parameter], context: Context) -> bool:
    return _is(parameter, context, TypeDifference.POINTEE_QUALIFIERS) and not _accepts(parameter, context)


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed", aliases=("param_restrict_added",))
def param_restrict_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter gained or lost ``restrict``.

    The call is the same. With an added ``restrict``, callers must no longer pass overlapping memory.

    Fix: nothing.
    """
    if _is(parameter, context, TypeDifference.RESTRICT):
        yield Note("the restrict qualifier changed", *_parameter_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_became_va_list(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter became a ``va_list``.

    Callers pass a value where the function reads the state of an argument list through a pointer.

    Fix: add a function with a new name, as ``vprintf`` beside ``printf``.
    """
    if _is(parameter, context, TypeDifference.VA_LIST_GAINED):
        yield Note("the parameter became a va_list", *_parameter_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_lost_va_list(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter is no longer a ``va_list``.

    Callers pass the state of an argument list where the function reads something else.

    Fix: add a function with a new name.
    """
    if _is(parameter, context, TypeDifference.VA_LIST_LOST):
        yield Note("the parameter is no longer a va_list", *_parameter_types(parameter))


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

    Callers read the result from the wrong register, with the wrong width, or provide no memory for a result that is
    returned there.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.OTHER and not (
        _is_derived(result, context) or _is_spelled(result, context)
    ):
        yield Note("the return type changed", *_types(result))


@rule(Impact.RISK, variant="derived", evidence="layout", element="functions", action="changed")
def func_return_changed_derived(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer or reference to a derived class.

    Objects of the new class begin with an object of the old one, which existing callers use. If the function is
    virtual, overrides in programs still return the base, which the library uses as the derived class.

    Fix: nothing, unless programs override the function.
    """
    if _result(result, context) is TypeDifference.OTHER and _is_derived(result, context):
        yield Note("the result is a derived class", *_types(result))


def _is_derived(result: Changed[Result], context: Context) -> bool:
    return points_to_derived(result.old.type, result.new.type, context)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def return_pointer_level_changed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """The result of a function gained or lost a level of indirection.

    Callers dereference a value, or use an address as the value. Example: ``int`` became ``int *``.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.POINTER_LEVEL:
        yield Note("the level of indirection of the result changed", *_types(result))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def template_return_type_changed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns the same template with other arguments.

    The type changed under the same mangled name: callers use the result with the old layout.

    Fix: keep the function and add one with a new name for the new result.
    """
    if _result(result, context) is TypeDifference.TEMPLATE_ARGUMENT and not _is_spelled(result, context):
        yield Note("the template arguments of the result changed", *_types(result))


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

    The pointer is the same, in C++ under the same symbol. Existing callers read through it as before, and keep writing
    where the library may no longer expect it. ``char *name = get_name();`` does not compile in C++, and gives a warning
    in C.

    Fix: keep the old type, or add a function with a new name.
    """
    if _is_qualified(result, context) and gains_qualifiers(result.old.type, result.new.type, context):
        yield Note("the qualifiers of the result's target changed", *_types(result))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def func_return_pointee_qualifier_removed(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function returns a pointer to a type that is no longer ``const`` or ``volatile``.

    The pointer is the same, and converts to the type that callers store it in.

    Fix: nothing.
    """
    if _result(result, context) is TypeDifference.POINTEE_QUALIFIERS and _serves(result, context):
        yield Note("the result's target is less qualified", *_types(result))


@rule(Impact.API_BREAK, variant="inner", evidence="layout", element="functions", action="changed")
def func_return_pointee_qualifier_removed_inner(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function's result lost an inner ``const``: ``char **`` for ``const char **``.

    Existing callers work as before. Sources that store the result with the old type do not compile: neither C nor C++
    converts ``char **`` to ``const char **`` (C17 6.5.16.1).

    Fix: keep the old type, or add a function with a new name.
    """
    if _is_qualified(result, context) and not gains_qualifiers(result.old.type, result.new.type, context):
        yield Note("the result's inner target is less qualified", *_types(result))


def _is_qualified(result: Changed[Result], context: Context) -> bool:
    """Whether qualifiers differ so that the result does not convert to what sources keep it as."""
    return _result(result, context) is TypeDifference.POINTEE_QUALIFIERS and not _serves(result, context)


@rule(Impact.COMPATIBLE, variant="value_added", evidence="layout", element="functions", action="changed")
def func_return_changed_value_added(result: Changed[Result], context: Context) -> Iterator[Note]:
    """A function that returned ``void`` returns a value now.

    Existing callers ignore the register that holds it.

    Fix: nothing.
    """
    if _result(result, context) is TypeDifference.VOID_TO_VALUE:
        yield Note("the function returns a value now", *_types(result))
