"""Policies, their conditions and expressions, and the facts of findings that these ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields
from datetime import date
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar, Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from abistore.diffing.context import Context, Rule, load
from abistore.errors import PolicyError, UsageError
from abistore.model.declarations import TYPES, Name, blake2b
from abistore.model.findings import Finding, Impact, RulingFile
from abistore.model.kind_names import kind_of
from abistore.model.names.qualified import class_behind, demangle, entity, scope
from abistore.model.snapshot import Variants
from abistore.model.words import LOOSELY_ALIKE, close, did_you_mean

CATEGORIES = ("abi_breaking", "potential_breaking", "quality_issues", "addition", "notice")

IMPACTS = {impact.label: impact for impact in Impact}


def category_of(rule: Rule) -> str:
    """The category of a kind, which follows from its default impact, element and action.

    ``abi_breaking``: breaking; ``potential_breaking``: a source break or a risk; ``addition``: a compatible new
    declaration; ``quality_issues``: every other compatible change; ``notice``: what is not about the library's own ABI.
    """
    if rule.impact <= Impact.NOTICE:
        return "notice"
    if rule.impact is Impact.BREAKING:
        return "abi_breaking"
    if rule.impact is not Impact.COMPATIBLE:
        return "potential_breaking"
    return "addition" if rule.action == "added" and rule.element != "library" else "quality_issues"


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """Every name of a kind, aliases too, and the kinds that it stands for, by their full names.

    ``KIND`` is the plain variant alone, ``KIND.VARIANT`` that variant, and ``KIND.*`` the kind with all its variants.
    """
    found: dict[str, tuple[str, ...]] = {}
    rules = load()
    for rule in rules.values():
        names = [alias for alias in rule.aliases if alias not in rules]
        for name in (*names, f"{kind_of(rule.kind)}.*"):
            found[name] = tuple(sorted((*found.get(name, ()), rule.kind)))
    return found | {kind: (kind,) for kind in rules}


def resolve_kind(word: str, where: str) -> tuple[str, ...]:
    """The kinds that ``word`` stands for. Raises :class:`PolicyError` with what was probably meant."""
    known = kinds()
    name = word.strip().replace("-", "_")
    found = known.get(name)
    if found is None and f"{name}.*" in known:
        variants = ", ".join(known[f"{name}.*"])
        raise PolicyError(
            f"{where}: {word!r} has variants only", f"use {name}.* for all of them, or one of: {variants}"
        )
    if found is None:
        raise PolicyError(f"{where}: no kind of change named {word!r}", meant(word, known, "see `abistore changes`"))
    return found


def resolve_category(word: str, where: str) -> str:
    """The category called ``word``. Raises :class:`PolicyError`."""
    if word not in CATEGORIES:
        raise PolicyError(f"{where}: no category named {word!r}", meant(word, CATEGORIES, ""))
    return word


def meant(word: str, known: Iterable[str], otherwise: str) -> str:
    """A hint that names what ``word`` was probably meant to be; else ``otherwise``, or all that is known."""
    words = sorted(known)
    found = close(word.replace("-", "_"), words, alike=LOOSELY_ALIKE)
    return did_you_mean(found, otherwise or f"one of: {', '.join(words)}")


class FindingFacts:
    """One finding, its rule, and the two snapshots that it is about."""

    def __init__(self, finding: Finding, rule: Rule, context: Context) -> None:
        self.finding = finding
        self.rule = rule
        self.context = context

    def about(self, name: Name) -> FindingFacts:
        """The same finding about one of the declarations that it affects."""
        return FindingFacts(msgspec.structs.replace(self.finding, name=name), self.rule, self.context)

    def at(self, name: Name) -> FindingFacts:
        """The same about another declaration of the old side, with the place of that."""
        location = self.context.old.snapshot.locations.get(name)
        found = msgspec.structs.replace(self.finding, name=name, location=location)
        return FindingFacts(found, self.rule, self.context)

    @cached_property
    def is_type(self) -> bool:
        """Whether the finding is about a type, and not about an export or the library."""
        return self.finding.name.kind in TYPES

    @cached_property
    def demangled(self) -> str:
        """The declaration as a programmer calls it, with its parameters."""
        return self.finding.name.spelling if self.is_type else demangle(self.finding.name.spelling)

    @cached_property
    def qualified(self) -> str:
        """The declaration's qualified name; for a vtable or typeinfo that of its class."""
        return self.demangled if self.is_type else entity(self.demangled)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """What an export may be called: as the linker, or as a programmer does, with and without its parameters."""
        if self.is_type or not self.finding.name.spelling:
            return ()
        return tuple(dict.fromkeys((self.finding.name.spelling, self.demangled, self.qualified)))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The type that the finding is about; for a vtable, typeinfo or thunk the class that it belongs to."""
        found = self.qualified if self.is_type else class_behind(self.finding.name.spelling)
        return (found,) if found else ()

    @cached_property
    def scopes(self) -> tuple[str, ...]:
        """The namespaces and classes around the declaration, innermost first."""
        return scopes_of(self.qualified)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The file that declares it, as recorded and by its name alone; empty where that is not known."""
        location = self.finding.location
        return (location.file, PurePosixPath(location.file).name) if location else ()

    @cached_property
    def layouts(self) -> tuple[Variants, Variants]:
        """What the old and the new side say about the declaration."""
        name = self.finding.name
        return self.context.old.snapshot.described(name), self.context.new.snapshot.described(name)

    @property
    def shapes(self) -> Variants:
        """What either side says about the declaration."""
        return (*self.layouts[0], *self.layouts[1])

    @cached_property
    def reached_by(self) -> tuple[Name, ...]:
        """What the old side's headers declare that programs compile with it: code that uses it, or has its layout.

        Of a type that is also what takes or returns it by value.
        """
        name, side = self.finding.name, self.context.old
        if not self.is_type:
            return tuple(side.consumers.callers_of(name))
        declared = (each for each in self.by_value_users if side.variants("source", each))
        return tuple(sorted({*side.consumers.compilers_of(name), *declared}))

    @cached_property
    def by_value_users(self) -> tuple[Name, ...]:
        """The old side's exports through which consumers hold objects of the type itself."""
        return self.context.old.reach.exports_reaching(self.finding.name, by_value=True) if self.is_type else ()


def scopes_of(qualified: str) -> tuple[str, ...]:
    """The namespaces and classes around a qualified name, innermost first."""
    found = []
    while qualified := scope(qualified):
        found.append(qualified)
    return tuple(found)


LONGEST = 1000
"""How many characters a regular expression may have."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression. A ``whole`` one must match all of the text, another one any part of it.

    RE2 matches in time proportional to the text, so that no pattern of a foreign file can hang a comparison.
    ``written`` is what its author wrote, where that was a glob. Raises :class:`PolicyError` where the pattern is no
    expression, or too large.
    """

    pattern: str
    whole: bool = True
    written: str = ""

    def __str__(self) -> str:
        return self.written or self.pattern

    def __post_init__(self) -> None:
        _compiled(self.pattern)

    def matches(self, text: str) -> bool:
        """Whether ``text`` matches."""
        compiled = _compiled(self.pattern)
        subject = text.encode("utf-8", "replace")
        return (compiled.fullmatch(subject) if self.whole else compiled.search(subject)) is not None


def glob(pattern: str, separator: str) -> Expression:
    """A pattern in which ``*`` and ``?`` match anything but the separator, and ``**`` anything at all."""
    translated = ""
    for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
        inner = f"[^{separator}]"
        known = {"**": ".*", "*": f"{inner}*", "?": inner, "**/": "(.*/)?"}
        translated += known.get(part) or re.sub(r"([!-/:-@\[-^`{-~])", r"\\\1", part)
    return Expression(translated, written=pattern)


@cache
def _compiled(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped]  # a library of its own, for suppressions only

    if not pattern:
        raise _wrong(pattern, "it is empty")
    if len(pattern) > LONGEST:
        raise _wrong(pattern, f"longer than {LONGEST} characters")
    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        reason = error.args[0]
        raise _wrong(pattern, reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None


def _wrong(pattern: str, what: str) -> PolicyError:
    return PolicyError(
        f"regular expression {pattern[:60]!r}: {what}",
        r"RE2's syntax: * + ? | () [] {1,3} ^ $ \d \w \s, no look-around",
    )


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


SDK_VENDOR = (
    "an SDK's consumers rebuild and adapt their sources with each release; existing binaries keep running",
    {
        "enum_member_renamed": Impact.RISK,
        "param_default_value_removed": Impact.COMPATIBLE,
        "field_renamed": Impact.RISK,
        "method_access_changed": Impact.COMPATIBLE,
        "field_access_changed": Impact.COMPATIBLE,
        "removed_const_overload": Impact.COMPATIBLE,
    },
)
PLUGIN_ABI = (
    "host and plugins are built together with one toolchain and share its calling convention",
    {"calling_convention_changed": Impact.RISK},
)
LENIENT: Mapping[str, tuple[str, Mapping[str, Impact]]] = {
    "strict_abi": ("", {}),
    "sdk_vendor": SDK_VENDOR,
    "plugin_abi": PLUGIN_ABI,
}
"""The profiles: why, and the impact of kinds that are milder under each.

What is built keeps running under each of them: no profile touches what a release does to layouts, or to how objects are
passed, which follows from the class and not from the toolchain. A new name in an old place may be another thing in that
place, e.g. ``width, height`` that became ``h, w``: a rename stays a risk.
"""

PROFILES = tuple(LENIENT)


@dataclass(frozen=True, slots=True)
class Override:
    """Gives another impact to the findings for which all conditions hold. ``where`` names it in its file."""

    conditions: tuple[Condition, ...]
    impact: Impact
    reason: str
    where: str
    expires: date | None = None

    def applies(self, facts: FindingFacts) -> bool:
        """Whether it gives this finding its impact."""
        return all(condition.holds(facts) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Policy:
    """Overrides in the order of their precedence: the first that applies decides, and the kind's default without any.

    ``scheme`` is how versions are ordered in ranges. ``expired`` are overrides that no longer hold.
    Advice has no weight that a policy could move.
    """

    name: str = "strict_abi"
    base: str = "strict_abi"
    overrides: tuple[Override, ...] = ()
    scheme: str = "auto"
    expired: tuple[Override, ...] = ()
    file: RulingFile | None = None

    @property
    def digest(self) -> str:
        """What the policy says, for the key of stored verdicts; empty for a profile: the engine covers those."""
        if self.file is None:
            return ""
        said = (self.name, self.base, self.overrides, self.scheme, self.expired)
        return blake2b(repr(said).encode(), digest_size=8).hexdigest()

    def judged(self, facts: FindingFacts) -> Finding:
        """The finding with its effective impact; where that is another one, with the default and the reason."""
        finding = facts.finding
        if finding.impact is Impact.ADVICE:
            return finding
        override = next((each for each in self.overrides if each.applies(facts)), None)
        if override is None or override.impact is finding.impact:
            return finding
        return replace(finding, impact=override.impact, default_impact=finding.impact, reason=override.reason)

    def notes(self) -> Iterable[str]:
        """What its owner should know: which overrides have expired."""
        for override in self.expired:
            yield f"{override.where} of policy {self.name} expired on {override.expires} and is ignored"


def profile(name: str) -> Policy:
    """The built-in policy of this name, one of :data:`PROFILES`."""
    if name == STRICT.name:
        return STRICT

    known = kinds()
    reason, lenient = LENIENT[name]
    overrides = tuple(
        Override((OfKind(known[word]),), impact, reason, f"profile {name}") for word, impact in lenient.items()
    )
    return Policy(name, name, overrides)


STRICT = Policy()
"""The default: every kind has its own impact."""

ELEMENTS = ("functions", "variables", "types", "enums", "library")
ACTIONS = ("added", "removed", "changed")


@dataclass(frozen=True, slots=True)
class ShowOnly:
    """The wanted impacts, elements and actions; a group without any wants all. Groups must all want a finding."""

    impacts: frozenset[str]
    elements: frozenset[str]
    actions: frozenset[str]

    def shows(self, kind: str, impact: str) -> bool:
        """Whether a finding of this kind, with this effective impact, is shown."""
        rule = load().get(kind)
        if rule is None:
            return True
        wanted = ((self.impacts, impact), (self.elements, rule.element), (self.actions, rule.action))
        return all(not group or value in group for group, value in wanted)


def parse_show_only(text: str) -> ShowOnly:
    """The filter that comma-separated tokens mean (``breaking,risk,functions``). Raises :class:`UsageError`."""
    tokens = [token.strip().lower().replace("-", "_") for token in text.split(",")]
    known = (*IMPACTS, *ELEMENTS, *ACTIONS)
    for token in tokens:
        if token not in known:
            raise UsageError(f"--show-only does not know {token!r}", meant(token, known, ""))
    return ShowOnly(*(frozenset(tokens) & frozenset(group) for group in (IMPACTS, ELEMENTS, ACTIONS)))
