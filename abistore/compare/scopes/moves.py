"""Which scopes of the old side are scopes of the new side under another name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, TypeAlias

import msgspec

from abistore.compare.scopes.texts import first_turn, marker, path
from abistore.model.mangling.symbols import may_be_nested
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot
from abistore.patterns import pattern

FEWEST = 3
"""So many names must have moved together for a scope that is a part of what it was, or that programs write."""

SHARE = 0.3
"""Of a scope that programs write, and so large a part of what went: a few coincidences are no move."""

MOST_NAMESAKES = 8
"""Names with so many namesakes do not tell which scope became which."""

MOST_CANDIDATES = 32
"""So many pairs of scopes are looked at, those with most namesakes first."""

VERSION_SPACE = pattern(r"(?:v|V|_|__|_V|lts_|inline_|abi_?|ver_?)\d\w*|\w*_v\d\w*|\w*_?\d+_\d+\w*|\w+_\d+|\w+\d{3,}")
"""How namespaces that carry a version are called: inline ones, and such as programs write by an alias."""


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
    """The components of a scope that programs write."""
    inline = {each for evidence in snapshot.evidence for each in evidence.inline_namespaces or ()}
    parts = scope.split("::")
    enclosing = ("::".join(parts[: place + 1]) for place in range(len(parts)))
    return [
        part
        for part, whole in zip(parts, enclosing, strict=True)
        if not (whole in inline or VERSION_SPACE.fullmatch(part))
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
