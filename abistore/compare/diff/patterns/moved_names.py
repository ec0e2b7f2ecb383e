"""What moved with its scope: exports that programs ask for by their former names, and declarations that they write."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from abistore.compare.consumers.consumers import Owner
from abistore.compare.context import Context
from abistore.compare.diff.parts import Batch, DeclaredMove, DeclaredRenaming, NamespaceMove, Renaming
from abistore.compare.diff.unseen import comparable
from abistore.model.deltas import Changed, Subject
from abistore.model.mangling.symbols import primary
from abistore.model.names import EXPORTS, SELF, TYPES, Facet, Name

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Called: TypeAlias = tuple[str, str, str, bool]
"""What is called otherwise, its names before and after, and whether these are versions that programs do not write."""

Together: TypeAlias = dict[Called, list[tuple[Name, Name]]]
Asked: TypeAlias = Mapping[Called, Pairs]


def moved_exports(context: Context) -> Iterator[Changed[Batch]]:
    """One delta for each name that scopes changed, however many scopes it is a part of."""
    yield from _exports(context, context.once(_asked_for))


def surely_moved_exports(context: Context) -> Iterator[Changed[Batch]]:
    """Those of them of which the old release tells enough: nothing need be known under the old names."""
    return _exports(context, _asked(context, frozenset({"own"})))


def _exports(context: Context, asked_for: Asked) -> Iterator[Changed[Batch]]:
    for what, before, after, versioned in sorted(_together(context.moves)):
        if asked := asked_for[what, before, after, versioned]:
            shape = NamespaceMove if versioned and what == "namespace" else Renaming
            yield _delta(what, shape(asked, before, after))


def moved_declarations(context: Context) -> Iterator[tuple[Facet, Changed[Batch]]]:
    """The same of what programs write, each with the facet that shows it: exports of versions say it already."""
    for (what, before, after, versioned), pairs in sorted(_together(context.moves).items()):
        exported = bool(context.once(_asked_for)[what, before, after, versioned])
        for facet in () if versioned and exported else _showing(context, exported):
            if written := _written(context, facet, pairs):
                yield facet, _delta(what, (DeclaredMove if versioned else DeclaredRenaming)(written, before, after))
                break


def _together(moves: Iterable[Move]) -> Together:
    found: Together = {}
    for move in (each for each in moves if each.sort != "number"):
        shortened = move.versioned and move.sort == "namespace"
        before, after = move.differing if shortened else (move.before, move.after)
        found.setdefault((move.sort, before, after, move.versioned), []).extend(move.pairs)
    return found


def _delta(what: str, batch: Batch) -> Changed[Batch]:
    part = f"{what} {batch.before or '(none)'} -> {batch.after or '(none)'}"
    return Changed(Subject(SELF, part), batch, batch)


def _asked_for(context: Context) -> Asked:
    """The exports that programs ask this library for. None where they have copies of all that moved together."""
    return _asked(context, frozenset({"own", "instantiation"}))


def _asked(context: Context, found_here: Container[Owner]) -> Asked:
    found: dict[Called, Pairs] = {}
    for called, moved in _together(context.moves).items():
        exported = [pair for pair in moved if _is_exported(context, *pair)]
        owners = [context.old.consumers.owner(old, context.new.exporting, gone=True) for old, _ in exported]
        pairs = zip(exported, owners, strict=True)
        asked = tuple(sorted((old.spelling, new.spelling) for (old, new), owner in pairs if owner != "foreign"))
        found[called] = asked if any(owner in found_here for owner in owners) else ()
    return found


def _is_exported(context: Context, old: Name, new: Name) -> bool:
    """Whether programs can ask for an export that moved, before and after."""
    after = any(context.new.variants("symbol", each) for each in (old, new))
    before = old.kind in EXPORTS and bool(context.old.variants("symbol", old))
    return before and after and context.old.consumers.can_name(old)


def _showing(context: Context, exported: bool) -> Iterator[Facet]:
    """The facets that show what programs write, best first. Exports stand for what debug information tells."""
    if comparable(context, "source"):
        yield "source"
    elif not exported and comparable(context, "layout"):
        yield "layout"


def _written(context: Context, facet: Facet, moved: Iterable[tuple[Name, Name]]) -> Pairs:
    """The declarations of the facet that programs can name: a constructor is one, with all its symbols."""
    held = context.old.snapshot.entries[facet]
    named = ((old, new) for old, new in moved if old in held and (facet == "source" or old.kind in TYPES))
    found = {primary(old.spelling): primary(new.spelling) for old, new in named if _can_name(context, facet, old)}
    return tuple(sorted(found.items()))


def _can_name(context: Context, facet: Facet, name: Name) -> bool:
    return facet == "source" or (context.concerns(name) and context.old.consumers.can_see(name))
