"""Functions that compilers call without a word of the program: what frees objects, what initialises variables."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.consumers.export_table import is_weak
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.demangle import demangle
from abistore.model.deltas import Added, Removed
from abistore.model.findings import Impact
from abistore.model.mangling.symbols import TLS_INITIALIZER, freed_by, made_for
from abistore.model.names import Name
from abistore.model.shapes import Record
from abistore.model.tables import Symbol
from abistore.model.words.elf_symbols import symbol_type


@rule(Impact.BREAKING, variant="deallocation", evidence="symbol", element="functions", action="added")
def func_added_deallocation(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A class with a virtual destructor got its own ``operator delete``.

    Built programs allocate objects with the ``operator new`` of the whole program. ``delete`` calls the destructor
    through the vtable, which is the library's, and that frees them with the class's own operator: memory that was not
    allocated by its counterpart.

    Fix: give such operators to a new class, or let them take what the global ones allocated.
    """
    found = freed_by(symbol.subject.name.spelling)
    if found and _is_freed_by_library(*found, context):
        yield Note("the library frees what programs allocated otherwise", None, demangle(symbol.subject.name.spelling))


def _is_freed_by_library(destructor: str, operators: str, context: Context) -> bool:
    """Whether the library alone has the deleting destructor of a class, of which programs may create objects."""
    if not all(_has_strong(side, destructor) for side in (context.old, context.new)):
        return False
    if any(each.startswith(operators) for each in context.old.exports.names):
        return False  # programs allocate by the class's own operators already
    name = Name("record", demangle(destructor).rpartition("::")[0])
    records = (shape for shape in context.old.snapshot.described(name) if isinstance(shape, Record))
    if any(method.pure for record in records for method in record.virtuals):
        return False  # programs have objects of derived classes only, which they free themselves
    return context.old.tables.may_be_derived_from(name)


def _has_strong(side: SideFacts, symbol: str) -> bool:
    variants = side.variants("symbol", Name("function", symbol))
    return bool(variants) and not is_weak(variants)


@rule(Impact.RISK, variant="at_run_time", evidence="symbol", element="variables", action="added")
def var_value_changed_at_run_time(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A thread-local variable is initialised at run time now.

    Programs whose header says ``thread_local`` have it initialised before they use it. Those that were told that it is
    a constant (``constinit``, ``__thread``, a header of C) read it as it is, which may be before that.

    Fix: nothing, unless the header said so; there, keep the initialiser constant.
    """
    spelling = symbol.subject.name.spelling
    if spelling.startswith(TLS_INITIALIZER) and _is_thread_local(made_for(spelling), context.old):
        yield Note("the variable is initialised at run time", None, demangle(spelling))


def _is_thread_local(symbol: str | None, side: SideFacts) -> bool:
    """Whether a side exports the thread-local variable of that name."""
    variants = side.variants("symbol", Name("variable", symbol)) if symbol else ()
    return any(isinstance(each, Symbol) and symbol_type(each) == "tls" for each in variants)


@rule(Impact.COMPATIBLE, variant="at_load_time", evidence="symbol", element="variables", action="removed")
def var_value_changed_at_load_time(symbol: Removed[Symbol]) -> Iterator[Note]:
    """A thread-local variable is no longer initialised at run time.

    Programs ask for the function that did it by a weak reference, and call it only if it is there.

    Fix: nothing.
    """
    spelling = symbol.subject.name.spelling
    if spelling.startswith(TLS_INITIALIZER):
        yield Note("the variable has its value from the beginning", demangle(spelling), None)
