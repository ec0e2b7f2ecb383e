"""Headers that others include in the midst of a declaration: parts of these, and no headers by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

from abistore.extract.headers.clang import IncludedFile, contents
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, libclang
from abistore.extract.headers.walk.clang.inclusions import Named, directives

_AROUND: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.ENUM, *kinds.CLASSES})


def fragments(unit: Any, entered: Iterable[IncludedFile], named: Named) -> frozenset[str]:
    """The given headers that another given one includes within a namespace, a class, an enumeration or ``extern "C"``.

    ``namespace casadi { #include "runtime.hpp" }`` makes members of the namespace of what that header declares; read
    by itself too, it would declare them all once more at global scope. What such a header includes in turn is
    in the same place, where it is read each time that it is included: ``entered`` are the files that the parser read.
    One that says ``extern "C"`` to C++ by itself declares the same wherever it is included.
    """
    found = set(_within_declarations(unit, named))
    if not found:
        return frozenset()
    entries = [(file, named(each.by)) for each in entered if (file := named(each.file)) is not None]
    times = Counter(file for file, _ in entries)
    while more := {file for file, by in entries if by in found and times[file] > 1} - found:
        found |= more
    return frozenset(found)


def _within_declarations(unit: Any, named: Named) -> Iterator[str]:
    """Those that a directive within a declaration names; a header that includes itself is none."""
    known = lru_cache(None)(lambda file: named(libclang().text(libclang().getFileName(file))))
    between = dict[int, list[tuple[int, int, str]]]()
    for by, offset, file in directives(unit):
        if (name := known(file)) is not None and known(by) not in (None, name):
            between.setdefault(by, []).append((offset, file, name))
    for around in libclang().top(unit) if between else ():
        if around.kind in _AROUND:
            by, begin, end = _extent(around)
            for offset, file, name in between.get(by, ()):
                if begin < offset < end and not (around.kind == kinds.LINKAGE and _says_linkage(unit, file)):
                    yield name


def _extent(cursor: Cursor) -> tuple[int, int, int]:
    """The file and offsets between which a declaration stands; an empty extent where it ends in another file."""
    lib = libclang()
    extent = lib.getCursorExtent(cursor)
    file, _, begin = lib.place(lib.getRangeStart(extent))
    last, _, end = lib.place(lib.getRangeEnd(extent))
    return (file or 0, begin, end) if file == last else (0, 0, 0)


def _says_linkage(unit: Any, file: int) -> bool:
    """Whether a header tells C++ apart, as it does for its own ``extern "C"``."""
    return b"__cplusplus" in contents(unit, file)
