"""Suppression specifications of libabigail: ``[suppress_function]`` and its like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from abistore.compare.policies.conditions import Condition
from abistore.compare.policies.expressions import Expression
from abistore.compare.policies.formats import abigail_conditions as abigail
from abistore.compare.policies.formats.ini import IniSection, read_sections
from abistore.compare.policies.formats.selecting import type_name
from abistore.compare.policies.suppression import Suppression
from abistore.compare.policies.vocabulary import meant
from abistore.errors import PolicyError
from abistore.model.findings import Action

Reader = Callable[[str], Condition | None]
"""Turns a key's value into what it states; ``None`` where it restricts nothing. Raises ValueError."""


def part_of(text: str) -> Expression:
    """libabigail searches: an expression may match any part of a name."""
    return Expression(text, whole=False)


def words(text: str) -> tuple[str, ...]:
    """A list of values."""
    return tuple(word.strip() for word in text.strip("{}").split(",") if word.strip())


def _not_regexp(kind: Callable[[str | Expression], Condition]) -> Reader:
    return lambda text: abigail.Not(kind(part_of(text)))


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
            raise ValueError(f"{text!r} cannot be honoured; {', '.join(known)} can")
        return known[text]

    return read


def _parameter(text: str) -> Condition:
    match = re.fullmatch(r"'(?P<index>\d{1,9})\s+(?:/(?P<regexp>.*)/|(?P<type>[^/].*?))'?", text)
    if match is None:
        raise ValueError("not of the form '0 type or '0 /regexp/")
    return abigail.ParameterIs(int(match["index"]), part_of(match["regexp"]) if match["regexp"] else match["type"])


def _changes(what: str) -> Reader:
    actions: dict[str, Action] = {
        f"{what}-subtype-change": "changed",
        f"added-{what}": "added",
        f"deleted-{what}": "removed",
    }
    return _one_of({"all": None, **{word: abigail.DoneTo(action) for word, action in actions.items()}})


SCOPE: dict[str, Reader] = {
    "file_name_regexp": lambda text: abigail.BinaryIs("file", part_of(text)),
    "file_name_not_regexp": lambda text: abigail.Not(abigail.BinaryIs("file", part_of(text))),
    "soname_regexp": lambda text: abigail.BinaryIs("soname", part_of(text)),
    "soname_not_regexp": lambda text: abigail.Not(abigail.BinaryIs("soname", part_of(text))),
}
SYMBOL: dict[str, Reader] = {
    **_named(abigail.SourceName, "name"),
    **_named(abigail.LinkerName, "symbol_name"),
    **_named(abigail.SymbolVersionIs, "symbol_version"),
}
TYPE: dict[str, Reader] = {
    **_named(abigail.SourceName, "name"),
    "name": lambda text: abigail.SourceName(type_name(text)),
    "type_kind": _one_of({sort: abigail.TypeSort(sort) for sort in ("class", "struct", "union", "enum", "typedef")}),
    "source_location_not_in": lambda text: abigail.LocatedOutside(words(text)),
    "source_location_not_regexp": lambda text: abigail.LocatedOutside(part_of(text)),
    "has_data_member": lambda text: abigail.HasMember(text),
    "has_data_member_regexp": lambda text: abigail.HasMember(part_of(text)),
    "accessed_through": _one_of(
        {"direct": abigail.AccessedDirectly(True), "reference-or-pointer": abigail.AccessedDirectly(False)}
    ),
    "changed_enumerators": lambda text: abigail.EnumeratorsChanged(words(text)),
}
FUNCTION: dict[str, Reader] = {
    **SYMBOL,
    "parameter": _parameter,
    "return_type_name": lambda text: abigail.ResultIs(text),
    "return_type_regexp": lambda text: abigail.ResultIs(part_of(text)),
    "change_kind": _changes("function"),
}
VARIABLE: dict[str, Reader] = {
    **SYMBOL,
    "type_name": lambda text: abigail.ObjectIs(text),
    "type_name_regexp": lambda text: abigail.ObjectIs(part_of(text)),
    "change_kind": _changes("variable"),
}


@dataclass(frozen=True, slots=True)
class Specification:
    """What a section may say, what it is about, and the keys of libabigail that cannot be honoured here."""

    subject: abigail.Subject | None
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
        raise PolicyError(f"{where}: cannot be honoured", "only suppress_* sections can; write a policy instead")
    if section.name not in SECTIONS:
        raise PolicyError(f"{where}: unknown section", meant(section.name, SECTIONS, ""))
    return SECTIONS[section.name]


def _conditions(section: IniSection, specification: Specification, where: str) -> Iterator[Condition]:
    readers = {**SCOPE, **specification.readers}
    selecting = [key for key in section.values if key not in ALWAYS]
    if not selecting:
        raise PolicyError(f"{where}: selects nothing in particular", f"one of: {', '.join(sorted(readers))}")
    if specification.subject is not None:
        yield abigail.About(specification.subject)
    if specification.subject == "type" and "changed_enumerators" not in selecting:
        yield abigail.EnumeratorsChanged()
    for key in selecting:
        if key in specification.refused:
            raise PolicyError(
                f"{where}: {key} cannot be honoured", "write this suppression in YAML; see docs/suppressions.md"
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
        raise PolicyError(f"{where}: {key}: {error}", "see docs/suppressions.md") from error
    except PolicyError as error:
        raise PolicyError(f"{where}: {key}: {error.message}", error.hint) from error
