"""Spent pairs, asked again of a later engine: nothing told rightly may be lost, and which alarms in vain are mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import FOLDER, Part, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, key
from benchmarks.accuracy.unseen.gates import gated

AGAIN = FOLDER / "again.csv"
"""What ``python -m benchmarks.accuracy.unseen --again`` was told, with headers."""

PLACE: Final = ("abistore", "headers")

HEAD = """| part | pairs | breaks told then | of these now | missed then | of these told now | false alarms then | now |
|---|---:|---:|---:|---:|---:|---:|---:|"""

GATE_HEAD = """| part | rightly stopped then | of these now | missed then | of these now | stopped in vain then | now |
|---|---:|---:|---:|---:|---:|---:|"""


class Asked(NamedTuple):
    """A pair that was asked twice: the truth, and whether each answer said so."""

    truth: bool
    then: bool
    now: bool


def worth_asking(pairs: Sequence[UnseenPair], then: Mapping[Key, Said]) -> Iterator[UnseenPair]:
    """The judged pairs that break programs or sources, and those at which a gate stopped."""
    for pair in pairs:
        said = then.get(key(pair, *PLACE))
        if said is not None and ((at_gate := gated(pair, said)).truth or at_gate.stopped):
            yield pair


def lost(pairs: Sequence[UnseenPair], then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Iterator[UnseenPair]:
    """The pairs that break programs, or sources, which was told then and is not told now."""
    for pair in pairs:
        if key(pair, *PLACE) in now:
            both = _of_programs(pair, then, now), _at_gate(pair, then, now)
            if any(each.truth and each.then and not each.now for each in both):
                yield pair


def told(pairs: Sequence[UnseenPair], then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Iterator[str]:
    """The section: a row for each part and one for all, of breaks and of gates, and what was lost."""
    asked = [pair for pair in worth_asking(pairs, then) if key(pair, *PLACE) in now]
    if not asked:
        return
    known = len(list(worth_asking(pairs, then)))
    yield "## Spent pairs, asked again\n"
    yield "What a later engine says, with headers, of pairs that break programs or sources or at which a gate stopped,"
    yield f"in `again.csv`: {len(asked)} of {known}, those whose releases lay built on the machine that asked. Many"
    yield "led to rules since. So this tells what later rules lost and mended, and **not** how right abistore is on"
    yield "releases that it never saw.\n"
    yield HEAD
    for name, chosen in _by_part(asked):
        yield f"| {name} | {len(chosen)} | {_cells([_of_programs(pair, then, now) for pair in chosen])} |"
    yield "\nThe same as a gate, which stops at source breaks too:\n"
    yield GATE_HEAD
    for name, chosen in _by_part(asked):
        yield f"| {name} | {_cells([_at_gate(pair, then, now) for pair in chosen])} |"
    names = [f"`{pair.library}` {pair.old} to {pair.new}" for pair in lost(asked, then, now)]
    yield f"\nBreaks of programs or sources that are told no more: {', '.join(names) or 'none'}.\n"


def _by_part(asked: Sequence[UnseenPair]) -> Iterator[tuple[str, Sequence[UnseenPair]]]:
    for part in Part:
        if chosen := [pair for pair in asked if pair.part == part]:
            yield str(part), chosen
    yield "**all**", asked


def _of_programs(pair: UnseenPair, then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Asked:
    place = key(pair, *PLACE)
    return Asked(pair.breaks, then[place].breaks is True, now[place].breaks is True)


def _at_gate(pair: UnseenPair, then: Mapping[Key, Said], now: Mapping[Key, Said]) -> Asked:
    before, after = (gated(pair, said[key(pair, *PLACE)]) for said in (then, now))
    return Asked(before.truth, before.stopped is True, after.stopped is True)


def _cells(asked: Sequence[Asked]) -> str:
    breaks, harmless = [each for each in asked if each.truth], [each for each in asked if not each.truth]
    told, missed = [each for each in breaks if each.then], [each for each in breaks if not each.then]
    before = sum(each.then for each in harmless)
    return " | ".join(map(str, (len(told), _now(told), len(missed), _now(missed), before, _now(harmless))))


def _now(asked: Sequence[Asked]) -> int:
    return sum(each.now for each in asked)
