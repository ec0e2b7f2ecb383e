"""The readers of other tools' dumps: recognised by their first bytes, decompressed, and read."""

from __future__ import annotations

import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from abistore.errors import ExtractError, LimitExceeded
from abistore.extract.files import InputFile, is_abicheck
from abistore.extract.reader import ExtractOptions, FacetReading, identified, join, symbol_facet, unread
from abistore.limits import allow_more
from abistore.model.declarations import SELF, by_name
from abistore.model.format_gaps import IN_ANONYMOUS
from abistore.model.shapes import Library
from abistore.model.snapshot import ANY_MACHINE, Evidence, Snapshot, Target
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dumps.abicheck import DumpedElf
    from abistore.extract.dumps.abixml import Element, ReadSymbols
    from abistore.extract.dumps.debian_symbols import PackageRelease, SymbolsOfLibrary
    from abistore.extract.dumps.gathering import DumpedTarget, Tables
    from abistore.extract.dumps.perl import Hash, Reading

GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
USTAR: Final = slice(257, 262)
BLOCK: Final = 512
PIECE: Final = 1 << 18

SPARE, RATIO = 64 << 20, 64
"""A dump may have so many bytes, and this many for each byte of the compressed file: four times what real ones have."""

SHOWN: Final = 8192
"""How much of the contents a look at the first bytes gives."""


class Inflating(Protocol):
    """What decompresses piece by piece."""

    @property
    def eof(self) -> bool:
        """Whether the end was met."""

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        """At most so many bytes more."""


@lru_cache(4)
def beginning(head: bytes) -> bytes:
    """What a file's contents begin with, given its first bytes: those of the first dump where they are compressed."""
    inflate = _inflating(head)
    if inflate is not None:
        with suppress(zlib.error, lzma.LZMAError, EOFError):
            head = inflate().decompress(head, SHOWN)
    return head[slice(*(_member(head) or (0, 0)))] if _is_tar(head) else head


def contents(file: InputFile, most: int) -> bytes:
    """All of the dump in ``file``, at most so many bytes. Raises :class:`LimitExceeded`, :class:`ExtractError`."""
    file.check_size(most)
    inflate = _inflating(file.head)
    if inflate is None:
        data = b"".join(_pieces(file))
    else:
        data = _inflated(file, inflate(), min(most, SPARE + RATIO * file.size))
        allow_more(len(data))
    if not _is_tar(data):
        return data
    place = _member(data)
    if place is None or place[1] > len(data):
        raise ExtractError(f"{file.path}: the archive contains no dump", "unpack it, and pass the dump")
    return data[slice(*place)]


def _inflating(head: bytes) -> Callable[[], Inflating] | None:
    if head.startswith(GZIP):
        return _Gunzip
    return lzma.LZMADecompressor if head.startswith(XZ) else None


class _Gunzip:
    """zlib's decompressor with the bounded output that the one of lzma has."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


def _pieces(file: InputFile) -> Iterator[bytes]:
    for offset in range(0, file.size, PIECE):
        yield file.read_at(offset, min(PIECE, file.size - offset))


def _inflated(file: InputFile, inner: Inflating, most: int) -> bytes:
    found, size = [], 0
    try:
        for piece in _pieces(file):
            while not inner.eof and (given := inner.decompress(piece, PIECE)):
                piece, size = b"", size + len(given)
                found.append(given)
                if size > most:
                    raise LimitExceeded(
                        f"{file.path}: {file.size:,} bytes unpack to more than {most:,}",
                        "unpack it, and pass the dump",
                    )
    except (zlib.error, lzma.LZMAError, EOFError) as error:
        raise ExtractError(f"{file.path}: the compressed data are damaged", "download it again") from error
    if not inner.eof:
        raise ExtractError(f"{file.path}: the compressed data are truncated", "download it again")
    return b"".join(found)


def _is_tar(data: bytes) -> bool:
    return data[USTAR] == b"ustar"


def _member(data: bytes) -> tuple[int, int] | None:
    """Where the first regular file of a tar archive begins and ends: nothing is unpacked to disk."""
    position = 0
    while len(header := data[position : position + BLOCK]) == BLOCK and any(header):
        size = _octal(header[124:136])
        if size is None:
            return None
        position += BLOCK
        if header[156:157] in (b"0", b"\0"):
            return position, position + size
        position += -(-size // BLOCK) * BLOCK
    return None


def _octal(field: bytes) -> int | None:
    text = field.strip(b" \0")
    return int(text, 8) if text and not set(text) - set(b"01234567") else None


START_OF_DUMP: Final = pattern(rb"(?:\xef\xbb\xbf)?\s*\$VAR1\s*=")

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


def accepts_abicc(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is the output of Data::Dumper, or has it compressed."""
    return START_OF_DUMP.match(beginning(head)) is not None


def read_abicc(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the library that was dumped. Raises :class:`ExtractError`."""
    from abistore.extract.dumps.abicc import read_tables
    from abistore.extract.dumps.perl import hash_of, read_value, text_of

    text = contents(file, options.max_bytes).decode("utf-8-sig", "replace")
    dump = hash_of(read_value(text, str(file.path)))
    if "ABI_DUMP_VERSION" not in dump or not ({"TypeInfo", "SymbolInfo", "Symbols"} & dump.keys()):
        raise ExtractError(f"{file.path}: not an ABI dump", "create it with abi-dumper")
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
    from abistore.extract.dumps.perl import text_of

    known = (("GNU", text_of(dump.get("GccVersion"))), ("clang version", text_of(dump.get("ClangVersion"))))
    return tuple(f"{compiler} {version}" for compiler, version in known if version)


def _target(file: InputFile, dump: Hash, asked: str | None) -> DumpedTarget:
    from abistore.extract.dumps.gathering import target_dumped
    from abistore.extract.dumps.perl import text_of

    if text_of(dump.get("Target")) in ("windows", "macos"):
        raise ExtractError(f"{file.path}: is for {text_of(dump.get('Target'))}", "ingest the library itself")
    machine, width = text_of(dump.get("Arch")), text_of(dump.get("WordSize"))
    target = target_dumped("x32" if machine == "x86_64" and width == "4" else machine, asked)
    if target is None or (width and str(target.target.bits // 8) != width):
        what = f"is for {machine or 'no machine'} with words of {width or '?'} bytes, which is not supported"
        raise ExtractError(f"{file.path}: {what}", "ingest the library itself")
    return target


def _symbols(dump: Hash, tables: Tables, untold: tuple[str, ...]) -> FacetReading:
    from abistore.extract.dumps.abicc import lacks_sizes

    unrecorded = (*UNRECORDED_SYMBOLS, *untold, *(("Symbol.size",) if lacks_sizes(dump) else ()))
    reading = symbol_facet(dict(sorted(tables.entries.items(), key=by_name)), len(tables.kinds), unrecorded)
    return replace(reading, compilers=_compilers(dump))


def _layout(dump: Hash, tables: Tables, width: int) -> FacetReading:
    from abistore.extract.dumps.abicc import AbiccTypes, read_declarations
    from abistore.extract.dumps.gathering import Gathered
    from abistore.extract.dumps.perl import hash_of, reading_of, text_of

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
        detail = "" if reading == "plain" else "hexadecimal offsets were detected and corrected"
        return Evidence("layout", "full", detail=detail, source="file", unrecorded=UNRECORDED_LAYOUT)
    return Evidence(
        "layout",
        "full",
        UNRELIABLE,
        "the offsets of members contradict each other, and are not used",
        "create the dump again with an abi-dumper that supports this elfutils, or ingest the library itself",
        "file",
        unrecorded=tuple(sorted((*UNRECORDED_LAYOUT, "Field.offset"))),
    )


START_OF_CORPUS: Final = pattern(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:abi-corpus|!DOCTYPE\s+abi-corpus)", re.DOTALL
)

UNRECORDED_CORPUS_SYMBOLS: Final = (
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
UNRECORDED_OF_CORPUS: Final = (
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


def accepts_abixml(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is an ABIXML corpus, or a group of them, or one compressed."""
    return START_OF_CORPUS.match(beginning(head)) is not None


def read_abixml(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of each corpus in the file. Raises :class:`ExtractError`."""
    from abistore.extract.dumps.abixml import read_document

    root = read_document(contents(file, options.max_bytes), str(file.path))
    corpora = [root] if root.tag == "abi-corpus" else list(root.children("abi-corpus"))
    if not corpora:
        raise ExtractError(f"{file.path}: contains no ABI corpus", "create it again with abidw")
    group = root if root.tag == "abi-corpus-group" else None
    for corpus in corpora:
        yield _snapshot(file, corpus, group or corpus, options)


def _snapshot(file: InputFile, corpus: Element, whole: Element, options: ExtractOptions) -> Snapshot:
    from abistore.extract.dumps.abixml import read_symbols
    from abistore.extract.dumps.gathering import target_dumped

    architecture = corpus.get("architecture") or whole.get("architecture")
    target = target_dumped(architecture, options.platform)
    if target is None:
        raise ExtractError(
            f"{file.path}: is for {architecture or 'no architecture'}, which is not supported",
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
    unrecorded = (*UNRECORDED_CORPUS_SYMBOLS, *target.unrecorded, told)
    readings = [symbol_facet(dict(sorted(tables.entries.items(), key=by_name)), len(tables.kinds), unrecorded)]
    if options.layout:
        readings.append(_corpus_layout(corpus, whole, symbols, target.target))
    return identified(join(binary, readings), file, options)


def _corpus_layout(corpus: Element, whole: Element, symbols: ReadSymbols, target: Target) -> FacetReading:
    from abistore.extract.dumps.abixml import AbixmlTypes, read_declarations
    from abistore.extract.dumps.gathering import Gathered

    gathered = Gathered(symbols.tables.soname, vptr_bytes=target.bits // 8)
    types = AbixmlTypes(whole, gathered)
    read_declarations(types, corpus, symbols.tables.kinds, symbols.aliases)
    types.read_members()
    languages = (unit.get("language") for unit in corpus.children("abi-instr"))
    evidence = Evidence("layout", "full", source="file", unrecorded=UNRECORDED_OF_CORPUS)
    return gathered.reading(symbols.tables.kinds, evidence, (LANGUAGES.get(each, each) for each in languages if each))


START_OF_SYMBOLS: Final = pattern(
    rb"(?:#[^\n]*\n|[^\S\n]*\n)*(?=[^\s#|*(<{$]\S*\.so)\S+ +[a-z0-9][^\n]*\n"
    rb"(?:[|*#(][^\n]*\n)*[ \t]+(?:\([^)\n]*\))?\S"
)
IN_NAME: Final = pattern(r"\.symbols\.([a-z0-9-]+)$")

UNRECORDED: Final = (
    *("ElfLibrary.rpath", "ElfLibrary.version_definitions", "ElfLibrary.version_requirements", "Import"),
    *("Library.features", "Library.needed", "Library.protections", "Library.search_paths", "Library.weaknesses"),
    *("Symbol.default", "Symbol.elf", "Symbol.size", "Symbol.table", "Symbol.type", "Symbol.weak"),
)
DEMANGLED: Final = "Name[mangled]"


def accepts_symbols(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a symbols file: a library, its package, and symbols below."""
    return START_OF_SYMBOLS.match(beginning(head)) is not None


def read_symbols(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """A snapshot of each library in the file; with ``options.every_release`` one of each release that it names.

    Raises :class:`ExtractError`.
    """
    from abistore.extract.dumps.debian_symbols import labels, read_lines, release_at

    text = contents(file, options.max_bytes).decode("utf-8", "replace")
    found = read_lines(text, str(file.path), lambda name: _included(file, name, options.max_bytes))
    target = _symbols_target(file, options)
    for library in found:
        known = None if target.machine == ANY_MACHINE else target
        named: list[str | None] = [*labels(library.symbols)] if options.every_release else []
        if options.version not in named:
            named.append(options.version if options.version or not named else named.pop())
        for label in named:
            last = label == named[-1]
            # what is newer than the version that a caller gives is there all the same: the file is of that release
            release = release_at(library.symbols, None if last else label, known)
            binary = unread(file, options, library.soname, target, reader=f"symbols file of {library.package}")
            snapshot = join(replace(binary, version=label), _readings(library, release, last=last))
            yield identified(snapshot, file, options)


def _included(file: InputFile, name: str, most: int) -> str:
    if "/" in name or name.startswith("."):
        raise ExtractError(
            f"{file.path}: includes {name}, which is not in its folder", "copy the included files to its folder"
        )
    with InputFile(file.path.with_name(name)) as other:
        allow_more(other.size)
        return contents(other, most).decode("utf-8", "replace")


def _symbols_target(file: InputFile, options: ExtractOptions) -> Target:
    from abistore.extract.dumps.gathering import target_called

    asked = options.platform
    if asked is None and (match := IN_NAME.search(file.path.name)):
        asked = match[1]
    if asked is None:
        return Target("elf", ANY_MACHINE, 64, "little")
    found = target_called(asked)
    if found is None:
        raise ExtractError(f"{file.path}: {asked} is not a supported ELF platform")
    return found


def _readings(library: SymbolsOfLibrary, release: PackageRelease, *, last: bool) -> list[FacetReading]:
    facts = [*UNRECORDED, *release.unknown]
    if any(line.tag("c++") is not None for line in library.symbols):
        facts.append(DEMANGLED)
    evidence = Evidence(
        "symbol",
        "full" if last else "partial",
        "" if last else "minimal-versions",
        "" if last else "a symbols file shows when symbols were added, but no removed ones",
        "" if last else "ingest the library of that release",
        "file",
        len(release.entries),
        len(release.entries),
        tuple(sorted(facts)),
    )
    entries = {**dict(sorted(release.entries.items(), key=by_name)), SELF: (Library("shared", library.soname),)}
    return [FacetReading(evidence, entries), FacetReading(_no_layout(len(release.entries)))]


def _no_layout(exports: int) -> Evidence:
    return Evidence(
        "layout", "missing", "no-debug-info", "a symbols file contains no types", "ingest the library itself", "file",
        0, exports,
    )  # fmt: skip


def accepts_abicheck(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a snapshot of abicheck, or has one compressed."""
    return is_abicheck(beginning(head).removeprefix(b"\xef\xbb\xbf"))


def read_abicheck(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot of the library that was dumped. Raises :class:`ExtractError`."""
    from abistore.extract.dumps import abicheck

    document = abicheck.read_document(contents(file, options.max_bytes).removeprefix(b"\xef\xbb\xbf"), str(file.path))
    dump = document.joined()
    if dump.elf is None or dump.platform not in (None, "elf"):
        raise ExtractError(f"{file.path}: has no symbols of an ELF library", "ingest the library itself")
    target = _abicheck_target(file, dump.elf, options)
    tables = abicheck.read_tables(dump.elf)
    reader = f"abicheck snapshot {document.schema_version}"
    binary = unread(file, options, tables.soname or dump.library, target.target, reader=reader)
    binary = replace(binary, version=options.version or dump.version or None)
    facts = (*abicheck.UNRECORDED_SYMBOLS, *target.unrecorded)
    readings = [symbol_facet(tables.entries, len(tables.kinds), facts)]
    if options.layout:
        left_out = (IN_ANONYMOUS,) if dump.elf.machine is None else ()  # before abicheck 0.5
        lacks = tuple(sorted((*abicheck.UNRECORDED_LAYOUT, *left_out)))
        evidence = Evidence("layout", "full", source="file", unrecorded=lacks)
        readings.append(abicheck.read_layout(dump, tables, evidence))
    yield identified(join(binary, readings), file, options)


def _abicheck_target(file: InputFile, elf: DumpedElf, options: ExtractOptions) -> DumpedTarget:
    """The target; early snapshots do not name it, and are for the one that the caller names."""
    from abistore.extract.dumps.gathering import DumpedTarget, target_called, target_dumped

    if elf.machine is None:
        asked = target_called(options.platform) if options.platform else None
        return DumpedTarget(asked or Target("elf", ANY_MACHINE, 64, "little"))
    word = elf.machine.removeprefix("EM_").lower()
    target = target_dumped("x32" if word == "x86_64" and elf.elf_class == 32 else word, options.platform)
    if target is None or (elf.elf_class and target.target.bits != elf.elf_class):
        raise ExtractError(f"{file.path}: is for {elf.machine}, which is not supported", "ingest the library itself")
    return target


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is another tool's dump."""
    return accepts_abicc(head) or accepts_abixml(head) or accepts_abicheck(head) or accepts_symbols(head)


def read(file: InputFile, options: ExtractOptions) -> Iterable[Snapshot]:
    """The snapshots in the file, as the reader of its format gives them."""
    if accepts_abicc(file.head):
        return read_abicc(file, options)
    if accepts_abixml(file.head):
        return read_abixml(file, options)
    if accepts_abicheck(file.head):
        return read_abicheck(file, options)
    return read_symbols(file, options)
