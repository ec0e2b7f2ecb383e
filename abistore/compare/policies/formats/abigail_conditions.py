"""Conditions that libabigail's suppressions state and ours do not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from abistore.compare.policies.conditions import Condition
from abistore.compare.policies.expressions import Expression
from abistore.compare.policies.facts import FindingFacts
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.normal import normal_name
from abistore.model.findings import Action
from abistore.model.names import SELF
from abistore.model.shapes import Enum, Function, Record, TypeRef, Variable
from abistore.model.tables import Library, Symbol

Subject: TypeAlias = Literal["function", "variable", "type"]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold."""

    condition: Condition

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it does not."""
        return not self.condition.holds(facts)


@dataclass(frozen=True, slots=True)
class About:
    """The finding is about a function, a variable or a type."""

    subject: Subject

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return bool(facts.types) if self.subject == "type" else facts.finding.name.kind == self.subject


@dataclass(frozen=True, slots=True)
class _Wanting:
    """A condition on a text: that it is the wanted one, or matches."""

    wanted: str | Expression


class LinkerName(_Wanting):
    """The symbol, as the linker spells it, is this one or matches."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return fits(facts.finding.name.spelling, self.wanted)


class SourceName(_Wanting):
    """The qualified name, with or without parameters, is this one or matches."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return fits(facts.qualified, self.wanted) or fits(facts.demangled, self.wanted)


class SymbolVersionIs(_Wanting):
    """One side exports the symbol under a version that is this one or matches."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it does."""
        name = facts.finding.name
        shapes = (
            *facts.context.old.variants("symbol", name),
            *facts.context.new.variants("symbol", name),
        )
        return any(isinstance(each, Symbol) and fits(each.version or "", self.wanted) for each in shapes)


@dataclass(frozen=True, slots=True)
class DoneTo:
    """The finding is of a kind with this action."""

    action: Action

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return facts.rule.action == self.action


@dataclass(frozen=True, slots=True)
class BinaryIs:
    """The file name or SONAME of one side matches."""

    what: Literal["file", "soname"]
    expression: Expression

    def holds(self, facts: FindingFacts) -> bool:
        """Whether one does."""
        sides = (facts.context.old, facts.context.new)
        if self.what == "file":
            names = [side.snapshot.provenance.file for side in sides]
        else:
            shapes = [shape for side in sides for shape in side.variants("symbol", SELF)]
            names = [shape.name or "" for shape in shapes if isinstance(shape, Library)]
        return any(name and self.expression.matches(name) for name in names)


@dataclass(frozen=True, slots=True)
class TypeSort:
    """The type is a ``class`` (or struct), ``struct``, ``union``, ``enum`` or ``typedef``."""

    sort: str

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        if self.sort == "typedef":
            return facts.finding.name.kind == "alias"
        wanted = {"class", "struct"} if self.sort == "class" else {self.sort}
        sorts = {shape.sort if isinstance(shape, Record) else "enum" for shape in facts.shapes if _defined(shape)}
        return bool(sorts & wanted)


def _defined(shape: object) -> bool:
    return isinstance(shape, Record | Enum)


@dataclass(frozen=True, slots=True)
class LocatedOutside:
    """A file declares the type, and it is none of these. Without that knowledge the condition does not hold."""

    wanted: tuple[str, ...] | Expression

    def holds(self, facts: FindingFacts) -> bool:
        """Whether one does."""
        if isinstance(self.wanted, Expression):
            return bool(facts.files) and not self.wanted.matches(facts.files[0])
        return bool(facts.files) and not set(facts.files) & set(self.wanted)


class HasMember(_Wanting):
    """The old record has a data member of this name, or one that matches."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it has."""
        shapes = facts.context.old.snapshot.described(facts.finding.name)
        return any(
            fits(each.name, self.wanted) for shape in shapes if isinstance(shape, Record) for each in shape.fields
        )


@dataclass(frozen=True, slots=True)
class AccessedDirectly:
    """Exports take, return or embed the type itself; or, where ``directly`` is false, only pointers and references."""

    directly: bool

    def holds(self, facts: FindingFacts) -> bool:
        """Whether they do."""
        return facts.is_type and bool(facts.by_value_users) is self.directly


@dataclass(frozen=True, slots=True)
class EnumeratorsChanged:
    """No enumerator but these has another value: libabigail insists on their names. Other types pass without any."""

    names: tuple[str, ...] = ()

    def holds(self, facts: FindingFacts) -> bool:
        """Whether none has."""
        old, new = (
            {each.name: each.value for shape in variants if isinstance(shape, Enum) for each in shape.enumerators}
            for variants in facts.layouts
        )
        if self.names and not (old and new):
            return False
        return {name for name in old.keys() & new.keys() if old[name] != new[name]} <= set(self.names)


@dataclass(frozen=True, slots=True)
class ParameterIs:
    """The parameter at an index, ``this`` included, has this type or one whose spelling matches, on one side."""

    index: int
    wanted: str | Expression

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it has."""
        return any(isinstance(shape, Function) and self._has(shape) for shape in facts.shapes)

    def _has(self, function: Function) -> bool:
        index = self.index - (function.method is not None and not function.method.static)
        return 0 <= index < len(function.parameters) and spelled_as(function.parameters[index], self.wanted)


class ResultIs(_Wanting):
    """The function returns this type or one whose spelling matches, on one side."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it does."""
        return any(isinstance(each, Function) and spelled_as(each.result, self.wanted) for each in facts.shapes)


class ObjectIs(_Wanting):
    """The variable is of this type or of one whose spelling matches, on one side."""

    def holds(self, facts: FindingFacts) -> bool:
        """Whether it is."""
        return any(isinstance(each, Variable) and spelled_as(each.type, self.wanted) for each in facts.shapes)


def fits(text: str, wanted: str | Expression) -> bool:
    """Whether a text is the wanted one, or matches."""
    return wanted.matches(text) if isinstance(wanted, Expression) else text == wanted


def spelled_as(type: TypeRef, wanted: str | Expression) -> bool:
    """Whether a type is spelled so; keywords before names and blanks around ``*`` and ``&`` make no difference."""
    spelled = spell(type)
    if isinstance(wanted, Expression):
        return wanted.matches(spelled) or wanted.matches(_bare(spelled))
    return _bare(spelled) == _bare(wanted)


def _bare(spelled: str) -> str:
    without = re.sub(r"\b(?:struct|class|union|enum)\s+", "", spelled)
    return normal_name(re.sub(r"\s*([*&])\s*", r"\1", " ".join(without.split())))
