"""Whether a release is allowed: the bump that its changes require, the bump that it declares, and the rule between.

The answer follows from the verdict, both SONAMEs, both labels, the version scheme and the rule of the gate alone. The
verdict stays what it is: a release that may break is still BREAKING.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from abistore.model.findings import Verdict
from abistore.model.labels import AUTO, NO_PROMISE, Promise, SonameChange, Step, Versioning, soname_change

if TYPE_CHECKING:
    from abistore.model.approvals import EarlyRemoval

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
