"""The history of one declaration: the releases in which it appeared, changed or vanished, in every line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.cpp_names.spelling import spelled_out
from abistore.model.history import LineKey, LogEvent
from abistore.model.names import Facet, Name
from abistore.model.shapes import Alias, AnyShape, Named, Qualified
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.listing import lines_of
from abistore.service.spelled import declarations_near, display

if TYPE_CHECKING:
    from abistore.store.store import Store

LISTED = 8


class LogEntry(msgspec.Struct, frozen=True):
    """One release in which a declaration appeared, changed, vanished or could not be observed.

    ``before`` and ``after`` are its declarations in C or C++ with offsets, one text for each variant. ``first_stored``:
    the release is the oldest of its line, so what was before is not known. ``alias_of`` is the type that an alias
    stands for; it has a log of its own.
    """

    line: LineKey
    version: str
    date: datetime
    name: Name
    display: str
    facet: Facet
    action: Literal["appeared", "changed", "vanished", "not-observed"]
    before: tuple[str, ...]
    after: tuple[str, ...]
    first_stored: bool = False
    alias_of: str | None = None


def log(
    name: str,
    *,
    library: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[LogEntry, ...]:
    """Every release in which a declaration appeared, changed or vanished, line by line, oldest first.

    ``name`` is a linker name or a qualified source name. Raises :class:`SnapshotNotFound` if no library has it.
    """
    with using(database) as store, limits_for(len(store.lines()) << 20, f"looking for {_brief(name)}"):
        keys = _lines_searched(store, library, target, profile)
        found = store.logs(lengthened(name), library)
        events = [event for key in keys for event in found.get(key, ())]
        if not events:
            raise _unseen(name, tuple(found)) if found else _no_declaration(store, name, library, keys)
        return tuple(map(_log_entry, events))


def _brief(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}..."


def _lines_searched(store: Store, library: str | None, target: str | None, profile: str | None) -> tuple[LineKey, ...]:
    """The lines to search. That there is none is an error only if a library was named."""
    if library:
        return lines_of(store, library, target, profile)
    wanted = line_target(store, target)
    return tuple(key for key in store.lines() if wanted in {None, key.target} and profile in {None, key.profile})


def _unseen(name: str, having: Sequence[LineKey]) -> SnapshotNotFound:
    """The error for a ``name`` that only lines of another target or profile have."""
    message = f"{name}: no release of this target and profile has a declaration of this name"
    return SnapshotNotFound(message, f"stored in {'; '.join(map(str, having[:LISTED]))}")


def _no_declaration(store: Store, name: str, library: str | None, keys: Sequence[LineKey]) -> SnapshotNotFound:
    blind = sorted({key.library for key in keys} - {key.library for key in store.lines_with_types()})
    if library:
        unseen = "; its types are not known, for want of debug information" if blind else ""
        message = f"{name}: no release of {library} has a declaration of this name{unseen}"
    else:
        more = f" and {len(blind) - LISTED} more" if len(blind) > LISTED else ""
        listed = ", ".join(blind[:LISTED]) + more
        unseen = f"; the types of {listed} are not known, for want of debug information" if blind else ""
        message = f"no stored library has {name}{unseen}"
    known = store.spellings(library) if library else store.spellings_near(name)
    return SnapshotNotFound(message, declarations_near(name, known))


def _log_entry(event: LogEvent) -> LogEntry:
    languages = event.release.provenance.languages
    return LogEntry(
        line=event.release.line,
        version=event.release.version,
        date=event.release.released or event.release.ingested,
        name=event.name,
        display=display(event.name, event.after or event.before),
        facet=event.facet,
        action=event.action,
        before=tuple(spelled_out(event.name, event.before, languages=languages)),
        after=tuple(spelled_out(event.name, event.after, languages=languages)),
        first_stored=event.first_stored,
        alias_of=next((stood for shape in event.after or event.before if (stood := _stood_for(shape))), None),
    )


def _stood_for(shape: AnyShape) -> str | None:
    """The named type that an alias stands for."""
    if not isinstance(shape, Alias):
        return None
    target = shape.target.target if isinstance(shape.target, Qualified) else shape.target
    return target.name.spelling if isinstance(target, Named) else None
