"""What the debug information of C libraries says, by gcc and by clang."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Name
from abistore.model.shapes import (
    Alias,
    Array,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Inline,
    Opaque,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Variable,
)
from abistore.model.snapshot import Location
from tests.extract.layout_fixtures import CHAR, INT, VOID, C, alias, enum, layout, pointer, record

pytestmark = pytest.mark.fast

UNSIGNED = Primitive("unsigned int", 4)


@pytest.mark.parametrize("compiler", C)
def test_a_function_has_its_parameters_without_what_only_the_callee_sees(compiler: str) -> None:
    found = layout("long f(const int a, const char *const b, volatile short c) { return a; }", compiler)
    assert found.function("f") == Function(
        "f", Primitive("long", 8), (INT, pointer(Qualified(CHAR, ("const",))), Primitive("short", 2))
    )


@pytest.mark.parametrize("compiler", C)
def test_variadic_noreturn_and_unprototyped_functions_are_told_apart(compiler: str) -> None:
    source = """
    int variadic(const char *format, ...) { return 0; }
    _Noreturn void dies(void) { for (;;); }
    int loose() { return 0; }
    int strict(void) { return 0; }
    """
    found = layout(source, compiler)
    assert found.function("variadic") == Function(
        "variadic", INT, (pointer(Qualified(CHAR, ("const",))),), variadic=True
    )
    assert found.function("dies") == Function("dies", VOID, noreturn=True)
    assert found.function("loose") == Function("loose", INT, prototyped=False)
    assert found.function("strict") == Function("strict", INT)


@pytest.mark.parametrize("compiler", C)
def test_an_alias_symbol_has_the_shape_of_what_it_stands_for(compiler: str) -> None:
    found = layout('int real(int a) { return a; } int other(int) __attribute__((alias("real")));', compiler)
    assert found.function("other") == found.function("real") == Function("real", INT, (INT,))


@pytest.mark.parametrize("compiler", C)
def test_variables_keep_their_qualifiers_and_array_bounds(compiler: str) -> None:
    source = """
    const int constant = 1; int *const pinned = 0; _Atomic int shared; int *restrict alone;
    int grid[3][4]; extern int late[]; int late[7]; _Thread_local int own = 2; const char *const names[2];
    """
    found = layout(source, compiler)
    assert found.variable("constant") == Variable("constant", Qualified(INT, ("const",)))
    assert found.variable("pinned").type == Qualified(pointer(INT), ("const",))
    assert found.variable("shared").type == Qualified(INT, ("atomic",))
    assert found.variable("alone").type == Qualified(pointer(INT), ("restrict",))
    assert found.variable("grid").type == Array(Array(INT, 4), 3)
    assert found.variable("late").type == Array(INT, 7)
    assert found.variable("own") == Variable("own", INT)
    constant_name = Qualified(pointer(Qualified(CHAR, ("const",))), ("const",))
    assert found.variable("names").type == Array(constant_name, 2)


@pytest.mark.parametrize("compiler", C)
def test_function_pointers_are_spelled_out(compiler: str) -> None:
    found = layout("int (*table[2])(char, ...); void (*(*get)(int))(void);", compiler)
    assert found.variable("table").type == Array(pointer(Procedure(INT, (CHAR,), variadic=True)), 2)
    assert found.variable("get").type == pointer(Procedure(pointer(Procedure(VOID, ())), (INT,)))


@pytest.mark.parametrize("compiler", C)
def test_a_record_has_its_fields_with_offsets_in_bits(compiler: str) -> None:
    source = """
    struct node { struct node *next; unsigned flags : 3, more : 13; long long wide : 35; char tail[]; };
    struct node *head;
    """
    found = layout(source, compiler)
    assert found.record("node") == Record(
        "struct",
        16,
        (
            Field("next", pointer(record("node")), 0),
            Field("flags", UNSIGNED, 64, 3),
            Field("more", UNSIGNED, 67, 13),
            Field("wide", Primitive("long long", 8), 80, 35),
            Field("tail", Array(CHAR, None), 120),
        ),
    )


@pytest.mark.parametrize("compiler", C)
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_bit_fields_lie_at_the_same_place_in_every_dwarf_version(compiler: str, version: int) -> None:
    source = "struct bits { unsigned a : 3; unsigned b : 30; short c : 5; unsigned long d : 41; }; struct bits object;"
    found = layout(source, compiler, flags=[f"-gdwarf-{version}", "-gstrict-dwarf"])
    assert [(field.name, field.offset, field.bit_size) for field in found.record("bits").fields] == [
        ("a", 0, 3), ("b", 32, 30), ("c", 64, 5), ("d", 69, 41),
    ]  # fmt: skip


@pytest.mark.parametrize("compiler", ["s390x-linux-gnu-gcc", "i686-linux-gnu-gcc"])
@pytest.mark.parametrize("version", [3, 5])
def test_bit_fields_of_other_machines_count_from_the_start_of_the_record(compiler: str, version: int) -> None:
    source = "struct bits { unsigned a : 3; unsigned b : 7; char c; unsigned short d : 9; }; struct bits object;"
    found = layout(source, compiler, flags=[f"-gdwarf-{version}", "-gstrict-dwarf"])
    assert [(field.name, field.offset, field.bit_size) for field in found.record("bits").fields] == [
        ("a", 0, 3), ("b", 3, 7), ("c", 16, None), ("d", 32, 9),
    ]  # fmt: skip


@pytest.mark.parametrize("compiler", C)
def test_anonymous_members_are_spelled_out_where_they_are(compiler: str) -> None:
    source = "struct outer { int kind; union { int i; float f; }; struct { short s; } named; }; struct outer object;"
    fields = layout(source, compiler).record("outer").fields
    inner = Record("union", 4, (Field("i", INT, 0), Field("f", Primitive("float", 4), 0)))
    named = Record("struct", 2, (Field("s", Primitive("short", 2), 0),))
    assert fields == (Field("kind", INT, 0), Field("", Inline(inner), 32), Field("named", Inline(named), 64))


@pytest.mark.parametrize("compiler", C)
def test_a_typedef_names_its_anonymous_type_and_other_typedefs_are_aliases(compiler: str) -> None:
    source = """
    typedef struct { int x; } point; typedef enum { RED, BLUE = 4 } color; typedef struct { int y; } *handle;
    typedef point same; typedef unsigned long word;
    void f(point *p, color c, handle h, same s, word w) {}
    """
    found = layout(source, compiler)
    hidden = Record("struct", 4, (Field("y", INT, 0),))
    assert found.function("f").parameters == (
        pointer(record("point")), enum("color"), alias("handle"), alias("same"), alias("word"),
    )  # fmt: skip
    assert found.record("point") == Record("struct", 4, (Field("x", INT, 0),))
    assert found.enum("color") == Enum(4, (Enumerator("RED", 0), Enumerator("BLUE", 4)), UNSIGNED)
    assert found.shape("alias", "handle") == Alias(pointer(Inline(hidden)))
    assert found.shape("alias", "same") == Alias(record("point"))
    assert found.shape("alias", "word") == Alias(Primitive("unsigned long", 8))
    assert found.variants("alias", "point") == ()


@pytest.mark.parametrize("compiler", C)
def test_enumerators_have_exact_values_of_either_sign(compiler: str) -> None:
    source = """
    enum low { BYTE = 200, MINUS = -3 }; enum high { ALL = 0xffffffffu };
    enum wide { MOST = 0x7fffffffffffffffLL, LEAST = -0x7fffffffffffffffLL - 1 }; enum huge { TOP = ~0ULL };
    void f(enum low a, enum high b, enum wide c, enum huge d) {}
    """
    found = layout(source, compiler)
    values = {name: [entry.value for entry in found.enum(name).enumerators] for name in ("low", "high", "wide", "huge")}
    assert values == {"low": [200, -3], "high": [2**32 - 1], "wide": [2**63 - 1, -(2**63)], "huge": [2**64 - 1]}
    assert [found.enum(name).size for name in values] == [4, 4, 8, 8]


@pytest.mark.parametrize("compiler", C)
def test_a_record_that_is_never_defined_is_opaque(compiler: str) -> None:
    found = layout("struct hidden; typedef struct hidden hidden_t; void f(hidden_t *h) {}", compiler)
    assert found.shape("record", "hidden") == Opaque("struct")
    assert found.shape("alias", "hidden_t") == Alias(record("hidden"))


@pytest.mark.parametrize("compiler", C)
def test_requested_alignment_is_recorded_whoever_asks_for_it(compiler: str) -> None:
    source = """
    struct own { char c; } __attribute__((aligned(32))); struct member { char c; int x __attribute__((aligned(16))); };
    typedef int wide __attribute__((aligned(16))); struct by_alias { char c; wide w; }; struct none { int i; };
    struct __attribute__((packed)) tight { char c; int i; };
    struct own a; struct member b; struct by_alias c; struct none d; struct tight e;
    """
    found = layout(source, compiler)
    names = ("own", "member", "by_alias", "none", "tight")
    assert [found.record(name).alignment for name in names] == [32, 16, 16, None, None]
    assert [field.offset for field in found.record("tight").fields] == [0, 8]
    assert found.record("by_alias").fields[1] == Field("w", alias("wide"), 128)


@pytest.mark.parametrize("compiler", C)
def test_builtin_types_have_one_spelling(compiler: str) -> None:
    source = """
    long unsigned int a; unsigned b; _Bool c; long double d; _Complex double e; _Complex float f; __int128 g;
    unsigned char h; signed char i; short unsigned j; typedef int four __attribute__((vector_size(16))); four k;
    """
    found = layout(source, compiler)
    spelled = {name: found.variable(name).type for name in "abcdefghij"}
    assert spelled == {
        "a": Primitive("unsigned long", 8), "b": UNSIGNED, "c": Primitive("bool", 1),
        "d": Primitive("long double", 16), "e": Primitive("_Complex double", 16),
        "f": Primitive("_Complex float", 8), "g": Primitive("__int128", 16), "h": Primitive("unsigned char", 1),
        "i": Primitive("signed char", 1), "j": Primitive("unsigned short", 2),
    }  # fmt: skip
    assert found.shape("alias", "four") == Alias(Array(INT, 4, vector=True))


@pytest.mark.parametrize("compiler", C)
def test_the_compiler_s_own_va_list_is_foreign(compiler: str) -> None:
    found = layout("#include <stdarg.h>\nvoid f(va_list arguments) {}", compiler)
    assert found.function("f").parameters == (pointer(record("__va_list_tag")),)
    assert found.shape("record", "__va_list_tag") == Foreign("struct", 24, 8)


@pytest.mark.parametrize("compiler", C)
def test_declarations_are_located_relative_to_the_build(compiler: str) -> None:
    source = '#include "api.h"\nint f(struct s *p) { return 0; }'
    found = layout(
        source, compiler, files={"api.h": "\n\nstruct s { int a; };\ntypedef int number;\nextern number n;\n"}
    )
    assert found.snapshot.locations[Name("record", "s")] == Location("api.h", 3)
    assert found.snapshot.locations[Name("function", "f")] == Location("case.c", 2)


@pytest.mark.full
def test_gcc_and_clang_agree_on_a_c_library() -> None:
    source = """
    #include <stdio.h>
    #include <time.h>
    struct a { struct b *b; enum { X, Y } kind; union { int i; double d; } value; struct tm when; };
    struct b { struct a a[2]; int (*compare)(const struct a *, const struct a *); FILE *log; };
    int use(struct b *b, struct tm when, time_t at) { return 0; }
    """
    gcc, clang = (layout(source, compiler).snapshot.entries["layout"] for compiler in C)
    assert gcc == clang


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_an_ellipsis_is_seen_wherever_the_compiler_writes_it(compiler: str) -> None:
    source = """
#include <stdarg.h>
int sum(int count, ...) { va_list rest; va_start(rest, count); int total = 0;
  for (int turn = 0; turn < count; turn++) { int next = va_arg(rest, int); total += next; }
  va_end(rest); return total; }
int one(int count) { int total = count; { int inner = total * 2; total += inner; } return total; }
"""
    library = layout(source, compiler)
    assert library.function("sum").variadic
    assert not library.function("one").variadic


@pytest.mark.full
def test_functions_behind_descriptors_are_described() -> None:
    source = """
    struct pair { int a; long b; };
    int counter = 3;
    int add(struct pair *p, int k) { return p->a + (int)p->b + k; }
    long second(struct pair *p) { return p->b + add(p, 1); }
    """
    flags = ("-mbig", "-mabi=elfv1", "-nostdlib")
    found = layout(source, "powerpc64le-linux-gnu-gcc", flags=flags)
    assert found.snapshot.target.machine == "ppc64"
    evidence = found.snapshot.evidence_of("layout")
    assert (evidence.state, evidence.described) == ("full", 3)
    assert found.function("add").parameters == (pointer(record("pair")), INT)
    assert found.function("second").result == Primitive("long", 8)


def test_a_library_whose_only_export_is_chosen_at_load_time_does_not_lack_debug_information() -> None:
    source = """
    static int plain(void) { return 1; }
    static int (*resolve(void))(void) { return plain; }
    int chosen(void) __attribute__((ifunc("resolve")));
    """
    evidence = layout(source, "gcc").snapshot.evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("full", "assembly-or-folded")
    assert evidence.detail == "1 export has no declaration of its own, e.g. chosen"
