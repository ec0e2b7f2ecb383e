"""``docs/accuracy-unseen.md``: what the tools said of pairs that no rule was made for."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from benchmarks.accuracy.asking import SECONDS, TOOLS, Said
from benchmarks.accuracy.unseen import FOLDER, Part, UnseenPair, again, ceiling, gates, milder, overview, pairs, recipe
from benchmarks.accuracy.unseen.answers import BEFORE, Binaries, Key, answers, binaries, counts, key
from examples.obtain import PROJECT

PAGE = PROJECT / "docs" / "accuracy-unseen.md"
OTHER_PAGE = PROJECT / "docs" / "accuracy.md"
WHERE = {"files": "from the files", "headers": "with headers"}

INTRODUCTION = """# Right on releases that no rule was made for

How often do tools answer rightly whether a new release breaks what was built with the one before, on libraries that
nobody looked at while the rules were made? {pairs} consecutive pairs of releases of {libraries} libraries, C and C++,
with debug information and without. By

```console
$ python -m benchmarks.accuracy.unseen --build       # obtains and builds: pip, npm, gcc, g++, cmake
$ python -m benchmarks.accuracy.unseen               # asks: abigail-tools, abi-dumper, abi-compliance-checker, clang
$ python -m benchmarks.accuracy.unseen --document    # writes this page
```

**Truth** (`benchmarks/accuracy/unseen/*.csv`, with a reason for each pair) was written from headers, sources and
clients, and committed before any comparing tool saw a pair. A pair breaks where a program that was built with the
installed headers of the old release goes wrong with the new library.
"""

COUNTING = """**What counts as a break**: abistore and abicheck `BREAKING`, abidiff bit 8 of its exit code, ABICC a
binary compatibility below 100 %. Each tool is used as its manual recommends: abidiff with `--headers-dir1/2`; ABICC
over `abi-dumper -public-headers`, and over the headers themselves where there is no debug information; abicheck with
`-H` and Clang, as the CastXML that it asks for comes from no package index. Versions: {versions}.
A tool that ends with an error or takes more than {seconds} s of processor time gives no answer; that is told apart, and
counts as not found where the pair breaks (recall). "(43 pairs)" marks rows of tools that have not been asked about all
of them.

**Before** is what abistore said on 2026-11-22 before it read headers, and before any mechanism was made
that the open half led to (`before.csv`); the other rows of the open part are from 2026-11-23.
"""

PARTS = {part: f"The {part} part" for part in Part}

GROUPS: Mapping[str, Callable[[UnseenPair, Binaries], bool]] = {
    "All pairs": lambda pair, told: True,
    "Pairs of one SONAME": lambda pair, told: told.same_soname,
    "Without debug information": lambda pair, told: told.stripped,
    "With debug information": lambda pair, told: not told.stripped,
    "C": lambda pair, told: recipe(pair.library)["language"] == "c",
    "C++": lambda pair, told: recipe(pair.library)["language"] == "c++",
}

HEAD = """| tool | evidence | true alarms | false alarms | missed | rightly silent | no answer | precision | recall |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""


def page(versions: str) -> str:
    """The page, from the answers at hand and the versions of the tools that gave them."""
    found, known = answers(), binaries()
    judged = [pair for pair in pairs() if (pair.library, pair.old, pair.new) in known]
    missing = [pair for pair in pairs() if pair not in judged]
    parts = [_introduction(judged), *overview.told(judged, found), COUNTING.format(versions=versions, seconds=SECONDS)]
    for part, title in PARTS.items():
        if chosen := [each for each in judged if each.part is part]:
            parts += [f"## {title}\n", *_tables(chosen, known, found), *milder.told(chosen, known, found)]
    parts += gates.told(judged, found)
    parts += again.told(judged, answers(), answers(again.AGAIN))
    parts += ceiling.told(judged, found, ceiling.only_told_by("headers"))
    nowhere, unread = ceiling.only_told_by("nothing"), ceiling.only_told_by("bodies", "comments")
    parts += ceiling.told_with_headers(judged, found, nowhere, unread)
    parts += [f"## The {_old_count()} pairs that rules were made with\n", *_old_table(), ""]
    parts += [*_left_out(missing), *_wrong(judged, found), *_pairs(judged, found)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _introduction(judged: Sequence[UnseenPair]) -> str:
    """What the page tells of the pairs that were judged; those that wait are counted nowhere."""
    libraries = {each.library for each in judged}
    return INTRODUCTION.format(pairs=len(judged), libraries=len(libraries))


def _tables(part: Sequence[UnseenPair], known: Mapping[tuple[str, str, str], Binaries], found: Mapping[Key, Said]) -> (
    Iterator[str]
):  # fmt: skip
    before = answers(BEFORE)
    for title, belongs in GROUPS.items():
        chosen = [each for each in part if belongs(each, known[each.library, each.old, each.new])]
        if not chosen:
            continue
        breaking = sum(each.breaks for each in chosen)
        yield f"### {title}: {len(chosen)}, of which {breaking} break\n"
        yield HEAD
        for (tool, evidence), where in {("abistore, before", "files"): before, **dict.fromkeys(TOOLS, found)}.items():
            name = tool.split(",")[0]
            asked = [pair for pair in chosen if key(pair, name, evidence) in where]
            told = [(pair.breaks, where[key(pair, name, evidence)].breaks) for pair in asked]
            if told:
                remark = f" ({len(told)} pairs)" if len(told) < len(chosen) else ""
                yield f"| {tool} | {WHERE[evidence]}{remark} | {counts(told)} |"
        yield ""


def _old_table() -> Iterator[str]:
    """The first table of the other page, as it stands there."""
    lines = iter(OTHER_PAGE.read_text().splitlines())
    yield "The same question about other releases, from [the page on accuracy](accuracy.md); some mechanisms were made"
    yield "with these in view.\n"
    next(line for line in lines if line == "## Is it a binary break?")
    next(lines)
    yield from takewhile(bool, lines)


def _old_count() -> int:
    with (FOLDER.parent / "truth.csv").open(newline="") as table:
        return sum(1 for _ in csv.DictReader(table))


def _left_out(missing: Sequence[UnseenPair]) -> Iterator[str]:
    """The pairs of the open part without an answer of any tool yet."""
    absent = [each for each in missing if each.part is Part.OPEN]
    if absent:
        yield "## Not judged yet\n"
        yield "Their builds had not ended when the tools were asked:\n"
        yield from (f"- {_name(each)}" for each in absent)
        yield ""


def _wrong(judged: Sequence[UnseenPair], found: Mapping[Key, Said]) -> Iterator[str]:
    known = ceiling.causes()
    yield "## Where abistore is wrong\n"
    for evidence, where in WHERE.items():
        wrong = []
        for pair in judged:
            said = found.get(key(pair, "abistore", evidence))
            if said and said.breaks != pair.breaks:
                wrong.append(_told_wrong(pair, said, known.get(key(pair, "abistore", evidence), "")))
        if wrong or any(place[3:] == ("abistore", evidence) for place in found):
            yield f"{where[0].upper()}{where[1:]}:\n"
            yield from wrong or ["- nothing"]
            yield ""


def _told_wrong(pair: UnseenPair, said: Said, cause: str) -> str:
    why = f" Cause: {cause}." if cause else ""
    if said.breaks is None:
        return f"- no answer, {_name(pair)}: {said.word}.{why} Truth: {pair.reason}."
    if not said.breaks:
        return f"- missed ({said.word}), {_name(pair)}: {pair.reason}.{why}"
    named = ", ".join(f"`{each}`" for each in said.causes[:3])
    more = " and more" if len(said.causes) > 3 else ""
    return f"- false alarm, {_name(pair)}: {named}{more}.{why} Truth: {pair.reason}."


def _name(pair: UnseenPair) -> str:
    return f"{pair.library} {pair.old} -> {pair.new}"


def _pairs(judged: Sequence[UnseenPair], found: Mapping[Key, Said]) -> Iterator[str]:
    yield "## All answers\n"
    yield "Wrong answers are **bold**; what gave no answer is _slanted_.\n"
    columns = [f"{tool}, {evidence}" for tool, evidence in TOOLS]
    yield f"| library | old | new | breaks? | {' | '.join(columns)} | why |"
    yield "|---" * (5 + len(columns)) + "|"
    for pair in judged:
        told = [_cell(found.get(key(pair, *tool)), pair.breaks) for tool in TOOLS]
        truth = "yes" if pair.breaks else "no"
        yield f"| {pair.library} | {pair.old} | {pair.new} | {truth} | {' | '.join(told)} | {_escaped(pair.reason)} |"


def _cell(said: Said | None, truth: bool) -> str:
    if said is None:
        return ""
    word = _escaped(said.word)
    return f"_{word}_" if said.breaks is None else word if said.breaks == truth else f"**{word}**"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_") if "`" not in text else text.replace("|", "\\|")
