"""The parts side by side: when each was judged, how right abistore was, and what its wrong answers led to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from benchmarks.accuracy.asking import TOOLS, Said
from benchmarks.accuracy.unseen import JUDGED, Part, UnseenPair
from benchmarks.accuracy.unseen.answers import Key, key, rates

INTRODUCTION: Final = """**Each part is judged once**, when no rule will change any more. The open one is where causes
of wrong answers were looked for first; a digest of a pair's name parted it from the kept one. Every other part is of
libraries that were chosen when all parts before it had been judged. A cell is precision / recall for `BREAKING`, and
the number of pairs that the tool was asked about where it is not all.
"""

MENDED: Final[Mapping[Part, str]] = {
    Part.KEPT: "a vtable of a class that no header declares is a risk",
    Part.LATER: "functions of `std` that an old C++ runtime cannot demangle are told as the runtime's",
    Part.LAST: "a header is read that errs in the bodies of functions alone",
    Part.FRESH: "a structure may grow whose users tell by a mask which fields they know; an ending is an end",
    Part.SIXTH: "constant defaults are one of many values; an enumeration with a huge last value is judged; "
    "what programs compiled by the old headers may go from the exports; an enumeration may shrink that is passed by "
    "value alone",
    Part.SEVENTH: "names of an enumeration that went and macros that number something are enumerators that move; "
    "flags that are joined may be more; `std::atomic` holds what it is made of",
    Part.EIGHTH: "an instance is public that the library makes of a template whose functions headers only declare; "
    "joins of flags do not hide that macros are flags; the last flag may have another name; "
    "an end may follow numbers that rise in steps, and the first of a list moves as its end does",
    Part.NINTH: "nobody can call what passes by value a class that headers only declare; a small integer that becomes "
    "an enumeration of its numbers comes in the same register; a class in a class template is each program's own",
    Part.TENTH: "an export that no header declares may move to another version node; members of instances of a "
    "template are looked at once, where thousands took more than the limit of time; a block of the standard library "
    "grows with what it holds; an enumeration may become another library's of the same numbers",
    Part.ELEVENTH: "an instance with an empty pack is each program's own; a header of another library, of which "
    "members are imported, makes all its types that library's, and those of the headers beside it",
    Part.TWELFTH: "a handle that gave way to one of a third library is another object; what only classes of other "
    "libraries lead to is theirs; instances of private member templates, and objects local to functions that no header "
    "declares, are the library's own",
    Part.THIRTEENTH: "an enumerator called after what it counts (`CountOf`) is an end, which may move; members that "
    "headers do not show are private, where the library allocates; arguments may tell their size in a field called "
    "after them (`args_size`); a field in padding breaks that constructors in programs leave unset; a typedef that "
    "nothing exchanges breaks sources alone",
    Part.FOURTEENTH: "a public header that brings others along no longer breaks sources",
    Part.FIFTEENTH: "a text tells the release whose name runs `version` together with other words (`STRVERSION`)",
    Part.SIXTEENTH: "a class template is read that derives from a specialization of its own; a folder that headers "
    "name from the one above is searched behind the system's",
}
"""What wrong answers of a part led to. It counts in no figure of that part, and does in those of later parts."""


def told(pairs: Sequence[UnseenPair], found: Mapping[Key, Said]) -> Iterator[str]:
    """A row for each part, and a line for what each led to."""
    yield INTRODUCTION
    columns = [f"{tool}, {evidence}" for tool, evidence in TOOLS]
    yield f"| part | libraries | pairs | of which break | judged | {' | '.join(columns)} |"
    yield "|---|---:|---:|---:|---|" + "---|" * len(columns)
    for part in Part:
        chosen = [each for each in pairs if each.part is part]
        if chosen:
            yield _row(part, chosen, found)
    yield "\nWhat wrong answers of a part led to afterwards:\n"
    yield from (f"- {part}: {what}." for part, what in MENDED.items())
    yield ""


def _row(part: Part, chosen: Sequence[UnseenPair], found: Mapping[Key, Said]) -> str:
    libraries = len({each.library for each in chosen})
    breaking = sum(each.breaks for each in chosen)
    day = JUDGED.get(part, "not once")
    cells = [_rates(chosen, found, *tool) for tool in TOOLS]
    return f"| {part} | {libraries} | {len(chosen)} | {breaking} | {day} | {' | '.join(cells)} |"


def _rates(chosen: Sequence[UnseenPair], found: Mapping[Key, Said], tool: str, evidence: str) -> str:
    asked = [each for each in chosen if key(each, tool, evidence) in found]
    if not asked:
        return ""
    precision, recall = rates([(each.breaks, found[key(each, tool, evidence)].breaks) for each in asked])
    return f"{precision:.2f} / {recall:.2f}" + (f" ({len(asked)})" if len(asked) < len(chosen) else "")
