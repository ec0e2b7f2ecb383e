"""The selecting keys that policy files and YAML suppressions share, and the conditions that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import Field

from abistore.compare.policies.conditions import (
    Condition,
    InNamespace,
    LocatedIn,
    MemberIs,
    OfKind,
    SymbolIs,
    SymbolMatches,
    TypeIs,
    TypeMatches,
)
from abistore.compare.policies.expressions import Expression, glob
from abistore.compare.policies.formats.documents import StrictDocument, Words
from abistore.compare.policies.vocabulary import resolve_kind
from abistore.errors import PolicyError
from abistore.model.cpp_names.normal import normal_name


class Selecting(StrictDocument):
    """Which findings an entry is about: all keys that are given must hold, of the values of one key any."""

    symbol: Words = Field((), description="Exports: linker names, or qualified names with or without parameters.")
    symbol_pattern: Words = Field((), description="Regular expressions that match the whole of one of these names.")
    type: Words = Field((), description="Types by their qualified names.")
    type_pattern: Words = Field((), description="Regular expressions that match a type's whole qualified name.")
    member: Words = Field((), description="Fields, enumerators, bases or parameters of the declaration.")
    namespace: Words = Field((), description="Namespaces or classes around it; * is any name, ** any path.")
    change_kind: Words = Field((), description="Kinds of change, or their aliases.")


def conditions_of(entry: Selecting, where: str, files: Words) -> tuple[Condition, ...]:
    """The conditions that an entry states; ``files`` are globs of the files that declare. Raises PolicyError."""
    try:
        found = tuple(_conditions(entry, where, files))
    except PolicyError as error:
        raise PolicyError(_placed(where, error.message), error.hint) from error
    if not found:
        raise PolicyError(
            f"{where}: selects nothing in particular", "give a symbol, a type, a namespace or a change_kind"
        )
    return found


def _placed(where: str, message: str) -> str:
    return message if message.startswith(where) else f"{where}: {message}"


def _conditions(entry: Selecting, where: str, files: Words) -> Iterator[Condition]:
    for key, values in ((key, value) for key, value in entry if isinstance(value, tuple)):
        if any(not value.strip() for value in values):
            raise PolicyError(f"{where}: {key} is empty", "leave the key out, or give it a value")
    if entry.change_kind:
        kinds = {kind for word in entry.change_kind for kind in resolve_kind(word, where)}
        yield OfKind(tuple(sorted(kinds)))
    if entry.symbol:
        yield SymbolIs(entry.symbol)
    if entry.type:
        yield TypeIs(tuple(map(type_name, entry.type)))
    if entry.symbol_pattern:
        yield SymbolMatches(tuple(map(Expression, entry.symbol_pattern)))
    if entry.type_pattern:
        yield TypeMatches(tuple(map(Expression, entry.type_pattern)))
    if entry.member:
        yield MemberIs(entry.member)
    if entry.namespace:
        yield InNamespace(namespaces(entry.namespace))
    if files:
        yield LocatedIn(tuple(glob(file, "/") for file in files))


def type_name(text: str) -> str:
    """A type's name as it is compared: in normal form, without ``struct`` or its like."""
    return normal_name(re.sub(r"^(?:struct|class|union|enum)\s+", "", text.strip()))


def namespaces(words: Words) -> tuple[Expression, ...]:
    """Patterns of namespaces: ``*`` stands for one name, ``**`` for any path, and ``geo::**`` for ``geo`` as well."""
    plain = [word.strip().removesuffix("::") for word in words]
    inner = (word.removesuffix("::**") for word in plain if word.endswith("::**"))
    return tuple(glob(word, ":") for word in dict.fromkeys((*plain, *inner)))
