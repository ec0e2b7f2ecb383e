"""The report of a release of several libraries: those of its libraries in one, each finding once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from abistore.model.findings import Impact
from abistore.model.names import FACETS
from abistore.model.snapshot import Evidence
from abistore.model.words.counting import counted
from abistore.report.guesses import WHAT_BREAKS
from abistore.report.model import (
    ComparedDeclaration,
    ReleaseLibrary,
    Report,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    verdict_of,
)

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
        summary=_summary(changes),
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


def _summary(changes: Sequence[ReportedFinding]) -> Summary:
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
