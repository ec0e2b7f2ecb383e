"""Spent pairs, asked again: what later rules made of answers whose causes led to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import FOLDER, Part, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, counts, key

AGAIN = FOLDER / "again.csv"
"""``python -m benchmarks.accuracy.unseen --part PART --tool abistore --answers again.csv``, for each part."""

ENGINE = 90
"""The engine that gave these answers (``abistore.compare.engine``)."""

HEAD = """| part | evidence | true alarms | false alarms | missed | rightly silent | no answer | precision | recall |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""


def told(pairs: Sequence[UnseenPair], found: Mapping[Key, Said], where: Mapping[str, str]) -> Iterator[str]:
    """The table: a row for each part and evidence, and one for all."""
    if not found:
        return
    yield "## Spent pairs, asked again\n"
    yield f"What engine {ENGINE} says of pairs whose wrong answers led to rules, in `again.csv`. It tells whether these"
    yield "rules do what they were made for, and **not** how right abistore is on releases that it has not seen.\n"
    yield HEAD
    for part in (*Part, None):
        for evidence, words in where.items():
            asked = [each for each in pairs if part in (each.part, None) and key(each, "abistore", evidence) in found]
            if asked:
                answered = [(each.breaks, found[key(each, "abistore", evidence)].breaks) for each in asked]
                name = f"{part or '**all**'} ({len(asked)} pairs)"
                yield f"| {name} | {words} | {counts(answered)} |"
    yield ""
