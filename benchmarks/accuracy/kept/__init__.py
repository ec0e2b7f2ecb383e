"""Judged release pairs of which both snapshots are in the repository; ``python -m benchmarks.accuracy.kept``.

``tests/pairs`` has an archive of snapshots for each library, and ``answers.csv``, what abistore says of each pair.
The truth stays in the tables of :mod:`benchmarks.accuracy.unseen`.

Truth and the cost of building choose the pairs, never an answer of abistore (:mod:`.making`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from abistore.model.snapshot import Snapshot
from benchmarks.accuracy.kept import archives
from benchmarks.accuracy.unseen import UnseenPair
from benchmarks.accuracy.unseen import pairs as judged_pairs


@dataclass(frozen=True)
class KeptPair:
    """A judged pair, and both releases as abistore reads them with their public headers."""

    pair: UnseenPair
    old: Snapshot
    new: Snapshot


def pairs(libraries: Collection[str] | None = None) -> Iterator[KeptPair]:
    """The kept pairs of these libraries, or of all: library by library, oldest first.

    One library is in memory at a time.
    """
    library, found = "", dict[str, Snapshot]()
    for pair in judged_pairs():
        if libraries is not None and pair.library not in libraries:
            continue
        if pair.library != library:
            library, found = pair.library, archives.read(pair.library)
        if pair.old in found and pair.new in found:
            yield KeptPair(pair, found[pair.old], found[pair.new])
