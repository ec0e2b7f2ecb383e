"""Snapshots of the sides of cases, kept in the repository: a side that is unchanged is not compiled again."""

from __future__ import annotations

import lzma
import os
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from examples.obtain import Missing
from tests.sides import Side

FOLDER = Path(__file__).parent / "snapshots"
"""A file a subject: a line of JSON for each side, compressed together."""


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A snapshot, the key of its side, and the versions of the programs that made it."""

    key: str
    made_by: str
    json: msgspec.Raw

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot as it was read when it was kept."""
        return from_json(bytes(self.json))


def file_of(subject: str) -> Path:
    """Where the snapshots of a subject are."""
    return FOLDER / f"{subject}.xz"


@cache
def kept(subject: str) -> Mapping[str, Kept]:
    """What is kept of a subject, by its key."""
    file = file_of(subject)
    lines = lzma.decompress(file.read_bytes()).splitlines() if file.exists() else []
    return {each.key: each for each in map(msgspec.json.Decoder(Kept).decode, lines)}


@cache
def kept_or_read(side: Side, subject: str) -> Snapshot:
    """The kept snapshot of a side; where there is none, it is compiled and read.

    Raises ``Missing`` where it would have to be compiled, and the compiler is not installed.
    """
    found = kept(subject).get(side.key)
    return found.snapshot if found else side.read()


def keep(sides: Iterable[Side], subject: str) -> None:
    """Write the file of a subject: every side compiled and read anew, and none beside.

    A kept side of programs of other versions, or of some that are not installed, stays as it is.
    Raises ``Missing`` where a side that is not kept cannot be compiled.
    """
    known = kept(subject)
    found = {side.key: _made(side, known.get(side.key)) for side in sides}
    if found != known:
        _write(file_of(subject), found.values())
        kept.cache_clear()
        kept_or_read.cache_clear()


def _write(file: Path, found: Collection[Kept]) -> None:
    text = b"".join(msgspec.json.encode(each) + b"\n" for each in found)
    partial = file.with_suffix(f".{os.getpid()}")
    partial.write_bytes(lzma.compress(text, preset=lzma.PRESET_EXTREME | 9))
    partial.rename(file)


def _made(side: Side, known: Kept | None) -> Kept:
    try:
        made_by = side.made_by
    except Missing:
        if known is None:
            raise
        return known
    if known and known.made_by != made_by:
        return known
    return Kept(side.key, made_by, as_json(side.read()))


def as_json(snapshot: Snapshot) -> msgspec.Raw:
    """A snapshot on one line, as it is kept."""
    return msgspec.Raw(to_json(snapshot).replace(b"\n", b""))
