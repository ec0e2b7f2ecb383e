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
from abistore.compare.rule import Note, rule
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


def _is_renamed(parameter: Changed[Parameter], context: Context) -> bool:
    return only_named_otherwise(parameter.old.type, parameter.new.type, context)


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


@rule(
    Impact.RISK,
    variant="reinterpreted",
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("char8t_migration",),
)
def func_params_changed_reinterpreted(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """A parameter takes the same bits with another meaning, e.g. unsigned for signed.

    The function misreads the values that only the old type has: -1 becomes a large number.

    Fix: keep the type, or accept the old values too.
    """
    if _is(parameter, context, TypeDifference.REINTERPRETED) and _accepts(parameter, context):
        yield Note("the parameter is interpreted differently", *_types(parameter))


@rule(Impact.COMPATIBLE, variant="respelled", evidence="layout", element="functions", action="changed")
def func_params_changed_respelled(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """The type of a parameter is the same under another name.

    Example: ``unsigned int`` became ``uint32_t``.

    Fix: nothing.
    """
    same = _is(parameter, context, TypeDifference.SPELLING)
    told = _is(parameter, context, TypeDifference.REPRESENTATION) and _is_spelled(parameter, context)
    if (same or told) and not _is_renamed(parameter, context):
        yield Note("the parameter's type is spelled differently", *_types(parameter))


@rule(Impact.COMPATIBLE, variant="convertible", evidence="layout", element="functions", action="changed")
def func_params_changed_convertible(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """The type of a parameter changed to one of the same representation, to which all arguments convert.

    Built callers pass the same bits in the same place, and what sources pass converts. Example: ``struct item *``
    became ``void *``.

    Fix: nothing.
    """
    if _is_other_type(parameter, context) and _accepts(parameter, context) and not _is_renamed(parameter, context):
        yield Note("the parameter is of another type of the same bits", *_types(parameter))


@rule(Impact.API_BREAK, variant="inconvertible", evidence="layout", element="functions", action="changed")
def func_params_changed_inconvertible(parameter: Changed[Parameter], context: Context) -> Iterator[Note]:
    """The type of a parameter changed to one of the same bits, to which not all old arguments convert.

    Built callers pass the same bits in the same place. Sources that pass what the old type took do not compile:
    ``void *`` became ``struct item *``, which C++ converts no ``void *`` to; an integer became an enumeration, or a
    callback takes other parameters.

    Fix: keep the type, or add a function with a new name.
    """
    other = _is(parameter, context, TypeDifference.REINTERPRETED) or _is_other_type(parameter, context)
    if other and not _accepts(parameter, context):
        yield Note("old arguments do not convert to the parameter", *_types(parameter))


def _is_other_type(parameter: Changed[Parameter], context: Context) -> bool:
    return _is(parameter, context, TypeDifference.REPRESENTATION) and not _is_spelled(parameter, context)


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
