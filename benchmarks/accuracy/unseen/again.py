"""Spent pairs, asked again of a later engine: no break that was told may be lost, and which false alarms are mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import FOLDER, Part, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, key

AGAIN = FOLDER / "again.csv"
"""What ``python -m benchmarks.accuracy.unseen --again`` was told, with headers."""

PLACE: Final = ("abistore", "headers")

HEAD = """| part | pairs | breaks told then | of these now | missed then | of these told now | false alarms then | now |
|---|---:|---:|---:|---:|---:|---:|---:|"""


class Asked(NamedTuple):
    """A pair that was asked twice: whether it breaks, and whether each answer said so."""

    truth: bool
    then: bool
    now: bool


def worth_asking(pairs: Sequence[UnseenPair], then: Mapping[Key, Said]) -> Iterator[UnseenPair]:
    """The judged pairs that break, and those that were said to."""
    for pair in pairs:
        said = then.get(key(pair, *PLACE))
        if said is not None and (pair.breaks or said.breaks):
            yield pair


def lost(pairs: Sequence[UnseenPair], then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Iterator[UnseenPair]:
    """The pairs that break, which was told then and is not told now."""
    for pair in pairs:
        place = key(pair, *PLACE)
        if pair.breaks and place in now and then[place].breaks and not now[place].breaks:
            yield pair


def told(pairs: Sequence[UnseenPair], then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Iterator[str]:
    """The section: a row for each part, one for all, and the breaks that were lost."""
    asked = [pair for pair in worth_asking(pairs, then) if key(pair, *PLACE) in now]
    if not asked:
        return
    known = len(list(worth_asking(pairs, then)))
    yield "## Spent pairs, asked again\n"
    yield f"What a later engine says, with headers, of pairs that break or were said to, in `again.csv`: {len(asked)}"
    yield f"of {known}, those whose releases lay built on the machine that asked. Many led to rules since. So this"
    yield "tells what later rules lost and mended, and **not** how right abistore is on releases that it never saw.\n"
    yield HEAD
    for part in (*Part, None):
        if of_part := [_asked(pair, then, now) for pair in asked if part in (pair.part, None)]:
            yield _row(f"{part or '**all**'}", of_part)
    yield ""
    names = [f"`{pair.library}` {pair.old} to {pair.new}" for pair in lost(asked, then, now)]
    yield f"Breaks that are told no more: {', '.join(names) or 'none'}.\n"


def _asked(pair: UnseenPair, then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Asked:
    place = key(pair, *PLACE)
    return Asked(pair.breaks, then[place].breaks is True, now[place].breaks is True)


def _row(name: str, asked: Sequence[Asked]) -> str:
    breaks, harmless = [each for each in asked if each.truth], [each for each in asked if not each.truth]
    told, missed = [each for each in breaks if each.then], [each for each in breaks if not each.then]
    cells = len(asked), len(told), _now(told), len(missed), _now(missed), len(harmless), _now(harmless)
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _now(asked: Sequence[Asked]) -> int:
    return sum(each.now for each in asked)
