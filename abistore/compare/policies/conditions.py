"""Conditions on findings: what the selecting keys of policies and suppressions mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

from abistore.compare.policies.expressions import Expression
from abistore.compare.policies.facts import FindingFacts, scopes_of
from abistore.compare.policies.vocabulary import category_of
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import entity
from abistore.model.findings import Impact


@runtime_checkable
class Condition(Protocol):
    """Something that holds for a finding or does not: a dataclass whose ``repr`` is all that it depends on.

    Digests use the ``repr``.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it holds."""
        ...


@dataclass(frozen=True, slots=True)
class OfKind:
    """The finding is of one of these kinds."""

    kinds: tuple[str, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return facts.finding.kind in self.kinds


@dataclass(frozen=True, slots=True)
class OfCategory:
    """The finding's kind is of this category."""

    category: str

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return category_of(facts.rule) == self.category


@dataclass(frozen=True, slots=True)
class SymbolIs:
    """The finding is about one of these exports: linker names, or qualified names with or without parameters."""

    names: tuple[str, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return any(name in self.names for name in facts.symbols)


@dataclass(frozen=True, slots=True)
class SymbolMatches:
    """The finding is about an export of which one of the names matches."""

    expressions: tuple[Expression, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return any(each.matches(name) for each in self.expressions for name in facts.symbols)


@dataclass(frozen=True, slots=True)
class TypeIs:
    """The finding is about one of these types, or about a vtable or typeinfo of one."""

    names: tuple[str, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return any(name in self.names for name in facts.types)


@dataclass(frozen=True, slots=True)
class TypeMatches:
    """The finding is about a type whose qualified name matches, or about a vtable or typeinfo of one."""

    expressions: tuple[Expression, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return any(each.matches(name) for each in self.expressions for name in facts.types)


@dataclass(frozen=True, slots=True)
class MemberIs:
    """The finding is about this field, enumerator, base or parameter of its declaration."""

    members: tuple[str, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return facts.finding.part in self.members


@dataclass(frozen=True, slots=True)
class InNamespace:
    """The declaration stands in one of these namespaces or classes, however deep."""

    patterns: tuple[Expression, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it does."""
        return within(facts.scopes, self.patterns)


@dataclass(frozen=True, slots=True)
class LocatedIn:
    """A file that one of the patterns matches declares it. Without that knowledge the condition does not hold."""

    patterns: tuple[Expression, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether one does."""
        return any(each.matches(file) for each in self.patterns for file in facts.files)


@dataclass(frozen=True, slots=True)
class Internal:
    """The finding weighs something, is about an internal namespace, and nothing outside of that brings it to programs.

    What a public function takes or returns by value is public, whatever its namespace is called; and so is what code in
    public headers uses.
    """

    patterns: tuple[Expression, ...]

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is internal."""
        if facts.rule.impact <= Impact.COMPATIBLE or not within(facts.scopes, self.patterns):
            return False
        users = (*facts.by_value_users, *facts.reached_by)
        return all(within(scopes_of(entity(demangle(user.spelling))), self.patterns) for user in users)


@dataclass(frozen=True, slots=True)
class Weighty:
    """The change is more than another way to write or build the same: it weighs something, or adds or removes."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        impact = facts.rule.impact
        return impact > Impact.COMPATIBLE or (impact is Impact.COMPATIBLE and facts.rule.action != "changed")


def in_words(condition: Condition) -> str:
    """A condition for people: ``of kind func_removed``."""
    name = " ".join(re.findall("[A-Z][a-z]+", type(condition).__name__)).lower()
    values = (getattr(condition, field.name) for field in fields(condition))
    return " ".join((name, *map(_value, values)))


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(str, value)) or "none"
    return in_words(value) if isinstance(value, Condition) else str(value)


def within(scopes: Iterable[str], patterns: tuple[Expression, ...]) -> bool:
    """Whether one of the scopes matches a pattern."""
    return any(pattern.matches(scope) for scope in scopes for pattern in patterns)
