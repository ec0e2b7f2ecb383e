"""A judged comparison arranged as a report: its head, and build paths cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os.path import commonpath, normpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, cast

from msgspec import UNSET
from msgspec.structs import replace

from abistore.model.declarations import SELF, Facet, Name
from abistore.model.findings import (
    EXPORT_NOT_DESCRIBED,
    TYPE_NOT_DESCRIBED,
    Churn,
    Comparison,
    Finding,
    Impact,
    NotChecked,
    RulingFile,
    Verdict,
    covered,
    evidence_rank,
    identified,
    identity_of,
    place,
    unequal_evidence,
)
from abistore.model.kind_names import variant_of
from abistore.model.labels import name_word, to_bump
from abistore.model.names.qualified import demangle
from abistore.model.snapshot import NO_EXPORT_DECLARED, NOT_FOUND_BY_LINKER, Evidence, evidence_of
from abistore.model.words import counted, is_source
from abistore.patterns import pattern
from abistore.report.model import (
    SCHEMA,
    ChangeKind,
    ComparedDeclaration,
    ImpactLabel,
    Report,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    VerdictName,
    every,
)
from abistore.report.wording import approval, names

if TYPE_CHECKING:
    from collections.abc import Callable

NAMED = 3
WIDTH = 60
"""So many names of each guess are shown, in so many columns each."""

WHAT_BREAKS: Final = "no public headers given (--header): some of these breaks may be in types that no program can use"
"""What is said of a break that rests on a guess."""

PRIVATE_TYPES: Final = frozenset({"type_private_changed"})
PRIVATE_EXPORTS: Final = frozenset(
    {
        "declaration_changed.internal",
        "declaration_changed.private",
        "symbols_removed.internal",
        "symbols_removed.private",
    }
)
"""The kinds of what no public file is known to declare."""


def guessed(comparison: Comparison) -> str:
    """What rests on a guess, as no header tells which declarations programs can name; else empty.

    It is that a verdict of ``BREAKING`` counts, and that types and exports are taken for private.
    """
    seen = comparison.old.evidence
    if evidence_of(seen, "source").state != "missing":
        return ""
    breaks = _breaks(comparison)
    private = "; ".join(_private(comparison.findings))
    hint = f"{private}; give --header to know" if private else ""
    return "; ".join(filter(None, (breaks, hint)))


def _breaks(comparison: Comparison) -> str:
    """What the library says of itself, such as its SONAME, needs no header, and neither does a library that is gone."""
    if comparison.verdict is not Verdict.BREAKING:
        return ""
    breaking = (each for each in comparison.findings if each.impact is Impact.BREAKING)
    if not any(each.name.kind != SELF.kind or each.affected for each in breaking):
        return ""
    return WHAT_BREAKS


def _private(findings: Iterable[Finding]) -> Iterator[str]:
    types = [each for each in findings if each.kind in PRIVATE_TYPES]
    from_sources = {each.name.spelling for each in types if each.location and is_source(each.location.file)}
    others = {each.name.spelling for each in types} - from_sources
    by_value = "no function that programs can call takes or returns {} by value"
    yield from _guess(from_sources, "opaque", f"only a source file defines {{}}, and {by_value}")
    yield from _guess(others, "opaque", f"nothing shows that programs look into {{}}, and {by_value}")
    private = (each for each in findings if each.kind in PRIVATE_EXPORTS)
    exports = {name.spelling for each in private for name in (each.affected or (each.name,))}
    yield from _guess(exports, "private", "no public header is known to declare {}")


def _guess(spellings: Collection[str], guess: str, why: str) -> Iterator[str]:
    if spellings:
        one = len(spellings) == 1
        reason = why.replace("{}", "it" if one else "them")
        told = names(sorted(spellings), NAMED, WIDTH)
        yield f"{told} {'is' if one else 'are'} guessed to be {guess}: {reason}"


CHECKED = "in what could be checked"
"""Follows a verdict if one side has less evidence than the other."""

REQUIRED = "Required evidence is missing"
"""The heading of the reason why a gate on evidence failed."""

NO_REASON = "no reason given"
DIGITS = 12
"""How many digits of a file's SHA-256 are shown: what ``sha256sum`` prints begins with them."""

LACKS = {
    "no-debug-info": "has no debug information",
    "debug-file-missing": "lacks its debug file",
    "stale-debug-file": "has a debug file from another build",
    "incomplete-debug-info": "has incomplete debug information",
    "alternate-file-missing": "lacks the file that dwz moved debug information to",
    "unreadable-debug-file": "has a debug file that cannot be read",
    "debuginfod-failed": "got no debug file from debuginfod",
    "split-debug-missing": "lacks its split debug files",
    "types-not-recorded": "has debug information without types",
    "corrupt-debug-info": "has damaged debug information",
    "type-too-large": "has types that are too large to be spelled out",
}
UNASKED: dict[Facet, str] = {
    "symbol": "was read without its symbols",
    "layout": "was read without debug information",
    "source": "was read without headers",
}


def evidence_gap(old: Sequence[Evidence], new: Sequence[Evidence]) -> str:
    """What was not compared because one side has less evidence, and why; empty if the evidence is equal.

    ``layout not compared, new side has no debug information``
    """
    return "; ".join(
        _gap(facet, evidence_of(old, facet), evidence_of(new, facet)) for facet in unequal_evidence(old, new)
    )


def comparison_gap(comparison: Comparison) -> str:
    """The same of a comparison: equal evidence may leave out exports and types that the other side describes."""
    lost = [
        f"new side does not describe {counted(len(each.names), _LOST[each.reason])} that the old one does"
        for each in comparison.not_checked
        if each.reason in _LOST and each.side == "new"
    ]
    return "; ".join(filter(None, (evidence_gap(comparison.old.evidence, comparison.new.evidence), *lost)))


_LOST: Mapping[str, str] = {EXPORT_NOT_DESCRIBED: "export", TYPE_NOT_DESCRIBED: "type"}


def _gap(facet: Facet, old: Evidence, new: Evidence) -> str:
    side, less = ("old", old) if evidence_rank(old) < evidence_rank(new) else ("new", new)
    extent = "compared in part" if less.state == "partial" else "not compared"
    return f"{facet} {extent}, {side} side {_lack(less)}"


def _lack(evidence: Evidence) -> str:
    if evidence.state == "partial" and evidence.expected:
        if evidence.reason == NO_EXPORT_DECLARED:
            return "has headers that declare none of its exports"
        if evidence.facet == "source":
            return f"has {evidence.described} of {counted(evidence.expected, 'header')} that parse without errors"
        if evidence.reason == NOT_FOUND_BY_LINKER:
            return f"lets the dynamic linker find {evidence.described} of {counted(evidence.expected, 'symbol')}"
        return f"describes {evidence.described} of {counted(evidence.expected, 'export')}"
    if evidence.reason in {"", "not-requested"}:
        return UNASKED[evidence.facet] if evidence.state == "missing" else "shows less of it"
    return LACKS.get(evidence.reason, f"shows less of it ({evidence.reason})")


def extent(evidence: Evidence) -> str:
    """How much evidence a facet has: ``layout full``, ``layout partial (3 of 4)``."""
    part = (
        f" ({evidence.described} of {evidence.expected})" if evidence.state == "partial" and evidence.expected else ""
    )
    return f"{evidence.facet} {evidence.state}{part}"


def is_first(report: Report) -> bool:
    """Whether it is about the first release of a line, which was compared with itself for want of another one."""
    return report.decision is not None and report.decision.against.why == "first"


def sides(report: Report) -> str:
    """What was compared: ``libfoo 1.0 -> libfoo 1.1``."""
    return f"{report.new}" if is_first(report) else f"{report.old} -> {report.new}"


def verdict(report: Report) -> str:
    """The verdict's name, with a reservation if one side has less evidence than the other."""
    if is_first(report):
        return "no verdict"
    return f"{report.verdict} {CHECKED}" if report.evidence_gap else report.verdict


def told_verdict(report: Report) -> str:
    """The verdict with the reason for its reservation, for a line of its own."""
    return f"{verdict(report)}: {report.evidence_gap}" if report.evidence_gap else verdict(report)


def tone(report: Report) -> str:
    """The verdict's colour. A good verdict is not green if evidence is missing."""
    if (report.evidence_gap or report.error) and report.verdict in {"NO_CHANGE", "COMPATIBLE"}:
        return "unchecked"
    return {"NO_CHANGE": "compatible", "COMPATIBLE_WITH_RISK": "risk"}.get(report.verdict, report.verdict.lower())


def ruling(
    policy: str,
    policy_file: RulingFile | None,
    suppression_files: Sequence[RulingFile],
    no_files: str = "no suppressions",
) -> str:
    """The policy and the suppression files that findings were judged by, or ``no_files`` where there are none."""
    origin = f" ({policy_file.name}, sha256 {policy_file.sha256[:DIGITS]})" if policy_file else ""
    files = ", ".join(f"{file.name} (sha256 {file.sha256[:DIGITS]})" for file in suppression_files)
    return f"policy {policy}{origin}, {f'suppressions {files}' if files else no_files}"


def ruled_by(report: Report) -> str:
    """The policy and the suppression files of a report. What it leaves out for a program comes from no file."""
    none = "no suppression files" if report.suppressed_count else "no suppressions"
    return ruling(report.policy, report.policy_file, report.suppression_files, none)


def advice(report: Report) -> Iterable[tuple[ReportedFinding, str]]:
    """Each piece of advice with its text: what was found, and how to fix it, in the words of the platform."""
    name = name_like(report)
    fixes = {
        card.kind: card.fix.replace("bump the SONAME", to_bump(name)).replace("SONAME", name_word(name))
        for card in report.kinds
    }
    for each in report.advice:
        both = " -> ".join(value for value in (each.old_value, each.new_value) if value is not None)
        found = f"{each.description} ({both})" if both else each.description
        fix = fixes.get(each.kind, "").removesuffix(".")
        yield each, f"{found}: {fix}" if fix else found


def name_like(report: Report) -> str:
    """A SONAME of the report, as words for it depend on the platform; none where libraries of several are in it."""
    names = [report.new.soname or report.old.soname, *(each.new_soname or each.old_soname for each in report.libraries)]
    by_word = {name_word(each): each for each in names if each}
    return by_word.popitem()[1] if len(by_word) == 1 else ""


def by_suppression(findings: Iterable[ReportedFinding]) -> dict[str, list[ReportedFinding]]:
    """The suppressed findings by their suppression, in report order."""
    found: dict[str, list[ReportedFinding]] = {}
    for finding in findings:
        found.setdefault(suppression(finding), []).append(finding)
    return found


def suppression(finding: ReportedFinding) -> str:
    """The suppression that took a finding, its reason, and its last day."""
    until = f" (until {finding.suppression_expires})" if finding.suppression_expires else ""
    return f"{finding.suppressed_by or 'a suppression'}: {finding.suppression_reason or NO_REASON}{until}"


def by_approval(findings: Iterable[ReportedFinding]) -> str:
    """By whom findings are approved, why, and until when: ``2 findings approved by ana until 2026-12-31: unused``."""
    said = Counter(approval(each.approved) for each in findings if each.approved)
    return "; ".join(f"{counted(count, 'finding')} approved {text}" for text, count in said.items())


def outline(
    comparison: Comparison,
    *,
    churn: Churn | None = None,
    kinds: Iterable[ChangeKind] = (),
    declarations: tuple[ComparedDeclaration, ...] = (),
) -> Report:
    """The report of a comparison. Of ``kinds``, it has those that occur."""
    return Report(
        status="ok",
        schema=SCHEMA,
        verdict=cast(VerdictName, comparison.verdict.name),
        exit_code=comparison.verdict.exit_code,
        summary=_summary(comparison),
        changes=_all_reported(comparison.findings),
        suppressed_count=len(comparison.suppressed),
        suppressed=_all_reported(comparison.suppressed),
        not_checked=tuple(map(_unchecked, comparison.not_checked)),
        notes=comparison.notes,
        old=comparison.old,
        new=comparison.new,
        policy=comparison.policy,
        engine=comparison.engine,
        churn=churn,
        kinds=_occurring(comparison, kinds),
        declarations=declarations,
        policy_digest=comparison.policy_digest,
        suppression_digest=comparison.suppression_digest,
        unequal_evidence=unequal_evidence(comparison.old.evidence, comparison.new.evidence),
        advice=_all_reported(comparison.advice),
        policy_file=comparison.policy_file,
        suppression_files=comparison.suppression_files,
        evidence_gap=comparison_gap(comparison),
        guessed=guessed(comparison),
    )


def _occurring(comparison: Comparison, kinds: Iterable[ChangeKind]) -> tuple[ChangeKind, ...]:
    used = {finding.kind for finding in every((*comparison.findings, *comparison.suppressed, *comparison.advice))}
    return tuple(sorted((card for card in kinds if card.kind in used), key=lambda card: card.kind))


def _summary(comparison: Comparison) -> Summary:
    return Summary(
        breaking=comparison.count(Impact.BREAKING),
        api_breaks=comparison.count(Impact.API_BREAK),
        risk_changes=comparison.count(Impact.RISK),
        compatible=comparison.count(Impact.COMPATIBLE),
        total_changes=len(comparison.findings),
    )


def _all_reported(findings: Iterable[Finding]) -> tuple[ReportedFinding, ...]:
    return tuple(reported(finding, identity) for identity, finding in identified(findings))


def reported(finding: Finding, identity: str) -> ReportedFinding:
    """A single finding, as reports have it."""
    return ReportedFinding(
        id=identity,
        place=place(finding).hex(),
        kind=finding.kind,
        symbol=finding.name.spelling,
        display=_display(finding.name),
        part=finding.part,
        subject=finding.name.kind,
        description=finding.description,
        impact=cast(ImpactLabel, finding.impact.label),
        facet=finding.facet,
        old_value=finding.old_value,
        new_value=finding.new_value,
        source_location=str(finding.location) if finding.location else None,
        affected=tuple(name.spelling for name in finding.affected),
        affected_count=len(finding.affected),
        consequences=_all_reported(finding.consequences),
        variant=variant_of(finding.kind),
        default_impact=cast(ImpactLabel, finding.default_impact.label) if finding.default_impact is not None else None,
        reason=finding.reason,
        suppressed_by=finding.suppressed_by,
        suppression_reason=finding.suppression_reason,
        suppression_expires=finding.suppression_expires,
        covers=covered(finding),
        in_c=finding.in_c or UNSET,
    )


def parts_of_report(finding: ReportedFinding) -> frozenset[str]:
    """The ids of all that a reported finding covers, each by itself: its own, and those of what is bound to it."""
    name, values = Name(finding.subject, finding.symbol), (finding.old_value, finding.new_value)
    told = Finding(finding.kind, name, finding.part, "", Impact.NOTICE, finding.facet, *values)
    return frozenset((identity_of(told, ()).hex(), *finding.covers))


def _display(name: Name) -> str:
    linked = name.kind in {"function", "variable", "import"}
    return (demangle(name.spelling) if linked else name.spelling) or "the library"


def _unchecked(item: NotChecked) -> ReportedNotChecked:
    names = tuple(name.spelling for name in item.names)
    return ReportedNotChecked(item.facet, item.side, item.reason, item.detail, item.hint, names)


SYSTEM = ("/usr/", "/opt/", "/lib/", "/nix/store/")
"""Where headers of the system stand. Their paths are no paths of a build, and stay whole."""

NUMBER = pattern(r"[0-9]+(?:\.[0-9]+)*")
"""What differs in the names of folders in which two releases are built."""

LISTS = ("changes", "suppressed", "advice")


def with_short_paths(report: Report, source_root: str = "") -> Report:
    """The report with paths below ``source_root`` relative to it, and absolute others to the folder that they share.

    A relative ``source_root`` is one of the folder of the compilation, as relative paths are, or of the current one.
    Two builds in folders beside each other have a folder each.
    """
    roots = [normpath(source_root), str(Path(source_root).absolute())] if source_root else []
    others = {
        file: gone
        for file, gone in _files(report)
        if _is_of_build(file) and not any(_below(file, root) for root in roots)
    }
    if not others and not source_root:
        return report
    shared = _two_builds(others, (report.old.file, report.new.file)) or [_shared(others)]

    def short(location: str) -> str:
        file, colon, line = location.rpartition(":")
        for folder in (*roots, *(shared if _is_of_build(file) else ())):
            if _below(file, folder):
                return f"{file[len(folder) :].lstrip('/')}{colon}{line}"
        return location

    lists = {name: tuple(_cut(getattr(report, name), short)) for name in LISTS}
    return replace(report, **lists)


def _two_builds(files: Mapping[str, bool], libraries: Sequence[str]) -> list[str] | None:
    """The folders of both builds where these lie beside each other: ``/ci/old/src`` and ``/ci/new/src``.

    Each file comes with whether what stands there is gone. The parts of one build lie beside each other too, such as
    ``src`` and ``include``. Those of two have the old and the new library in them; or they are called alike but for a
    number, ``geo-1.2`` and ``geo-1.3``, and what is gone stood in the one, and all else stands in the other.
    """
    shared = _shared(files)
    parts = {file: _part_of(file, shared) for file in files}
    builds = sorted(set(parts.values()))
    if not shared or len(builds) != 2 or "" in builds:
        return None
    holding = sorted(each.partition("/")[0] for each in libraries if "/" in each)
    if holding != builds and not (_are_numbered(builds) and _tell_apart(files, parts)):
        return None
    roots = [f"{shared}/{each}" for each in builds]
    within = commonpath([_folder(file)[len(f"{shared}/{part}") + 1 :] for file, part in parts.items()])
    return [f"{root}/{within}".rstrip("/") for root in roots]


def _are_numbered(folders: Sequence[str]) -> bool:
    return len({NUMBER.sub("0", each) for each in folders}) == 1


def _tell_apart(files: Mapping[str, bool], parts: Mapping[str, str]) -> bool:
    """Whether no part has both what is gone and what is there."""
    return len({(part, files[file]) for file, part in parts.items()}) == 2 == len({*files.values()})


def _part_of(file: str, folder: str) -> str:
    """The folder in ``folder`` in which a file is, however deep; empty where it is in ``folder`` itself."""
    return _folder(file)[len(folder) :].lstrip("/").partition("/")[0]


def _shared(files: Iterable[str]) -> str:
    return commonpath({_folder(each) for each in files} or [""])


def _folder(file: str) -> str:
    return str(PurePosixPath(file).parent)


def _files(report: Report) -> Iterator[tuple[str, bool]]:
    """The files of the report, each with whether what stands there is gone."""
    removals = {each.kind for each in report.kinds if each.action == "removed"}
    for name in LISTS:
        for finding in every(getattr(report, name)):
            if finding.source_location is not None:
                yield finding.source_location.rpartition(":")[0], finding.kind in removals


def _is_of_build(file: str) -> bool:
    return file.startswith("/") and not file.startswith(SYSTEM)


def _below(file: str, folder: str) -> bool:
    return folder not in ("", "/") and file.startswith(f"{folder}/")


def _cut(findings: Iterable[ReportedFinding], short: Callable[[str], str]) -> Iterator[ReportedFinding]:
    for finding in findings:
        location = finding.source_location and short(finding.source_location)
        within = tuple(_cut(finding.consequences, short))
        same = location == finding.source_location and within == finding.consequences
        yield finding if same else replace(finding, source_location=location, consequences=within)
