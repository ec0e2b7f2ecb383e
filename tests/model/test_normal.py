"""The normal form of names, case by case and against what the installed compilers and demanglers write."""

from __future__ import annotations

import shutil
import subprocess
import time
from itertools import product

import pytest
from elftools.elf.elffile import ELFFile

from abistore.model.names.grammar import Parser, tokens
from abistore.model.names.qualified import MAX_NORMAL_LENGTH, entity, last_component, normal_name, primitive, qualified
from abistore.model.names.symbols import PLAIN_BUILTINS
from abistore.model.shapes import VOID, Array, Primitive, Qualified
from tests.build import build_library

SAME = [
    ("unsigned int", ["unsigned", "int unsigned"]),
    ("unsigned long", ["long unsigned int", "unsigned long int", "long unsigned"]),
    ("long long", ["long long int", "signed long long"]),
    ("short", ["short int", "signed short int"]),
    ("unsigned __int128", ["__int128 unsigned"]),
    ("bool", ["_Bool"]),
    ("signed char", ["char signed"]),
    ("_Complex double", ["complex double", "double complex", "__complex__ double", "double _Complex"]),
    ("unsigned _BitInt(7)", ["_BitInt(7) unsigned", "unsigned _BitInt( 7 )"]),
    ("std::nullptr_t", ["decltype(nullptr)", "decltype( nullptr )"]),
    ("const char* const", ["char const* const", "const char *const", "char const * const"]),
    ("const volatile int&", ["int volatile const &", "volatile const int&"]),
    ("char* restrict", ["char* __restrict", "char *__restrict__"]),
    ("_Atomic int", ["_Atomic(int)", "int _Atomic"]),
    ("A<B<C<int>>>", ["A<B<C<int> > >", "A< B<C< int>> >", "::A<::B<C<int>>>", "struct A<class B<C<int>>>"]),
    ("A<10, -5, 255>", ["A<10ul, -5LL, 0xff>", "A<10U, (short)-5, (unsigned char)255>"]),
    ("A<97>", ["A<'a'>", "A<(char)97>", "A<L'a'>", "A<(char)'a'>", "A<u'a'>", r"A<'\x61'>", r"A<'\141'>"]),
    ("A<255>", [r"A<'\xff'>", r"A<'\37777777777'>", "A<(char)-1>"]),
    ("A<true, false>", ["A<(bool)1, (bool)0>"]),
    ("A<(geo::Color)1>", ["A<((geo::Color)1)>", "A<(enum geo::Color)1u>"]),
    ("A<geo::x>", ["A<&geo::x>", "A<(& geo::x)>", "A<&(geo::x)>"]),
    ("A<geo::f>", ["A<&geo::f>", "A<&(geo::f(int, char const*))>", "A<&(geo::f(int) const)>"]),
    ("A<0>", ["A<nullptr>", "A<(int*)0>", "A<(decltype(nullptr))0>", "A<(int geo::P::*)0>"]),
    ("A<{3}>", ["A<L{3}>", "A<{ 3 }>"]),
    ("(anonymous namespace)::X", ["{anonymous}::X", "<anonymous>::X", "_GLOBAL__N_1::X"]),
    ("f()::{lambda(int)#1}", ["f()::'lambda'(int)"]),
    ("f()::{lambda(int)#2}", ["f()::'lambda0'(int)"]),
    ("A<{lambda(const char*)}>", ["A<<lambda(const char*)> >", "A<<lambda(char const *)>>"]),
    (
        "A<{unnamed}>",
        ["A<<unnamed struct> >", "A<(unnamed union at /a (b)/x.c:3:4)>"],
    ),
    ("A<{unnamed#1}>", ["A<{unnamed type#1}>", "A<'unnamed'>"]),
    ("A<void(int), void (*)(int)>", ["A<void (int), void (*) (int)>", "A<void(int), void(*)(int)>"]),
    ("int (*(*)(char))(const char*, ...)", ["int (* (*)(char))(char const*, ...)"]),
    ("A<int()>", ["A<int (void)>"]),
    ("A<int[3], int (&)[3]>", ["A<int [3], int (&) [3]>"]),
    ("A<void (geo::P::* const)(...) const&>", ["A<void (geo::P::*const)(...) const &>"]),
    ("operator<< <int>", ["operator<<<int>"]),
    ("operator< <int>", ["operator<<int>"]),
    ("operator delete[]", ["operator delete []"]),
    ('operator""_x', ['operator"" _x', 'operator "" _x']),
    ("P::operator const char*() const", ["P::operator char const*() const"]),
    ("f[abi:cxx11](std::__cxx11::S)", ["f[abi:cxx11]( std::__cxx11::S )"]),
    ("typeinfo for const char*", ["typeinfo for char const*"]),
]


@pytest.mark.parametrize(("normal", "others"), SAME, ids=[normal for normal, _ in SAME])
def test_spellings_of_the_same_thing_have_one_normal_form(normal, others):
    assert {text: normal_name(text) for text in [normal, *others]} == dict.fromkeys([normal, *others], normal)


DIFFERENT = [
    ("char", "signed char"),
    ("char* const", "const char*"),
    ("long", "long long"),
    ("A<int (*)(char)>", "A<int*(char)>"),
    ("A<int (&)[3]>", "A<int&[3]>"),
    ("A<std::v1::X>", "A<std::X>"),
    ("f[abi:cxx11]", "f"),
    ("A<(Color)1>", "A<(Mode)1>"),
    ("A<f()::{lambda(int)#1}>", "A<f()::{lambda(int)#2}>"),
    ("A<(signed char)-1>", "A<(char)-1>"),
    ("decltype(0)", "decltype(nullptr)"),
    ("operator<", "operator<<"),
    ("A<B, C>", "A<B<C>>"),
    ("A<void()>", "A<void() noexcept>"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_spellings_of_different_things_stay_different(one, other):
    assert normal_name(one) != normal_name(other)


@pytest.mark.parametrize(
    "text", ["", "<", "a<b", ")(", "a,b", "A<" * 500, "(" * 5000, "x" * 100_000, "'", "operator", "\0"]
)
def test_text_that_is_no_name_is_kept(text):
    assert normal_name(text) == " ".join(text.split())


def test_an_enumerator_is_its_value_where_its_declaration_is_at_hand():
    assert normal_name("A<geo::Red, int>", {"geo::Red": "(geo::Color)0"}.get) == "A<(geo::Color)0, int>"


def test_qualifiers_join_and_move_into_arrays():
    integer = Primitive("int", 4)
    assert qualified(Qualified(integer, ("volatile",)), ("const",)) == Qualified(integer, ("const", "volatile"))
    assert qualified(Array(integer, 3), ("const",)) == Array(Qualified(integer, ("const",)), 3)
    assert qualified(integer, ()) is integer


def test_primitives_are_spelled_normally():
    assert primitive("long unsigned int", 8) == Primitive("unsigned long", 8)
    assert primitive("void", 0) is VOID


def test_the_last_component_has_no_arguments():
    assert last_component("geo::Map<a::b, c>::~Map") == "~Map"
    assert last_component("geo::Map<a::b, c>") == "Map"
    assert last_component("f(a::b)") == "f"


SOURCE = """
template<class... T> struct H { };
template<unsigned long N, short S, bool B, char C, unsigned char U, wchar_t W, char16_t D, long long L>
struct Values { };
namespace geo { enum Color { Red, Green }; struct P { int x; int f(int) const; }; int gv; int fn(int);
                inline namespace v1 { struct In { }; } }
template<geo::Color C> struct Enumerated { };
template<int* P, int (*F)(int), int geo::P::*M, int (geo::P::*G)(int) const, int& R> struct Entities { };
struct __attribute__((abi_tag("cxx11"))) Tagged { };
#define USE(n, ...) __VA_ARGS__ variable##n; void function##n(__VA_ARGS__) { }
USE(1, H<unsigned, long unsigned, unsigned char, short, long long, signed char, long double, bool, wchar_t>)
USE(11, H<unsigned __int128>)
USE(2, H<const char*, const char* const, char* const volatile&, int&&, const volatile int>)
USE(3, H<void(int), void(*)(int), int(*)(), int(&)(int), int(*(*)(char))(const char*, ...), void(*)() noexcept>)
USE(4, H<int[3], int(&)[3], int(*)[3][4], const int[2], int[], int*[3]>)
USE(5, H<int geo::P::*, int (geo::P::*)(int) const, void (geo::P::*)() &, void (geo::P::* const)(...) const &>)
USE(6, H<H<H<int>>, Tagged*, decltype(nullptr)>)
USE(7, Values<10, -5, true, ',', 200, L'a', u'b', -7>)
USE(8, Values<0, 5, false, '\\xff', 0, 0x20ac, 0, 7>)
USE(9, Enumerated<(geo::Color)3>)
USE(10, Entities<&geo::gv, &geo::fn, &geo::P::x, &geo::P::f, geo::gv>)
"""


def class_names(compiler: str) -> set[str]:
    built = build_library(SOURCE, language="c++", compiler=compiler, flags=("-g", "-O0", "-std=c++17", "-Wno-psabi"))
    with built.open("rb") as file:
        units = ELFFile(file).get_dwarf_info().iter_CUs()
        names = [
            die.attributes["DW_AT_name"].value.decode()
            for unit in units
            for die in unit.iter_DIEs()
            if die.tag == "DW_TAG_structure_type" and "DW_AT_name" in die.attributes
        ]
    # DWARF gives a tagged class no tag and its namespace by nesting, so both compilers leave these out alike
    return {normal_name(name) for name in names if "<" in name}


@pytest.mark.full
def test_two_compilers_debug_information_has_the_same_names():
    assert class_names("g++") == class_names("clang++")


def test_debug_information_and_demangler_have_the_same_names():
    built = build_library(SOURCE, language="c++", flags=("-g", "-O0", "-std=c++17", "-Wno-psabi"))
    symbols = subprocess.run(["nm", "-D", built], check=True, capture_output=True, text=True).stdout
    text = subprocess.run(["c++filt"], input=symbols, check=True, capture_output=True, text=True).stdout
    parameters = {normal_name(line.split("(", 1)[1].rstrip()[:-1]) for line in text.splitlines() if " function" in line}
    tagged = {name.replace("[abi:cxx11]", "") for name in parameters}
    assert tagged <= class_names("g++")
    assert len(tagged) == 11


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("llvm-cxxfilt"), reason="llvm-cxxfilt is not installed")
def test_two_demanglers_have_the_same_names():
    built = build_library(SOURCE, language="c++", flags=("-g", "-O0", "-std=c++17", "-Wno-psabi"))
    symbols = subprocess.run(["nm", "-D", built], check=True, capture_output=True, text=True).stdout
    mangled = "\n".join(word for word in symbols.split() if word.startswith("_Z"))
    gnu, llvm = (
        subprocess.run([tool], input=mangled, check=True, capture_output=True, text=True).stdout.splitlines()
        for tool in ("c++filt", "llvm-cxxfilt")
    )
    known = [(one, other) for one, other in zip(gnu, llvm, strict=True) if not other.startswith("_Z")]
    assert [normal_name(one) for one, _ in known] == [normal_name(other) for _, other in known]
    assert len(known) >= 8


@pytest.mark.parametrize("count", [1, 2, 3])
def test_built_in_types_are_called_as_the_grammar_calls_them_without_it(count: int) -> None:
    for words in product(sorted(PLAIN_BUILTINS), repeat=count):
        text = " ".join(words)
        assert normal_name(text) == Parser(tokens(text), None).whole()


@pytest.mark.parametrize(
    ("start", "repeated", "end"),
    [
        ("Box<", "a", "!"),
        ("Box", "<a", "!"),
        ("Box<int", ", 1", ", 2"),
        ("Box<", "Box<a>::", "!"),
        ("geo", "::a", ":!"),
        ("", "a ", "a!"),
        ("", "9", "!"),
    ],
)
def test_names_that_almost_match_take_no_time(start: str, repeated: str, end: str) -> None:
    for size in (MAX_NORMAL_LENGTH - 100, MAX_NORMAL_LENGTH + 100):
        text = start + repeated * (size // len(repeated)) + end
        began = time.process_time()
        normal_name(text)
        entity(text)
        assert time.process_time() - began < 3  # tenths of a second at most, where backtracking is minutes
