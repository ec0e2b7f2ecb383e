"""The JSON reader: a snapshot that ``abistore dump`` or ``export`` wrote."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from abistore.errors import SnapshotError
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def accepts(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is meant as a snapshot in JSON."""
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text[:1] != b"{":
        return False
    from abistore.extract.macho.stubs.heads import is_json_stub  # no other format begins as these do

    return not is_json_stub(text)


def read(file: InputFile, options: ExtractOptions) -> Iterator[Snapshot]:
    """The snapshot that the file holds. Raises :class:`SnapshotError`."""
    from abistore.extract.json.evidence import unfounded
    from abistore.model.snapshot_file.codec import from_json

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
