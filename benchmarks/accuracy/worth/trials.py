"""Trials of one library: its pairs compared with one constant after the other, each in a process of its own."""

from __future__ import annotations

import gc
import resource
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Final, NamedTuple, TypeVar

import msgspec

from abistore.diffing.judge.judged import compare
from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.kept.answers import digest
from benchmarks.accuracy.worth.subjects import Answers, Replacement, Subject, replacements, traced

SECONDS: Final = 30
"""So many CPU seconds a comparison may take under a replacement; the slowest takes a small part of it."""

MEMORY: Final = 4 << 30
"""So many bytes of address space it may take."""

FORK: Final = get_context("fork")

Task = TypeVar("Task")
Result = TypeVar("Result")


class Answer(msgspec.Struct, frozen=True):
    """What a comparison says: its verdict, and a digest of its findings and advice. Without a verdict it failed."""

    verdict: str
    findings: str


FAILED: Final = Answer("", "")


class Asked(NamedTuple):
    """A pair, and the evidence that both of its snapshots have: ``headers`` or ``files``."""

    kept: KeptPair
    evidence: str


class PairTrial(msgspec.Struct, frozen=True):
    """A pair by one evidence: its truth, its answer, what ran meanwhile, and each answer that a replacement changed.

    ``changed`` is by the key of the replacement.
    """

    old: str
    new: str
    evidence: str
    breaks: bool
    breaks_source: bool
    answer: Answer
    ran: Answers
    changed: Mapping[str, Answer]


class LibraryTrial(msgspec.Struct, frozen=True):
    """All pairs of a library. ``inputs`` is the digest of what they follow from; the seconds are of CPU."""

    library: str
    inputs: str
    pairs: tuple[PairTrial, ...]
    seconds: float


Judge = Callable[[KeptPair], Answer]
"""What is asked about a pair: :func:`judge`, unless a test has an engine of its own."""


def judge(pair: KeptPair) -> Answer:
    """What the engine says of a pair."""
    said = compare(pair.old, pair.new)
    return Answer(said.verdict.name, digest((*said.findings, *said.advice)))


def trial(asked: Sequence[Asked], subjects: Sequence[Subject], inputs: str, ask: Judge = judge) -> LibraryTrial:
    """Compare the pairs of a library as they are, and under each replacement that can change an answer.

    This process must not have compared anything: processes forked from it begin without warm caches.
    """
    begun = _seconds()
    pairs = [each.kept for each in asked]
    plain = [_plain(pair, subjects, ask) for pair in pairs]
    if list(replaced(pairs, [], ask)) != [answer for answer, _ in plain]:
        raise RuntimeError(f"{pairs[0].pair.library}: warm caches or tracing change an answer")
    changed: list[dict[str, Answer]] = [{} for _ in pairs]
    for each in replacements(subjects):
        chosen = [place for place, (_, ran) in enumerate(plain) if each.differs(ran)]
        for place, answer in zip(chosen, replaced([pairs[place] for place in chosen], [each], ask), strict=True):
            if answer != plain[place][0]:
                changed[place][each.key] = answer
    told = [_told(*each) for each in zip(asked, plain, changed, strict=True)]
    return LibraryTrial(pairs[0].pair.library, inputs, tuple(told), _seconds() - begun)


def replaced(pairs: Sequence[KeptPair], by: Sequence[Replacement], ask: Judge = judge) -> Iterator[Answer]:
    """The answers about some pairs while all these replacements are in place."""

    def put() -> None:
        for each in by:
            each.put()

    return (answer or FAILED for answer in apart(pairs, lambda pair: _bounded(lambda: ask(pair)), put))


def apart(
    tasks: Sequence[Task], work: Callable[[Task], Result], prepare: Callable[[], None]
) -> Iterator[Result | None]:
    """The results of tasks in a forked process, in order: ``None`` where it died, and a new one does those behind."""
    done = 0
    while done < len(tasks):
        receiving, sending = FORK.Pipe(duplex=False)
        child = FORK.Process(target=_work, args=(tasks[done:], work, prepare, sending))
        child.start()
        sending.close()
        try:
            for _ in tasks[done:]:
                yield receiving.recv()
                done += 1
        except EOFError:
            yield None
            done += 1
        receiving.close()
        child.join()


def _work(
    tasks: Sequence[Task], work: Callable[[Task], Result], prepare: Callable[[], None], results: Connection
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    gc.disable()  # collecting took a fifth of the time, and copies pages that processes share
    prepare()
    for task in tasks:
        results.send(work(task))


class _TooLong(BaseException):
    """Beyond :data:`SECONDS`. Nothing that the engine catches."""


def _bounded(work: Callable[[], Answer]) -> Answer:
    """What some work answers, or that it failed: whatever a constant breaks is an outcome."""

    def stop(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return work()
    except (Exception, _TooLong):
        return FAILED
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _plain(pair: KeptPair, subjects: Sequence[Subject], ask: Judge) -> tuple[Answer, Answers]:
    """The answer about a pair as the engine is, and what ran meanwhile."""
    (told,) = apart([pair], lambda each: traced(subjects, lambda: ask(each)), lambda: None)
    if told is None:
        raise RuntimeError(f"{pair.pair.library} {pair.pair.old} -> {pair.pair.new} cannot be compared")
    return told


def _told(asked: Asked, plain: tuple[Answer, Answers], changed: dict[str, Answer]) -> PairTrial:
    truth = asked.kept.pair
    return PairTrial(truth.old, truth.new, asked.evidence, truth.breaks, truth.breaks_source, *plain, changed)


def _seconds() -> float:
    """The CPU seconds of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
