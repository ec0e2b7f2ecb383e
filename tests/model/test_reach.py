"""What exports reach, by value and by pointer, and which exports reach a type."""

from __future__ import annotations

from itertools import pairwise

import pytest

from abistore.model.declarations import Name
from abistore.model.reach import Reach
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Base,
    Field,
    Foreign,
    Function,
    Inline,
    Method,
    Named,
    Pointer,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot, Target
from abistore.model.structure import embedded, references

P = Name("record", "geo::P")
Q = Name("record", "geo::Q")
F = Name("function", "f")
ENUM = Name("enum", "e")


def snapshot(layout: dict[Name, AnyShape]) -> Snapshot:
    entries = {name: (shape,) for name, shape in layout.items()}
    return Snapshot("lib", None, Target("elf", "x86_64", 64, "little"), {"layout": entries})


def record(*types: TypeRef, bases: tuple[Base, ...] = ()) -> Record:
    return Record("struct", 8, tuple(Field(f"f{i}", type, 0) for i, type in enumerate(types)), bases)


MENTIONS: list[tuple[str, AnyShape, bool]] = [
    ("a parameter", Function("f", VOID, (Named(P),)), True),
    ("a result", Function("f", Named(P)), True),
    ("a pointer", Function("f", VOID, (Pointer(Named(P)),)), False),
    ("a reference to const", Function("f", VOID, (Pointer(Qualified(Named(P), ("const",)), "&"),)), False),
    ("a callback's parameter", Function("f", VOID, (Pointer(Procedure(VOID, (Named(P),))),)), True),
    ("a callback's pointer", Function("f", VOID, (Pointer(Procedure(VOID, (Pointer(Named(P)),))),)), False),
    ("a variable", Variable("v", Array(Named(P), 3)), True),
    ("this", Function("geo::P::area", VOID, method=Method(P)), False),
    ("the object under construction", Function("geo::P::P", VOID, method=Method(P)), True),
    ("an anonymous member", record(Inline(record(Named(P)))), True),
    ("a base", record(bases=(Base(Named(P), 0),)), True),
    ("an own template's argument", Record("struct", 8, arguments=(Named(P),)), False),
    ("a standard template's argument", Foreign("class", 8, 8, (Named(P),)), True),
]


def reached(reach: Reach, *, by_value: bool = False) -> set[Name]:
    return {name for name in (P, Q, F, ENUM) if reach.reaches(name, by_value=by_value)}


@pytest.mark.parametrize(("what", "shape", "by_value"), MENTIONS, ids=[what for what, _, _ in MENTIONS])
def test_a_mention_is_by_value_when_callers_depend_on_the_layout(what, shape, by_value):
    assert list(references(shape)) == [(P, by_value)]


def test_a_smart_pointer_only_points():
    shape = Foreign("class", 8, 8, (Named(P),))
    assert list(references(shape, Name("record", "std::unique_ptr<geo::P, std::default_delete<geo::P>>"))) == [
        (P, False)
    ]


def test_a_static_method_says_nothing_about_its_class():
    assert list(references(Function("geo::P::make", VOID, method=Method(P, static=True)))) == []


def test_by_value_ends_at_the_first_pointer_of_a_path():
    reach = Reach(snapshot({F: Function("f", VOID, (Named(P),)), P: record(Pointer(Named(Q))), Q: record(Named(ENUM))}))
    assert reached(reach, by_value=True) == {P}
    assert reached(reach) == {P, Q, ENUM}


def test_one_path_by_value_is_enough():
    reach = Reach(snapshot({F: Function("f", Pointer(Named(P)), (Named(P),)), P: record()}))
    assert reach.reaches(P, by_value=True)


def test_the_exports_that_reach_a_type_are_found_through_cycles():
    g = Name("function", "g")
    layout = {F: Function("f", Pointer(Named(P))), g: Function("g", Named(Q)), P: record(Pointer(Named(Q)))}
    reach = Reach(snapshot({**layout, Q: record(Pointer(Named(P)))}))
    assert reach.exports_reaching(P) == (F, g)
    assert reach.exports_reaching(Q, by_value=True) == (g,)
    assert reach.exports_reaching(F) == (F,)
    assert reach.exports_reaching(Name("record", "unknown")) == ()


def test_a_chain_of_sixty_thousand_records_is_followed():
    names = [Name("record", f"r{i}") for i in range(60_000)]
    layout: dict[Name, AnyShape] = {F: Function("f", Named(names[0]))}
    layout.update((name, record(Named(following))) for name, following in pairwise(names))
    reach = Reach(snapshot(layout))
    assert all(reach.reaches(name, by_value=True) for name in names)
    assert reach.exports_reaching(names[-1]) == (F,)


def test_what_a_later_release_reaches_follows_from_what_differs():
    first = snapshot({F: Function("f", VOID, (Named(P),)), P: record(Pointer(Named(Q))), Q: record(Named(ENUM))})
    second = snapshot({F: Function("f", VOID, (Named(P),)), P: record(Pointer(Named(P))), ENUM: record()})
    reach = Reach(first)
    assert reach.exports_reaching(ENUM) == (F,)
    later = reach.after(second, [P, Q, ENUM])
    assert reached(later) == {P}
    assert later.exports_reaching(ENUM) == ()
    assert list(later.users(P)) == [F, P]
    assert reach.exports_reaching(ENUM) == (F,)


@pytest.mark.parametrize("first", [P, Q])
def test_who_watches_is_told_of_what_was_asked_whatever_another_walked_before(first: Name) -> None:
    """``f`` takes ``Q``, which points to ``P``."""
    reach = Reach(snapshot({F: Function("f", VOID, (Named(Q),)), Q: record(Pointer(Named(P))), P: record()}))
    reach.watched(lambda key: None).exports_reaching(first)
    seen = set[tuple[str, Name]]()
    watched = reach.watched(seen.add)
    assert watched.exports_reaching(P) == (F,)
    assert list(watched.users(Q)) == [F]
    assert seen == {("exports", P), ("reach", Q)}


def test_other_users_far_above_are_noted_of_all_that_they_lead_to_and_of_nothing_else() -> None:
    """``f`` took ``Q``, which points to ``P``; ``g`` takes an enumeration."""
    g = Name("function", "g")
    rest: dict[Name, AnyShape] = {
        Q: record(Pointer(Named(P))),
        P: record(),
        g: Function("g", VOID, (Named(ENUM),)),
        ENUM: record(),
    }
    before = Reach(snapshot({F: Function("f", VOID, (Named(Q),)), **rest}))
    assert before.exports_reaching(P) == (F,)
    later = before.after(snapshot({F: Function("f", VOID, ()), **rest}), [F])
    assert set(later.noted_otherwise(before, [F])) == {
        *(("reach", name) for name in (F, Q)),
        *(("exports", name) for name in (F, Q, P)),
    }


def test_only_what_lies_inside_is_embedded():
    assert list(embedded(record(Named(P), Pointer(Named(Q)), Pointer(Procedure(Named(Q), ()))))) == [P]
    assert list(embedded(Alias(Array(Qualified(Named(P), ("const",)), 2)))) == [P]
