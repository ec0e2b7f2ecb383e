"""Parsing through ``clang.cindex``: units, their errors and the files that they read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, Structure, byref, c_int, c_size_t, c_ulonglong, c_void_p, string_at
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from clang import cindex  # type: ignore[import-untyped]  # the libclang wheel has no type hints, and no stubs

TranslationUnit: TypeAlias = Any
"""``clang.cindex.TranslationUnit``, which has no types."""

_KEEP_GOING = 0x200
_FOR_SERIALIZATION = 0x10
_ERROR = 3
_FATAL = 4


class Diagnostic(NamedTuple):
    """An error that the parser met; ``file`` as libclang names it, ``text`` its line there.

    Behind a ``fatal`` one it may have left off.
    """

    file: str
    line: int
    message: str
    text: str = ""
    offset: int = 0
    fatal: bool = False


def is_refusal(error: Diagnostic) -> bool:
    """Whether an error is what a header says with ``#error``."""
    return error.text.lstrip().replace(" ", "").startswith("#error")


class IncludedFile(NamedTuple):
    """A file that was read: its name, the file that includes it, and what it is to the system."""

    file: str
    by: str
    device: int
    inode: int


class _UniqueId(Structure):
    _fields_ = (("data", c_ulonglong * 3),)


def full_version() -> str:
    """What libclang calls itself, with the revision that it was built from."""
    library = cindex.conf.lib
    library.clang_getClangVersion.restype = cindex._CXString
    library.clang_getClangVersion.errcheck = cindex._CXString.from_result
    return str(library.clang_getClangVersion())


def version() -> str:
    """The version of the libclang in use: ``18.1.1``."""
    found = re.search(r"version (\d[\d.]*)", full_version())
    return found[1] if found else "0"


def major_version() -> int:
    """The first number of it."""
    return int(version().partition(".")[0])


def parsed(
    file: str,
    text: str,
    arguments: Sequence[str],
    empty: Mapping[str, str],
    *,
    bodies: bool = True,
    prefix: bool = False,
) -> TranslationUnit | None:
    """The unit of ``text``, which is read as ``file`` and need not be on a disk; ``None`` where libclang gives up.

    ``empty`` are files that are read from memory instead of from the disk. Without ``bodies`` those of functions are
    skipped, which takes half as long. A ``prefix`` is to be saved, and to be gone on from with ``-include-pch``: what
    is in there is no part of the unit that goes on.
    """
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | _KEEP_GOING | _FOR_SERIALIZATION
    if not bodies:
        options |= cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    if prefix:
        options |= cindex.TranslationUnit.PARSE_INCOMPLETE
    try:
        return cindex.Index.create(excludeDecls=True).parse(
            file, list(arguments), [(file, text), *empty.items()], options
        )
    except cindex.TranslationUnitLoadError:
        return None


def saved(unit: TranslationUnit, path: str) -> bool:
    """Whether a unit could be written to ``path``, to be gone on from with ``-include-pch``."""
    try:
        unit.save(path)
    except cindex.TranslationUnitSaveError:
        return False
    return True


_ERRORS = WeakKeyDictionary[Any, Sequence[Diagnostic]]()


def errors(unit: TranslationUnit) -> Sequence[Diagnostic]:
    """What the parser could not read, in the order of the text. It is asked for once: there may be thousands."""
    if unit not in _ERRORS:
        _ERRORS[unit] = tuple(_errors(unit))
    return _ERRORS[unit]


def _errors(unit: TranslationUnit) -> Iterator[Diagnostic]:
    texts: dict[str, bytes] = {}
    for said in unit.diagnostics:
        if said.severity >= _ERROR:
            place = said.location
            if place.file is None:
                yield Diagnostic("", place.line, said.spelling, fatal=said.severity >= _FATAL)
                continue
            name = place.file.name
            if name not in texts:
                texts[name] = contents(unit, place.file)
            line, fatal = _line(texts[name], place.offset), said.severity >= _FATAL
            yield Diagnostic(name, place.line, said.spelling, line, place.offset, fatal)


def lines_with_errors(unit: TranslationUnit, file: str) -> dict[int, Diagnostic]:
    """The first error that each line of ``file`` has or leads to, as one that makes an instance of a template may."""
    found: dict[int, Diagnostic] = {}
    for said in unit.diagnostics:
        if said.severity >= _ERROR:
            for each in (said, *said.children):
                if each.location.file is not None and each.location.file.name == file:
                    where = said.location.file.name if said.location.file is not None else ""
                    found.setdefault(each.location.line, Diagnostic(where, said.location.line, said.spelling))
    return found


def contents(unit: TranslationUnit, file: Any) -> bytes:
    """The text of a file as the parser had it."""
    library, size = cindex.conf.lib, c_size_t()
    library.clang_getFileContents.argtypes = [c_void_p, c_void_p, POINTER(c_size_t)]
    library.clang_getFileContents.restype = c_void_p
    start = library.clang_getFileContents(unit.obj, file, byref(size))
    return string_at(start, size.value) if start else b""


def _line(text: bytes, offset: int) -> str:
    """The line of a place; with the one before where a definition only begins its braces there."""
    start = text.rfind(b"\n", 0, offset) + 1
    end = text.find(b"\n", offset)
    line = text[start : end if end >= 0 else len(text)].decode(errors="replace")
    if not line.lstrip().startswith("{") or not start:
        return line
    return text[text.rfind(b"\n", 0, start - 1) + 1 : start].decode(errors="replace").rstrip() + " " + line.lstrip()


def included_texts(unit: TranslationUnit) -> Iterator[tuple[str, bytes]]:
    """What each file held that was read because another includes it."""
    for one in unit.get_includes():
        yield one.include.name, contents(unit, one.include)


def included_files(unit: TranslationUnit) -> Iterator[IncludedFile]:
    """Every file that was read because another includes it, outermost first."""
    library = cindex.conf.lib
    library.clang_getFileUniqueID.argtypes = [cindex.c_object_p, POINTER(_UniqueId)]
    library.clang_getFileUniqueID.restype = c_int
    for one in unit.get_includes():
        found = _UniqueId()
        library.clang_getFileUniqueID(one.include, byref(found))
        by = one.source.name if one.source else ""  # nothing includes what `-include` names
        yield IncludedFile(one.include.name, by, found.data[0], found.data[1])
