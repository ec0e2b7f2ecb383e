"""The decision about a release: what changed, what its line promises, and whether it may ship.

Three words. The *verdict* says what changed. The *outcome* says whether the release may ship. A *waiver* is a break
that somebody approved. Surfaces render a :class:`Decision`; none computes a part of it. Whether a line allows a break
follows from the verdict, both SONAMEs, both labels, the version scheme and the rule of the gate alone: a
:class:`Bump` says what the changes require and what the release declares.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from abistore.errors import EvidenceMissing
from abistore.model.declarations import Facet
from abistore.model.findings import FailOn, Verdict
from abistore.model.labels import AUTO, NO_PROMISE, Promise, SonameChange, Step, Versioning, soname_change

if TYPE_CHECKING:
    from abistore.model.approvals import EarlyRemoval

Outcome: TypeAlias = Literal["pass", "fail", "undecided"]
"""Whether a release may ship: exit code 0; 2 or 4; 72 where the evidence does not suffice."""

ComparedAs: TypeAlias = Literal["first", "previous", "baseline", "release", "file"]
"""Why a release was compared with another one.

``first``: it is the first of its line, and was compared with nothing. ``previous``: the release that it follows in its
line. ``baseline``: the release at a channel. ``release``: a release that was named, even where it is the previous one.
``file``: two files.
"""

ReasonCode: TypeAlias = Literal[
    "first-release",
    "no-break",
    "tolerated",
    "allowed",
    "waived",
    "breaking",
    "source-breaking",
    "risk",
    "waiver-expired",
    "waiver-void",
    "inherited",
    "evidence-missing",
    "not-judged",
    "bound",
]
"""Why the outcome is what it is.

``tolerated``: the gate fails from a graver verdict on. ``allowed``: the line promises nothing that this step breaks, as
the SONAME or the label says so. ``waived``: all that would fail is approved. ``waiver-expired`` and ``waiver-void``: an
approval exists that does not apply any more, or to this. ``inherited``: the merge base has these breaks already.
``bound``: a rule in the store, which no option of a command makes looser.
"""

WayCode: TypeAlias = Literal["restore", "bump", "approve", "evidence", "baseline"]
"""What would make a release pass."""


class Counterpart(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a release was compared with, and why; ``channel`` is that of a baseline."""

    why: ComparedAs
    version: str = ""
    digest: str = ""
    channel: str = ""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason of an outcome, as a sentence; ``findings`` are the ids of those that it is about."""

    code: ReasonCode
    sentence: str
    findings: tuple[str, ...] = ()


class Way(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to do, after which the release passes; ``command`` does it, where a command can."""

    code: WayCode
    sentence: str
    command: str = ""


class Waiver(msgspec.Struct, frozen=True, omit_defaults=True):
    """An approval of a finding of this release: who accepted it, why, and until when.

    ``state`` is ``expired`` after its end, and ``void`` where it does not apply to this finding; ``said`` says why.
    """

    finding: str
    kind: str
    display: str
    state: Literal["approved", "expired", "void"]
    part: str = ""
    approver: str = ""
    reason: str = ""
    ticket: str = ""
    scope: str = ""
    until: str = ""
    approved: str = ""
    said: str = ""


class MissingEvidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Evidence that the decision needs and does not have, and how to get it."""

    facet: Facet | None
    sentence: str
    hint: str = ""


class HurtConsumer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A known program that a break hurts, and the ids of the findings that it meets."""

    name: str
    findings: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a release may ship, and everything that this rests on.

    ``verdict`` is ``None`` where the release was compared with nothing, or could not be judged. ``promise`` says what
    the line promises, by SONAME and label, and whether this step keeps it. ``reasons`` stand in the order of their
    weight; ``headline`` is all of it in one sentence. ``exit_code`` is that of every command that states the outcome.
    """

    library: str
    version: str
    against: Counterpart
    verdict: str | None
    outcome: Outcome
    exit_code: int
    headline: str
    reasons: tuple[Reason, ...]
    target: str = ""
    profile: str = ""
    fail_on: FailOn = "api_break"
    promise: Bump | None = None
    waivers: tuple[Waiver, ...] = ()
    missing: tuple[MissingEvidence, ...] = ()
    ways: tuple[Way, ...] = ()
    consumers: tuple[HurtConsumer, ...] = ()

    @property
    def code(self) -> ReasonCode:
        """Its first reason."""
        return self.reasons[0].code

    @property
    def failing(self) -> tuple[str, ...]:
        """The findings for which it fails."""
        return self.reasons[0].findings if self.outcome == "fail" else ()

    @property
    def waived(self) -> tuple[Waiver, ...]:
        """The waivers that apply."""
        return tuple(each for each in self.waivers if each.state == "approved")

    @property
    def waived_ids(self) -> frozenset[str]:
        """The findings that somebody approved."""
        return frozenset(each.finding for each in self.waived)


_RANKS: Final[dict[Outcome, int]] = {"pass": 0, "undecided": 1, "fail": 2}
_CODES: Final[tuple[ReasonCode, ...]] = ("first-release", "no-break")
"""Reasons of what passes without an excuse."""


def worst_decision(decisions: Iterable[Decision]) -> Decision:
    """The decision that asks most; of equal ones the first."""
    return max(decisions, key=_weight)


def outcome_over(lines: Iterable[Decision], missing: int) -> tuple[Outcome, int]:
    """The outcome over some lines, and its exit code: a line that is missing leaves open what the others pass."""
    worst = max(lines, key=_weight, default=None)
    if worst is None or (missing and worst.outcome == "pass"):
        return "undecided", EvidenceMissing.exit_code
    return worst.outcome, worst.exit_code


def best_decision(decisions: Iterable[Decision]) -> Decision:
    """The decision that asks least; of equal ones the first."""
    return min(decisions, key=_weight)


def deciding(decisions: Iterable[Decision], exit_code: int) -> Decision | None:
    """The decision that gives a call of several its exit code; ``None`` where an error does, or nothing was decided."""
    return max((each for each in decisions if each.exit_code == exit_code), key=_weight, default=None)


def _weight(decision: Decision) -> tuple[int, int, bool]:
    return _RANKS[decision.outcome], decision.exit_code, decision.code not in _CODES


AllowRule: TypeAlias = Literal["scheme", "breaking-on-soname-bump", "package", "major", "never"]
"""Which releases may break.

``scheme``: what the line promises. Programs built before must not load the release, so its SONAME was bumped; and where
semantic versions are declared for the library, its label must say so too. Without an own version scheme, sources may
break under either. ``breaking-on-soname-bump``: the SONAME decides. ``package``: the SONAME, and the name of the
distribution's package, which changes with it. ``major``: the label decides. ``never``: none may.
"""

ALLOW_RULES: Final[tuple[AllowRule, ...]] = ("scheme", "breaking-on-soname-bump", "package", "major", "never")

StepName: TypeAlias = Literal["none", "patch", "minor", "major"]

BumpReason: TypeAlias = Literal[
    "nothing-breaks",
    "soname-bumped",
    "label-major",
    "soname-and-label",
    "soname-kept",
    "soname-lowered",
    "soname-renamed",
    "soname-missing",
    "soname-unversioned",
    "label-too-small",
    "label-lowered",
    "label-promises-nothing",
    "between-libraries",
    "package-renamed",
    "package-kept",
    "package-unknown",
    "removed-too-early",
    "never",
]
"""Why a release is allowed, or is not."""

ALLOWING: Final = frozenset({"nothing-breaks", "soname-bumped", "label-major", "soname-and-label", "package-renamed"})

_KEPT: Final[dict[SonameChange, BumpReason]] = {
    "same": "soname-kept",
    "unversioned": "soname-unversioned",
    "lowered": "soname-lowered",
    "renamed": "soname-renamed",
    "added": "soname-missing",
    "lost": "soname-missing",
    "none": "soname-missing",
}


class OldAndNew(NamedTuple):
    """A fact about two releases, old and new: their labels, or their SONAMEs."""

    old: str | None
    new: str | None


class AllowPlan(msgspec.Struct, frozen=True):
    """What decides which releases may break: the rule, and the version scheme declared for the library.

    ``users`` are the known programs that another SONAME makes build again. They decide nothing, and are told. With
    ``early`` removals, no release may break that otherwise might. ``loaded_as`` are the names by which programs load
    the new libraries, too: where the old SONAME is one of them, no bump keeps programs apart. ``packages`` are the
    names of the packages of a distribution that hold them.
    """

    rule: AllowRule = "scheme"
    scheme: str = AUTO
    users: tuple[str, ...] = ()
    early: tuple[EarlyRemoval, ...] = ()
    loaded_as: tuple[str, ...] = ()
    packages: OldAndNew = OldAndNew(None, None)


class Bump(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a release is allowed, and why.

    ``required`` is the step that the changes need, ``declared`` the one that the labels say (``null`` where labels
    promise nothing). ``soname`` is what became of the SONAME, and ``soname_required`` whether it had to be bumped.
    ``allowed`` is the answer, by ``rule``, for ``reason``. ``suggested`` is the label that would declare enough; empty
    where the label does, or where labels promise nothing. ``unreleased``: the label is of a build between releases.
    ``sentence`` is all of it in words.
    """

    required: StepName
    declared: StepName | None
    soname: SonameChange
    allowed: bool
    reason: BumpReason
    rule: AllowRule
    versioning: Versioning = "unknown"
    soname_required: bool = False
    suggested: str = ""
    unreleased: bool = False
    sentence: str = ""

    @property
    def notable(self) -> bool:
        """Whether there is more to say than that nothing breaks and the label says enough."""
        said = self.reason != "nothing-breaks" or (self.suggested and not self.unreleased)
        return bool(self.sentence) and (bool(said) or self.soname not in {"none", "same", "unversioned", "added"})


FOR_SCHEME = AllowPlan()
"""The plan of a gate that says nothing else."""


def bump(
    verdict: Verdict,
    labels: OldAndNew,
    sonames: OldAndNew,
    plan: AllowPlan = FOR_SCHEME,
    *,
    adds: bool = False,
) -> Bump:
    """Whether a release with this verdict is allowed. ``adds``: it has exports that the old one has not."""
    said, soname = _promise(labels, plan.scheme), soname_change(*sonames)
    if soname == "bumped" and sonames.old in plan.loaded_as:
        soname = "same"
    required = _required(verdict, said, adds)
    small = said.unreleased and required is not Step.NONE if said.declared is None else said.declared < required
    reason = _reason(verdict, said, soname, plan)
    if plan.rule == "scheme" and reason.startswith("soname") and labels.old and labels.old == labels.new:
        reason = "label-too-small"  # another build of one release: what was announced under its label stays
    if plan.early and reason in ALLOWING and reason != "nothing-breaks":
        reason = "removed-too-early"
    return Bump(
        required=cast(StepName, required.label),
        declared=cast(StepName, said.declared.label) if said.declared is not None else None,
        soname=soname,
        allowed=reason in ALLOWING,
        reason=reason,
        rule=plan.rule,
        versioning=said.versioning,
        soname_required=verdict is Verdict.BREAKING and soname != "none",
        suggested=_next_label(labels.old, required, plan.scheme) if labels.old and small else "",
        unreleased=said.unreleased,
    )


def _promise(labels: OldAndNew, scheme: str) -> Promise:
    if not labels.old or not labels.new:
        return NO_PROMISE
    from abistore.model.versions import promise  # files have no labels

    return promise(labels.old, labels.new, scheme)


def _next_label(old: str, step: Step, scheme: str) -> str:
    from abistore.model.versions import next_label  # files have no labels

    return next_label(old, step, scheme)


def _required(verdict: Verdict, said: Promise, adds: bool) -> Step:
    if verdict is Verdict.NO_CHANGE:
        return Step.NONE
    if verdict >= Verdict.API_BREAK:
        return said.breaking
    return said.adding if adds else Step.PATCH


def _reason(verdict: Verdict, said: Promise, soname: SonameChange, plan: AllowPlan) -> BumpReason:
    if verdict < Verdict.API_BREAK:
        return "nothing-breaks"
    if plan.rule == "never":
        return "never"
    if plan.rule == "major":
        return _by_label(said)
    if plan.rule == "breaking-on-soname-bump":
        return "soname-bumped" if soname == "bumped" else _KEPT[soname]
    if plan.rule == "package":
        return _by_package(soname, plan.packages)
    return _by_scheme(verdict, said, soname, declared=plan.scheme == "semver")


def _by_package(soname: SonameChange, packages: OldAndNew) -> BumpReason:
    """A distribution installs both releases beside each other where SONAME and package have other names."""
    if soname != "bumped":
        return _KEPT[soname]
    if not all(packages):
        return "package-unknown"
    return "package-kept" if packages.old == packages.new else "package-renamed"


def _by_label(said: Promise) -> BumpReason:
    if said.may_break:
        return "label-major"
    if said.lowered:
        return "label-lowered"
    return "label-promises-nothing" if said.declared is None else "label-too-small"


def _by_scheme(verdict: Verdict, said: Promise, soname: SonameChange, *, declared: bool) -> BumpReason:
    """What the line promises: what programs load by the SONAME, and what sources find by the label."""
    bumped = soname == "bumped"
    if declared:
        if not said.may_break or (verdict is Verdict.API_BREAK and not bumped):
            return _by_label(said)
        if soname in {"none", "unversioned"}:  # no name that could keep programs apart: the label is all there is
            return "label-major"
        return "soname-and-label" if bumped else _KEPT[soname]
    if said.lowered:
        return "label-lowered"
    if bumped:
        return "soname-and-label" if said.may_break else "soname-bumped"
    if verdict is Verdict.API_BREAK and said.may_break:
        return "label-major"
    return _KEPT[soname] if verdict is Verdict.BREAKING else _by_label(said)
