"""Scopes that the new side calls differently, found once so that all else is compared under the old names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from operator import is_
from typing import Any, Final, Literal, TypeAlias

import msgspec

from abistore.diffing.reuse import Differing, differing
from abistore.model.declarations import EXPORTS, Name, is_number
from abistore.model.hints import matches
from abistore.model.names.qualified import demangle, entity, variant
from abistore.model.names.symbols import is_mangled, is_member_of_std, may_be_nested, plain_path, without_stack
from abistore.model.shapes import AnyShape, Function, Node, PeSymbol, Symbol, Variable
from abistore.model.snapshot import Snapshot, Variants, sort_variants
from abistore.patterns import pattern

FOREIGN: Final = frozenset({"std", "__gnu_cxx", "__cxxabiv1"})
"""Scopes of the runtime: that these are there tells nothing of the library's own."""


@lru_cache(1 << 16)
def path(spelling: str) -> tuple[str, ...]:
    """The components of a qualified name up to its first template arguments; none for what stands in no scope."""
    if not may_be_nested(spelling):
        return ()
    parts = plain_path(spelling) or tuple(_qualified(spelling).partition("<")[0].split("::"))
    return parts if len(parts) > 1 and all(parts) and parts[0] not in FOREIGN else ()


def _qualified(spelling: str) -> str:
    """The qualified name that a spelling stands for; empty for what is linked in from the runtime."""
    if not is_mangled(spelling):
        return spelling
    return "" if is_member_of_std(spelling) else entity(demangle(spelling))


Key: TypeAlias = tuple[str, str]
"""A text with marks in place of scopes, and what tells a symbol from others that are demangled to the same."""


def marker(scopes: Sequence[str]) -> Callable[[str], Key]:
    """What gives names and other texts that mention ``scopes`` a key: equal for two that differ in these alone.

    Scopes are told apart by their places in the sequence; where one is in another, the inner one counts. A text that
    mentions none stays as it is.
    """
    ends = {scope.rpartition("::")[2] for scope in scopes}
    in_words = _marking(scopes, r"(?<![\w:])(?:{})(?=::)")
    in_symbols = _marking([_mangled(scope) for scope in scopes], "(?:{})")

    def key(text: str) -> Key:
        if not any(end in text for end in ends):
            return text, ""
        if not is_mangled(text):
            return in_words(text), ""
        plain = demangle(text)
        if plain == text:
            return in_symbols(text), ""
        marked = in_words(plain)
        return (text, "") if marked == plain else (marked, variant(text))

    return key


def first_turn(marked: str) -> int:
    """The place in the sequence of the scope that a marked text mentions first."""
    return ord(marked[marked.index(MARK) + 1])


MARK: Final = "\0"
"""What stands before the place of a scope: no name has it."""


def _marking(scopes: Sequence[str], mention: str) -> Callable[[str], str]:
    turns = {scope: place for place, scope in enumerate(scopes)}
    longest = sorted(turns, key=len, reverse=True)
    found = re.compile(mention.format("|".join(map(re.escape, longest))))
    return lambda text: found.sub(lambda match: MARK + chr(turns[match[0]]), text)


def _mangled(scope: str) -> str:
    """How a symbol that no demangler reads spells a scope: members of templates as headers declare them."""
    return "".join(f"{len(each)}{each}" for each in scope.split("::"))


FEWEST = 3
"""So many names must have moved together for a scope that is a part of what it was, or that programs write."""

SHARE = 0.3
"""Of a scope that programs write, and so large a part of what went: a few coincidences are no move."""

MOST_NAMESAKES = 8
"""Names with so many namesakes do not tell which scope became which."""

MOST_CANDIDATES = 32
"""So many pairs of scopes are looked at, those with most namesakes first."""

Scopes: TypeAlias = tuple[str, str]
"""A scope before and after."""

Pairs: TypeAlias = Sequence[tuple[Name, Name]]
"""Names before and after."""


class Move(msgspec.Struct, frozen=True):
    """What is called otherwise on the new side, and the names that are with it, sorted.

    Of a namespace ``before`` and ``after`` are qualified: ``lib::v1`` and ``lib::v2``, or ``lib`` where ``v2`` is new.
    The suffix of C exports is ``_70`` and ``_71``. Exports of DLLs that had a number alone are with the names that they
    got; their numbers stay. What is ``versioned`` programs do not write: sources stay as they
    are.
    """

    sort: Literal["namespace", "number", "suffix"]
    before: str
    after: str
    pairs: tuple[tuple[Name, Name], ...]
    versioned: bool

    @property
    def differing(self) -> tuple[str, str]:
        """What is called otherwise: ``v1`` and ``v2``; empty where there is no such scope."""
        old, new = self.before.split("::"), self.after.split("::")
        while old and new and old[0] == new[0]:
            del old[0], new[0]
        return "::".join(old), "::".join(new)


def moved_scopes(old: Snapshot, new: Snapshot, gone: Iterable[Name], come: Iterable[Name]) -> Iterator[Move]:
    """The scopes that moved, those of most names first. Each name is in one move at most.

    ``gone`` are names that the old side alone has, ``come`` such that the new side alone has.
    """
    left, arrived = ({name for name in names if may_be_nested(name.spelling)} for names in (gone, come))
    if left and arrived:
        yield from _moves(old, new, left, arrived)


def _moves(old: Snapshot, new: Snapshot, gone: Collection[Name], come: Collection[Name]) -> Iterator[Move]:
    found = [move for move in _candidates(gone, come) if not _is_type(old, move[0]) and not _is_type(new, move[1])]
    versions = [move for move in found if _is_versioned(old, new, move)]
    scopes, pairs = _enough(old, new, gone, come, list(_once(versions)))
    least = max(FEWEST, int(SHARE * sum(1 for name in gone if path(name.spelling))))
    for move in (each for each in found if each not in versions):
        if _is_free(move, scopes) and len((more := _pairs(gone, come, [*scopes, move]))[-1]) >= least:
            scopes, pairs = [*scopes, move], more
    for move, own in zip(scopes, pairs, strict=True):
        if own:
            yield Move("namespace", *move, tuple(sorted(own)), versioned=move in versions)


def _once(moves: Iterable[Scopes]) -> Iterator[Scopes]:
    """The moves without those of a scope that is in another move already."""
    taken: list[Scopes] = []
    for move in moves:
        if _is_free(move, taken):
            taken.append(move)
            yield move


def _is_free(move: Scopes, taken: Iterable[Scopes]) -> bool:
    return not any(move[0] == before or move[1] == after for before, after in taken)


def _enough(
    old: Snapshot, new: Snapshot, gone: Collection[Name], come: Collection[Name], scopes: list[Scopes]
) -> tuple[list[Scopes], Sequence[Pairs]]:
    """Those of ``scopes`` that enough names moved with, and these: looked at together, as names mention several."""
    while scopes:
        pairs = _pairs(gone, come, scopes)
        kept = [move for move, own in zip(scopes, pairs, strict=True) if _is_enough(old, new, move, len(own))]
        if kept == scopes:
            return scopes, pairs
        scopes = kept
    return [], []


def _is_enough(old: Snapshot, new: Snapshot, move: Scopes, count: int) -> bool:
    """One name is enough where the old scope is gone altogether, and the new one came."""
    return count >= FEWEST or (count > 0 and not _holds(new, move[0]) and not _holds(old, move[1]))


def _candidates(gone: Iterable[Name], come: Iterable[Name]) -> Sequence[Scopes]:
    """Pairs of scopes that stand before what is otherwise the same qualified name, those that do most often first."""
    old, new = _namesakes(gone), _namesakes(come)
    votes: Counter[tuple[str, str]] = Counter()
    for own in old.keys() & new.keys():
        if len(old[own]) <= MOST_NAMESAKES and len(new[own]) <= MOST_NAMESAKES:
            votes.update({_outer(*pair) for pair in product(old[own], new[own])})
    return sorted((move for move in votes if all(move)), key=lambda move: (-votes[move], move))[:MOST_CANDIDATES]


def _namesakes(names: Iterable[Name]) -> Mapping[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for parts in filter(None, (path(name.spelling) for name in names)):
        found.setdefault(parts[-1], set()).add(parts)
    return found


def _outer(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, str]:
    """What stands before the longest common end of two paths; the scope around where one side has nothing there."""
    shared = 0
    while shared < min(len(old), len(new)) and old[-1 - shared] == new[-1 - shared]:
        shared += 1
    before, after = old[: len(old) - shared], new[: len(new) - shared]
    return "::".join(before), "::".join(after)


def _is_versioned(old: Snapshot, new: Snapshot, move: Scopes) -> bool:
    """Whether two scopes differ in inline namespaces alone, or in what looks like a version."""
    before, after = (_written(*side) for side in zip((old, new), move, strict=True))
    return before == after


def _written(snapshot: Snapshot, scope: str) -> list[str]:
    inline = {each for evidence in snapshot.evidence for each in evidence.inline_namespaces or ()}
    parts = scope.split("::")
    enclosing = ("::".join(parts[: place + 1]) for place in range(len(parts)))
    return [
        part
        for part, whole in zip(parts, enclosing, strict=True)
        if not (whole in inline or matches("version_namespace", part))
    ]


def _is_type(snapshot: Snapshot, scope: str) -> bool:
    """Whether a scope is a class or an enumeration: another name of it is that of a type."""
    return any(snapshot.has(Name(kind, scope)) for kind in ("record", "enum", "alias"))


def _pairs(gone: Iterable[Name], come: Iterable[Name], scopes: Sequence[Scopes]) -> Sequence[Pairs]:
    """The names that are equal but for ``scopes``, where no other is; for each scope those that mention it first."""
    found: list[list[tuple[Name, Name]]] = [[] for _ in scopes]
    old, new = (_keyed(names, [move[side] for move in scopes]) for side, names in enumerate((gone, come)))
    for key in old.keys() & new.keys():
        if len(old[key]) == len(new[key]) == 1:
            found[first_turn(key[1])].append((old[key][0], new[key][0]))
    return found


def _keyed(names: Iterable[Name], scopes: Sequence[str]) -> Mapping[tuple[str, str, str], Sequence[Name]]:
    key, found = marker(scopes), dict[tuple[str, str, str], list[Name]]()
    for name in names:
        marked, told = key(name.spelling)
        if marked != name.spelling:
            found.setdefault((name.kind, marked, told), []).append(name)
    return found


def _holds(snapshot: Snapshot, scope: str) -> bool:
    parts = tuple(scope.split("::"))
    return any(_within(held, parts) for held in snapshot.entries.values())


def _within(names: Collection[Name], scope: tuple[str, ...]) -> bool:
    return any(path(name.spelling)[: len(scope)] == scope for name in names if scope[-1] in name.spelling)


VERSIONED = pattern(r"(\w+?)(_[vV]?\d+(?:_\d+)*)", 0)
"""A C name with a version: ``u_init_70``, which sources get from ``u_init`` by a macro."""

Versions = Mapping[str, Mapping[str, Name]]
"""By what comes before it, the exports with each version."""


def moved_suffixes(old: Snapshot, new: Snapshot, gone: Iterable[Name], come: Iterable[Name]) -> Iterator[Move]:
    """The versions that became others, those of most names first.

    ``gone`` are names that the old side alone has, ``come`` such that the new side alone has.
    """

    left, arrived = (
        [name for name in names if is_versioned(name) and name in side.entries.get("symbol", {})]
        for side, names in ((old, gone), (new, come))
    )
    before, after = _versioned(left), _versioned(arrived)
    found: dict[tuple[str, str], list[tuple[Name, Name]]] = {}
    for stem in before.keys() & after.keys():
        versions, others = before[stem], after[stem]
        if len(versions) == len(others) == 1:
            (first, one), (second, other) = *versions.items(), *others.items()
            found.setdefault((first, second), []).append((one, other))
    for (first, second), pairs in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(pairs) >= max(FEWEST, int(SHARE * len(left))):
            yield Move("suffix", first, second, tuple(sorted(pairs)), versioned=True)


def is_versioned(name: Name) -> bool:
    """Whether the name of a C export ends with a version."""
    return name.kind in EXPORTS and name.spelling[-1:].isdigit() and not is_mangled(name.spelling)


def _versioned(names: Iterable[Name]) -> Versions:
    found: dict[str, dict[str, Name]] = {}
    for name in names:
        match = VERSIONED.fullmatch(name.spelling)
        if match is not None:
            found.setdefault(match[1], {})[match[2]] = name
    return found


def named_numbers(old: Snapshot, new: Snapshot, gone: Iterable[Name]) -> Iterator[Move]:
    """One move of all numbers among ``gone`` that the new side gives a name."""
    numbers = sorted(name for name in gone if is_number(name)) if old.target.format == "pe" else []
    if not numbers:
        return

    names = _names_by_number(new)
    pairs = tuple((each, names[int(each.spelling[1:])]) for each in numbers if int(each.spelling[1:]) in names)
    if pairs:
        yield Move("number", "", "", pairs, versioned=True)


def _names_by_number(snapshot: Snapshot) -> Mapping[int, Name]:
    """The named exports by their numbers. Linkers number them in the order of their names where no author does."""
    ordinals = {
        name: shape.ordinal
        for name, shapes in snapshot.entries.get("symbol", {}).items()
        for shape in shapes
        if name.kind in EXPORTS and isinstance(shape, Symbol) and not is_number(name)
    }
    if all(ordinal is None for ordinal in ordinals.values()):
        return dict(enumerate(sorted(ordinals, key=lambda name: name.spelling.encode()), 1))
    return {ordinal: name for name, ordinal in sorted(ordinals.items(), reverse=True) if ordinal is not None}


def exports_by_number(snapshot: Snapshot) -> Mapping[int, Name]:
    """All exports of a DLL by the numbers that programs may ask for them by, with names and without."""
    nameless = {int(name.spelling[1:]): name for name in snapshot.entries.get("symbol", {}) if is_number(name)}
    return {**nameless, **_names_by_number(snapshot)}


def asked_by_number(snapshot: Snapshot, numbers: Collection[int]) -> Snapshot:
    """The snapshot of a DLL with the named exports that programs ask for by these numbers exported by them as well."""
    names = exports_by_number(snapshot)
    named = {each: names[each] for each in sorted(numbers) if each in names and not is_number(names[each])}
    return beside_names(snapshot, [(Name(own.kind, f"#{number}"), own) for number, own in named.items()])


def beside_names(snapshot: Snapshot, pairs: Sequence[tuple[Name, Name]]) -> Snapshot:
    """The snapshot with what has a name exported by its number as well."""
    entries = dict(snapshot.entries)
    for facet in ("symbol", "layout"):
        held = entries.get(facet, {})
        more = {
            Name(own.kind, number.spelling): tuple(
                _numbered(each, number, _is_called(own, snapshot)) for each in held[own]
            )
            for number, own in pairs
            if own in held
        }
        if more:
            entries[facet] = {**held, **more}
    return msgspec.structs.replace(snapshot, entries=entries)


def _is_called(own: Name, snapshot: Snapshot) -> tuple[str, ...]:
    """The name of an export as that of what is behind it, unless debug information calls that otherwise: an alias."""
    called = {
        entity(each.display) for each in snapshot.variants("layout", own) if isinstance(each, Function | Variable)
    }
    return () if called and entity(demangle(without_stack(own.spelling))) not in called else (own.spelling,)


def _numbered(shape: AnyShape, number: Name, called: tuple[str, ...]) -> AnyShape:
    if not isinstance(shape, Symbol):
        return shape
    facts = shape.pe or PeSymbol()
    if not facts.behind:
        facts = msgspec.structs.replace(facts, behind=called)
    return msgspec.structs.replace(shape, ordinal=int(number.spelling[1:]), pe=facts)


SORTED: Final = frozenset({"deleted", "members", "calls"})
"""Fields whose texts stand in their own order, which another name changes."""


def under_old_names(old: Snapshot, new: Snapshot, moves: Sequence[Move]) -> Snapshot:
    """The new side with the old names of what moved. What the old side lacks keeps the name that it has."""
    numbered = [pair for move in moves if move.sort == "number" for pair in move.pairs]
    scopes = [move for move in moves if move.sort != "number"]
    found = beside_names(new, numbered) if numbered else new
    return _Renamer(old, scopes).snapshot(found) if scopes else found


class _Renamer:
    """Gives what moved its old name, wherever it is mentioned. What the old side lacks keeps the name that it has."""

    def __init__(self, old: Snapshot, moves: Sequence[Move]) -> None:
        self._names = {after: before for move in moves for before, after in move.pairs}
        scopes = [move for move in moves if move.sort == "namespace"]
        self._key = marker([move.after for move in scopes])
        self._texts = _texts(old, marker([move.before for move in scopes])) if scopes else {}
        self._spellings = {after.spelling: before.spelling for after, before in self._names.items()}
        self._nodes: dict[Node, Node] = {}

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        entries = {
            facet: {self._names.get(name, name): self._variants(shapes) for name, shapes in held.items()}
            for facet, held in snapshot.entries.items()
        }
        locations = {self._names.get(name, name): place for name, place in snapshot.locations.items()}
        return msgspec.structs.replace(snapshot, entries=entries, locations=locations)

    def _variants(self, variants: Variants) -> Variants:
        found = tuple(self._struct(shape) for shape in variants)
        return variants if all(map(is_, found, variants)) else sort_variants(found)

    def _struct(self, struct: Any) -> Any:
        if isinstance(struct, Name):
            return self._names.get(struct, struct)
        if not isinstance(struct, Node):
            return self._rebuilt(struct)
        if struct not in self._nodes:
            self._nodes[struct] = self._rebuilt(struct)
        return self._nodes[struct]

    def _rebuilt(self, struct: Any) -> Any:
        changed = {}
        for field in struct.__struct_fields__:
            value = getattr(struct, field)
            found = self._value(value)
            if found is not value:
                changed[field] = tuple(sorted(found)) if field in SORTED else found
        return msgspec.structs.replace(struct, **changed) if changed else struct

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple):
            found = tuple(self._value(each) for each in value)
            return value if all(map(is_, found, value)) else found
        return self._struct(value) if isinstance(value, msgspec.Struct) else value

    def _text(self, text: str) -> str:
        known = self._spellings.get(text)
        return self._texts.get(self._key(text), text) if known is None else known


def _texts(old: Snapshot, key: Callable[[str], Key]) -> Mapping[Key, str]:
    found: dict[Key, str] = {}
    seen: set[object] = set()
    for text in _strings(old.entries.values(), seen):
        own = key(text)
        if own[0] != text:
            found[own] = text
    return found


def _strings(value: Any, seen: set[object]) -> Iterator[str]:
    """All texts in shapes, each node looked into once."""
    match value:
        case str():
            yield value
        case Name():
            return
        case msgspec.Struct():
            if isinstance(value, Node):
                if value in seen:
                    return
                seen.add(value)
            for field in value.__struct_fields__:
                yield from _strings(getattr(value, field), seen)
        case tuple():
            yield from _each(value, seen)
        case Mapping():
            yield from _each(value.values(), seen)
        case _ if isinstance(value, Iterable):
            yield from _each(value, seen)


def _each(values: Iterable[Any], seen: set[object]) -> Iterator[str]:
    for each in values:
        yield from _strings(each, seen)


class Aligned(msgspec.Struct, frozen=True):
    """Two sides whose names can be compared, the scopes that moved between them, and the names that differ then."""

    old: Snapshot
    new: Snapshot
    moves: tuple[Move, ...]
    differing: Differing


def may_move(name: Name) -> bool:
    """Whether a name is of those that moves are looked for among."""
    return may_be_nested(name.spelling) or is_versioned(name) or is_number(name)


def moves_between(old: Snapshot, new: Snapshot, differing: Differing) -> tuple[Move, ...]:
    """The moves from one side to the other. Each name is in one at most.

    ``differing`` are the names that the two sides show in different ways.
    """
    names = {name for each in differing.values() for name in each if may_move(name)}
    return moves_of(
        old, new, {each for each in names if not new.has(each)}, {each for each in names if not old.has(each)}
    )


def moves_of(old: Snapshot, new: Snapshot, gone: Collection[Name], come: Collection[Name]) -> tuple[Move, ...]:
    """The same, where it is known which names that may move the old side alone has, and which the new one alone."""
    named = tuple(named_numbers(old, new, gone))
    if not gone or not come:
        return named

    return (*moved_scopes(old, new, gone, come), *moved_suffixes(old, new, gone, come), *named)


def aligned(
    old: Snapshot, new: Snapshot, known: Differing | None = None, moves: tuple[Move, ...] | None = None
) -> Aligned:
    """Both sides, the new one with the old names of all that only moved; as they are where no scope did.

    ``known`` are the names that differ, and ``moves`` what moved, if that was found out already.
    """
    names = known or differing(old, new)
    moves = moves_between(old, new, names) if moves is None else moves
    if not moves:
        return Aligned(old, new, (), names)

    renamed = under_old_names(old, new, moves)
    return Aligned(old, renamed, moves, differing(old, renamed))
