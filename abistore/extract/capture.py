"""Reads a file of any format within limits of time and memory, and chooses among the libraries in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from abistore.errors import InputError, UsageError
from abistore.extract.facets import FacetReading, with_headers
from abistore.extract.headers.options import NO_EDITS, HeaderEdits, HeaderOptions
from abistore.extract.input_file import InputFile, open_input
from abistore.extract.json.reader import accepts as accepts_json
from abistore.extract.reader import ExtractOptions, reader_of
from abistore.extract.types.foreign import is_runtime
from abistore.limits import limits_for
from abistore.model.mangling.decorated import is_decorated
from abistore.model.mangling.symbols import is_mangled, is_of_standard_library
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot, Target


def read(path: Path, options: ExtractOptions) -> Snapshot:
    """The snapshot of the one library at ``path``. Raises :class:`InputError` and its kinds."""
    with open_input(path) as file:
        return only(read_all(file, options), path)


def read_all(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
    """The snapshots of all libraries in ``file``: one, but for universal files and packages.

    Time and memory are bounded by the size of what is read. Raises :class:`InputError` and its kinds.
    """
    reader = reader_of(file, options)
    if options.headers is not None and not options.headers.configured and accepts_json(file.head):
        raise UsageError(
            f"{file.path}: is a JSON snapshot, to which no headers can be added",
            "give the headers where the snapshot is made: `abistore dump LIBRARY --header FOLDER`",
        )
    with limits_for(file.size, f"reading {file.path.name}"):
        if accepts_json(file.head):
            return tuple(map(_printable, reader.read(file, options)))
        found = tuple(map(_printable, reader.read(file, options)))
        _check_named(options.headers, found, file.path)
        read = tuple(_with_headers(each, options) for each in found)
        if options.headers is not None:
            file.check_in_place("its headers were read")
        return read


def _check_named(headers: HeaderOptions | None, found: Sequence[Snapshot], path: Path) -> None:
    """Raises :class:`UsageError` where headers name a library that is not there, or leave out the only one that is."""
    if headers is None or headers.configured:
        return
    there = sorted({each.library for each in found})
    if len(there) == 1 and headers.of(there[0]) is None:
        named = ", ".join(sorted(headers.named))
        raise UsageError(
            f"{path}: is {there[0]}, and headers are given for {named}", f"name them {there[0]}=PATH, or PATH alone"
        )
    unknown = sorted(headers.named - set(there)) if len(there) > 1 else []
    if unknown:
        raise UsageError(
            f"{path}: headers are given for {unknown[0]}, which is not in it", f"it holds {', '.join(there)}"
        )


def _with_headers(binary: Snapshot, options: ExtractOptions) -> Snapshot:
    headers = options.headers.of(binary.library) if options.headers else None
    if headers is None:
        return binary
    if binary.evidence_of("source").state != "missing":
        return binary  # a development package has them
    from abistore.extract.described import weighed  # not always needed

    return with_headers(binary, weighed(headers_of(binary, headers, progress=options.progress), binary))


def headers_of(
    binary: Snapshot,
    headers: HeaderOptions,
    edits: HeaderEdits = NO_EDITS,
    progress: Callable[[str, float], None] | None = None,
) -> FacetReading:
    """What ``headers`` declare to consumers of ``binary``, with ``edits`` in place of what is on disk.

    Raises :class:`HeaderError`, :class:`LimitExceeded`.
    """
    from abistore.extract.headers.reader import read_headers  # not always needed
    from abistore.extract.headers.string_abi import as_built

    own = [name.spelling for name in binary.entries.get("symbol", ()) if is_cpp(name)]
    return read_headers(
        as_built(headers, own),
        _for_compilers(binary),
        progress,
        cpp_exports=bool(own),
        runtime=is_runtime(binary.facts.name if binary.facts else None),
        edits=edits,
    )


def _for_compilers(binary: Snapshot) -> Target:
    """The target as headers are read for it: names that Visual C++ decorated join with headers read its way."""
    if binary.target.format == "pe" and any(is_decorated(name.spelling) for name in binary.entries.get("symbol", ())):
        return msgspec.structs.replace(binary.target, os_abi="msvc")
    return binary.target


def is_cpp(name: Name) -> bool:
    """Whether an export is a C++ symbol of the library itself, and not one of the standard library in it."""
    symbol = name.spelling
    return name.kind in ("function", "variable") and is_mangled(symbol) and not is_of_standard_library(symbol)


def only(snapshots: Sequence[Snapshot], path: Path, target: str | None = None) -> Snapshot:
    """The snapshot for ``target`` (``elf-x86_64-64-little``, or just ``x86_64``); without one, the only snapshot.

    Raises :class:`InputError` where several are left to choose from, and names them.
    """
    if len(snapshots) == 1:
        return snapshots[0]
    fitting = [each for each in snapshots if each.target.is_called(target)]
    if len(fitting) == 1:
        return fitting[0]
    choices = fitting or list(snapshots)
    if not choices:
        raise InputError(f"{path}: holds no library", "name a shared library or a JSON snapshot")
    listed = ", ".join(sorted(f"{each.library} ({each.target})" for each in choices))
    raise InputError(f"{path}: holds {len(choices)} libraries: {listed}", "choose one with --only or --target")


def _printable(snapshot: Snapshot) -> Snapshot:
    """The snapshot with a file name that can be written as text: one on disk may be any bytes."""
    name = snapshot.provenance.file
    shown = name.encode(errors="surrogateescape").decode(errors="replace")
    if shown == name:
        return snapshot
    return msgspec.structs.replace(snapshot, provenance=msgspec.structs.replace(snapshot.provenance, file=shown))
