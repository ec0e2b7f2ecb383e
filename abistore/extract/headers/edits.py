"""Edits of headers: files in memory, and declarations that replace those of the same name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from abistore.errors import HeaderError
from abistore.extract.header_options import EditedHeader, HeaderEdits
from abistore.extract.headers import clang
from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.clang import TranslationUnit
from abistore.extract.headers.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.given import GivenHeader, GivenHeaders
from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders
from abistore.files import open_file

TYPES = frozenset({*kinds.RECORDS, kinds.ENUM, kinds.TYPEDEF, kinds.ALIAS})
SCOPES = frozenset({kinds.NAMESPACE, kinds.LINKAGE, kinds.UNEXPOSED_DECL})


class Extent(NamedTuple):
    """The file of a declaration as libclang names it, its first byte and the one behind its last.

    ``unnamed``: it names an unnamed type, ``typedef struct { ... } point;``.
    """

    file: str
    start: int
    end: int
    unnamed: bool = False


class Placed(NamedTuple):
    """A declaration: its kind and qualified name, and its extent."""

    key: tuple[str, str]
    extent: Extent


def replaced(
    units: Iterable[TranslationUnit],
    snippet: TranslationUnit,
    text: str,
    read: Callable[[str], str],
    public: Callable[[str], str | None],
) -> Mapping[str, str]:
    """The texts of headers with the declarations of ``text`` in place of those of the same name, by file.

    ``snippet`` is the unit of ``text``; ``read`` gives a file's text, ``public`` the name of a given header. New names
    are under an empty file name, to go behind all headers, and so are overloads of functions that have several.
    """
    lib = libclang()
    known: dict[tuple[str, str], set[Extent]] = {}
    for unit in units:
        for key, extent in _placed(lib, unit):
            if public(extent.file) is not None:
                known.setdefault(key, set()).add(extent)
    data, new = text.encode(), list[str]()
    changes: dict[str, list[tuple[Extent, bytes]]] = {}
    for key, extent in _placed(lib, snippet):
        said = data[extent.start : extent.end]
        places = known.get(key, set())
        if len(places) != 1:
            new.append(_in_namespaces(key[1], said.decode(errors="replace")))
        else:
            (place,) = places
            name = key[1].rpartition("::")[2].encode()
            own = b"typedef " + said + b" " + name if place.unnamed and not extent.unnamed else said
            changes.setdefault(place.file, []).append((place, own))
    edited = {file: _spliced(read(file).encode(), each).decode(errors="replace") for file, each in changes.items()}
    return {**edited, "": "\n".join(new)} if new else edited


def _spliced(data: bytes, changes: list[tuple[Extent, bytes]]) -> bytes:
    for extent, text in sorted(changes, reverse=True):
        data = data[: extent.start] + text + data[extent.end :]
    return data


def _in_namespaces(name: str, text: str) -> str:
    scopes = name.split("::")[:-1]
    return "".join(f"namespace {each} {{ " for each in scopes) + f"{text};" + " }" * len(scopes)


def _placed(lib: LibClang, unit: TranslationUnit) -> Iterator[Placed]:
    return _declared(lib, lib.top(unit), "")


def _declared(lib: LibClang, cursors: list[Cursor], scope: str) -> Iterator[Placed]:
    """The types, functions and variables in ``cursors`` and in their namespaces."""
    for cursor in cursors:
        kind = cursor.kind
        if kind in SCOPES:
            inner = f"{scope}{lib.spelling(cursor)}::" if kind == kinds.NAMESPACE else scope
            yield from _declared(lib, lib.children(cursor), inner)
        elif kind in TYPES or kind in (*kinds.FUNCTIONS, kinds.VARIABLE):
            name = lib.spelling(cursor)
            if name.isidentifier() and (kind not in kinds.RECORDS or lib.isCursorDefinition(cursor)):
                sort = "type" if kind in TYPES else "value"
                yield Placed((sort, scope + name), _extent(lib, cursor))


def _extent(lib: LibClang, cursor: Cursor) -> Extent:
    extent = lib.getCursorExtent(cursor)
    file, _, start = lib.place(lib.getRangeStart(extent))
    _, _, end = lib.place(lib.getRangeEnd(extent))
    unnamed = cursor.kind == kinds.TYPEDEF and any(
        each.kind in (*kinds.RECORDS, kinds.ENUM) and lib.Cursor_isAnonymous(each) for each in lib.children(cursor)
    )
    return Extent(lib.text(lib.getFileName(file)) if file else "", start, end, unnamed)


TAKEN_AWAY = "#error this header was taken away\n"
SNIPPET = {"c": "/abistore/declared.c", "c++": "/abistore/declared.cpp"}


def edited_headers(given: GivenHeaders, files: Sequence[EditedHeader]) -> GivenHeaders:
    """The headers with those that an edit adds, and without those that it removes."""
    gone = {each.path for each in files if each.text is None}
    known = {header.path for header in given.headers}
    added = [
        GivenHeader(name, each.path, len(each.text))
        for each in files
        if each.text is not None and each.path not in known and (name := given.name(str(each.path)))
    ]
    headers = [*(header for header in given.headers if header.path not in gone), *added]
    return replace(given, headers=tuple(sorted(headers, key=lambda header: (header.name, header.path))))


def memory(files: Sequence[EditedHeader]) -> Mapping[str, str]:
    """The texts that are read in place of files, by path."""
    return {str(each.path): TAKEN_AWAY if each.text is None else each.text for each in files}


def with_declarations(parser: HeaderParser, parsed: ParsedHeaders, edits: HeaderEdits) -> tuple[EditedHeader, ...]:
    """The edited files, with declarations in place of those of the same name.

    New declarations follow those of the last header. Raises :class:`HeaderError` where the text declares nothing.
    """
    texts = memory(edits.files)
    language = parsed.reading.language
    arguments = parser.invocation.arguments(parsed.reading)
    snippet = clang.parsed(SNIPPET[language], edits.declarations, arguments, texts)
    if snippet is None:
        raise HeaderError("the declaration cannot be parsed", "write it as a header would")

    def read(file: str) -> str:
        return texts.get(file) or _text(Path(file))

    found = dict(replaced((each.unit for each in parsed.units), snippet, edits.declarations, read, parser.public))
    if not found:
        raise HeaderError("the text declares nothing", "write a declaration, as 'struct point { int x, y; };'")
    new = found.pop("", "")
    if new:
        last = str(parser.given.headers[-1].path)
        guarded = f"#ifndef ABISTORE_DECLARED\n#define ABISTORE_DECLARED\n{new}\n#endif\n"
        found[last] = f"{found.get(last) or read(last)}\n{guarded}"
    return tuple(_joined(edits.files, found))


def _joined(files: Sequence[EditedHeader], texts: Mapping[str, str]) -> Iterator[EditedHeader]:
    """The edited files, each once; ``texts`` win."""
    yield from (each for each in files if str(each.path) not in texts)
    yield from (EditedHeader(Path(path), text) for path, text in sorted(texts.items()))


def _text(path: Path) -> str:
    with os.fdopen(open_file(path), "rb") as file:
        return file.read().decode(errors="replace")
