"""Which names a user means who spells one in C, in C++, or as the linker does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from sqlalchemy import ColumnElement, and_, exists, func, or_, select

from abistore.model.cpp_names.qualified import without_parameters
from abistore.model.digest import name_digest
from abistore.model.names import Kind, Name
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database, Row
from abistore.store.database.failures import damaged
from abistore.store.snapshots import calling
from abistore.store.snapshots.memory import checked_name

_ABBREVIATED = frozenset(
    {
        *("string", "allocator", "nullptr_t", "istream", "ostream", "iostream"),
        *("basic_string", "basic_istream", "basic_ostream", "basic_iostream"),
    }
)
"""What a mangled symbol may mention without spelling it (Itanium C++ ABI, sections 5.1.5 and 5.1.10)."""

_NAME, _ENTRY, _SNAPSHOT = tables.name.c, tables.entry.c, tables.snapshot.c
_OWN = _NAME.kind.not_in(("import", "library"))
_STANDING = select(1).select_from(
    tables.entry.join(tables.line)
    .join(tables.library)
    .join(
        tables.snapshot,
        and_(
            _SNAPSHOT.line_id == tables.line.c.id,
            _SNAPSHOT.superseded == 0,
            _SNAPSHOT.sequence.between(_ENTRY.first_seq, _ENTRY.last_seq),
        ),
    )
)
"""Entries that a release or candidate has which is neither replaced nor taken back."""

_COLUMNS = (_NAME.id, _NAME.kind, _NAME.spelling, _NAME.digest)
_BY_DIGEST = select(*_COLUMNS).where(_NAME.digest.in_(AMONG))
_BY_ID = select(*_COLUMNS).where(_NAME.id.in_(AMONG))
_MANY = select(func.coalesce(func.max(_NAME.id), 0))
_FEW, _ENOUGH, _LEAST = 5_000, 300, 2
"""So many names are looked at one by one, so many of more are, and so many letters tell something."""


@dataclass(frozen=True, slots=True)
class MeantNames:
    """The names of any line, by row id, that may be meant by one spelling.

    It is exact (a type's normal form, a linker's symbol), a qualified name without parameters (all overloads), which a
    shape displays, or a demangled name with them. ``candidates`` are names that may be displayed so.
    """

    words: frozenset[str]
    exact: Mapping[int, Name]
    demangled: Mapping[int, Name]
    candidates: Mapping[int, Name]

    @property
    def names(self) -> dict[int, Name]:
        """All of them."""
        return {**self.candidates, **self.demangled, **self.exact}

    def within(self, line: Collection[int], displayed: Collection[int]) -> set[int]:
        """The names in ``line`` that a spelling means, by their own spelling or by what their shapes display."""
        exact = self.exact.keys() & line
        meant = exact | (self.candidates.keys() & displayed)
        # overloads without debug information have no display name
        return meant if exact else meant | (self.demangled.keys() & line)


def called(database: Database, spelling: str) -> MeantNames:
    """The names of any line that may be meant by ``spelling``."""
    from abistore.model.cpp_names.normal import normal_name

    words = frozenset({spelling, normal_name(spelling)})
    exact = _exactly(database, words)
    candidates = _candidates(database, words)
    return MeantNames(words, exact, dict(_demangled(candidates, words)), {} if "(" in spelling else candidates | exact)


def _exactly(database: Database, words: Collection[str]) -> dict[int, Name]:
    digests = [name_digest(kind, word) for kind in get_args(Kind) for word in sorted(words)]
    rows = database.within(_BY_DIGEST, digests)
    return {row[0]: checked_name(database, *row[1:]) for row in rows}


def _candidates(database: Database, words: Collection[str]) -> dict[int, Name]:
    identifiers = calling.meant_by(database, words)
    found = {row[0]: checked_name(database, *row[1:]) for row in database.within(_BY_ID, identifiers)}
    if len(found) < len(identifiers):
        raise damaged(database.where, "a name that the index has is missing")
    return found


def _demangled(candidates: Mapping[int, Name], words: frozenset[str]) -> Iterator[tuple[int, Name]]:
    from abistore.model.cpp_names.demangle import demangle

    spelled = {base for word in words if (base := _base(word))}
    for identifier, name in candidates.items():
        # a thousand symbols may begin alike, and demangling is slow
        if all(base in name.spelling for base in spelled):
            text = demangle(name.spelling)
            if not words.isdisjoint((text, without_parameters(text))):
                yield identifier, name


def _base(word: str) -> str | None:
    """The identifier in ``word`` that every symbol which is called so must spell, where there is one."""
    from abistore.model.cpp_names.qualified import last_component

    base = last_component(word).removeprefix("~")
    plain = base.isidentifier() and base.isascii() and not base.startswith("operator")
    return base if plain and base not in _ABBREVIATED else None


def spellings(database: Database, library: str | None = None) -> tuple[str, ...]:
    """What a programmer calls the functions, variables and types of a library (``None``: of all), sorted.

    What only releases had that were replaced or taken back is left out.
    """
    standing = _standing(_NAME.id, library)
    return _readable(database.rows(select(_NAME.spelling).where(_OWN, standing)))


def _standing(name: ColumnElement[int], library: str | None) -> ColumnElement[bool]:
    """The condition for names that a library (``None``: any) has now."""
    found = _STANDING.where(_ENTRY.name_id == name)
    return exists(found.where(tables.library.c.name == library) if library else found)


def spellings_near(database: Database, text: str) -> tuple[str, ...]:
    """What a programmer calls the declarations that ``text`` may have been meant to be, sorted.

    All where there are few. Of many, those that hold the last word of ``text``, or else one half of it: a slip of the
    pen spoils one. The shortest are enough.
    """
    ((names,),) = database.rows(_MANY)
    words = calling.CHAIN.findall(without_parameters(text))
    if names <= _FEW:
        return spellings(database)
    if not words:
        return ()
    word = words[-1].rpartition("::")[2].lower()
    half = max(_LEAST, len(word) // 2)
    return _holding(database, word) or _holding(database, word[:half], word[-half:])


def _holding(database: Database, *parts: str) -> tuple[str, ...]:
    held = or_(*(_NAME.spelling.icontains(part, autoescape=True) for part in parts))
    order = (func.length(_NAME.spelling), _NAME.spelling)
    chosen = select(_NAME.id, _NAME.spelling).where(_OWN, held).order_by(*order).limit(_ENOUGH).subquery()
    return _readable(database.rows(select(chosen.c.spelling).where(_standing(chosen.c.id, None))))


def _readable(rows: Iterable[Row]) -> tuple[str, ...]:
    from abistore.model.cpp_names.demangle import demangle

    return tuple(sorted({demangle(str(row[0])) for row in rows}))
