"""What headers were not asked for: by the version of abistore that read them, or as they ask for another compiler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from abistore.compare.context import Context
from abistore.compare.diff.headers.compilers import asked_of_compilers
from abistore.compare.side import SideFacts
from abistore.model.findings import NOT_RECORDED, NotChecked
from abistore.model.snapshot import ABILITIES, INCLUDES, MACROS, MODES, TEMPLATE_BASES, HeadersRead

PASSED_OVER: Final[Mapping[str, str]] = {
    MACROS: "macros with parameters and without a value",
    INCLUDES: "which headers include each other",
    TEMPLATE_BASES: "the bases of class templates",
    ABILITIES: "what programs can do with classes",
}
"""What is compared only where both sides' headers were asked for it."""


def unread(context: Context) -> Iterator[NotChecked]:
    """What is not compared, as a former version read one side's headers alone, and what other compilers see."""
    for fact, words in PASSED_OVER.items():
        passing = [_passes_over(side, fact) for side in (context.old, context.new)]
        if passing[0] != passing[1]:
            yield _unrecorded(passing[0], f"its headers were read by a version that passed over {words}")
    passing = [_passes_over(side, MODES) for side in (context.old, context.new)]
    if passing[0] != passing[1] and (modes := _modes((context.old, context.new)[passing[0]])):
        what = f"its headers were read in one mode only, and the other side shows programs something else in {modes}"
        yield _unrecorded(passing[0], what)
    yield from asked_of_compilers(context)


def _unrecorded(is_old: bool, what: str) -> NotChecked:
    hint = "store the release anew, with its headers, to have these compared"
    return NotChecked("source", "old" if is_old else "new", NOT_RECORDED, what, hint)


def _modes(side: SideFacts) -> str:
    read = side.snapshot.provenance.headers
    return ", ".join(each.name for each in read.modes) if isinstance(read, HeadersRead) else ""


def tell(context: Context, fact: str) -> bool:
    """Whether both sides' headers were asked for a later fact."""
    return not any(_passes_over(side, fact) for side in (context.old, context.new))


def _passes_over(side: SideFacts, fact: str) -> bool:
    read = side.snapshot.provenance.headers
    if not isinstance(read, HeadersRead) or not read.files or fact in read.facts:
        return False
    return fact != ABILITIES or read.language == "c++"
