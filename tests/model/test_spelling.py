"""Types and declarations as C and C++ text."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Argument, Declared, Name
from abistore.model.names.spelling import declaration, declare, spell, spelled_out
from abistore.model.shapes import (
    Alias,
    Array,
    Base,
    Enum,
    Enumerator,
    Field,
    Function,
    MemberPointer,
    Method,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    VirtualMethod,
)
from abistore.model.snapshot import Snapshot, Target

INT = Primitive("int", 4)
CHAR = Primitive("char", 1)
P = Named(Name("record", "geo::P"))
CONST = ("const",)
CALL = Procedure(INT, (CHAR,), True)

CASES: list[tuple[TypeRef, str, str]] = [
    (INT, "int", "int x"),
    (Pointer(Qualified(CHAR, CONST)), "const char*", "const char* x"),
    (Qualified(Pointer(CHAR), CONST), "char* const", "char* const x"),
    (Pointer(Qualified(Pointer(INT), CONST)), "int* const*", "int* const* x"),
    (Pointer(Pointer(INT), "&"), "int*&", "int*& x"),
    (Array(Array(INT, 2), None), "int[][2]", "int x[][2]"),
    (Array(Qualified(INT, CONST), 2), "const int[2]", "const int x[2]"),
    (Pointer(Array(INT, 3), "&"), "int (&)[3]", "int (&x)[3]"),
    (CALL, "int(char, ...)", "int x(char, ...)"),
    (Pointer(CALL), "int (*)(char, ...)", "int (*x)(char, ...)"),
    (Pointer(Pointer(CALL)), "int (**)(char, ...)", "int (**x)(char, ...)"),
    (Qualified(Pointer(CALL), CONST), "int (* const)(char, ...)", "int (* const x)(char, ...)"),
    (Array(Pointer(CALL), 4), "int (*[4])(char, ...)", "int (*x[4])(char, ...)"),
    (Pointer(Procedure(Pointer(CALL), (INT,))), "int (*(*)(int))(char, ...)", "int (*(*x)(int))(char, ...)"),
    (Procedure(Pointer(CHAR), (INT,)), "char*(int)", "char* x(int)"),
    (MemberPointer(P, INT), "int geo::P::*", "int geo::P::* x"),
    (MemberPointer(P, CALL), "int (geo::P::*)(char, ...)", "int (geo::P::* x)(char, ...)"),
    (Array(MemberPointer(P, INT), 2), "int geo::P::*[2]", "int geo::P::* x[2]"),
]


@pytest.mark.parametrize(("reference", "bare", "named"), CASES, ids=[bare for _, bare, _ in CASES])
def test_a_type_is_written_in_declarator_syntax(reference, bare, named):
    assert (spell(reference), declare(reference, "x")) == (bare, named)


def test_a_record_is_written_with_its_offsets_and_holes():
    shape = Record(
        "class",
        24,
        fields=(
            Field("tag", CHAR, 64),
            Field("flags", INT, 72, 3),
            Field("count", INT, 96, access="public"),
        ),
        bases=(Base(P, 0),),
        virtuals=(VirtualMethod("area", "", 2, INT, (CHAR,), pure=True),),
        has_vptr=True,
    )
    target = Target("elf", "x86_64", 64, "little")
    snapshot = Snapshot("lib", None, target, {"layout": {P.name: (Record("struct", 8, (Field("p", INT, 0),)),)}})
    assert declaration(Name("record", "geo::Shape"), shape, snapshot).splitlines() == [
        "class geo::Shape : public geo::P /* at 0 */ {",
        "    void** (vtable pointer);                    // 0",
        "public:",
        "    char tag;                                   // 8",
        "    int flags : 3;                              // 9:0",
        "    /* 21 bits hole */",
        "    int count;                                  // 12",
        "    /* 8 bytes padding */",
        "    virtual int area(char) = 0;                 // slot 2",
        "};  // 24 bytes",
    ]


def test_methods_are_written_with_how_they_are_called():
    owner = Name("record", "geo::P")
    area = Function("geo::P::area", INT, (CHAR,), method=Method(owner, virtual="pure", qualifiers=CONST, reference="&"))
    assert declaration(Name("function", "_Z"), area) == "virtual int geo::P::area(char) const & = 0;"
    made = Function("geo::P::P", Primitive("void", 0), (CHAR,), method=Method(owner, explicit=True, deleted=True))
    assert declaration(Name("function", "_Z"), made) == "explicit geo::P::P(char) = delete;"


def test_a_function_returning_a_function_pointer_is_written_around_its_name():
    shape = Function("find", Pointer(CALL), (INT,), noreturn=True)
    assert declaration(Name("function", "find"), shape) == "[[noreturn]] int (*find(int))(char, ...);"


def test_enums_and_aliases_are_written_as_declarations():
    enum = Enum(1, (Enumerator("A", -1),), CHAR, scoped=True)
    assert declaration(Name("enum", "E"), enum) == "enum class E : char {\n    A = -1,\n};  // 1 byte"
    assert declaration(Name("alias", "call"), Alias(Pointer(CALL))) == "typedef int (*call)(char, ...);"


def test_what_a_header_tells_of_a_function_stands_in_its_prototype() -> None:
    count = Primitive("int", 4)
    draw = Function("draw", count, (count, Pointer(count)), variadic=True)
    told = Declared(("deprecated", "noexcept"), (Argument("count", "1"), Argument()))
    name = Name("function", "draw")
    assert list(spelled_out(name, (told, draw))) == ["deprecated int draw(int count = 1, int*, ...) noexcept;"]
    other = Declared(("deprecated",), (Argument("count"),))
    assert list(spelled_out(name, (other, draw))) == ["deprecated draw(count);", "int draw(int, int*, ...);"]
