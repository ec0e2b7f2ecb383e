"""From a file to a snapshot: a library of any known format, or a JSON snapshot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from abistore.errors import InputError, SnapshotError
from abistore.extract import regular
from abistore.extract.reader import HEAD_BYTES, ExtractOptions, reader_for
from abistore.limits import limits_for
from abistore.model.snapshot import Snapshot
from abistore.service.labels import check_label

__all__ = ["ExtractOptions", "capture", "file_digest", "is_json", "one_of", "written"]


PLAIN = ExtractOptions()
"""An extraction without special wishes."""


def capture(path: Path, *, options: ExtractOptions = PLAIN) -> Snapshot:
    """The snapshot of a library, or the one that a JSON file holds.

    ``options.library`` and ``options.version`` win over what the file says. Time and memory are bounded by the file's
    size. Raises :class:`InputError` and its kinds.
    """
    check_label("library", options.library)
    check_label("version", options.version)
    head = read_head(path)
    if is_json(head):
        return _relabelled(_load(path, options.max_bytes), options)
    return _printable(reader_for(head, path).read(path, options))


def written(snapshot: Snapshot) -> bytes:
    """The snapshot as JSON, within limits. Raises :class:`SnapshotError` where it cannot be written."""
    from abistore.model.codec import to_json

    with limits_for(snapshot.weight, f"writing {snapshot.label}"):
        return to_json(snapshot)


def one_of(options: ExtractOptions, number: int, count: int) -> ExtractOptions:
    """The options for reading one of ``count`` files, so that its progress is a part of the whole."""
    progress = options.progress
    if progress is None:
        return options
    return replace(options, progress=lambda what, done: progress(what, (number + done) / count))


def read_head(path: Path) -> bytes:
    """The first bytes of a regular file. Raises :class:`InputError` for anything else; never blocks on a FIFO."""
    head = regular.read_head(path, HEAD_BYTES)
    if not head:
        raise InputError(f"{path}: the file is empty", "name a shared library or a JSON snapshot")
    return head


def is_json(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is meant as JSON."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal. Raises :class:`InputError`."""
    import hashlib  # loads OpenSSL

    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", "check the path and its permissions") from error


def _load(path: Path, max_bytes: int) -> Snapshot:
    size = path.stat().st_size
    if size > max_bytes:
        raise SnapshotError(f"{path}: {size:,} bytes are more than the {max_bytes:,} allowed")
    from abistore.model.codec import from_json
    from abistore.model.evidence import unfounded

    try:
        with limits_for(size, f"reading {path.name}"):
            snapshot = from_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error.message}", error.hint) from error
    if said := unfounded(snapshot):
        raise SnapshotError(f"{path}: {said}")
    return snapshot


def _printable(snapshot: Snapshot) -> Snapshot:
    """The snapshot with a file name that can be written as text: one on disk may be any bytes."""
    name = snapshot.provenance.file
    shown = name.encode(errors="surrogateescape").decode(errors="replace")
    if shown == name:
        return snapshot
    return msgspec.structs.replace(snapshot, provenance=msgspec.structs.replace(snapshot.provenance, file=shown))


def _relabelled(snapshot: Snapshot, options: ExtractOptions) -> Snapshot:
    return msgspec.structs.replace(
        snapshot, library=options.library or snapshot.library, version=options.version or snapshot.version
    )
