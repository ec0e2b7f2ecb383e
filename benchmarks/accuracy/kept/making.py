"""Obtaining, building and reading the releases of a library, and keeping their snapshots.

Of the judged pairs those are kept that break programs or sources, and of the others those next to such a pair, which
share a release with it; of a library without a break, its first two pairs. A release that cannot be obtained, built or
read is left out, and so is a library whose archive is larger than :data:`MOST_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from abistore.errors import AbistoreError
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.snapshot import Snapshot
from abistore.service.snapshots import capture
from benchmarks.accuracy.asking import no_answer
from benchmarks.accuracy.kept import archives
from benchmarks.accuracy.release import Release
from benchmarks.accuracy.unseen import UnseenPair, libraries, pairs, recipe
from benchmarks.accuracy.unseen.building import release
from examples.obtain import Missing

OF_HARMLESS = 2
"""How many pairs of a library that never breaks are kept."""

MOST_BYTES = 400_000


class LeftOut(NamedTuple):
    """A release that is not kept, or with an empty version a whole library, and why."""

    library: str
    version: str
    why: str


class Made(NamedTuple):
    """A library of which something was kept, or nothing: how much, and what is left out."""

    library: str
    kept: int
    size: int
    left_out: tuple[LeftOut, ...]


def is_harmful(pair: UnseenPair) -> bool:
    """Whether built programs break, or sources stop compiling."""
    return pair.breaks or pair.breaks_source


def chosen(judged: Sequence[UnseenPair]) -> tuple[UnseenPair, ...]:
    """The pairs to keep of all that are judged of a library, oldest first."""
    harmful = list(map(is_harmful, judged))
    near = tuple(pair for at, pair in enumerate(judged) if any(harmful[max(at - 1, 0) : at + 2]))
    return near or tuple(judged[:OF_HARMLESS])


def cheapest_first() -> list[str]:
    """All libraries: those that one line of a C compiler builds, of a C++ compiler, wheels, and what CMake builds."""
    return sorted(libraries(), key=_cost)


def _cost(library: str) -> tuple[int, str]:
    told = recipe(library)
    if told["origin"] == "wheel":
        return 2, library
    if told["source"].get("build") == "cmake":
        return 3, library
    return int(told["source"]["compiler"] != "gcc"), library


def make(library: str) -> Made:
    """Keep the snapshots of a library in its archive, in place of what it held."""
    found: dict[str, Snapshot] = {}
    left_out: list[LeftOut] = []
    judged = [pair for pair in pairs() if pair.library == library]
    for version in dict.fromkeys(version for pair in chosen(judged) for version in (pair.old, pair.new)):
        try:
            found[version] = snapshot(release(library, version))
        except (Missing, AbistoreError) as problem:
            left_out.append(LeftOut(library, version, _told(problem)))
    used = dict(_of_pairs(judged, found))
    if not used:
        return Made(library, 0, 0, tuple(left_out))
    packed = archives.pack(used)
    if len(packed) > MOST_BYTES:
        whole = LeftOut(library, "", f"its archive would have {len(packed) // 1000} kB")
        return Made(library, 0, 0, (*left_out, whole))
    archives.FOLDER.mkdir(exist_ok=True)
    archives.path_of(library).write_bytes(packed)
    return Made(library, len(used), len(packed), tuple(left_out))


def _of_pairs(judged: Sequence[UnseenPair], found: Mapping[str, Snapshot]) -> Iterator[tuple[str, Snapshot]]:
    """The snapshots that belong to a pair of which both sides were found."""
    for pair in judged:
        if pair.old in found and pair.new in found:
            yield from ((version, found[version]) for version in (pair.old, pair.new))


def snapshot(built: Release) -> Snapshot:
    """What ``abistore compare`` reads of a release with its headers, without what depends on the folder of the build.

    Raises :class:`AbistoreError`.
    """
    headers = HeaderOptions.given(
        built.headers,
        include_dirs=built.include,
        defines=built.defines,
        language=built.language,
        clang_args=built.options,
    )
    read = capture(built.binary, options=ExtractOptions(headers=headers, identify=False))
    return msgspec.structs.replace(read, provenance=msgspec.structs.replace(read.provenance, build_id=None, size=0))


def _told(problem: Exception) -> str:
    """A problem in one line, without the folders of this machine."""
    lines = [line for line in str(problem).splitlines() if "error" in line.lower()] or str(problem).splitlines()
    return no_answer(lines[0]).word.removeprefix("no answer: ")
