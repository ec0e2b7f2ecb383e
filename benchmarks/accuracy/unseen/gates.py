"""Right as a gate: which pairs a pipeline stops at that lets neither breaks of programs nor of sources pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.accuracy.asking import STOPPING, Said
from benchmarks.accuracy.unseen import UnseenPair
from benchmarks.accuracy.unseen.answers import Key, counts, key, rates

HEAD = """| pairs | rightly stopped | wrongly stopped | missed | rightly passed | no answer | precision | recall |
|---|---:|---:|---:|---:|---:|---:|---:|"""


class Gated(NamedTuple):
    """A pair at the gate: whether it should be stopped, and whether it was (``None``: no answer)."""

    truth: bool
    stopped: bool | None


def gated(pair: UnseenPair, said: Said) -> Gated:
    """A pair should be stopped where built programs break, or sources that use the library stop compiling."""
    stopped = None if said.breaks is None else said.word in STOPPING
    return Gated(pair.breaks or pair.breaks_source, stopped)


def told(pairs: Sequence[UnseenPair], found: Mapping[Key, Said]) -> Iterator[str]:
    """The section: a row for all pairs, and one for those of which no built program breaks."""
    asked = [pair for pair in pairs if key(pair, "abistore", "headers") in found]
    at_gate = [(pair, gated(pair, found[key(pair, "abistore", "headers")])) for pair in asked]
    yield "## Right as a gate\n"
    yield "A gate stops at `API_BREAK` too: sources that use the library stop compiling. Here a pair should be stopped"
    yield "where `break` or `source_break` of its truth says yes, and it is where abistore, with headers, says"
    yield "`BREAKING` or `API_BREAK`. Answers are those of the day on which each part was judged.\n"
    yield HEAD
    yield _row("all", [gate for _, gate in at_gate])
    yield _row("those that break no built program", [gate for pair, gate in at_gate if not pair.breaks])
    yield ""
    yield from _needless(at_gate)


def _row(name: str, gates: Sequence[Gated]) -> str:
    return f"| {name} ({len(gates)}) | {counts(gates)} |"


def _needless(at_gate: Sequence[tuple[UnseenPair, Gated]]) -> Iterator[str]:
    precision, recall = rates([gate for _, gate in at_gate])
    harmless = [gate for pair, gate in at_gate if not pair.breaks]
    stopped, rightly = sum(gate.stopped is True for gate in harmless), harmless.count(Gated(True, True))
    yield f"As a gate abistore is right with **precision {precision:.2f}, recall {recall:.2f}**."
    yield f"Of {len(harmless)} pairs that break no built program it stopped {stopped}, {rightly} of them rightly.\n"
