"""``docs/accuracy.md``: the figures, and what every pair was judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.accuracy.clients import clients
from benchmarks.accuracy.judging import Answer, Judged
from examples.obtain import PROJECT

PAGE = PROJECT / "docs" / "accuracy.md"
TOOLS = ("abistore", "abidiff")

INTRODUCTION = """# Right on real releases

How often do abistore and `abidiff` (libabigail {abidiff}) answer rightly whether a new release breaks what was built
with the one before? Made on {date} from {pairs} consecutive pairs of releases of {libraries} libraries, C and C++, by

```console
$ python -m benchmarks.accuracy --document    # obtains, builds, judges; needs gcc, g++, npm and abigail-tools
$ python -m benchmarks.accuracy.clients       # builds clients with old releases and runs them with new ones
```

Sources come with `pip download` and `npm pack` (`examples/recipes.py`, `examples/more_recipes.py`); they are compiled
with `-g -O2` and one SONAME for all releases, so that no tool is told the answer by the name.

**Truth** (`benchmarks/accuracy/truth.csv`, with a reason for each pair): a pair breaks where a client that the
installed headers of the old release let one build goes wrong with the new one. It was found by reading the differences
of headers and sources, and in {shown} pairs by a client in `benchmarks/clients` that runs. Declarations behind an
opt-in macro count, private members do not, nor do exports that no installed header declares.

**A break** is for abistore the verdict BREAKING, for abidiff bit 8 of its exit code.
"""

EVIDENCE = """
"From the files": what debug information and export tables tell. "With headers": exports are set aside that no
installed header declares, and of the types that abistore says changed those that none defines; for both tools through
one suppression file in libabigail's format. It is what tells internals apart that a library without a version script
exports.

The goal, precision 0.97 at recall 1.00, is not met. Without headers nothing tells a function that consumers may call
from one that is exported by oversight, and a removed export is said to break. With headers, the false alarms are
members that only a comment calls private; the miss is a macro, which no debug information holds. Where abidiff loses
true alarms with headers, it had raised them for internals that went in the same release.

These pairs are not independent of the rules: some mechanisms (fields that are regrouped, retired or put into a union,
what callbacks hand out) were added after looking at them, none is tied to a name of these libraries.
"""


def write(found: Sequence[Judged], date: str, abidiff: str) -> None:
    """Write the page."""
    shown = {(each.library, each.old, each.new) for each in clients()}
    introduction = INTRODUCTION.format(
        date=date,
        abidiff=abidiff,
        pairs=len(found),
        libraries=len({each.pair.library for each in found}),
        shown=len(shown),
    )
    parts = [introduction, *_figures(found), EVIDENCE, *_wrong(found), *_pairs(found)]
    PAGE.write_text("\n".join(parts).rstrip("\n") + "\n")


MODES: Mapping[str, Callable[[Judged], dict[str, Answer]]] = {
    "from the files": lambda each: each.plain,
    "with headers": lambda each: each.declared,
}


def _figures(found: Sequence[Judged]) -> Iterator[str]:
    yield "## Is it a binary break?\n"
    yield "| tool | evidence | true alarms | false alarms | missed | rightly silent | precision | recall |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for mode, answers in MODES.items():
        for tool in TOOLS:
            says = [(each.pair.breaks, answers(each)[tool].breaks) for each in found]
            hit, false, missed, silent = (
                says.count(each) for each in ((True, True), (False, True), (True, False), (False, False))
            )
            precision, recall = hit / max(hit + false, 1), hit / max(hit + missed, 1)
            yield f"| {tool} | {mode} | {hit} | {false} | {missed} | {silent} | {precision:.2f} | {recall:.2f} |"


def _wrong(found: Sequence[Judged]) -> Iterator[str]:
    yield "## Where abistore is wrong\n"
    for mode, answers in MODES.items():
        yield f"{mode.capitalize()}:\n"
        for each in found:
            answer = answers(each)["abistore"]
            if answer.breaks == each.pair.breaks:
                continue
            pair = f"{each.pair.library} {each.pair.old} -> {each.pair.new}"
            if answer.breaks:
                named = ", ".join(f"`{cause[:100]}`" for cause in answer.causes[:3])
                more = f" and {len(answer.causes) - 3} more" if len(answer.causes) > 3 else ""
                yield f"- false alarm, {pair}: {named}{more}. Truth: {each.pair.reason}."
            else:
                yield f"- missed ({answer.word}), {pair}: {each.pair.reason}."
        yield ""


def _pairs(found: Sequence[Judged]) -> Iterator[str]:
    client = {(each.library, each.old, each.new): each.path.name for each in clients()}
    yield "## All pairs\n"
    yield "Wrong answers are **bold**; abidiff answers `incompatible`, `change` or `none`.\n"
    yield "| library | old | new | breaks? | abistore | with headers | abidiff | with headers | why | client |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for each in found:
        pair = each.pair
        cells = [
            *(pair.library, pair.old, pair.new, "yes" if pair.breaks else "no"),
            *(_cell(answers[tool], pair.breaks) for tool in TOOLS for answers in (each.plain, each.declared)),
            *(pair.reason.replace("|", "\\|"), client.get((pair.library, pair.old, pair.new), "")),
        ]
        yield f"| {' | '.join(cells)} |"


def _cell(answer: Answer, truth: bool) -> str:
    return answer.word if answer.breaks == truth else f"**{answer.word}**"
