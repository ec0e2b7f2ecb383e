"""Symbols that the library imports from other libraries."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.export_batches import examples, identified_examples
from abistore.compare.diff.parts import Imports, Provider, Unprovided
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.tables import Import


@rule(Impact.NOTICE, evidence="symbol", element="library", action="added")
def imported_symbol_added(imports: Added[Imports]) -> Iterator[Note]:
    """The library imports further symbols from other libraries.

    These symbols must exist when a program starts. Where a version is needed, that is a finding of its own.

    Fix: nothing, where the dependencies' minimum versions are right.
    """
    found = [symbol for symbol, _ in imports.new.symbols]
    yield Note(f"further imported symbols: {len(found)}", None, examples(found))


@rule(Impact.RISK, variant="unprovided", evidence="symbol", element="library", action="added")
def imported_symbol_added_unprovided(symbols: Added[Unprovided]) -> Iterator[Note]:
    """The library imports symbols that none of the libraries has which it is linked with.

    It is linked without ``-l`` for the library that has them, or leaves them to programs to define. A program that
    brings neither does not start, or ends at the first call: ``undefined symbol``. The old release did without them, or
    needed a library that may have them.

    Fix: link with the library that has them; ``-Wl,-z,defs`` makes the linker say what is missing.
    """
    found = symbols.new.symbols
    yield Note(f"symbols that no needed library has: {len(found)}", None, examples(found))


@rule(Impact.NOTICE, evidence="symbol", element="library", action="removed")
def imported_symbol_removed(imports: Removed[Imports]) -> Iterator[Note]:
    """The library no longer imports some symbols from other libraries.

    Consumers work as before.

    Fix: nothing.
    """
    found = [symbol for symbol, _ in imports.old.symbols]
    yield Note(f"symbols that are no longer imported: {len(found)}", examples(found))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_weak_resolution_changed(symbol: Changed[Import]) -> Iterator[Note]:
    """A weak import became a strong one.

    A weak symbol may be missing at run time. Now no program starts where the other library does not have it.

    Fix: declare the symbol weak again, or link the library that has it with ``-l``.
    """
    if symbol.old.weak and not symbol.new.weak:
        yield Note("the imported symbol must exist now", "weak", "global")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_symbol_provider_changed(provider: Changed[Provider]) -> Iterator[Note]:
    """Symbols are now imported from another library.

    The loader looks for their versions in that library only. Where they are missing, it refuses to start the program.

    Fix: make sure that the package depends on the new provider.
    """
    found = provider.new.symbols
    what = f"symbols expected from another library: {len(found)}"
    yield Note(what, f"{provider.old.library}: {identified_examples(found)}", provider.new.library)
