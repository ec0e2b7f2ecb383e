"""What a library asks of the loader and the machine."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.export_batches import abridged
from abistore.compare.context import Context
from abistore.compare.diff.parts import Feature
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import AnyShape
from abistore.model.tables import Library, Symbol
from abistore.model.words.elf_symbols import is_read_only

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
    """The classic hash table of symbols is gone (DT_HASH).

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
    """The library now goes to its own data (``-Bsymbolic``), of which programs may have copies.

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
