"""``docs/lab/accuracy-unseen.md``: how often each tool was right about the judged pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.accuracy.asking import SECONDS, STOPPING, TOOLS
from benchmarks.accuracy.unseen import PARTS, UnseenPair, recipe
from examples.obtain import PROJECT

PAGE = PROJECT / "docs" / "lab" / "accuracy-unseen.md"

FILES: Final = ("abistore", "files")
HEADERS: Final = ("abistore", "headers")
RATES: Final = ("no answer", "precision", "recall")

GROUPS: Final[Mapping[str, Callable[[UnseenPair], bool]]] = {
    "one SONAME": lambda pair: pair.same_soname is True,
    "without debug information": lambda pair: pair.stripped is True,
    "with debug information": lambda pair: pair.stripped is False,
    "C": lambda pair: recipe(pair.library)["language"] == "c",
    "C++": lambda pair: recipe(pair.library)["language"] == "c++",
}

INTRODUCTION = """# Right on releases that no rule was made for

How often does a tool say rightly whether a new release breaks programs that were built with the previous one? Tools
were asked about {pairs} consecutive pairs of releases of {libraries} C and C++ libraries, of which {breaking} break.
All pairs, the truth with its reason, and the answers are `benchmarks/accuracy/unseen/pairs.csv`; `recipes.toml` beside
it says how each release is obtained and built.

```console
$ python -m benchmarks.accuracy.unseen --build LIBRARY...    # needs pip, npm, gcc, g++, cmake
$ python -m benchmarks.accuracy.unseen LIBRARY...            # asks the tools, compares with the table
$ python -m benchmarks.accuracy.unseen --document            # writes this page from the table
```

**Truth.** A pair breaks if a program that was built with the installed headers of the old release goes wrong with the
new library. The truth was written from headers, sources and clients, and committed before any tool saw the pair. All
consecutive releases of a stated range are in the table; none was chosen for its answer.

**Parts.** The libraries of a part were chosen when all earlier parts had been judged. Causes of wrong answers were
looked for in the open part, which a digest of a pair's name separated from the kept one. Every other part was judged
once, by the abistore of that day. Its wrong answers then led to rules, which count only in later parts.

**What counts as a break.** abistore and abicheck: `BREAKING`; abidiff: bit 8 of its exit code; ABICC: binary
compatibility below 100 %. Each tool is used as its manual recommends: abidiff with `--headers-dir1/2`; ABICC over
`abi-dumper -public-headers`, or over the headers where there is no debug information; abicheck with `-H` and Clang.
Versions: libabigail 2.2.0, ABI Dumper 1.2, ABICC 2.3, abicheck 0.7.0. A tool that fails or takes more than
{seconds} s of processor time gives no answer; if the pair breaks, that is a break not found.
"""

BY_PART = """## By part

Each cell: true alarms / false alarms / missed breaks, then precision and recall; "of n": pairs that the tool was asked
about, where these are not all.
"""

GATE = """## As a gate

A gate stops at `API_BREAK` too: sources that use the library no longer compile. A pair should be stopped if `break` or
`source_break` of its truth says yes. abistore, with headers:
"""

WRONG = """From the files alone, abistore was wrong about {files} pairs; with headers it was right about {mended} of
these. Mostly the headers alone have the truth: an export that no installed header declares, a layout in a library
without debug information, the value of a macro.

With headers it was wrong about {headers} pairs: {false} false alarms, of which {sources} break sources,
so that a gate stops there rightly; {missed} missed breaks; {unanswered} without an answer. What remains is mainly:

- **Function bodies.** Only the library allocates a structure of a public header, it never calls virtual functions that
  a program could implement, or it accepts the old number of an enumerator. Declarations do not say so.
- **Types of other libraries** that public headers include. The truth counts their change as a break of those libraries.
- **Constants.** A macro that programs pass to the library is reported as a source break. The name of an enumerator does
  not say that it only ends a list, or that of a text that it holds the release.
- **Comments** that ask programs to leave a member or a header alone.
- **No answer** where libclang rejects a header.
"""

LIMITS = """## Limits of these numbers

- The truth was written by the project that makes abistore, not by the maintainers of these libraries.
- The libraries are those that packages of PyPI and npm carry, for x86-64 Linux.
- The other tools were asked about fewer pairs. Compare them with abistore on these pairs, not with one another.
- Answers are those of the day on which a part was judged. Later rules changed some of them; as these pairs led to the
  rules, they cannot measure a later abistore.
- {waiting} more pairs of the table have their truth and no answer: no tool was asked about them.
"""


class Counts(NamedTuple):
    """How a tool was right about some pairs: those that break (hit, missed) and those that do not (false, silent)."""

    hit: int
    false: int
    missed: int
    silent: int
    unanswered: int
    breaking: int

    @property
    def precision(self) -> float:
        """Which part of the alarms was right; 0 where there was none."""
        return self.hit / max(self.hit + self.false, 1)

    @property
    def recall(self) -> float:
        """Which part of the breaks was found; 0 where nothing breaks."""
        return self.hit / max(self.breaking, 1)

    @property
    def cells(self) -> tuple[int | str, ...]:
        """The numbers as cells of a table, which end with those that ``RATES`` names."""
        numbers = (self.hit, self.false, self.missed, self.silent, self.unanswered)
        return *numbers, f"{self.precision:.2f}", f"{self.recall:.2f}"

    @property
    def rates(self) -> str:
        """Precision and recall."""
        return f"{self.precision:.2f} / {self.recall:.2f}"


def counts(answers: Iterable[tuple[bool, bool | None]]) -> Counts:
    """Count pairs of truth and answer; ``None`` is no answer."""
    found = list(answers)
    kinds = (found.count(kind) for kind in ((True, True), (False, True), (True, False), (False, False)))
    return Counts(*kinds, sum(answer is None for _, answer in found), sum(truth for truth, _ in found))


def of_programs(pairs: Sequence[UnseenPair], tool: str, evidence: str) -> Counts:
    """How right a tool was that built programs break, about the pairs that it was asked about."""
    return counts((pair.breaks, pair.answer(tool, evidence)) for pair in _asked(pairs, tool, evidence))


def at_gate(pairs: Sequence[UnseenPair]) -> Counts:
    """How right a gate of abistore with headers was that stops at breaks of programs and of sources."""
    chosen = _asked(pairs, *HEADERS)
    return counts((pair.breaks or pair.breaks_source, _stopped(pair)) for pair in chosen)


def _stopped(pair: UnseenPair) -> bool | None:
    return None if pair.answer(*HEADERS) is None else pair.words[HEADERS] in STOPPING


def _asked(pairs: Sequence[UnseenPair], tool: str, evidence: str) -> list[UnseenPair]:
    return [pair for pair in pairs if (tool, evidence) in pair.words]


def page(pairs: Sequence[UnseenPair]) -> str:
    """The page, from the pairs with an answer."""
    judged = [pair for pair in pairs if pair.words]
    numbers = {
        "pairs": len(judged),
        "libraries": len({pair.library for pair in judged}),
        "breaking": sum(pair.breaks for pair in judged),
        "waiting": len(pairs) - len(judged),
        "seconds": SECONDS,
    }
    lines = [
        INTRODUCTION.format(**numbers),
        *("## All parts\n", *_by_tool(judged), ""),
        *("abistore by kind of pair, precision / recall:\n", *_by_group(judged), ""),
        *(BY_PART, *_by_part(judged), ""),
        *(GATE, *_gate(judged), ""),
        *("## What remains wrong\n", _wrong(judged), LIMITS.format(**numbers)),
    ]
    return "\n".join(lines)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table of Markdown, of which all columns but the first have numbers."""
    yield f"| {' | '.join(columns)} |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


def _by_tool(pairs: Sequence[UnseenPair]) -> Iterator[str]:
    """A row for each tool, with what abistore answered about the same pairs from the same evidence."""
    rows = []
    for tool, evidence in TOOLS:
        chosen = _asked(pairs, tool, evidence)
        found = of_programs(chosen, tool, evidence)
        beside = of_programs(chosen, "abistore", evidence).rates if tool != "abistore" else ""
        rows.append((tool, evidence, len(chosen), found.breaking, *found.cells, beside))
    alarms = ("true alarms", "false alarms", "missed", "rightly silent")
    return table(("tool", "evidence", "pairs", "breaks", *alarms, *RATES, "abistore on these pairs"), rows)


def _by_group(pairs: Sequence[UnseenPair]) -> Iterator[str]:
    rows = []
    for name, belongs in GROUPS.items():
        chosen = [pair for pair in pairs if belongs(pair)]
        rates = (of_programs(chosen, *asked).rates for asked in (FILES, HEADERS))
        rows.append((name, len(chosen), sum(pair.breaks for pair in chosen), *rates))
    return table(("which", "pairs", "breaks", "files", "headers"), rows)


def _by_part(pairs: Sequence[UnseenPair]) -> Iterator[str]:
    rows = []
    for part in PARTS.values():
        chosen = [pair for pair in pairs if pair.part == part]
        numbers = (len({pair.library for pair in chosen}), len(chosen), sum(pair.breaks for pair in chosen))
        rows.append((part.name, part.judged or "", *numbers, *(_cell(chosen, *tool) for tool in TOOLS)))
    return table(("part", "judged", "libraries", "pairs", "breaks", *map(", ".join, TOOLS)), rows)


def _cell(pairs: Sequence[UnseenPair], tool: str, evidence: str) -> str:
    number = len(_asked(pairs, tool, evidence))
    if not number:
        return ""
    found = of_programs(pairs, tool, evidence)
    remark = f" (of {number})" if number < len(pairs) else ""
    return f"{found.hit}/{found.false}/{found.missed}, {found.rates}{remark}"


def _gate(pairs: Sequence[UnseenPair]) -> Iterator[str]:
    asked = _asked(pairs, *HEADERS)
    groups = {"all": asked, "those that break no built program": [pair for pair in asked if not pair.breaks]}
    rows = [(name, len(chosen), *at_gate(chosen).cells) for name, chosen in groups.items()]
    return table(("which", "pairs", "rightly stopped", "wrongly stopped", "missed", "rightly passed", *RATES), rows)


def _wrong(pairs: Sequence[UnseenPair]) -> str:
    """How many wrong answers each evidence leaves."""
    by_files, by_headers = ([pair for pair in pairs if _is_right(pair, asked) is False] for asked in (FILES, HEADERS))
    false = [pair for pair in by_headers if pair.answer(*HEADERS)]
    return WRONG.format(
        files=len(by_files),
        mended=sum(_is_right(pair, HEADERS) is True for pair in by_files),
        headers=len(by_headers),
        false=len(false),
        sources=sum(pair.breaks_source for pair in false),
        missed=sum(pair.answer(*HEADERS) is False for pair in by_headers),
        unanswered=sum(pair.answer(*HEADERS) is None for pair in by_headers),
    )


def _is_right(pair: UnseenPair, asked: tuple[str, str]) -> bool | None:
    """Whether the answer was right, which none is not; ``None`` where nobody asked."""
    return pair.answer(*asked) == pair.breaks if asked in pair.words else None
