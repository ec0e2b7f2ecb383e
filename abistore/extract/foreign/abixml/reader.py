"""The ABIXML reader: one snapshot for each corpus of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from abistore.errors import ExtractError
from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.foreign.contents import beginning, contents
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions, identified
from abistore.model.names import by_name
from abistore.model.snapshot import Evidence, Snapshot, Target

if TYPE_CHECKING:
    from abistore.extract.foreign.abixml.document import Element
    from abistore.extract.foreign.abixml.symbols import ReadSymbols

START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:abi-corpus|!DOCTYPE\s+abi-corpus)", re.DOTALL
)

UNRECORDED_SYMBOLS: Final = (
    "ElfLibrary.rpath",
    "ElfLibrary.version_definitions",
    "ElfLibrary.version_requirements",
    "Import.library",
    "Library.features",
    "Library.protections",
    "Library.search_paths",
    "Library.weaknesses",
    "Symbol.table",
)
UNRECORDED_LAYOUT: Final = (
    "Array.vector",
    "Enum.signed",
    "Enum.scoped",
    "Enum.underlying",
    "Field.bit_size",
    "Field.mutable",
    "TypeRef[unsaid]",
    "Foreign.alignment",
    "Foreign.arguments",
    "Function.calling_convention",
    "Function.noreturn",
    "Function.prototyped",
    "Method.defaulted",
    "Method.deleted",
    "Method.explicit",
    "Method.reference",
    "Qualified[void]",
    "Record.alignment",
    "Record.arguments",
    "Record.deleted",
    "Record.passing",
    "VirtualMethod.pure",
)
"""What ABIXML has no word for, or what abidw never writes."""

LANGUAGES: Final = {
    **{"LANG_C": "C", "LANG_C89": "C89", "LANG_C99": "C99", "LANG_C11": "C11", "LANG_C17": "C17"},
    **{"LANG_C_plus_plus": "C++", "LANG_C_plus_plus_03": "C++03", "LANG_C_plus_plus_11": "C++11"},
    **{"LANG_C_plus_plus_14": "C++14", "LANG_C_plus_plus_17": "C++17", "LANG_C_plus_plus_20": "C++20"},
    **{"LANG_Mips_Assembler": "assembly", "LANG_Rust": "Rust", "LANG_Go": "Go", "LANG_Fortran90": "Fortran 90"},
}


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is an ABIXML corpus, or a group of them, or one compressed."""
    return START.match(beginning(head)) is not None


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of each corpus in the file. Raises :class:`ExtractError`."""
    from abistore.extract.foreign.abixml.document import read_document

    root = read_document(contents(file, options.max_bytes), str(file.path))
    corpora = [root] if root.tag == "abi-corpus" else list(root.children("abi-corpus"))
    if not corpora:
        raise ExtractError(f"{file.path}: holds no ABI corpus", "make it anew with abidw")
    group = root if root.tag == "abi-corpus-group" else None
    for corpus in corpora:
        yield _snapshot(file, corpus, group or corpus, options)


def _snapshot(file: InputFile, corpus: Element, whole: Element, options: ExtractOptions) -> Snapshot:
    from abistore.extract.foreign.abixml.symbols import read_symbols
    from abistore.extract.foreign.targets import target_dumped

    architecture = corpus.get("architecture") or whole.get("architecture")
    target = target_dumped(architecture, options.platform)
    if target is None:
        raise ExtractError(
            f"{file.path}: is for {architecture or 'no architecture'}, which is not known here",
            "ingest the library itself",
        )
    symbols = read_symbols(corpus)
    tables = symbols.tables
    binary = unread(
        file,
        options,
        tables.soname or corpus.get("path"),
        target.target,
        reader=f"ABIXML {corpus.get('version') or whole.get('version')}".strip(),
    )
    told = "Import.version" if symbols.tells_imports else "Import"
    unrecorded = (*UNRECORDED_SYMBOLS, *target.unrecorded, told)
    readings = [symbol_facet(dict(sorted(tables.entries.items(), key=by_name)), len(tables.kinds), unrecorded)]
    if options.layout:
        readings.append(_layout(corpus, whole, symbols, target.target))
    return identified(join(binary, readings), file, options)


def _layout(corpus: Element, whole: Element, symbols: ReadSymbols, target: Target) -> FacetReading:
    from abistore.extract.foreign.abixml.functions import read_declarations
    from abistore.extract.foreign.abixml.types import AbixmlTypes
    from abistore.extract.foreign.gathering import Gathered

    gathered = Gathered(symbols.tables.soname, vptr_bytes=target.bits // 8)
    types = AbixmlTypes(whole, gathered)
    read_declarations(types, corpus, symbols.tables.kinds, symbols.aliases)
    types.read_members()
    languages = (unit.get("language") for unit in corpus.children("abi-instr"))
    evidence = Evidence("layout", "full", source="file", unrecorded=UNRECORDED_LAYOUT)
    return gathered.reading(symbols.tables.kinds, evidence, (LANGUAGES.get(each, each) for each in languages if each))
