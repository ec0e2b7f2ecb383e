"""Dylibs of macOS, and DLLs of Windows."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import abridged, exports_called
from abistore.diffing.parts import BehindNumber, ExportNumbers
from abistore.diffing.tables import differently_linked, recorded_differently
from abistore.model.declarations import Changed
from abistore.model.findings import Impact
from abistore.model.labels import library_name
from abistore.model.shapes import Library, MachoLibrary, Symbol
from abistore.model.words import ON_MACOS, ON_WINDOWS, counted

FLAT, EXTENSIONS = "flat namespace", "app extensions"
NUMBERS = 3


def _number(version: str | None) -> tuple[int, ...]:
    """A version for comparing: ``1.2`` is ``1.2.0``; what is no version is below all others."""
    parts = [int(each) if each.isdecimal() and each.isascii() else -1 for each in (version or "").split(".")]
    return tuple([*parts, 0, 0, 0][:NUMBERS])


def _of_both(library: Changed[Library]) -> tuple[MachoLibrary, MachoLibrary] | None:
    old, new = library.old.macho, library.new.macho
    return (old, new) if old and new else None


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def compat_version_changed(library: Changed[Library]) -> Iterator[Note]:
    """The compatibility version of the dylib was lowered.

    Programs recorded the old one as the minimum that they accept. dyld rejects the library with "Incompatible library
    version". Programs built for macOS 10.14, iOS 12 or newer are not affected.

    Fix: never lower ``-compatibility_version`` under one install name.
    """
    old, new = library.old.compatibility_version, library.new.compatibility_version
    if old is not None and new is not None and _number(new) < _number(old):
        yield Note("the compatibility version is lower", old, new)


@rule(Impact.COMPATIBLE, variant="raised", evidence="symbol", element="library", action="changed")
def compat_version_changed_raised(library: Changed[Library]) -> Iterator[Note]:
    """The compatibility version of the dylib was raised.

    Existing binaries ask for the old one or less, and load. Programs linked against the new release ask for at least
    this one.

    Fix: nothing, if exports were added.
    """
    old, new = library.old.compatibility_version, library.new.compatibility_version
    if old is not None and new is not None and _number(new) > _number(old):
        yield Note("the compatibility version is higher", old, new)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def macho_filetype_changed(library: Changed[Library]) -> Iterator[Note]:
    """A dylib became a bundle or an executable, or the reverse.

    Programs link to dylibs and open bundles. dyld and linkers reject a bundle that a program is linked to.

    Fix: link with ``-dynamiclib``, or with ``-bundle`` where it is to be opened only.
    """
    both = _of_both(library)
    if both and both[0].file_type != both[1].file_type:
        yield Note("the file type changed", both[0].file_type, both[1].file_type)


# --- re-exports ---------------------------------------------------------------------------------------------------


def _reexports(facts: MachoLibrary) -> dict[str, str]:
    """The re-exported libraries by the names that their releases share."""
    return {library_name(each): each for each in facts.reexports}


@rule(Impact.BREAKING, variant="removed", evidence="symbol", element="library", action="removed")
def macho_reexport_changed_removed(library: Changed[Library]) -> Iterator[Note]:
    """A library is no longer re-exported.

    Programs that used its symbols through this library recorded this one. dyld does not find them there.

    Fix: re-export it again (``-reexport_library``, ``-reexport-l``).
    """
    both = _of_both(library)
    old, new = map(_reexports, both) if both else ({}, {})
    for each in sorted(old.keys() - new.keys()):
        yield Note("the library is no longer re-exported", old[each])


@rule(Impact.COMPATIBLE, variant="added", evidence="symbol", element="library", action="added")
def macho_reexport_changed_added(library: Changed[Library]) -> Iterator[Note]:
    """Another library is re-exported.

    Its exports are found through this one, too. Existing binaries do not look for them here.

    Fix: nothing.
    """
    both = _of_both(library)
    old, new = map(_reexports, both) if both else ({}, {})
    for each in sorted(new.keys() - old.keys()):
        yield Note("another library is re-exported", None, new[each])


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def macho_reexport_changed(exported: Changed[Library] | Changed[Symbol], context: Context) -> Iterator[Note]:
    """A re-export resolves to another library or symbol.

    Existing binaries get the other one under the name that they know. This file does not show whether it behaves the
    same.

    Fix: compare the releases of the re-exported library, too.
    """
    if context.old.snapshot.target.format != "macho":
        return
    if isinstance(exported.old, Symbol):
        behind = [each.forwarded_to for each in (exported.old, exported.new) if isinstance(each, Symbol)]
        if all(behind) and len(set(behind)) > 1:
            yield Note("the name resolves to another symbol", behind[0], behind[1])
    elif isinstance(exported.new, Library):
        old, new = _reexports(exported.old.on_macho), _reexports(exported.new.on_macho)
        for each in sorted(old.keys() & new.keys()):
            if old[each] != new[each]:
                yield Note("another version of the library is re-exported", old[each], new[each])


# --- how the library is linked ------------------------------------------------------------------------------------


def _linkage(facts: MachoLibrary) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for name, word in facts.linkage:
        found.setdefault(name, []).append(word)
    return {name: ", ".join(words) for name, words in found.items()}


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def macho_linkage_flags_changed(library: Changed[Library]) -> Iterator[Note]:
    """The library or one of its dependencies is linked differently.

    A weak dependency may be missing at start; a plain one may not. A flat namespace uses symbols from whichever library
    has them. A library that is not safe for app extensions cannot be linked to one.

    Fix: keep ``-weak_library``, ``-upward_library``, ``-flat_namespace`` and ``-application_extension`` as they were.
    """
    both = _of_both(library)
    if both is None:
        return
    old, new = map(_linkage, both)
    for each in sorted((old.keys() | new.keys()) & set(library.old.needed) & set(library.new.needed)):
        if old.get(each) != new.get(each):
            yield Note(f"{each} is linked differently", old.get(each, "plain"), new.get(each, "plain"))
    for flag in (FLAT, EXTENSIONS):
        before, after = flag in library.old.features, flag in library.new.features
        if before != after:
            words = {True: flag, False: None}
            yield Note("the library is linked differently", words[before], words[after])


@rule(Impact.API_BREAK, variant="clients_narrowed", evidence="symbol", element="library", action="changed")
def macho_linkage_flags_changed_clients_narrowed(library: Changed[Library]) -> Iterator[Note]:
    """Fewer libraries may link to this one than before.

    Existing binaries load. The linker rejects clients that the library does not name, or that are outside its umbrella
    framework.

    Fix: name all clients (``-allowable_client``), or link to the umbrella framework.
    """
    both = _of_both(library)
    if both and (gone := _fewer(both[0].clients, both[1].clients)) is not None:
        yield Note("fewer clients may link to the library", ", ".join(gone) or "all", ", ".join(both[1].clients))


@rule(Impact.COMPATIBLE, variant="clients_widened", evidence="symbol", element="library", action="changed")
def macho_linkage_flags_changed_clients_widened(library: Changed[Library]) -> Iterator[Note]:
    """More libraries may link to this one than before.

    Existing binaries load as before.

    Fix: nothing.
    """
    both = _of_both(library)
    if both and both[0].clients != both[1].clients and _fewer(both[0].clients, both[1].clients) is None:
        old, new = (", ".join(each.clients) or "all" for each in both)
        yield Note("more clients may link to the library", old, new)


def _fewer(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...] | None:
    """The clients that may no longer link; none are named where all could; ``None`` where nobody lost it."""
    gone = tuple(each for each in old if each not in new)
    return (gone or None) if old and new else () if new and not old else None


# --- what linkers are told ----------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="hidden", evidence="symbol", element="library", action="changed")
def macho_directive_changed_hidden(library: Changed[Library], context: Context) -> Iterator[Note]:
    """Programs for some systems can no longer link to an export.

    ``$ld$hide$os10.15$_open`` hides an export from programs for macOS 10.15, and ``$ld$add`` offers them one that the
    library itself does not have. Existing binaries load as before.

    Fix: hide an export only from systems that never had it.
    """
    for system, symbol in differently_linked(context, lost=True) if _of_both(library) else ():
        yield Note("programs for a system can no longer link to an export", f"{symbol} for {system}")


@rule(Impact.COMPATIBLE, variant="shown", evidence="symbol", element="library", action="changed")
def macho_directive_changed_shown(library: Changed[Library], context: Context) -> Iterator[Note]:
    """Programs for some systems can link to an export that was hidden from them.

    Existing binaries load as before.

    Fix: nothing.
    """
    for system, symbol in differently_linked(context, lost=False) if _of_both(library) else ():
        yield Note("programs for a system can link to an export", None, f"{symbol} for {system}")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def macho_directive_changed(library: Changed[Library], context: Context) -> Iterator[Note]:
    """Programs relinked for some systems record another library, version or strength of a symbol.

    ``$ld$previous`` and ``$ld$install_name`` name the library that has these symbols on older systems. Existing
    binaries load as before; relinked ones start where the recorded library exists.

    Fix: keep the directives for all systems that are supported.
    """
    for old, new in recorded_differently(context) if _of_both(library) else ():
        yield Note("the linker directives changed", old, new)


def _systems(library: Changed[Library]) -> tuple[str | None, str | None]:
    """The oldest versions of macOS or Windows that load the library, before and after; none if a side lacks it."""
    if both := _of_both(library):
        return both[0].minimum_os, both[1].minimum_os
    old, new = library.old.on_pe.minimum_system, library.new.on_pe.minimum_system
    return (old, new) if old and new else (None, None)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def system_minimum_widened(library: Changed[Library]) -> Iterator[Note]:
    """The library loads on older versions of macOS or Windows than before.

    Consumers work as before.

    Fix: nothing.
    """
    old, new = _systems(library)
    if old and _number(new) < _number(old):
        yield Note("older systems load the library", old, new)


def raised_system(library: Changed[Library]) -> tuple[str | None, str] | None:
    """The oldest system that loaded the library, and the newer one that is needed now."""
    old, new = _systems(library)
    return (old, new) if new and _number(new) > _number(old) else None


# --- the signature ------------------------------------------------------------------------------------------------


def _asked(library: Library) -> set[str]:
    return set(library.protections) & ON_MACOS


@rule(Impact.RISK, evidence="symbol", element="library", action="removed")
def macho_protection_removed(library: Changed[Library]) -> Iterator[Note]:
    """The library lost its signature, or a protection requested by its signature or header.

    Processes with library validation, and every process on Apple silicon, reject a library without a signature.

    Fix: sign the library after the last change to it (``codesign``), with the options of the old release.
    """
    if gone := _asked(library.old) - _asked(library.new):
        yield Note("a protection was removed", ", ".join(sorted(gone)))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def macho_protection_added(library: Changed[Library]) -> Iterator[Note]:
    """The library is now signed, or requests an additional protection.

    Consumers work as before.

    Fix: nothing.
    """
    if come := _asked(library.new) - _asked(library.old):
        yield Note("a protection was added", None, ", ".join(sorted(come)))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def pe_ordinal_retargeted(number: Changed[BehindNumber]) -> Iterator[Note]:
    """An ordinal of a DLL belongs to another export now.

    Programs that import the export by ordinal call something else. They do so for exports without a name (``EXPORTS
    open @7 NONAME`` in a definition file). The symbol table, debug information or the forwarder shows the function
    behind the ordinal. Named exports are reported only for a program that imports them by ordinal, stored or given with
    ``--for``.

    Fix: keep the ordinal of each export in the definition file, and give new exports new ordinals.
    """
    yield Note("the ordinal belongs to another function", ", ".join(number.old.names), ", ".join(number.new.names))


@rule(Impact.RISK, variant="renumbered", evidence="symbol", element="library", action="changed")
def pe_ordinal_retargeted_renumbered(exports: Changed[ExportNumbers], context: Context) -> Iterator[Note]:
    """Named exports of a DLL got other ordinals.

    Import libraries use the name of an export if it has one, so programs find it under any ordinal. Code that uses the
    ordinal, such as ``GetProcAddress(dll, MAKEINTRESOURCE(7))``, gets another function.

    Fix: keep the ordinal of each export in the definition file, and give new exports new ordinals.
    """
    old, new = ([f"{name} @{number}" for name, number in side.numbers] for side in (exports.old, exports.new))
    names = [name for name, _ in exports.old.numbers]
    what = counted(len(names), "the ordinal of a named export changed", "the ordinals of named exports changed")
    yield Note(what, abridged(old), abridged(new), affected=exports_called(names, context))


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="changed")
def pe_forwarder_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A forwarded export resolves to another symbol.

    Programs built against the old release call that symbol now, without being relinked.

    Fix: forward to the same symbol, or export the new one under its own name.
    """
    old, new = symbol.old.forwarded_to, symbol.new.forwarded_to
    if context.old.snapshot.target.format == "pe" and old and new and _symbol(old) != _symbol(new):
        yield Note("the export is forwarded to another symbol", old, new)


@rule(Impact.RISK, variant="moved", evidence="symbol", element="functions", action="changed")
def pe_forwarder_changed_moved(symbol: Changed[Symbol]) -> Iterator[Note]:
    """An export moved to or from another library: it is forwarded there, or no longer is.

    Programs work as before if that library is installed and its symbol does the same. The same applies to exports that
    moved to a needed (ELF) or re-exported (Mach-O) library of the release. On ELF, a relinked program has to name that
    library.

    Fix: ship the other library together with this one.
    """
    old, new = symbol.old.forwarded_to, symbol.new.forwarded_to
    if old != new and not (old and new and _symbol(old) != _symbol(new)):
        yield Note("the export comes from another library", old, new)


def _symbol(forwarder: str) -> str:
    """``name`` of ``OTHER.name``."""
    return forwarder.rpartition(".")[2]


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def pe_import_load_mode_changed(library: Changed[Library]) -> Iterator[Note]:
    """A needed DLL is loaded at another time: at start, or at the first call (delayed loading).

    Where it is missing, programs no longer start, or fail at a call that they did not check.

    Fix: nothing, if the DLL is always installed; else keep ``/DELAYLOAD``.
    """
    both = set(library.old.needed) & set(library.new.needed)
    old, new = (set(side.on_pe.delay_loaded) & both for side in (library.old, library.new))
    for dll in sorted(old ^ new):
        now = ("at the first call", "at start") if dll in old else ("at start", "at the first call")
        yield Note(f"{dll} is loaded at another time", *now)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def pe_hardening_weakened(library: Changed[Library]) -> Iterator[Note]:
    """The DLL no longer requests a protection (ASLR, DEP, CFG, SafeSEH).

    Programs work as before, and are easier to attack. Without ASLR in one DLL, its code is at a known address in each
    process.

    Fix: link with ``/DYNAMICBASE /NXCOMPAT /HIGHENTROPYVA /GUARD:CF``, which are the defaults of today's linkers.
    """
    old, new = (set(side.protections) & ON_WINDOWS for side in (library.old, library.new))
    if library.old.pe and library.new.pe and old - new:
        yield Note("protections were removed", _listed(old), _listed(new))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def pe_hardening_improved(library: Changed[Library]) -> Iterator[Note]:
    """The DLL requests an additional protection (ASLR, DEP, CFG, SafeSEH).

    Consumers work as before.

    Fix: nothing.
    """
    old, new = (set(side.protections) & ON_WINDOWS for side in (library.old, library.new))
    if library.old.pe and library.new.pe and new - old and not old - new:
        yield Note("protections were added", _listed(old), _listed(new))


def _listed(protections: set[str]) -> str | None:
    return ", ".join(sorted(protections)) or None
