"""What could not be compared, because one side or both did not see it.

Classes that nothing describes and of which the library gets objects from programs: interfaces, as it seems.

Compilers write down of a class with pure functions alone what they write of a handle. But a library implements its
handles, so that a unit describes them, and gives them away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.diffing.context import Context
from abistore.diffing.headers import (
    chosen_otherwise,
    is_chosen_otherwise,
    lying_there,
    not_given,
    read_otherwise,
    said,
    selects,
)
from abistore.diffing.side import SideFacts, exported, has_versions, is_of_unknown_version, version_pairs
from abistore.diffing.surface.export_table import OWNERS
from abistore.diffing.tables import behind, shared_numbers, unread_reexports
from abistore.model.declarations import EXPORTS, TYPES, Declared, Facet, Name
from abistore.model.findings import (
    CLASS_PERHAPS_NOT_DESCRIBED,
    EXPORT_NOT_DESCRIBED,
    HEADERS_DISAGREE,
    HEADERS_NOT_GIVEN,
    HEADERS_READ_DIFFERENTLY,
    HEADERS_SELECTED_DIFFERENTLY,
    NEEDED_NOT_GIVEN,
    NO_LAYOUT,
    NOT_RECORDED,
    TYPE_NOT_DESCRIBED,
    VERSION_NOT_RECORDED,
    NotChecked,
    evidence_rank,
)
from abistore.model.format_gaps import OF_COMPILERS, spelled, unrecorded_by
from abistore.model.labels import family, library_name
from abistore.model.layout import STRANGERS_HINT, UNDESCRIBED_HINT, declared_only, own_classes, told_undescribed
from abistore.model.names.symbols import is_declared, is_mangled
from abistore.model.reach import DECLARING
from abistore.model.shapes import Enum, Function, Opaque, Record, TypeRef, Variable
from abistore.model.snapshot import CLASS_NOT_DESCRIBED, Evidence, HeadersRead, Variants, only_described
from abistore.model.structure import references
from abistore.model.words import counted


def brought_classes(side: SideFacts) -> frozenset[Name]:
    """Those of one side."""
    snapshot = side.snapshot
    declared = [name for name in declared_only(snapshot) if name not in side.undescribed and "<" not in name.spelling]
    return frozenset(name for name in own_classes(declared, snapshot) if _is_brought(name, side))


def _is_brought(name: Name, side: SideFacts) -> bool:
    """Whether functions of C++ take objects of the class, and nothing gives them away; who keeps one is left out."""
    ways = {way for user in side.reach.users(name) for way in _ways(user, name, side)}
    return ways == {"in"}


def _ways(user: Name, name: Name, side: SideFacts) -> Iterator[str]:
    if user.kind == "alias":
        yield "out"
    for shape in side.variants("layout", user):
        match shape:
            case Function():
                yield from _called(shape.result, shape.parameters, name, side)
                yield "in" if is_mangled(user.spelling) else "out"
            case Variable():
                yield "out"
            case Record():
                for method in shape.virtuals:
                    yield from _called(method.result, method.parameters, name, side)


def _called(result: TypeRef, parameters: tuple[TypeRef, ...], name: Name, side: SideFacts) -> Iterator[str]:
    """``out`` where a function returns an object of the class, or fills one in: a pointer to its address."""
    given = (each for each in parameters if side.types.pointee(each, 1) != name)
    if any(name in _mentioned(each) for each in (result, *given)):
        yield "out"


def _mentioned(type: TypeRef) -> set[Name]:
    return {each for each, _ in references(Variable("", type))}


Place: TypeAlias = Literal["old", "new"]
MOST_LISTED = 3
"""How many headers a detail lists."""

PLACES: tuple[Place, ...] = ("old", "new")


class UnseenMark(msgspec.Struct, frozen=True, order=True):
    """What one side did not see of a declaration that differs.

    It is ``exported`` there and not described, or ``declared`` and not defined, although the other side has more of it;
    or a ``constant``, of which compilers record those that the library uses itself.
    """

    facet: Facet
    place: Place
    only: Literal["exported", "declared", "constant"]


def not_checked(
    context: Context, facets: Collection[Facet], marked: Iterable[tuple[Name, Collection[UnseenMark]]]
) -> Iterator[NotChecked]:
    """What could not be checked, facet by facet; ``facets`` are those that both sides have.

    ``marked`` are the names that differ, each with what was not seen of it.
    """
    unseen: dict[UnseenMark, list[Name]] = {}
    for name, marks in marked:
        for mark in marks:
            unseen.setdefault(mark, []).append(name)
    yield from observed(context, "symbol")
    yield from _unrecorded(context, "symbol")
    yield from _unread_directives(context)
    yield from _moved_perhaps(context)
    for facet in DECLARING:
        if facet == "layout" or any(side.snapshot.tells_of(facet) for side in (context.old, context.new)):
            yield from observed(context, facet)
            yield from _unrecorded(context, facet)
        if facet == "source":
            yield from _disagreeing(context)
            yield from _passed_over(context)
            if "layout" not in facets:
                yield from _without_layout(context)
        if facet == "layout" and facet in facets:
            yield from _undescribed(context)
            yield from _brought(context)
            yield from _chosen_at_load_time(context)
            yield from _of_unknown_version(context)
        if facet == "layout" and context.old.exports.numbers:
            yield from _behind_numbers(context)
        for place in PLACES:
            yield from _exported_only(context, place, unseen.get(UnseenMark(facet, place, "exported"), ()))
        for place in PLACES:
            yield from _declared_only(facet, place, unseen.get(UnseenMark(facet, place, "declared"), ()))
        yield from _constants_only(unseen.get(UnseenMark(facet, "new", "constant"), ()))


def _without_layout(context: Context) -> Iterator[NotChecked]:
    """The template instances that the public headers of both sides mention, and of which one tells no layout.

    What they are made of may be wrong, or a partial specialization whose base classes depend on its parameters.
    """
    old, new = (_unlaid(side) for side in (context.old, context.new))
    laid_old, laid_new = (side.snapshot.entries.get("source", {}).keys() for side in (context.old, context.new))
    sides: tuple[tuple[Literal["old", "new", "both"], SideFacts, set[Name]], ...]
    sides = (
        ("both", context.new, old & new),
        ("old", context.old, old & laid_new),
        ("new", context.new, new & laid_old),
    )
    for place, side, found in sides:
        if names := tuple(sorted(found)):
            have = "instance has" if len(names) == 1 else "instances have"
            why = _unmade(side)
            first = ", ".join(each.spelling + why.get(each.spelling, "") for each in names[:MOST_LISTED])
            more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
            detail = f"{len(names)} template {have} no layout in headers: {first}{more}"
            yield NotChecked(
                "source", place, NO_LAYOUT, detail, "keep debug information, so that layouts can be compared"
            )


def _unmade(side: SideFacts) -> dict[str, str]:
    read = side.snapshot.provenance.headers
    return {name: f" ({why})" for name, why in read.unmade} if isinstance(read, HeadersRead) else {}


def _unlaid(side: SideFacts) -> set[Name]:
    source = side.snapshot.entries.get("source", {})
    mentioned = {each for shapes in source.values() for shape in shapes for each, _ in references(shape)}
    return {each for each in mentioned - source.keys() if each.kind == "record" and "<" in each.spelling}


def observed(context: Context, facet: Facet) -> tuple[NotChecked, ...]:
    """Why ``facet`` cannot be compared at all, or not completely; empty where both sides saw all of it."""
    found: list[NotChecked] = []
    for place, side in zip(PLACES, (context.old, context.new), strict=True):
        evidence = side.snapshot.evidence_of(facet)
        if evidence_rank(evidence) < 2:
            reason = evidence.reason or f"{evidence.state}-evidence"
            detail = evidence.detail or f"{evidence.described} of {counted(evidence.expected, 'export')} described"
            detail += _meaning(context, evidence)
            if facet == "source" and reason == "not-requested":
                found.append(NotChecked(facet, place, reason, *_not_given(place)))
            else:
                names = _declared_by_old_only(context) if _lost_in_part(evidence, place) else ()
                found.append(NotChecked(facet, place, reason, detail, evidence.hint, names))
    if len(found) == 2 and found[0].reason == found[1].reason:
        return (msgspec.structs.replace(found[0], side="both", names=found[1].names),)
    return (*found, *(_given_differently(context) if facet == "source" else ()))


def _meaning(context: Context, evidence: Evidence) -> str:
    """What it means that a side has no debug information: which headers tell in its place, or nobody does."""
    if (evidence.facet, evidence.state) != ("layout", "missing"):
        return ""
    if comparable(context, "source"):
        return "; parameters, callbacks and types are compared as declared in headers, not as built"
    return "; parameters, callbacks, constants and the layouts of types are not compared"


def _lost_in_part(evidence: Evidence, place: Place) -> bool:
    """Whether headers of the new side were left out, with what the old side may have declared in them."""
    in_part = (evidence.facet, evidence.state, place) == ("source", "partial", "new")
    return in_part and not evidence.declares_all


C_TYPES: Final = frozenset({"BTF", "CTF"})


def _unrecorded(context: Context, facet: Facet) -> Iterator[NotChecked]:
    """The facts that the inputs of a side do not record, and so were not compared."""
    old, new = (unrecorded_by(side.snapshot.evidence_of(facet)) for side in (context.old, context.new))
    sides: tuple[tuple[Literal["old", "new", "both"], frozenset[str]], ...]
    sides = ("both", old & new), ("old", old - new), ("new", new - old)
    for side, facts in sides:
        if facts and facts <= OF_COMPILERS:
            if side != "both":
                what = f"the compiler of the {side} side does not record: {spelled(facts)}"
                hint = "build both releases with one compiler and -gdwarf-5, or pass the headers of both"
                yield NotChecked(facet, side, NOT_RECORDED, what, hint)
        elif facts:
            inputs = _inputs(context, side, facet)
            what = f"{' and '.join(inputs)} does not record: {spelled(facts)}"
            hint = "compare two binaries, or snapshots from `abistore export`, so that these can be checked"
            if not C_TYPES.isdisjoint(inputs):
                hint = "build both releases with -g, so that these can be checked"
            yield NotChecked(facet, side, NOT_RECORDED, what, hint)


def _unread_directives(context: Context) -> Iterator[NotChecked]:
    """That one side was stored without what its dylib tells linkers, of which the other side has something."""
    told = [side.library.on_macho.directives if side.library else None for side in (context.old, context.new)]
    for place, own, other in zip(PLACES, told, reversed(told), strict=True):
        if own is None and other:
            what = f"the linker directives for single systems in the {place} dylib were not read"
            hint = "read it again with `abistore ingest` or `abistore export`"
            yield NotChecked("symbol", place, "directives-not-read", what, hint)


def _inputs(context: Context, side: Literal["old", "new", "both"], facet: Facet) -> list[str]:
    """What does not record the facts: the section of a library that describes its types, or the form of the input."""
    sides = {"both": (context.old, context.new), "old": (context.old,), "new": (context.new,)}[side]
    sources = [(each.snapshot.evidence_of(facet).source, each.snapshot.provenance.reader) for each in sides]
    return sorted({source if source in C_TYPES else reader or "the input" for source, reader in sources})


def _given_differently(context: Context) -> Iterator[NotChecked]:
    """That headers of one side were not given for the other, or were read in another way."""
    if all(side.snapshot.evidence_of("source").state != "missing" for side in (context.old, context.new)):
        yield from _read_differently(context)
    for place, side, other in zip(PLACES, (context.old, context.new), (context.new, context.old), strict=True):
        if lacking := not_given(side, other):
            detail = f"{_lacking(side, lacking)} given for the other side, but not for the {place} side"
            hint = "pass the same headers for both sides, or the folder that contains them"
            yield NotChecked(
                "source", place, HEADERS_NOT_GIVEN, f"{detail}: changes in the missing part are not reported", hint
            )


def _lacking(side: SideFacts, lacking: Sequence[str]) -> str:
    """Which headers a side lacks, and which of them lie beside those that it was given: ``b.h was``."""
    was, there = "were" if len(lacking) > 1 else "was", lying_there(side, lacking)
    if not there:
        return f"{_listed(lacking)} {was}"
    lie = f"{'lie' if len(there) > 1 else 'lies'} beside the given headers"
    if len(there) == len(lacking):
        return f"{_listed(lacking)} {lie} and {was}"
    return f"{_listed(lacking)} ({_listed(there)} {lie}) {was}"


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - MOST_LISTED} more" if len(files) > MOST_LISTED else ""
    return f"{', '.join(files[:MOST_LISTED])}{more}"


def _not_given(place: Place) -> tuple[str, str]:
    detail = f"no public headers were given for the {place} side; checks that need those of both sides were skipped"
    return detail, f"pass them with --header, here or at ingest; `compare` has --{place}-header for one side"


def _read_differently(context: Context) -> Iterator[NotChecked]:
    """That declarations which one side lacks tell nothing: its headers were read in another way."""
    if not read_alike(context):
        old, new = (_reading(side) for side in (context.old, context.new))
        detail = f"the headers were read with {old}, then with {new}: declarations of only one side are not reported"
        hint = "read both sides' headers with the same options"
        is_selected = any(map(selects, read_otherwise(context.old, context.new))) or bool(chosen_otherwise(context))
        reason = HEADERS_SELECTED_DIFFERENTLY if is_selected else HEADERS_READ_DIFFERENTLY
        yield NotChecked("source", "both", reason, detail, hint, _declared_by_old_only(context))
    elif asked := chosen_otherwise(context):
        hint = "read both sides' headers with the same folders and options; pass missing headers of the library"
        detail = f"the headers were read with other options on one side: {said(asked)}"
        names = tuple(name for name in _declared_by_old_only(context) if is_chosen_otherwise(context, name))
        yield NotChecked("source", "both", HEADERS_SELECTED_DIFFERENTLY, detail, hint, names)


def _reading(side: SideFacts) -> str:
    read = side.snapshot.provenance.headers
    words = (read.language.upper(), *read.options) if isinstance(read, HeadersRead) else ()
    return " ".join(filter(None, words)) or "no options"


def _declared_by_old_only(context: Context) -> tuple[Name, ...]:
    """What the new side's headers may hide: the old side's public headers declare it, and the new one's do not."""
    old, new = (side.snapshot.entries.get("source", {}) for side in (context.old, context.new))
    return tuple(sorted(name for name in old if name not in new and context.concerns(name)))


def _passed_over(context: Context) -> Iterator[NotChecked]:
    if any(isinstance(side.snapshot.provenance.headers, HeadersRead) for side in (context.old, context.new)):
        from abistore.diffing.headers import unread  # not needed without headers

        yield from unread(context)


def _disagreeing(context: Context) -> Iterator[NotChecked]:
    for place, side in zip(PLACES, (context.old, context.new), strict=True):
        if side.disagreeing:
            types = counted(len(side.disagreeing), "type")
            detail = f"headers and debug information disagree about {types}; the debug information is used"
            yield NotChecked("source", place, HEADERS_DISAGREE, detail, STRANGERS_HINT, tuple(sorted(side.disagreeing)))


def _undescribed(context: Context) -> Iterator[NotChecked]:
    """Classes that both sides, or one, only declare, although headers define them; none that were read there."""
    old, new = (
        frozenset(name for name in side.undescribed if not isinstance(side.shape(name), Record))
        for side in (context.old, context.new)
    )
    sides: tuple[tuple[Literal["old", "new", "both"], frozenset[Name]], ...]
    sides = ("both", old & new), ("old", old - new), ("new", new - old)
    for side, names in sides:
        if names:
            what = told_undescribed(names)
            yield NotChecked("layout", side, CLASS_NOT_DESCRIBED, what, UNDESCRIBED_HINT, tuple(sorted(names)))


def _brought(context: Context) -> Iterator[NotChecked]:
    """Classes of which programs alone have objects, and that nothing describes: interfaces are left out so."""
    if not all(map(_may_bring, (context.old, context.new))):
        return

    old, new = map(brought_classes, (context.old, context.new))
    sides: tuple[tuple[Literal["both", "old"], frozenset[Name]], ...]
    sides = ("both", old & new), ("old", frozenset(name for name in old if _is_dynamic(context.new.shape(name))))
    for side, names in sides:
        if names:
            what = (
                f"the debug information only declares {counted(len(names), 'class', 'classes')} that programs pass in"
            )
            hint = f"pass the headers with --header, or {UNDESCRIBED_HINT}"
            yield NotChecked("layout", side, CLASS_PERHAPS_NOT_DESCRIBED, what, hint, tuple(sorted(names)))


def _is_dynamic(shape: object) -> bool:
    """Whether a class has a vtable: of one with pure functions alone compilers write what they write of a handle."""
    return isinstance(shape, Record) and bool(shape.has_vptr or shape.virtuals)


def _may_bring(side: SideFacts) -> bool:
    """Whether a side may have such classes: of C++, and without headers, which tell what a class is."""
    return "source" not in side.snapshot.entries and side.is_of_cpp


def _chosen_at_load_time(context: Context) -> Iterator[NotChecked]:
    """Functions that both sides export as an IFUNC and neither describes: compilers record their resolvers only."""
    both = context.old.exports.chosen_at_load_time & context.new.exports.chosen_at_load_time
    chosen = sorted(
        name for name in both if not any(side.variants("layout", name) for side in (context.old, context.new))
    )
    if chosen:
        what = f"{counted(len(chosen), 'export is', 'exports are')} chosen at load time (IFUNC) and not described"
        hint = "compare their declarations in the headers"
        yield NotChecked("layout", "both", "ifunc-not-described", what, hint, tuple(chosen))


def _behind_numbers(context: Context) -> Iterator[NotChecked]:
    """The exports by number of which a side does not tell what is behind them."""
    both = shared_numbers(context)
    old, new = ({each for each in both if not behind(side, each).told} for side in (context.old, context.new))
    for side, names in _by_side(old, new):
        what = f"the functions behind {counted(len(names), 'export')} by ordinal are not known"
        hint = "keep the symbol table of the DLL, or its debug information"
        yield NotChecked("layout", side, "number-not-described", what, hint, names)


def _of_unknown_version(context: Context) -> Iterator[NotChecked]:
    """Exports with several versions of which a side describes one, and does not tell which."""
    old, new = (
        {each for each in side.exports.of_several_versions if is_of_unknown_version(side, each)}
        for side in (context.old, context.new)
    )
    for side, names in _by_side(old, new):
        some = counted(len(names), "export has", "exports have")
        what = f"{some} several versions; the debug information may describe any of them"
        hint = "read the library again with `abistore ingest` or `abistore export`"
        yield NotChecked("layout", side, VERSION_NOT_RECORDED, what, hint, names)


def _by_side(old: Set[Name], new: Set[Name]) -> Iterator[tuple[Literal["old", "new", "both"], tuple[Name, ...]]]:
    """The names of both sides, and those of one alone, sorted; none where there are none."""
    sides: tuple[tuple[Literal["old", "new", "both"], Set[Name]], ...]
    sides = ("both", old & new), ("old", old - new), ("new", new - old)
    yield from ((side, tuple(sorted(names))) for side, names in sides if names)


def _moved_perhaps(context: Context) -> Iterator[NotChecked]:
    """Removed exports that a library may have which only the new side needs: programs find them in it."""
    before, after = context.old.library, context.new.library
    if before is None or after is None or context.new.snapshot.target.format == "pe":
        return
    known = set(map(family, before.needed))
    needed = [each for each in after.needed if family(each) not in known and library_name(each) not in OWNERS]
    come = list(dict.fromkeys([*needed, *unread_reexports(context)]))
    removed = tuple(sorted(name for name in context.differing["symbol"] if _is_removed(context, name))) if come else ()
    if removed:
        what = (
            f"{', '.join(come)}: newly needed, and may provide {counted(len(removed), 'export')} that this library lost"
        )
        hint = "compare folders or packages that hold both libraries"
        yield NotChecked("symbol", "new", NEEDED_NOT_GIVEN, what, hint, removed)


def _is_removed(context: Context, name: Name) -> bool:
    exported = bool(context.old.variants("symbol", name)) and name.spelling not in context.new.exports.names
    return name.kind in EXPORTS and exported and context.old.consumers.can_name(name)


def _exported_only(context: Context, place: Place, names: Collection[Name]) -> Iterator[NotChecked]:
    if names:
        evidence = (context.old if place == "old" else context.new).snapshot.evidence_of("layout")
        what = f"{counted(len(names), 'export is', 'exports are')} described by the other side only"
        reason = evidence.reason if evidence.state != "full" else EXPORT_NOT_DESCRIBED
        hint = evidence.hint or "build it from C or C++ with debug information, or pass the headers of both releases"
        yield NotChecked("layout", place, reason, what, hint, tuple(sorted(names)))


def _declared_only(facet: Facet, place: Place, names: Collection[Name]) -> Iterator[NotChecked]:
    if names:
        what = f"the debug information only declares {counted(len(names), 'type')} that the other side defines"
        hint = "build with -fstandalone-debug (Clang), or with -g in the unit that defines them"
        yield NotChecked(facet, place, TYPE_NOT_DESCRIBED, what, hint, tuple(sorted(names)))


def _constants_only(names: Collection[Name]) -> Iterator[NotChecked]:
    if names:
        what = f"{counted(len(names), 'enumeration')} of the library's own headers that the new debug information omits"
        hint = "compare the headers: compilers leave out what the library does not use itself"
        yield NotChecked("layout", "new", "constants-not-recorded", what, hint, tuple(sorted(names)))


# --- a facet, a declaration -------------------------------------------------------------------------------------------


def comparable(context: Context, facet: Facet) -> bool:
    """Whether both sides saw something in ``facet``."""
    sides = (context.old.snapshot, context.new.snapshot)
    return all(facet in side.entries and side.evidence_of(facet).state != "missing" for side in sides)


def read_alike(context: Context) -> bool:
    """Whether the headers of both sides were read with the same options, as far as is known.

    Where they were not, a declaration that one side lacks may stand behind a macro, or in a header that was left out.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead):
        return True
    return old.language == new.language and not read_otherwise(context.old, context.new)


def read_as_another_language(context: Context) -> bool:
    """Whether one side's headers were read as C and the other's as C++, which spell types in their own ways."""
    found = (side.snapshot.provenance.headers for side in (context.old, context.new))
    languages = {each.language for each in found if isinstance(each, HeadersRead) and each.language}
    return len(languages) > 1


def marks(context: Context, facet: Facet, name: Name) -> Iterator[UnseenMark]:
    """What one side did not see of ``name``."""
    if facet == "layout" and (place := _exported_only_by(context, facet, name)):
        yield UnseenMark(facet, place, "exported")
    if place := declared_only_by(context, facet, name):
        yield UnseenMark(facet, place, "declared")
    if facet == "layout" and name.kind == "enum" and _is_left_out(context, name):
        yield UnseenMark(facet, "new", "constant")


def _is_left_out(context: Context, name: Name) -> bool:
    gone = not context.new.variants("layout", name) and name not in context.renames.targets
    return gone and bool(context.old.variants("layout", name)) and not context.old.reach.reaches(name)


def _exported_only_by(context: Context, facet: Facet, name: Name) -> Place | None:
    sides = context.old, context.new
    export = exported(*sides, name)
    if name.kind in TYPES or not context.exported(export) or not is_declared(export.spelling):
        return None
    if comparable(context, "source") and all(only_described(side.variants("source", export)) for side in sides):
        return None  # what headers declare is compared in its place
    before, after = (side.snapshot.entries[facet] for side in sides)
    pairs = [(name, name)]
    if has_versions(*sides, name):
        if any(is_of_unknown_version(side, export) for side in sides):
            return None
        found = version_pairs(*sides, export)
        pairs = [(each.old, each.new) for each in found if name in (each.old, each.new)]
    described = next(((old in before, new in after) for old, new in pairs if (old in before) != (new in after)), None)
    return None if described is None else "new" if described[0] else "old"


def declared_only_by(context: Context, facet: Facet, name: Name) -> Place | None:
    """The side that does not show the definition of a type that the other has, although it may well be there.

    The language requires it where the type is used by value. In C++ Clang leaves the definition of a class out where
    no constructor is compiled, so that its absence tells nothing of an old library, nor of a new one that another
    compiler built before.
    """
    old, new = context.old.variants(facet, name), context.new.variants(facet, name)
    if name.kind not in TYPES or not old or not new:
        return None
    if facet == "source" and (place := _undefined_by(context, old, new)):
        return place
    if _is_only_declared(old) and _is_defined(new) and name not in context.old.undescribed:
        used = _leaves_out(context.old) or context.old.reach.reaches(name, by_value=True)
        return "old" if used else None
    if _is_only_declared(new) and _is_defined(old) and name not in context.new.undescribed:
        left_out = _leaves_out(context.new) and not context.same_toolchain
        return "new" if left_out or context.new.reach.reaches(name, by_value=True) else None
    return None


def _undefined_by(context: Context, old: Variants, new: Variants) -> Place | None:
    """The side whose headers have errors, and do not define a type that the other's define: a file may be missing."""
    for place, own, other in zip(PLACES, (old, new), (new, old), strict=True):
        side = context.old if place == "old" else context.new
        unread = not side.snapshot.evidence_of("source").declares_all
        if unread and _is_defined(other) and all(isinstance(each, Opaque | Declared) for each in own):
            return place
    return None


def _is_only_declared(shapes: Variants) -> bool:
    return all(isinstance(shape, Opaque) for shape in shapes)


def _is_defined(shapes: Variants) -> bool:
    return any(isinstance(shape, Record | Enum) for shape in shapes)


def _leaves_out(side: SideFacts) -> bool:
    return side.is_of_cpp and any("clang" in each for each in side.snapshot.provenance.compilers)
