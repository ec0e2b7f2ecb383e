"""Macros that number something: an enumeration that is written in macros, as C libraries have had them for long."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from abistore.compare.classify.constants.families import Macros, family, macros, prefixes
from abistore.compare.classify.constants.mentioned import is_mentioned
from abistore.compare.classify.constants.release import words
from abistore.compare.context import Context
from abistore.model.names import Name

FEWEST: Final = 3
"""Two numbers of one prefix follow each other by chance."""


def is_moved_number(name: Name, context: Context) -> bool:
    """Whether a macro of a numbering got another number because others came, went or changed places.

    The names of a numbering begin alike, each has a number of its own, and these run without a gap, in both releases.
    One of them moves where its old number is another's now, or its new number was. An integer that programs exchange
    with the library is called as they are: without that, a numbering may be for the library alone, as its opcodes are.
    """
    old, new = macros(context)
    if name not in old or name not in new:
        return False
    return any(
        _is_moved(name, before, after) and is_mentioned(called, context)
        for called, before, after in _families(name, old, new)
    )


def _families(name: Name, old: Macros, new: Macros) -> Iterator[tuple[Sequence[str], Macros, Macros]]:
    """What the families of ``name`` are called but for the library, and their macros on both sides.

    What is on trial in a library may have a prefix of its own: ``GEOX_JOIN_OPEN`` stands in a row with
    ``GEO_JOIN_ROUND``, by what is behind the first ``_``.
    """
    for prefix in prefixes(name.spelling):
        called = words(prefix)
        yield called[1:] or called, family(prefix, old), family(prefix, new)
    for stem in prefixes(_behind(name.spelling)):
        yield words(stem), _stemmed(stem, old), _stemmed(stem, new)


def _behind(spelling: str) -> str:
    return spelling.partition("_")[2]


def _stemmed(stem: str, among: Macros) -> Macros:
    return {each: value for each, value in among.items() if _behind(each.spelling).startswith(stem)}


def _is_moved(name: Name, old: Macros, new: Macros) -> bool:
    if max(len(old), len(new)) < FEWEST or not (_run(old.values()) and _run(new.values())):
        return False
    taken = any(value == old[name] for each, value in new.items() if each != name)
    return taken or any(value == new[name] for each, value in old.items() if each != name)


def _run(values: Collection[int]) -> bool:
    """Whether there are two numbers at least, each once, and no gap between them."""
    return len(values) > 1 and len(set(values)) == len(values) == max(values) - min(values) + 1
