"""Asks abistore and abidiff about the pairs in a folder of packages."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from abistore.model.findings import ENGINE
from benchmarks.accuracy import asking
from benchmarks.accuracy.asking import LETTERS, Done, Said, no_answer, run, soname
from benchmarks.accuracy.debian import DebianPair
from benchmarks.accuracy.debian.answers import HEADERS, QUESTIONS, Answer, Question
from benchmarks.accuracy.debian.choosing import SHARED, members
from benchmarks.accuracy.release import Release
from examples.obtain import require

SHOWN: Final = 3
"""How many findings an answer keeps."""

WORST_FIRST: Final = (True, None, False)
"""A break in one library decides; else a library without an answer leaves none for the package."""

T = TypeVar("T")


def asked(pairs: Iterable[DebianPair], folder: Path, known: Iterable[Answer]) -> Iterator[Answer]:
    """The answers that are not ``known`` for today's engines; ``folder`` has the packages, unpacked."""
    has = {(each.package, each.question, each.engine) for each in known}
    engines = {"abistore": str(ENGINE), "abidiff": _release_of_abidiff()}
    for pair in pairs:
        for question in QUESTIONS:
            if (pair.package, question, engines[question.tool]) not in has:
                ask = abistore if question.tool == "abistore" else abidiff
                yield ask(pair, question, engines[question.tool], folder.resolve() / "unpacked" / pair.package)


def _release_of_abidiff() -> str:
    return run([require("abidiff", "abigail-tools"), "--version"], Path.cwd()).out.split()[-1]


def abistore(pair: DebianPair, question: Question, engine: str, place: Path) -> Answer:
    """What ``abistore compare`` answers about the library packages, alone or with their development packages."""
    words: list[str | Path] = [sys.executable, "-m", "abistore", "compare", "--json"]
    words += [next((place / f"{side}.library").glob("*.deb")) for side in ("old", "new")]
    if question == HEADERS:
        words += [word for side in ("old", "new") for word in (f"--{side}-devel-package", place / f"{side}.devel")]
    with TemporaryDirectory() as name:
        done, seconds = timed(partial(run, words, Path(name)))
    return answer_of(done, pair.package, question, engine, seconds)


def answer_of(done: Done, package: str, question: Question, engine: str, seconds: float) -> Answer:
    """The answer that a command of abistore printed as JSON, which is an error's where it has no verdict."""
    document = _document(done)
    report, error = document.get("data"), document.get("error") or {}
    if report is None:
        why = f"exit {done.code}: {error['message']}" if error else done.failure
        code = f"{done.code} {error.get('code', '')}".strip()
        return Answer(package, *question, engine, no_answer(why).word, code, "", "", 0, "", seconds)
    old, new = (source(report[side]["evidence"]) for side in ("old", "new"))
    breaking, verdict = report["summary"]["breaking"], report["verdict"]
    first = "; ".join(islice(_leading(report["changes"]), SHOWN))
    return Answer(package, *question, engine, verdict, str(done.code), old, new, breaking, first, seconds)


def _document(done: Done) -> Mapping[str, Any]:
    """The JSON object that was printed; empty where the command was killed or failed otherwise."""
    try:
        found: Mapping[str, Any] = json.loads(done.out)
    except json.JSONDecodeError:
        return {}
    return found


def source(evidence: Sequence[Mapping[str, Any]]) -> str:
    """How much a side's headers described: ``full``, or the state with the reason; empty without a row about them."""
    found = next((each for each in evidence if each["facet"] == "source"), None)
    if found is None or found["state"] == "full":
        return found["state"] if found else ""
    detail = " ".join(asking.FOLDERS.sub("", found["detail"]).split())[:LETTERS]
    part = f" ({found['described']} of {found['expected']})" if found["state"] == "partial" else ""
    return f"{found['state']}{part}: {found['reason']}: {detail}".rstrip(": ")


def _leading(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Kind and subject of what breaks programs or sources, worst first."""
    for each in changes:
        if each["impact"] in ("breaking", "api_break"):
            yield " ".join(filter(None, (each["kind"], each["display"], each["part"])))[:LETTERS]


def abidiff(pair: DebianPair, question: Question, engine: str, place: Path) -> Answer:
    """What abidiff answers about the libraries that both packages have; one that is removed is a break."""
    old, new = ({each.library: each for each in releases(pair, place, side)} for side in ("old", "new"))
    headers = question.evidence == "headers"
    said = [Said("incompatible", True, (f"[D] library {name}",)) for name in old.keys() - new.keys()]
    total = 0.0
    for name in sorted(old.keys() & new.keys()):
        with TemporaryDirectory() as work:
            told, seconds = timed(partial(asking.abidiff, old[name], new[name], headers, Path(work)))
        said.append(told)
        total += seconds
    worst = min(said, key=lambda each: (WORST_FIRST.index(each.breaks), each.word))
    causes = [cause[:LETTERS] for each in said for cause in each.causes if not cause.startswith("[A]")]
    first = "; ".join(causes[:SHOWN])
    return Answer(pair.package, *question, engine, worst.word, "", "", "", len(causes), first, round(total, 2))


def releases(pair: DebianPair, place: Path, side: str) -> Iterator[Release]:
    """The shared libraries in public folders of a side's library package, by the stem of their SONAME."""
    unpacked = place / side
    folders = tuple(each for each in (unpacked / "usr").rglob("include") if each.is_dir())
    headers = tuple(sorted({path for folder in folders for path in folder.rglob("*") if path.is_file()}))
    for member in members(next((place / f"{side}.library").glob("*.deb"))):
        binary = unpacked / member
        if SHARED.fullmatch(member) and binary.read_bytes()[:4] == b"\x7fELF":
            version = pair.old if side == "old" else pair.new
            stem = soname(binary).partition(".so")[0]
            yield Release(stem, version, pair.language.lower(), unpacked, binary, headers, (), folders, (), ())


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """What a call returns, and the processor seconds of the processes that it started and that ended."""
    before = _seconds()
    value = call()
    return value, round(_seconds() - before, 2)


def _seconds() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
