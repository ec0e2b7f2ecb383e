"""The symbol facet of a Mach-O file: exports, imports, and the facts of the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec

from abistore.errors import ExtractError
from abistore.extract.exports import Exports
from abistore.extract.macho.constants import (
    MH_APP_EXTENSION_SAFE,
    MH_BUNDLE,
    MH_CORE,
    MH_DSYM,
    MH_DYLIB,
    MH_DYLIB_STUB,
    MH_EXECUTE,
    MH_OBJECT,
    MH_TWOLEVEL,
    N_OSO,
)
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.dependencies import Dylib, clients, dependencies, own_name, search_paths
from abistore.extract.macho.exports import exported, index_exports, listed_exports
from abistore.extract.macho.hardening import protections, weaknesses
from abistore.extract.macho.imports import imported
from abistore.extract.macho.leb import Malformed
from abistore.extract.macho.machines import platform_of
from abistore.extract.macho.symbol_table import DIRECTIVE, read_rows
from abistore.extract.macho.written.class_tables import filled
from abistore.model.digest import sort_variants
from abistore.model.names import SELF, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Variants
from abistore.model.tables import Library, MachoLibrary

_REFUSED = {
    MH_OBJECT: ("is a relocatable object file", "link it into a dylib first"),
    MH_CORE: ("is a core dump", "pass the dylib"),
    MH_DSYM: ("holds debug information only", "pass the dylib; its .dSYM is found beside it"),
}
_TYPES: dict[int, Literal["dylib", "stub", "bundle", "executable"]] = {
    MH_DYLIB: "dylib",
    MH_DYLIB_STUB: "stub",
    MH_BUNDLE: "bundle",
    MH_EXECUTE: "executable",
}


class MachoTables(msgspec.Struct):
    """What the binary's own tables say. ``objects`` is how many object files the debug map names."""

    entries: dict[Name, Variants]
    exports: Exports
    own: Dylib | None
    objects: int


def read_tables(macho: MachOFile, *, programs: bool = False) -> MachoTables:
    """The symbol facet of ``macho``. Raises :class:`ExtractError` where it is no library that one could link to.

    ``programs`` may export nothing.
    """
    sort = _sort(macho)
    with _named(macho):
        own, needed = own_name(macho), dependencies(macho)
        rows = read_rows(macho)
        listed = list(listed_exports(macho, rows))
        found = filled(macho, rows, list(exported(macho, rows, needed, listed)))
        imports = list(imported(macho, rows, needed))
        gathered: dict[Name, list[AnyShape]] = {}
        for each in found:
            gathered.setdefault(each.name, []).append(each.symbol)
        for name, shape in imports:
            gathered.setdefault(name, []).append(shape)
        entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
        library = _library(macho, sort, {name.spelling for name, _ in imports})
        entries[SELF] = (with_directives(library, (each.name for each in listed)),)
    if sort == "executable" and not found and not programs:
        raise ExtractError(f"{macho.path}: is an executable without exports", "pass a dylib")
    return MachoTables(entries, index_exports(found, rows), own, sum(row.type == N_OSO for row in rows))


@contextmanager
def _named(macho: MachOFile) -> Iterator[None]:
    try:
        yield
    except Malformed as error:
        raise ExtractError(f"{macho.path}: {error}", "copy or download the file again") from error


def _sort(macho: MachOFile) -> Literal["dylib", "stub", "bundle", "executable"]:
    if macho.type in _REFUSED:
        said, hint = _REFUSED[macho.type]
        raise ExtractError(f"{macho.path}: {said}", hint)
    if macho.type not in _TYPES:
        raise ExtractError(f"{macho.path}: is a Mach-O file of the type {macho.type}, no library", "pass a dylib")
    return _TYPES[macho.type]


def _library(macho: MachOFile, sort: Literal["dylib", "stub", "bundle", "executable"], imports: set[str]) -> Library:
    own, needed = own_name(macho), dependencies(macho)
    facts = MachoLibrary(
        file_type="dylib" if sort == "stub" else sort,  # a stub stands for the dylib that it was made of
        minimum_os=platform_of(macho).minimum,
        reexports=tuple(sorted({each.name for each in needed if "re-exported" in each.linkage})),
        linkage=tuple(sorted({(each.name, word) for each in needed for word in each.linkage if word != "re-exported"})),
        requirements=tuple(sorted({(each.name, each.compatibility) for each in needed})),
        clients=clients(macho),
    )
    return Library(
        file_kind="executable" if sort == "executable" else "shared",
        name=own.name if own else None,
        needed=tuple(dict.fromkeys(each.name for each in needed)),
        search_paths=search_paths(macho),
        compatibility_version=own.compatibility if own else None,
        protections=tuple(sorted(protections(macho, imports))),
        weaknesses=tuple(sorted(weaknesses(macho))),
        features=tuple(sorted(_features(macho))),
        macho=facts,
    )


def with_directives(library: Library, names: Iterable[str]) -> Library:
    """The library with those of its exported ``names`` that speak to linkers."""
    told = tuple(sorted({each for each in names if DIRECTIVE.match(each)}))
    return msgspec.structs.replace(library, macho=msgspec.structs.replace(library.on_macho, directives=told))


def _features(macho: MachOFile) -> Iterator[str]:
    if not macho.flags & MH_TWOLEVEL:
        yield "flat namespace"
    if macho.flags & MH_APP_EXTENSION_SAFE:
        yield "app extensions"
