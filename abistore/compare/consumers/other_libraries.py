"""Which classes, and which headers, another library defines: this one imports members of classes from there."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.compare.consumers.consumers import ReleaseExports
from abistore.compare.consumers.export_table import ExportTable, is_weak
from abistore.model.mangling.symbols import TYPEINFO, VTABLE, class_symbol, member_prefixes
from abistore.model.names import EXPORTS, Name
from abistore.model.words.files import PUBLIC, is_source


def imported_members(name: Name, exports: ExportTable) -> tuple[str, ...]:
    """The members and tables of a class that a library imports; none where it defines others itself.

    What programs and libraries have each for themselves says nothing: copies of inline functions are weak.
    """
    if name.kind != "record" or not _is_plain(name.spelling) or exports_members(name, exports):
        return ()
    tables = [class_symbol(prefix, name.spelling) for prefix in (VTABLE, TYPEINFO)]
    starts = (*tables, *member_prefixes(tables[0]))
    return tuple(each for start in starts for each in exports.imported(start))


def in_headers_of_others(library: ReleaseExports, files: Mapping[Name, str]) -> Mapping[Name, tuple[str, ...]]:
    """What stands in headers of other libraries, each with the members of classes there that the library imports.

    A header is another library's where it defines such a class and no export stands in it; and so are those in its
    folder, where none stands in any of them: but headers of several projects lie side by side in one ``include``.
    Copies of its inline functions may be exported; each of its users has them.
    """
    imported: dict[str, list[str]] = {}
    own = set[str]()
    for name, file in files.items():
        if _is_exported(name, library):
            own |= {file, folder(file)}
        elif not is_source(file) and (found := imported_members(name, library.exports)):
            for place in (file, folder(file)):
                imported.setdefault(place, []).extend(found)
    own.update(place for place in imported if _is_shared(place))
    asked = {place: tuple(found) for place, found in imported.items() if place not in own}
    headers = ((name, file) for name, file in files.items() if not is_source(file))
    places = ((name, place) for name, file in headers for place in (file, folder(file)) if place in asked)
    return {name: asked[place] for name, place in places}


def _is_exported(name: Name, library: ReleaseExports) -> bool:
    """Whether the library defines and exports a function or variable, or members of a class."""
    if name.kind == "record":
        return exports_members(name, library.exports)
    return name.kind in EXPORTS and not is_weak(library.snapshot.variants("symbol", name))


def own_folders(library: ReleaseExports, files: Mapping[Name, str]) -> frozenset[str]:
    """The folders of the headers and sources in which exports of the library stand."""
    return frozenset(folder(file) for name, file in files.items() if _is_exported(name, library))


def folder(file: str) -> str:
    """The folder that a file lies in, with a slash at its end."""
    return f"{file.rpartition('/')[0]}/"


def _is_shared(place: str) -> bool:
    """Whether several projects keep headers in a folder: it is called ``include``, or is the top one."""
    return place == "/" or f"/{place}".endswith(f"/{PUBLIC}/")


def exports_members(name: Name, exports: ExportTable) -> bool:
    """Whether a library defines members of a class itself, other than copies of inline functions."""
    if name.kind != "record" or not _is_plain(name.spelling):
        return False
    return any(map(exports.has_strong, member_prefixes(class_symbol(VTABLE, name.spelling))))


def _is_plain(spelling: str) -> bool:
    """Whether the name of a class spells its symbols: it is no instance of a template and local to nothing."""
    return all(each.isidentifier() for each in spelling.split("::"))
