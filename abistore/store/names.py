"""Names that users spell in C, in C++, or as the linker does, and the rows that an index finds them by.

A mangled symbol spells the qualified name of what it names, as far as that has no template arguments, operators and the
like: ``_ZN3geo6VectorIiE4pushEi`` begins with ``geo::Vector``, and so does ``geo::Vector<int>::push(int)``. The number
is that of this beginning. Reading it takes a fiftieth of the time of demangling, and demangling what an index finds
tells whether it was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias, get_args
from zlib import crc32

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, exists, func, or_, select, update

from abistore.errors import StoreError
from abistore.model.declarations import Kind, Name
from abistore.model.names.qualified import without_parameters
from abistore.model.names.symbols import HEAD
from abistore.model.snapshot import name_digest
from abistore.store import tables
from abistore.store.database import AMONG, Database, Row, damaged, insert_new
from abistore.store.snapshots import checked_name
from abistore.store.tables import MASK

CHAIN = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*", re.ASCII)
"""A qualified name without template arguments, anywhere in a text."""

_STEP = re.compile(r"L?([1-9]\d*)").match
"""The length of the next name, which may have internal linkage."""

_DISPLAYED = re.compile(rb'\{"is":"[FV]","d":("[^"\\]*(?:\\.[^"\\]*)*")').match
"""How the body of a function or variable begins: with its qualified source name."""


_SHIFT = 22
"""Words that are the same but for so many bits are verified together, by the sum of their rows' checksums."""

_WORD, _NAME = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F

_CALLING, _SUM = tables.calling.c, tables.calling_sum.c
_NEW = insert_new(tables.calling).returning(_CALLING.word, _CALLING.name_id)
_NEW_SUM = insert_new(tables.calling_sum)
_ADD_TO_SUM = (
    update(tables.calling_sum)
    .where(_SUM.bucket == bindparam("of_bucket"))
    .values(sum=_SUM.sum + bindparam("difference"))
)
_WORDS = select(_CALLING.word, _CALLING.name_id).where(
    _CALLING.word >= bindparam("first"), _CALLING.word < bindparam("end")
)
_SUM_OF = select(_SUM.sum).where(_SUM.bucket == bindparam("bucket"))

_SYMBOLS = frozenset({"function", "variable"})
Begin: TypeAlias = Callable[[str], str | None]


def beginning(symbol: str) -> str | None:
    """The qualified name that a mangled symbol begins with, perhaps none of it; ``None`` where it is not mangled."""
    head = HEAD.match(symbol)
    if head is None:
        return None
    place = head.end()
    parts: list[str] = []
    if symbol.startswith("S", place):
        if not symbol.startswith("St", place):
            return "std"  # std::string and the like: what follows is spelled in more than one way
        parts.append("std")
        place += 2
    while step := _STEP(symbol, place):
        end = step.end()
        place = end + int(step[1])
        part = symbol[end:place]
        if part.startswith("_GLOBAL_"):  # an unnamed namespace
            if parts:
                break
            continue
        if not part.isidentifier() or not part.isascii():  # Rust's
            break
        parts.append(part)
        if head["nested"] is None:
            break
    return "::".join(parts)


def beginnings(text: str) -> Iterator[str]:
    """Every qualified name in ``text`` and every scope of one, and nothing, with which some symbols begin."""
    yield ""
    for chain in CHAIN.findall(text):
        place = chain.find("::")
        while place >= 0:
            yield chain[:place]
            place = chain.find("::", place + 2)
        yield chain


def meant_by(database: Database, texts: Iterable[str]) -> list[int]:
    """The row ids of names that may be called one of ``texts``. Raises :class:`StoreError` where a row is missing."""
    words = {crc32(word.encode()) for text in texts for word in (text, *beginnings(text))}
    found: set[int] = set()
    for bucket in sorted({word >> _SHIFT for word in words}):
        rows = _rows(database, bucket)
        found.update(name for word, name in rows if word in words)
    return sorted(found)


def write(database: Database, new: Mapping[Name, int], described: Iterable[tuple[Name, int, bytes]]) -> None:
    """Index ``new`` names by their row ids; ``described`` are names that got a shape, with its body."""
    begin = cache(beginning)
    rows = {
        *of_symbols(((name, identifier) for name, identifier in new.items()), begin),
        *of_displays(_displays(described), begin),
    }
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    inserted = database.returned(_NEW, [{"word": word, "name_id": name} for word, name in sorted(rows)])
    added = sorted(sums(inserted).items())
    database.many(_NEW_SUM, [{"bucket": bucket, "sum": 0} for bucket, _ in added])
    database.many(_ADD_TO_SUM, [{"of_bucket": bucket, "difference": total} for bucket, total in added])


def sums(rows: Iterable[Row]) -> dict[int, int]:
    """The sum over rows that have words which begin alike, by what these begin with."""
    found: dict[int, int] = {}
    for word, name in rows:
        found[word >> _SHIFT] = found.get(word >> _SHIFT, 0) + _checksum(word, name)
    return found


def check(database: Database) -> Iterator[str]:
    """What is wrong with the index."""
    buckets = {word >> _SHIFT for (word,) in database.rows(select(_CALLING.word).distinct())}
    for bucket in sorted({*buckets, *(row[0] for row in database.rows(select(_SUM.bucket)))}):
        try:
            _rows(database, bucket)
        except StoreError as error:
            database.go_on(error)
            yield error.message


def _rows(database: Database, bucket: int) -> Sequence[Row]:
    """The rows whose words begin alike. Raises :class:`StoreError` where one is missing or was changed."""
    rows = database.rows(_WORDS, {"first": bucket << _SHIFT, "end": (bucket + 1) << _SHIFT})
    total = database.rows(_SUM_OF, {"bucket": bucket})
    if sums(rows).get(bucket, 0) != (total[0][0] if total else 0):
        raise damaged(database.where, "the index of what names are called")
    return rows


def _checksum(word: int, name: int) -> int:
    return (word * _WORD ^ name * _NAME) >> 11 & MASK


def of_symbols(names: Iterable[tuple[Name, int]], begin: Begin = beginning) -> Iterator[tuple[int, int]]:
    """The rows by which the names of symbols are found."""
    for name, identifier in names:
        if name.kind in _SYMBOLS and (word := begin(name.spelling)) is not None:
            yield crc32(word.encode()), identifier


def of_displays(displays: Iterable[tuple[Name, int, str]], begin: Begin = beginning) -> Iterator[tuple[int, int]]:
    """The rows by which names are found that their symbol does not lead to, by their source names."""
    for name, identifier, display in displays:
        if not _leads_to(name.spelling, display, begin):
            yield crc32(display.encode()), identifier


def display_prefixes(words: Iterable[str]) -> Iterator[str]:
    """How the bodies of shapes begin that have one of ``words`` for their qualified source name."""
    for word in words:
        for tag in ("F", "V"):
            yield msgspec.json.encode({"is": tag, "d": word}).decode().removesuffix("}") + ","


def _displays(described: Iterable[tuple[Name, int, bytes]]) -> Iterator[tuple[Name, int, str]]:
    for name, identifier, body in described:
        if (display := displayed(body)) is not None:
            yield name, identifier, display


def displayed(body: bytes) -> str | None:
    """The qualified source name that a shape's body begins with."""
    found = _DISPLAYED(body)
    return str(msgspec.json.decode(found[1])) if found else None


def _leads_to(symbol: str, display: str, begin: Begin) -> bool:
    """Whether who asks for ``display`` meets ``symbol`` without a row of its own."""
    word = begin(symbol)
    return display == symbol or (word is not None and word in beginnings(display))


_ABBREVIATED = frozenset(
    {
        *("string", "allocator", "nullptr_t", "istream", "ostream", "iostream"),
        *("basic_string", "basic_istream", "basic_ostream", "basic_iostream"),
    }
)
"""What a mangled symbol may mention without spelling it (Itanium C++ ABI, sections 5.1.5 and 5.1.10)."""

_NAMED, _ENTRY, _SNAPSHOT = tables.name.c, tables.entry.c, tables.snapshot.c
_OWN = _NAMED.kind.not_in(("import", "library"))
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

_COLUMNS = (_NAMED.id, _NAMED.kind, _NAMED.spelling, _NAMED.digest)
_BY_DIGEST = select(*_COLUMNS).where(_NAMED.digest.in_(AMONG))
_BY_ID = select(*_COLUMNS).where(_NAMED.id.in_(AMONG))
_MANY = select(func.coalesce(func.max(_NAMED.id), 0))
_FEW, _ENOUGH, _LEAST = 5_000, 300, 2
"""So many names are looked at one by one, so many of more are, and so many letters tell something."""


class MeantNames(msgspec.Struct, frozen=True):
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
    from abistore.model.names.qualified import normal_name

    words = frozenset({spelling, normal_name(spelling)})
    exact = _exactly(database, words)
    candidates = _candidates(database, words)
    return MeantNames(words, exact, dict(_demangled(candidates, words)), {} if "(" in spelling else candidates | exact)


def _exactly(database: Database, words: Collection[str]) -> dict[int, Name]:
    digests = [name_digest(kind, word) for kind in get_args(Kind) for word in sorted(words)]
    rows = database.within(_BY_DIGEST, digests)
    return {row[0]: checked_name(database, *row[1:]) for row in rows}


def _candidates(database: Database, words: Collection[str]) -> dict[int, Name]:
    identifiers = meant_by(database, words)
    found = {row[0]: checked_name(database, *row[1:]) for row in database.within(_BY_ID, identifiers)}
    if len(found) < len(identifiers):
        raise damaged(database.where, "a name that the index has is missing")
    return found


def _demangled(candidates: Mapping[int, Name], words: frozenset[str]) -> Iterator[tuple[int, Name]]:
    from abistore.model.names.qualified import demangle

    spelled = {base for word in words if (base := _base(word))}
    for identifier, name in candidates.items():
        # a thousand symbols may begin alike, and demangling is slow
        if all(base in name.spelling for base in spelled):
            text = demangle(name.spelling)
            if not words.isdisjoint((text, without_parameters(text))):
                yield identifier, name


def _base(word: str) -> str | None:
    """The identifier in ``word`` that every symbol which is called so must spell, where there is one."""
    from abistore.model.names.qualified import last_component

    base = last_component(word).removeprefix("~")
    plain = base.isidentifier() and base.isascii() and not base.startswith("operator")
    return base if plain and base not in _ABBREVIATED else None


def spellings(database: Database, library: str | None = None) -> tuple[str, ...]:
    """What a programmer calls the functions, variables and types of a library (``None``: of all), sorted.

    What only releases had that were replaced or taken back is left out.
    """
    standing = _standing(_NAMED.id, library)
    return _readable(database.rows(select(_NAMED.spelling).where(_OWN, standing)))


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
    words = CHAIN.findall(without_parameters(text))
    if names <= _FEW:
        return spellings(database)
    if not words:
        return ()
    word = words[-1].rpartition("::")[2].lower()
    half = max(_LEAST, len(word) // 2)
    return _holding(database, word) or _holding(database, word[:half], word[-half:])


def _holding(database: Database, *parts: str) -> tuple[str, ...]:
    held = or_(*(_NAMED.spelling.icontains(part, autoescape=True) for part in parts))
    order = (func.length(_NAMED.spelling), _NAMED.spelling)
    chosen = select(_NAMED.id, _NAMED.spelling).where(_OWN, held).order_by(*order).limit(_ENOUGH).subquery()
    return _readable(database.rows(select(chosen.c.spelling).where(_standing(chosen.c.id, None))))


def _readable(rows: Iterable[Row]) -> tuple[str, ...]:
    from abistore.model.names.qualified import demangle

    return tuple(sorted({demangle(str(row[0])) for row in rows}))
