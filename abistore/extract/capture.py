"""Reads a file of any format within limits of time and memory; JSON snapshots directly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from abistore.errors import InputError, SnapshotError, UsageError
from abistore.extract.files import InputFile, is_abicheck, is_json_stub, open_input
from abistore.extract.reader import (
    NO_EDITS,
    ExtractOptions,
    FacetReading,
    HeaderEdits,
    HeaderOptions,
    reader_of,
    weighed,
    with_headers,
)
from abistore.extract.types import is_runtime
from abistore.limits import limits_for
from abistore.model.declarations import Name
from abistore.model.names.symbols import is_declared, is_mangled, is_of_standard_library
from abistore.model.snapshot import Evidence, Snapshot, Target
from abistore.model.structure import references
from abistore.model.words import counted, is_decorated


def unfounded(snapshot: Snapshot) -> str:
    """What the evidence claims and the entries do not show, in words; empty where there is no such thing."""
    return next((said for seen in snapshot.evidence if (said := _unfounded(snapshot, seen))), "")


def _unfounded(snapshot: Snapshot, seen: Evidence) -> str:
    facet = seen.facet
    if seen.state != "missing" and facet not in snapshot.entries:
        return f"its evidence claims the facet {facet}, but there are no {facet} facts"
    if facet != "layout":
        return ""
    exported, described = (
        {name.spelling for name in snapshot.entries.get(facet, ()) if name.kind in {"function", "variable"}}
        for facet in ("symbol", "layout")
    )
    if len(described) < seen.described:
        return f"its evidence claims {seen.described} described exports, but there are {len(described)}"
    absent = sorted(filter(is_declared, exported - described))
    if absent and (seen.reason == "nothing-to-describe" or (seen.state == "full" and not seen.reason)):
        some = counted(len(absent), "export is", "exports are")
        return f"its evidence claims to be full, but {some} not described, e.g. {', '.join(absent[:3])}"
    if seen.state == "full" and (dangling := _mentioned_only(snapshot)):
        some = counted(len(dangling), "type is", "types are")
        return f"its evidence claims to be full, but {some} only mentioned, e.g. {', '.join(dangling[:3])}"
    return ""


def _mentioned_only(snapshot: Snapshot) -> list[str]:
    """The types that described exports mention and that are not there; debug information declares each at least."""
    layout = snapshot.entries["layout"]
    there = {name for name, shapes in layout.items() if shapes}
    mentioned = {each for shapes in layout.values() for shape in shapes for each, _ in references(shape)}
    return sorted(each.spelling for each in mentioned - there)


BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is meant as a snapshot in JSON."""
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text[:1] != b"{":
        return False
    return not (is_json_stub(text) or is_abicheck(text))


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot that the file holds. Raises :class:`SnapshotError`."""
    from abistore.model.snapshot_files import from_json

    path = file.path
    if file.size > options.max_bytes:
        raise SnapshotError(f"{path}: {file.size:,} bytes are more than the {options.max_bytes:,} allowed")
    try:
        snapshot = from_json(file.read_at(0, file.size).removeprefix(BYTE_ORDER_MARK))
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error.message}", error.hint) from error
    if said := unfounded(snapshot):
        raise SnapshotError(f"{path}: {said}")
    yield msgspec.structs.replace(
        snapshot, library=options.library or snapshot.library, version=options.version or snapshot.version
    )


def read_snapshot(path: Path, options: ExtractOptions) -> Snapshot:
    """The snapshot of the one library at ``path``. Raises :class:`InputError` and its kinds."""
    with open_input(path) as file:
        return only(read_all(file, options), path)


def read_all(file: InputFile, options: ExtractOptions) -> tuple[Snapshot, ...]:
    """The snapshots of all libraries in ``file``: one, but for universal files and packages.

    Time and memory are bounded by the size of what is read. Raises :class:`InputError` and its kinds.
    """
    reader = reader_of(file, options)
    if options.headers is not None and not options.headers.configured and accepts(file.head):
        raise UsageError(
            f"{file.path}: headers cannot be added to a JSON snapshot",
            "pass the headers when you create the snapshot: `abistore export LIBRARY --header FOLDER`",
        )
    with limits_for(file.size, f"reading {file.path.name}"):
        if accepts(file.head):
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
            f"{path}: is {there[0]}, but headers were given for {named}", f"name them {there[0]}=PATH, or PATH alone"
        )
    unknown = sorted(headers.named - set(there)) if len(there) > 1 else []
    if unknown:
        raise UsageError(
            f"{path}: headers were given for {unknown[0]}, which it does not contain", f"it contains {', '.join(there)}"
        )


def _with_headers(binary: Snapshot, options: ExtractOptions) -> Snapshot:
    headers = options.headers.of(binary.library) if options.headers else None
    if headers is None:
        return binary
    if binary.evidence_of("source").state != "missing":
        return binary  # a development package has them
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
    from abistore.extract.headers.subprocess import as_built, read_headers  # not always needed

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
        raise InputError(f"{path}: contains no library", "name a shared library or a JSON snapshot")
    listed = ", ".join(sorted(f"{each.library} ({each.target})" for each in choices))
    raise InputError(f"{path}: contains {len(choices)} libraries: {listed}", "choose one with --only or --target")


def _printable(snapshot: Snapshot) -> Snapshot:
    """The snapshot with a file name that can be written as text: one on disk may be any bytes."""
    name = snapshot.provenance.file
    shown = name.encode(errors="surrogateescape").decode(errors="replace")
    if shown == name:
        return snapshot
    return msgspec.structs.replace(snapshot, provenance=msgspec.structs.replace(snapshot.provenance, file=shown))
