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
    """The library imports additional symbols from other libraries.

    These symbols must exist when a program starts. A required version is reported separately.

    Fix: nothing, if the dependencies' minimum versions are right.
    """
    found = [symbol for symbol, _ in imports.new.symbols]
    yield Note(f"additional imported symbols: {len(found)}", None, examples(found))


@rule(Impact.RISK, variant="unprovided", evidence="symbol", element="library", action="added")
def imported_symbol_added_unprovided(symbols: Added[Unprovided]) -> Iterator[Note]:
    """The library imports symbols that none of its needed libraries has.

    It is linked without ``-l`` for the library that has them, or expects programs to define them. Any other program
    does not start, or ends at the first call: ``undefined symbol``. The old release did not import them, or needed a
    library that may have them.

    Fix: link with the library that has them; ``-Wl,-z,defs`` makes the linker report missing ones.
    """
    found = symbols.new.symbols
    yield Note(f"imported symbols that no needed library has: {len(found)}", None, examples(found))


@rule(Impact.NOTICE, evidence="symbol", element="library", action="removed")
def imported_symbol_removed(imports: Removed[Imports]) -> Iterator[Note]:
    """The library no longer imports some symbols from other libraries.

    Consumers work as before.

    Fix: nothing.
    """
    found = [symbol for symbol, _ in imports.old.symbols]
    yield Note(f"symbols no longer imported: {len(found)}", examples(found))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_weak_resolution_changed(symbol: Changed[Import]) -> Iterator[Note]:
    """A weak import became a strong one.

    A weak symbol may be missing at run time. Now no program starts if the other library lacks it.

    Fix: declare the symbol weak again, or link the library that has it with ``-l``.
    """
    if symbol.old.weak and not symbol.new.weak:
        yield Note("the imported symbol must exist now", "weak", "global")


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def runtime_symbol_provider_changed(provider: Changed[Provider]) -> Iterator[Note]:
    """Symbols are now imported from another library.

    The loader searches only that library for their versions. Where they are missing, it refuses to start the program.

    Fix: make the package depend on the new provider.
    """
    found = provider.new.symbols
    what = f"symbols imported from another library: {len(found)}"
    yield Note(what, f"{provider.old.library}: {identified_examples(found)}", provider.new.library)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def bundle_library_removed(library: Removed[ReleasedLibrary]) -> Iterator[Note]:
    """A library was removed from the release, and programs that link to it do not start.

    The loader looks for the library by its SONAME and does not find it.

    Fix: keep the library, if only as a stub that depends on its replacements.
    """
    target = f" for {library.old.target}" if library.old.target else ""
    yield Note(f"the release no longer has the library{target}", library.old.soname or library.old.name)


@rule(Impact.RISK, variant="moved", evidence="symbol", element="library", action="changed")
def bundle_library_removed_moved(library: Changed[PackagedLibrary]) -> Iterator[Note]:
    """A library moved to another package that this one depends on.

    The other package is installed as well, so the loader finds the library as before. Its new release was not compared
    here.

    Fix: nothing in this package; compare the other package with the release that had the library.
    """
    yield Note("the library moved to a package that this one depends on", library.old.package, library.new.package)


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def bundle_library_added(library: Added[ReleasedLibrary]) -> Iterator[Note]:
    """A library was added to the release.

    Existing binaries do not use it. From now on its exports are part of the ABI.

    Fix: nothing; keep it out of the package if it is private.
    """
    target = f" for {library.new.target}" if library.new.target else ""
    yield Note(f"the release has the library now{target}", None, library.new.soname or library.new.name)


@rule(Impact.BREAKING, variant="package_kept", evidence="symbol", element="library", action="changed")
def soname_changed_package_kept(library: Changed[PackagedSoname]) -> Iterator[Note]:
    """The SONAME changed, but the distribution package kept its name.

    Other packages depend on the package name. They are installed with the new package, and their programs do not start:
    the loader does not find the old SONAME.

    Fix: rename the package with the SONAME (``libfoo1`` to ``libfoo2``), so that both can be installed.
    """
    what = f"the SONAME changed, and the package is still named {library.old.package}"
    yield Note(what, library.old.soname, library.new.soname)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def bundle_soname_skew(need: Changed[SiblingNeed]) -> Iterator[Note]:
    """A library needs the old SONAME of another library of the release, which has changed.

    The library was not relinked when the other one changed its SONAME. The loader does not find the old SONAME, and
    programs do not start. Where the previous release is still installed, they load both copies.

    Fix: relink the library with the new release of the other one.
    """
    yield Note(f"needs a SONAME that {need.new.library} does not have", need.old.soname, need.new.soname)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bundle_unresolved_intra_dependency(need: Removed[SiblingNeed]) -> Iterator[Note]:
    """A library needs a SONAME that is no longer in the release.

    The library loads only where something else installs that SONAME.

    Fix: keep the library in the release, or have the package depend on the one that has it now.
    """
    yield Note("needs a library that was removed from the release", need.old.soname)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="removed")
def bundle_intra_dep_removed(symbol: Removed[SiblingSymbol | SiblingVersion]) -> Iterator[Note]:
    """A library needs a symbol, or a symbol version, that another library of the release does not have.

    The loader refuses to load the library, or ends the program at the first call. The libraries of the release were not
    built from the same sources.

    Fix: build all libraries of a release together, and link them with ``-Wl,-z,defs``.
    """
    old = symbol.old
    if isinstance(old, SiblingVersion):
        yield Note(f"needs a symbol version that {old.provider} does not define", old.version)
    else:
        yield Note(f"needs a symbol that {old.provider} no longer exports", demangle(old.symbol))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def bundle_provider_changed(symbol: Changed[SiblingSymbol]) -> Iterator[Note]:
    """A symbol that a library needs moved to another library of the release.

    The new release is consistent. A new library combined with an old one finds the symbol nowhere, or twice.

    Fix: make packages depend on each other's exact version, or export the symbol from both libraries.
    """
    yield Note("gets a symbol from another library of the release", symbol.old.provider, symbol.new.provider)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def bundle_duplicate_provider(double: Added[DoubleExports]) -> Iterator[Note]:
    """Two libraries of the release now export the same symbols; before, only one of them did.

    The load order decides whose definition everybody uses. With two copies of a variable, one library does not see what
    the other one writes.

    Fix: export each symbol from one library, and hide the others' copies (``-fvisibility=hidden``).
    """
    names = double.new.names
    shown = abridged([demangle(each.spelling) for each in names])
    yield Note(f"exports what {double.new.other} exports, too", None, shown, names)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def bundle_intra_type_changed(record: Changed[SharedRecord]) -> Iterator[Note]:
    """Two libraries of the release have different layouts of a type that they shared before.

    One of them was compiled with old headers. What one writes into an object, the other reads at another offset.

    Fix: build all libraries of a release from the same headers.
    """
    yield Note(
        "has two layouts in one release",
        f"{record.old.shape.size} bytes in {record.old.library}",
        f"{record.new.shape.size} bytes in {record.new.library}",
    )


INTERPRETER = "PT_INTERP "
FILTERS = ("DT_FILTER ", "DT_AUXILIARY ")


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def static_tls_introduced(feature: Added[Feature]) -> Iterator[Note]:
    """The library needs static thread-local storage.

    ``dlopen`` fails once the small reserve of static storage is used up: "cannot allocate memory in static TLS block".

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

    Loaders and tools that know no other (some games and their protection, old systems) find no symbols in the library.

    Fix: link with ``-Wl,--hash-style=both``.
    """
    if feature.old.name == "DT_HASH":
        yield Note("the classic hash table was removed", feature.old.name)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="added")
def file_refusal_added(library: Changed[Library]) -> Iterator[Note]:
    """The dynamic linker does not load the file.

    The dynamic linker rejects a header field, such as an unknown ELF version, the type of a program, or a wrong entry
    size. Programs do not start: "error while loading shared libraries". Or the file is damaged, and a table that it
    reads next is not in memory: programs crash.

    Fix: relink the library as a shared library, with the tools of its target system.
    """
    if come := set(library.new.on_elf.refusals) - set(library.old.on_elf.refusals):
        yield Note("the dynamic linker rejects the file", None, ", ".join(sorted(come)))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="removed")
def file_refusal_removed(library: Changed[Library]) -> Iterator[Note]:
    """The dynamic linker loads the file, which it rejected before.

    Programs start again.

    Fix: nothing.
    """
    if gone := set(library.old.on_elf.refusals) - set(library.new.on_elf.refusals):
        yield Note("the dynamic linker no longer rejects the file", ", ".join(sorted(gone)))


@rule(Impact.BREAKING, variant="filter", evidence="symbol", element="library", action="added")
def needed_added_filter(feature: Added[Feature]) -> Iterator[Note]:
    """Another library's definitions take precedence over this one's (DT_FILTER, DT_AUXILIARY).

    The dynamic linker searches the other library first. Programs call its functions, which were not compared. They do
    not start where a filter's library is missing.

    Fix: link without ``-F`` and ``-f``, or compare the other library with the old release, and approve this.
    """
    if feature.new.name.startswith(FILTERS):
        yield Note("another library's definitions take precedence", None, feature.new.name)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def interpreter_changed(library: Changed[Library]) -> Iterator[Note]:
    """The requested program interpreter changed (PT_INTERP).

    Where that loader is missing, or belongs to another C library, the file does not run.

    Fix: link with the old ``-Wl,--dynamic-linker``.
    """
    old, new = map(_interpreter, (library.old, library.new))
    if old and new and old != new:
        yield Note("another loader is requested", old, new)


def _interpreter(library: Library) -> str | None:
    return next((each.removeprefix(INTERPRETER) for each in library.features if each.startswith(INTERPRETER)), None)


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def symbolic_binding_mode_changed(library: Changed[Library], context: Context) -> Iterator[Note]:
    """The library binds its own symbols first, or no longer does (``-Bsymbolic``).

    A program or a preloaded library may interpose a symbol of the library. The library's own calls no longer reach that
    definition, or now do. The library exports no data that programs write.

    Fix: inform those who interpose symbols of the library.
    """
    old, new = _is_symbolic(library)
    if old != new and not _copied_data(library, context):
        words = {True: "symbolic", False: None}
        yield Note("the library's own calls are bound differently", words[old], words[new])


@rule(Impact.BREAKING, variant="variables", evidence="symbol", element="library", action="changed")
def symbolic_binding_mode_changed_variables(library: Changed[Library], context: Context) -> Iterator[Note]:
    """The library now uses its own data (``-Bsymbolic``), and programs may have copies.

    An ordinary program has its own copy of a variable that it uses (copy relocation), and the library used that copy
    before. Now neither sees what the other one writes.

    Fix: link with ``-Bsymbolic-functions``, which does not affect data, or export only accessor functions.
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
    """The flags for the loader changed (``-z nodelete`` etc.).

    They decide whether the library can be opened or unloaded at run time, and in which order it is initialised.

    Fix: keep the ``-Wl,-z,...`` options of the old release.
    """
    old, new = (
        tuple(each for each in side.features if each.startswith("DF_1_")) for side in (library.old, library.new)
    )
    if old != new:
        yield Note("flags for the loader changed", " ".join(old) or None, " ".join(new) or None)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def x86_isa_baseline_raised(feature: Added[Feature]) -> Iterator[Note]:
    """The library needs a newer processor (x86-64-v2 and up).

    The loader refuses to load it on processors below the declared level.

    Fix: build with the old ``-march``, and select faster code at run time.
    """
    if feature.new.name.startswith("x86-64-v"):
        yield Note("a newer processor is needed", None, feature.new.name)
