"""Where abistore, or the truth that was written down, is wrong about an edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from abistore.model.findings import Impact
from benchmarks.oracle.asking import WAYS, Answer
from benchmarks.oracle.written.building import Built


@dataclass(frozen=True)
class Wrong:
    """A wrong answer of one way of asking; ``truth`` is the way of the program that shows another than was written."""

    title: str
    way: str
    word: str
    said: str

    def __str__(self) -> str:
        return f"{self.word:9}  {self.way}: {self.title}: {self.said}"


def wrong(built: Built) -> Iterator[Wrong]:
    """The wrong answers about an edit. ``known`` are those that were written down with a reason."""
    edit = built.edit
    if set(edit.breaks) != built.broken:
        yield Wrong(edit.title, "truth", "false", f"shown by programs of {', '.join(sorted(built.broken)) or 'none'}")
    for name, way in WAYS.items():
        answer = way.judge(built.library)
        breaks = [each.kind for each in answer.findings if each.impact is Impact.BREAKING]
        if bool(breaks) == (way.maker in edit.breaks):
            continue
        word = "false" if breaks else "unchecked" if answer.unchecked else "missed"
        reason = edit.known.get(name)
        yield Wrong(edit.title, name, "known" if reason else word, reason or _said(answer))


def _said(answer: Answer) -> str:
    found = [f"{each.impact.name.lower()} {each.kind} {each.name.spelling}" for each in answer.findings]
    return "; ".join(found[:4]) or "nothing"
