"""Which given headers each given header includes, by itself or by way of headers that were not given."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import libclang

Path = Callable[[str], str]
"""Where a file is, without links."""

Named = Callable[[str], str | None]
"""What a file is called that was given; ``None`` for any other."""

_ONCE: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:ifndef[ \t]+|if[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(?P<guard>\w+)[^\n]*\n"
    r"\s*#[ \t]*include[ \t]*[<\"](?P<name>[^\">\n]+)[\">]",
    re.MULTILINE,
)
"""An include that is left out where the file was read before: ``#ifndef FOO_H`` before ``#include "foo.h"``."""


Includes = Mapping[str, Set[str]]
"""The files that each file includes, as paths without links."""


def include_graph(units: Iterable[Any], real: Path) -> Includes:
    """Every directive that the preprocessor followed counts, also one to a file that it had read before."""
    includes = dict[str, set[str]]()
    for unit in units:
        for by, file in _directives(unit, real):
            includes.setdefault(by, set()).add(file)
    return includes


def inclusions(includes: Includes, named: Named, texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The given headers that each of these includes; ``texts`` are those of all given headers by their names."""
    names = {
        file: name for file in {*includes, *_values(includes)} if (name := named(file)) is not None and name in texts
    }
    leading = _leading(includes, names)
    found = {name: set(_given(file, includes, names, leading)) for file, name in names.items()}
    for name, text in texts.items():
        found.setdefault(name, set()).update(_once(name, text, texts))
    return {name: tuple(sorted(each - {name})) for name, each in sorted(found.items()) if each - {name}}


def behind(start: str, includes: Includes, given: Container[str], own: Callable[[str], bool]) -> frozenset[str]:
    """The ``own`` files that a header includes by way of none that was ``given``."""
    found, pending = set[str](), [start]
    while pending:
        more = {file for file in includes.get(pending.pop(), ()) if file not in given and own(file)} - found
        found |= more
        pending += more
    return frozenset(found)


def _directives(unit: Any, real: Path) -> Iterator[tuple[str, str]]:
    """Each file that is included, behind the one that includes it."""
    lib, known = libclang(), dict[int, str]()

    def path(file: int) -> str:
        if file not in known:
            known[file] = real(lib.text(lib.getFileName(file)))
        return known[file]

    for by, _, file in directives(unit):
        yield path(by), path(file)


def directives(unit: Any) -> Iterator[tuple[int, int, int]]:
    """Each include that the preprocessor followed: the file and offset of its directive, and the file that it names."""
    lib = libclang()
    for each in lib.top(unit):
        if each.kind == kinds.INCLUSION and (file := lib.getIncludedFile(each)):
            by, _, offset = lib.place(lib.getCursorLocation(each))
            if by:
                yield by, offset, file


def _values(includes: Mapping[str, Iterable[str]]) -> Iterator[str]:
    return (file for files in includes.values() for file in files)


def _leading(includes: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> set[str]:
    """The files from which a given header is reached: what the system includes leads to none."""
    included_by = dict[str, list[str]]()
    for by, files in includes.items():
        for file in files:
            included_by.setdefault(file, []).append(by)
    found, pending = set[str](), list(names)
    while pending:
        for by in included_by.get(pending.pop(), ()):
            if by not in found:
                found.add(by)
                pending.append(by)
    return found


def _given(
    start: str, includes: Mapping[str, Iterable[str]], names: Mapping[str, str], leading: set[str]
) -> Iterator[str]:
    """The given headers that a file leads to by way of none of them."""
    seen, pending = {start}, [start]
    while pending:
        for file in includes.get(pending.pop(), ()):
            if file in names:
                yield names[file]
            elif file in leading and file not in seen:
                seen.add(file)
                pending.append(file)


def _once(name: str, text: str, texts: Mapping[str, str]) -> Iterator[str]:
    """The headers that a header includes unless they were read, and whose guard it asks for."""
    for match in _ONCE.finditer(text):
        defines = re.compile(rf"#[ \t]*define[ \t]+{match['guard']}\b")
        for other in _called(name, match["name"], texts):
            if defines.search(texts[other]):
                yield other


def _called(by: str, name: str, texts: Mapping[str, str]) -> Sequence[str]:
    """The given headers that an include may mean: the one beside it, else all whose names end so."""
    beside = by.rpartition("/")[0] + "/" + name if "/" in by else name
    return [beside] if beside in texts else [each for each in texts if f"/{each}".endswith(f"/{name}")]
