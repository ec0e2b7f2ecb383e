"""Variables that stay exported."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.conversion import is_exchangeable, serves
from abistore.compare.classify.field_types import unqualified
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.context import Context
from abistore.compare.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.compare.types.sameness import Sameness
from abistore.model.cpp_names.declarators import spell
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import WIDTH, Variable
from abistore.model.tables import Symbol
from abistore.model.words.elf_symbols import is_read_only


def _types(variable: Changed[Variable]) -> tuple[str, str]:
    return spell(variable.old.type), spell(variable.new.type)


def _sameness(variable: Changed[Variable], context: Context) -> Sameness:
    """How the types compare, apart from whether the variable itself is constant."""
    old, own_old = unqualified(variable.old.type, context.old.types)
    new, own_new = unqualified(variable.new.type, context.new.types)
    found = context.stored(old, new)
    return max(found, Sameness.REINTERPRETED) if "atomic" in own_old ^ own_new else found


def _constants(variable: Changed[Variable], context: Context) -> tuple[bool, bool]:
    """Whether the variable is ``const`` on each side. An array is ``const`` where its elements are."""
    old = unqualified(variable.old.type, context.old.types)[1]
    return "const" in old, "const" in unqualified(variable.new.type, context.new.types)[1]


@rule(Impact.BREAKING, evidence="layout", element="variables", action="changed")
def var_type_changed(variable: Changed[Variable], context: Context) -> Iterator[Note]:
    """The type of an exported variable changed.

    Consumers read and write it with the old type's size and layout.

    Fix: keep the variable, and export the new data under a new name or through a function.
    """
    if _sameness(variable, context) is Sameness.DIFFERENT:
        yield Note("the variable is of another type", *_types(variable))


def _is_usable(variable: Changed[Variable], context: Context) -> bool:
    """Whether sources write and read the variable as they did; a constant is only read."""
    old, own = unqualified(variable.old.type, context.old.types)
    new, _ = unqualified(variable.new.type, context.new.types)
    renamed = only_named_otherwise(variable.old.type, variable.new.type, context)
    if variable.old.access == "private" or renamed:
        return True
    return (serves if "const" in own else is_exchangeable)(variable.subject.name, old, new, context)


def _retyped(variable: Changed[Variable], context: Context) -> Retyped | None:
    found = graded(_sameness(variable, context), lambda: _is_usable(variable, context))
    if found is Retyped.RESPELLED and len(set(_constants(variable, context))) == 2:
        return None
    if found in (Retyped.RESPELLED, Retyped.CONVERTIBLE):
        renamed = only_named_otherwise(variable.old.type, variable.new.type, context)
        return None if renamed else found
    return found


variants_of(
    TypedSubject(
        "var_type_changed",
        "variable",
        "The type of an exported variable",
        "variables",
        "Changed[Variable]",
        __name__,
        more={
            Retyped.CONVERTIBLE: "Example: ``long`` became ``long long`` of the same size.",
            Retyped.INCONVERTIBLE: "Example: ``struct item *first`` became ``void *first``.",
        },
    ),
    _retyped,
    _types,
)


@rule(Impact.BREAKING, evidence="layout", element="variables", action="changed")
def var_became_const(variable: Changed[Variable], context: Context) -> Iterator[Note]:
    """An exported variable became ``const``.

    It moves to read-only memory: programs that write to it are killed.

    Fix: keep it writable, and export a constant under a new name.
    """
    if _constants(variable, context) == (False, True):
        yield Note("the variable is constant", *_types(variable))


@rule(Impact.BREAKING, evidence="layout", element="variables", action="changed")
def var_lost_const(variable: Changed[Variable], context: Context) -> Iterator[Note]:
    """An exported variable is no longer ``const``.

    Compilers read a constant once, and put a program's copy of it (copy relocation) into read-only memory. Programs
    keep old values, and the process is killed when the library writes to the copy.

    Fix: keep it constant, and export the changing value through a function.
    """
    if _constants(variable, context) == (True, False):
        yield Note("the variable is not constant any more", *_types(variable))


def _read_only(symbol: Changed[Symbol], context: Context) -> tuple[bool | None, bool | None]:
    """Whether the object is read-only on each side, where its types leave that open.

    What is ``const`` on one side has a finding of its own, and programs never write to what is ``const`` on both.
    """
    if any(_is_constant(side, symbol.subject.name) for side in (context.old, context.new)):
        return None, None
    return is_read_only(symbol.old), is_read_only(symbol.new)


def _is_constant(side: SideFacts, name: Name) -> bool:
    shape = side.shape(name)
    return isinstance(shape, Variable) and "const" in unqualified(shape.type, side.types)[1]


@rule(Impact.RISK, variant="storage", evidence="symbol", element="variables", action="changed", effect="other")
def var_became_const_storage(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """An exported variable moved to read-only memory.

    Programs that write to it are killed. Those that only read it work as before. Without debug information and headers
    nobody can tell whether programs may write: a constant that was computed at start lies in writable memory too.

    Fix: keep it writable, and export a constant under a new name.
    """
    if _read_only(symbol, context) == (False, True):
        yield Note("the variable lies in other memory", "writable", "read-only")


@rule(Impact.RISK, variant="storage", evidence="symbol", element="variables", action="changed", effect="other")
def var_lost_const_storage(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """An exported variable moved from read-only to writable memory.

    On ELF systems a program that is not position-independent may hold its own copy of it (copy relocation), in
    read-only memory as the variable was: the process is killed when the library writes to that. Everywhere, what
    compilers took for a constant stays as it was.

    Fix: keep it constant, and export the changing value through a function.
    """
    if _read_only(symbol, context) == (True, False):
        yield Note("the variable lies in other memory", "read-only", "writable")


@rule(Impact.COMPATIBLE, variant="static_variable", evidence="layout", element="variables", action="changed")
def declaration_changed_static_variable(variable: Changed[Variable]) -> Iterator[Note]:
    """A static data member became a namespace variable of the same name, or the reverse.

    The symbol and its use are the same. Sources that derive from the class, or name it as a type, stop compiling.

    Fix: nothing for built consumers; keep the class where sources use it as a type.
    """
    scopes = variable.old.owner is None, variable.new.owner is None
    if scopes[0] != scopes[1]:
        words = {True: "namespace", False: "class"}
        yield Note("the variable's scope is of another sort", words[scopes[0]], words[scopes[1]])


@rule(Impact.API_BREAK, evidence="layout", element="variables", action="changed")
def var_access_changed(variable: Changed[Variable]) -> Iterator[Note]:
    """The access to a static data member was narrowed, e.g. from public to private.

    Built programs go on using it. Sources that use it stop compiling.

    Fix: deprecate it before you make it private.
    """
    if WIDTH[variable.new.access] < WIDTH[variable.old.access]:
        yield Note("the access is narrower", variable.old.access, variable.new.access)


@rule(Impact.COMPATIBLE, evidence="layout", element="variables", action="changed")
def var_access_widened(variable: Changed[Variable]) -> Iterator[Note]:
    """The access to a static data member was widened, e.g. from private to public.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if WIDTH[variable.new.access] > WIDTH[variable.old.access]:
        yield Note("the access is wider", variable.old.access, variable.new.access)
