"""Functions and variables."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, declaration, declare, rule, signature, spell
from abistore.diffing.exports import refilled
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.kinds.parameter_types import TypeDifference, difference, is_exchangeable, serves, spells_parameter
from abistore.diffing.kinds.records import unqualified
from abistore.diffing.parts import (
    InternalExport,
    OmittedExport,
    PrivateMemberExport,
    UncallableExport,
    UndeclaredExport,
)
from abistore.diffing.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.consumers import is_for_derived
from abistore.diffing.types.sameness import Sameness
from abistore.model.declarations import Changed, Name
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle
from abistore.model.shapes import (
    WIDTH,
    Access,
    Function,
    Primitive,
    Symbol,
    Variable,
    binding,
    is_read_only,
    symbol_type,
)
from abistore.model.words import counted, without_machine


def _instance(function: Function) -> bool:
    return function.method is not None and not function.method.static


# --- the function itself ------------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed", aliases=("bit_int_width_changed",))
def func_params_changed(function: Changed[Function], context: Context) -> Iterator[Note]:
    """The number or the types of a function's parameters changed under the same symbol.

    Callers leave registers or stack slots unset that the function reads. Or they pass values in other registers, or
    with another width or type.

    Fix: keep the function and add one with a new name for the new parameters.
    """
    old, new = function.old, function.new
    if _other_parameters(function, context) or _float_is_widened(old, new, context):
        yield Note("the parameters changed", _prototype(old), _prototype(new))


def _other_parameters(function: Changed[Function], context: Context) -> bool:
    old, new = function.old, function.new
    if len(old.parameters) != len(new.parameters):
        return _lists_parameters(old) and _lists_parameters(new)
    return any(
        difference(*pair, context) in (TypeDifference.OTHER, TypeDifference.VOID_TO_VALUE)
        and not spells_parameter(function.subject.name, *pair, context)
        for pair in zip(old.parameters, new.parameters, strict=True)
    )


def _float_is_widened(old: Function, new: Function, context: Context) -> bool:
    """Whether only one side has a prototype: without one, callers pass a ``double`` for each ``float``."""
    if old.prototyped == new.prototyped:
        return False
    side, parameters = context.old.types, (new if old.prototyped else old).parameters
    return any(isinstance(bare := side.bare(each)[0], Primitive) and bare.spelling == "float" for each in parameters)


def _lists_parameters(function: Function) -> bool:
    """Whether the parameters are known. ``f()`` without a prototype may be called with any."""
    return function.prototyped or bool(function.parameters)


@rule(Impact.RISK, variant="prototype", evidence="layout", element="functions", action="changed")
def func_params_changed_prototype(function: Changed[Function], context: Context) -> Iterator[Note]:
    """A function got or lost a prototype, or its declaration without one changed its parameters.

    Without a prototype, e.g. ``int f();``, compilers do not check arguments. Existing callers pass what they believe
    right, with small integers widened. The function may take something else.

    Fix: declare every function with its parameters, ``(void)`` where it has none.
    """
    old, new = function.old, function.new
    unknown = len(old.parameters) != len(new.parameters) and not (_lists_parameters(old) and _lists_parameters(new))
    if _float_is_widened(old, new, context):
        return
    if (old.prototyped != new.prototyped and (old.parameters or new.parameters)) or unknown:
        yield Note("the prototype changed", _prototype(old), _prototype(new))


def _prototype(function: Function) -> str:
    said = " without a prototype" if function.parameters and not function.prototyped else ""
    return signature(function, c=True) + said


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_variadic_added(function: Changed[Function]) -> Iterator[Note]:
    """A function became variadic (``...``).

    On x86-64, callers do not set the number of vector registers that they use. On AArch64 macOS, 64-bit PowerPC and
    s390x, they pass arguments elsewhere than a variadic function looks.

    Fix: add a variadic function with a new name.
    """
    if function.new.variadic and not function.old.variadic:
        yield Note("the function became variadic", signature(function.old), signature(function.new))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_variadic_removed(function: Changed[Function]) -> Iterator[Note]:
    """A function is no longer variadic (``...``).

    Callers pass additional arguments that nobody reads.

    Fix: keep the variadic function.
    """
    if function.old.variadic and not function.new.variadic:
        yield Note("the function is no longer variadic", signature(function.old), signature(function.new))


def _is_unread(own: str | None, other: str | None, side: SideFacts) -> bool:
    """Whether a side may have the ``other`` options too: all its units do, and it was read before that was noted."""
    compilers = side.snapshot.provenance.compilers
    given = [word for word in (other or "").split() if word.startswith("-")]
    return (
        own is None and bool(given and compilers) and all(word in text.split() for text in compilers for word in given)
    )


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def calling_convention_changed(function: Changed[Function], context: Context) -> Iterator[Note]:
    """The calling convention of a function changed.

    Callers pass arguments in other registers than the function reads, or look for the result elsewhere. The function
    has its own convention (``__attribute__((ms_abi))``), or was compiled with other options (``-mabi``, ``-mregparm``,
    ``-fpcc-struct-return``). Such options count where they affect its parameters or result, or those of a callback or
    virtual function that it passes.

    Fix: keep the attribute, and build with the old release's options.
    """
    old, new = function.old.calling_convention, function.new.calling_convention
    if old != new and not (_is_unread(old, new, context.old) or _is_unread(new, old, context.new)):
        yield Note("the calling convention changed", old or "default", new or "default")


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_static_changed(function: Changed[Function]) -> Iterator[Note]:
    """A member function became static, or stopped being static.

    The symbol is the same. The object's address is passed before the other arguments, or no longer is: each argument
    arrives one position off.

    Fix: keep the member function and add one with a new name.
    """
    if _instance(function.old) != _instance(function.new):
        yield Note("the object parameter changed", _sort(function.old), _sort(function.new))


@rule(Impact.COMPATIBLE, variant="static_function", evidence="layout", element="functions", action="changed")
def declaration_changed_static_function(function: Changed[Function]) -> Iterator[Note]:
    """A static member function became a namespace function of the same name, or the reverse.

    The symbol and the call are the same. Sources that derive from the class, or name it as a type, stop compiling.

    Fix: nothing for existing binaries; keep the class where sources use it as a type.
    """
    scopes = function.old.method is None, function.new.method is None
    if scopes[0] != scopes[1] and _instance(function.old) == _instance(function.new):
        words = {True: "namespace", False: "class"}
        yield Note("the kind of the function's scope changed", words[scopes[0]], words[scopes[1]])


def _sort(function: Function) -> str:
    return "non-static" if _instance(function) else "static"


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed", aliases=("func_deleted",))
def func_deleted_dwarf(function: Changed[Function], context: Context) -> Iterator[Note]:
    """A function is now deleted (``= delete``).

    Programs still call it. Its symbol may be missing, or belong to another overload.

    Fix: keep the function for existing binaries and deprecate it first.
    """
    if _is_deleted(function) and not context.has_own_copy(function.subject.name):
        yield _deletion(function)


@rule(Impact.API_BREAK, variant="inline", evidence="layout", element="functions", action="changed")
def func_deleted_dwarf_inline(function: Changed[Function], context: Context) -> Iterator[Note]:
    """An inline function, or one that the library never exported, is now deleted (``= delete``).

    Existing binaries have their own copy of an inline function and keep using it. Sources that call it stop compiling.

    Fix: deprecate it first.
    """
    if _is_deleted(function) and context.has_own_copy(function.subject.name):
        yield _deletion(function)


def _is_deleted(function: Changed[Function]) -> bool:
    old, new = function.old.method, function.new.method
    return new is not None and new.deleted and not (old is not None and old.deleted)


def _deletion(function: Changed[Function]) -> Note:
    method = function.new.method
    if method is not None and method.defaulted:  # ``= default`` of a class of which a part has no such member
        return Note("the compiler no longer generates the member", signature(function.old), None)
    return Note("the function is deleted", signature(function.old), signature(function.new) + " = delete")


@rule(Impact.API_BREAK, evidence="layout", element="functions", action="changed")
def method_access_changed(function: Changed[Function]) -> Iterator[Note]:
    """The access to a member function was narrowed, e.g. from public to private.

    Existing binaries keep calling it. Sources that call it stop compiling.

    Fix: deprecate it before making it private.
    """
    access = _accesses(function)
    if access is not None and WIDTH[access[1]] < WIDTH[access[0]]:
        yield Note("the access was narrowed", *access)


@rule(Impact.COMPATIBLE, variant="widened", evidence="layout", element="functions", action="changed")
def method_access_changed_widened(function: Changed[Function]) -> Iterator[Note]:
    """The access to a member function was widened, e.g. from private to public.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    access = _accesses(function)
    if access is not None and WIDTH[access[1]] > WIDTH[access[0]]:
        yield Note("the access was widened", *access)


def _accesses(function: Changed[Function]) -> tuple[Access, Access] | None:
    old, new = function.old.method, function.new.method
    return None if old is None or new is None else (old.access, new.access)


@rule(Impact.API_BREAK, evidence="layout", element="functions", action="changed")
def ctor_explicit_added(function: Changed[Function]) -> Iterator[Note]:
    """A constructor or conversion became ``explicit``.

    Existing binaries call the same symbol. Sources that rely on the implicit conversion stop compiling. A protected
    constructor converts nothing: derived classes name it to construct their base.

    Fix: announce it, and bump the major version.
    """
    old, new = function.old.method, function.new.method
    explicit = old is not None and new is not None and new.explicit and not old.explicit
    if explicit and not is_for_derived(function.old):
        yield Note("the conversion became explicit", signature(function.old), f"explicit {signature(function.new)}")


@rule(Impact.RISK, evidence="layout", element="functions", action="changed")
def ctor_explicit_removed(function: Changed[Function]) -> Iterator[Note]:
    """A constructor or conversion is no longer ``explicit``.

    Existing binaries call the same symbol. Recompiled sources may choose another overload.

    Fix: nothing, if no overload becomes ambiguous.
    """
    old, new = function.old.method, function.new.method
    if old is not None and new is not None and old.explicit and not new.explicit:
        yield Note("the conversion became implicit", f"explicit {signature(function.old)}", signature(function.new))


@rule(
    Impact.RISK,
    variant="noreturn",
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("func_contract_attribute_removed",),
)
def func_promise_removed_noreturn(function: Changed[Function]) -> Iterator[Note]:
    """A function is no longer ``noreturn``.

    Callers have no code after the call: if the function returns, they run into whatever follows.

    Fix: keep the promise under this name.
    """
    if function.old.noreturn and not function.new.noreturn:
        yield Note("the function may return", "noreturn", None)


@rule(
    Impact.RISK,
    variant="noreturn",
    evidence="layout",
    element="functions",
    action="changed",
    aliases=("func_contract_attribute_added",),
)
def func_promise_added_noreturn(function: Changed[Function]) -> Iterator[Note]:
    """A function became ``noreturn``.

    Existing callers expect it to return. The code after the call, such as releasing a lock, no longer runs.

    Fix: nothing, if it never returned before.
    """
    if function.new.noreturn and not function.old.noreturn:
        yield Note("the function does not return", None, "noreturn")


@rule(Impact.COMPATIBLE, variant="internal", evidence="layout", element="functions", action="changed")
def declaration_changed_internal(export: Changed[InternalExport]) -> Iterator[Note]:
    """A member of an internal class changed.

    Only the library's own source files define the class, or it is local to a function.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    old, new = _both(export)
    if old != new:
        yield Note("the internal member changed", old, new)


@rule(Impact.RISK, variant="private", evidence="layout", element="functions", action="changed")
def declaration_changed_private(export: Changed[UndeclaredExport]) -> Iterator[Note]:
    """An export that no public header declares changed.

    Where the public headers are known, none of them mentions it. Otherwise its header is outside the ``include`` folder
    of the public headers, and no public header needs it. Or the export's version node is named private or internal.
    Only a program that includes the library's internal headers was compiled against the old declaration.

    Fix: nothing, if no installed header declares it; build with ``-fvisibility=hidden`` to keep such symbols out of the
    export table.
    """
    old, new = _both(export)
    if old != new:
        where = f" in {without_machine(export.old.header)}" if export.old.header else ", which no public header holds,"
        yield Note(f"the declaration{where} changed", old, new)


@rule(Impact.COMPATIBLE, variant="undeclared", evidence="layout", element="functions", action="changed")
def declaration_changed_undeclared(export: Changed[OmittedExport]) -> Iterator[Note]:
    """An export changed that no public header declares or uses.

    The old release's headers and everything that they include are known. None of them has the name, and no inline
    function, template or macro uses it: no program was compiled against the old declaration. The given headers are
    assumed to be all public headers.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    old, new = _both(export)
    if old != new:
        yield Note("the declaration, which no public header contains, changed", old, new)


@rule(Impact.RISK, variant="inaccessible", evidence="layout", element="functions", action="changed")
def declaration_changed_inaccessible(export: Changed[PrivateMemberExport]) -> Iterator[Note]:
    """A private member function or private static data member changed.

    Programs cannot name it. They use it only through an inline function or a friend in a header. The library exports no
    copy of an inline function that has access to it. Copies that compilers inlined everywhere are not visible without
    the headers.

    Fix: nothing, if no inline function in a header uses it; else keep it until the SONAME is bumped.
    """
    old, new = _both(export)
    if old == new:
        old, new = (declaration(export.subject.name, each.shape) for each in (export.old, export.new))
    if old != new:
        yield Note("the private member changed", old, new)


@rule(Impact.RISK, variant="uncallable", evidence="layout", element="functions", action="changed")
def declaration_changed_uncallable(export: Changed[UncallableExport]) -> Iterator[Note]:
    """A function that no program can call changed its parameters or result.

    It passes a class by value that the public headers declare but do not define: ``class View;`` and ``View name()
    const;``. Compilers reject each call. Or it is a protected constructor that asks for an object of such a class, and
    nothing in the headers gives programs one. Only a program that includes the library's internal headers was compiled
    against the old declaration.

    Fix: nothing, if no installed header defines the class; else keep the function, and add one with a new name.
    """
    old, new = _both(export)
    if old != new:
        yield Note("a function that programs cannot call changed", old, new)


def _both(
    export: Changed[InternalExport]
    | Changed[OmittedExport]
    | Changed[PrivateMemberExport]
    | Changed[UncallableExport]
    | Changed[UndeclaredExport],
) -> tuple[str, str]:
    """What both sides say: of tables that differ in their words alone, the first; of what moved, the version node."""
    old, new = export.old.shape, export.new.shape
    texts = _declared(export.old), _declared(export.new)
    if texts[0] == texts[1] and isinstance(old, Symbol) and isinstance(new, Symbol):
        for before, after in refilled(old, new):
            return demangle(before), demangle(after)
        if old.version != new.version:
            return f"version {old.version}", f"version {new.version}"
    return texts


def _declared(
    export: InternalExport | OmittedExport | PrivateMemberExport | UncallableExport | UndeclaredExport,
) -> str:
    match export.shape:
        case Function():
            return signature(export.shape)
        case Variable(display=display, type=type):
            return declare(type, display)
        case Symbol():
            return f"{binding(export.shape)} {symbol_type(export.shape)} of {counted(export.shape.size, 'byte')}"
        case _:
            return str(export.name)


def _types(variable: Changed[Variable]) -> tuple[str, str]:
    return spell(variable.old.type), spell(variable.new.type)


def _sameness(variable: Changed[Variable], context: Context) -> Sameness:
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

    Programs read and write it with the old type's size and layout.

    Fix: keep the variable, and export the new data under a new name or through a function.
    """
    if _sameness(variable, context) is Sameness.DIFFERENT:
        yield Note("the type changed", *_types(variable))


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
        yield Note("the variable became const", *_types(variable))


@rule(Impact.BREAKING, evidence="layout", element="variables", action="changed")
def var_lost_const(variable: Changed[Variable], context: Context) -> Iterator[Note]:
    """An exported variable is no longer ``const``.

    Compilers read a constant once, and put a program's copy of it (copy relocation) into read-only memory. Programs
    keep old values, and the process is killed when the library writes to the copy.

    Fix: keep it constant, and export the changing value through a function.
    """
    if _constants(variable, context) == (True, False):
        yield Note("the variable is no longer const", *_types(variable))


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

    Programs that write to it are killed. Programs that only read it work as before. Without debug information and
    headers, abistore cannot know whether programs may write it: a constant computed at start is in writable memory too.

    Fix: keep it writable, and export a constant under a new name.
    """
    if _read_only(symbol, context) == (False, True):
        yield Note("the variable is in other memory", "writable", "read-only")


@rule(Impact.RISK, variant="storage", evidence="symbol", element="variables", action="changed", effect="other")
def var_lost_const_storage(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """An exported variable moved from read-only to writable memory.

    On ELF systems, a program that is not position-independent may have its own read-only copy (copy relocation). The
    process is killed when the library writes to it. On all systems, values that compilers treated as constant do not
    change.

    Fix: keep it constant, and export the changing value through a function.
    """
    if _read_only(symbol, context) == (True, False):
        yield Note("the variable is in other memory", "read-only", "writable")


@rule(Impact.COMPATIBLE, variant="static_variable", evidence="layout", element="variables", action="changed")
def declaration_changed_static_variable(variable: Changed[Variable]) -> Iterator[Note]:
    """A static data member became a namespace variable of the same name, or the reverse.

    The symbol and its use are the same. Sources that derive from the class, or name it as a type, stop compiling.

    Fix: nothing for existing binaries; keep the class where sources use it as a type.
    """
    scopes = variable.old.owner is None, variable.new.owner is None
    if scopes[0] != scopes[1]:
        words = {True: "namespace", False: "class"}
        yield Note("the kind of the variable's scope changed", words[scopes[0]], words[scopes[1]])


@rule(Impact.API_BREAK, evidence="layout", element="variables", action="changed")
def var_access_changed(variable: Changed[Variable]) -> Iterator[Note]:
    """The access to a static data member was narrowed, e.g. from public to private.

    Existing binaries keep using it. Sources that use it stop compiling.

    Fix: deprecate it before making it private.
    """
    if WIDTH[variable.new.access] < WIDTH[variable.old.access]:
        yield Note("the access was narrowed", variable.old.access, variable.new.access)


@rule(Impact.COMPATIBLE, evidence="layout", element="variables", action="changed")
def var_access_widened(variable: Changed[Variable]) -> Iterator[Note]:
    """The access to a static data member was widened, e.g. from private to public.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    if WIDTH[variable.new.access] > WIDTH[variable.old.access]:
        yield Note("the access was widened", variable.old.access, variable.new.access)
