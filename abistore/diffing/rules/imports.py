"""Imports of the library, its loading, and the release that it states."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import abridged, examples, identified_examples
from abistore.diffing.parts import (
    DoubleExports,
    Feature,
    Imports,
    PackagedLibrary,
    PackagedSoname,
    Provider,
    ReleasedLibrary,
    SharedRecord,
    SiblingNeed,
    SiblingSymbol,
    SiblingVersion,
    Unprovided,
)
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle
from abistore.model.shapes import AnyShape, Import, Library, Symbol, is_read_only


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


INTERPRETER = "PT_INTERP "
FILTERS = ("DT_FILTER ", "DT_AUXILIARY ")


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def static_tls_introduced(feature: Added[Feature]) -> Iterator[Note]:
    """The library needs static thread-local storage.

    ``dlopen`` of it fails where the small reserve of static storage is used up: "cannot allocate memory in static TLS
    block".

    Fix: build without ``-ftls-model=initial-exec``.
    """
    if feature.new.name == "STATIC_TLS":
        yield Note("static thread-local storage is needed", None, feature.new.name)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def static_tls_removed(feature: Removed[Feature]) -> Iterator[Note]:
    """The library no longer needs static thread-local storage.

    ``dlopen`` can load it at any time.

    Fix: nothing.
    """
    if feature.old.name == "STATIC_TLS":
        yield Note("static thread-local storage is no longer needed", feature.old.name)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def dt_relr_introduced(feature: Added[Feature]) -> Iterator[Note]:
    """The library uses packed relative relocations (DT_RELR).

    Loaders that do not know them (glibc before 2.36) refuse the library, or leave its pointers unrelocated.

    Fix: link with ``-Wl,-z,nopack-relative-relocs`` while older systems are supported.
    """
    if feature.new.name == "DT_RELR":
        yield Note("packed relative relocations are used", None, feature.new.name)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def dt_relr_removed(feature: Removed[Feature]) -> Iterator[Note]:
    """The library no longer uses packed relative relocations (DT_RELR).

    Older loaders can read it too.

    Fix: nothing.
    """
    if feature.old.name == "DT_RELR":
        yield Note("packed relative relocations are no longer used", feature.old.name)


@rule(Impact.RISK, evidence="symbol", element="library", action="removed")
def hash_style_removed(feature: Removed[Feature]) -> Iterator[Note]:
    """The classic hash table of symbols was removed (DT_HASH).

    Loaders and tools that know no other (some games and their protection, old systems) find no symbol of the library.

    Fix: link with ``-Wl,--hash-style=both``.
    """
    if feature.old.name == "DT_HASH":
        yield Note("the classic hash table is gone", feature.old.name)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="added")
def file_refusal_added(library: Changed[Library]) -> Iterator[Note]:
    """The dynamic linker does not load the file.

    A field that it checks first is out of bounds: a version of the ELF format or of its ABI that it does not know, the
    mark of a program, a table whose entries have another size. Programs do not start: "error while loading shared
    libraries". Or what it goes through next is not in memory, as of a file that was damaged: programs crash.

    Fix: link the library anew, as a shared library, with the tools of the system that it is for.
    """
    if come := set(library.new.on_elf.refusals) - set(library.old.on_elf.refusals):
        yield Note("the dynamic linker refuses the file", None, ", ".join(sorted(come)))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def file_refusal_removed(library: Changed[Library]) -> Iterator[Note]:
    """The dynamic linker loads the file, which it refused before.

    Programs start again.

    Fix: nothing.
    """
    if gone := set(library.old.on_elf.refusals) - set(library.new.on_elf.refusals):
        yield Note("the dynamic linker no longer refuses the file", ", ".join(sorted(gone)))


@rule(Impact.BREAKING, variant="filter", evidence="symbol", element="library", action="added")
def needed_added_filter(feature: Added[Feature]) -> Iterator[Note]:
    """Another library's definitions come before those of this one (DT_FILTER, DT_AUXILIARY).

    The dynamic linker looks in the other library first. Programs call what that one has, which was not compared, and
    do not start where a filter's library is not installed.

    Fix: link without ``-F`` and ``-f``, or compare the other library with the old release, and approve this.
    """
    if feature.new.name.startswith(FILTERS):
        yield Note("the definitions of another library come first", None, feature.new.name)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def interpreter_changed(library: Changed[Library]) -> Iterator[Note]:
    """The loader that a file names to be run by is another one (PT_INTERP).

    Where that loader is not installed, or is of another C library, the file does not run.

    Fix: link with the old ``-Wl,--dynamic-linker``.
    """
    old, new = map(_interpreter, (library.old, library.new))
    if old and new and old != new:
        yield Note("another loader is asked for", old, new)


def _interpreter(library: Library) -> str | None:
    return next((each.removeprefix(INTERPRETER) for each in library.features if each.startswith(INTERPRETER)), None)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbolic_binding_mode_changed(library: Changed[Library], context: Context) -> Iterator[Note]:
    """The library binds its own symbols first, or no longer does (``-Bsymbolic``).

    A program or a preloaded library may define a symbol of the library anew. The library's own calls no longer reach
    that definition, or now do. No data is exported that programs write.

    Fix: tell those who interpose symbols of the library.
    """
    old, new = _is_symbolic(library)
    if old != new and not _copied_data(library, context):
        words = {True: "symbolic", False: None}
        yield Note("the library's own calls are bound differently", words[old], words[new])


@rule(Impact.BREAKING, variant="variables", evidence="symbol", element="library", action="changed")
def symbolic_binding_mode_changed_variables(library: Changed[Library], context: Context) -> Iterator[Note]:
    """The library now uses its own data (``-Bsymbolic``), of which programs may have copies.

    A program that is linked as most are has its own copy of a variable that it uses (copy relocation), and the library
    used to go there. Now what one of them writes, the other does not see.

    Fix: link with ``-Bsymbolic-functions``, which leaves data alone, or export accessor functions only.
    """
    if copied := _copied_data(library, context):
        yield Note("the library no longer uses copies that programs have", None, abridged(copied))


def _is_symbolic(library: Changed[Library]) -> tuple[bool, bool]:
    old, new = ("DF_SYMBOLIC" in side.features for side in (library.old, library.new))
    return old, new


def _copied_data(library: Changed[Library], context: Context) -> list[str]:
    """The variables that programs can name and write, where the library begins to bind them to itself."""
    if _is_symbolic(library) != (False, True):
        return []
    exports = context.old.snapshot.entries.get("symbol", {})
    return sorted(
        name.spelling
        for name, shapes in exports.items()
        if name.kind == "variable" and any(map(_is_written, shapes)) and context.old.consumers.can_name(name)
    )


def _is_written(shape: AnyShape) -> bool:
    """Whether it is an object that may be written; thread-local ones are never copied."""
    return isinstance(shape, Symbol) and shape.type == "data" and is_read_only(shape) is False


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def dynamic_loading_flags_changed(library: Changed[Library]) -> Iterator[Note]:
    """The flags for the loader changed (``-z nodelete`` and the like).

    They decide whether the library can be opened or unloaded at run time, and in which order it is initialised.

    Fix: keep the ``-Wl,-z,...`` options of the old release.
    """
    old, new = (
        tuple(each for each in side.features if each.startswith("DF_1_")) for side in (library.old, library.new)
    )
    if old != new:
        yield Note("flags for the loader differ", " ".join(old) or None, " ".join(new) or None)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def x86_isa_baseline_raised(feature: Added[Feature]) -> Iterator[Note]:
    """The library needs a newer processor (x86-64-v2 and up).

    The loader refuses it on processors below the level that it declares.

    Fix: build with the old ``-march``, and choose faster code at run time.
    """
    if feature.new.name.startswith("x86-64-v"):
        yield Note("a newer processor is needed", None, feature.new.name)
