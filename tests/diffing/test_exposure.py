"""Who allocates the objects of a type, and who can see into it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from abistore.diffing.side import SideFacts
from abistore.model.declarations import Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Field,
    Foreign,
    Method,
    Named,
    Pointer,
    Procedure,
    Record,
    TypeRef,
    VirtualMethod,
)
from abistore.model.snapshot import Location, Snapshot
from tests.diffing.model import INT, VOID, function, record, snapshot, struct, to, uses

P, Q, S = record("P"), record("Q"), record("S")
MAKE, USE, OPEN = function("make"), function("use"), function("open")


def allocates(layout: Mapping[Name, AnyShape], name: Name = P) -> bool:
    side = snapshot(layout)
    return SideFacts(side).consumers.library_allocates(name)


def holder(type: TypeRef) -> Record:
    return Record("struct", 8, (Field("p", type, 0),))


def test_what_only_lies_behind_pointers_of_a_handle_is_the_library_s() -> None:
    assert allocates({MAKE: uses(result=to(Q)), Q: holder(to(P)), P: struct(INT)})


def test_what_lies_behind_pointers_of_what_callers_fill_in_is_theirs() -> None:
    assert not allocates({USE: uses(to(Q)), Q: holder(to(P)), P: struct(INT)})


def test_what_a_function_only_gives_back_is_its_caller_s() -> None:
    assert not allocates({USE: uses(to(P), result=to(P)), P: struct(INT)})


def test_what_callbacks_are_called_with_is_the_library_s_unless_functions_take_it() -> None:
    callback = to(Procedure(VOID, (to(P),)))
    assert allocates({USE: uses(callback), P: struct(INT)})
    assert not allocates({USE: uses(callback), function("put"): uses(to(P)), P: struct(INT)})


def test_what_is_embedded_in_what_callers_allocate_is_theirs() -> None:
    assert not allocates({MAKE: uses(result=to(P)), USE: uses(to(Q)), Q: holder(Named(P)), P: struct(INT)})


def test_a_smart_pointer_hands_out_what_it_points_to() -> None:
    smart = Name("record", "std::unique_ptr<P>")
    method = msgspec.structs.replace(uses(), method=Method(P))
    foreign = Foreign("class", 8, 8, (Named(P),))
    assert allocates({MAKE: uses(result=Named(smart)), USE: method, smart: foreign, P: struct(INT)})


def test_a_polymorphic_class_may_be_derived_from() -> None:
    derived = Record("class", 8, virtuals=(VirtualMethod("P::get", "", 0, INT),), has_vptr=True)
    assert not allocates({MAKE: uses(result=to(P)), P: derived})


def located(layout: Mapping[Name, AnyShape], files: dict[Name, str]) -> Snapshot:
    places = {name: Location(file, 1) for name, file in files.items()}
    return msgspec.structs.replace(snapshot(layout), locations=places)


@pytest.mark.parametrize(
    ("handle", "options", "expected"),
    [
        ("src/handle.c", "include/lib.h", True),
        ("src/handle.h", "include/lib.h", True),
        ("src/handle.h", "lib.h", False),
        ("include/handle.h", "include/lib.h", False),
        ("/b/src/handle.h", "/b/include/lib.h", True),
        ("src/handle.h", "/opt/other/include/other.h", False),
        ("/b/src/handle.h", "/opt/other/include/other.h", False),
        ("lib_internal.h", "lib.h", True),
        ("libP.h", "lib.h", False),
        ("lib.h", "lib.h", False),
        ("src/all.c", "src/all.c", False),
        ("src/handle.c", "/usr/include/time.h", False),
    ],
)
def test_a_type_is_private_where_consumers_cannot_include_its_file(handle: str, options: str, expected: bool) -> None:
    layout: dict[Name, AnyShape] = {OPEN: uses(to(S), result=to(P)), S: struct(INT), P: holder(to(Q)), Q: struct(INT)}
    side = located(layout, {P: handle, S: options, Q: handle, OPEN: options})
    consumers = SideFacts(side).consumers
    assert (consumers.can_see(P), consumers.can_see(Q)) == (not expected, not expected)


def test_a_tag_alone_does_not_tell_that_a_header_is_not_public() -> None:
    layout: dict[Name, AnyShape] = {OPEN: uses(to(S), result=to(P)), S: struct(INT), P: struct(INT)}
    unknown = located(layout, {P: "src/handle.h", S: "include/lib.h", OPEN: "src/open.c"})
    assert SideFacts(unknown).consumers.can_see(P)


def test_what_a_source_file_defines_behind_a_public_pointer_is_private() -> None:
    layout: dict[Name, AnyShape] = {USE: uses(Named(S)), S: holder(to(P)), P: struct(INT)}
    side = located(layout, {S: "lib.h", P: "lib.c"})
    assert not SideFacts(side).consumers.can_see(P)
    assert SideFacts(side).consumers.can_see(S)


@pytest.mark.parametrize(("alias", "expected"), [("lib.h", True), ("lib_internal.h", False)])
def test_a_header_that_names_what_functions_return_is_one_that_consumers_include(alias: str, expected: bool) -> None:
    handle = Name("alias", "handle")
    layout: dict[Name, AnyShape] = {
        OPEN: uses(to(S), result=Pointer(Named(handle))),
        handle: Alias(Named(P)),
        S: struct(INT),
        P: struct(INT),
    }
    side = located(layout, {P: "lib_internal.h", S: "lib.h", handle: alias})
    assert SideFacts(side).consumers.can_see(P) is not expected


def test_what_callers_allocate_is_never_private() -> None:
    layout: dict[Name, AnyShape] = {
        OPEN: uses(to(S), result=to(P)),
        USE: uses(Named(P)),
        S: struct(INT),
        P: struct(INT),
    }
    side = located(layout, {P: "src/handle.c", S: "include/lib.h"})
    assert SideFacts(side).consumers.can_see(P)


def test_a_header_s_name_says_nothing_about_cpp_where_inline_functions_look_inside() -> None:
    layout: dict[Name, AnyShape] = {OPEN: uses(to(S), result=to(P)), S: struct(INT), P: struct(INT)}
    side = located(layout, {P: "lib_internal.h", S: "lib.h"})
    cpp = msgspec.structs.replace(side, provenance=msgspec.structs.replace(side.provenance, languages=("C++17",)))
    assert not SideFacts(side).consumers.can_see(P)
    assert SideFacts(cpp).consumers.can_see(P)


def test_pointers_are_followed_through_qualifiers_and_arrays() -> None:
    assert not allocates({USE: uses(Pointer(Named(Q))), Q: holder(to(to(P))), P: struct(INT)})
