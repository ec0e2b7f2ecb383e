"""The reader of ABICC's dumps, as abi-dumper writes them: plain, compressed, or in a compressed archive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.facets import FacetReading, join, symbol_facet, unread
from abistore.extract.foreign.contents import beginning, contents
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions, identified
from abistore.model.names import by_name
from abistore.model.snapshot import Evidence, Snapshot

if TYPE_CHECKING:
    from abistore.extract.foreign.abicc.offsets import Reading
    from abistore.extract.foreign.abicc.perl import Hash
    from abistore.extract.foreign.gathering import Tables
    from abistore.extract.foreign.targets import DumpedTarget

START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*\$VAR1\s*=")

UNRECORDED_SYMBOLS: Final = (
    "ElfLibrary.rpath",
    "ElfLibrary.version_definitions",
    "ElfLibrary.version_requirements",
    "Import.library",
    "Import.weak",
    "Library.features",
    "Library.name",
    "Library.needed[order]",
    "Library.protections",
    "Library.search_paths",
    "Library.weaknesses",
    "Symbol.elf",
    "Symbol.type",
    "Symbol.weak",
    "Symbol[unique]",
)
UNRECORDED_LAYOUT: Final = (
    "Array.vector",
    "Array[Array]",
    "Base.offset",
    "Enum.scoped",
    "Enum.underlying",
    "Field.mutable",
    "Field[bit_size]",
    "Foreign.alignment",
    "Foreign.arguments",
    "Function.calling_convention",
    "Function.noreturn",
    "Function.prototyped",
    "Method.defaulted",
    "Method.deleted",
    "Method.explicit",
    "Method.reference",
    "Method.slot",
    "Qualified[atomic]",
    "Record.alignment",
    "Record.arguments",
    "Record.deleted",
    "Record.passing",
    "Record.virtuals",
    "Shape[variants]",
    "Variable.access",
)
"""What a dump has no word for, or what abi-dumper writes wrongly or leaves out."""

UNRELIABLE: Final = "layout-unreliable"


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is the output of Data::Dumper, or has it compressed."""
    return START.match(beginning(head)) is not None


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the library that was dumped. Raises :class:`ExtractError`."""
    from abistore.extract.foreign.abicc.perl import hash_of, read_value, text_of
    from abistore.extract.foreign.abicc.symbols import read_tables

    text = contents(file, options.max_bytes).decode("utf-8-sig", "replace")
    dump = hash_of(read_value(text, str(file.path)))
    if "ABI_DUMP_VERSION" not in dump or not ({"TypeInfo", "SymbolInfo", "Symbols"} & dump.keys()):
        raise ExtractError(f"{file.path}: is no ABI dump", "make it with abi-dumper")
    target = _target(file, dump, options.platform)
    needed = tuple(sorted(each for each in hash_of(dump.get("Needed")) if each))
    width = target.target.bits // 8
    tables = read_tables(dump, needed, width)
    name, version = text_of(dump.get("LibraryName")), text_of(dump.get("LibraryVersion"))
    reader = f"ABICC dump {text_of(dump.get('ABI_DUMP_VERSION'))}".strip()
    binary = replace(
        unread(file, options, name, target.target, reader=reader), version=options.version or version or None
    )
    readings = [_symbols(dump, tables, target.unrecorded)]
    if options.layout:
        readings.append(_layout(dump, tables, width))
    yield identified(join(binary, readings), file, options)


def _compilers(dump: Hash) -> tuple[str, ...]:
    """The compiler, as far as a dump tells it: without its options."""
    from abistore.extract.foreign.abicc.perl import text_of

    known = (("GNU", text_of(dump.get("GccVersion"))), ("clang version", text_of(dump.get("ClangVersion"))))
    return tuple(f"{compiler} {version}" for compiler, version in known if version)


def _target(file: InputFile, dump: Hash, asked: str | None) -> DumpedTarget:
    from abistore.extract.foreign.abicc.perl import text_of
    from abistore.extract.foreign.targets import target_dumped

    if text_of(dump.get("Target")) in ("windows", "macos"):
        raise ExtractError(f"{file.path}: is for {text_of(dump.get('Target'))}", "ingest the library itself")
    machine, width = text_of(dump.get("Arch")), text_of(dump.get("WordSize"))
    target = target_dumped("x32" if machine == "x86_64" and width == "4" else machine, asked)
    if target is None or (width and str(target.target.bits // 8) != width):
        what = f"is for {machine or 'no machine'} with words of {width or '?'} bytes, which is not known here"
        raise ExtractError(f"{file.path}: {what}", "ingest the library itself")
    return target


def _symbols(dump: Hash, tables: Tables, untold: tuple[str, ...]) -> FacetReading:
    from abistore.extract.foreign.abicc.symbols import lacks_sizes

    unrecorded = (*UNRECORDED_SYMBOLS, *untold, *(("Symbol.size",) if lacks_sizes(dump) else ()))
    reading = symbol_facet(dict(sorted(tables.entries.items(), key=by_name)), len(tables.kinds), unrecorded)
    return replace(reading, compilers=_compilers(dump))


def _layout(dump: Hash, tables: Tables, width: int) -> FacetReading:
    from abistore.extract.foreign.abicc.offsets import reading_of
    from abistore.extract.foreign.abicc.perl import hash_of, text_of
    from abistore.extract.foreign.abicc.symbols import read_declarations
    from abistore.extract.foreign.abicc.types import AbiccTypes
    from abistore.extract.foreign.gathering import Gathered

    found = {key: each for key, each in hash_of(dump.get("TypeInfo")).items() if isinstance(each, dict)}
    reading = reading_of(found)
    gathered = Gathered(text_of(dump.get("LibraryName")))
    types = AbiccTypes(found, gathered, reading, width=width)
    read_declarations(types, dump, tables.kinds)
    types.read_members()
    language = text_of(dump.get("Language"))
    return gathered.reading(tables.kinds, _evidence(reading), (language,) if language else ())


def _evidence(reading: Reading) -> Evidence:
    if reading != "unreliable":
        detail = "" if reading == "plain" else "offsets had been taken for hexadecimal ones, and are put right"
        return Evidence("layout", "full", detail=detail, source="file", unrecorded=UNRECORDED_LAYOUT)
    return Evidence(
        "layout",
        "full",
        UNRELIABLE,
        "the offsets of members contradict each other, and are not used",
        "make the dump anew with an abi-dumper that reads this elfutils, or ingest the library itself",
        "file",
        unrecorded=tuple(sorted((*UNRECORDED_LAYOUT, "Field.offset"))),
    )
