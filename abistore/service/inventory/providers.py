"""Which libraries provide a symbol, and in which of their releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.history import LineKey, LogEvent
from abistore.model.names import EXPORTS, Name
from abistore.model.shapes import AnyShape
from abistore.model.tables import Symbol
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.spelled import declarations_near, display


class ProvidedSymbol(msgspec.Struct, frozen=True):
    """A symbol that a line's releases export from ``since`` on.

    ``until`` is the first release without it; ``None`` where the latest one has it. ``symbol_versions`` are those that
    it has there.
    """

    line: LineKey
    name: Name
    display: str
    since: str
    until: str | None
    symbol_versions: tuple[str, ...] = ()
    first_stored: bool = False


def provides(
    symbol: str, *, database: Database = None, target: str | None = None, profile: str | None = None
) -> tuple[ProvidedSymbol, ...]:
    """The libraries that export a symbol or once did, line by line. ``symbol`` may be spelled as in the source.

    Raises :class:`SnapshotNotFound` where none does.
    """
    with using(database) as store, limits_for(len(store.lines()) << 20, "looking for the symbol"):
        platform = line_target(store, target)
        found = [
            each
            for key, events in store.logs(lengthened(symbol)).items()
            if platform in {None, key.target} and profile in {None, key.profile}
            for name in sorted({event.name for event in events if event.name.kind in EXPORTS})
            for each in _spans([event for event in events if event.name == name])
        ]
        if not found:
            hint = declarations_near(symbol, store.spellings_near(symbol))
            raise SnapshotNotFound(f"{symbol}: no stored library exports it", hint)
        return tuple(found)


def _spans(events: Iterable[LogEvent]) -> Iterator[ProvidedSymbol]:
    """From when to when a name is exported, as its log has it."""
    every = list(events)
    shapes = [shape for event in every if event.facet != "symbol" for shape in event.after]
    begun: LogEvent | None = None
    last: LogEvent | None = None
    for event in every:
        if event.facet != "symbol" or event.action == "not-observed":
            continue
        if event.action == "vanished" and begun is not None and last is not None:
            yield _provided(begun, last, shapes, event.release.version)
            begun = None
        elif event.after:
            begun, last = begun or event, event
    if begun is not None and last is not None:
        yield _provided(begun, last, shapes, None)


def _provided(begun: LogEvent, last: LogEvent, shapes: Iterable[AnyShape], until: str | None) -> ProvidedSymbol:
    symbols = [shape for shape in last.after if isinstance(shape, Symbol)]
    return ProvidedSymbol(
        begun.release.line,
        begun.name,
        display(begun.name, shapes),
        begun.release.version,
        until,
        tuple(sorted(each.version for each in symbols if each.version)),
        begun.first_stored,
    )
