"""Breaks that only several releases together show, and exports that come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from abistore.model.findings import Verdict, evidence_rank
from abistore.model.history import Release
from abistore.model.names import FACETS, Facet
from abistore.report.wording import named

if TYPE_CHECKING:
    from abistore.store.history.returning import ReturnedExport

LISTED = 3


class StepVerdicts(NamedTuple):
    """A release with its verdict against the one before, and against ``base``; ``None`` where there is none."""

    release: Release
    base: Release | None
    step: Verdict | None
    whole: Verdict | None


def sentences(steps: Sequence[StepVerdicts], back: Sequence[ReturnedExport]) -> tuple[str, ...]:
    """The sentences about a line, in release order: exports that came back, then what stands against each base."""
    run = _Run(None)
    said: list[str] = []
    for step in steps:
        if step.base != run.base:
            run = _Run(step.base)
        returned = [each for each in back if each.back.sequence == step.release.sequence]
        said.extend(returns(returned))
        said.extend(run.go(step, {each.gone.version for each in returned}))
    return tuple(said)


class _Run:
    """The releases since a base: the worst step so far, and since when the base is broken how badly."""

    def __init__(self, base: Release | None) -> None:
        self.base = base
        self._worst: Verdict | None = Verdict.NO_CHANGE
        self._before: StepVerdicts | None = None
        self._since = ""

    def go(self, step: StepVerdicts, returned_from: Iterable[str]) -> Iterator[str]:
        """Take the next release into account."""
        if self.base is None:
            return
        before, self._before = self._before, step
        known = self._worst is not None and step.step is not None
        self._worst = max(self._worst or Verdict.NO_CHANGE, step.step or Verdict.NO_CHANGE) if known else None
        was = before.whole if before and before.whole is not None else Verdict.NO_CHANGE
        if step.whole is None:
            return
        if step.whole > was:
            if step.whole >= Verdict.API_BREAK:
                self._since = step.release.version
                if self._worst is not None and step.whole > self._worst:
                    yield whole_breaks((self.base.version, step.release.version), step.whole, self._worst)
        elif was >= Verdict.API_BREAK and step.whole < was and before and self._since not in returned_from:
            yield from self._restored(before, step.release)

    def _restored(self, before: StepVerdicts, release: Release) -> Iterator[str]:
        """That a release takes back a break, where it shows no less than the one before."""
        if self.base is not None and shown_by(before.release, release) == frozenset(FACETS):
            yield restores("", self._since, (self.base.version, release.version))


def whole_breaks(versions: tuple[str, str], verdict: Verdict, steps: Verdict) -> str:
    """The sentence about a break that no single step shows."""
    though = "each step is compatible" if steps < Verdict.API_BREAK else f"no step is worse than {steps.name}"
    return f"{versions[0]} -> {versions[1]} is {verdict.name} though {though}"


def restores(what: str, broken_by: str, versions: tuple[str, str]) -> str:
    """The sentence about a release that takes back what an earlier one breaks of a base."""
    base, last = versions
    if not what:
        return f"{last} restores what {broken_by} breaks for programs built against {base}"
    return f"{last} restores {what} for programs built against {base}, which {broken_by} breaks"


def returns(back: Iterable[ReturnedExport]) -> Iterator[str]:
    """The sentences about exports that came back: "1.4.0 restores f() and g(), which 1.3.0 removed"."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in back:
        groups.setdefault((each.gone.version, each.back.version), []).append(named(each.name.spelling))
    for (gone, version), names in groups.items():
        yield f"{version} restores {listed(names)}, which {gone} removed"


def shown_by(middle: Release, last: Release) -> frozenset[Facet]:
    """The facets of which the last release shows no less than the one before."""
    ranks = [{seen.facet: evidence_rank(seen) for seen in each.evidence} for each in (middle, last)]
    return frozenset(facet for facet in FACETS if ranks[1].get(facet, 0) >= ranks[0].get(facet, 0))


def listed(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    shown = list(names[:LISTED])
    if len(names) > LISTED:
        shown.append(f"{len(names) - LISTED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
