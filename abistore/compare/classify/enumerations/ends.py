"""Enumerators that mark the end or the number of a list, as far as the words of their names tell."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared

Hint: TypeAlias = Literal["", "counted", "last", "certain"]
"""What a name says: nothing; an end if values in a row lead up to it; the last of something; or an end."""

CERTAIN: Final = frozenset({"max", "maximum", "last", "count", "cnt", "num", "nb", "n", "number", "sentinel"})
UNCERTAIN: Final = frozenset({"size", "end", "ending", "total"})
"""Words that are values just as well: ``ERR_SIZE``, ``STREAM_END``."""
NUMBERS: Final = frozenset({"num", "nb", "number", "count", "max"})
"""Words before what is counted: ``NUM_RED_COLORS``."""

LIST: Final = frozenset({"list", "enum", "table", "value", "item", "entry", "entrie", "element", "one"})
OF_LISTS: Final = LIST | {
    *("of", "plus", "1", "all", "defined", "msg", "message", "err", "error", "status", "token", "event", "op"),
    *("opcode", "cmd", "command", "code", "id", "index", "type", "kind", "role"),
}
"""Words for what stands in any list. Behind a word for an end they say no more than that: ``LAST_ENTRY``."""

PARTICIPLES: Final = frozenset({"registered", "used", "valid", "known"})
"""``LAST_KNOWN_STATE`` is the last of the states, or a state."""

NOBODY: Final = (
    r"(?i)(?:^|_)(?:dummy|never_?used|do_?not_?use)(?:_|$)|(?:^|_)force_?(?:u?int|dword|enum|size|\d)[a-z0-9_]*$"
)
"""How enumerators are called that nobody is to use, which only keep a comma company or the enumeration wide."""

_WORD: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"
_ONE: Final = "|".join(sorted((*OF_LISTS - {"of", "plus", "1", "all"}, "entries"), key=len, reverse=True))
_GLUED: Final = rf"(last|max|num|nb|end|total|count)(of)?(({_ONE})s?)+|n(item|entrie|value|element|type|kind|code)s"


def words(name: str) -> list[str]:
    """The words of which a name is made, in small letters; what is written as one word counts as such."""
    return [word.lower() for word in re.findall(_WORD, name)]


def end_hint(name: str, kin: Collection[str] = ()) -> Hint:
    """What the name of an enumerator says of its being an end, beside enumerators that share the words ``kin``.

    It says so with a word at its end. Behind that may stand what is said of any list, or of this one:
    ``STATUS_LAST_STATUS``, ``N_ROLES``, ``END_OF_LIST``, ``LASTONE``.
    """
    if re.search(NOBODY, name) is not None:
        return "certain"
    all_words = words(name)
    rest, behind = _without_tail(all_words, kin)
    if rest and re.fullmatch(_GLUED, rest[-1]) is not None:
        return "certain"
    if rest and rest[-1] in CERTAIN and (rest[-1] not in ("n", "number") or behind):
        return "certain"
    if rest and rest[-1] in UNCERTAIN:
        return "certain" if LIST.intersection(behind) and rest[-1] != "size" else "counted"
    if any(pair[0] == "last" and pair[1] in PARTICIPLES for pair in pairwise(all_words)):
        return "last"
    counts = all_words[-1:] and all_words[-1].endswith("s") and NUMBERS.intersection(all_words[:-1])
    return "certain" if counts else ""


def _forms(word: str) -> frozenset[str]:
    """A word as one and as many."""
    return frozenset((word, word.removesuffix("s"), f"{word}s"))


def is_default(name: str, side: SideFacts) -> bool:
    """Whether headers pass the enumerator where a call leaves an argument out: then it is a value like the others."""
    texts = (text for shapes in side.snapshot.entries.get("source", {}).values() for text in shapes)
    defaults = (each.default for text in texts if isinstance(text, Declared) for each in text.parameters)
    return any(default is not None and last_component(default) == name for default in defaults)


def _without_tail(own: Sequence[str], kin: Collection[str]) -> tuple[Sequence[str], list[str]]:
    """The words up to one that says something of its own, and those behind it, each as one of several."""
    rest, behind = [*own], list[str]()
    while rest and rest[-1] not in CERTAIN | UNCERTAIN:
        singular = rest[-1].removesuffix("s")
        if not {rest[-1], singular} & OF_LISTS and _forms(rest[-1]).isdisjoint(kin):
            break
        behind.append(singular)
        rest.pop()
    return rest, behind
