"""Generated libraries: many edits at once, in any order and by every compiler, each judged as its client meets it.

``edits/*.txt`` hold small pieces of libraries before and after one edit, and whether a client that was built before
it breaks. ``@`` is the name that a piece is given; every name that it declares begins with that.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Comparison, Finding, Impact
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.draws import draws

pytestmark = pytest.mark.full

EDITS = Path(__file__).parent / "edits"
COMPILERS = {"c": ("gcc", "clang"), "c++": ("g++", "clang++ -fstandalone-debug")}
FLAGS = {"c": ("-g", "-O1", "-w"), "c++": ("-g", "-O1", "-w", "-std=c++17")}
SEEDS = range(1, 1 + draws(1))
WORDS = ("amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heath", "islet", "jetty", "knoll", "ledge")


@dataclass(frozen=True)
class Edit:
    """One edit. A client that was built before it ``breaks`` or goes on as it did."""

    label: str
    breaks: bool
    old: str
    new: str
    shared: bool


def edits(language: str) -> Iterator[Edit]:
    """The edits of a language, and those that C and C++ share."""
    for file in ("shared", language):
        text = (EDITS / f"{file}.txt").read_text()
        for verdict, label, body in re.findall(
            r"^== (breaking|harmless): (.*)\n((?:(?!== ).*\n?)*)", text, re.MULTILINE
        ):
            old, new = body.split("\n--\n")
            yield Edit(label, verdict == "breaking", old, new, file == "shared")


@dataclass(frozen=True)
class Library:
    """Pieces of one library by the name that each is given."""

    language: str
    compiler: str
    number: int
    pieces: dict[str, Edit]

    def source(self, side: str) -> str:
        """The text of all pieces before (``old``) or after their edits; what C has too is C in C++."""
        texts = []
        for name, edit in self.pieces.items():
            text = getattr(edit, side).replace("@", name)
            texts.append(f'extern "C" {{\n{text}\n}}' if edit.shared and self.language == "c++" else text)
        return "\n".join(texts)

    def snapshot(self, side: str) -> Snapshot:
        """What the built library shows."""
        flags = FLAGS[self.language]
        path = build_library(self.source(side), language=self.language, compiler=self.compiler, flags=flags)
        return read_snapshot(path, ExtractOptions(library="libcase"))


def generated() -> Iterator[Library]:
    """Every edit once for each compiler and seed, in another company each time."""
    for seed in SEEDS:
        for language, compilers in COMPILERS.items():
            table = list(edits(language))
            random.Random(seed).shuffle(table)
            for number, start in enumerate(range(0, len(table), len(WORDS)), 100 * seed):
                pieces = dict(zip((f"{word}{seed}" for word in WORDS), table[start:], strict=False))
                yield from (Library(language, compiler, number, pieces) for compiler in compilers)


def mentions(finding: Finding, name: str) -> bool:
    """Whether a finding, or one folded under it, is about a declaration of ``name``'s piece."""
    texts = [finding.name.spelling, finding.part, finding.old_value or "", finding.new_value or ""]
    texts += [each.spelling for each in finding.affected]
    return any(name in text for text in texts) or any(mentions(each, name) for each in finding.consequences)


def judged(comparison: Comparison, name: str) -> tuple[bool, list[str]]:
    """Whether what is found about a piece breaks its clients, and the kinds that are found."""
    found = [each for each in comparison.findings if mentions(each, name)]
    return any(each.impact is Impact.BREAKING for each in found), [each.kind for each in found]


@pytest.mark.parametrize(
    "library", list(generated()), ids=lambda each: f"{each.language}-{each.compiler.partition(' ')[0]}-{each.number}"
)
def test_what_breaks_a_client_is_breaking_and_nothing_else_is(library: Library) -> None:
    comparison = compare(library.snapshot("old"), library.snapshot("new"))
    verdicts = {name: judged(comparison, name) for name in library.pieces}
    wrong = {edit.label: verdicts[name][1] for name, edit in library.pieces.items() if verdicts[name][0] != edit.breaks}
    assert not wrong


@pytest.mark.parametrize("language", sorted(COMPILERS))
def test_the_tables_hold_edits_of_both_sorts(language: str) -> None:
    table = list(edits(language))
    assert len({edit.label for edit in table}) == len(table)
    assert sum(edit.breaks for edit in table) > 60 and sum(not edit.breaks for edit in table) > 20
