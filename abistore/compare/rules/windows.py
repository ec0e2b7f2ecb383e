"""What only Windows DLLs have: numbers and forwarders of exports, delayed loading, and their own protections."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.compare.classify.export_batches import abridged, exports_called
from abistore.compare.context import Context
from abistore.compare.diff.parts import BehindNumber, ExportNumbers
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.tables import Library, Symbol
from abistore.model.words.counting import counted
from abistore.model.words.protections import ON_WINDOWS


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def pe_ordinal_retargeted(number: Changed[BehindNumber]) -> Iterator[Note]:
    """A number (ordinal) by which programs ask a DLL for an export is that of another one now.

    Such programs call something else. They ask by number for exports without a name (``EXPORTS open @7 NONAME`` in a
    definition file): what is behind the number is read from the symbol table, from debug information or from the
    forwarder. Named exports are reported where a program that is given with ``--for`` or stored asks for the number.

    Fix: keep the number of each export in the definition file, and give new exports new numbers.
    """
    yield Note("something else is behind the number", ", ".join(number.old.names), ", ".join(number.new.names))


@rule(Impact.RISK, variant="renumbered", evidence="symbol", element="library", action="changed")
def pe_ordinal_retargeted_renumbered(exports: Changed[ExportNumbers], context: Context) -> Iterator[Note]:
    """Exports of a DLL that have a name got other numbers (ordinals).

    Import libraries ask for an export by its name where it has one, and programs find it whatever its number is. What
    asks for the number all the same, as ``GetProcAddress(dll, MAKEINTRESOURCE(7))`` does, gets another function.

    Fix: keep the number of each export in the definition file, and give new exports new numbers.
    """
    old, new = ([f"{name} @{number}" for name, number in side.numbers] for side in (exports.old, exports.new))
    names = [name for name, _ in exports.old.numbers]
    what = counted(len(names), "named export has another number", "named exports have other numbers")
    yield Note(what, abridged(old), abridged(new), affected=exports_called(names, context))


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def pe_forwarder_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A forwarded export leads to another symbol.

    Programs that were built against the old release call that symbol now, without being linked anew.

    Fix: forward to the same symbol, or export the new one under a name of its own.
    """
    old, new = symbol.old.forwarded_to, symbol.new.forwarded_to
    if context.old.snapshot.target.format == "pe" and old and new and _symbol(old) != _symbol(new):
        yield Note("the export is forwarded to another symbol", old, new)


@rule(Impact.RISK, variant="moved", evidence="symbol", element="functions", action="changed")
def pe_forwarder_changed_moved(symbol: Changed[Symbol]) -> Iterator[Note]:
    """An export comes from another library: it is forwarded to the same symbol there, or is no longer.

    Programs work as before where that library is installed and its symbol does the same. So they do where an export
    moved to a library that this one needs (ELF) or re-exports (Mach-O), and that the release brings along. On ELF, a
    program that is linked again has to name that library.

    Fix: make sure that the library behind the forwarder is shipped with this one.
    """
    old, new = symbol.old.forwarded_to, symbol.new.forwarded_to
    if old != new and not (old and new and _symbol(old) != _symbol(new)):
        yield Note("the export comes from another library", old, new)


def _symbol(forwarder: str) -> str:
    """``name`` of ``OTHER.name``."""
    return forwarder.rpartition(".")[2]


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def pe_import_load_mode_changed(library: Changed[Library]) -> Iterator[Note]:
    """A DLL that this one needs is loaded at another time: at start, or at the first call (delayed loading).

    Where it is missing, programs that did start no longer do, or fail at a call that they did not check.

    Fix: nothing, where the DLL is always installed; else keep ``/DELAYLOAD``.
    """
    both = set(library.old.needed) & set(library.new.needed)
    old, new = (set(side.on_pe.delay_loaded) & both for side in (library.old, library.new))
    for dll in sorted(old ^ new):
        now = ("at the first call", "at start") if dll in old else ("at start", "at the first call")
        yield Note(f"{dll} is loaded at another time", *now)


@rule(
    Impact.RISK,
    variant="windows",
    evidence="symbol",
    element="library",
    action="changed",
    aliases=("os_deployment_floor_raised",),
)
def runtime_floor_raised_windows(library: Changed[Library]) -> Iterator[Note]:
    """The DLL needs a newer version of Windows.

    Older systems refuse to load it, and with it every program that uses it.

    Fix: link with ``/SUBSYSTEM:CONSOLE,6.01`` (``-Wl,--major-subsystem-version``) for the oldest that is supported.
    """
    old, new = library.old.on_pe.minimum_system, library.new.on_pe.minimum_system
    if old and new and _numbers(old) < _numbers(new):
        yield Note("a newer version of Windows is needed", old, new)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def system_minimum_widened(library: Changed[Library]) -> Iterator[Note]:
    """The DLL can be loaded by older versions of Windows, too.

    Consumers work as before.

    Fix: nothing.
    """
    old, new = library.old.on_pe.minimum_system, library.new.on_pe.minimum_system
    if old and new and _numbers(new) < _numbers(old):
        yield Note("an older version of Windows will do", old, new)


def _numbers(version: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d{1,9}", version)]


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def pe_hardening_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The DLL no longer asks for a protection (ASLR, DEP, CFG, SafeSEH).

    Programs work as before, and are easier to attack. Without ASLR in one DLL, its code is at a known place in each.

    Fix: link with ``/DYNAMICBASE /NXCOMPAT /HIGHENTROPYVA /GUARD:CF``, which are the defaults of today's linkers.
    """
    old, new = (set(side.protections) & ON_WINDOWS for side in (library.old, library.new))
    if library.old.pe and library.new.pe and old - new:
        yield Note("protections were lost", _listed(old), _listed(new))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def pe_hardening_improved(library: Changed[Library]) -> Iterator[Note]:
    """The DLL asks for a further protection (ASLR, DEP, CFG, SafeSEH).

    Consumers work as before.

    Fix: nothing.
    """
    old, new = (set(side.protections) & ON_WINDOWS for side in (library.old, library.new))
    if library.old.pe and library.new.pe and new - old and not old - new:
        yield Note("protections were won", _listed(old), _listed(new))


def _listed(protections: set[str]) -> str | None:
    return ", ".join(sorted(protections)) or None
