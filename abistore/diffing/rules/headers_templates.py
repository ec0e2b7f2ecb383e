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

    Built consumers work as before. Sources get warnings, and errors where warnings are errors.

    Fix: tell consumers what to use instead, and when it goes.
    """
    if gained_trait(declared, "deprecated"):
        yield Note("the declaration is deprecated", None, "deprecated")


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

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "deprecated"):
        yield Note("the declaration is not deprecated", "deprecated", None)


# --- results that are not to be ignored -----------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked ``[[nodiscard]]``.

    Built programs work as before. Sources that ignore the result get warnings, and errors where warnings are errors.

    Fix: nothing.
    """
    if gained_trait(declared, "nodiscard"):
        yield Note("the result is not to be ignored", None, "nodiscard")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def nodiscard_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked ``[[nodiscard]]``.

    Built programs and sources work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "nodiscard"):
        yield Note("the result may be ignored", "nodiscard", None)


# --- what compilers refuse ------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="refused", evidence="source", element="functions", action="changed")
def availability_changed_refused(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Compilers refuse whatever uses a declaration.

    Built programs use it as long as the library exports it. Sources that use it stop compiling: it is ``unavailable``,
    an ``error``, a poisoned name, or a macro of its name that no call compiles with.

    Fix: mark it deprecated for a while, and let sources compile.
    """
    if gained_trait(declared, "refused") and tell(context, REFUSALS):
        yield Note("compilers refuse what uses it", None, "refused")


# --- what callers are compiled by -----------------------------------------------------------------------------------


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def func_promise_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function no longer promises what callers were compiled by.

    Compilers leave out of programs what an attribute makes needless: a look for a null pointer behind
    ``returns_nonnull``, a second call of a function that is ``pure`` or ``const``. Programs that are built keep to that
    when the function no longer does.

    Fix: keep the promise under this name.
    """
    gone = broken_promises(declared.old, declared.new)
    if gone:
        yield Note("callers rely on what the function promised", ", ".join(gone), _promised(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_promise_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function promises more than before.

    Built programs work as before: they were compiled for less. Example: ``int size(void)`` is ``pure`` now.

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

    Built programs use it as before, where the library still has it. Sources that are compiled for a system that no
    longer has it get errors, or must ask at run time.

    Fix: keep it available, and mark it deprecated on those systems.
    """
    if declared.old.availability != declared.new.availability and is_narrower(declared.old, declared.new):
        yield Note("the declaration is available on fewer systems", _available(declared.old), _available(declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def availability_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is available on as many systems as before, or more, or compilers no longer refuse what uses it.

    Built programs and sources work as before.

    Fix: nothing.
    """
    if lost_trait(declared, "refused"):
        yield Note("compilers accept what uses it", "refused", None)
    if declared.old.availability != declared.new.availability and not is_narrower(declared.old, declared.new):
        yield Note("the declaration's availability differs", _available(declared.old), _available(declared.new))


def _heads(declared: Changed[Declared]) -> tuple[str, str]:
    return template_head(declared.old), template_head(declared.new)


def _stays(declared: Changed[Declared]) -> bool:
    return all("template" in side.traits for side in (declared.old, declared.new))


@rule(Impact.API_BREAK, variant="template", evidence="source", element="types", action="changed")
def declaration_changed_template(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration became a template, or no longer is one.

    Built programs hold what they were compiled with; where the library exported it, its removal there is a finding of
    its own. Sources that name it without template arguments, or with them, stop compiling.

    Fix: add the template under a new name.
    """
    if gained_trait(declared, "template"):
        yield Note("the declaration is a template", "no template", template_head(declared.new))
    elif lost_trait(declared, "template"):
        yield Note("the declaration is no template", template_head(declared.old), "no template")


@rule(Impact.API_BREAK, variant="template_body", evidence="source", element="functions", action="changed")
def declaration_removed_template_body(declared: Changed[Declared]) -> Iterator[Note]:
    """The body of a function template, or of a function of a class template, left the public headers.

    Built programs hold the instances that they use. Sources that are compiled again find in the library only those that
    it exports: all others are undefined when they are linked.

    Fix: keep the body in the header, or include the file that has it now.
    """
    had = "inline" in declared.old.traits or "defined" in declared.old.traits
    if _stays(declared) and had and gained_trait(declared, "undefined"):
        yield Note("programs can make no instances", "a body in the header", None)


# --- parameters ---------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def mandatory_template_param_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A template got a parameter that has no default argument.

    Built programs hold instances of the old template. Sources that name it with the old arguments stop compiling.

    Fix: add the parameter last, with a default argument, or add a template with a new name.
    """
    old, new = map(template_parameters, (declared.old, declared.new))
    if _stays(declared) and len(new) > len(old) and any(each.default is None for each in new[len(old) :]):
        yield Note("the template must be given more arguments", *_heads(declared))


@rule(Impact.RISK, variant="defaulted", evidence="source", element="types", action="changed")
def mandatory_template_param_added_defaulted(declared: Changed[Declared]) -> Iterator[Note]:
    """A template got a parameter that has a default argument.

    Instances have other mangled names than before. Programs that are compiled again do not link with those that were
    not, wherever one passes them to the other; exports that changed their names have findings of their own. Sources
    that forward-declare the template, or pass it to another one, stop compiling.

    Fix: add a template with a new name, and make the old one an alias of it.
    """
    old, new = map(template_parameters, (declared.old, declared.new))
    if _stays(declared) and len(new) > len(old) and all(each.default is not None for each in new[len(old) :]):
        yield Note("the template has more parameters", *_heads(declared))


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def template_parameter_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """A template lost a parameter, or one is of another kind: a type, a value of a type, a template, a pack.

    Built programs hold instances of the old template. Sources that name it with the old arguments stop compiling, or
    name another instance. Example: ``template <int N>`` became ``template <typename N>``.

    Fix: keep the parameter, even unused, or add a template with a new name.
    """
    if not _stays(declared):
        return
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if any(old.introduced != new.introduced for old, new in pairs):
        yield Note("a template parameter is of another kind", *_heads(declared))
    elif len(declared.new.template) < len(declared.old.template):
        yield Note("the template has fewer parameters", *_heads(declared))


def _differs(old: str | None, new: str | None) -> bool:
    return old is not None and new is not None and not is_same_value(old, new)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def default_template_arg_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The default argument of a template parameter changed.

    Where sources leave the argument out, they name another type than built programs hold: both disagree about the
    layout of objects that pass between them. Exports that use the default have other mangled names, and findings of
    their own.

    Fix: keep the default, and add a template with a new name.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(_differs(old.default, new.default) for old, new in pairs):
        yield Note("the default argument of a template differs", *_heads(declared))


@rule(Impact.API_BREAK, variant="removed", evidence="source", element="types", action="changed")
def default_template_arg_changed_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A template parameter lost its default argument.

    Built programs hold the instances that they were compiled with. Sources that leave the argument out stop compiling.

    Fix: keep the default argument.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(old.default is not None and new.default is None for old, new in pairs):
        yield Note("a template argument must be given", *_heads(declared))


@rule(Impact.COMPATIBLE, variant="added", evidence="source", element="types", action="changed")
def default_template_arg_changed_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A template parameter got a default argument.

    Sources may leave the argument out. Those that give it name the same type as before.

    Fix: nothing.
    """
    pairs = zip(template_parameters(declared.old), template_parameters(declared.new), strict=False)
    if _stays(declared) and any(old.default is None and new.default is not None for old, new in pairs):
        yield Note("a template argument may be left out", *_heads(declared))


# --- constraints --------------------------------------------------------------------------------------------------


def _constraints(declared: Changed[Declared]) -> tuple[str | None, str | None]:
    return declared.old.requires, declared.new.requires


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def concept_tightened(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, asks for more than before.

    Built programs go on working. Sources whose types do not have what is asked for stop compiling, or choose another
    overload.

    Fix: add a concept or a template with a new name.
    """
    if conjuncts(declared.old) < conjuncts(declared.new):
        yield Note("the constraint asks for more", *_constraints(declared))


@rule(Impact.COMPATIBLE, variant="relaxed", evidence="source", element="types", action="changed")
def constraint_changed_relaxed(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, asks for less than before.

    All types that had what it asked for have what it asks for now. A call that two overloads accept may become
    ambiguous.

    Fix: nothing.
    """
    if conjuncts(declared.old) > conjuncts(declared.new):
        yield Note("the constraint asks for less", *_constraints(declared))


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def constraint_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """A concept, or the constraint of a template, asks for something else.

    Built programs go on working. Sources whose types have what it asked for, and not what it asks for now, stop
    compiling.

    Fix: keep what it asked for, and add a concept or a template with a new name.
    """
    old, new = conjuncts(declared.old), conjuncts(declared.new)
    if not (old <= new or old >= new):
        yield Note("the constraint asks for something else", *_constraints(declared))
