"""The reader of Debian's symbols files: the symbols of a library, for one release or for each that the file names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.facets import FacetReading, join, unread
from abistore.extract.foreign.contents import beginning, contents
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions, identified
from abistore.limits import allow_more
from abistore.model.names import SELF, by_name
from abistore.model.snapshot import ANY_MACHINE, Evidence, Snapshot, Target
from abistore.model.tables import Library

if TYPE_CHECKING:
    from abistore.extract.foreign.symbols.lines import SymbolsOfLibrary
    from abistore.extract.foreign.symbols.releases import PackageRelease

START: Final = re.compile(
    rb"(?:#[^\n]*\n|[^\S\n]*\n)*(?=[^\s#|*(<{$]\S*\.so)\S+ +[a-z0-9][^\n]*\n"
    rb"(?:[|*#(][^\n]*\n)*[ \t]+(?:\([^)\n]*\))?\S"
)
IN_NAME: Final = re.compile(r"\.symbols\.([a-z0-9-]+)$")

UNRECORDED: Final = (
    *("ElfLibrary.rpath", "ElfLibrary.version_definitions", "ElfLibrary.version_requirements", "Import"),
    *("Library.features", "Library.needed", "Library.protections", "Library.search_paths", "Library.weaknesses"),
    *("Symbol.default", "Symbol.elf", "Symbol.size", "Symbol.table", "Symbol.type", "Symbol.weak"),
)
DEMANGLED: Final = "Name[mangled]"


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a symbols file: a library, its package, and symbols below."""
    return START.match(beginning(head)) is not None


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """A snapshot of each library in the file; with ``options.every_release`` one of each release that it names.

    Raises :class:`ExtractError`.
    """
    from abistore.extract.foreign.symbols.lines import read_lines
    from abistore.extract.foreign.symbols.releases import labels, release_at

    text = contents(file, options.max_bytes).decode("utf-8", "replace")
    found = read_lines(text, str(file.path), lambda name: _included(file, name, options.max_bytes))
    target = _target(file, options)
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
        raise ExtractError(f"{file.path}: includes {name}, which is not beside it", "copy what it includes beside it")
    with InputFile(file.path.with_name(name)) as other:
        allow_more(other.size)
        return contents(other, most).decode("utf-8", "replace")


def _target(file: InputFile, options: ExtractOptions) -> Target:
    from abistore.extract.foreign.targets import target_called

    asked = options.platform
    if asked is None and (match := IN_NAME.search(file.path.name)):
        asked = match[1]
    if asked is None:
        return Target("elf", ANY_MACHINE, 64, "little")
    found = target_called(asked)
    if found is None:
        raise ExtractError(f"{file.path}: {asked} is no platform of ELF libraries that is known here")
    return found


def _readings(library: SymbolsOfLibrary, release: PackageRelease, *, last: bool) -> list[FacetReading]:
    facts = [*UNRECORDED, *release.unknown]
    if any(line.tag("c++") is not None for line in library.symbols):
        facts.append(DEMANGLED)
    evidence = Evidence(
        "symbol",
        "full" if last else "partial",
        "" if last else "minimal-versions",
        "" if last else "a symbols file tells since when symbols are there, and not which went before",
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
        "layout", "missing", "no-debug-info", "a symbols file tells no types", "ingest the library itself", "file",
        0, exports,
    )  # fmt: skip
