"""Small libraries whose types are laid out here, and edits of them: each is one decision that somebody may approve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from abistore.model.declarations import Name
from abistore.model.shapes import (
    Array,
    Base,
    Enum,
    Enumerator,
    Field,
    Named,
    Record,
    Symbol,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import Snapshot
from tests.diffing.model import CHAR, INT, LONG, VOID, record, snapshot, to, uses

INNER, OUTER, DERIVED, CHOICE, SHAPE, ROUND = (
    record(each) for each in ("Inner", "Outer", "Derived", "Choice", "Shape", "Round")
)
COLOUR, OBJECT = Name("enum", "Colour"), Name("variable", "object")
RECORDS = (INNER, OUTER, DERIVED, CHOICE)
TYPES: Mapping[str, TypeRef] = {
    "char": CHAR,
    "int": INT,
    "long": LONG,
    "ints": Array(INT, 3),
    "pointer": to(INT),
    "inner": Named(INNER),
    "inners": Array(Named(INNER), 2),
}
PLAIN = ("char", "int", "long", "ints", "pointer")


@dataclass(frozen=True)
class Member:
    """A data member. ``asked`` is an alignment in bytes, ``gap`` bytes without a name before it, ``bits`` a width."""

    name: str
    type: str
    asked: int = 0
    gap: int = 0
    bits: int = 0


@dataclass(frozen=True)
class Class:
    """A record: its members in order, and what is asked for the whole."""

    members: tuple[Member, ...]
    base: Name | None = None
    union: bool = False
    asked: int = 0
    packed: bool = False


@dataclass(frozen=True)
class Library:
    """Everything that an edit can change."""

    classes: Mapping[Name, Class]
    numbers: tuple[tuple[str, int | None], ...]
    shape: tuple[str, ...]
    round: tuple[str, ...]
    functions: frozenset[str] = frozenset({"f", "g"})
    reuses: bool = field(default=False)


@dataclass(frozen=True)
class Edit:
    """One change: ``verb`` does it to the part ``what`` of ``where``, with ``how``; ``after`` is a place."""

    verb: str
    where: str
    what: str
    how: str = ""
    after: int = 0


def applied(library: Library, edits: Iterable[Edit]) -> Library:
    """A library with edits; one that finds nothing to change does nothing."""
    for edit in edits:
        library = _applied(library, edit)
    return library


def _applied(library: Library, edit: Edit) -> Library:
    if edit.where == "numbers":
        return replace(library, numbers=_numbers(library.numbers, edit))
    if edit.where in ("shape", "round"):
        return replace(library, **{edit.where: _listed(getattr(library, edit.where), edit)})
    if edit.where == "functions":
        return replace(library, functions=library.functions - {edit.what})
    name = record(edit.where)
    return replace(library, classes={**library.classes, name: _class(library.classes[name], edit)})


def _listed(found: tuple[str, ...], edit: Edit) -> tuple[str, ...]:
    rest = [each for each in found if each != edit.what]
    known = edit.what in found
    if (edit.verb == "add") is known or (edit.verb not in ("add", "remove", "move")):
        return found
    at = min(edit.after, len(rest))
    return tuple(rest) if edit.verb == "remove" else (*rest[:at], edit.what, *rest[at:])


def _numbers(found: tuple[tuple[str, int | None], ...], edit: Edit) -> tuple[tuple[str, int | None], ...]:
    if edit.verb == "set":
        return tuple((name, edit.after if name == edit.what else value) for name, value in found)
    values = dict(found)
    return tuple((each, values.get(each)) for each in _listed(tuple(name for name, _ in found), edit))


def _class(found: Class, edit: Edit) -> Class:
    if edit.verb == "align":
        return replace(found, asked=edit.after)
    if edit.verb == "pack":
        return replace(found, packed=True)
    members = {each.name: each for each in found.members}
    if edit.verb == "add":
        members.setdefault(edit.what, Member(edit.what, edit.how))
    elif edit.what in members:
        change = {"retype": {"type": edit.how, "bits": 0}, "realign": {"asked": edit.after}, "gap": {"gap": edit.after}}
        members[edit.what] = replace(members[edit.what], **change.get(edit.verb, {}))
    order = _listed(tuple(each.name for each in found.members), edit)
    return replace(found, members=tuple(members[each] for each in order if each in members))


# --- laying out ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Laid:
    shape: Record
    alignment: int
    end: int


def built(library: Library) -> Snapshot:
    """The library as a compiler for x86-64 lays it out."""
    laid: dict[Name, _Laid] = {}
    for name, each in library.classes.items():
        laid[name] = _laid(each, laid, library.reuses)
    value, enumerators = -1, []
    for word, given in library.numbers:
        value = value + 1 if given is None else given
        enumerators.append(Enumerator(word, value))
    shape = _methods("Shape", library.shape, 0)
    own = [each for each in library.round if each not in library.shape]
    overriding = [each for each in shape if each.display in library.round]
    inherited = [replace_owner(each) for each in overriding]
    round_ = (*inherited, *_methods("Round", own, len(shape)))
    word = Field("w", INT, 64)
    functions = {
        Name("function", each): uses(*(to(name) for name in (*RECORDS, SHAPE, ROUND))) for each in library.functions
    }
    layout = {
        **{name: each.shape for name, each in laid.items()},
        **functions,
        Name("function", "paint"): uses(Named(COLOUR)),
        COLOUR: Enum(4, tuple(enumerators), INT),
        OBJECT: Variable("object", Named(OUTER)),
        SHAPE: Record("class", 16, (word,), virtuals=shape, has_vptr=True),
        ROUND: Record("class", 16, (), (Base(Named(SHAPE), 0),), virtuals=round_),
    }
    symbols = {name: Symbol("function") for name in layout if name.kind == "function"}
    symbols[OBJECT] = Symbol("data", size=laid[OUTER].shape.size)
    return snapshot(layout, symbols=symbols)


def replace_owner(method: VirtualMethod) -> VirtualMethod:
    """The function of ``Round`` that overrides one of ``Shape``."""
    return VirtualMethod(method.display, method.symbol.replace("5Shape", "5Round"), method.slot, VOID)


def _methods(owner: str, names: Iterable[str], first: int) -> tuple[VirtualMethod, ...]:
    return tuple(
        VirtualMethod(name, f"_ZN5{owner}{len(name)}{name}Ev", slot, VOID) for slot, name in enumerate(names, first)
    )


def _laid(each: Class, laid: Mapping[Name, _Laid], reuses: bool) -> _Laid:
    fields, bases = [], []
    end, alignment, longest = 0, 1, 0
    if each.base is not None:
        below = laid[each.base]
        bases.append(Base(Named(each.base), 0))
        end, alignment = 8 * (below.end if reuses else below.shape.size), below.alignment
    for member in each.members:
        size, natural = _form(member.type, laid)
        natural = 1 if each.packed else natural
        natural = max(natural, member.asked)
        start = 0 if each.union else end + 8 * member.gap
        bits = member.bits and min(member.bits, 8 * size)
        if not bits or start % (8 * size) + bits > 8 * size:
            start = -(-start // (8 * natural)) * 8 * natural
        fields.append(Field(member.name, TYPES[member.type], start, bits or None))
        end = start + (bits or 8 * size)
        alignment, longest = max(alignment, natural), max(longest, end)
    end = longest if each.union else end
    own = -(-end // 8)
    alignment = max(alignment, each.asked)
    size = max(1, -(-own // alignment) * alignment)
    sort = "union" if each.union else "struct"
    shape = Record(sort, size, tuple(fields), tuple(bases), alignment=each.asked or None)
    return _Laid(shape, alignment, own)


def _form(type: str, laid: Mapping[Name, _Laid]) -> tuple[int, int]:
    if type.startswith("inner"):
        inner = laid[INNER]
        return inner.shape.size * (2 if type == "inners" else 1), inner.alignment
    return {"char": (1, 1), "int": (4, 4), "long": (8, 8), "ints": (12, 4), "pointer": (8, 8)}[type]


# --- drawing ------------------------------------------------------------------------------------------------------


def _members(letters: str, types: Iterable[str]) -> st.SearchStrategy[tuple[Member, ...]]:
    names = st.lists(st.sampled_from(letters), min_size=1, max_size=len(letters), unique=True)

    def typed(found: list[str]) -> st.SearchStrategy[tuple[Member, ...]]:
        return st.tuples(*(st.builds(_member, st.just(name), st.sampled_from(list(types)), _BITS) for name in found))

    return names.flatmap(typed)


def _member(name: str, type: str, bits: int) -> Member:
    return Member(name, type, bits=bits if type in ("int", "char") else 0)


_BITS = st.sampled_from([0, 0, 0, 3, 9])

libraries = st.builds(
    lambda inner, outer, derived, choice, shape, reuses: Library(
        {
            INNER: Class(inner),
            OUTER: Class(outer),
            DERIVED: Class(derived, base=INNER),
            CHOICE: Class(choice, union=True),
        },
        (("RED", None), ("GREEN", None), ("BLUE", None), ("BLACK", None)),
        tuple(shape),
        ("draw", "roll", "spin"),
        reuses=reuses,
    ),
    _members("abc", PLAIN),
    _members("klmn", TYPES),
    _members("pqr", PLAIN),
    _members("uv", TYPES),
    st.permutations(["draw", "move", "hide"]),
    st.booleans(),
)

NAMES = ("draw", "move", "hide", "roll", "zoom", "fade")
COLOURS = ("RED", "GREEN", "BLUE", "BLACK", "WHITE", "BROWN")


def edits(base: Library, where: str) -> st.SearchStrategy[Edit]:
    """One edit of a class, the enumeration (``numbers``), a vtable or the functions."""
    places = st.integers(0, 5)
    if where == "functions":
        return st.builds(Edit, st.just("remove"), st.just(where), st.sampled_from("fg"))
    if where in ("numbers", "shape", "round"):
        known = COLOURS if where == "numbers" else NAMES
        verbs = ["add", "remove", "move", *(["set"] if where == "numbers" else [])]
        return st.builds(Edit, st.sampled_from(verbs), st.just(where), st.sampled_from(known), st.just(""), places)
    types = PLAIN if where in ("Inner", "Derived") else tuple(TYPES)
    members = st.sampled_from([each.name for each in base.classes[record(where)].members])
    small = st.sampled_from([0, 1, 2, 4, 16])
    return st.one_of(
        st.builds(Edit, st.just("add"), st.just(where), st.sampled_from("xy"), st.sampled_from(types), places),
        st.builds(Edit, st.sampled_from(["remove", "move"]), st.just(where), members, st.just(""), places),
        st.builds(Edit, st.just("retype"), st.just(where), members, st.sampled_from(types)),
        st.builds(Edit, st.sampled_from(["realign", "gap"]), st.just(where), members, st.just(""), small),
        st.builds(Edit, st.sampled_from(["align", "pack"]), st.just(where), st.just(""), st.just(""), small),
    )


def places(where: str) -> st.SearchStrategy[str]:
    """Where something has an effect on ``where``."""
    return st.sampled_from([where, *{"Outer": ["Inner"], "Derived": ["Inner"], "round": ["shape"]}.get(where, [])])


@st.composite
def approvals(draw: st.DrawFn) -> tuple[Library, list[Edit], Edit]:
    """A library, edits that are approved, and one more that has to do with them."""
    base = draw(libraries)
    where = draw(st.sampled_from(["Inner", "Outer", "Outer", "Derived", "Choice", "numbers", "shape", "round"]))
    approved = draw(st.lists(places(where).flatmap(lambda each: edits(base, each)), min_size=1, max_size=3))
    return base, approved, draw(st.one_of(edits(base, where), edits(base, where), edits(base, "functions")))
