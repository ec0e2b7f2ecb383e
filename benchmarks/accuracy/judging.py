"""What abistore and abidiff say of a pair of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.accuracy.asking import Said, ask
from benchmarks.accuracy.installed import release
from benchmarks.accuracy.truth import Pair
from examples.obtain import Missing

ASKED = ("abistore", "abidiff")


@dataclass(frozen=True)
class Judged:
    """A pair with the answers: from the files alone, and with the installed headers."""

    pair: Pair
    plain: Mapping[str, Said]
    declared: Mapping[str, Said]

    def line(self) -> str:
        """The pair in one line, ``!`` before what is wrong."""
        truth = "break" if self.pair.breaks else "-"
        said = [
            f"{tool}{mode}={'' if each.breaks == self.pair.breaks else '!'}{each.word}"
            for mode, answers in (("", self.plain), ("+headers", self.declared))
            for tool, each in answers.items()
        ]
        return f"{self.pair.library} {self.pair.old} -> {self.pair.new}: {truth} {' '.join(said)}"


def judge(pair: Pair) -> Judged:
    """Builds both releases where that is still to do, and asks both tools twice."""
    return Judged(pair, _answers(pair, "files"), _answers(pair, "headers"))


def _answers(pair: Pair, evidence: str) -> dict[str, Said]:
    old, new = (release(pair.library, version) for version in (pair.old, pair.new))
    said = {tool: ask(tool, evidence, old, new) for tool in ASKED}
    for tool, each in said.items():
        if each.breaks is None:
            raise Missing(f"{pair.library} {pair.old} -> {pair.new}: {tool} gave {each.word}")
    return said
