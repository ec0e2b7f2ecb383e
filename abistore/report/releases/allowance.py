"""Whether a release is allowed, in one sentence: what it breaks, what allows that, or what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from abistore.model.findings import Verdict
from abistore.model.judging.bump import Bump, OldAndNew
from abistore.model.labels.sonames import name_word, to_bump
from abistore.model.names import Facet
from abistore.model.snapshot import Evidence, evidence_of
from abistore.model.words.counting import counted
from abistore.report.model import Report, ReportedFinding, verdict_of

if TYPE_CHECKING:
    from abistore.model.judging.deprecations import EarlyRemoval

DECLARING: tuple[Facet, ...] = ("layout", "source")

REMOVED = {"func_removed": "function", "var_removed": "variable"}
"""Kinds that are told by what they remove."""

PLACE = "place"
NAMED = 3
"""So many users are named."""


class ChangeFacts(msgspec.Struct, frozen=True):
    """What a sentence says of two releases: their labels, their SONAMEs, and what broke.

    ``breaks`` counts the findings that make the verdict; ``removed`` says what they remove if that is all they do.
    ``users`` are the known programs that use the library, ``early`` what goes before its window opens. ``checked``: the
    declarations of both were compared, and all of them.
    """

    labels: OldAndNew
    sonames: OldAndNew
    verdict: Verdict
    breaks: int = 0
    removed: str = ""
    library: str = ""
    users: tuple[str, ...] = ()
    early: tuple[EarlyRemoval, ...] = ()
    checked: bool = False


def facts_of(report: Report) -> ChangeFacts:
    """The facts of a report."""
    verdict = verdict_of(report)
    worst = [each for each in report.changes if each.impact == verdict.name.lower()]
    return ChangeFacts(
        OldAndNew(report.old.version, report.new.version),
        OldAndNew(report.old.soname, report.new.soname),
        verdict,
        len(worst),
        _removed(worst),
        checked=is_checked(report),
    )


def is_checked(report: Report) -> bool:
    """Whether all declarations of both sides were compared, so that advice may rest on that."""
    left = {each.facet for each in report.not_checked}
    return not whole_facets(report.old.evidence, report.new.evidence) <= left


def whole_facets(old: Sequence[Evidence], new: Sequence[Evidence]) -> frozenset[Facet]:
    """Which of debug information and headers show all declarations of both sides."""
    return frozenset(each for each in DECLARING if all(evidence_of(side, each).is_whole for side in (old, new)))


def _removed(worst: Sequence[ReportedFinding]) -> str:
    words = {REMOVED.get(each.kind) for each in worst}
    if len(words) != 1 or not (word := words.pop()):
        return ""
    return counted(len(worst), word)


def in_words(bump: Bump, facts: ChangeFacts) -> Bump:
    """The answer with its sentence; without one if neither labels nor SONAMEs tell releases apart."""
    known = facts.labels.old and facts.labels.new and facts.labels.old != facts.labels.new
    if not known and bump.soname in {"same", "none", "unversioned"}:
        return bump
    return replace(bump, sentence=_allowed(bump, facts) if bump.allowed else _refused(bump, facts))


def _allowed(bump: Bump, facts: ChangeFacts) -> str:
    old, new = _sides(facts)
    named = _soname_step(facts)
    match bump.reason:
        case "nothing-breaks":
            return _compatible(bump, facts)
        case "label-major":
            why = f"its label declares a release that may break ({old} to {new})"
        case _:
            why = (
                f"{named}{f', and its label declares it ({old} to {new})' if bump.reason == 'soname-and-label' else ''}"
            )
    cure = f"; semantic versions would call it {bump.suggested}" if bump.suggested and not bump.unreleased else ""
    ready = f"; the next release must be {bump.suggested}" if bump.suggested and bump.unreleased else ""
    return f"{_change(facts)}; that is allowed, {why}{cure}{ready}"


def _compatible(bump: Bump, facts: ChangeFacts) -> str:
    old, new = _sides(facts)
    if bump.soname == "bumped":
        word = name_word(facts.sonames.new or "")
        keep = f"; if nothing else needs the new {word}, keep the old one" if facts.checked else ""
        extent = "" if facts.checked else ", as far as that could be checked"
        return (
            f"nothing was found that {new} breaks of {old}{extent}, and {_soname_step(facts)}: every program must be "
            f"rebuilt{_users(facts)}{keep}"
        )
    if bump.suggested and bump.required != "patch":
        call = "the next release must be" if bump.unreleased else "call it"
        step = "" if bump.versioning == "libtool" else f", a {bump.required} release"  # these labels have no such steps
        return f"{new} breaks nothing of {old}, and adds to it: {call} {bump.suggested}{step}"
    if bump.soname in {"renamed", "lowered", "lost"}:
        return f"{new} breaks nothing of {old}, but {_soname_step(facts)}: programs go on asking for the old name"
    return f"{new} breaks nothing of {old}"


def _users(facts: ChangeFacts) -> str:
    """``, 5 known ones among them (app, lister, packer and 2 more)``."""
    users = facts.users
    if not users:
        return ""
    more = f" and {len(users) - NAMED} more" if len(users) > NAMED else ""
    return f", {len(users)} known {'one' if len(users) == 1 else 'ones'} among them ({', '.join(users[:NAMED])}{more})"


def _refused(bump: Bump, facts: ChangeFacts) -> str:
    name = facts.sonames.new or facts.sonames.old or ""
    word, change = name_word(name), _change(facts)
    call = f"the next release must be {bump.suggested}" if bump.unreleased else f"call it {bump.suggested}"
    label = call if bump.suggested else ""
    raised = " and ".join(filter(None, (label, to_bump(name))))
    back = f"restore {_what(facts)}"
    either = _restore_first if bump.declared == "patch" else _either  # who ships a mend did not mean to break
    match bump.reason:
        case "package-kept":
            return f"{change}, and the package kept its name, on which others depend: rename it with the SONAME"
        case "package-unknown":
            return f"{change}, and which packages hold it is not known: compare the packages"
        case "between-libraries":
            return f"{change}: its libraries do not fit each other, which no bump mends"
        case "removed-too-early":
            return f"{change}, and {_early(facts.early)}: restore what went too early"
        case "never":
            return f"{change}, and the gate allows no break: {back}"
        case "label-lowered":
            return f"{change}, and has the lower label: compare the older release with the newer one"
        case "label-promises-nothing":
            how = f"{bump.versioning} labels" if bump.versioning in {"calendar", "serial"} else "these labels"
            enough = bump.rule == "major" or (label and not bump.soname_required)  # sources find either
            return f"{change}, and {how} promise nothing: {either(label if enough else raised, back)}"
        case "label-too-small":
            return f"{change}, and its label declares no release that may break: {either(label, back)}"
        case "soname-kept":
            return f"{change} under the same {word}: {either(raised, back)}"
        case "soname-unversioned":
            said = f"the {word} {facts.sonames.new}, which has no version"
            return f"{change} under {said}: {either(f'give it a {word} with one', back)}"
        case "soname-missing":
            named = "" if any(facts.sonames) else f"give it a {word}"
            return f"{change}, and {_nameless(facts)}: {either(' and '.join(filter(None, (label, named))), back)}"
        case _:
            return f"{change}, and {_soname_step(facts)}, which is no bump: {either(raised, back)}"


def _early(removals: Sequence[EarlyRemoval]) -> str:
    """``old() was never deprecated, older() may go in 2.2.0 (deprecated since 1.4.0) and 3 more``."""
    more = f" and {len(removals) - NAMED} more" if len(removals) > NAMED else ""
    return f"{', '.join(map(_too_early, removals[:NAMED]))}{more}"


def _too_early(removal: EarlyRemoval) -> str:
    if removal.since and removal.removable:
        return f"{removal.display} may go in {removal.removable} (deprecated since {removal.since})"
    if removal.since:
        return f"{removal.display} is deprecated since {removal.since}, whose label opens no window"
    return f"{removal.display} was never deprecated"


def _nameless(facts: ChangeFacts) -> str:
    if any(facts.sonames):
        return _soname_step(facts)
    return "no SONAME keeps programs that were built before on the old release"


def _either(cure: str, back: str) -> str:
    return f"{cure}, or {back}" if cure else back


def _restore_first(cure: str, back: str) -> str:
    return f"{back}, or {cure}" if cure else back


def _what(facts: ChangeFacts) -> str:
    return "it" if facts.breaks == 1 else "them" if facts.removed else "what broke"


def _change(facts: ChangeFacts) -> str:
    """``1.10.0 removes 2 functions``, ``2.0.0 breaks 1.9.4 in 3 places``."""
    old, new = _sides(facts)
    where = f" of {facts.library}" if facts.library else ""
    if facts.removed:
        return f"{new} removes {facts.removed}{where}"
    places = f" in {counted(facts.breaks, PLACE)}" if facts.breaks else ""
    sources = "sources for " if facts.verdict is Verdict.API_BREAK else ""
    return f"{new} breaks {sources}{old}{places}{where}"


def _sides(facts: ChangeFacts) -> tuple[str, str]:
    old, new = facts.labels
    return (old, new) if old and new else ("the old library", "the new one")


def _soname_step(facts: ChangeFacts) -> str:
    """``SONAME went from .1 to .2``; whole names if they differ in more than their end."""
    old, new = facts.sonames
    word = name_word(new or old or "")
    whose = f"the {word} of {facts.library}" if facts.library else word if word == "SONAME" else f"the {word}"
    if not old or not new:
        return f"{whose} {f'{old} was lost' if old else f'{new} is new'}"
    stem = old.find(".so.") + len(".so")
    if stem >= len(".so") and old[:stem] == new[:stem]:
        old, new = old[stem:], new[stem:]
    return f"{whose} went from {old} to {new}"
