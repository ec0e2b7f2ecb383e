"""Reading consumers: what a program, or each binary of a package or folder, imports and was built with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from abistore.errors import InputError
from abistore.extract.input_file import InputFile, open_input
from abistore.extract.packages.entries import entries
from abistore.extract.packages.formats.bounds import UnpackBounds
from abistore.extract.packages.formats.streams import damage_told
from abistore.extract.packages.libraries import is_binary, is_debug_file
from abistore.extract.reader import ExtractOptions, is_package
from abistore.limits import allow_more
from abistore.model.judging.consumers import BuiltType, ConsumedSymbol, Consumer, ConsumerDetails, Unseen
from abistore.model.names import Name
from abistore.model.shapes import Opaque
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Import, Library, Symbol
from abistore.service.snapshots import captured_all

ASKING = frozenset({"dlsym", "dlvsym", "GetProcAddress", "NSLookupSymbolInModule", "NSAddressOfSymbol"})
"""The functions by which a program asks for symbols while it runs."""

TYPES = ("record", "enum")


class ReadConsumers(msgspec.Struct, frozen=True):
    """What was read of a path; ``left_out`` tells of binaries that use no library, or are damaged, each with a word."""

    consumers: tuple[Consumer, ...]
    left_out: tuple[str, ...] = ()


def read_consumers(path: str | Path, options: ExtractOptions, name: str = "") -> ReadConsumers:
    """The consumers at ``path``: a program or library, or all of those in a package or a folder.

    ``name`` is what a single one is called in place of its file. Raises :class:`InputError` where there is none.
    """
    options = msgspec.structs.replace(options, programs=True)
    with open_input(Path(path)) as file:
        if is_package(file):
            return _packaged(file, options)
        read = captured_all(file, options=options)
    return ReadConsumers(tuple(consumer_of(each, name or Path(path).name) for each in read))


def _packaged(package: InputFile, options: ExtractOptions) -> ReadConsumers:
    """The binaries of a package or folder, each called by what it was found in and its path there."""
    where, found, left_out = package.path.resolve().name, list[Consumer](), list[str]()
    bounds = UnpackBounds(str(package.path), package.size, options.max_bytes)
    with damage_told(str(package.path)):
        for entry in entries(package, bounds):
            if entry.keep is None or not is_binary(entry.head) or is_debug_file(entry.path):
                continue
            with entry.keep() as file:
                allow_more(file.size)
                try:
                    read = captured_all(file, options=options)
                except InputError as error:
                    left_out.append(f"{entry.path} ({error.message.rpartition(': ')[2]})")
                    continue
            found += [consumer_of(each, f"{where}:{entry.path}", where) for each in read]
    if not found:
        others = f"; left out: {', '.join(left_out[:5])}" if left_out else ""
        raise InputError(f"{package.path}: holds no program{others}", "name a package or folder with programs")
    return ReadConsumers(tuple(found), tuple(sorted(left_out)))


def consumer_of(snapshot: Snapshot, name: str, package: str = "") -> Consumer:
    """What the snapshot of a program, or of a library, asks of other libraries."""
    facts = snapshot.facts
    imports = tuple(sorted(_imports(snapshot)))
    details = ConsumerDetails(
        name,
        str(snapshot.target),
        snapshot.provenance.file,
        snapshot.provenance.sha256,
        facts.needed if isinstance(facts, Library) else (),
        tuple(_unseen(snapshot, imports)),
        package,
    )
    return Consumer(details, imports, dict(_types(snapshot)))


def _imports(snapshot: Snapshot) -> Iterator[ConsumedSymbol]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        for shape in shapes:
            if isinstance(shape, Import):
                copied = _size(snapshot, name.spelling)
                yield ConsumedSymbol(name.spelling, shape.version or "", shape.library or "", shape.weak, copied)


def _size(snapshot: Snapshot, symbol: str) -> int:
    """The size of the data that a program has of its own under the name of an import."""
    own = snapshot.variants("symbol", Name("variable", symbol))
    return next((shape.size for shape in own if isinstance(shape, Symbol)), 0)


def _unseen(snapshot: Snapshot, imports: tuple[ConsumedSymbol, ...]) -> Iterator[Unseen]:
    if any(each.symbol in ASKING for each in imports):
        yield "asks-at-run-time"
    evidence = snapshot.evidence_of("layout")
    if evidence.state == "missing":
        yield "no-types"
    elif evidence.state == "partial":
        yield "some-types"


def _types(snapshot: Snapshot) -> Iterator[tuple[Name, BuiltType]]:
    for name, shapes in sorted(snapshot.entries.get("layout", {}).items()):
        whole = tuple(shape for shape in shapes if not isinstance(shape, Opaque))
        if name.kind in TYPES and whole:
            place = snapshot.locations.get(name)
            yield name, BuiltType(whole, place.file.replace("\\", "/").rpartition("/")[2] if place else "")
