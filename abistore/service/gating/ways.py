"""What a gate says first, and what would make it pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.model.history import DEFAULT_PROFILE
from abistore.model.judging.bump import Bump
from abistore.model.labels.sonames import name_word
from abistore.model.words.counting import counted
from abistore.report.heading import allowance, passing, verdict
from abistore.report.model import Report, ReportedFinding, verdict_of
from abistore.service.ingest.results import Ingested

LISTED = 6
BREAKS = frozenset({"breaking", "api_break"})


def deciding(
    judged: Ingested, channel: str, told: tuple[Sequence[str], Sequence[str]] = ((), ()), code: int | None = None
) -> str:
    """The sentence that decides: "libfoo 1.4.0 fails beside 1.3.0 (release): BREAKING; this change brought 1 of 2".

    ``told`` are the findings that fail: those that the change brought, and those that stood before.
    """
    report, (introduced, inherited) = judged.verdict, told
    if report is None:
        first = f"passes as the first build of its line, not judged: {judged.unjudged}"
        said = judged.error or first
        return said if said.startswith(f"{judged.path}: ") else f"{judged.path}: {said}"
    code = judged.exit_code if code is None else code
    word = "fails" if code else "passes"
    said = f"{report.new} {word} beside {report.old} ({channel}): {verdict(report)}"
    if ruled := ruled_out(report):
        said = f"{said}; {ruled}"
    if report.code:
        return f"{said}; {report.error}"
    if not code and (why := let_through(report)):
        return f"{said}; {why}"
    if allowance(report):
        said = f"{said}; {allowance(report)}"
    if introduced and inherited:
        return f"{said}; this change brought {len(introduced)} of {len(introduced) + len(inherited)} breaks"
    if introduced:
        return f"{said}; this change brought {'it' if len(introduced) == 1 else 'all of it'}"
    return f"{said}; all of it stood before this change" if inherited else said


def let_through(report: Report) -> str:
    """Why a build passes that breaks and may not: somebody approved it, or a setting lets such a verdict pass."""
    if report.passed_by:
        return passing(report)
    is_allowed = report.bump is not None and report.bump.passes
    if report.exit_code or is_allowed or not verdict_of(report).exit_code:
        return ""
    return f"--fail-on {report.fail_on} lets that pass"


def ruled_out(report: Report) -> str:
    """The breaks that a suppression or the policy keeps from failing: "2 breaks are suppressed by known.yaml"."""
    suppressed = sum(each.impact in BREAKS for each in report.suppressed)
    milder = sum(each.default_impact in BREAKS and each.impact not in BREAKS for each in report.changes)
    files = ", ".join(each.name for each in report.suppression_files)
    said = ((suppressed, f"suppressed by {files}"), (milder, f"no break by policy {report.policy}"))
    return "; ".join(
        f"{counted(count, 'break')} {'is' if count == 1 else 'are'} {what}" for count, what in said if count
    )


def ways(report: Report, failing: Sequence[ReportedFinding], profile: str) -> Iterator[str]:
    """What would make the gate pass for a build of this profile: each is one thing to do."""
    if report.code:
        yield report.hint or report.error
        return
    names = ", ".join(dict.fromkeys(each.display for each in failing[:LISTED]))
    more = f" and {len(failing) - LISTED} more" if len(failing) > LISTED else ""
    yield f"restore what {counted(len(failing), 'finding')} broke: {names}{more}"
    bump = report.bump
    if bump is not None and not bump.allowed and bump.rule != "never" and bump.reason != "removed-too-early":
        yield (
            " and ".join(_bumps(bump, report.new.soname or report.old.soname))
            or "give it a label that declares the break"
        )
    ids = " ".join(dict.fromkeys(each.id for each in failing))
    yield f"accept it: abistore approve {ids} {_where(report, profile)} --reason WHY"


def _where(report: Report, profile: str) -> str:
    said = "" if profile == DEFAULT_PROFILE else f" --profile {profile}"
    return f"--library {report.new.library} --target {report.new.target}{said}"


def _bumps(bump: Bump, name: str | None) -> Iterator[str]:
    """What a release must be called, and whether its SONAME must be another; a label that says it already stays.

    ``name`` is what the library calls itself: a SONAME, an install name, or the name of a DLL.
    """
    if bump.suggested:
        yield f"call it {bump.suggested}"
    if bump.soname_required:
        yield f"bump the {name_word(name or '')}"
