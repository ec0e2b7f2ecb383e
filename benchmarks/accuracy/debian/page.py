"""``docs/lab/accuracy-debian.md``: how often abistore and abidiff were right about the pairs of Debian packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from statistics import median
from typing import Final

from benchmarks.accuracy.asking import SECONDS
from benchmarks.accuracy.debian import DebianPair, choosing
from benchmarks.accuracy.debian.answers import ABISTORE, HEADERS, QUESTIONS, Answer, Question
from benchmarks.accuracy.debian.truth import Truth
from benchmarks.accuracy.unseen.totals import Counts, counts, table
from examples.archive.apt import SECURITY
from examples.obtain import PROJECT

PAGE: Final = PROJECT / "docs" / "lab" / "accuracy-debian.md"

NUMBERS: Final = ("pairs", "breaks", "true alarms", "false alarms", "missed", "rightly silent", "no answer")
RATES: Final = ("precision", "recall")

INTRODUCTION = """# Right on packages that a rule chose

How often does abistore say rightly whether a new Debian package of a library breaks programs? It was asked about
{asked} of {pairs} pairs of packages, which a rule chose that knows nothing of what they contain. The truth of all pairs
was written and committed before any tool was asked. Pairs with a doubtful truth are left out of the totals: {doubtful}.

```console
$ python -m benchmarks.accuracy.debian FOLDER --choose      # writes pairs.csv from the indexes of the day
$ python -m benchmarks.accuracy.debian FOLDER --obtain      # downloads and unpacks; needs apt and dpkg
$ python -m benchmarks.accuracy.debian FOLDER --ask         # adds the missing answers to answers.csv
$ python -m benchmarks.accuracy.debian --document           # writes this page from the tables
```

The tables are in `benchmarks/accuracy/debian`.

## How the pairs were chosen

{rule}

## What was asked

- *abistore, files*: `abistore compare OLD.deb NEW.deb`, the library packages alone.
- *abistore, headers*: the same with `--old-devel-package` and `--new-devel-package`, each the folder of the development
  packages and of those that they depend on.
- *abidiff*: each shared library in a public folder of both packages, without debug information; *headers* adds
  `--headers-dir1/2`. A library that the new package lacks is a break.

A command that fails or takes more than {seconds} s of processor time gives no answer; if the pair breaks, that is a
break not found. A break is `BREAKING` of abistore, bit 8 of the exit code of abidiff. Debian's libraries are stripped.
Each engine of abistore and each release of abidiff that was asked has a row; the first knew nothing of the pairs.
"""

PROGRAMS = """## Do built programs break?
"""

GATE = """## As a gate

A gate stops at `API_BREAK` too: sources that use the library no longer compile. A pair should be stopped if `break` or
`source_break` of its truth says yes. *breaks* are these pairs.
"""

EVIDENCE = """## Headers

Pairs whose headers were read in full on both sides: {full} of {asked} ({share}).
Pairs whose report says nothing about the headers that were given: {silent}{named}.
"""

COST = """## Processor seconds

Of a command and of all processes that it starts:
"""

PAIRS = """## All pairs

Wrong answers are **bold**; where a later engine answered differently, its word follows. *breaks*: built programs, and
sources.
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair with its truth, all answers in the order of asking, and what led to wrong ones."""

    pair: DebianPair
    truth: Truth
    answers: tuple[Answer, ...]
    why: str

    def latest(self, question: Question) -> Answer | None:
        """The last answer to a question."""
        return next((each for each in reversed(self.answers) if each.question == question), None)

    def fault(self, answer: Answer) -> str:
        """In which way an answer is wrong; empty where it is right or the truth is doubtful."""
        if self.truth.doubtful:
            return ""
        if answer.breaks is None:
            return "no answer"
        if answer.breaks != self.truth.breaks:
            return "false alarm" if answer.breaks else "missed break"
        if answer.question in ABISTORE and answer.stops != stopped(self.truth):
            return "false alarm about sources" if answer.stops else "missed break of sources"
        return ""


def judged(
    pairs: Iterable[DebianPair], truth: Mapping[str, Truth], answers: Sequence[Answer], causes: Mapping[str, str]
) -> list[Judged]:
    """The pairs, each with what the other tables have about it; ``KeyError`` where one has no truth."""
    by_package: dict[str, list[Answer]] = {}
    for answer in answers:
        by_package.setdefault(answer.package, []).append(answer)
    return [
        Judged(pair, truth[pair.package], tuple(by_package.get(pair.package, ())), causes.get(pair.package, ""))
        for pair in pairs
    ]


def stopped(truth: Truth) -> bool:
    """Whether a gate should stop at the pair."""
    return bool(truth.breaks or truth.breaks_source)


GROUPS: Final[Mapping[str, Callable[[DebianPair], bool]]] = {
    "all": lambda pair: True,
    "C": lambda pair: pair.language == "C" and not is_security(pair),
    "C++": lambda pair: pair.language == "C++" and not is_security(pair),
    "security": lambda pair: is_security(pair),
}
"""Which pairs are counted together: languages from one suite to the next, and security updates."""


def is_security(pair: DebianPair) -> bool:
    """Whether one side is of the security suite."""
    return SECURITY in (pair.old_suite, pair.new_suite)


def of_programs(found: Iterable[Judged], question: Question, engine: str) -> Counts:
    """How right an engine was that built programs break; doubtful pairs are left out."""
    chosen = _answered(found, question, engine)
    return counts((bool(truth.breaks), answer.breaks) for truth, answer in chosen)


def at_gate(found: Iterable[Judged], question: Question, engine: str) -> Counts:
    """How right a gate is that stops at breaks of programs and of sources; doubtful pairs are left out."""
    return counts((stopped(truth), answer.stops) for truth, answer in _answered(found, question, engine))


def _answered(found: Iterable[Judged], question: Question, engine: str) -> Iterator[tuple[Truth, Answer]]:
    for each in found:
        for answer in each.answers:
            if (answer.question, answer.engine) == (question, engine) and not each.truth.doubtful:
                yield each.truth, answer


def page(found: Sequence[Judged]) -> str:
    """The page, from pairs of which at least one was asked about."""
    numbers = {
        "asked": sum(bool(each.answers) for each in found),
        "pairs": len(found),
        "doubtful": sum(each.truth.doubtful for each in found),
        "rule": rule(),
        "seconds": SECONDS,
    }
    lines = [
        INTRODUCTION.format(**numbers),
        *(PROGRAMS, *_totals(found, QUESTIONS, of_programs), ""),
        *(GATE, *_totals(found, ABISTORE, at_gate), ""),
        *(_evidence(found), *_described(found), ""),
        *("## Exit codes of abistore\n", *_exits(found), ""),
        *(COST, *_seconds(found), ""),
        *("## Wrong answers of abistore\n", *_wrong(found), ""),
        *(PAIRS, *_pairs(found)),
    ]
    return "\n".join(lines) + "\n"


def rule() -> str:
    """The rule by which the pairs were chosen, as the module that follows it states it."""
    _, _, stated = (getdoc(choosing) or "").partition("\n\n")
    return stated.replace("``", "`")


def _totals(
    found: Sequence[Judged], questions: Sequence[Question], count: Callable[[Iterable[Judged], Question, str], Counts]
) -> Iterator[str]:
    rows = []
    for name, belongs in GROUPS.items():
        chosen = [each for each in found if belongs(each.pair)]
        for question, engine in _engines(chosen, questions):
            rows.append((name, str(question), engine, *_cells(count(chosen, question, engine))))
    return table(("which", "asked", "engine", *NUMBERS, *RATES), rows)


def _engines(found: Sequence[Judged], questions: Sequence[Question]) -> Iterator[tuple[Question, str]]:
    """Each question with each engine that answered it, earliest first."""
    for question in questions:
        asked = (answer for each in found for answer in each.answers if answer.question == question)
        yield from ((question, engine) for engine in dict.fromkeys(answer.engine for answer in asked))


def _cells(found: Counts) -> tuple[int | str, ...]:
    alarms = found.hit + found.false
    numbers = (found.hit, found.false, found.missed, found.silent, found.unanswered)
    pairs = alarms + found.missed + found.silent + found.unanswered
    return pairs, found.breaking, *numbers, rate(found.hit, alarms), rate(found.hit, found.breaking)


def rate(part: int, whole: int) -> str:
    """A share with two digits, or a dash where there is nothing to share."""
    return f"{part / whole:.2f}" if whole else "-"


def _latest(found: Iterable[Judged], question: Question) -> list[Answer]:
    return [answer for each in found if (answer := each.latest(question))]


def _evidence(found: Sequence[Judged]) -> str:
    asked = _latest(found, HEADERS)
    judged = [each for each in asked if each.breaks is not None]
    full = sum(each.old_source == each.new_source == "full" for each in judged)
    silent = [each.package for each in judged if not each.old_source or not each.new_source]
    named = f" ({', '.join(silent)})" if silent else ""
    share = f"{100 * full / len(asked):.0f} %" if asked else "-"
    return EVIDENCE.format(full=full, asked=len(asked), share=share, silent=len(silent), named=named)


def _described(found: Sequence[Judged]) -> Iterator[str]:
    """What was read instead, a row a side."""
    rows = [
        (each.package, side, described)
        for each in _latest(found, HEADERS)
        for side, described in (("old", each.old_source), ("new", each.new_source))
        if described not in ("", "full")
    ]
    return _words(("package", "side", "headers"), rows) if rows else iter(())


def _exits(found: Sequence[Judged]) -> Iterator[str]:
    counted = [Counter(each.exit for each in _latest(found, question)) for question in ABISTORE]
    codes = sorted({code for each in counted for code in each})
    return table(("code", *map(str, ABISTORE)), ((code, *(each[code] for each in counted)) for code in codes))


def _seconds(found: Sequence[Judged]) -> Iterator[str]:
    rows = []
    for question in QUESTIONS:
        if asked := _latest(found, question):
            longest = max(asked, key=lambda each: each.seconds)
            middle = median(each.seconds for each in asked)
            rows.append((str(question), f"{middle:.2f}", f"{longest.seconds:.2f}", longest.package))
    return table(("asked", "median", "longest", "of"), rows)


def _wrong(found: Sequence[Judged]) -> Iterator[str]:
    """What was wrong about each pair about which an engine of abistore was wrong, and what led to that."""
    for each in found:
        wrong = [answer for answer in each.answers if answer.question in ABISTORE and each.fault(answer)]
        if wrong:
            yield f"- **{each.pair}**, breaks {_truth(each.truth)}: {_sentence(each.truth.reason)}"
            yield from (f"  - {_complaint(each, answer)}" for answer in wrong)
            yield f"  - Why: {_sentence(each.why or 'not found out yet')}"


def _complaint(each: Judged, answer: Answer) -> str:
    found = f"; `{answer.first}`" if answer.first else ""
    return f"{answer.evidence}, engine {answer.engine}: {each.fault(answer)} ({answer.word}{found})"


def _pairs(found: Sequence[Judged]) -> Iterator[str]:
    rows = []
    for each in found:
        names = (each.pair.package, each.pair.old, each.pair.new, _truth(each.truth))
        rows.append((*names, *(_cell(each, question) for question in QUESTIONS), each.truth.reason))
    return _words(("package", "old", "new", "breaks", *map(str, QUESTIONS), "reason"), rows)


def _truth(truth: Truth) -> str:
    if truth.doubtful:
        return "doubtful"
    return f"{'yes' if truth.breaks else 'no'}, {'yes' if truth.breaks_source else 'no'}"


def _cell(each: Judged, question: Question) -> str:
    """The first word, and later ones that differ from the word before."""
    shown: list[str] = []
    for answer in each.answers:
        if answer.question == question:
            word = f"**{answer.word}**" if each.fault(answer) else answer.word
            shown += [word] if shown[-1:] != [word] else []
    return ", then ".join(shown)


def _words(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of text."""
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    yield from (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."
