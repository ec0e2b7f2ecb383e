"""What could not be compared, because one side or both did not see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.findings import NotChecked
from abistore.model.names import Facet, Kind, Name
from abistore.model.shapes import Enum, Opaque, Record
from abistore.model.snapshot import Variants
from abistore.model.words.counting import counted

TYPES: tuple[Kind, ...] = ("record", "enum", "alias")

Place: TypeAlias = Literal["old", "new"]
PLACES: tuple[Place, ...] = ("old", "new")


def observed(context: Context, facet: Facet) -> tuple[NotChecked, ...]:
    """Why ``facet`` cannot be compared at all, or not completely; empty where both sides saw all of it."""
    old, new = context.old.snapshot.evidence_of(facet), context.new.snapshot.evidence_of(facet)
    found = []
    for side, evidence in (("old", old), ("new", new)):
        if evidence.state == "full" or (evidence.state == "missing" and evidence.reason == "nothing-to-describe"):
            continue
        reason = evidence.reason or f"{evidence.state}-evidence"
        detail = evidence.detail or f"{evidence.described} of {counted(evidence.expected, 'export')} described"
        found.append((side, reason, detail, evidence.hint))
    if len(found) == 2 and found[0][1] == found[1][1]:
        return (NotChecked(facet, "both", *found[0][1:]),)
    return tuple(
        NotChecked(facet, "old" if side == "old" else "new", reason, detail, hint)
        for side, reason, detail, hint in found
    )


def comparable(context: Context, facet: Facet) -> bool:
    """Whether both sides saw something in ``facet``."""
    sides = (context.old.snapshot, context.new.snapshot)
    return all(facet in side.entries and side.evidence_of(facet).state != "missing" for side in sides)


def unseen(context: Context, facet: Facet, marks: Iterable[tuple[Name, UnseenMarks]]) -> Iterator[NotChecked]:
    """What the :class:`UnseenMarks` of the names that differ tell, together."""
    found = [(name, each) for name, each in marks if each != CLEAN]
    if facet == "layout":
        for place in PLACES:
            names = tuple(sorted(name for name, each in found if each.exported_only == place))
            if names:
                yield _exported_only(context, facet, place, names)
    for place in PLACES:
        names = tuple(sorted(name for name, each in found if each.declared_only == place))
        if names:
            yield NotChecked(
                facet,
                place,
                "type-not-described",
                f"the debug information only declares {counted(len(names), 'type')} that the other side defines",
                "build with -fstandalone-debug (Clang), or with -g in the unit that defines them",
                names,
            )


def _exported_only(context: Context, facet: Facet, place: Place, names: tuple[Name, ...]) -> NotChecked:
    evidence = (context.old if place == "old" else context.new).snapshot.evidence_of(facet)
    return NotChecked(
        facet,
        place,
        evidence.reason or "not-described",
        f"{counted(len(names), 'export is', 'exports are')} described by the other side only",
        evidence.hint or "build every unit of the library with -g",
        names,
    )


class UnseenMarks(NamedTuple):
    """What one side did not see of a declaration that differs.

    One side may only export what the other describes, or only declare a type that the other defines.
    """

    exported_only: Place | None
    declared_only: Place | None


CLEAN = UnseenMarks(None, None)


def marks(context: Context, facet: Facet, name: Name) -> UnseenMarks:
    """What one side did not see of ``name``."""
    return UnseenMarks(_exported_only_by(context, facet, name), declared_only_by(context, facet, name))


def _exported_only_by(context: Context, facet: Facet, name: Name) -> Place | None:
    described = name in context.old.snapshot.entries[facet], name in context.new.snapshot.entries[facet]
    if described[0] == described[1] or name.kind in TYPES or not context.exported(name):
        return None
    return "new" if described[0] else "old"


def declared_only_by(context: Context, facet: Facet, name: Name) -> Place | None:
    """The side that does not show the definition of a type that the other has, although it may well be there.

    The language requires it where the type is used by value. Clang leaves the definition of a class out where no
    constructor is compiled, so that its absence tells nothing about a library that another compiler built before.
    """
    old, new = context.old.variants(facet, name), context.new.variants(facet, name)
    if name.kind not in TYPES or not old or not new:
        return None
    if _is_only_declared(old) and _is_defined(new) and name not in context.old.undescribed:
        used = _leaves_out(context, context.old) or context.old.reach.reaches(name, by_value=True)
        return "old" if used else None
    if _is_only_declared(new) and _is_defined(old) and name not in context.new.undescribed:
        used = _leaves_out(context, context.new) or context.new.reach.reaches(name, by_value=True)
        return "new" if used else None
    return None


def _is_only_declared(shapes: Variants) -> bool:
    return all(isinstance(shape, Opaque) for shape in shapes)


def _is_defined(shapes: Variants) -> bool:
    return any(isinstance(shape, Record | Enum) for shape in shapes)


def _leaves_out(context: Context, side: SideFacts) -> bool:
    return not context.same_toolchain and any("clang" in each for each in side.snapshot.provenance.compilers)


def chosen_at_load_time(context: Context, facet: Facet) -> Iterator[NotChecked]:
    """Functions that both sides export as an IFUNC and neither describes: compilers record their resolvers only."""
    both = context.old.exports.chosen_at_load_time & context.new.exports.chosen_at_load_time
    sides = context.old.snapshot.entries[facet], context.new.snapshot.entries[facet]
    chosen = sorted(name for name in both if not any(name in side for side in sides))
    if chosen:
        yield NotChecked(
            facet,
            "both",
            "ifunc-not-described",
            f"{counted(len(chosen), 'export is', 'exports are')} chosen at load time (IFUNC) and not described",
            "compare their declarations in the headers",
            tuple(chosen),
        )
