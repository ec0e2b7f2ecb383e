"""An edit of headers judged against a stored release, without a reader of headers: entries are written by hand."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from abistore.diffing.judge.whatif import HeaderEdit, JudgedEdit, judge_edit
from abistore.model.declarations import SELF, Declared, Name
from abistore.model.findings import Verdict
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Enumerator,
    Field,
    Function,
    Named,
    Record,
    Symbol,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import Snapshot
from tests.diffing.model import CHAR, INT, LIBRARY, LONG, VOID, function, record, snapshot, struct, to

POINT, USE, COLOUR = record("Point"), function("use"), Name("enum", "Colour")
Headers = Mapping[Name, AnyShape]


def declared(headers: Headers) -> dict[Name, tuple[AnyShape, ...]]:
    return {name: (Declared(), shape) for name, shape in headers.items()}


def judged(before: Headers, after: Headers, stored: Snapshot | None = None) -> JudgedEdit:
    return judge_edit(stored or snapshot(before), HeaderEdit(declared(before), declared(after)))


def titles(found: JudgedEdit) -> list[str]:
    return [way.title for way in found.ways]


def taking(shape: AnyShape, name: Name = POINT) -> dict[Name, AnyShape]:
    """Headers with a function that takes what ``shape`` describes by value."""
    return {USE: Function("use", VOID, (Named(name),)), name: shape}


def test_a_field_at_the_end_of_a_struct_that_callers_pass_breaks() -> None:
    found = judged(taking(struct(INT, INT)), taking(struct(INT, INT, INT)))
    assert found.comparison.verdict is Verdict.BREAKING
    assert found.ways == ()


def test_a_field_is_offered_the_padding_that_takes_it() -> None:
    old = Record("struct", 16, (Field("a", LONG, 0), Field("b", INT, 64)))
    new = Record("struct", 24, (Field("a", LONG, 0), Field("z", INT, 64), Field("b", INT, 96), Field("c", LONG, 128)))
    found = judged(taking(old), taking(replace(new, size=24, fields=new.fields[:3])))
    assert found.comparison.verdict is Verdict.BREAKING
    assert [str(room) for each in found.rooms for room in each.rooms] == ["4 bytes of padding at offset 12"]
    assert "put z into the padding, at offset 12" in titles(found)
    way = found.ways[titles(found).index("put z into the padding, at offset 12")]
    assert way.comparison.verdict < Verdict.API_BREAK
    (shape,) = (each for each in way.sides[1].variants("layout", POINT))
    assert isinstance(shape, Record) and shape.size == 16
    assert [(field.name, field.offset) for field in shape.fields] == [("a", 0), ("b", 64), ("z", 96)]


def test_a_field_is_offered_a_part_of_a_reserved_array() -> None:
    old = Record("struct", 24, (Field("a", LONG, 0), Field("reserved", Array(LONG, 2), 64)))
    new = Record("struct", 32, (Field("a", LONG, 0), Field("z", LONG, 64), Field("reserved", Array(LONG, 2), 128)))
    found = judged(taking(old), taking(new))
    assert found.comparison.verdict is Verdict.BREAKING
    assert [str(room) for each in found.rooms for room in each.rooms] == [
        "16 bytes of the reserved field reserved at offset 8"
    ]
    assert "put z into the reserved field reserved, at offset 8" in titles(found)


def test_nothing_is_offered_that_breaks_as_well() -> None:
    old = Record("struct", 8, (Field("a", LONG, 0),))
    new = Record("struct", 16, (Field("z", LONG, 0), Field("a", LONG, 64)))
    assert judged(taking(old), taking(new)).ways == ()


def test_an_opaque_struct_may_change() -> None:
    """What only the library allocates may grow at its end, and that is offered where an edit inserts."""
    make, look = function("make"), function("look")
    users: dict[Name, AnyShape] = {make: Function("make", to(POINT)), look: Function("look", INT, (to(POINT),))}
    old, new = struct(INT, INT), Record("struct", 12, (Field("z", INT, 0), Field("a", INT, 32), Field("b", INT, 64)))
    found = judged({**users, POINT: old}, {**users, POINT: new})
    assert found.comparison.verdict is Verdict.BREAKING
    assert "append z after the other members" in titles(found)


def test_an_enumerator_in_the_middle_is_offered_the_end() -> None:
    old = Enum(4, (Enumerator("RED", 0), Enumerator("BLUE", 1)))
    new = Enum(4, (Enumerator("RED", 0), Enumerator("GREEN", 1), Enumerator("BLUE", 2)))
    found = judged(taking(old, COLOUR), taking(new, COLOUR))
    assert found.comparison.verdict is Verdict.BREAKING
    assert titles(found) == ["append GREEN = 2 after the other enumerators"]


def test_a_function_that_goes_is_no_longer_exported_and_should_be_kept() -> None:
    other = function("other")
    both = {USE: Function("use", VOID), other: Function("other", VOID)}
    found = judged(both, {other: both[other]})
    assert USE not in found.sides[1].entries["symbol"]
    assert found.comparison.verdict is Verdict.BREAKING
    assert titles(found) == ["keep use, and mark it deprecated"]


def test_another_signature_of_a_c_function_breaks_and_a_second_name_does_not() -> None:
    found = judged({USE: Function("use", VOID, (INT,))}, {USE: Function("use", VOID, (INT, to(CHAR)))})
    assert found.comparison.verdict is Verdict.BREAKING
    assert titles(found) == ["keep use as it is, and add use2"]
    assert Name("function", "use2") in found.ways[0].sides[1].entries["symbol"]


def test_another_parameter_of_a_cpp_function_may_be_an_overload() -> None:
    old, new = function("_Z3useii"), function("_Z3usel")
    shapes = Function("use", VOID, (INT, INT)), Function("use", VOID, (LONG,))
    found = judged({old: shapes[0]}, {new: shapes[1]})
    assert found.comparison.verdict is Verdict.BREAKING
    assert titles(found) == ["keep use(int, int), and add use(long)"]


def test_a_function_that_becomes_inline_is_no_longer_exported() -> None:
    before = {USE: (Declared(), Function("use", VOID))}
    after = {USE: (Declared(("inline",)), Function("use", VOID))}
    found = judge_edit(snapshot({USE: Function("use", VOID)}), HeaderEdit(before, after))
    assert USE not in found.sides[1].entries["symbol"]
    assert found.comparison.verdict is Verdict.BREAKING


def test_a_new_function_is_exported() -> None:
    other = function("other")
    found = judged({USE: Function("use", VOID)}, {USE: Function("use", VOID), other: Function("other", VOID)})
    assert other in found.sides[1].entries["symbol"]
    assert found.comparison.verdict is Verdict.COMPATIBLE


def test_a_data_object_grows_with_its_type() -> None:
    table = Name("variable", "table")
    old = {POINT: struct(INT, INT), table: Variable("table", Named(POINT))}
    stored = snapshot(old, symbols={table: Symbol("data", size=8)})
    found = judged(old, {**old, POINT: struct(INT, INT, INT)}, stored)
    (symbol,) = found.sides[1].variants("symbol", table)
    assert isinstance(symbol, Symbol) and symbol.size == 12
    assert found.comparison.verdict is Verdict.BREAKING


def test_a_virtual_function_before_others_is_offered_the_last_slot() -> None:
    draw, area, name = (
        VirtualMethod(f"Shape::{each}", f"_ZN5Shape4{each}Ev", slot, VOID)
        for slot, each in enumerate(("draw", "area", "name"))
    )
    shape = Record("class", 8, virtuals=(replace(draw, slot=0), replace(area, slot=1)), has_vptr=True)
    new = replace(shape, virtuals=(replace(draw, slot=0), replace(name, slot=1), replace(area, slot=2)))
    owner = record("Shape")
    users: dict[Name, AnyShape] = {function("_Z3useP5Shape"): Function("use", VOID, (to(owner),))}
    found = judged(users | {owner: shape}, users | {owner: new})
    assert found.comparison.verdict is Verdict.BREAKING
    offered = [way for way in found.ways if "after the other virtual functions" in way.title]
    for way in offered:  # where the rules call even that a break, nothing is offered
        (held,) = way.sides[1].variants("layout", owner)
        assert isinstance(held, Record) and [each.display for each in held.virtuals][-1] == "Shape::name"


def test_what_the_edit_leaves_alone_stays_as_it_is_stored() -> None:
    """Headers may be those of a later release than the baseline: only the edit counts."""
    stored = snapshot(taking(struct(INT, INT)))
    later = taking(struct(INT, LONG))
    found = judge_edit(stored, HeaderEdit(declared(later), declared(later)))
    assert found.comparison.verdict is Verdict.NO_CHANGE
    assert found.sides[1].variants("layout", POINT) == stored.variants("layout", POINT)
    assert found.sides[1].variants("symbol", SELF) == (LIBRARY,)


def test_a_record_that_embeds_a_larger_one_grows_with_it() -> None:
    """``--declare`` names one struct; those that hold it follow."""
    line, pair = record("Line"), Name("alias", "point_t")
    held = Record("struct", 24, (Field("from", Named(POINT), 0), Field("to", Named(pair), 64), Field("n", LONG, 128)))
    old: dict[Name, AnyShape] = {**taking(held, line), POINT: struct(INT, INT), pair: Alias(Named(POINT))}
    edit = HeaderEdit(declared({POINT: old[POINT]}), declared({POINT: struct(INT, INT, INT)}), whole=False)
    found = judge_edit(snapshot(old), edit)
    (shape,) = found.sides[1].variants("layout", line)
    assert isinstance(shape, Record)
    assert [field.offset for field in shape.fields] == [0, 96, 192]
    assert shape.size == 32
    assert found.comparison.verdict is Verdict.BREAKING


def test_a_packed_record_that_embeds_a_larger_one_is_left_alone() -> None:
    """How it would be laid out is not known: its fields did not simply follow each other before."""
    line = record("Line")
    held = Record("struct", 17, (Field("tag", CHAR, 0), Field("from", Named(POINT), 8), Field("to", Named(POINT), 72)))
    old: dict[Name, AnyShape] = {**taking(held, line), POINT: struct(INT, INT)}
    edit = HeaderEdit(declared({POINT: old[POINT]}), declared({POINT: struct(INT, INT, INT)}), whole=False)
    found = judge_edit(snapshot(old), edit)
    assert found.sides[1].variants("layout", line) == (held,)
    assert found.unsettled == (line,)
