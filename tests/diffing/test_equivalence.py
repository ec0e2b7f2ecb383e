"""How far types of two releases are the same for a built consumer."""

from __future__ import annotations

import pytest

from abistore.diffing.types.equivalence import Equivalence
from abistore.diffing.types.sameness import Sameness, TypeSide
from abistore.model.declarations import Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Enumerator,
    Field,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
)
from tests.diffing.model import (
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    LONG_LONG,
    UNSIGNED,
    VOID,
    alias,
    const,
    record,
    snapshot,
    struct,
    to,
)

IDENTICAL, SPELLING, QUALIFIERS, REPRESENTATION, REINTERPRETED, DIFFERENT = Sameness
LEVEL = Name("enum", "level")
LEVELS = Enum(4, (Enumerator("LOW", 0), Enumerator("HIGH", 1)), UNSIGNED)


def stored(
    old: TypeRef, new: TypeRef, before: dict[Name, AnyShape] | None = None, after: dict[Name, AnyShape] | None = None
) -> Sameness:
    old_side, new_side = snapshot(before or {}), snapshot(after if after is not None else before or {})
    return Equivalence(TypeSide(old_side), TypeSide(new_side)).stored(old, new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (INT, INT, IDENTICAL),
        (INT, UNSIGNED, REINTERPRETED),
        (INT, LONG, DIFFERENT),
        (LONG, LONG_LONG, REPRESENTATION),
        (INT, FLOAT, DIFFERENT),
        (LONG, DOUBLE, DIFFERENT),
        (Primitive("long double", 16), Primitive("_Float128", 16), DIFFERENT),
        (Primitive("bool", 1), Primitive("unsigned char", 1), REINTERPRETED),
        (CHAR, Primitive("signed char", 1), REPRESENTATION),
        (INT, const(INT), QUALIFIERS),
        (INT, Qualified(INT, ("atomic",)), REINTERPRETED),
        (to(INT), to(const(INT)), QUALIFIERS),
        (to(INT), to(UNSIGNED), REINTERPRETED),
        (to(VOID), to(INT), REPRESENTATION),
        (to(VOID), to(to(INT)), REPRESENTATION),
        (to(INT), to(to(INT)), DIFFERENT),
        (to(INT), LONG, DIFFERENT),
        (Pointer(INT), Pointer(INT, "&"), REPRESENTATION),
        (INT, Array(INT, 1), REPRESENTATION),
        (Array(INT, 2), Array(INT, 3), DIFFERENT),
        (Array(to(VOID), 2), Inline(struct(to(VOID), to(VOID))), REPRESENTATION),
        (Array(FLOAT, 4), Array(FLOAT, 4, True), DIFFERENT),
        (to(Procedure(INT, (INT,))), to(Procedure(INT, (INT,))), IDENTICAL),
        (to(Procedure(INT, (INT,))), to(Procedure(INT, (LONG,))), DIFFERENT),
        (to(Procedure(INT, (INT,))), to(Procedure(INT, (INT, INT))), DIFFERENT),
        (to(Procedure(INT, (INT,))), to(Procedure(INT, (INT,), True)), DIFFERENT),
        (to(Procedure(VOID, ())), to(Procedure(INT, ())), DIFFERENT),
        (to(Procedure(VOID, (to(VOID),))), to(Procedure(VOID, (to(INT),))), REPRESENTATION),
        (MemberPointer(Named(record("A")), INT), MemberPointer(Named(record("A")), Procedure(INT, ())), DIFFERENT),
        (Special("auto"), INT, REINTERPRETED),
    ],
)
def test_types_without_names_compare_by_representation(old: TypeRef, new: TypeRef, expected: Sameness) -> None:
    assert stored(old, new) is expected


def test_an_alias_is_the_type_that_its_own_side_says() -> None:
    size = alias("size")
    assert stored(Named(size), UNSIGNED, {size: Alias(UNSIGNED)}) is SPELLING
    assert stored(UNSIGNED, to(Named(size)), {size: Alias(UNSIGNED)}) is DIFFERENT
    assert stored(Named(size), LONG, {size: Alias(UNSIGNED)}, {size: Alias(LONG)}) is DIFFERENT


def test_a_difference_within_a_named_type_is_its_own_and_not_its_users() -> None:
    a = record("A")
    assert stored(to(a), to(a), {a: struct(INT)}, {a: struct(LONG)}) is IDENTICAL


def test_a_record_under_another_name_with_the_same_content_is_only_respelled() -> None:
    a, b = record("A"), record("B")
    assert stored(to(a), to(b), {a: struct(INT, LONG)}, {b: struct(INT, LONG)}) is SPELLING
    assert stored(to(a), to(b), {a: struct(INT, LONG)}, {b: struct(INT, DOUBLE)}) is DIFFERENT
    assert stored(to(a), to(b), {a: struct(INT, LONG)}, {b: struct(LONG, INT)}) is DIFFERENT


def test_two_records_that_both_releases_have_are_not_one_renamed() -> None:
    both: dict[Name, AnyShape] = {record("A"): struct(INT), record("B"): struct(INT)}
    assert stored(to(record("A")), to(record("B")), both) is REPRESENTATION
    opaque: dict[Name, AnyShape] = {record("A"): Opaque("struct"), record("B"): Opaque("struct")}
    assert stored(to(record("A")), to(record("B")), opaque) is DIFFERENT


def test_an_opaque_handle_may_be_renamed() -> None:
    a, b = record("A"), record("B")
    assert stored(to(a), to(b), {a: Opaque("struct")}, {b: Opaque("struct")}) is SPELLING


def test_records_that_refer_to_themselves_compare() -> None:
    a, b = record("A"), record("B")
    assert stored(to(a), to(b), {a: struct(INT, to(a))}, {b: struct(INT, to(b))}) is SPELLING


def test_records_whose_fields_have_other_names_compare_within_themselves() -> None:
    a, b = record("A"), record("B")
    before: dict[Name, AnyShape] = {a: Record("struct", 16, (Field("next", to(a), 0), Field("n", INT, 64)))}

    def after(last: TypeRef) -> dict[Name, AnyShape]:
        return {b: Record("struct", 16, (Field("following", to(b), 0), Field("count", last, 64)))}

    assert stored(to(a), to(b), before, after(INT)) is REPRESENTATION
    assert stored(to(a), to(b), before, after(FLOAT)) is DIFFERENT


def test_records_with_other_field_names_that_refer_to_each_other_compare() -> None:
    a, b, c, d = (record(each) for each in "ABCD")
    before: dict[Name, AnyShape] = {
        a: Record("struct", 8, (Field("x", to(c), 0),)),
        c: Record("struct", 8, (Field("y", to(a), 0),)),
    }
    after: dict[Name, AnyShape] = {
        b: Record("struct", 8, (Field("p", to(d), 0),)),
        d: Record("struct", 8, (Field("q", to(b), 0),)),
    }
    assert stored(to(a), to(b), before, after) is REPRESENTATION
    after[d] = Record("struct", 16, (Field("q", to(b), 0), Field("r", LONG, 64)))
    assert stored(to(a), to(b), before, after) is DIFFERENT


def test_an_enumeration_is_its_integer_and_not_a_wider_one() -> None:
    assert stored(Named(LEVEL), UNSIGNED, {LEVEL: LEVELS}) is REPRESENTATION
    assert stored(INT, Named(LEVEL), {LEVEL: LEVELS}) is REPRESENTATION
    assert stored(LONG, Named(LEVEL), {LEVEL: LEVELS}) is DIFFERENT


def test_a_structure_is_passed_in_another_way_than_the_scalar_that_it_holds() -> None:
    a = record("A")
    sides = snapshot({a: struct(INT)})
    assert Equivalence(TypeSide(sides), TypeSide(sides)).passed(INT, Named(a)) is DIFFERENT
    assert Equivalence(TypeSide(sides), TypeSide(sides)).stored(INT, Named(a)) is REPRESENTATION


def test_unions_and_polymorphic_classes_are_never_taken_for_their_bytes() -> None:
    union = Record("union", 8, (Field("a", INT, 0), Field("b", LONG, 0)))
    polymorphic = Record("class", 16, (Field("a", INT, 64),), has_vptr=True)
    assert stored(LONG, Inline(union)) is DIFFERENT
    assert stored(Array(LONG, 2), Inline(polymorphic)) is DIFFERENT


def test_const_on_a_parameter_itself_does_not_count() -> None:
    sides = snapshot({})
    assert Equivalence(TypeSide(sides), TypeSide(sides)).passed(to(INT), const(to(INT))) is SPELLING


BASE_PTR = alias("_Base_ptr")
NODE, OTHER = record("tree::node"), record("list::node")


@pytest.mark.parametrize(
    ("meanings", "expected"),
    [
        ((to(NODE), to(OTHER)), SPELLING),
        ((to(OTHER), to(NODE)), SPELLING),
        ((to(OTHER), to(const(Named(NODE)))), QUALIFIERS),
        ((to(OTHER), INT), DIFFERENT),
    ],
)
def test_an_alias_that_units_define_differently_is_taken_for_what_is_most_alike(
    meanings: tuple[TypeRef, ...], expected: Sameness
) -> None:
    nodes = {NODE: struct(INT, to(NODE)), OTHER: struct(LONG, LONG, LONG)}
    apart = snapshot({BASE_PTR: tuple(map(Alias, meanings)), **nodes})
    one, both = TypeSide(snapshot(nodes)), TypeSide(apart)
    assert Equivalence(one, both).passed(to(NODE), Named(BASE_PTR)) is expected
    assert Equivalence(both, one).passed(Named(BASE_PTR), to(NODE)) is expected
    assert Equivalence(one, both).stored(to(to(NODE)), to(Named(BASE_PTR))) is expected


def test_an_alias_among_its_own_meanings_ends() -> None:
    apart = TypeSide(snapshot({BASE_PTR: (Alias(Named(BASE_PTR)), Alias(INT))}))
    assert Equivalence(apart, apart).passed(Named(BASE_PTR), LONG) is DIFFERENT
    assert Equivalence(apart, apart).passed(INT, Named(BASE_PTR)) is SPELLING
