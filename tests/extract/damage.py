"""Flips bits in chosen places of a library, many times, and counts what reading the damaged copies gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.errors import InputError, LimitExceeded
from abistore.extract import capture
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.limits import limits
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from tests.draws import draws

FLIPS = draws(500)
"""Damaged copies for each call."""

SECONDS, BYTES = 10, 256 << 20
"""What no damaged file of some kilobytes may take: a fraction of what reading allows, a hundred times the usual."""


def tighten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives reading a fraction of the processor time and memory that users give it, by its own mechanism."""
    monkeypatch.setattr(capture, "limits_for", lambda size, doing: limits(SECONDS, BYTES, doing))


def outcomes(library: Path, places: Sequence[range], folder: Path, *, layout: bool = True) -> Counter[str]:
    """How often a copy that is damaged in one of ``places`` gave a snapshot, and how often an error.

    What it gave that is not what the intact library gives can be written, read back and compared like any other; no
    limit was reached on the way.
    """
    options = ExtractOptions(layout=layout)
    original, intact = library.read_bytes(), read_snapshot(library, options)
    source = random.Random(f"{len(original)} {places[0].start}")
    path = folder / "libcase.so"
    found: Counter[str] = Counter()
    for number in range(FLIPS):
        path.write_bytes(damaged(original, places[number % len(places)], source))
        try:
            snapshot = read_snapshot(path, options)
        except InputError as error:
            assert error.message
            # a size that is declared above its limit is refused at once, and that is no failure
            assert not isinstance(error, LimitExceeded) or "took more than" not in error.message, f"file {number}"
            found["error"] += 1
        else:
            if facts(snapshot) != facts(intact):  # most bits of some sections change nothing that is read
                assert from_json(to_json(snapshot)) == snapshot
                if snapshot.target == intact.target:
                    compare(intact, snapshot)
                found["other facts"] += 1
            found["snapshot"] += 1
    assert found["snapshot"] + found["error"] == FLIPS
    return found


def facts(snapshot: Snapshot) -> Snapshot:
    """All of a snapshot but the digest of its file."""
    return replace(snapshot, provenance=replace(snapshot.provenance, sha256=""))


def damaged(original: bytes, place: range, source: random.Random) -> bytes:
    """``original`` with one bit flipped in ``place``, or three."""
    data = bytearray(original)
    for _ in range(source.choice((1, 1, 3))):
        data[source.choice(place)] ^= 1 << source.randrange(8)
    return bytes(data)
