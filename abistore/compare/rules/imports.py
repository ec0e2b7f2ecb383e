"""What the library expects from others."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.parts import Imports, Provider
from abistore.compare.rule import Note, rule
from abistore.compare.rules.batches import examples
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Import


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def imported_symbol_added(imports: Added[Imports]) -> Iterator[Note]:
    """Library uses further symbols of other libraries.

    They must be there when a consumer starts; where a version is needed, that is a finding of its own.

    Fix: nothing, where the dependencies' minimum versions are right.
    """
    found = [symbol for symbol, _ in imports.new.symbols]
    yield Note(f"further symbols of other libraries that are used: {len(found)}", None, examples(found))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def imported_symbol_removed(imports: Removed[Imports]) -> Iterator[Note]:
    """Library no longer uses some symbols of other libraries.

    Consumers work as before.

    Fix: nothing.
    """
    found = [symbol for symbol, _ in imports.old.symbols]
    yield Note(f"symbols of other libraries that are no longer used: {len(found)}", examples(found))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_weak_resolution_changed(symbol: Changed[Import]) -> Iterator[Note]:
    """Symbol of another library that was optional is needed now.

    A weak undefined symbol may be missing; now every consumer fails to start without it.

    Fix: declare the symbol weak again, or name the library that has it with ``-l``.
    """
    if symbol.old.weak and not symbol.new.weak:
        yield Note("the symbol must be there now", "weak", "global")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_symbol_provider_changed(provider: Changed[Provider]) -> Iterator[Note]:
    """Symbols are now expected from another library.

    The loader looks for their versions in that library only, and refuses to start consumers where they are not there.

    Fix: make sure that the package depends on the new provider.
    """
    found = provider.new.symbols
    what = f"symbols expected from another library: {len(found)} ({examples(found)})"
    yield Note(what, provider.old.library, provider.new.library)
