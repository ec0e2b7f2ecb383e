"""How the loader binds a symbol: its binding and visibility, IFUNCs, and tentative definitions."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.rule import Note, rule
from abistore.compare.rules.symbols import is_plain
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.tables import Symbol
from abistore.model.words.elf_symbols import binding, is_read_only, symbol_type, visibility


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def symbol_address_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function or variable got an absolute address, or has one no longer (``SHN_ABS``).

    The loader takes such an address as it is, and does not add where the library was loaded. Programs jump to, or read,
    memory that is not there.

    Fix: link the library anew; what changed it damaged its symbol table.
    """
    old, new = ("absolute" if each.elf and each.elf.absolute else "relative" for each in (symbol.old, symbol.new))
    if old != new:
        yield Note("the symbol's address is of another sort", old, new)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def symbol_binding_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A global symbol became weak.

    The loader binds both alike. Static links may now prefer another definition.

    Fix: nothing, if it is meant.
    """
    if is_plain(symbol) and (binding(symbol.old), binding(symbol.new)) == ("global", "weak"):
        yield Note("the symbol is bound differently", "global", "weak")


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def symbol_binding_strengthened(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A weak symbol became global.

    The loader binds both alike. Static links that brought their own definition may now clash.

    Fix: nothing, if it is meant.
    """
    if is_plain(symbol) and (binding(symbol.old), binding(symbol.new)) == ("weak", "global"):
        yield Note("the symbol is bound differently", "weak", "global")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbol_binding_became_unique(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A symbol became unique in the process (STB_GNU_UNIQUE).

    All libraries of a process now share one copy, even those opened privately (``RTLD_LOCAL``), and the library can no
    longer be unloaded.

    Fix: build with ``-fno-gnu-unique`` where plugins are to be unloaded.
    """
    if is_plain(symbol) and binding(symbol.old) != "unique" == binding(symbol.new):
        yield Note("the symbol is bound differently", binding(symbol.old), "unique")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbol_binding_lost_unique(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A symbol is no longer unique in the process (STB_GNU_UNIQUE).

    Libraries that are opened privately (``RTLD_LOCAL``) now have copies of their own: they no longer share the state of
    inline functions and templates.

    Fix: keep ``-fgnu-unique`` (gcc's default) where such state must be one.
    """
    if is_plain(symbol) and binding(symbol.old) == "unique" != binding(symbol.new):
        yield Note("the symbol is bound differently", "unique", binding(symbol.new))


@rule(
    Impact.RISK,
    evidence="symbol",
    element="functions",
    action="changed",
    aliases=("symbol_elf_visibility_changed", "elf_visibility_changed"),
)
def func_visibility_protected_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function became protected, or stopped being protected.

    A program or a preloaded library may define the function anew. The library's own calls no longer reach that
    definition, or now do. Function addresses taken on both sides may differ.

    Fix: tell those who interpose the function; nothing else depends on it.
    """
    if symbol.subject.name.kind == "function" and visibility(symbol.old) != visibility(symbol.new):
        yield Note("the function's visibility differs", visibility(symbol.old), visibility(symbol.new))


@rule(Impact.RISK, evidence="symbol", element="variables", action="changed")
def protected_visibility_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A variable that nobody writes became protected, or a variable stopped being protected.

    A program may hold a copy of the variable (copy relocation), whose address is another one where the library's own
    accesses are not redirected to that copy.

    Fix: keep exported data at default visibility, or export accessor functions only.
    """
    data = symbol.subject.name.kind == "variable" and is_plain(symbol)
    if data and visibility(symbol.old) != visibility(symbol.new) and not _parts_from_copies(symbol):
        yield Note("the variable's visibility differs", visibility(symbol.old), visibility(symbol.new))


@rule(Impact.BREAKING, variant="writable", evidence="symbol", element="variables", action="added")
def protected_visibility_changed_writable(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A variable that can be written became protected.

    A program that is not position-independent, or was linked like one, has its own copy of the variable (copy
    relocation). The library now goes to its own: what one of them writes, the other does not see.

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
        yield Note("the function is chosen at load time", "function", "ifunc")


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="changed")
def ifunc_removed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """A function is no longer chosen at load time (GNU_IFUNC).

    Calls go through the same symbol; only the choice by processor is gone.

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
