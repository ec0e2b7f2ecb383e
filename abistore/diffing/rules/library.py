"""The library as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import exports_called, identified_examples
from abistore.diffing.parts import Dependency, ExportCounts, ToolkitMove, WorstImpact
from abistore.diffing.surface.export_table import is_entry_point
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.labels import family, name_word
from abistore.model.reach import DECLARING
from abistore.model.shapes import Library, Symbol
from abistore.model.words import counted
from abistore.patterns import pattern

MOST_GROWTH = 2
"""An export table that grows or shrinks by more than this factor ..."""

FEWEST_EXPORTS = 50
"""... and by so many exports at least is a changed export policy."""


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def soname_changed(library: Changed[Library]) -> Iterator[Note]:
    """The SONAME changed (for a DLL its name, for a dylib its install name).

    Existing binaries keep asking for the old name. They use the old release if both are installed, and do not start if
    it was replaced.

    Fix: ship both releases side by side, and rebuild consumers.
    """
    if library.old.name and library.new.name and library.old.name != library.new.name:
        yield Note(f"the {name_word(library.new.name)} changed", library.old.name, library.new.name)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def soname_missing(library: Changed[Library]) -> Iterator[Note]:
    """The library lost its SONAME (for a DLL its name, for a dylib its install name).

    Existing binaries keep asking for the old name, which a file may still have. A new link records the file name or
    path that it was given. After that, no later release can safely replace the library.

    Fix: link with ``-Wl,-soname,libname.so.N``.
    """
    if library.old.name and not library.new.name:
        yield Note(f"the library no longer has a {name_word(library.old.name)}", library.old.name)


@rule(Impact.COMPATIBLE, variant="added", evidence="symbol", element="library", action="changed")
def soname_changed_added(library: Changed[Library]) -> Iterator[Note]:
    """The library got a SONAME (for a DLL its name, for a dylib its install name).

    Existing binaries ask for the file name that they were linked with.

    Fix: keep that file name as a symbolic link.
    """
    if not library.old.name and library.new.name:
        yield Note(f"the library got a {name_word(library.new.name)}", None, library.new.name)


@rule(Impact.ADVICE, evidence="symbol", element="library", action="changed")
def soname_bump_recommended(outcome: Changed[WorstImpact]) -> Iterator[Note]:
    """There are breaking changes, and the SONAME stayed the same.

    Package managers and loaders treat the new release as a replacement for the old one. This is advice; the changes
    themselves decide the verdict.

    Fix: bump the SONAME, or revert the breaking changes.
    """
    old, new = outcome.old, outcome.new
    if old.worst is Impact.BREAKING and old.soname and old.soname == new.soname:
        yield Note(f"breaking changes under the same {name_word(old.soname)}, {new.soname}")


@rule(Impact.ADVICE, evidence="symbol", element="library", action="changed")
def soname_bump_unnecessary(outcome: Changed[WorstImpact], context: Context) -> Iterator[Note]:
    """The SONAME changed, although nothing else breaks.

    Every program must be rebuilt without need. This is reported only if debug information or headers of both releases
    are complete: unchecked changes may justify the bump.

    Fix: keep the old SONAME.
    """
    old, new = outcome.old, outcome.new
    sides = context.old.snapshot, context.new.snapshot
    compared = any(all(each.evidence_of(facet).is_whole for each in sides) for facet in DECLARING)
    if old.soname and new.soname and old.soname != new.soname and old.worst is not Impact.BREAKING and compared:
        yield Note(f"nothing found that needs the new {name_word(new.soname)}", old.soname, new.soname)


"""What stands before the loader in the features of a file that can be run."""

_PARTS = r"c|m|dl|rt|pthread|util|resolv|anl|gcc_s|stdc\+\+|c\+\+|c\+\+abi|unwind|atomic"
_DLLS = (
    r"kernel32|kernelbase|ntdll|user32|gdi32|advapi32|ole32|oleaut32|shell32|shlwapi|ws2_32|rpcrt4|crypt32|bcrypt"
    r"|msvcrt|ucrtbase|vcruntime\d+(_\d)?|msvcp\d+(_\w+)?|(api|ext)-ms-[-\w]+"
)
_OF_MACOS = r"/usr/lib/[^/]+\.dylib|/System/Library/.+"
RUNTIME = pattern(rf"(lib({_PARTS})|ld-linux[-\w]*|ld64)\.so\.\d+|({_DLLS})\.dll|{_OF_MACOS}")
"""What comes with the compiler and the C library, and is there wherever either is."""


@rule(Impact.NOTICE, evidence="symbol", element="library", action="added")
def needed_added(dependency: Added[Dependency]) -> Iterator[Note]:
    """A part of the C or C++ runtime was added to the dependencies (DT_NEEDED, a DLL's imports, load commands).

    Every program has loaded it already, or gets it with what it has loaded.

    Fix: nothing.
    """
    if RUNTIME.fullmatch(dependency.new.soname):
        yield Note("another part of the runtime is needed", None, dependency.new.soname)


@rule(Impact.RISK, variant="library", evidence="symbol", element="library", action="added")
def needed_added_library(dependency: Added[Dependency], context: Context) -> Iterator[Note]:
    """A library was added to the dependencies (DT_NEEDED, a DLL's imports, load commands).

    Where it is not installed, no program starts. Packages install it too; copied files and containers do not.

    Fix: declare it in the package; a private dependency may be linked statically.
    """
    if not RUNTIME.fullmatch(dependency.new.soname) and not _renamed(dependency.new.soname, context):
        yield Note("another library is needed", None, dependency.new.soname)


@rule(Impact.RISK, variant="version", evidence="symbol", element="library", action="added")
def needed_added_version(dependency: Added[Dependency], context: Context) -> Iterator[Note]:
    """A dependency is needed with another ABI version, e.g. ``libssl.so.3`` for ``libssl.so.1.1``.

    Where only the old one is installed, no program starts. A process that uses both may mix their objects. Names that
    differ only in numbers count too (``libQt6Core.so.6`` for ``libQt5Core.so.5``).

    Fix: rebuild everything in the process that shares the dependency.
    """
    old = _renamed(dependency.new.soname, context)
    if old and not RUNTIME.fullmatch(dependency.new.soname):
        yield Note("another version of the library is needed", old, dependency.new.soname)


@rule(Impact.BREAKING, variant="toolkit", evidence="symbol", element="library", action="changed")
def needed_added_toolkit(toolkit: Changed[ToolkitMove], context: Context) -> Iterator[Note]:
    """The library moved to another major release of a C++ library that is part of its interface.

    Exports take or return classes of that library. An example is ``QString``, with ``libQt6Core.so.6`` instead of
    ``libQt5Core.so.5``. The class names changed, or objects of the same class have another layout. Existing binaries
    are linked with the old library and have its classes compiled in. They do not start, or pass objects that the new
    code misreads. Everything that follows is listed below this finding.

    Fix: bump the SONAME together with the other library's, and rebuild programs against both.
    """
    move = toolkit.old
    called = [old for old, _ in move.pairs]
    met = {export for type in move.types for export in context.affected(type)}
    yield Note(
        f"another release of a library that is part of the interface: {_told(move)}",
        ", ".join(move.before) + (f": {identified_examples(called)}" if called else ""),
        ", ".join(move.after),
        affected=tuple(sorted({*exports_called(called, context), *met})),
    )


def _told(move: ToolkitMove) -> str:
    exports, types = counted(len(move.pairs), "export"), counted(len(move.types), "class", "classes")
    parts = (f"{exports} renamed" if move.pairs else "", f"{types} laid out differently" if move.types else "")
    return ", ".join(filter(None, parts))


def _renamed(soname: str, context: Context) -> str | None:
    """What the old side needed of the same library, if the new side no longer does."""
    old, new = context.old.library, context.new.library
    gone = [each for each in old.needed if each not in new.needed] if old and new else []
    return next((each for each in gone if family(each) == family(soname)), None)


@rule(Impact.NOTICE, evidence="symbol", element="library", action="removed")
def needed_removed(dependency: Removed[Dependency], context: Context) -> Iterator[Note]:
    """A dependency was removed (DT_NEEDED, a DLL's imports, load commands).

    Programs that used its symbols without linking to it themselves no longer find them, if nobody else loads it.

    Fix: nothing; such programs must link to what they use.
    """
    old, new = (set(side.library.needed if side.library else ()) for side in (context.old, context.new))
    if family(dependency.old.soname) not in map(family, new - old) or RUNTIME.fullmatch(dependency.old.soname):
        yield Note("a library is no longer needed", dependency.old.soname)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def needed_order_changed(library: Changed[Library]) -> Iterator[Note]:
    """The dependencies are loaded in another order.

    Where two of them define the same symbol, the other definition now wins.

    Fix: keep the order of libraries on the link line.
    """
    old = [each for each in library.old.needed if each in library.new.needed]
    new = [each for each in library.new.needed if each in library.old.needed]
    if old != new and not _asks_each_for_its_own(library.new):
        yield Note("the order of needed libraries changed", ", ".join(old), ", ".join(new))


def _asks_each_for_its_own(library: Library) -> bool:
    """Whether every import names its library, so that their order decides nothing: DLLs, and dylibs with two levels."""
    if library.elf is not None:
        return False
    return library.pe is not None or (library.macho is not None and "flat namespace" not in library.features)


def _path(parts: tuple[str, ...]) -> str | None:
    return ":".join(parts) or None


def _path_sort(library: Library) -> str | None:
    return "RPATH" if library.on_elf.rpath else "RUNPATH" if library.search_paths else None


def _same_path_sort(library: Changed[Library]) -> bool:
    sorts = {_path_sort(library.old), _path_sort(library.new)} - {None}
    return len(sorts) < 2


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="changed")
def rpath_changed(library: Changed[Library]) -> Iterator[Note]:
    """The search path for dependencies changed (DT_RPATH).

    The loader may find other copies of the dependencies.

    Fix: nothing, if the dependencies are installed in system folders.
    """
    old, new = library.old.on_elf.rpath, library.new.on_elf.rpath
    if old != new and _same_path_sort(library):
        yield Note("the search path changed", _path(old), _path(new))


@rule(Impact.NOTICE, evidence="symbol", element="library", action="changed")
def runpath_changed(library: Changed[Library]) -> Iterator[Note]:
    """The search path for dependencies changed (DT_RUNPATH).

    The loader may find other copies of the dependencies.

    Fix: nothing, if the dependencies are installed in system folders.
    """
    old, new = library.old.search_paths, library.new.search_paths
    if old != new and _same_path_sort(library):
        yield Note("the search path changed", _path(old), _path(new))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def rpath_type_changed(library: Changed[Library]) -> Iterator[Note]:
    """The search path switched between DT_RPATH and DT_RUNPATH.

    RPATH precedes ``LD_LIBRARY_PATH`` and applies to dependencies of dependencies; RUNPATH does neither. The loader may
    find other copies of libraries, or none.

    Fix: choose one explicitly: ``-Wl,--enable-new-dtags`` or ``-Wl,--disable-new-dtags``.
    """
    if not _same_path_sort(library):
        yield Note("the kind of search path changed", _path_sort(library.old), _path_sort(library.new))


@rule(
    Impact.COMPATIBLE, evidence="symbol", element="library", action="changed", aliases=("link_export_policy_changed",)
)
def abi_surface_explosion(surface: Changed[ExportCounts]) -> Iterator[Note]:
    """The number of exports jumped or collapsed.

    The export policy changed: a version script or ``-fvisibility=hidden`` was lost or introduced. Each new export is a
    promise that somebody may rely on.

    Fix: export by a list (version script, ``__attribute__((visibility("default")))``).
    """
    old, new = surface.old.exports, surface.new.exports
    if abs(old - new) >= FEWEST_EXPORTS and max(old, new) > MOST_GROWTH * max(1, min(old, new)):
        yield Note("the number of exports changed much", str(old), str(new))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def file_kind_changed(library: Changed[Library]) -> Iterator[Note]:
    """A shared library became an executable, or the reverse.

    The loader does not load a position-independent executable as a library.

    Fix: link with ``-shared``.
    """
    both_told = library.old.on_macho.file_type != library.new.on_macho.file_type  # by macho_filetype_changed
    if library.old.file_kind != library.new.file_kind and not both_told:
        yield Note("the kind of file changed", library.old.file_kind, library.new.file_kind)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def library_version_downgraded(outcome: Changed[WorstImpact], context: Context) -> Iterator[Note]:
    """The new side has a lower version than the old one.

    The sides were probably swapped, or an older build was compared as a new release. Programs built for the newer one
    may use what the older one lacks.

    Fix: compare the older release with the newer one, in this order.
    """
    old, new = _numbers(context.old.snapshot.version or ""), _numbers(context.new.snapshot.version or "")
    if old and new and old > new:
        yield Note("the version label is lower", context.old.snapshot.version, context.new.snapshot.version)


def _numbers(version: str) -> list[int]:
    """The numbers of a label that is made of them, without zeros at the end; none for any other label."""
    match = re.fullmatch(r"[vV]?(\d{1,18}(?:\.\d{1,18})*?)(?:\.0+)*", version, re.ASCII)
    return [int(each) for each in match[1].split(".")] if match else []


VENDORS = {
    "libsycl": "DPC++",
    "libacpp-rt": "AdaptiveCpp",
    "libhipSYCL-rt": "AdaptiveCpp",
    "libopensycl-rt": "AdaptiveCpp",
    "libComputeCpp": "ComputeCpp",
}
"""The vendor of each SYCL runtime, by the stem of its SONAME."""


def _vendor(library: Library) -> str | None:
    found = {VENDORS[stem] for each in library.needed if (stem := each.partition(".so")[0]) in VENDORS}
    return found.pop() if len(found) == 1 else None


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def sycl_implementation_changed(library: Changed[Library]) -> Iterator[Note]:
    """The library uses the SYCL runtime of another vendor.

    Queues, buffers and events that programs made with the old runtime are objects of other classes in another library.
    Functions misread them.

    Fix: ship one build for each SYCL implementation, each with its own name.
    """
    old, new = _vendor(library.old), _vendor(library.new)
    if old and new and old != new:
        yield Note("the vendor of the SYCL runtime changed", old, new)


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="removed")
def sycl_pi_entrypoint_removed(symbol: Removed[Symbol], context: Context) -> Iterator[Note]:
    """An entry point of a SYCL plugin was removed.

    The runtime looks up the plugin's functions by name when it opens the plugin. It rejects the backend, or fails at
    the first use.

    Fix: keep the entry point, or release plugin and runtime together.
    """
    name = symbol.subject.name
    if is_entry_point(name, context.old.snapshot):
        yield Note("the plugin's entry point was removed", name.spelling)


@rule(Impact.COMPATIBLE, evidence="symbol", element="functions", action="added")
def sycl_pi_entrypoint_added(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """An entry point of a SYCL plugin was added.

    Existing runtimes do not look for it.

    Fix: nothing.
    """
    name = symbol.subject.name
    if is_entry_point(name, context.new.snapshot):
        yield Note("the plugin's entry point was added", None, name.spelling)
