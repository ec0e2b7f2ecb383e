"""Which names of a line a user means who spells one in C, in C++, or as the linker does."""

from __future__ import annotations

from typing import get_args

import msgspec

from abistore.model.digest import name_digest
from abistore.model.names import Kind, Name
from abistore.store.database import Database
from abistore.store.memory import checked_name


def names_called(database: Database, line: int, spelling: str) -> dict[int, Name]:
    """The names that the line ever had under this spelling, by row id.

    A spelling is exact (a type's normal form, a linker's symbol), a qualified name without parameters (all overloads),
    or a demangled name with them.
    """
    from abistore.model.normal import normal_name

    words = sorted({spelling, normal_name(spelling)})
    exact = _exactly(database, line, words)
    displayed = {} if "(" in spelling else _displayed(database, line, words)
    # overloads without debug information have no display name
    return exact | displayed if exact else displayed | _demangled(database, line, set(words))


def _exactly(database: Database, line: int, words: list[str]) -> dict[int, Name]:
    digests = [name_digest(kind, word) for kind in get_args(Kind) for word in words]
    statement = (
        "SELECT id, kind, spelling, digest FROM name WHERE EXISTS "
        "(SELECT 1 FROM entry WHERE entry.name_id = name.id AND entry.line_id = ?) AND digest IN ({})"
    )
    return {row[0]: checked_name(database, *row[1:]) for row in database.within(statement, digests, line)}


def _displayed(database: Database, line: int, words: list[str]) -> dict[int, Name]:
    """Functions and variables by the qualified source name that their shapes begin with."""
    found = {}
    statement = (
        "SELECT DISTINCT name.id, name.kind, name.spelling, name.digest FROM entry "
        "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id "
        "WHERE entry.line_id = ? AND substr(shape.body, 1, ?) = ?"
    )
    for word in words:
        for tag in ("Function", "Variable"):
            start = msgspec.json.encode([tag, word]).decode().removesuffix("]") + ","
            for identifier, *row in database.rows(statement, (line, len(start), start)):
                found[identifier] = checked_name(database, *row)
    return found


def _demangled(database: Database, line: int, words: set[str]) -> dict[int, Name]:
    from abistore.model.demangle import demangle_all

    statement = (
        "SELECT id, kind, spelling, digest FROM name "
        "WHERE kind IN ('function', 'variable') AND substr(spelling, 1, 2) = '_Z' AND EXISTS "
        "(SELECT 1 FROM entry WHERE entry.name_id = name.id AND entry.line_id = ?)"
    )
    names = {row[0]: checked_name(database, *row[1:]) for row in database.rows(statement, (line,))}
    readable = demangle_all(sorted({name.spelling for name in names.values()}))
    found = {}
    for identifier, name in names.items():
        text = readable[name.spelling]
        if {text, without_parameters(text)} & words:
            found[identifier] = name
    return found


def spellings(database: Database, library: str | None) -> tuple[str, ...]:
    """What a programmer calls the functions, variables and types of a library (``None``: of all), sorted.

    What only releases had that were replaced or taken back is left out.
    """
    from abistore.model.demangle import demangle_all

    statement = (
        "SELECT spelling FROM name WHERE kind NOT IN ('import', 'library') AND EXISTS "
        "(SELECT 1 FROM entry JOIN line ON line.id = entry.line_id JOIN library ON library.id = line.library_id "
        "JOIN snapshot ON snapshot.line_id = line.id AND snapshot.superseded = 0 "
        "AND snapshot.sequence >= entry.first_seq AND snapshot.sequence <= entry.last_seq "
        "WHERE entry.name_id = name.id AND library.name = coalesce(?, library.name))"
    )
    found = [str(row[0]) for row in database.rows(statement, (library,))]
    readable = demangle_all([spelling for spelling in found if spelling.startswith("_Z")])
    return tuple(sorted({readable.get(spelling, spelling) for spelling in found}))


def without_parameters(text: str) -> str:
    """``geo::norm`` of ``geo::norm(geo::Point const&) const``; a text that does not end so as it is."""
    end = text.rfind(")")
    depth = 0
    for position in range(end, 0, -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if depth == 0:
            return text[:position]
    return text
