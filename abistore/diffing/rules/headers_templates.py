"""Templates of headers, and attributes of their declarations."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.headers import tell
from abistore.diffing.kinds.abilities import (
    broken_promises,
    conjuncts,
    gained_trait,
    is_narrower,
    lost_trait,
    template_parameters,
)
from abistore.diffing.types.closed_classes import is_same_value
from abistore.model.declarations import Changed, Declared
from abistore.model.findings import Impact
from abistore.model.names.spelling import template_head
from abistore.model.snapshot import REFUSALS


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "enum_deprecated_added",
        "field_deprecated_added",
        "func_deprecated_added",
        "type_deprecated_added",
        "var_deprecated_added",
    ),
)
def deprecation_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked deprecated.

    Existing binaries work as before. Sources get warnings, and errors where warnings are errors.

    Fix: document the replacement, and the release that will remove the declaration.
    """
    if gained_trait(declared, "deprecated"):
        yield Note("the declaration became deprecated", None, "deprecated")


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "enum_deprecated_removed",
        "field_deprecated_removed",
        "func_deprecated_removed",
        "type_deprecated_removed",
        "var_deprecated_removed",
    ),
)
def deprecation_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked deprecated.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "deprecated"):
        yield Note("the declaration is no longer deprecated", "deprecated", None)


# --- results that are not to be ignored -----------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked ``[[nodiscard]]``.

    Existing binaries work as before. Sources that ignore the result get warnings, and errors where warnings are errors.

    Fix: nothing.
    """
    if gained_trait(declared, "nodiscard"):
        yield Note("the result became nodiscard", None, "nodiscard")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked ``[[nodiscard]]``.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "nodiscard"):
        yield Note("the result is no longer nodiscard", "nodiscard", None)


# --- what compilers refuse ------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="refused", evidence="source", element="functions", action="changed")
def availability_changed_refused(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Compilers reject every use of a declaration.

    Existing binaries use it as long as the library exports it. Sources that use it stop compiling. It is
    ``unavailable``, an ``error``, poisoned, or hidden by a macro of its name that no call compiles with.

    Fix: mark it deprecated first, and let sources compile.
    """
    if gained_trait(declared, "refused") and tell(context, REFUSALS):
        yield Note("compilers reject uses of it", None, "refused")


# --- what callers are compiled by -----------------------------------------------------------------------------------


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def func_promise_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function lost an attribute that compilers optimise callers by.

    Compilers omit code that an attribute makes needless. Examples are a null check after ``returns_nonnull``, or a
    second call of a ``pure`` or ``const`` function. Existing binaries rely on the promise after the function dropped
    it.

    Fix: keep the promise under this name.
    """
    gone = broken_promises(declared.old, declared.new)
    if gone:
        yield Note("callers rely on the removed promise", ", ".join(gone), _promised(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_promise_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function promises more than before.

    Existing binaries work as before: they were compiled for the weaker promise. Example: ``int size(void)`` became
    ``pure``.

    Fix: nothing.
    """
    come = broken_promises(declared.new, declared.old)
    if come:
        yield Note("the function promises more", _promised(declared.old), ", ".join(come))


def _promised(declared: Declared) -> str | None:
    return ", ".join(declared.promises) or None


# --- availability ---------------------------------------------------------------------------------------------------


def _available(declared: Declared) -> str | None:
    return ", ".join(declared.availability) or None


@rule(Impact.API_BREAK, variant="narrowed", evidence="source", element="functions", action="changed")
def availability_changed_narrowed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is available on fewer systems than before.

    Existing binaries use it wherever the library still has it. Sources compiled for a system without it get errors, or
    must check at run time.

    Fix: keep it available, and mark it deprecated on those systems.
    """
    if declared.old.availability != declared.new.availability and is_narrower(declared.old, declared.new):
        yield Note("the declaration is available on fewer systems", _available(declared.old), _available(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def availability_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The availability attribute of a declaration changed without excluding a system.

    It is available on at least as many systems as before. Existing binaries work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "refused"):
        yield Note("compilers accept uses of it", "refused", None)
    if declared.old.availability != declared.new.availability and not is_narrower(declared.old, declared.new):
        yield Note("the declaration's availability changed", _available(declared.old), _available(declared.new))


def _heads(declared: Changed[Declared]) -> tuple[str, str]:
    return template_head(declared.old), template_head(declared.new)


def _stays(declared: Changed[Declared]) -> bool:
    return all("template" in side.traits for side in (declared.old, declared.new))


@rule(Impact.API_BREAK, variant="template", evidence="source", element="types", action="changed")
def declaration_changed_template(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration became a template, or is no longer one.

    Existing binaries keep what they were compiled with; a removed export is reported separately. Sources that name it
    without template arguments, or with them, stop compiling.

    Fix: add the template under a new name.
    """
    if gained_trait(declared, "template"):
        yield Note("the declaration became a template", "no template", template_head(declared.new))
    elif lost_trait(declared, "template"):
        yield Note("the declaration is no longer a template", template_head(declared.old), "no template")


@rule(Impact.API_BREAK, variant="template_body", evidence="source", element="functions", action="changed")
def declaration_removed_template_body(declared: Changed[Declared]) -> Iterator[Note]:
    """The body of a function template, or of a class template's member function, was removed from the public headers.

    Existing binaries contain the instances that they use. Recompiled sources find only the instances that the library
    exports; all others are undefined at link time.

    Fix: keep the body in the header, or include the file that has it now.
    """
    had = "inline" in declared.old.traits or "defined" in declared.old.traits
    if _stays(declared) and had and gained_trait(declared, "undefined"):
        yield Note("programs can no longer instantiate it", "a body in the header", None)


# --- parameters ---------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def mandatory_template_param_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A template got a parameter that has no default argument.

    Existing binaries contain instances of the old template. Sources that name it with the old arguments stop compiling.

    Fix: add the parameter last, with a default argument, or add a template with a new name.
    """
    old, new = map(template_parameters, (declared.old, declared.new))
    if _stays(declared) and len(new) > len(old) and any(each.default is None for each in new[len(old) :]):
        yield Note("the template requires more arguments", *_heads(declared))


@rule(Impact.RISK, variant="defaulted", evidence="source", element="types", action="changed")
def mandatory_template_param_added_defaulted(declared: Changed[Declared]) -> Iterator[Note]:
    """A template got a parameter with a default argument.

    Instances have other mangled names than before. Recompiled code does not link with old code where one passes them to
    the other; renamed exports are reported separately. Sources that forward-declare the template, or pass it to another
    one, stop compiling.

    Fix: add a template with a new name, and make the old one an alias of it.
    """
    old, new = map(template_parameters, (declared.old, declared.new))
    if _stays(declared) and len(new) > len(old) and all(each.default is not None for each in new[len(old) :]):
        yield Note("the template has more parameters", *_heads(declared))


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def template_parameter_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The kind of a template parameter changed: a type, a value, a template or a pack.

    Existing binaries contain instances of the old template. Sources that name it with the old arguments stop compiling,
    or name another instance. Example: ``template <int N>`` became ``template <typename N>``.

    Fix: keep the parameter, even unused, or add a template with a new name.
    """
    if not _stays(declared):
        return
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if any(old.introduced != new.introduced for old, new in pairs):
        yield Note("the kind of a template parameter changed", *_heads(declared))
    elif len(declared.new.template) < len(declared.old.template):
        yield Note("the template has fewer parameters", *_heads(declared))


def _differs(old: str | None, new: str | None) -> bool:
    return old is not None and new is not None and not is_same_value(old, new)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def default_template_arg_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The default argument of a template parameter changed.

    Sources that omit the argument name another type than existing binaries use. Both disagree about the layout of
    objects that pass between them. Exports that use the default have other mangled names, which are reported
    separately.

    Fix: keep the default, and add a template with a new name.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(_differs(old.default, new.default) for old, new in pairs):
        yield Note("the default argument of a template changed", *_heads(declared))


@rule(Impact.API_BREAK, variant="removed", evidence="source", element="types", action="changed")
def default_template_arg_changed_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A template parameter lost its default argument.

    Existing binaries contain the instances that they were compiled with. Sources that omit the argument stop compiling.

    Fix: keep the default argument.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(old.default is not None and new.default is None for old, new in pairs):
        yield Note("a template argument is now required", *_heads(declared))


@rule(Impact.COMPATIBLE, variant="added", evidence="source", element="types", action="changed")
def default_template_arg_changed_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A template parameter got a default argument.

    Sources may omit the argument. Sources that pass it name the same type as before.

    Fix: nothing.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(old.default is None and new.default is not None for old, new in pairs):
        yield Note("a template argument may be omitted", *_heads(declared))


# --- constraints --------------------------------------------------------------------------------------------------


def _constraints(declared: Changed[Declared]) -> tuple[str | None, str | None]:
    old, new = declared.old.requires, declared.new.requires
    if old == new:  # the same text is about another parameter
        return f"{template_head(declared.old)} requires {old}", f"{template_head(declared.new)} requires {new}"
    return old, new


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def concept_tightened(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, requires more than before.

    Existing binaries keep working. Sources whose types do not satisfy it stop compiling, or choose another overload.

    Fix: add a concept or a template with a new name.
    """
    if conjuncts(declared.old) < conjuncts(declared.new):
        yield Note("the constraint requires more", *_constraints(declared))


@rule(Impact.COMPATIBLE, variant="relaxed", evidence="source", element="types", action="changed")
def constraint_changed_relaxed(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, requires less than before.

    All types that satisfied it still do. A call that two overloads accept may become ambiguous.

    Fix: nothing.
    """
    if conjuncts(declared.old) > conjuncts(declared.new):
        yield Note("the constraint requires less", *_constraints(declared))


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def constraint_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, requires something else.

    Existing binaries keep working. Sources whose types satisfied the old requirement, but not the new one, stop
    compiling.

    Fix: keep the requirement, and add a concept or a template with a new name.
    """
    old, new = conjuncts(declared.old), conjuncts(declared.new)
    if not (old <= new or old >= new):
        yield Note("the constraint requires something else", *_constraints(declared))
