"""Names that headers declare and that no program can use: poisoned ones, and functions that macros make uncallable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers import clang
from abistore.extract.headers.made.behind import BehindUnit
from abistore.extract.headers.parsing import HeaderParser, HeaderUnit
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.walk.clang.files import PublicFiles
from abistore.extract.headers.walk.declared import Walked
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import last_component, without_parameters
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.snapshot import Variants

_POISON: Final = re.compile(rb"\b(?:GCC|clang)\s+poison\s+([^\n\"\\]*)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_POISONED: Final = "poisoned"
"""In what clang says of such a name."""


def with_refused(behind: BehindUnit, walked: Walked) -> Walked:
    """What a unit declares, with ``refused`` of what no program can use; the compiler is asked only if needed.

    So calls say whether they compile under a macro, and without it.
    """
    words = _words_of_pragmas(behind.parser, behind.unit)
    calls = list(_under_macros(behind, walked))
    if not words and not calls:
        return walked
    probes = [f"extern int {word};" for word in words]
    probes += [each.text for each in calls]
    probes += [f"#undef {each.macro}" for each in calls]
    probes += [each.text.replace("abistore_calls", "abistore_called", 1) for each in calls]
    errors = behind.read("\n".join([*probes, ""]), bodies=bool(calls)).lines_with_errors()
    found = {word for line, word in enumerate(words, 1) if line in errors and _POISONED in errors[line].message}
    names = {name for name in walked.entries if _is_called(name, found)} if found else set()
    for line, each in enumerate(calls, 1 + len(words)):
        if line in errors and line + 2 * len(calls) not in errors:
            names.add(each.name)
    marked = {name: _marked(walked.entries[name]) for name in names}
    return replace(walked, entries={**walked.entries, **marked})


class _Call:
    """A call of a function under a macro, as a program writes it."""

    def __init__(self, lib: LibClang, cursor: Cursor, scope: str, number: int) -> None:
        self.macro = lib.spelling(cursor)
        self.name = Name("function", lib.linked(cursor))
        type = lib.getCursorType(cursor)
        count = max(0, lib.getNumArgTypes(type))
        types = [lib.text(lib.getTypeSpelling(lib.getArgType(type, index))) for index in range(count)]
        taken = ", ".join(f"__typeof__({each}) a{index}" for index, each in enumerate(types)) or "void"
        given = ", ".join(f"a{index}" for index in range(count))
        self.text = f"static inline void abistore_calls_{number}({taken}) {{ {scope}{self.macro}({given}); }}"


def _words_of_pragmas(parser: HeaderParser, unit: HeaderUnit) -> list[str]:
    """The words that public headers poison, or may poison."""
    texts = (held for file, held in clang.included_texts(unit.unit) if b"poison" in held and parser.public(file))
    found = (match[1].decode(errors="replace") for held in texts for match in _POISON.finditer(held))
    return sorted({word for each in found for word in _WORD.findall(each)})


def _under_macros(behind: BehindUnit, walked: Walked) -> Iterator[_Call]:
    """The public functions of which a public header defines a macro of the same name."""
    macros = {name.spelling for name, shapes in walked.entries.items() if name.kind == "variable" and _is_macro(shapes)}
    lib, unit = libclang(), behind.unit.unit
    files = PublicFiles(lib, behind.parser, unit.obj)
    known = set[Name]()
    for cursor, scope in _functions(lib, files, lib.top(unit), ""):
        if lib.spelling(cursor) in macros:
            call = _Call(lib, cursor, scope if behind.reading.language == "c++" else "", len(known))
            if call.name in walked.entries and call.name not in known:
                known.add(call.name)
                yield call


def _functions(
    lib: LibClang, files: PublicFiles, cursors: Iterable[Cursor], scope: str
) -> Iterator[tuple[Cursor, str]]:
    """The functions of public headers that are no members, each with the namespaces that it stands in."""
    for each in cursors:
        if each.kind in (kinds.FUNCTION, kinds.LINKAGE, kinds.NAMESPACE) and files.place(each) is not None:
            if each.kind == kinds.FUNCTION:
                yield each, scope
            else:
                inner = f"{scope}{lib.spelling(each)}::" if each.kind == kinds.NAMESPACE else scope
                yield from _functions(lib, files, lib.children(each), inner)


def _is_macro(shapes: Variants) -> bool:
    return any(isinstance(each, Declared) and ("macro" in each.traits or each.replacement) for each in shapes)


def _is_called(name: Name, words: set[str]) -> bool:
    spelled = without_parameters(demangle(name.spelling)) if name.kind in ("function", "variable") else name.spelling
    return last_component(spelled).partition("<")[0] in words


def _marked(shapes: Variants) -> Variants:
    return tuple(
        replace(each, traits=tuple(sorted({*each.traits, "refused"}))) if isinstance(each, Declared) else each
        for each in shapes
    )
