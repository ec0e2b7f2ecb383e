"""Rules that are bound in the store: what the gates of a library obey, whatever they are asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from fnmatch import fnmatchcase

import msgspec

from abistore.errors import RuleConflict
from abistore.model.declarations import FACETS, Facet
from abistore.model.snapshot import hide_secrets


class Binding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is bound to the libraries that ``pattern`` matches, by whom, and why.

    ``policy`` is a profile, or the name of a policy file whose text is ``policy_text``. ``scheme`` orders the versions
    and says which of them may break. ``require`` is evidence that both sides of a comparison must have in full.
    ``since_soname``: a release must not break any earlier one of its SONAME. What is empty is as gates do it by
    default. ``withdrawn`` takes back what was bound before.
    """

    pattern: str
    reason: str
    actor: str
    bound: datetime
    policy: str = ""
    policy_text: str = ""
    scheme: str = ""
    require: tuple[Facet, ...] = ()
    since_soname: bool = False
    withdrawn: bool = False

    def __post_init__(self) -> None:
        """A reason may quote a URL with a password."""
        hide_secrets(self, "reason")

    @property
    def terms(self) -> tuple[object, ...]:
        """What it demands."""
        return self.policy, self.policy_text, self.scheme, self.require, self.since_soname, self.withdrawn

    def matches(self, library: str) -> bool:
        """Whether it holds for a library."""
        return self.pattern == library or fnmatchcase(library, self.pattern)

    @property
    def words(self) -> str:
        """What it demands in words."""
        return demanded(self)


def demanded(one: Binding | BoundRule) -> str:
    """What a rule demands in words: ``policy sdk_vendor, evidence layout``."""
    parts = (
        f"policy {one.policy}" if one.policy else "",
        f"versions by {one.scheme}" if one.scheme else "",
        f"evidence {', '.join(one.require)}" if one.require else "",
        "compatible with every release since the SONAME" if one.since_soname else "",
    )
    return ", ".join(filter(None, parts)) or "the default policy"


class BoundRule(msgspec.Struct, frozen=True):
    """All rules that hold for a library together; ``rules`` are those that it is made of."""

    rules: tuple[Binding, ...]
    policy: str = ""
    policy_text: str = ""
    scheme: str = ""
    require: tuple[Facet, ...] = ()
    since_soname: bool = False

    @property
    def sentence(self) -> str:
        """The rule as a reason of a decision: ``bound in the store: evidence layout ('lib*', by ana: shipped)``."""
        said = (f"{each.pattern!r}, by {each.actor or 'unknown'}: {each.reason}" for each in self.rules)
        return f"bound in the store: {demanded(self)} ({'; '.join(said)})"


def in_force(said: Iterable[Binding]) -> tuple[Binding, ...]:
    """The rules that hold, sorted by pattern: the last one of each that is not withdrawn."""
    last = {one.pattern: one for one in said}
    return tuple(last[pattern] for pattern in sorted(last) if not last[pattern].withdrawn)


def rule_of(said: Iterable[Binding], libraries: Iterable[str]) -> BoundRule | None:
    """What holds for some libraries together, by all rules that match one of them; ``None`` where none does.

    Raises :class:`RuleConflict` where two of them name another policy, or another scheme.
    """
    names = sorted(set(libraries))
    found = tuple(one for one in in_force(said) if any(map(one.matches, names)))
    if not found:
        return None
    first = BoundRule(found[:1], *_demands(found[0]))
    for one in found[1:]:
        demands = stricter(first, one)
        if demands is None:
            listed = " and ".join(f"{each.pattern!r} ({each.words})" for each in (*first.rules, one))
            raise RuleConflict(f"{', '.join(names)}: rules in the store contradict each other: {listed}")
        first = BoundRule((*first.rules, one), *demands)
    return first


_Demands = tuple[str, str, str, tuple[Facet, ...], bool]


def _demands(one: Binding | BoundRule) -> _Demands:
    return one.policy, one.policy_text, one.scheme, one.require, one.since_soname


def stricter(one: Binding | BoundRule, other: Binding | BoundRule) -> _Demands | None:
    """What both demand; ``None`` where they name another policy or scheme: neither of two policies is stricter."""
    policies = {(each.policy, each.policy_text) for each in (one, other) if each.policy}
    schemes = {each.scheme for each in (one, other) if each.scheme}
    if len(policies) > 1 or len(schemes) > 1:
        return None
    policy, text = next(iter(policies), ("", ""))
    require = sorted_facets((*one.require, *other.require))
    return policy, text, next(iter(schemes), ""), require, one.since_soname or other.since_soname


def sorted_facets(found: Sequence[Facet]) -> tuple[Facet, ...]:
    """Facets once each, in the order of evidence."""
    return tuple(facet for facet in FACETS if facet in found)
