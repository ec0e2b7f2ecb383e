"""Exported symbols and their bindings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import examples
from abistore.diffing.parts import (
    InlineExports,
    Instantiation,
    Linkage,
    Lookalike,
    Redecorated,
    Rekeyed,
    Requalified,
    VariableLookalike,
)
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.export_table import is_entry_point, sized
from abistore.model.declarations import Added, Changed, Declared, Name, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle, entity, scope
from abistore.model.names.symbols import CLASS_DATA, LOCAL, THUNKS, TLS_INITIALIZER
from abistore.model.shapes import Function, Record, Symbol, binding, is_read_only, symbol_type, visibility
from abistore.patterns import pattern

UNCALLED = (*THUNKS, TLS_INITIALIZER)
"""What no program calls by itself."""

CODE = ("function", "ifunc", "notype")
DATA = ("object", "common", "notype")

UNNAMED = pattern(r"(?<!\)::)(?<!\) const::)\{(?:lambda\(|unnamed)")
"""How demanglers write a type without a name, which has a number instead; not one within a function."""


def _title(name: Name) -> str:
    return demangle(name.spelling)


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="functions",
    action="removed",
    aliases=(
        "func_deleted_elf_fallback",
        "func_removed_elf_only",
        "func_removed_from_binary",
        "func_visibility_changed",
        "allocator_replacement_removed",
        "internal_symbol_required_by_public_api",
        "sycl_overload_set_removed",
    ),
)
def func_removed(symbol: Removed[Symbol], context: Context) -> Iterator[Note]:
    """An exported function was removed.

    A program linked against it no longer starts, or is killed at the first call: the loader cannot resolve the symbol.
    Deleting and hiding have the same effect. Without headers, abistore cannot know whether it was public.

    Fix: keep the function, as a wrapper if need be, or bump the SONAME; hide what was never public in a release that
    bumps it.
    """
    name = symbol.subject.name
    own = name.kind == "function" and not name.spelling.startswith(UNCALLED)
    if not own or is_entry_point(name, context.old.snapshot) or _makes_abstract(name, context):
        return
    function = _function(context.old, name)
    if _declares(context.new, name):
        yield Note(f"public headers declare {function}, which is no longer exported", _title(name))
    else:
        yield Note(f"{function} is no longer exported{_serving(name, context)}", _title(name))


def _serving(name: Name, context: Context) -> str:
    """What helps where another exported function takes all calls: programs have to be compiled again, no more."""
    if not _declares(context.old, name):
        return ""
    from abistore.diffing.kinds.replaced_functions import successor  # few functions are removed

    other = context.once(successor, name)
    if other is None or not context.new.variants("symbol", other.name):
        return ""
    return f"; sources still compile, with {_title(other.name)}: programs must be rebuilt"


def _function(side: SideFacts, name: Name) -> str:
    """What a function is called: one that is private to its class, by its access."""
    shape = side.shape(name)
    method = shape.method if isinstance(shape, Function) else None
    return "the private function" if method is not None and method.access == "private" else "the function"


def _declares(side: SideFacts, name: Name) -> bool:
    return any(isinstance(shape, Declared) for shape in side.variants("source", name))


@rule(Impact.RISK, variant="abstract_constructor", evidence="symbol", element="functions", action="removed")
def func_removed_abstract_constructor(symbol: Removed[Symbol], context: Context) -> Iterator[Note]:
    """The complete-object constructor of an abstract class was removed.

    Nobody can call it. An abstract class has no complete objects, and constructors of derived classes call the
    base-object constructor, which is still there. GCC exports both, Clang only the latter.

    Fix: nothing, unless a consumer takes the constructor's address by its mangled name.
    """
    name = symbol.subject.name
    if _makes_abstract(name, context):
        yield Note("the complete-object constructor was removed", _title(name))


def _makes_abstract(name: Name, context: Context) -> bool:
    """Whether this is the complete-object constructor of an abstract class that keeps its base-object constructor.

    Where the old debug information does not tell which methods are pure, the new one does.
    """
    head, complete, tail = name.spelling.rpartition("C1E")
    if not complete or not context.new.variants("symbol", Name("function", f"{head}C2E{tail}")):
        return False
    side = context.old if context.old.tables.records_pure else context.new
    shapes = side.snapshot.described(Name("record", scope(entity(_title(name)))))
    return any(method.pure for shape in shapes if isinstance(shape, Record) for method in shape.virtuals)


@rule(
    Impact.COMPATIBLE,
    evidence="symbol",
    element="functions",
    action="added",
    aliases=(
        "func_added_elf_only",
        "func_export_added",
        "overload_added",
    ),
)
def func_added(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """An exported function was added.

    Existing binaries do not use it. Programs linked against the new release need at least this release.

    Fix: nothing; raise the minor version, and put it in a new version node where the library has version nodes.
    """
    name = symbol.subject.name
    own = name.kind == "function" and not name.spelling.startswith(UNCALLED)
    if own and not is_entry_point(name, context.new.snapshot):
        function = _function(context.new, name)
        if number := context.once(_numbers).get(name):
            yield Note(f"{function} got a name in addition to its ordinal {number}", None, _title(name))
            return
        declared = f"{function} is now exported; public headers already declared it"
        yield Note(declared if _declares(context.old, name) else f"{function} was added", None, _title(name))


def _numbers(context: Context) -> Mapping[Name, str]:
    """The exports of a DLL that had a number alone, by the names that they have now."""
    moves = (move for move in context.moves if move.sort == "number")
    return {name: number.spelling for move in moves for number, name in move.pairs}


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="variables",
    action="removed",
    aliases=("var_removed_elf_only", "var_visibility_changed"),
)
def var_removed(symbol: Removed[Symbol]) -> Iterator[Note]:
    """An exported variable was removed.

    A program that refers to it does not start: data references are resolved at load time.

    Fix: keep exporting the variable, even if the library no longer uses it, or bump the SONAME.
    """
    name = symbol.subject.name
    if name.kind == "variable" and not name.spelling.startswith(CLASS_DATA):
        yield Note("the variable is no longer exported", _title(name))


@rule(
    Impact.COMPATIBLE,
    evidence="symbol",
    element="variables",
    action="added",
    aliases=("var_added_elf_only", "var_export_added"),
)
def var_added(symbol: Added[Symbol]) -> Iterator[Note]:
    """An exported variable was added.

    Existing binaries do not use it. Programs linked against the new release need at least this release.

    Fix: nothing; prefer an accessor function, because the variable's size is from now on part of the ABI.
    """
    name = symbol.subject.name
    if name.kind == "variable" and not name.spelling.startswith(CLASS_DATA):
        yield Note("the variable was added", None, _title(name))


@rule(Impact.RISK, evidence="symbol", element="functions", action="added")
def unnamed_type_in_public_abi(symbol: Added[Symbol] | Added[InlineExports]) -> Iterator[Note]:
    """The name of a new export contains an unnamed type: a lambda, struct or enumeration.

    Compilers number such types in source order. A new one before it, or another compiler, changes the symbol's name.
    Programs built with this release do not find it then. Weak copies count too, such as a template instance for a
    lambda in a header. A lambda within a function is numbered in that function, and nobody else names it.

    Fix: give the type a name, or hide the export.
    """
    if isinstance(symbol.new, InlineExports):
        found = [each for each in symbol.new.symbols if _has_unnamed_type(each)]
        if found:
            yield Note("the names depend on the order of unnamed types", None, examples(found))
    elif _has_unnamed_type(symbol.subject.name.spelling):
        yield Note("the name depends on the order of unnamed types", None, _title(symbol.subject.name))


def _has_unnamed_type(spelling: str) -> bool:
    return not spelling.startswith((LOCAL, *CLASS_DATA, *THUNKS)) and UNNAMED.search(demangle(spelling)) is not None


@rule(Impact.BREAKING, variant="instantiation", evidence="symbol", element="functions", action="removed")
def func_removed_instantiation(symbol: Removed[Instantiation]) -> Iterator[Note]:
    """An explicit template instantiation was removed.

    Programs whose headers say ``extern template`` compiled no code for it, and do not load. Both releases come from the
    same toolchain, so the optimiser does not explain it. Or the library used none of its members itself, which
    compilers emit only for explicit instantiations.

    Fix: keep the ``template class ...;`` line in the library, or bump the SONAME.
    """
    yield Note("the instantiation is no longer exported", _title(symbol.subject.name))


# --- the same symbol, exported differently ------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed", aliases=("symbol_kind_changed",))
def symbol_type_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A symbol changed its type: code became data, or data became thread-local.

    Programs jump to data, read code as data, or use a thread-local offset as an address. For some symbols only "not
    thread-local" is known: untyped assembler symbols, and plain symbols of text stubs.

    Fix: give the new function or variable a new name.
    """
    old, new = symbol_type(symbol.old), symbol_type(symbol.new)
    if "notype" in (old, new) and ("tls" not in (old, new) or symbol.old.forwarded_to or symbol.new.forwarded_to):
        return
    if _sort(old) != _sort(new):
        yield Note("the symbol type changed", old, new)


def is_plain(symbol: Changed[Symbol]) -> bool:
    """Whether a symbol is none that compilers make for a class."""
    return not symbol.subject.name.spelling.startswith(CLASS_DATA)


def _sort(type: str) -> str:
    return "code" if type in CODE else "data" if type in DATA else type


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="variables",
    action="changed",
    effect="object",
    aliases=(
        "symbol_size_changed_internal",
        "symbol_size_changed_const_object",
    ),
)
def symbol_size_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """The size of an exported variable changed.

    A program that is not position-independent holds a copy of the variable (copy relocation), with the size from link
    time. The loader copies only that much, and the library reads and writes beyond it.

    Fix: export an accessor function or a pointer; never change the size of an exported variable under one SONAME.
    """
    old, new = symbol.old, symbol.new
    if old.type == new.type == "data" and sized(old, new) and is_plain(symbol):
        yield Note("the size of the variable changed (bytes)", str(old.size), str(new.size))


@rule(Impact.BREAKING, evidence="symbol", element="variables", action="changed", effect="object")
def tls_var_size_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """The size of an exported thread-local variable changed.

    Programs were compiled for the old type. They read or write beyond the variable, or see only a part of it.

    Fix: export a function that returns the address, and never change the type of an exported variable.
    """
    if symbol.old.type == symbol.new.type == "thread_local" and sized(symbol.old, symbol.new):
        yield Note("the size of the thread-local variable changed (bytes)", str(symbol.old.size), str(symbol.new.size))


# --- one symbol gone, its counterpart come ------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def func_cv_changed(function: Changed[Requalified]) -> Iterator[Note]:
    """A member function gained or lost ``const`` or ``volatile``.

    These are part of the mangled name: existing binaries need the old symbol, which was removed.

    Fix: keep the old member function beside the new one.
    """
    old, new = demangle(function.old.symbol), demangle(function.new.symbol)
    if _cv(old) != _cv(new):
        yield Note("the member function's qualifiers changed", old, new)


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def func_ref_qual_changed(function: Changed[Requalified]) -> Iterator[Note]:
    """A member function gained, lost or changed its reference qualifier.

    ``&`` and ``&&`` are part of the mangled name: existing binaries need the old symbol, which was removed.

    Fix: keep the old member function beside the new one.
    """
    old, new = demangle(function.old.symbol), demangle(function.new.symbol)
    if _cv(old) == _cv(new):
        yield Note("the member function's reference qualifier changed", old, new)


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def symbol_decoration_changed(symbol: Changed[Redecorated | Rekeyed]) -> Iterator[Note]:
    """The decorated name of a function or variable of a DLL changed.

    Visual C++ encodes the result, calling convention, ``virtual`` or ``static``, access, and the type of a variable
    into names. Existing binaries ask for the old name, which was removed, and do not start.

    Fix: keep the old function in addition, or rename the DLL.
    """
    from abistore.model.names.microsoft import decoration  # ELF files have none

    keys = isinstance(symbol.new, Rekeyed)
    old, new = (decoration(each.symbol, class_keys=keys) for each in (symbol.old, symbol.new))
    yield Note("the decorated name changed", str(old), str(new))


def _cv(demangled: str) -> frozenset[str]:
    return (
        frozenset(demangled[demangled.rindex(")") + 1 :].replace("&", " ").split()) if ")" in demangled else frozenset()
    )


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def func_language_linkage_changed(function: Changed[Linkage]) -> Iterator[Note]:
    """A function gained or lost ``extern "C"``.

    Only one of the two symbols is exported, e.g. ``open`` or ``_Z4openv``. Existing binaries need the other one.

    Fix: restore (or drop) ``extern "C"``, or export both names.
    """
    yield Note("the language linkage changed", function.old.symbol, function.new.symbol)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed", aliases=("declaration_renamed",))
def func_likely_renamed(function: Changed[Lookalike]) -> Iterator[Note]:
    """A function was probably renamed.

    One function was removed, and the only added one with the same signature has a similar name. Or no other function
    was removed from its class or file. Existing binaries need the old name and do not start.

    Fix: export the old name as an alias (``__attribute__((alias("new_name")))``) for the life of the SONAME.
    """
    yield Note("the function was probably renamed", demangle(function.old.symbol), demangle(function.new.symbol))


@rule(Impact.BREAKING, evidence="layout", element="variables", action="changed")
def var_likely_renamed(variable: Changed[VariableLookalike]) -> Iterator[Note]:
    """A variable was probably renamed.

    One variable was removed, and the only added one of the same type has a similar name. Or no other variable was
    removed from its class or file. Existing binaries need the old name and do not start.

    Fix: export the old name as an alias (``__attribute__((alias("new_name")))``) for the life of the SONAME.
    """
    yield Note("the variable was probably renamed", demangle(variable.old.symbol), demangle(variable.new.symbol))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def symbol_address_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function or variable got an absolute address, or no longer has one (``SHN_ABS``).

    The loader uses such an address unchanged, without adding the load address of the library. Programs jump to, or
    read, memory that is not there.

    Fix: relink the library; a damaged symbol table is likely.
    """
    old, new = ("absolute" if each.elf and each.elf.absolute else "relative" for each in (symbol.old, symbol.new))
    if old != new:
        yield Note("the kind of the symbol's address changed", old, new)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def symbol_binding_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A global symbol became weak.

    The loader binds both alike. Static links may now prefer another definition.

    Fix: nothing, if it is intended.
    """
    if is_plain(symbol) and (binding(symbol.old), binding(symbol.new)) == ("global", "weak"):
        yield Note("the symbol binding changed", "global", "weak")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def symbol_binding_strengthened(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A weak symbol became global.

    The loader binds both alike. Static links with their own definition may now clash.

    Fix: nothing, if it is intended.
    """
    if is_plain(symbol) and (binding(symbol.old), binding(symbol.new)) == ("weak", "global"):
        yield Note("the symbol binding changed", "weak", "global")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbol_binding_became_unique(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A symbol became unique in the process (STB_GNU_UNIQUE).

    All libraries of a process now share one copy, even those opened privately (``RTLD_LOCAL``), and the library can no
    longer be unloaded.

    Fix: build with ``-fno-gnu-unique`` if plugins are to be unloaded.
    """
    if is_plain(symbol) and binding(symbol.old) != "unique" == binding(symbol.new):
        yield Note("the symbol binding changed", binding(symbol.old), "unique")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbol_binding_lost_unique(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A symbol is no longer unique in the process (STB_GNU_UNIQUE).

    Libraries that are opened privately (``RTLD_LOCAL``) now have copies of their own: they no longer share the state of
    inline functions and templates.

    Fix: keep ``-fgnu-unique`` (gcc's default) if such state must be shared.
    """
    if is_plain(symbol) and binding(symbol.old) == "unique" != binding(symbol.new):
        yield Note("the symbol binding changed", "unique", binding(symbol.new))


@rule(
    Impact.RISK,
    evidence="symbol",
    element="functions",
    action="changed",
    aliases=("symbol_elf_visibility_changed", "elf_visibility_changed"),
)
def func_visibility_protected_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function became protected, or stopped being protected.

    A program or a preloaded library may interpose the function. The library's own calls no longer reach that
    definition, or now do. Function addresses taken on both sides may differ.

    Fix: inform those who interpose the function; nothing else depends on it.
    """
    if symbol.subject.name.kind == "function" and visibility(symbol.old) != visibility(symbol.new):
        yield Note("the function's visibility changed", visibility(symbol.old), visibility(symbol.new))


@rule(Impact.RISK, evidence="symbol", element="variables", action="changed")
def protected_visibility_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A variable that nobody writes became protected, or a variable stopped being protected.

    A program may hold a copy of the variable (copy relocation). Its address differs from the library's, unless the
    library's own accesses are redirected to that copy.

    Fix: keep exported data at default visibility, or export accessor functions only.
    """
    data = symbol.subject.name.kind == "variable" and is_plain(symbol)
    if data and visibility(symbol.old) != visibility(symbol.new) and not _parts_from_copies(symbol):
        yield Note("the variable's visibility changed", visibility(symbol.old), visibility(symbol.new))


@rule(Impact.BREAKING, variant="writable", evidence="symbol", element="variables", action="added")
def protected_visibility_changed_writable(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A writable variable became protected.

    A program that is not position-independent, or was linked like one, has its own copy of the variable (copy
    relocation). The library now uses its own copy: neither sees what the other one writes.

    Fix: keep exported data at default visibility, or export accessor functions only.
    """
    if symbol.subject.name.kind == "variable" and is_plain(symbol) and _parts_from_copies(symbol):
        yield Note("the library no longer uses the copy that programs have", "default", "protected")


def _parts_from_copies(symbol: Changed[Symbol]) -> bool:
    """Whether programs may have a copy of what the library now finds at home. Thread-local variables have none."""
    became = (visibility(symbol.old), visibility(symbol.new)) == ("default", "protected")
    return became and symbol.old.type == "data" and is_read_only(symbol.new) is False


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="changed")
def ifunc_introduced(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function is now chosen at load time (GNU_IFUNC).

    Calls go through the same symbol. Loaders without IFUNC support, and programs built without PLT that take its
    address very early, cannot use it.

    Fix: nothing, on platforms whose loader knows IFUNC.
    """
    if (symbol_type(symbol.old), symbol_type(symbol.new)) == ("function", "ifunc"):
        yield Note("the function is now chosen at load time", "function", "ifunc")


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="changed")
def ifunc_removed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function is no longer chosen at load time (GNU_IFUNC).

    Calls go through the same symbol; only the choice by processor was removed.

    Fix: nothing.
    """
    if (symbol_type(symbol.old), symbol_type(symbol.new)) == ("ifunc", "function"):
        yield Note("the function is no longer chosen at load time", "ifunc", "function")


@rule(Impact.COMPATIBLE, evidence="symbol", element="variables", action="changed")
def common_symbol_risk(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A variable became a common symbol.

    Linkers merge common symbols of one name into the largest. A program that defines the same name by accident silently
    shares it.

    Fix: build with ``-fno-common`` (the default since gcc 10) and define the variable once.
    """
    if symbol_type(symbol.old) != "common" == symbol_type(symbol.new):
        yield Note("the variable is now a common symbol", symbol_type(symbol.old), "common")
