"""Suppressions: findings that a project takes out of the verdict, within ranges of versions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import msgspec

from abistore.diffing.policy import Condition, FindingFacts, InNamespace, LocatedIn, SymbolIs, TypeIs
from abistore.errors import PolicyError, UsageError
from abistore.model.declarations import SELF, Name, blake2b
from abistore.model.findings import Finding, Impact, RulingFile
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import primary
from abistore.model.versions import check_version, reading, series

BOUND = re.compile(r"(?P<relation><=|>=|<|>|==|!=)\s*(?P<version>[^\s,<>=!]+)")

RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions within all bounds, in the order of the scheme (:mod:`abistore.model.versions`)."""

    bounds: tuple[tuple[str, str], ...]
    scheme: str = "auto"

    def __contains__(self, version: str) -> bool:
        """Whether a version is in the range; one that the scheme cannot read is not, nor is one of another series."""
        key = reading(version, self.scheme)
        return key is not None and all(
            series(bound, self.scheme) == series(version, self.scheme)
            and RELATIONS[relation](key, reading(bound, self.scheme))
            for relation, bound in self.bounds
        )


def parse_range(text: str, scheme: str, where: str) -> VersionRange:
    """The range that ``text`` describes. Raises :class:`PolicyError`."""
    bounds = []
    for part in text.split(","):
        match = BOUND.fullmatch(part.strip())
        if match is None:
            raise PolicyError(f"{where}: {text!r} is not a range of versions", "write bounds, e.g. '>=1.2, <2.0'")
        bounds.append((match["relation"], match["version"]))
        try:
            check_version(match["version"], scheme)
        except UsageError as error:
            raise PolicyError(f"{where}: {error.message}", error.hint) from error
    return VersionRange(tuple(bounds), scheme)


@dataclass(frozen=True, slots=True)
class Suppression:
    """Takes findings for which all conditions hold out of the verdict. ``where`` names it: its file and place.

    ``old_versions`` and ``new_versions`` limit it to comparisons of such releases.
    """

    where: str
    conditions: tuple[Condition, ...]
    label: str = ""
    reason: str = ""
    expires: date | None = None
    old_versions: VersionRange | None = None
    new_versions: VersionRange | None = None

    def __str__(self) -> str:
        return f"{self.label} ({self.where})" if self.label else self.where

    def covers(self, old: str | None, new: str | None) -> bool:
        """Whether it is meant for a comparison of these two versions; one without a version is in no range."""
        return all(
            wanted is None or (version is not None and version in wanted)
            for wanted, version in ((self.old_versions, old), (self.new_versions, new))
        )

    def matches(self, facts: FindingFacts) -> bool:
        """Whether it is about this finding, and hides no break that public code leads to."""
        return self.is_about(facts) and not self.led_to_by(facts)

    def is_about(self, facts: FindingFacts) -> bool:
        """Whether its conditions hold."""
        return all(condition.holds(facts) for condition in self.conditions)

    def led_to_by(self, facts: FindingFacts) -> tuple[Name, ...]:
        """The public declarations outside of its namespaces and files that compile a break into programs.

        That a namespace is internal says that nobody names what stands in it. Programs have it all the same.
        """
        places = [each for each in self.conditions if isinstance(each, InNamespace | LocatedIn)]
        if not places or facts.rule.impact is not Impact.BREAKING:
            return ()
        return tuple(each for each in facts.reached_by if not all(one.holds(facts.at(each)) for one in places))


@dataclass(frozen=True)
class Suppressions:
    """The entries that hold today, in order: the first that matches a finding takes it. ``expired`` ones do not.

    ``files`` are what they were read from.
    """

    entries: tuple[Suppression, ...] = ()
    expired: tuple[Suppression, ...] = ()
    files: tuple[RulingFile, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries or self.expired)

    def between(self, old: str | None, new: str | None) -> Suppressions:
        """Those that are meant for a comparison of these two versions."""
        if all(each.old_versions is None is each.new_versions for each in self.entries):
            return self
        return replace(self, entries=tuple(each for each in self.entries if each.covers(old, new)))

    @property
    def digest(self) -> str:
        """What they say, for the key of stored verdicts; empty where there are none."""
        if not self:
            return ""
        return blake2b(repr((self.entries, self.expired)).encode(), digest_size=8).hexdigest()

    def split(self, found: Sequence[FindingFacts]) -> tuple[list[Finding], list[Finding], set[Suppression]]:
        """The findings that remain, those that are suppressed, and the entries that did it.

        With a suppressed change goes what follows from suppressed ones alone for the same declaration: moves and sizes
        by the rules of layout, and its other constructors. All else remains.
        """
        taken = {index: entry for index, facts in enumerate(found) if (entry := self._match(facts))}
        taken |= _following(found, taken)
        kept = [facts.finding for index, facts in enumerate(found) if index not in taken]
        suppressed = [_suppressed(found[index].finding, taken[index]) for index in sorted(taken)]
        return kept, suppressed, set(taken.values())

    def overruled(self, found: Iterable[FindingFacts]) -> dict[Suppression, str]:
        """The entries that would hide breaks that public code leads to, each with a word on the first."""
        told: dict[Suppression, str] = {}
        for facts in found if any(map(_is_of_places, self.entries)) else ():
            for entry in self.entries:
                if entry not in told and entry.is_about(facts) and (users := entry.led_to_by(facts)):
                    told[entry] = f"{facts.qualified}, which is compiled into programs by {_called(users)}"
        return told

    def notes(self, used: set[Suppression], overruled: Mapping[Suppression, str]) -> Iterator[str]:
        """What their owner should know: entries that expired, that matched nothing, or that hide nothing of a break."""
        for entry, what in overruled.items():
            yield f"suppression {entry} does not cover {what}: name the type or symbol itself to accept the break"
        for entry in self.expired:
            yield f"suppression {entry} expired on {entry.expires} and is ignored"
        for entry in self.entries:
            if entry not in used and entry not in overruled:
                yield f"suppression {entry} matched nothing"

    def _match(self, facts: FindingFacts) -> Suppression | None:
        own = self._match_own(facts)
        return own if own is not None or facts.finding.name != SELF else self._match_each(facts)

    def _match_each(self, facts: FindingFacts) -> Suppression | None:
        """Of one finding about many exports: the entry that takes the first, if there is one for each of them."""
        found: Suppression | None = None
        for name in facts.finding.affected:
            each = self._match_own(facts.about(name))
            if each is None:
                return None
            found = found or each
        return found

    def _match_own(self, facts: FindingFacts) -> Suppression | None:
        numbers = set(self._general)
        for name in (*facts.symbols, *facts.types):
            numbers.update(self._named.get(name, ()))
        matching = (self.entries[number] for number in sorted(numbers) if self.entries[number].matches(facts))
        return next(matching, None)

    @cached_property
    def _named(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            for name in _names(entry):
                found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _general(self) -> list[int]:
        return [number for number, entry in enumerate(self.entries) if not _names(entry)]


def _is_of_places(entry: Suppression) -> bool:
    return any(isinstance(each, InNamespace | LocatedIn) for each in entry.conditions)


def _called(users: Sequence[Name]) -> str:
    """Public declarations for people: the first, and how many more there are."""
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    return demangle(users[0].spelling) + more


def _suppressed(finding: Finding, entry: Suppression) -> Finding:
    return msgspec.structs.replace(
        finding, suppressed_by=str(entry), suppression_reason=entry.reason, suppression_expires=entry.expires
    )


def _names(entry: Suppression) -> tuple[str, ...]:
    return next((each.names for each in entry.conditions if isinstance(each, SymbolIs | TypeIs)), ())


def _following(found: Sequence[FindingFacts], taken: dict[int, Suppression]) -> dict[int, Suppression]:
    """What goes with the suppressed findings."""
    if not taken:
        return {}
    firsts = {(found[index].finding.kind, found[index].finding.name.spelling): index for index in taken}
    followers: dict[int, Suppression] = {}
    effects: list[int] = []
    for index, facts in enumerate(found):
        own, first_symbol = facts.finding.name.spelling, primary(facts.finding.name.spelling)
        first = firsts.get((facts.finding.kind, first_symbol)) if first_symbol != own else None
        if index not in taken and first is not None:
            followers[index] = taken[first]
        elif index not in taken and facts.rule.effect:
            effects.append(index)
    return followers | (_explained(effects, found, taken) if effects else {})


def _explained(
    effects: Iterable[int], found: Sequence[FindingFacts], taken: dict[int, Suppression]
) -> dict[int, Suppression]:
    """The effects that follow from the suppressed findings about the same declaration, and from nothing else."""
    from abistore.diffing.following import Following  # few changes are suppressed

    suppressed = sorted(taken)
    of: dict[Name, list[int]] = {}
    for place, index in enumerate(suppressed):
        of.setdefault(found[index].finding.name, []).append(place)
    rules = {facts.finding.kind: facts.rule for facts in found}
    findings = [found[index].finding for index in suppressed]
    following = Following(findings, of, rules, found[0].context, embedded=False)
    explained: dict[int, Suppression] = {}
    for index in effects:
        facts = found[index]
        names = (facts.finding.name, *(Name("record", each) for each in facts.types))
        causes = [place for name in names for place in of.get(name, ()) if not rules[findings[place].kind].effect]
        if causes and following.relation(facts.finding) in ("follows", "undetermined"):
            explained[index] = taken[suppressed[causes[0]]]
    return explained


NOTHING = Suppressions()
"""No suppressions."""
