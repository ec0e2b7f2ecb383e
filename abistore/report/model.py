"""The report: a judged comparison arranged for its readers, and the registry of its formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from importlib import import_module
from operator import is_not
from pkgutil import iter_modules
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec

from abistore.errors import UsageError
from abistore.model.decision import Decision
from abistore.model.declarations import Facet, Kind
from abistore.model.findings import Action, Churn, Element, Finding, RulingFile, Side, Verdict
from abistore.model.snapshot import hide_secrets
from abistore.model.words import LONGEST, bounded, own, visible
from abistore.report import formats as package

CODES = {
    "breaking": "1;31",
    "api_break": "33",
    "risk": "35",
    "compatible": "32",
    "notice": "2",
    "unchecked": "1;33",
    "bold": "1",
    "dim": "2",
    "!": "33",
    "-": "31",
    "+": "32",
}


Mode: TypeAlias = Literal["full", "leaf", "impact", "stat"]
"""How text and Markdown are arranged: by impact and kind (``full``), by declaration (``leaf``), as a table of affected
exports (``impact``), or in one line (``stat``)."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Style(msgspec.Struct, frozen=True):
    """``limit`` is how many changes of one kind are shown (``None``: all); ``width`` is in columns.

    ``docs`` is where the pages about kinds are published: see :func:`abistore.report.plain.page`.
    ``source_root`` is the folder of the sources in the build: see :mod:`abistore.report.outline`.
    """

    colour: bool = False
    width: int = 100
    limit: int | None = 10
    detail: bool = False
    mode: Mode = "full"
    docs: str = ""
    source_root: str = ""

    def paint(self, text: str, tone: str) -> str:
        """``text`` in one of the tones of :data:`CODES`, if colour is wanted."""
        return f"{own(f'[{CODES[tone]}m')}{text}{own('[0m')}" if self.colour else text


MOST = 4_000
"""How many lines a text has at most."""

Value = TypeVar("Value")


def legible(value: Value, most: int = LONGEST) -> Value:
    """A report, or a part of one, without the middle of every line of more than ``most`` characters."""
    found: Any = value
    if isinstance(value, str):
        found = value if len(value) <= most else bounded(_of_some_lines(value), most)
    elif isinstance(value, tuple) and value and isinstance(value[0], str) and max(map(len, value)) <= most:
        pass
    elif isinstance(value, tuple):
        parts = tuple(legible(each, most) for each in value)
        found = parts if any(map(is_not, parts, value)) else value
    elif isinstance(value, msgspec.Struct):
        changed = dict(_changed(value, most))
        found = msgspec.structs.replace(value, **changed) if changed else value
    return cast(Value, found)


def _changed(value: msgspec.Struct, most: int) -> Iterator[tuple[str, Any]]:
    """The fields that are shortened. Most texts are short, and only their length is looked at."""
    for field, old in zip(value.__struct_fields__, msgspec.structs.astuple(value), strict=True):
        if not old or (type(old) is str and len(old) <= most):
            continue
        if (new := legible(old, most)) is not old:
            yield field, new


def _of_some_lines(text: str) -> str:
    lines = text.split("\n")
    if len(lines) <= MOST:
        return text
    half = MOST // 2
    return "\n".join((*lines[:half], f"... ({len(lines) - MOST:,} more lines)", *lines[-half:]))


SCHEMA = 1
"""Version of the report's JSON. New fields keep the number; a field that goes or changes its meaning raises it."""


VerdictName: TypeAlias = Literal["NO_CHANGE", "COMPATIBLE", "COMPATIBLE_WITH_RISK", "API_BREAK", "BREAKING"]
ImpactLabel: TypeAlias = Literal["breaking", "api_break", "risk", "compatible", "notice", "advice"]


class Summary(msgspec.Struct, frozen=True):
    """How many findings have each impact; consequences are not counted."""

    breaking: int
    api_breaks: int
    risk_changes: int
    compatible: int
    total_changes: int


class ReportedApproval(msgspec.Struct, frozen=True):
    """Who accepted a finding, why, and where it was discussed (``ticket``).

    ``scope`` is ``forever``, ``release:VERSION`` or ``branch:CHANNEL``; ``until`` is empty, ``date:``, ``version:`` or
    ``soname:`` with the last that it holds for; ``approved`` is the day. ``origin`` says where the approval came from
    if nobody typed it into this database.
    """

    approver: str
    reason: str
    ticket: str
    scope: str
    until: str
    approved: str
    origin: str = ""


class ReportedReview(msgspec.Struct, frozen=True):
    """What somebody said of a finding, and on which day. It has no effect."""

    state: str
    note: str
    actor: str
    reviewed: str


WitnessSort: TypeAlias = Literal["layout", "link", "load", "source", "run"]
"""What a witness proves.

``layout``: what a program is compiled with (sizes, offsets, values, vtable slots) differs between both declarations;
the library is never loaded. ``link``: a program that links with the old library does not link with the new one.
``load``: the dynamic linker refuses a program that was built with the old library. ``source``: a program compiles with
the old declarations only. ``run``: a program that calls the library prints something else.
"""

WitnessState: TypeAlias = Literal["shown", "refuted", "written", "none"]
"""``shown``: the break happens. ``refuted``: the program behaves the same. ``written``: a program that nobody
compiled. ``none``: no program can be made; ``reason`` says why."""


class Witness(msgspec.Struct, frozen=True, omit_defaults=True):
    """The smallest program that an old user could have written and that shows one finding.

    ``finding`` is its id. ``declarations`` says where the declarations come from: the library's ``headers``, or the
    ``snapshot``, which spells them. ``files`` are further files that the program needs, by name: ``old/api.h``.
    ``lines`` are the lines of ``program`` that matter, counted from 1. ``commands`` compile and start it, as a user
    would type them. ``before`` and ``after`` are what it printed, or what the compiler, the linker or the dynamic
    linker said. ``compiler`` names what compiled it.
    """

    finding: str
    kind: str
    display: str
    state: WitnessState
    sort: WitnessSort | None = None
    reason: str = ""
    language: Literal["c", "c++"] = "c"
    declarations: Literal["headers", "snapshot", ""] = ""
    program: str = ""
    files: tuple[tuple[str, str], ...] = ()
    lines: tuple[int, ...] = ()
    commands: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    compiler: str = ""
    part: str = ""


class ReportedFinding(msgspec.Struct, frozen=True):
    """One finding. ``kind`` is the full name, as policies spell it, and ``variant`` what stands behind its dot.

    ``id`` is the same in every comparison that has this finding. It begins with ``place``, which stands for the kind,
    the declaration and the part, whatever the values are. ``covers`` are the ids of the consequences that it stands for
    too, as no other finding determines these. ``symbol`` is the declaration as the linker spells it (types:
    as the source does), ``display`` as programmers do, ``part`` the field, enumerator or parameter. ``affected`` are
    the exports through which consumers meet the change. If a policy changed the impact, or the breaks of an allowed
    release need its bump of the SONAME, ``default_impact`` is that of the kind, and ``reason`` says why.
    ``suppressed_by`` names the suppression that took the finding out of the verdict, ``suppression_reason`` says why,
    and ``suppression_expires`` is its last day. ``libraries`` are those that have the finding, in a release of several;
    none where it is about their relations. An ``approved`` finding does not fail a gate. ``unapproved`` says why an
    existing approval does not hold, and ``lapse`` whether it is over or does not apply. ``review`` is what somebody
    said of it. ``consumers`` are the known programs that a break hurts, if the report was to name them.
    ``since`` is the earlier build in which the declaration became what it is, where the store knows one. ``witness`` is
    a program that shows the finding, where witnesses were asked for. ``in_c`` are the old and the new value with the
    keywords that tags have in C (``struct point*``), where that differs.
    """

    id: str
    place: str
    kind: str
    symbol: str
    display: str
    part: str
    subject: Kind
    description: str
    impact: ImpactLabel
    facet: Facet
    old_value: str | None
    new_value: str | None
    source_location: str | None
    affected: tuple[str, ...]
    affected_count: int
    consequences: tuple[ReportedFinding, ...]
    variant: str = ""
    default_impact: ImpactLabel | None = None
    reason: str = ""
    suppressed_by: str = ""
    suppression_reason: str = ""
    suppression_expires: date | None = None
    libraries: tuple[str, ...] = ()
    approved: ReportedApproval | None = None
    unapproved: str = ""
    lapse: Literal["", "expired", "void"] = ""
    review: ReportedReview | None = None
    consumers: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    since: str = ""
    witness: Witness | msgspec.UnsetType = msgspec.UNSET
    in_c: tuple[str | None, str | None] | msgspec.UnsetType = msgspec.UNSET

    @property
    def shown(self) -> tuple[str | None, str | None]:
        """The old and the new value as people read them."""
        return (self.old_value, self.new_value) if isinstance(self.in_c, msgspec.UnsetType) else self.in_c


class ChangeKind(msgspec.Struct, frozen=True):
    """A kind of change: what happens to consumers (``why``), how to avoid it (``fix``), and its default impact.

    ``kind`` is the full name, ``variant`` what stands behind its dot: circumstances that give it another impact.
    ``evidence`` is the facet that shows it, ``aliases`` are its former names and those of other tools.
    """

    kind: str
    title: str
    why: str
    fix: str
    impact: ImpactLabel
    evidence: Facet
    element: Element
    action: Action
    aliases: tuple[str, ...] = ()
    variant: str = ""


class Member(msgspec.Struct, frozen=True):
    """A field, base, vtable pointer or padding of a record, with ``offset`` and ``length`` in bits.

    ``text`` is its declaration. ``length`` is 0 if the type is not described or the array has no bound.
    """

    name: str
    text: str
    offset: int
    length: int
    role: Literal["field", "base", "vptr", "padding"]


class RecordLayout(msgspec.Struct, frozen=True):
    """The layout of a record: its ``size`` in bytes, and members and padding by offset."""

    size: int
    members: tuple[Member, ...]


class ComparedDeclaration(msgspec.Struct, frozen=True):
    """A declaration with findings, before and after, in C or C++ with offsets; ``None`` on a side that lacks it.

    Records have their layouts too.
    """

    symbol: str
    subject: Kind
    before: str | None
    after: str | None
    layout_before: RecordLayout | None = None
    layout_after: RecordLayout | None = None


Told = TypeVar("Told", Finding, ReportedFinding)


class ReportedNotChecked(msgspec.Struct, frozen=True):
    """What could not be checked on one side, why not, and a hint how to make it checkable."""

    facet: Facet
    side: Literal["old", "new", "both"]
    reason: str
    detail: str
    hint: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Hide the passwords of URLs, which verdicts stored by older versions may have."""
        hide_secrets(self, "detail")


class ReleaseLibrary(msgspec.Struct, frozen=True):
    """A library of a release of several: its sides, and what was concluded about it alone.

    ``verdict`` and ``summary`` are ``None`` for one that only one side has. One that ``moved`` is in another package,
    on which the new side depends.
    """

    name: str
    target: str
    state: Literal["compared", "added", "removed", "moved"]
    old_soname: str | None = None
    new_soname: str | None = None
    old_exports: int | None = None
    new_exports: int | None = None
    verdict: VerdictName | None = None
    summary: Summary | None = None
    evidence_gap: str = ""


class Report(msgspec.Struct, frozen=True):
    """A judged comparison. ``exit_code`` is what the command returns, ``fail_on`` the mildest impact that fails it.

    ``changes`` are the findings, worst first. ``kinds`` are the kinds of change that occur, ``declarations`` those with
    findings; both are sorted. ``advice`` says what to do about all findings together; it is not counted and has no part
    in the verdict. ``policy_file`` and ``suppression_files`` are the files that the ruling was read from, and the
    digests identify what they say; these are empty for a profile, and without suppressions. ``unequal_evidence`` names
    the facets of which one side saw less: the verdict holds for the rest, and ``evidence_gap`` says so in words.
    ``guessed`` says what rests on a guess where no header tells what is public: a verdict of ``BREAKING``, and which
    types and exports are private; else it is empty.
    If required evidence is missing, ``status`` is ``error``, and ``code``, ``error`` and ``hint`` say why. Of releases
    of several libraries, ``libraries`` has a row for each, and all other fields are about all of them.
    ``unmet_approvals`` are the identities
    of findings that are approved where the gate stands, and are not here. ``decision`` says whether the release may
    ship; ``exit_code`` is the decision's.
    """

    status: Literal["ok", "error"]
    schema: int
    verdict: VerdictName
    exit_code: int
    summary: Summary
    changes: tuple[ReportedFinding, ...]
    suppressed_count: int
    suppressed: tuple[ReportedFinding, ...]
    not_checked: tuple[ReportedNotChecked, ...]
    notes: tuple[str, ...]
    old: Side
    new: Side
    policy: str
    engine: str
    churn: Churn | None = None
    fail_on: Literal["breaking", "api_break", "risk", "never"] = "api_break"
    kinds: tuple[ChangeKind, ...] = ()
    declarations: tuple[ComparedDeclaration, ...] = ()
    policy_digest: str = ""
    suppression_digest: str = ""
    unequal_evidence: tuple[Facet, ...] = ()
    advice: tuple[ReportedFinding, ...] = ()
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()
    evidence_gap: str = ""
    guessed: str = ""
    code: str = ""
    error: str = ""
    hint: str = ""
    libraries: tuple[ReleaseLibrary, ...] = ()
    unmet_approvals: tuple[str, ...] = ()
    decision: Decision | None = None


def every(found: Iterable[Told]) -> Iterator[Told]:
    """The findings and all their consequences."""
    for each in found:
        yield each
        yield from every(each.consequences)


def verdict_of(report: Report) -> Verdict:
    """The report's verdict as the model's."""
    return Verdict[report.verdict]


def fails(report: Report, finding: ReportedFinding) -> bool:
    """Whether a finding is one of those for which the release fails."""
    return report.decision is not None and finding.id in report.decision.failing


class ReportFormat(msgspec.Struct, frozen=True):
    """What a module of ``formats/`` defines as ``FORMAT``.

    ``suffix`` is that of file names: ``-o abi.html`` means HTML. ``has_modes`` says that ``--mode`` applies. ``escape``
    is the last step; it makes control characters and commands of CI runners harmless. A format that ``is_complete`` has
    long texts whole; others cut them.
    """

    render: Callable[[Report, Style], str]
    suffix: str = ""
    has_modes: bool = False
    escape: Callable[[str], str] = visible
    is_complete: bool = False


def formats() -> tuple[str, ...]:
    """The names of all formats, sorted. No format is imported."""
    return tuple(sorted(module.name for module in iter_modules(package.__path__)))


def format_named(name: str) -> ReportFormat:
    """The format of this name. Raises :class:`UsageError`."""
    if name not in formats():
        raise UsageError(f"no report format is called {name}", f"one of: {', '.join(formats())}")
    found: ReportFormat = import_module(f"{package.__name__}.{name}").FORMAT
    return found


def formats_with_modes() -> tuple[str, ...]:
    """The formats to which ``--mode`` applies."""
    return tuple(name for name in formats() if format_named(name).has_modes)


def format_of_file(suffix: str) -> str:
    """The format of files that end in ``suffix``; text if there is none."""
    named = (name for name in formats() if suffix and format_named(name).suffix == suffix)
    return next(named, "text")
