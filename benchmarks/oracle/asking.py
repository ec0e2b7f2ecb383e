"""What abistore says of each piece, and where that is not what the oracle knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.findings import Finding, Impact
from abistore.model.snapshot import Snapshot
from benchmarks.oracle.building import Edited, Library, Side
from benchmarks.oracle.facts import broken


@dataclass(frozen=True)
class Answer:
    """What is said of a library: what changed, and the names of which it says that something was not checked."""

    findings: Sequence[Finding]
    unchecked: Sequence[Name] = ()

    def breaking(self, prefix: str) -> list[str]:
        """What is said to break in a piece."""
        found = [each for each in self.findings if each.impact is Impact.BREAKING and _mentions(each, prefix)]
        return [f"{each.kind} {each.name.spelling} {each.part}".strip() for each in found]


Judge: TypeAlias = Callable[[Library], Answer]


@dataclass(frozen=True)
class Way:
    """How a library is judged: one that ``maker`` compiled. ``headers`` tell which exports are public."""

    judge: Judge
    maker: str
    headers: bool


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: what the oracle knows to be broken, if anything, and what was said."""

    seed: int
    piece: str
    edit: str
    way: str
    broken: Sequence[str]
    said: Sequence[str]

    unchecked: bool = False

    @property
    def word(self) -> str:
        """``missed``, ``unchecked`` where something of the piece is said not to have been checked, or ``false``."""
        return ("unchecked" if self.unchecked else "missed") if self.broken else "false"

    def __str__(self) -> str:
        told = "; ".join((self.broken or self.said)[:4])
        return f"{self.word:9}  seed {self.seed}  {self.piece}  {self.way}: {self.edit}: {told}"


def _asked(library: str, maker: str, *, headers: bool) -> Way:
    def judge(asked: Library) -> Answer:
        found = compare(_read(asked.old), _read(asked.new))
        return Answer(found.findings, [name for each in found.not_checked for name in each.names])

    def _read(side: Side) -> Snapshot:
        options = HeaderOptions(headers=(side.headers,)) if headers else None
        return read_snapshot(side.libraries[library], ExtractOptions(library="libcase", headers=options))

    return Way(judge, maker, headers)


WAYS: Mapping[str, Way] = {
    "gcc": _asked("gcc", "gcc", headers=False),
    "clang": _asked("clang", "clang", headers=False),
    "gcc with headers": _asked("gcc", "gcc", headers=True),
    "stripped with headers": _asked("stripped", "gcc", headers=True),
}
"""abistore with every kind of evidence."""


def breaks(library: Library, each: Edited, *, maker: str = "gcc", headers: bool = True) -> list[str]:
    """What an edit breaks. Without headers an export that no header declares is as public as any other."""
    old, new = library.old.facts(each.old, maker), library.new.facts(each.new, maker)
    found = broken(old["public"], new["public"])
    return found if headers else found + broken(old["internal"], new["internal"])


def wrong(library: Library, ways: Mapping[str, Way] = WAYS) -> Iterator[Wrong]:
    """The wrong answers about a library."""
    for name, way in ways.items():
        answer = way.judge(library)
        for each in library.pieces:
            prefix = each.old.prefix
            said, known = answer.breaking(prefix), breaks(library, each, maker=way.maker, headers=way.headers)
            if bool(said) != bool(known):
                unchecked = any(prefix in found.spelling for found in answer.unchecked)
                yield Wrong(library.seed, prefix, each.edit, name, known, said, unchecked)


def _mentions(finding: Finding, prefix: str) -> bool:
    """Whether a finding is about a piece: its own name, what changed, or what that affects."""
    texts = (finding.name.spelling, finding.part, finding.old_value or "", finding.new_value or "")
    affected = any(prefix in each.spelling for each in finding.affected)
    return (
        affected
        or any(prefix in text for text in texts)
        or any(_mentions(each, prefix) for each in finding.consequences)
    )
