"""Releases of several libraries: libraries that come and go, and what they no longer find in each other."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.export_batches import abridged
from abistore.compare.diff.parts import (
    DoubleExports,
    PackagedLibrary,
    PackagedSoname,
    ReleasedLibrary,
    SharedRecord,
    SiblingNeed,
    SiblingSymbol,
    SiblingVersion,
)
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def bundle_library_removed(library: Removed[ReleasedLibrary]) -> Iterator[Note]:
    """The release has a library no longer, and programs that link to it do not start.

    The loader looks for the library by its SONAME, and finds none.

    Fix: keep the library, if only as one that depends on those that took over, so that programs still find it.
    """
    target = f" for {library.old.target}" if library.old.target else ""
    yield Note(f"the release no longer has the library{target}", library.old.soname or library.old.name)


@rule(Impact.RISK, variant="moved", evidence="symbol", element="library", action="changed")
def bundle_library_removed_moved(library: Changed[PackagedLibrary]) -> Iterator[Note]:
    """A library moved to another package, which is installed with the one that had it.

    The package depends on the other one, so the loader finds the library as before. Its new release was not compared
    here.

    Fix: nothing in this package; compare the other package with the release that had the library.
    """
    yield Note("the library moved to a package that this one depends on", library.old.package, library.new.package)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def bundle_library_added(library: Added[ReleasedLibrary]) -> Iterator[Note]:
    """The release has a further library.

    Built programs do not ask for it. From now on its exports are a promise, too.

    Fix: nothing; keep it out of the package if it is private.
    """
    target = f" for {library.new.target}" if library.new.target else ""
    yield Note(f"the release has the library now{target}", None, library.new.soname or library.new.name)


@rule(Impact.BREAKING, variant="package_kept", evidence="symbol", element="library", action="changed")
def soname_changed_package_kept(library: Changed[PackagedSoname]) -> Iterator[Note]:
    """The SONAME of a library changed, and the package of a distribution that holds it kept its name.

    Other packages depend on the name. They are installed with the new package, and their programs do not start: the
    loader finds no file of the old SONAME.

    Fix: rename the package with the SONAME (``libfoo1`` to ``libfoo2``), so that both can be installed.
    """
    what = f"the SONAME changed, and the package is still called {library.old.package}"
    yield Note(what, library.old.soname, library.new.soname)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def bundle_soname_skew(need: Changed[SiblingNeed]) -> Iterator[Note]:
    """A library asks for a SONAME that another library of the release had, and has changed.

    The library was not linked anew when the other one changed its SONAME. The loader does not find what it asks for,
    and programs that use it do not start; where the former release is still installed, they load both copies.

    Fix: link the library with the new release of the other one.
    """
    yield Note(f"asks for a SONAME that {need.new.library} does not have", need.old.soname, need.new.soname)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bundle_unresolved_intra_dependency(need: Removed[SiblingNeed]) -> Iterator[Note]:
    """A library asks for a SONAME that the release had, and has no longer.

    The library loads where something else installs that SONAME, and nowhere else.

    Fix: keep the library in the release, or have the package depend on the one that has it now.
    """
    yield Note("asks for a library that left the release", need.old.soname)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def bundle_intra_dep_removed(symbol: Removed[SiblingSymbol | SiblingVersion]) -> Iterator[Note]:
    """A library needs a symbol, or a version of symbols, that the other library of the release does not have.

    The loader refuses the library, or ends the program when the function is first called. The libraries of the release
    were not built from one state of the sources.

    Fix: build all libraries of a release together, and link them with ``-Wl,-z,defs``.
    """
    old = symbol.old
    if isinstance(old, SiblingVersion):
        yield Note(f"asks for a symbol version that {old.provider} does not define", old.version)
    else:
        yield Note(f"needs a symbol that {old.provider} no longer exports", demangle(old.symbol))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bundle_provider_changed(symbol: Changed[SiblingSymbol]) -> Iterator[Note]:
    """A symbol that a library needs moved to another library of the release.

    The new release works in itself. A library of it beside one of the former release finds the symbol nowhere, or
    twice.

    Fix: let packages depend on each other's exact version, or export the symbol from both libraries.
    """
    yield Note("gets a symbol from another library of the release", symbol.old.provider, symbol.new.provider)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def bundle_duplicate_provider(double: Added[DoubleExports]) -> Iterator[Note]:
    """Two libraries of the release export the same symbols, which one of them exported before.

    The order in which they are loaded decides whose definition everybody uses. With two copies of a variable, one
    library does not see what the other one writes.

    Fix: export each symbol from one library, and hide the others' copies (``-fvisibility=hidden``).
    """
    names = double.new.names
    shown = abridged([demangle(each.spelling) for each in names])
    yield Note(f"exports what {double.new.other} exports, too", None, shown, names)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def bundle_intra_type_changed(record: Changed[SharedRecord]) -> Iterator[Note]:
    """Two libraries of the release have two layouts of a type that they had one of.

    One of them was compiled with former headers. What one writes into an object, the other reads elsewhere.

    Fix: build all libraries of a release from one state of the headers.
    """
    yield Note(
        "is laid out in two ways in one release",
        f"{record.old.shape.size} bytes in {record.old.library}",
        f"{record.new.shape.size} bytes in {record.new.library}",
    )
