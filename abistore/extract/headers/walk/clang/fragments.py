"""Headers that others include in the midst of a declaration: parts of these, and no headers by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ctypes import byref, c_size_t, string_at
from typing import Any, Final

from abistore.extract.headers.clang import IncludedFile
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, libclang

Named = Callable[[str], str | None]
"""What a file that libclang names is called that was given; ``None`` for any other."""

_AROUND: Final = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.ENUM, *kinds.CLASSES})


def fragments(unit: Any, entered: Iterable[IncludedFile], named: Named) -> frozenset[str]:
    """The given headers that another given one includes within a namespace, a class, an enumeration or ``extern "C"``.

    ``namespace casadi { #include "runtime.hpp" }`` makes members of the namespace of what that header declares; read
    by itself too, it would declare them all once more at global scope. What such a header includes in turn is
    in the same place, where it is read each time that it is included: ``entered`` are the files that the parser read.
    One that says ``extern "C"`` to C++ by itself declares the same wherever it is included.
    """
    found = set(_within_declarations(unit, named))
    entries = [(file, named(each.by)) for each in entered if (file := named(each.file)) is not None]
    files = [file for file, _ in entries]
    repeated = {(file, by) for file, by in entries if by is not None and files.count(file) > 1} if found else set()
    while more := {file for file, by in repeated if by in found} - found:
        found |= more
    return frozenset(found)


def _within_declarations(unit: Any, named: Named) -> Iterator[str]:
    """Those that a directive within a declaration names."""
    directives = dict[int, list[tuple[int, int, str]]]()
    for by, offset, file, name in _directives(unit, named):
        directives.setdefault(by, []).append((offset, file, name))
    for around in libclang().top(unit) if directives else ():
        if around.kind in _AROUND:
            by, begin, end = _extent(around)
            for offset, file, name in directives.get(by, ()):
                if begin < offset < end and not (around.kind == kinds.LINKAGE and _says_linkage(unit, file)):
                    yield name


def _directives(unit: Any, named: Named) -> Iterator[tuple[int, int, int, str]]:
    """Each include of a given header by another: the file and offset of the directive, what it includes, its name."""
    lib, names = libclang(), dict[int, str | None]()

    def name(file: int) -> str | None:
        if file not in names:
            names[file] = named(lib.text(lib.getFileName(file)))
        return names[file]

    for each in lib.top(unit):
        if each.kind == kinds.INCLUSION and (file := lib.getIncludedFile(each)) and (found := name(file)):
            by, _, offset = lib.place(lib.getCursorLocation(each))
            if by and name(by):
                yield by, offset, file, found


def _extent(cursor: Cursor) -> tuple[int, int, int]:
    """The file and offsets between which a declaration stands; an empty extent where it ends in another file."""
    lib = libclang()
    extent = lib.getCursorExtent(cursor)
    file, _, begin = lib.place(lib.getRangeStart(extent))
    last, _, end = lib.place(lib.getRangeEnd(extent))
    return (file or 0, begin, end) if file == last else (0, 0, 0)


def _says_linkage(unit: Any, file: int) -> bool:
    """Whether a header tells C++ apart, as it does for its own ``extern "C"``."""
    size = c_size_t()
    text = libclang().getFileContents(unit.obj, file, byref(size))
    return bool(text) and b"__cplusplus" in string_at(text, size.value)
