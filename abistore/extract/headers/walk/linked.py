"""Which files of a translation unit declare what programs link to: functions and variables of a library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, libclang
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import Variable
from abistore.model.snapshot import Variants

_EXTERNAL: Final = 4
_SCOPES: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL})


def is_linked(name: Name, shapes: Variants) -> bool:
    """Whether a declaration is a function, variable or template, and no type, constant or macro."""
    if name.kind == "variable":
        return any(isinstance(each, Variable) for each in shapes)
    return name.kind == "function" or any("template" in each.traits for each in shapes if isinstance(each, Declared))


def linking_files(unit: Any) -> frozenset[str]:
    """The paths of the files that declare a function or variable with external linkage."""
    lib = libclang()
    found: dict[int, bool] = {}
    for cursor in lib.top(unit):
        file = lib.place(lib.getCursorLocation(cursor))[0]
        if file is not None and not found.get(file):
            found[file] = any(_links(lib, cursor))
    return frozenset(lib.text(lib.getFileName(file)) for file, links in found.items() if links)


def _links(lib: LibClang, cursor: Cursor) -> Iterator[bool]:
    if cursor.kind in (kinds.FUNCTION, kinds.VARIABLE):
        yield lib.getCursorLinkage(cursor) == _EXTERNAL
    elif cursor.kind in _SCOPES:
        for each in lib.children(cursor):
            yield from _links(lib, each)
    elif cursor.kind in (kinds.CLASS_TEMPLATE, kinds.FUNCTION_TEMPLATE):
        yield True
    elif cursor.kind in kinds.RECORDS:
        yield any(each.kind in kinds.FUNCTIONS for each in lib.children(cursor))
