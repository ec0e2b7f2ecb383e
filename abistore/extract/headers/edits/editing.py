"""Edits of headers: read from memory, nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from abistore.confinement import open_file
from abistore.errors import HeaderError
from abistore.extract.headers import clang
from abistore.extract.headers.edits.replacing import replaced
from abistore.extract.headers.given import GivenHeader, GivenHeaders
from abistore.extract.headers.options import EditedHeader, HeaderEdits
from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders

TAKEN_AWAY = "#error this header was taken away\n"
SNIPPET = {"c": "/abistore/declared.c", "c++": "/abistore/declared.cpp"}


def edited_headers(given: GivenHeaders, files: Sequence[EditedHeader]) -> GivenHeaders:
    """The headers with those that an edit adds, and without those that it takes away."""
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
    """What is read in place of files: their texts by path."""
    return {str(each.path): TAKEN_AWAY if each.text is None else each.text for each in files}


def with_declarations(parser: HeaderParser, parsed: ParsedHeaders, edits: HeaderEdits) -> tuple[EditedHeader, ...]:
    """The edited files, in which declarations have taken the place of those of their names.

    Declarations of new names come behind those of the last header. Raises :class:`HeaderError` where the text declares
    nothing.
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
    """The edited files, each once: those of ``texts`` instead of what was edited before."""
    yield from (each for each in files if str(each.path) not in texts)
    yield from (EditedHeader(Path(path), text) for path, text in sorted(texts.items()))


def _text(path: Path) -> str:
    with os.fdopen(open_file(path), "rb") as file:
        return file.read().decode(errors="replace")
