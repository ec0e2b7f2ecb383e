"""Kept edits: snapshots of both sides in each mode, with the truth, so that tests compile nothing."""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from benchmarks.oracle.running.asking import MODES, told
from benchmarks.oracle.running.results import Result, judged
from examples.obtain import PROJECT

SNAPSHOTS: Final = PROJECT / "tests" / "edits" / "snapshots.xz"
KEPT: Final = PROJECT / "tests" / "edits" / "kept.jsonl"
COUNT: Final = 100

SHARES: Final[Mapping[str, int]] = {"BREAKING": 60, "API_BREAK": 18, "OTHER_MEANING": 4, "HARMLESS": 18}
"""How many edits of each truth are kept."""


class KeptEdit(msgspec.Struct, frozen=True):
    """An edit with its truth, where its snapshots are, and what abistore says now.

    ``sides`` are places in the file of snapshots: of the old side in each mode, then of the new one.
    """

    seed: int
    title: str
    operators: tuple[str, ...]
    truth: str
    unshown: str
    sides: tuple[int, ...]
    verdicts: tuple[str, ...] = ()

    def words(self, verdicts: Sequence[str]) -> dict[str, str]:
        """How verdicts compare with the truth, by mode."""
        told = (judged(self.truth, each, unshown=bool(self.unshown)) for each in verdicts)
        return dict(zip(MODES, told, strict=True))


def chosen(results: Sequence[Result]) -> list[Result]:
    """Edits to keep: of each truth its share, of as many operators as there are, in the order of seeds."""
    seen, left, found = Counter[str](), dict(SHARES), list[Result]()
    for most in range(3):
        for each in results:
            fresh = all(seen[name] <= most for name in each.operators)
            if fresh and left.get(each.truth, 0) and each not in found and not each.unshown:
                left[each.truth] -= 1
                seen.update(each.operators)
                found.append(each)
    return sorted(found, key=lambda each: each.seed)


def write(edits: Sequence[tuple[Result, Sequence[Snapshot]]]) -> None:
    """Keep edits with the snapshots of both sides, the old ones first."""
    places: dict[bytes, int] = {}
    kept = []
    for result, sides in edits:
        texts = [to_json(each).replace(b"\n", b"") for each in sides]
        numbers = tuple(places.setdefault(text, len(places)) for text in texts)
        kept.append(KeptEdit(result.seed, result.title, tuple(result.operators), result.truth, result.unshown, numbers))
    SNAPSHOTS.parent.mkdir(exist_ok=True)
    SNAPSHOTS.write_bytes(lzma.compress(b"\n".join(places), preset=lzma.PRESET_EXTREME | 9))
    write_verdicts(kept, answers(kept))


def write_verdicts(kept: Sequence[KeptEdit], verdicts: Mapping[int, tuple[str, ...]]) -> None:
    """Write what abistore says now beside each edit."""
    lines = (msgspec.structs.replace(each, verdicts=verdicts[each.seed]) for each in kept)
    KEPT.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in lines))


def read() -> list[KeptEdit]:
    """The kept edits, by seed."""
    return [msgspec.json.decode(line, type=KeptEdit) for line in KEPT.read_bytes().splitlines()]


def pairs(kept: Sequence[KeptEdit]) -> Iterator[tuple[KeptEdit, str, Snapshot, Snapshot]]:
    """Each edit in each mode, with the snapshots of its sides."""
    texts = lzma.decompress(SNAPSHOTS.read_bytes()).splitlines()
    snapshots: dict[int, Snapshot] = {}
    for each in kept:
        for at, mode in enumerate(MODES):
            old, new = (
                snapshots.setdefault(place, snapshots.get(place) or from_json(texts[place]))
                for place in (each.sides[at], each.sides[at + len(MODES)])
            )
            yield each, mode, old, new


def answers(kept: Sequence[KeptEdit]) -> dict[int, tuple[str, ...]]:
    """What abistore says now, in the order of modes, by seed."""
    found: dict[int, list[str]] = {}
    for each, _, old, new in pairs(kept):
        found.setdefault(each.seed, []).append(str(told(compare(old, new))["verdict"]))
    return {seed: tuple(verdicts) for seed, verdicts in found.items()}
