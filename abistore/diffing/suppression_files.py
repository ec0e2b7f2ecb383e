"""Suppression files of abistore, ABICC and libabigail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic import Field

from abistore.diffing.policy import (
    Condition,
    Expression,
    FindingFacts,
    InNamespace,
    LocatedIn,
    OfCategory,
    OfKind,
    SymbolIs,
    SymbolMatches,
    TypeIs,
    TypeMatches,
    glob,
    meant,
)
from abistore.diffing.policy_documents import (
    MOST_ENTRIES,
    Day,
    Selecting,
    SourceFile,
    StrictDocument,
    Words,
    conditions_of,
    is_over,
    read_source,
    read_yaml,
    type_name,
)
from abistore.diffing.suppression import Suppression, Suppressions, VersionRange, parse_range
from abistore.errors import PolicyError
from abistore.model.declarations import SELF
from abistore.model.findings import Action
from abistore.model.labels import check_not_blank
from abistore.model.names.qualified import normal_name
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import MEMBER
from abistore.model.shapes import Enum, Function, Library, Record, Symbol, TypeRef, Variable
from abistore.urls import masked

SECTION_LINE = re.compile(r"\[\s*(?P<name>\w+)\s*\]")
PROPERTY = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>.*)", re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)[#;].*$")


@dataclass
class IniSection:
    """One section; sections may repeat. ``line`` is where it begins."""

    name: str
    line: int
    values: dict[str, str] = field(default_factory=dict)


def read_sections(path: Path, text: str) -> list[IniSection]:
    """The sections of a file, in order. ``\\\\`` stands for one backslash. Raises :class:`PolicyError`."""
    found: list[IniSection] = []
    for number, line in _lines(text):
        if match := SECTION_LINE.fullmatch(line):
            found.append(IniSection(match["name"], number))
            if len(found) > MOST_ENTRIES:
                raise PolicyError(f"{path}: line {number}: more than {MOST_ENTRIES:,} sections", "split the file")
            continue
        match = PROPERTY.fullmatch(line)
        if match is None or not found:
            what = "neither [section] nor key = value" if match is None else "a key before any [section]"
            raise PolicyError(f"{path}: line {number}: {what}", "see docs/questions/suppressions.md")
        values = found[-1].values
        if match["key"] in values:
            raise PolicyError(f"{path}: line {number}: {match['key']} is given twice", "write a second section")
        if not match["value"]:
            raise PolicyError(f"{path}: line {number}: {match['key']} is empty", "give it a value")
        values[match["key"]] = match["value"].replace("\\\\", "\\")
    return found


def _lines(text: str) -> list[tuple[int, str]]:
    """The lines that say something, with their numbers; one that ends with a backslash goes on in the next."""
    found: list[tuple[int, str]] = []
    pending, start = "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        said = (COMMENT.sub("", line) if "#" in line or ";" in line else line).strip()
        start = start if pending else number
        if said.endswith("\\") and not said.endswith("\\\\"):
            pending += said[:-1].rstrip() + " "
            continue
        if pending + said:
            found.append((start, pending + said))
        pending = ""
    return found


Listed: TypeAlias = Literal["symbols", "types"]
"""What a skip list names; the files do not tell."""


def read_skip_list(path: Path, text: str, listed: Listed) -> Iterator[Suppression]:
    """The entries of a skip list (``-skip-symbols``, ``-skip-types``). Raises :class:`PolicyError`.

    ``*`` stands for any characters, ``#`` begins a comment line. A symbol version (``name@@VER``) is left out: the
    list skips a symbol in all of its versions.
    """
    entries = 0
    for number, line in enumerate(text.splitlines(), 1):
        name = line.strip()
        if name and not name.startswith("#"):
            entries += 1
            if entries > MOST_ENTRIES:
                raise PolicyError(f"{path}: line {number}: more than {MOST_ENTRIES:,} names", "split the list")
            if not name.isprintable():
                raise PolicyError(f"{path}: line {number}: not a name", "write one name a line")
            where = f"{path.name}, line {number}"
            yield Suppression(where, (_abicc_condition(name, listed),), reason=f"on the skip list {path.name}")


def _abicc_condition(name: str, listed: Listed) -> Condition:
    if listed == "types":
        return TypeMatches((_anything(name),)) if "*" in name else TypeIs((type_name(name),))
    name = name.partition("@")[0]
    return SymbolMatches((_anything(name),)) if "*" in name and "operator*" not in name else SymbolIs((name,))


def _anything(name: str) -> Expression:
    return glob(name.replace("*", "**"), "\n")


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


Reader = Callable[[str], Condition | None]
"""Turns a key's value into what it states; ``None`` where it restricts nothing. Raises ValueError."""


def part_of(text: str) -> Expression:
    """libabigail searches: an expression may match any part of a name."""
    return Expression(text, whole=False)


def words(text: str) -> tuple[str, ...]:
    """A list of values."""
    return tuple(word.strip() for word in text.strip("{}").split(",") if word.strip())


def _not_regexp(kind: Callable[[str | Expression], Condition]) -> Reader:
    return lambda text: Not(kind(part_of(text)))


def _named(kind: Callable[[str | Expression], Condition], key: str) -> dict[str, Reader]:
    """``key``, ``key_regexp`` and ``key_not_regexp`` about one kind of name."""
    return {
        key: lambda text: kind(text),
        f"{key}_regexp": lambda text: kind(part_of(text)),
        f"{key}_not_regexp": _not_regexp(kind),
    }


def _one_of(known: Mapping[str, Condition | None]) -> Reader:
    def read(text: str) -> Condition | None:
        if text not in known:
            raise ValueError(f"{text!r} is not supported; use {', '.join(known)}")
        return known[text]

    return read


def _parameter(text: str) -> Condition:
    match = re.fullmatch(r"'(?P<index>\d{1,9})\s+(?:/(?P<regexp>.*)/|(?P<type>[^/].*?))'?", text)
    if match is None:
        raise ValueError("not of the form '0 type or '0 /regexp/")
    return ParameterIs(int(match["index"]), part_of(match["regexp"]) if match["regexp"] else match["type"])


def _changes(what: str) -> Reader:
    actions: dict[str, Action] = {
        f"{what}-subtype-change": "changed",
        f"added-{what}": "added",
        f"deleted-{what}": "removed",
    }
    return _one_of({"all": None, **{word: DoneTo(action) for word, action in actions.items()}})


SCOPE: dict[str, Reader] = {
    "file_name_regexp": lambda text: BinaryIs("file", part_of(text)),
    "file_name_not_regexp": lambda text: Not(BinaryIs("file", part_of(text))),
    "soname_regexp": lambda text: BinaryIs("soname", part_of(text)),
    "soname_not_regexp": lambda text: Not(BinaryIs("soname", part_of(text))),
}
SYMBOL: dict[str, Reader] = {
    **_named(SourceName, "name"),
    **_named(LinkerName, "symbol_name"),
    **_named(SymbolVersionIs, "symbol_version"),
}
TYPE: dict[str, Reader] = {
    **_named(SourceName, "name"),
    "name": lambda text: SourceName(type_name(text)),
    "type_kind": _one_of({sort: TypeSort(sort) for sort in ("class", "struct", "union", "enum", "typedef")}),
    "source_location_not_in": lambda text: LocatedOutside(words(text)),
    "source_location_not_regexp": lambda text: LocatedOutside(part_of(text)),
    "has_data_member": lambda text: HasMember(text),
    "has_data_member_regexp": lambda text: HasMember(part_of(text)),
    "accessed_through": _one_of({"direct": AccessedDirectly(True), "reference-or-pointer": AccessedDirectly(False)}),
    "changed_enumerators": lambda text: EnumeratorsChanged(words(text)),
}
FUNCTION: dict[str, Reader] = {
    **SYMBOL,
    "parameter": _parameter,
    "return_type_name": lambda text: ResultIs(text),
    "return_type_regexp": lambda text: ResultIs(part_of(text)),
    "change_kind": _changes("function"),
}
VARIABLE: dict[str, Reader] = {
    **SYMBOL,
    "type_name": lambda text: ObjectIs(text),
    "type_name_regexp": lambda text: ObjectIs(part_of(text)),
    "change_kind": _changes("variable"),
}


@dataclass(frozen=True, slots=True)
class Specification:
    """What a section may say, what it is about, and the keys of libabigail that cannot be honoured here."""

    subject: Subject | None
    readers: Mapping[str, Reader]
    refused: tuple[str, ...] = ()


SECTIONS = {
    "suppress_type": Specification(
        "type",
        TYPE,
        (
            "has_data_member_inserted_at",
            "has_data_member_inserted_between",
            "has_data_members_inserted_between",
            "has_size_change",
            "has_strict_flexible_array_data_member_conversion",
            "changed_enumerators_regexp",
        ),
    ),
    "suppress_function": Specification("function", FUNCTION, ("allow_other_aliases",)),
    "suppress_variable": Specification("variable", VARIABLE),
    "suppress_file": Specification(None, {}),
}
REFUSED = ("allow_type",)
ALWAYS = ("label", "drop", "drop_artifact")


def read_specifications(path: Path, text: str) -> Iterator[Suppression]:
    """The entries of an INI file. Raises :class:`PolicyError` for what is unknown and for what cannot be honoured."""
    for section in read_sections(path, text):
        place = f"line {section.line} [{section.name}]"
        where = f"{path}: {place}"
        label = section.values.get("label", "")
        conditions = tuple(_conditions(section, _specification(section, where), where))
        yield Suppression(f"{path.name}, {place}", conditions, label, f"listed in {path.name}")


def _specification(section: IniSection, where: str) -> Specification:
    if section.name in REFUSED:
        raise PolicyError(f"{where}: not supported", "only suppress_* sections are supported; write a policy instead")
    if section.name not in SECTIONS:
        raise PolicyError(f"{where}: unknown section", meant(section.name, SECTIONS, ""))
    return SECTIONS[section.name]


def _conditions(section: IniSection, specification: Specification, where: str) -> Iterator[Condition]:
    readers = {**SCOPE, **specification.readers}
    selecting = [key for key in section.values if key not in ALWAYS]
    if not selecting:
        raise PolicyError(f"{where}: selects nothing", f"one of: {', '.join(sorted(readers))}")
    if specification.subject is not None:
        yield About(specification.subject)
    if specification.subject == "type" and "changed_enumerators" not in selecting:
        yield EnumeratorsChanged()
    for key in selecting:
        if key in specification.refused:
            raise PolicyError(
                f"{where}: {key} is not supported", "write this suppression in YAML; see docs/questions/suppressions.md"
            )
        if key not in readers:
            raise PolicyError(f"{where}: unknown key {key!r}", meant(key, [*readers, *ALWAYS], ""))
        condition = _condition(readers[key], key, section.values[key], where)
        if condition is not None:
            yield condition


def _condition(reader: Reader, key: str, value: str, where: str) -> Condition | None:
    try:
        return reader(value)
    except ValueError as error:
        raise PolicyError(f"{where}: {key}: {error}", "see docs/questions/suppressions.md") from error
    except PolicyError as error:
        raise PolicyError(f"{where}: {key}: {error.message}", error.hint) from error


_UNLIKELY: Final = ("q7zx", "k2::w9", "k2::V5::w9(int)", f"{MEMBER}2k22w9Ev", "t5.h", "j8.h", "h4/p1/m3.cpp")
"""Names of symbols, types, namespaces and files that have nothing in common."""

_MOST: Final = 1
"""How many of them an expression may match that selects something."""


def selects_declarations(entry: Suppression) -> bool:
    """Whether one of its conditions names declarations, or where they stand; a kind of change names none."""
    return any(map(_selects, entry.conditions))


def _selects(condition: Condition) -> bool:
    match condition:
        case OfKind() | OfCategory() | Not() | About() | DoneTo() | BinaryIs() | TypeSort() | AccessedDirectly():
            return False
        case SymbolMatches(expressions=found) | TypeMatches(expressions=found):
            return _narrow(found)
        case InNamespace(patterns=found) | LocatedIn(patterns=found):
            return _narrow(found)
        case EnumeratorsChanged(names=names):
            return bool(names)
        case _:
            wanted = getattr(condition, "wanted", None)
            return not isinstance(wanted, Expression) or _narrow((wanted,))


def _narrow(expressions: Iterable[Expression]) -> bool:
    return all(sum(map(each.matches, _UNLIKELY)) <= _MOST for each in expressions)


class SuppressionEntry(Selecting):
    """One suppression."""

    source_location: Words = Field(
        (), description="Globs of the declaring files; one without a slash matches in any folder."
    )
    label: str = Field("", description="A name for this entry.")
    reason: str = Field("", description="The reason for accepting the change. An entry without it is an error.")
    expires: Day | None = Field(None, description="The last valid date, e.g. 2027-01-31.")
    old_versions: str = Field("", description="Only for comparisons with old releases in this range: '>=1.2, <2.0'.")
    new_versions: str = Field("", description="Only for new releases in this range.")


class SuppressionDocument(StrictDocument):
    """A file of suppressions."""

    suppressions: tuple[SuppressionEntry, ...] = Field(
        description="In order: the first entry that matches a finding applies."
    )


def read_suppressions(source: SourceFile, scheme: str) -> Iterator[Suppression]:
    """The entries of a YAML file; ``scheme`` orders the versions of their ranges. Raises :class:`PolicyError`."""
    path = source.path
    for number, entry in enumerate(read_yaml(source, SuppressionDocument).suppressions, 1):
        where = f"{path}: suppressions, entry {number}"
        yield Suppression(
            where=f"{path.name}, entry {number}",
            conditions=conditions_of(entry, where, entry.source_location),
            label=masked(entry.label.strip()),
            reason=masked(entry.reason.strip()),
            expires=entry.expires,
            old_versions=_range(entry.old_versions, scheme, f"{where}, old_versions"),
            new_versions=_range(entry.new_versions, scheme, f"{where}, new_versions"),
        )


def _range(text: str, scheme: str, where: str) -> VersionRange | None:
    return parse_range(text, scheme, where) if text else None


YAML = frozenset({".yaml", ".yml"})
SECTION = re.compile(r"\s*\[\s*\w+\s*\]")
"""What the first line of an INI file that says something begins with."""

PREFIXES: dict[str, Listed] = {"skip-symbols:": "symbols", "skip-types:": "types"}
NAMED = re.compile(r"skip[-_]?(symbols|types)")


def load(
    words: Sequence[str], *, scheme: str, today: date, strict: bool, shipped: Sequence[SourceFile] = ()
) -> Suppressions:
    """The suppressions in files, and those that packages ship; ``scheme`` orders versions. Raises :class:`PolicyError`.

    An entry holds through the day on which it expires. In strict mode an expired entry is an error, and so is one
    without a reason, and one that selects no declaration.
    """
    listed = [*(_source(word) for word in words), *((each, None) for each in shipped)]
    entries = [entry for source, form in listed for entry in _entries(source, form, scheme)]
    expired = tuple(entry for entry in entries if is_over(entry.expires, today))
    if strict:
        _insist(entries, expired)
    holding = tuple(entry for entry in entries if not is_over(entry.expires, today))
    return Suppressions(holding, expired, tuple(source.file for source, _ in listed))


def _insist(entries: Sequence[Suppression], expired: Sequence[Suppression]) -> None:
    if expired:
        raise PolicyError(
            f"suppression {expired[0]} expired on {expired[0].expires}{_more(expired)}",
            "fix the hidden change, or extend the suppression after a review",
        )
    broad = [entry for entry in entries if not selects_declarations(entry)]
    if broad:
        raise PolicyError(
            f"suppression {broad[0]} selects no declaration{_more(broad)}",
            "name a symbol, a type, a member, a namespace or files; otherwise it hides changes that nobody reviewed",
        )
    insist_on_reasons(entries)


def insist_on_reasons(entries: Sequence[Suppression]) -> None:
    """Raise :class:`PolicyError` where a suppression says not why: nobody has accepted anything then."""
    unexplained = [entry for entry in entries if not entry.reason]
    if unexplained:
        raise PolicyError(
            f"suppression {unexplained[0]} gives no reason{_more(unexplained)}",
            "review it, and write the reason",
        )


def _more(entries: Sequence[Suppression]) -> str:
    return f", and {len(entries) - 1} more" if len(entries) > 1 else ""


def _source(word: str) -> tuple[SourceFile, Listed | None]:
    check_not_blank("a file of suppressions", word)
    for prefix, listed in PREFIXES.items():
        if word.startswith(prefix):
            check_not_blank(f"the file behind {prefix}", word.removeprefix(prefix))
            return read_source(Path(word.removeprefix(prefix))), listed
    return read_source(Path(word)), None


def _is_ini(text: str) -> bool:
    saying = (line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#;")
    return SECTION.match(next(saying, "")) is not None


def _entries(source: SourceFile, listed: Listed | None, scheme: str) -> Iterator[Suppression]:
    path, text = source.path, source.text
    if listed:
        return read_skip_list(path, text, listed)
    if path.suffix.lower() in YAML:
        return read_suppressions(source, scheme)
    if _is_ini(text):
        return read_specifications(path, text)
    if match := NAMED.search(path.name.lower()):
        return read_skip_list(path, text, "symbols" if match[1] == "symbols" else "types")
    raise PolicyError(
        f"{path}: no format of suppressions is recognised",
        "name YAML files *.yaml, begin INI with a [section], or pass a list as skip-symbols:FILE or skip-types:FILE",
    )
