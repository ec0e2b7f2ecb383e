"""The table of pairs on which accuracy is measured holds together, without building any of them."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.clients import clients
from benchmarks.accuracy.judging import Judged
from benchmarks.accuracy.page import _figures
from benchmarks.accuracy.truth import Pair, pairs
from examples.more_recipes import ALL


def test_every_pair_of_consecutive_releases_is_judged_once() -> None:
    known = [(library, old, new) for library in ALL for old, new in pairwise(ALL[library].version_numbers())]
    assert [(pair.library, pair.old, pair.new) for pair in pairs()] == known


def test_a_client_shows_what_its_pair_is_said_to_be() -> None:
    truth = {(pair.library, pair.old, pair.new): pair.breaks for pair in pairs()}
    for client in (each for each in clients() if not each.is_source):
        breaks = client.expected == "breaks"
        assert truth[client.library, client.old, client.new] == breaks, client.path.name


def test_precision_and_recall_count_alarms_and_misses() -> None:
    def judged(breaks: bool, said: bool) -> Judged:
        answers = {"abistore": Said("word", said), "abidiff": Said("word", False)}
        return Judged(Pair("lib", "1", "2", breaks, ""), answers, answers)

    rows = list(_figures([judged(True, True), judged(True, True), judged(False, True), judged(True, False)]))
    assert "| abistore | from the files | 2 | 1 | 1 | 0 | 0.67 | 0.67 |" in rows
    assert "| abidiff | from the files | 0 | 0 | 3 | 1 | 0.00 | 0.00 |" in rows
