"""Which headers consumers cannot include, told from where declarations stand."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from msgspec.structs import replace

from abistore.diffing.surface.public_headers import HeaderClues, PublicHeaders
from abistore.model.declarations import Name
from abistore.model.reach import Reach
from abistore.model.shapes import VOID, Alias, AnyShape, Enum, Foreign, Function, Method, Named, Symbol
from abistore.model.snapshot import Location, Snapshot
from tests.diffing.model import CODE, INT, alias, function, record, snapshot, struct, to, uses

POINT, WALKER = record("Point"), record("Walker")
SUM, WALK, HELP, USE = function("_ZN5Point3sumEv"), function("_ZN6Walker4walkEv"), function("_Z4helpv"), function("use")
LIB, HEADER = "include/lib.h", "src/walk.h"


def member(owner: Name) -> Function:
    return Function("f", INT, method=Method(owner))


def surface_of(snapshot: Snapshot, places: Mapping[Name, Location]) -> PublicHeaders:
    files = {name: place.file for name, place in places.items()}
    return PublicHeaders(HeaderClues(snapshot, files, lambda: Reach(snapshot)))


def hidden(more: Mapping[Name, AnyShape], files: Mapping[Name, str], symbol: Symbol = CODE) -> frozenset[str]:
    """The hidden headers of a library with a public class Point, a class Walker in src, and ``more``."""
    layout = {SUM: member(POINT), POINT: struct(INT), WALK: member(WALKER), WALKER: struct(INT), **more}
    side = snapshot(layout, symbols={name: symbol for name in layout if name.kind == "function"})
    places = {name: Location(file, 1) for name, file in {POINT: LIB, WALKER: HEADER, **files}.items()}
    return surface_of(side, places).hidden


def test_a_header_beside_the_public_ones_that_nothing_public_needs_is_hidden() -> None:
    assert hidden({}, {}) == {HEADER}


@pytest.mark.parametrize(
    ("points", "walkers", "expected"),
    [
        ("/b/include/lib.h", "/b/src/walk.h", True),
        ("include/lib.h", "include/private/walk.h", True),
        ("include/lib.h", "include/detail/walk.h", False),
        ("/b/include/lib.h", "src/walk.h", False),
        ("/b/include/lib.h", "/c/src/walk.h", False),
        ("lib.h", "walk.h", False),
        ("/usr/include/lib.h", "src/walk.h", False),
        ("include/lib.h", "src/walk.cc", False),
    ],
)
def test_only_what_lies_beside_an_include_folder_can_be_hidden(points: str, walkers: str, expected: bool) -> None:
    assert (walkers in hidden({}, {POINT: points, WALKER: walkers})) is expected


def test_headers_whose_inline_functions_alone_are_exported_may_be_another_project_s() -> None:
    assert not hidden({}, {}, msgspec.structs.replace(CODE, weak=True))


def test_what_a_public_type_or_function_needs_is_public_with_all_of_its_header() -> None:
    other = record("Other")
    assert not hidden({POINT: struct(Named(WALKER))}, {})
    assert not hidden({USE: uses(Named(WALKER))}, {USE: LIB})
    assert not hidden({USE: uses(Named(other)), other: struct(INT)}, {USE: LIB, other: HEADER})
    assert hidden({USE: uses(to(WALKER), result=to(WALKER))}, {USE: LIB})


def test_where_one_header_beside_the_folder_is_needed_the_folder_tells_of_no_other() -> None:
    other = record("Other")
    more: dict[Name, AnyShape] = {USE: uses(Named(other)), other: struct(INT)}
    assert not hidden(more, {USE: LIB, other: "src/other.h"})


def test_an_alias_or_enum_has_to_be_included_even_behind_a_pointer() -> None:
    size, kind = alias("size"), Name("enum", "Kind")
    assert not hidden({POINT: struct(to(size)), size: Alias(INT)}, {size: HEADER})
    assert not hidden({POINT: struct(to(kind)), kind: Enum(4)}, {kind: HEADER})


def test_a_public_alias_of_a_tag_needs_no_definition_until_it_is_used_by_value() -> None:
    handle = alias("handle")
    assert hidden({USE: uses(to(handle), result=to(handle)), handle: Alias(Named(WALKER))}, {handle: LIB, USE: LIB})
    assert not hidden({USE: uses(Named(handle)), handle: Alias(Named(WALKER))}, {handle: LIB, USE: LIB})


def test_what_c_functions_are_given_and_nothing_hands_out_is_its_callers() -> None:
    assert not hidden({USE: uses(to(WALKER))}, {USE: LIB})
    assert hidden({USE: uses(to(WALKER)), function("make"): uses(to(to(WALKER)))}, {USE: LIB, function("make"): LIB})


def test_a_c_function_that_only_its_definition_is_known_of_may_be_public() -> None:
    give = uses(result=to(WALKER))
    assert not hidden({USE: give}, {USE: "src/use.c"})


@pytest.mark.parametrize(("taken", "expected"), [([WALKER], True), ([POINT], False)])
def test_an_instance_of_a_public_template_is_as_public_as_its_arguments(taken: list[Name], expected: bool) -> None:
    padded, outer = record("Padded<Walker>"), record("Padded<Padded<Walker>>")
    more: dict[Name, AnyShape] = {
        padded: replace(struct(Named(WALKER)), arguments=tuple(map(Named, taken))),
        outer: replace(struct(INT), arguments=(Named(padded),)),
    }
    assert bool(hidden(more, {padded: LIB, outer: LIB})) is expected


def test_an_instance_that_something_public_holds_needs_its_arguments() -> None:
    padded = record("Padded<Walker>")
    instance = replace(struct(Named(WALKER)), arguments=(Named(WALKER),))
    assert not hidden({padded: instance, POINT: struct(Named(padded))}, {padded: LIB})


@pytest.mark.parametrize(("elsewhere", "expected"), [(0, {HEADER}), (1, set())])
def test_a_folder_is_the_public_one_whose_types_most_cpp_functions_do_with(elsewhere: int, expected: set[str]) -> None:
    walks = {function(f"_Z4walk{index}"): uses(to(WALKER)) for index in range(elsewhere)}
    layout = {HELP: uses(to(POINT)), POINT: struct(INT), WALKER: struct(INT), **walks}
    places = {POINT: Location(LIB, 1), WALKER: Location(HEADER, 1), HELP: Location("src/help.cc", 1)}
    assert surface_of(snapshot(layout), places).hidden == expected


def test_what_a_source_file_defines_makes_no_header_public() -> None:
    inner = record("Inner")
    more: dict[Name, AnyShape] = {USE: uses(result=to(inner)), inner: struct(Named(WALKER))}
    assert hidden(more, {USE: "src/use.c", inner: "src/use.c"})


def test_a_cpp_function_stands_where_the_types_that_it_needs_can_be_included() -> None:
    size = alias("size")
    layout = {SUM: member(POINT), POINT: struct(INT), WALK: member(WALKER), WALKER: struct(INT)}
    for shape, expected in (
        (uses(to(size)), HEADER),
        (uses(Named(WALKER)), HEADER),
        (uses(to(WALKER)), ""),
        (uses(INT), ""),
    ):
        side = snapshot({**layout, HELP: shape, size: Alias(INT)})
        files = {POINT: LIB, WALKER: HEADER, size: HEADER, HELP: "src/help.cc"}
        places = {name: Location(file, 1) for name, file in files.items()}
        assert surface_of(side, places).header(HELP) == expected


@pytest.mark.parametrize("inline", [True, False])
def test_what_an_inline_destructor_deletes_is_needed(inline: bool) -> None:
    owner, held = record("Owner"), record("std::unique_ptr<Walker>")
    destroy = function("_ZN5OwnerD1Ev")
    more: dict[Name, AnyShape] = {
        owner: struct(Named(held)),
        held: Foreign("class", 8, 8, (Named(WALKER),)),
        USE: uses(to(owner)),
    }
    if not inline:
        more[destroy] = Function("Owner::~Owner", VOID, method=Method(owner))
    assert hidden(more, {owner: LIB, USE: LIB}) == (frozenset() if inline else {HEADER})
