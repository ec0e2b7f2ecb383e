"""The numbers of a DLL's exports: what is behind those without a name, and which of the others have another one."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.compare.diff.parts import BehindNumber, ExportNumbers
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity
from abistore.model.deltas import Changed, Delta, Subject
from abistore.model.mangling.symbols import without_stack
from abistore.model.names import EXPORTS, SELF, Name, is_number
from abistore.model.shapes import Function, Variable
from abistore.model.tables import Symbol


class Behind(msgspec.Struct, frozen=True):
    """What is behind a number: its ``symbols``, and its ``names`` by debug information. Empty where nothing tells."""

    symbols: Set[str]
    names: Set[str]

    @property
    def told(self) -> tuple[str, ...]:
        """The names of what is there, sorted."""
        return tuple(sorted({demangle(each) for each in self.symbols} or self.names))

    def is_another(self, new: Behind) -> bool:
        """Whether it is known to be something else than what is behind the number in the new release."""
        for old, other in ((self.symbols, new.symbols), (self.names, new.names)):
            if old and other:
                return old.isdisjoint(other)
        return bool(self.told and new.told) and self._entities.isdisjoint(new._entities)

    @property
    def _entities(self) -> Set[str]:
        return {entity(demangle(each)) for each in self.symbols | self.names}


def number_deltas(context: Context) -> Iterator[Delta[Any]]:
    """The numbers of both releases behind which something else is now, and named exports with other numbers."""
    if context.old.snapshot.target.format != "pe":
        return
    yield from _renumbered(context)
    differing = {name for facet in ("symbol", "layout") for name in context.differing[facet] if is_number(name)}
    for name in sorted(differing & shared_numbers(context)):
        old, new = behind(context.old, name), behind(context.new, name)
        if old.is_another(new):
            yield Changed(Subject(name), BehindNumber(old.told), BehindNumber(new.told))


def _renumbered(context: Context) -> Iterator[Delta[Any]]:
    """The named exports of both releases that have another number, where the authors of both chose the numbers."""
    found = [
        (name.spelling, old, new)
        for name in sorted(context.differing["symbol"])
        if name.kind in EXPORTS and not is_number(name)
        if (old := _number(context.old, name)) is not None and (new := _number(context.new, name)) is not None
        if old != new
    ]
    if found:
        before = ExportNumbers(tuple((name, old) for name, old, _ in found))
        yield Changed(Subject(SELF, "numbers"), before, ExportNumbers(tuple((name, new) for name, _, new in found)))


def _number(side: SideFacts, name: Name) -> int | None:
    return next((each.ordinal for each in side.variants("symbol", name) if isinstance(each, Symbol)), None)


def shared_numbers(context: Context) -> Set[Name]:
    """The exports by number of both releases, but for those that lead to another DLL in both."""
    both = context.old.exports.numbers & context.new.exports.numbers
    return {each for each in both if not all(_leads_away(side, each) for side in (context.old, context.new))}


def _leads_away(side: SideFacts, number: Name) -> bool:
    return any(isinstance(each, Symbol) and each.forwarded_to for each in side.variants("symbol", number))


def behind(side: SideFacts, number: Name) -> Behind:
    """What one side tells of what is behind a number."""
    symbols = {
        symbol
        for shape in side.variants("symbol", number)
        if isinstance(shape, Symbol)
        for symbol in (*(shape.pe.behind if shape.pe else ()), *_forwarded(shape))
    }
    described = side.variants("layout", number)
    names = frozenset(each.display for each in described if isinstance(each, Function | Variable))
    if side.snapshot.target.machine == "i386":
        symbols = set(map(without_stack, symbols))
    return Behind(symbols, names)


def _forwarded(symbol: Symbol) -> Iterator[str]:
    """The function of another DLL that an export leads to, unless that has a number alone as well."""
    name = (symbol.forwarded_to or "").rpartition(".")[2]
    if name and not name.startswith("#"):
        yield name
