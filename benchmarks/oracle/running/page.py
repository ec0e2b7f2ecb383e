"""``docs/lab/accuracy-edits.md``: the answers about drawn edits, counted by operator and mode, with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from benchmarks.oracle.running.asking import MODES
from benchmarks.oracle.running.draft import names
from benchmarks.oracle.running.operators import OPERATORS
from benchmarks.oracle.running.reasons import reason, reasons
from benchmarks.oracle.running.results import Result
from examples.obtain import PROJECT

PAGE: Final = PROJECT / "docs" / "lab" / "accuracy-edits.md"
PEER: Final = ("files", "headers")
"""How abidiff is asked."""

BREAKS, SOURCE, HARMLESS = "breaks", "source breaks", "harmless"
COLUMNS: Final = {
    "true breaks": "true",
    "called source breaks": "milder",
    "missed breaks": "missed",
    "missed source breaks": "source missed",
    "source breaks called breaks": "overstated",
    "false": "false",
    "not shown": "not shown",
}

INTRODUCTION = """# Right on drawn edits

{count} edits of {libraries} small libraries in C and C++, drawn by seed from {operators} operators, {pairs} of them of
two operators at once. Engine {engine}; made by

```console
$ python -m benchmarks.oracle.running --seeds {first}:{end} --results edits.jsonl    # gcc, g++, binutils, abigail-tools
$ python -m benchmarks.oracle.running --results edits.jsonl --document
```

**Truth** is what programs do. Each library (`benchmarks/oracle/running/libraries`) has a client that calls every
function, reads and writes every public member, derives, overrides, and holds objects between guards. Two old clients
(`-O0` and `-O2`, with guards of other bits) run on the new library, and the client is built anew with the new headers:

| truth | edits |
|---|--:|
{truths}

A *break* is an old client that prints something else, crashes or does not start. A *source break* is one that runs as
before and does not compile or link anew. *Other meaning* is one that compiles and prints something else; being told of
the change is enough there. An edit that another program could show to break (a wider parameter, whose upper half
happens to be zero) is *not shown* where these clients run alike, and counts neither way.

## By mode

Right is the verdict `BREAKING` for a break, `API_BREAK` for a source break, and neither for a harmless edit. A *missed*
break exits with 0. abidiff is asked with `--no-default-suppression`, and a break is bit 8 of its exit code; it knows no
source breaks, so that those are not counted against it.

{modes}

Of the breaks that abidiff does not call incompatible, from files, it tells {changed} as a change (bit 4), and {silent}
not at all.

"""


def page(results: Sequence[Result]) -> str:
    """The page, for the results of a run."""
    truths = Counter(each.truth for each in results)
    said = {
        "count": f"{len(results):,}",
        "libraries": len(names()),
        "operators": len(OPERATORS),
        "pairs": sum(len(each.operators) > 1 for each in results),
        "engine": results[0].engine,
        "first": results[0].seed,
        "end": results[-1].seed + 1,
        "truths": "\n".join(
            f"| {truth.lower().replace('_', ' ')} | {count} |" for truth, count in truths.most_common()
        ),
        "modes": "\n".join(_modes(results)),
        "changed": sum(each.truth == "BREAKING" and each.abidiff["files"] & 12 == 4 for each in results),
        "silent": sum(each.truth == "BREAKING" and not each.abidiff["files"] & 12 for each in results),
    }
    return INTRODUCTION.format(**said) + "\n".join([*_left(results), *_operators(results)]) + "\n"


def _modes(results: Sequence[Result]) -> Iterator[str]:
    asked: dict[str, Callable[[Result], str]] = {f"abistore, {mode}": _word(mode) for mode in MODES}
    asked |= {f"abidiff, {mode}": _peer(mode) for mode in PEER}
    yield f"| | {' | '.join(COLUMNS)} |"
    yield f"|---|{'--:|' * len(COLUMNS)}"
    for name, word in asked.items():
        counts = Counter(
            "other" if found == "true" and each.truth != "BREAKING" else found
            for each in results
            for found in [word(each)]
        )
        blank = {"source missed", "milder"} if name.startswith("abidiff") else set()
        cells = ("" if key in blank else str(counts[key]) for key in COLUMNS.values())
        yield f"| {name} | {' | '.join(cells)} |"


def _word(mode: str) -> Callable[[Result], str]:
    return lambda each: each.word(mode)


def _peer(mode: str) -> Callable[[Result], str]:
    return lambda each: each.word_of_abidiff(mode)


# --- what is left ---


def _left(results: Iterable[Result]) -> Iterator[str]:
    """The wrong answers, by reason."""
    listed = reasons()
    found: dict[tuple[str, str], list[tuple[Result, str]]] = {}
    for each in results:
        for mode in MODES:
            word = each.word(mode)
            if word in ("true", "not shown") or (word == "source missed" and mode == "files"):
                continue
            text = reason(listed, word, mode, each.operators)
            found.setdefault((word, text), []).append((each, mode))
    yield "## What is left"
    yield ""
    yield "Without headers a source break is not expected to be seen; those are left out here."
    yield ""
    yield f"| answer | {' | '.join(MODES)} | reason | example |"
    yield f"|---|{'--:|' * len(MODES)}---|---|"
    for (word, text), wrong in sorted(found.items(), key=lambda each: (_WORDS.index(each[0][0]), -len(each[1]))):
        counts = Counter(mode for _, mode in wrong)
        example = min(wrong, key=lambda each: (len(each[0].operators), each[0].seed))[0]
        cells = " | ".join(str(counts[mode] or "") for mode in MODES)
        yield f"| {word} | {cells} | {text or '**none found yet**'} | seed {example.seed}: `{_safe(example.title)}` |"
    yield ""


_WORDS: Final = ("missed", "milder", "source missed", "false", "overstated")


def _safe(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")[:90]


# --- operators ---


def _operators(results: Sequence[Result]) -> Iterator[str]:
    yield "## By operator"
    yield ""
    yield (
        "Edits of one operator alone. Missed breaks (missed source breaks behind a plus sign, where headers are given) "
        "and false answers are in the order files, headers, stripped; those of abidiff files, headers."
    )
    yield ""
    yield "| operator | subject | edits | breaks | source breaks | missed | false | abidiff missed | abidiff false |"
    yield "|---|---|--:|--:|--:|---|---|---|---|"
    by: dict[str, list[Result]] = {}
    for each in results:
        if len(each.operators) == 1:
            by.setdefault(each.operators[0], []).append(each)
    for own in OPERATORS.values():
        yield _row(own.name, own.subject, by.get(own.name, []))


def _row(name: str, subject: str, found: Sequence[Result]) -> str:
    truths = Counter(each.truth for each in found)
    missed = [Counter(each.word(mode) for each in found) for mode in MODES]
    peer = [Counter(each.word_of_abidiff(mode) for each in found) for mode in PEER]
    source = [f"+{each['source missed']}" if each["source missed"] and at else "" for at, each in enumerate(missed)]
    cells = [
        " ".join(f"{each['missed']}{plus}" for each, plus in zip(missed, source, strict=True)),
        " ".join(str(each["false"]) for each in missed),
        " ".join(str(each["missed"]) for each in peer),
        " ".join(str(each["false"]) for each in peer),
    ]
    cells = ["" if set(each) <= set("0 ") else each for each in cells]
    counts = (len(found), truths["BREAKING"], truths["API_BREAK"] + truths["OTHER_MEANING"])
    return f"| {name} | {subject} | {' | '.join(map(str, counts))} | {' | '.join(cells)} |"
