"""What consumers can name, see and allocate, as the public headers of a release tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.diffing.side import SideFacts
from abistore.model.declarations import SELF, Declared, InlineBody, Name, Trait
from abistore.model.findings import Impact
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Base,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Import,
    Method,
    Named,
    Opaque,
    Record,
    Symbol,
    VirtualMethod,
)
from abistore.model.snapshot import BODIES_UNREAD, LATER_FACTS, Evidence, HeadersRead, Location, Provenance, Snapshot
from tests.diffing.model import CODE, INT, LIBRARY, LONG, TARGET, VOID, function, record, struct, to

PUBLIC = Declared()
Held = Mapping[Name, AnyShape | tuple[AnyShape, ...]]


def library(
    source: Held, *, exports: tuple[str, ...] = ("use",), layout: Held | None = None, state: str = "full"
) -> Snapshot:
    """A library with headers and, if given, debug information; ``state`` is how much of the headers parsed."""
    entries = {
        "symbol": {**{function(each): (CODE,) for each in exports}, SELF: (LIBRARY,)},
        "source": {name: held if isinstance(held, tuple) else (held,) for name, held in source.items()},
    }
    evidence = [Evidence("symbol", "full"), Evidence("source", state)]
    if layout is not None:
        entries["layout"] = {name: held if isinstance(held, tuple) else (held,) for name, held in layout.items()}
        evidence.append(Evidence("layout", "full"))
    return Snapshot("lib", None, TARGET, entries, tuple(evidence))


def uses(*types: object, result: object = VOID, display: str = "use") -> tuple[AnyShape, ...]:
    return PUBLIC, Function(display, result, types)


def found(old: Snapshot, new: Snapshot) -> list[tuple[str, str]]:
    return [(each.kind, each.name.spelling) for each in compare(old, new).findings]


def worst(old: Snapshot, new: Snapshot) -> Impact | None:
    return max((each.impact for each in compare(old, new).findings), default=None)


# --- handles --------------------------------------------------------------------------------------------------------

HANDLE = record("handle")
OPEN = {function("use"): uses(to(HANDLE))}
LAYOUT = {function("use"): Function("use", VOID, (to(HANDLE),))}


@pytest.mark.parametrize(
    "shown",
    [(PUBLIC, Opaque("struct")), (Declared(("dummy",)), struct(INT))],
    ids=["only declared", "defined as a dummy"],
)
def test_a_handle_that_headers_do_not_define_is_private_even_where_callers_seem_to_allocate_it(
    shown: tuple[AnyShape, ...],
) -> None:
    old, new = (library({**OPEN, HANDLE: shown}, layout={**LAYOUT, HANDLE: struct(*each)}) for each in ([INT], [LONG]))
    assert found(old, new) == [("type_private_changed", "handle")]
    assert worst(old, new) is Impact.RISK


def test_a_side_without_such_a_member_is_said_without_one() -> None:
    """A field in padding leaves the size as it was."""
    shown = {**OPEN, HANDLE: (PUBLIC, Opaque("struct"))}
    sides = (struct(LONG, INT, size=16), struct(LONG, INT, INT, size=16))
    old, new = (library(shown, layout={**LAYOUT, HANDLE: each}) for each in sides)
    (finding,) = compare(old, new).findings
    values = ("struct handle of 16 bytes", "struct handle of 16 bytes with int c at 12")
    assert (finding.kind, finding.old_value, finding.new_value) == ("type_private_changed", *values)


def test_a_structure_that_headers_define_is_not_private_wherever_debug_information_places_it() -> None:
    shown = ({HANDLE: (PUBLIC, struct(INT))}, {HANDLE: (PUBLIC, struct(INT, LONG))})
    old, new = (library({**OPEN, **each}, layout={**LAYOUT, HANDLE: each[HANDLE][1]}) for each in shown)
    assert worst(old, new) is Impact.BREAKING


def test_what_a_handle_hides_is_private_with_it() -> None:
    inner = record("inner")
    shown = {**OPEN, HANDLE: (PUBLIC, Opaque("struct"))}
    old, new = (
        library(shown, layout={**LAYOUT, HANDLE: struct(to(inner)), inner: struct(each)}) for each in (INT, LONG)
    )
    assert found(old, new) == [("type_private_changed", "inner")]


# --- types of headers that were not given -----------------------------------------------------------------------------

PART, WHOLE = record("part"), record("whole")


def embedding(part: Record) -> Snapshot:
    whole = Record("struct", part.size, (Field("part", Named(PART), 0),))
    return library({function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, whole), PART: part})


def test_a_type_of_another_header_counts_where_a_public_structure_embeds_it() -> None:
    assert worst(embedding(struct(INT)), embedding(struct(INT, LONG))) is Impact.BREAKING


def test_a_type_of_another_header_counts_as_a_base_class() -> None:
    def side(part: Record) -> Snapshot:
        whole = Record("class", part.size, bases=(Base(Named(PART), 0),))
        return library({function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, whole), PART: part})

    assert worst(side(struct(INT)), side(struct(INT, LONG))) is Impact.BREAKING


def test_a_structure_of_an_included_header_counts_where_callers_hand_it_over() -> None:
    def side(part: Record) -> Snapshot:
        return library({function("use"): uses(to(PART)), PART: part})

    assert worst(side(struct(INT)), side(struct(INT, LONG))) is Impact.BREAKING


def test_a_structure_of_an_included_header_that_a_private_pointer_leads_to_does_not_count() -> None:
    def side(part: Record) -> Snapshot:
        whole = Record("class", 8, (Field("impl", to(PART), 0, access="private"),))
        return library({function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, whole), PART: part})

    assert worst(side(struct(INT)), side(struct(INT, LONG))) is Impact.RISK


def test_it_counts_where_an_inline_function_follows_that_pointer() -> None:
    inline = Declared(("inline",), body=InlineBody("1", ("whole::impl",)))

    def side(part: Record) -> Snapshot:
        whole = Record("class", 8, (Field("impl", to(PART), 0, access="private"),))
        get = (inline, Function("whole::get", INT, (), method=Method(WHOLE)))
        return library(
            {function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, whole), PART: part, function("_ZN5whole3getEv"): get}
        )

    assert worst(side(struct(INT)), side(struct(INT, LONG))) is Impact.BREAKING


# --- what no export mentions ------------------------------------------------------------------------------------------

COLOR = Name("enum", "color")


def test_an_enumeration_that_no_export_mentions_is_judged() -> None:
    def side(blue: int) -> Snapshot:
        values = Enum(4, (Enumerator("red", 0), Enumerator("blue", blue)))
        return library({function("use"): uses(INT), COLOR: (PUBLIC, values)})

    assert ("enum_member_value_changed", "color") in found(side(1), side(2))


def test_an_enumeration_that_no_export_mentions_is_judged_once_beside_debug_information() -> None:
    def side(blue: int) -> Snapshot:
        values = Enum(4, (Enumerator("red", 0), Enumerator("blue", blue)))
        layout = {function("use"): Function("use", VOID, (INT,)), COLOR: values}
        return library({function("use"): uses(INT), COLOR: (PUBLIC, values)}, layout=layout)

    kinds = [kind for kind, name in found(side(1), side(2)) if name == "color"]
    assert len(kinds) == 1


def test_a_structure_that_goes_through_void_pointers_is_judged() -> None:
    def side(*types: object) -> Snapshot:
        return library({function("use"): uses(to(VOID)), PART: (PUBLIC, struct(*types))})

    assert worst(side(INT), side(INT, LONG)) is Impact.BREAKING


# --- exports ----------------------------------------------------------------------------------------------------------

BOX = record("Box")
GROW = "_ZN3Box4growEi"


def boxes(
    *, text: Declared = PUBLIC, access: str = "public", exports: tuple[str, ...], state: str = "full"
) -> Snapshot:
    grow = Function("Box::grow", VOID, (INT,), method=Method(BOX, access))
    return library({BOX: (PUBLIC, struct(INT)), function(GROW): (text, grow)}, exports=exports, state=state)


def test_an_undeclared_member_of_a_declared_class_is_known_to_be_internal_though_a_header_did_not_parse() -> None:
    old, new = (boxes(exports=each, state="partial") for each in ((GROW, "_ZN3Box4hideEv"), (GROW,)))
    assert found(old, new) == [("symbols_removed.private", "")]


def test_an_undeclared_function_may_stand_in_a_header_that_did_not_parse() -> None:
    old, new = (boxes(exports=each, state="partial") for each in ((GROW, "hide"), (GROW,)))
    assert found(old, new) == [("func_removed", "hide")]


def unread(words: tuple[str, ...], held: Held, *, exports: tuple[str, ...] = ("use",)) -> Snapshot:
    """A library with headers of C, in which functions have errors in their bodies that have these words."""
    seen = library(held, exports=exports)
    evidence = [
        Evidence("source", "partial", BODIES_UNREAD),
        *(each for each in seen.evidence if each.facet != "source"),
    ]
    provenance = Provenance(headers=HeadersRead(facts=LATER_FACTS, unread=words))
    return Snapshot("lib", None, TARGET, seen.entries, tuple(evidence), provenance)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ((), "symbols_removed.undeclared"),
        (("hid", "hide_all"), "symbols_removed.undeclared"),
        (("hide",), "func_removed"),
        (("h*e",), "func_removed"),
    ],
)
def test_a_body_that_could_not_be_read_uses_what_its_words_name(words: tuple[str, ...], kind: str) -> None:
    old, new = (unread(words, {function("use"): uses()}, exports=each) for each in (("use", "hide"), ("use",)))
    assert found(old, new) == [(kind, "" if kind == "symbols_removed.undeclared" else "hide")]


def test_what_only_the_old_headers_declare_is_gone_where_only_bodies_of_the_new_ones_could_not_be_read() -> None:
    old, new = (unread((), {function(each): uses() for each in held}) for held in (("use", "twice"), ("use",)))
    assert [spelling for _, spelling in found(old, new)] == ["twice"]
    assert [each.names for each in compare(old, new).not_checked if each.facet == "source"] == [()]


@pytest.mark.parametrize(("word", "broken"), [("internal_donotuse", True), ("other", False)])
def test_a_body_that_could_not_be_read_may_look_into_members_that_programs_should_leave_alone(
    word: str, broken: bool
) -> None:
    def side(part: AnyShape) -> Snapshot:
        whole = Record("struct", 16, (Field("a", INT, 0), Field("internal_donotuse", Named(PART), 64)))
        return unread((word,), {function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, whole), PART: (PUBLIC, part)})

    assert (worst(side(struct(INT, INT)), side(struct(LONG))) is Impact.BREAKING) is broken


def test_a_constructor_is_declared_by_whichever_of_its_symbols_a_header_is_read_as() -> None:
    def side(*exports: str) -> Snapshot:
        make = Function("Box::Box", VOID, (), method=Method(BOX))
        return library({BOX: (PUBLIC, struct(INT)), function("_ZN3BoxC1Ev"): (PUBLIC, make)}, exports=exports)

    kinds = {kind for kind, _ in found(side("_ZN3BoxC1Ev", "_ZN3BoxC2Ev", GROW), side(GROW))}
    assert kinds == {"func_removed"}


@pytest.mark.parametrize("symbol", ["_ZN3Box3getIiEET_v", "_ZN3VecIiE4pushEi", "_ZTV3VecIiE"])
def test_instances_of_public_templates_are_public(symbol: str) -> None:
    template = Declared(("template",))
    get = Function("Box::get", INT, (), method=Method(BOX))
    source: Held = {
        BOX: (PUBLIC, struct(INT)),
        record("Vec"): (template, Opaque("class")),
        function("Box::get() -> $0"): (template, get),
    }
    assert SideFacts(library(source)).consumers.can_name(function(symbol))


WALK = "_ZN3geo6Walker4walkEv"


@pytest.mark.parametrize(
    ("source", "symbol", "public"),
    [
        ({}, "_ZN3geo3BoxINS_6WalkerEE3getEv", False),
        ({}, "_ZN3geo3BoxIPKNS0_INS_6WalkerEEEE3getEv", False),
        ({}, "_ZTVN3geo3BoxINS_6WalkerEEE", False),
        ({}, "_ZN3geo3BoxINS_5PointEE3getEv", True),
        ({}, "_ZN3geo3BoxISt6threadE3getEv", True),
        ({}, "_ZN3geo3BoxIN3ext6WalkerEE3getEv", True),
        ({record("geo::Walker"): (Opaque("class"),)}, "_ZN3geo3BoxINS_6WalkerEE3getEv", True),
        ({record("geo::Walker"): (Declared(("template",)),)}, "_ZN3geo3BoxINS_6WalkerIiEEE3getEv", True),
        ({record("geo::Walker"): (PUBLIC, struct(INT))}, "_ZN3geo3BoxINS_6Walker3LegEE3getEv", True),
    ],
)
def test_nobody_can_name_an_instance_with_a_class_that_no_header_declares(
    source: Held, symbol: str, public: bool
) -> None:
    template, point = Declared(("template",)), record("geo::Point")
    held: Held = {record("geo::Box"): (template, Opaque("class")), point: (PUBLIC, struct(INT)), **source}
    strong = (WALK, "_ZN3geo6Walker3Leg4walkEv", "_ZN3ext6Walker4walkEv")
    assert SideFacts(library(held, exports=strong)).consumers.can_name(function(symbol)) is public
    partly = library(held, exports=strong, state="partial")
    assert SideFacts(partly).consumers.can_name(function(symbol))


def test_an_overload_that_is_mangled_otherwise_than_its_header_is_read_is_public() -> None:
    grow = Function("Box::grow", VOID, (INT,), method=Method(BOX))
    source: Held = {BOX: (PUBLIC, struct(INT)), function(GROW): (PUBLIC, grow)}
    assert SideFacts(library(source, exports=("_ZN3Box4growEU1xi",))).consumers.can_name(function("_ZN3Box4growEi1x"))


def test_a_symbol_that_is_kept_for_programs_linked_earlier_is_public() -> None:
    old, new = library({}, exports=("use", "former")), library({}, exports=("use",))
    former = {**old.entries["symbol"], function("former"): (Symbol("function", version="V_1", default=False),)}
    old = Snapshot("lib", None, TARGET, {**old.entries, "symbol": former}, old.evidence)
    assert worst(old, new) is Impact.BREAKING


def test_a_weak_function_that_headers_do_not_define_is_in_no_program() -> None:
    def side(*exports: str) -> Snapshot:
        held = boxes(exports=("use",))
        weak = {function(each): (Symbol("function", weak=True),) for each in exports}
        return Snapshot(
            "lib", None, TARGET, {**held.entries, "symbol": {**held.entries["symbol"], **weak}}, held.evidence
        )

    assert ("func_removed", GROW) in found(side(GROW), side())


def test_a_standard_type_is_nobody_s_secret() -> None:
    text = record("std::string")

    def side(size: int) -> Snapshot:
        layout = {function("use"): Function("use", VOID, (Named(text),)), text: Foreign("class", size, 8)}
        return library({function("use"): uses(Named(text))}, layout=layout)

    assert ("type_foreign_layout_changed", "std::string") in found(side(8), side(32))


# --- stripped libraries -----------------------------------------------------------------------------------------------


def polymorphic(*methods: str, size: int = 8) -> Record:
    slots = tuple(VirtualMethod(name, f"_ZN5whole{len(name)}{name}Ev", i, VOID) for i, name in enumerate(methods))
    return Record("class", size, (), (), slots, has_vptr=True)


STRIPPED = {
    "size": (struct(INT), struct(INT, LONG)),
    "offset": (struct(INT, LONG), struct(LONG, INT, names="ba")),
    "array": (struct(Array(INT, 2)), struct(Array(INT, 4))),
    "slots": (polymorphic("first", "second"), polymorphic("second", "first")),
    "slot inserted": (polymorphic("second"), polymorphic("first", "second")),
    "vtable pointer": (
        Record("class", 8, (Field("a", LONG, 0),)),
        Record("class", 16, (Field("a", LONG, 64),), has_vptr=True),
    ),
}


@pytest.mark.parametrize("what", STRIPPED)
def test_a_stripped_library_is_judged_on_the_layouts_of_its_headers(what: str) -> None:
    old, new = (library({function("use"): uses(to(WHOLE)), WHOLE: (PUBLIC, each)}) for each in STRIPPED[what])
    assert worst(old, new) is Impact.BREAKING


@pytest.mark.parametrize(
    "shapes",
    [
        ((INT,), (LONG,)),
        ((Named(WHOLE),), (to(WHOLE),)),
        ((Named(Name("alias", "number")),), (INT, INT)),
    ],
)
def test_a_stripped_library_is_judged_on_the_parameters_of_its_headers(shapes: tuple[tuple[object, ...], ...]) -> None:
    types: Held = {WHOLE: (PUBLIC, struct(LONG, LONG, LONG)), Name("alias", "number"): (PUBLIC, Alias(INT))}
    old, new = (library({function("use"): uses(*each), **types}) for each in shapes)
    assert worst(old, new) is Impact.BREAKING


def test_a_stripped_library_is_judged_on_how_its_structures_are_passed() -> None:
    def side(passing: str) -> Snapshot:
        whole = Record("class", 8, (Field("a", LONG, 0),), passing=passing)
        return library({function("use"): uses(Named(WHOLE)), WHOLE: (PUBLIC, whole)})

    assert worst(side("value"), side("reference")) is Impact.BREAKING


def test_a_stripped_library_is_judged_on_a_typedef_that_stands_for_another_type() -> None:
    number = Name("alias", "number")

    def side(target: object) -> Snapshot:
        return library({function("use"): uses(Named(number)), number: (PUBLIC, Alias(target))})

    assert worst(side(INT), side(LONG)) is Impact.BREAKING


def test_a_structure_of_a_stripped_library_that_was_renamed_is_no_break() -> None:
    def side(name: Name) -> Snapshot:
        return library({function("use"): uses(to(name)), name: (PUBLIC, struct(INT, LONG))})

    assert (worst(side(PART), side(WHOLE)) or Impact.COMPATIBLE) < Impact.BREAKING


# --- which headers were given -----------------------------------------------------------------------------------------

A, B = (Name("variable", each) for each in "AB")
CONSTANT = Declared(("constant", "macro"), value="1")


def given(*arguments: str, files: tuple[str, ...], declares: tuple[Name, ...]) -> Snapshot:
    seen = library(dict.fromkeys(declares, CONSTANT))
    provenance = Provenance(headers=HeadersRead(files, given=arguments))
    return Snapshot("lib", None, TARGET, seen.entries, seen.evidence, provenance)


BOTH = given("a.h", "b.h", files=("a.h", "b.h"), declares=(A, B))
FOLDER = given("include/", files=("a.h", "b.h"), declares=(A, B))


@pytest.mark.parametrize(
    ("old", "new", "side"),
    [
        (BOTH, given("a.h", files=("a.h",), declares=(A,)), "new"),
        (given("a.h", files=("a.h",), declares=(A,)), BOTH, "old"),
        (FOLDER, given("a.h", files=("a.h",), declares=(A,)), "new"),
        (BOTH, given("include/", files=("a.h",), declares=(A,)), "new"),
        (given("more/", "include/", files=("a.h", "b.h"), declares=(A, B)), FOLDER, None),
        (
            given("more/", "include/", files=("a.h", "b.h"), declares=(A, B)),
            given("include/", files=("a.h",), declares=(A,)),
            "new",
        ),
    ],
)
def test_what_one_side_was_not_given_is_not_checked(old: Snapshot, new: Snapshot, side: str | None) -> None:
    compared = compare(old, new)
    assert compared.findings == ()
    assert [each.side for each in compared.not_checked if each.reason == "headers-not-given"] == [side] * bool(side)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FOLDER, given("include/", files=("a.h",), declares=(A,))),
        (FOLDER, given("other/", files=("a.h",), declares=(A,))),
        (given("old.h", files=("old.h",), declares=(A, B)), given("new.h", files=("new.h",), declares=(A,))),
        (given(files=("a.h", "b.h"), declares=(A, B)), given("a.h", files=("a.h",), declares=(A,))),
    ],
    ids=["the same folder", "a folder of another name", "one header each", "an old snapshot"],
)
def test_what_was_given_and_is_gone_is_removed(old: Snapshot, new: Snapshot) -> None:
    compared = compare(old, new)
    assert ("constant_removed", "B") in [(each.kind, each.name.spelling) for each in compared.findings]
    assert "headers-not-given" not in [each.reason for each in compared.not_checked]


def test_a_header_that_is_gone_from_a_folder_is_removed_beside_one_that_was_not_given() -> None:
    old = given("a.h", "include/", files=("a.h", "b.h", "c.h"), declares=(A,))
    new = given("include/", files=("b.h",), declares=())
    removed = [each.old_value for each in compare(old, new).findings if each.kind == "header_removed"]
    assert removed == ["c.h"]


def test_no_program_has_tables_of_a_class_that_headers_do_not_define() -> None:
    """Nobody derives from it, so that its virtual functions may come and go."""
    holder, table = record("Impl"), Name("variable", "_ZTV4Impl")

    def held(size: int) -> Snapshot:
        made = library({function("use"): uses(to(holder)), holder: (PUBLIC, Opaque("class"))})
        symbols = {**made.entries["symbol"], table: (Symbol("data", size=size),)}
        return Snapshot("lib", None, TARGET, {**made.entries, "symbol": symbols}, made.evidence)

    impact = worst(held(32), held(40))
    assert impact is None or impact < Impact.API_BREAK


# --- what every program emits for itself ----------------------------------------------------------------------------

STREAM, WRITE, DESTROY = record("Stream"), function("_ZN6Stream5writeEv"), function("_ZN6StreamD1Ev")
VTABLE = Name("variable", "_ZTV6Stream")
WEAK = Symbol("data", weak=True, size=40)


def stream(*virtuals: VirtualMethod, destructor: Declared = PUBLIC) -> Held:
    """A class with a virtual destructor and ``virtuals``, whose other members the library defines."""
    table = (VirtualMethod("~Stream", "", 0, VOID), *virtuals)
    return {
        STREAM: (PUBLIC, Record("class", 8, virtuals=table, has_vptr=True)),
        DESTROY: (destructor, Function("Stream::~Stream", VOID, method=Method(STREAM, virtual="virtual", slot=0))),
        WRITE: (PUBLIC, Function("Stream::write", VOID, method=Method(STREAM, virtual="virtual", slot=2))),
    }


@pytest.mark.parametrize(
    ("virtuals", "destructor", "owner"),
    [
        ((), Declared(("inline",)), "inline"),
        ((VirtualMethod("write", WRITE.spelling, 2, VOID, pure=True),), Declared(("inline",)), "inline"),
        ((VirtualMethod("write", WRITE.spelling, 2, VOID),), Declared(("inline",)), "own"),
        ((VirtualMethod("write", "", 2, VOID),), Declared(("inline",)), "own"),
        ((), PUBLIC, "own"),
    ],
    ids=["inline alone", "pure beside inline", "a key function", "a key function without a symbol", "its destructor"],
)
def test_programs_have_the_vtable_of_a_class_without_a_key_function(
    virtuals: tuple[VirtualMethod, ...], destructor: Declared, owner: str
) -> None:
    snapshot = library(stream(*virtuals, destructor=destructor), exports=("_ZN6Stream4openEv",))
    snapshot.entries["symbol"][VTABLE] = (WEAK,)
    side = SideFacts(snapshot)
    assert side.consumers.owner(VTABLE, side.exporting, gone=True) == owner


@pytest.mark.parametrize(
    ("symbol", "kinds"),
    [
        ("_ZZN3AnyIiE4heldEvE4held", ["symbols_removed.private"]),
        ("_ZZN3BoxIiE4heldEvE4held", ["func_removed.instantiation"]),
        ("_ZZ4nextvE1n", ["symbols_removed.inline"]),
    ],
    ids=["of a template that no header declares", "of a public template", "of an inline function"],
)
def test_what_is_local_to_a_function_is_as_public_as_that(symbol: str, kinds: list[str]) -> None:
    source: Held = {record("Box"): (Declared(("template",)), struct(INT))}
    old, new = (_by_gcc(library(source)) for _ in range(2))
    old.entries["symbol"][Name("variable", symbol)] = (WEAK,)
    assert [each.kind for each in compare(old, new).findings] == kinds


def _by_gcc(snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, provenance=replace(snapshot.provenance, compilers=("GCC 12.2.0",)))


def test_a_template_instance_without_a_layout_is_not_checked() -> None:
    box, use = record("Box<int, 2>"), function("use")
    side = library({use: uses(to(box))})
    (lack,) = [each for each in compare(side, side).not_checked if each.reason == "no-layout"]
    assert (lack.facet, lack.side) == ("source", "both")
    assert lack.detail == "1 template instance has no layout in headers: Box<int, 2>"
    laid = library({use: uses(to(box)), box: (PUBLIC, struct(INT))})
    assert not [each for each in compare(laid, laid).not_checked if each.reason == "no-layout"]


# --- functions that headers define ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "left_out", "traits", "kind"),
    [
        ("elf", (), ("defined",), "symbols_removed.inline"),
        ("elf", (), (), "func_removed"),
        ("elf", ("other.h",), ("defined",), "func_removed"),
        ("pe", (), ("defined",), "func_removed"),
    ],
    ids=["defined", "declared", "another header is left out", "imported from a DLL"],
)
def test_programs_have_what_headers_define(
    format: Literal["elf", "pe"], left_out: tuple[str, ...], traits: tuple[Trait, ...], kind: str
) -> None:
    target, read = replace(TARGET, format=format), Provenance(headers=HeadersRead(set_aside=left_out))
    shapes = {function("twice"): (Declared(traits), Function("twice", INT, (INT,)))}
    old, new = (
        replace(library({**shapes, **OPEN}, exports=each), target=target, provenance=read)
        for each in (("use", "twice"), ("use",))
    )
    assert kind in [each for each, _ in found(old, new)]


VIEW, FIRST = record("geo::View"), "_ZN3geo5firstEv"


def views(result: object, *view: AnyShape, state: str = "full", exports: tuple[str, ...] = (FIRST,)) -> Snapshot:
    """A library with a function ``geo::first``, and a class that it may return."""
    return library(
        {function(FIRST): uses(result=result, display="geo::first"), VIEW: view}, exports=exports, state=state
    )


@pytest.mark.parametrize(
    ("view", "result", "state", "callable"),
    [
        ((PUBLIC, Opaque("class")), Named(VIEW), "full", False),
        ((Opaque("class"),), Named(VIEW), "full", False),
        ((struct(INT),), Named(VIEW), "full", True),
        ((PUBLIC, struct(INT)), Named(VIEW), "full", True),
        ((Declared(traits=("dummy",)), struct(INT)), Named(VIEW), "full", True),
        ((PUBLIC, Opaque("class")), to(VIEW), "full", True),
        ((PUBLIC, Opaque("class")), Named(VIEW), "partial", True),
    ],
    ids=["declared", "mentioned", "included", "defined", "a dummy", "a pointer", "not all headers parsed"],
)
def test_nobody_calls_a_function_that_returns_what_headers_only_declare(
    view: tuple[AnyShape, ...], result: object, state: str, callable: bool
) -> None:
    old, new = (views(each, *view, state=state) for each in (result, LONG))
    assert (worst(old, new) is Impact.BREAKING) is callable
    assert SideFacts(old).consumers.cannot_call(function(FIRST)) is not callable


def test_what_a_library_with_others_in_its_namespace_returns_may_be_theirs() -> None:
    seen = views(Named(VIEW), PUBLIC, Opaque("class"))
    needs = {Name("import", "_ZN3geo5otherEv"): (Import(),)}
    entries = {**seen.entries, "symbol": {**seen.entries["symbol"], **needs}}
    assert not SideFacts(replace(seen, entries=entries)).consumers.cannot_call(function(FIRST))


def test_what_a_library_returns_is_known_by_what_it_exports_now() -> None:
    """The symbols of a release differ from those of the one before, and the headers do not."""
    weak = {function(FIRST): (Symbol("function", weak=True),), SELF: (LIBRARY,)}
    seen = views(Named(VIEW), PUBLIC, Opaque("class"))
    shared = replace(seen, entries={**seen.entries, "symbol": weak})
    before = SideFacts(seen)
    assert before.consumers.cannot_call(function(FIRST))
    after = before.after(shared, {function(FIRST)})
    assert not after.consumers.cannot_call(function(FIRST))


@pytest.mark.parametrize(
    ("aside", "kind"),
    [
        ((), "symbols_removed.private"),
        (("gone",), "func_removed"),
        (("*on*",), "func_removed"),
        (None, "func_removed"),
    ],
    ids=["nobody spells it", "the header has its name", "a macro may make it", "a former version"],
)
def test_a_header_that_does_not_parse_declares_what_it_spells(aside: tuple[str, ...] | None, kind: str) -> None:
    read = Provenance(headers=HeadersRead(set_aside=("other.h",), aside=aside))
    old = replace(library({function("use"): uses()}, exports=("gone", "use"), state="partial"), provenance=read)
    new = library({function("use"): uses()}, state="partial")
    assert found(old, new)[0][0] == kind


INTERNAL, STATE_HEADER = record("state"), "geo/private/state.h"


@pytest.mark.parametrize(
    ("path", "files", "shapes", "seen"),
    [
        (STATE_HEADER, (), (PUBLIC, struct(INT)), False),
        (f"include/{STATE_HEADER}", (), (PUBLIC, struct(INT)), False),
        ("state.h", (), (PUBLIC, struct(INT)), False),
        ("state.h", ("geo/state.h",), (PUBLIC, struct(INT)), True),
        ("include/state.h", ("state.h",), (PUBLIC, struct(INT)), True),
        ("include/geo/geo.h", (), (PUBLIC, struct(INT)), True),
        ("state.h", (), (struct(INT),), True),
    ],
    ids=["as given", "of a build", "of a build elsewhere", "of two", "of a public one", "elsewhere", "not given"],
)
def test_a_header_in_an_internal_folder_is_known_by_its_path_in_debug_information(
    path: str, files: tuple[str, ...], shapes: tuple[AnyShape, ...], seen: bool
) -> None:
    read = Provenance(headers=HeadersRead(("geo/geo.h", STATE_HEADER, *files)))
    snapshot = replace(
        library({INTERNAL: shapes, function("use"): uses(Named(INTERNAL))}),
        provenance=read,
        locations={INTERNAL: Location(path, 1)},
    )
    assert SideFacts(snapshot).consumers.can_see(INTERNAL) is seen
