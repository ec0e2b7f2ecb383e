"""Single parameters of functions that stay exported with the same number of parameters."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.conversion import accepts
from abistore.compare.classify.parameter_types import TypeDifference, difference
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.classify.signatures.pointee_qualifiers import loses_qualifiers
from abistore.compare.classify.signatures.spelled_types import spells_parameter
from abistore.compare.context import Context
from abistore.compare.diff.parts import Parameter
from abistore.compare.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.compare.rule import Note, rule
from abistore.compare.types.sameness import Sameness
from abistore.model.cpp_names.declarators import spell
from abistore.model.deltas import Changed
from abistore.model.findings import Impact


def _is(parameter: Changed[Parameter], context: Context, expected: TypeDifference) -> bool:
    return difference(parameter.old.type, parameter.new.type, context) is expected


def _is_spelled(parameter: Changed[Parameter], context: Context) -> bool:
    return spells_parameter(parameter.subject.name, parameter.old.type, parameter.new.type, context)


def _accepts(parameter: Changed[Parameter], context: Context) -> bool:
    return accepts(parameter.subject.name, parameter.old.type, parameter.new.type, context)


def _types(parameter: Changed[Parameter]) -> tuple[str, str]:
    return spell(parameter.old.type), spell(parameter.new.type)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_pointer_level_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter takes a pointer to the old type, or what the old pointer pointed to.

    The function dereferences what is no address, or takes an address for the value. Example: ``int`` became ``int *``.

    Fix: keep the function and add one with a new name for the new parameter.
    """
    if _is(parameter, context, TypeDifference.POINTER_LEVEL):
        yield Note("the parameter has another level of indirection", *_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def template_param_type_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter is the same template with other arguments.

    It is of another type under the same symbol: the function uses what callers pass with another layout.

    Fix: keep the function and add one with a new name for the new parameter.
    """
    if _is(parameter, context, TypeDifference.TEMPLATE_ARGUMENT) and not _is_spelled(parameter, context):
        yield Note("the parameter's template arguments differ", *_types(parameter))


def _retyped(parameter: Changed[Parameter], context: Context) -> Retyped | None:
    found = difference(parameter.old.type, parameter.new.type, context)
    if found is TypeDifference.REPRESENTATION and _is_spelled(parameter, context):
        found = TypeDifference.SPELLING
    sameness = SAMENESS.get(found)
    retyped = None if sameness is None else graded(sameness, lambda: _accepts(parameter, context))
    if retyped in (Retyped.RESPELLED, Retyped.CONVERTIBLE):
        return None if only_named_otherwise(parameter.old.type, parameter.new.type, context) else retyped
    return retyped


SAMENESS = {
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
                "Example: ``void *`` became ``struct item *``, which C++ converts no ``void *`` to; an integer became"
                " an enumeration, or a callback takes other parameters."
            ),
        },
        aliases={Retyped.REINTERPRETED: ("char8t_migration",)},
    ),
    _retyped,
    _types,
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

    The function may now write to memory that built callers hold constant. Sources that pass a pointer to ``const`` do
    not compile in C++, and in C with a warning at best.

    Fix: keep ``const`` where the function does not write.
    """
    if _is_qualified(parameter, context) and loses_qualifiers(parameter.old.type, parameter.new.type, context):
        yield Note("what the parameter points to is less qualified", *_types(parameter))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def param_pointee_qualifier_added(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter points to a type that is ``const`` or ``volatile`` now.

    The function promises more than before. Built callers, and nearly all sources, work as before.

    Fix: nothing.
    """
    if _is(parameter, context, TypeDifference.POINTEE_QUALIFIERS) and _accepts(parameter, context):
        yield Note("what the parameter points to is qualified", *_types(parameter))


@rule(Impact.API_BREAK, variant="inner", evidence="layout", element="functions", action="changed")
def param_pointee_qualifier_added_inner(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter points to a pointer, and what that points to is ``const`` now: ``const char **`` for ``char **``.

    Built callers work as before. Sources do not compile: neither C nor C++ converts ``char **`` to ``const char **``,
    since the function could store the address of a constant in a pointer that may write (C17 6.5.16.1).

    Fix: keep the type, or add a function with a new name.
    """
    if _is_qualified(parameter, context) and not loses_qualifiers(parameter.old.type, parameter.new.type, context):
        yield Note("what the parameter points to points to const", *_types(parameter))


def _is_qualified(parameter: Changed[Parameter], context: Context) -> bool:
    """Whether qualifiers differ so that not all old arguments convert."""
    return _is(parameter, context, TypeDifference.POINTEE_QUALIFIERS) and not _accepts(parameter, context)


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed", aliases=("param_restrict_added",))
def param_restrict_changed(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter gained or lost ``restrict``.

    The call is the same. Where ``restrict`` was gained, callers must not pass overlapping memory from now on.

    Fix: nothing.
    """
    if _is(parameter, context, TypeDifference.RESTRICT):
        yield Note("the parameter's restrict qualifier differs", *_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_became_va_list(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter became a ``va_list``.

    Callers pass a value where the function reads the state of an argument list through a pointer.

    Fix: add a function with a new name, as ``vprintf`` beside ``printf``.
    """
    if _is(parameter, context, TypeDifference.VA_LIST_GAINED):
        yield Note("the parameter is an argument list", *_types(parameter))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def param_lost_va_list(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter is no longer a ``va_list``.

    Callers pass the state of an argument list where the function reads something else.

    Fix: add a function with a new name.
    """
    if _is(parameter, context, TypeDifference.VA_LIST_LOST):
        yield Note("the parameter is no argument list any more", *_types(parameter))
