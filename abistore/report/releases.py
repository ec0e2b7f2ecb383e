"""Releases of several libraries as one report, and whether a release is allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.model.decision import worst_decision
from abistore.model.declarations import FACETS
from abistore.model.findings import Churn, Impact, Verdict
from abistore.model.snapshot import Evidence
from abistore.model.words import counted
from abistore.report.model import (
    ComparedDeclaration,
    ReleaseLibrary,
    Report,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    verdict_of,
)
from abistore.report.outline import WHAT_BREAKS
from abistore.report.wording import numbers

TABLE_NAMES_SHOWN = 5

_ONE_SIDED = {"added": Verdict.COMPATIBLE, "removed": Verdict.BREAKING, "moved": Verdict.COMPATIBLE_WITH_RISK}


class LibraryRow(NamedTuple):
    """A library of a release; ``tone`` is the colour of its ``verdict``."""

    name: str
    soname: str
    exports: str
    verdict: str
    tone: str
    counts: str


class LibraryTable(NamedTuple):
    """The libraries that changed, and in words those that did not; empty where all did."""

    rows: tuple[LibraryRow, ...]
    unchanged: str


def library_table(report: Report) -> LibraryTable:
    """The libraries of a report about releases; no rows for a report about one library."""
    changed = [each for each in report.libraries if each.verdict != "NO_CHANGE" or each.evidence_gap]
    others = [each.name for each in report.libraries if each not in changed]
    changed.sort(key=lambda each: (-_weight(each), each.name))
    several = len({each.target for each in report.libraries}) > 1
    return LibraryTable(tuple(_row(each, several) for each in changed), _unchanged(others))


def _weight(library: ReleaseLibrary) -> Verdict:
    return Verdict[library.verdict] if library.verdict else _ONE_SIDED[library.state]


def _row(library: ReleaseLibrary, several: bool) -> LibraryRow:
    partly = f" in what could be checked: {library.evidence_gap}" if library.evidence_gap else ""
    tone = {"no_change": "compatible", "compatible_with_risk": "risk"}
    colour = _weight(library).name.lower()
    return LibraryRow(
        name=f"{library.name} ({library.target})" if several else library.name,
        soname=_both_cells(library.old_soname, library.new_soname),
        exports=_both_cells(library.old_exports, library.new_exports),
        verdict=f"{library.verdict}{partly}" if library.verdict else library.state,
        tone="unchecked" if partly and _weight(library) <= Verdict.COMPATIBLE else tone.get(colour, colour),
        counts=numbers(library.summary) if library.summary else "",
    )


def _both_cells(old: str | int | None, new: str | int | None) -> str:
    """One value, or both where both are there and differ."""
    known = dict.fromkeys(str(each) for each in (old, new) if each is not None)
    return " -> ".join(known) or "none"


def _unchanged(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown, more = ", ".join(names[:TABLE_NAMES_SHOWN]), len(names) - TABLE_NAMES_SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return f"{counted(len(names), 'library', 'libraries')} without a change: {shown}{rest}"


NAMES_SHOWN = 3


def joined(own: Report, members: Sequence[ReleaseLibrary], reports: Sequence[Report]) -> Report:
    """One report of what changed between the libraries (``own``) and in each of them (``reports``).

    A finding that several libraries have, as about a type that they share, is told once. What all reports note about
    the ruling is true of the release; what only some note, as that a suppression took nothing there, is not.
    """
    every = (own, *reports)
    changes = _findings(every, lambda report: report.changes)
    suppressed = _findings(every, lambda report: report.suppressed)
    worst = max(every, key=verdict_of)
    return replace(
        own,
        verdict=worst.verdict,
        exit_code=worst.exit_code,
        summary=summary(changes),
        changes=changes,
        suppressed_count=len(suppressed),
        suppressed=suppressed,
        not_checked=_not_checked(reports),
        notes=_notes(every),
        old=replace(own.old, evidence=_evidence([each.old.evidence for each in reports])),
        new=replace(own.new, evidence=_evidence([each.new.evidence for each in reports])),
        kinds=tuple(
            sorted({card.kind: card for each in every for card in each.kinds}.values(), key=lambda one: one.kind)
        ),
        declarations=_declarations(every),
        unequal_evidence=tuple(facet for facet in FACETS if any(facet in each.unequal_evidence for each in reports)),
        advice=_findings(every, lambda report: report.advice),
        evidence_gap=_gap(reports),
        guessed=_guessed(every),
        libraries=tuple(members),
    )


def _guessed(reports: Sequence[Report]) -> str:
    """What the verdict rests on, if all that break rest on guessing. What is private, the library's own report says."""
    breaking = [each.guessed.partition(";")[0] for each in reports if each.verdict == "BREAKING"]
    return next(iter(breaking), "") if all(each.startswith(WHAT_BREAKS) for each in breaking) else ""


def _findings(
    reports: Iterable[Report], listed: Callable[[Report], Sequence[ReportedFinding]]
) -> tuple[ReportedFinding, ...]:
    """The findings of all reports, worst first, each with the libraries that have it."""
    found: dict[str, ReportedFinding] = {}
    having: dict[str, list[Report]] = {}
    between, *reports = reports
    for report in reports:
        for finding in listed(report):
            having.setdefault(finding.id, []).append(report)
            before = found.get(finding.id)
            found[finding.id] = _both(before, finding) if before else finding
    titles = {card.kind: card.title for report in reports for card in report.kinds}
    located = (_located(each, named(having[each.id], reports), titles) for each in found.values())
    return tuple(sorted((*listed(between), *located), key=lambda one: -Impact[one.impact.upper()]))


def named(some: Sequence[Report], every: Sequence[Report]) -> tuple[str, ...]:
    """The names of the libraries of ``some`` reports, with platforms where libraries of the same name are left out."""
    targets: dict[str, list[str]] = {}
    for each in some:
        targets.setdefault(each.new.library, []).append(each.new.target)
    counts = Counter(each.new.library for each in every)
    return tuple(
        name if len(found) == counts[name] else f"{name} ({', '.join(found)})" for name, found in targets.items()
    )


def _both(first: ReportedFinding, second: ReportedFinding) -> ReportedFinding:
    affected = tuple(sorted({*first.affected, *second.affected}))
    consequences = {each.id: each for each in (*first.consequences, *second.consequences)}
    return replace(
        first,
        description=first.description if first.description == second.description else "",
        affected=affected,
        affected_count=len(affected),
        consequences=tuple(consequences.values()),
        approved=first.approved if second.approved else None,
        unapproved=first.unapproved or second.unapproved,
        review=first.review or second.review,
        consumers=tuple(sorted({*first.consumers, *second.consumers})),
    )


def _located(finding: ReportedFinding, libraries: tuple[str, ...], titles: Mapping[str, str]) -> ReportedFinding:
    """The finding with its libraries in words; where these describe it differently, by the title of its kind."""
    said = finding.description or titles.get(finding.kind, finding.kind).removesuffix(".")
    return replace(finding, description=f"{said}, in {_some(libraries)}", libraries=libraries)


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(names[:NAMES_SHOWN])
    return f"{shown} and {counted(more, 'more library', 'more libraries')}" if more > 0 else shown


def summary(changes: Sequence[ReportedFinding]) -> Summary:
    """How many findings there are of each impact."""
    impacts: list[str] = [each.impact for each in changes]
    breaking, api_breaks, risks, compatible = map(impacts.count, ("breaking", "api_break", "risk", "compatible"))
    return Summary(breaking, api_breaks, risks, compatible, len(impacts))


def _not_checked(reports: Sequence[Report]) -> tuple[ReportedNotChecked, ...]:
    """What was not checked, once for all libraries that have the same reason."""
    found: dict[tuple[str, str, str], list[tuple[Report, ReportedNotChecked]]] = {}
    for report in reports:
        for item in report.not_checked:
            found.setdefault((item.facet, item.side, item.reason), []).append((report, item))
    return tuple(_all(alike, reports) for _, alike in sorted(found.items(), key=lambda one: one[0]))


def _all(alike: Sequence[tuple[Report, ReportedNotChecked]], every: Sequence[Report]) -> ReportedNotChecked:
    first = alike[0][1]
    having = [each for each in every if any(each is report for report, _ in alike)]
    libraries = _some(named(having, every))
    names = tuple(sorted({name for _, item in alike for name in item.names}))
    return replace(first, detail=f"{libraries}: {first.detail}", names=names)


def _notes(reports: Sequence[Report]) -> tuple[str, ...]:
    return tuple(note for note in dict.fromkeys(reports[0].notes) if all(note in each.notes for each in reports))


def _evidence(sides: Sequence[tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
    """How much all libraries show together: of each facet the least that one of them shows, with its reason."""
    found = []
    for facet in FACETS:
        seen = [each for side in sides for each in side if each.facet == facet]
        if seen:
            least = min(seen, key=lambda each: ("missing", "partial", "full").index(each.state))
            partial = least.state == "missing" and any(each.state != "missing" for each in seen)
            described, expected = sum(each.described for each in seen), sum(each.expected for each in seen)
            state = "partial" if partial else least.state
            found.append(replace(least, state=state, described=described, expected=expected))
    return tuple(found)


def _gap(reports: Sequence[Report]) -> str:
    """The gaps in evidence, each with the libraries that have it."""
    found: dict[str, list[Report]] = {}
    for report in reports:
        if report.evidence_gap:
            found.setdefault(report.evidence_gap, []).append(report)
    return "; ".join(f"{_some(named(having, reports))}: {gap}" for gap, having in found.items())


def _declarations(reports: Iterable[Report]) -> tuple[ComparedDeclaration, ...]:
    """Declarations with findings, each once; those that two libraries show differently are left to their findings."""
    found: dict[tuple[str, str], set[ComparedDeclaration]] = {}
    for report in reports:
        for each in report.declarations:
            found.setdefault((each.symbol, each.subject), set()).add(each)
    return tuple(each for _, alike in sorted(found.items()) if len(alike) == 1 for each in alike)


NOTHING = Summary(breaking=0, api_breaks=0, risk_changes=0, compatible=0, total_changes=0)


def together(reports: Sequence[Report]) -> Report:
    """One report of several, as of a release of several libraries: its verdict and its exit code are the worst."""
    if len(reports) == 1:
        return reports[0]
    decisions = [each.decision for each in reports if each.decision is not None]
    own = msgspec.structs.replace(
        max(reports, key=lambda each: each.exit_code),
        verdict="NO_CHANGE",
        changes=(),
        suppressed=(),
        not_checked=(),
        notes=(),
        declarations=(),
        advice=(),
        summary=NOTHING,
        churn=Churn(0, 0, 0),
        decision=worst_decision(decisions) if decisions else None,
    )
    code = max(each.exit_code for each in reports)
    return msgspec.structs.replace(joined(own, [_library_row(each) for each in reports], reports), exit_code=code)


def _library_row(report: Report) -> ReleaseLibrary:
    old, new = report.old, report.new
    return ReleaseLibrary(
        new.library,
        new.target,
        "compared",
        old.soname,
        new.soname,
        old.exports,
        new.exports,
        report.verdict,
        report.summary,
        report.evidence_gap,
    )
