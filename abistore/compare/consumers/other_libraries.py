"""Which classes, and which headers, another library defines: this one imports members of classes from there."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.compare.consumers.consumers import ReleaseExports
from abistore.compare.consumers.export_table import ExportTable, is_weak
from abistore.model.mangling.symbols import TYPEINFO, VTABLE, class_symbol, member_prefixes
from abistore.model.names import EXPORTS, Name
from abistore.model.words.files import is_source


def imported_members(name: Name, exports: ExportTable) -> tuple[str, ...]:
    """The members and tables of a class that a library imports; none where it defines others itself.

    What programs and libraries have each for themselves says nothing: copies of inline functions are weak.
    """
    if name.kind != "record" or not _is_plain(name.spelling) or _exports_members(name, exports):
        return ()
    tables = [class_symbol(prefix, name.spelling) for prefix in (VTABLE, TYPEINFO)]
    starts = (*tables, *member_prefixes(tables[0]))
    return tuple(each for start in starts for each in exports.imported(start))


def in_headers_of_others(library: ReleaseExports, files: Mapping[Name, str]) -> Mapping[Name, tuple[str, ...]]:
    """What stands in headers of other libraries, each with the members of classes there that the library imports.

    A header is another library's where it defines such a class and no export stands in it. Copies of its inline
    functions may be exported; each of its users has them.
    """
    imported: dict[str, tuple[str, ...]] = {}
    own = set[str]()
    for name, file in files.items():
        if is_source(file):
            continue
        if found := imported_members(name, library.exports):
            imported[file] = imported.get(file, ()) + found
        elif name.kind == "record":
            if _is_plain(name.spelling) and _exports_members(name, library.exports):
                own.add(file)
        elif name.kind in EXPORTS and not is_weak(library.snapshot.variants("symbol", name)):
            own.add(file)
    return {name: imported[file] for name, file in files.items() if file in imported and file not in own}


def _exports_members(name: Name, exports: ExportTable) -> bool:
    return any(map(exports.has_strong, member_prefixes(class_symbol(VTABLE, name.spelling))))


def _is_plain(spelling: str) -> bool:
    """Whether the name of a class spells its symbols: it is no instance of a template and local to nothing."""
    return all(each.isidentifier() for each in spelling.split("::"))
