"""The names of template instances: arguments that a compiler leaves out, spells in its own way, or does not number."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.names.spelling import spell
from abistore.model.shapes import Alias, Inline, MemberPointer, Procedure, Qualified, Record
from tests.extract.layout_fixtures import CPP, INT, Layout, layout, pointer, record

TEMPLATES = """
namespace geo {
enum class Color : unsigned char { red, green = 200 };
enum Old { A = -1, B };
struct P { int m; enum Side { left, right }; };
inline namespace inner { struct In { int i; }; }
template <class... T> struct Pack { int n; };
template <template <class...> class W, class T> struct Wrap { W<T> *p; };
template <int N, bool B, char C, long L> struct Values { int v[N]; };
template <class T> struct Outer { T *inner; struct Nested { T *k; } nested; };
template <class T, T V> struct Const { T v; };
template <int *P> struct Addressed { int i; };
template <Color C, Old O> struct Paint { int x; };
template <P::Side S> struct Sided { int x; };
int global;
Pack<> p0;
Pack<int, const char *, Pack<Paint<Color::green, A> *>> p1;
Paint<Color::green, A> paint;
Paint<(Color)7, B> odd;
Sided<P::right> sided;
Wrap<Pack, int> wrap;
Pack<int> *one(Pack<int> *p) { return p + p->n; }
Values<3, true, 'a', -5> v1;
Values<1, false, '\\xff', 5> v2;
Outer<Paint<Color::red, (Old)7>>::Nested nested;
Outer<int (*)(const P &, ...)> function;
Outer<int (P::*)(int) const &> member_function;
Outer<int P::*> member;
Outer<int[3]> array;
Outer<void() noexcept> quiet;
Outer<In> in;
Const<Color, Color::green> c1;
Const<decltype(nullptr), nullptr> c2;
Const<unsigned char, 200> c3;
Const<wchar_t, L'x'> c4;
Const<__int128, -1> c5;
Addressed<&global> addressed;
P keep; In kept;
int colors(Color color, Old old, P::Side side) { return int(color) + old + side; }
template <class T> int count(const Outer<T> &t) { return sizeof t; }
template int count<int>(const Outer<int> &);
template int count<Color>(const Outer<Color> &);
template <class T> bool operator<(const Pack<T> &, const Pack<T> &) { return false; }
template bool operator< <int>(const Pack<int> &, const Pack<int> &);
}
"""

RECORDS = {
    "geo::Pack<>",
    "geo::Pack<int, const char*, geo::Pack<geo::Paint<(geo::Color)200, (geo::Old)-1>*>>",
    "geo::Paint<(geo::Color)200, (geo::Old)-1>",
    "geo::Paint<(geo::Color)7, (geo::Old)0>",
    "geo::Sided<(geo::P::Side)1>",
    "geo::Wrap<geo::Pack, int>",
    "geo::Values<3, true, 97, -5>",
    "geo::Values<1, false, 255, 5>",
    "geo::Outer<geo::Paint<(geo::Color)0, (geo::Old)7>>::Nested",
    "geo::Outer<int (*)(const geo::P&, ...)>",
    "geo::Outer<int (geo::P::*)(int) const&>",
    "geo::Outer<int geo::P::*>",
    "geo::Outer<int[3]>",
    "geo::Outer<void() noexcept>",
    "geo::Outer<geo::inner::In>",
    "geo::Const<geo::Color, (geo::Color)200>",
    "geo::Const<std::nullptr_t, 0>",
    "geo::Const<unsigned char, 200>",
    "geo::Const<wchar_t, 120>",
    "geo::Const<__int128, -1>",
    "geo::Addressed<geo::global>",
    "geo::Outer<int>",
    "geo::Outer<geo::Color>",
}

SIMPLE = "-gsimple-template-names"
WAYS: list[tuple[str, tuple[str, ...]]] = [("g++", ()), ("clang++", ()), ("clang++", (SIMPLE,))]
FORMS = [
    (SIMPLE,),
    (SIMPLE, "-fdebug-types-section"),
    (SIMPLE, "-gdwarf-4", "-fdebug-types-section"),
    (SIMPLE, "-gsplit-dwarf"),
    (SIMPLE, "-gdwarf-4"),
    ("-gdwarf-4", "-gsplit-dwarf"),
]


def templates(compiler: str, *flags: str) -> Layout:
    return layout(TEMPLATES, compiler, flags=("-std=c++17", "-nostdlib", *flags))


@pytest.mark.parametrize(("compiler", "flags"), WAYS)
def test_every_compiler_gives_an_instance_the_same_name(compiler: str, flags: tuple[str, ...]) -> None:
    found = templates(compiler, *flags)
    names = {name.spelling for name in found.snapshot.entries["layout"] if name.kind == "record"}
    assert names >= RECORDS


@pytest.mark.full
@pytest.mark.parametrize("flags", FORMS)
def test_every_form_of_the_names_gives_the_same_layout(flags: tuple[str, ...]) -> None:
    usual, other = templates("clang++").snapshot, templates("clang++", *flags).snapshot
    assert usual.entries["layout"] == other.entries["layout"]


@pytest.mark.full
def test_two_compilers_builds_of_templates_differ_in_nothing() -> None:
    gcc, clang = templates("g++").snapshot, templates("clang++").snapshot
    for old, new in ((gcc, clang), (clang, gcc)):
        assert [
            each.kind for each in compare(old, new).findings if each.part != "feature DT_HASH"
        ] == []  # linkers differ


CLOSURES = """
namespace geo {
template <class F> struct Holder { F f; int call(int x) { return f(x); } };
template <class F> Holder<F> *hold(F f) { return new Holder<F>{f}; }
inline auto two(int k) {
  auto one = [](int x) { return x; };
  auto other = [k](int x) { return x + k; };
  struct Both { Holder<decltype(one)> *first; Holder<decltype(other)> *second; };
  return Both{hold(one), hold(other)};
}
inline auto two(long k) { return hold([k](int x) { return int(x + k); }); }
inline auto nested() { return hold([](int x) { return hold([x](int y) { return x + y; })->call(x); }); }
inline auto generic() { return hold([](auto x) { return int(x); }); }
UNRELATED
int use(decltype(two(1)) *p) { return p->first->call(1) + p->second->call(2); }
int more(decltype(two(1L)) p, decltype(nested()) q, decltype(generic()) r) {
  return p->call(1) + q->call(2) + r->call(3);
}
}
"""
UNRELATED = "inline auto other(int k) { return hold([k](int x) { return x - k; }); } auto others = other(3);"


def closures(unrelated: str = "") -> Layout:
    return layout(CLOSURES.replace("UNRELATED", unrelated), "g++", flags=("-std=c++17",))


def test_closures_of_one_scope_are_told_apart() -> None:
    found = closures()
    holders = {name.spelling for name in found.snapshot.entries["layout"] if name.spelling.startswith("geo::Holder<")}
    assert holders >= {
        "geo::Holder<geo::two(int)::{lambda(int)#1}>",
        "geo::Holder<geo::two(int)::{lambda(int)#2}>",
        "geo::Holder<geo::two(long)::{lambda(int)#1}>",
        "geo::Holder<geo::nested()::{lambda(int)#1}>",
    }
    assert found.record("geo::Holder<geo::two(int)::{lambda(int)#1}>").size == 1
    assert found.record("geo::Holder<geo::two(int)::{lambda(int)#2}>").size == 4
    assert found.function("_ZN3geo3useEPZNS_3twoEiE4Both").parameters[0] == pointer(record("geo::two()::Both"))


def test_closures_keep_their_numbers_when_another_scope_has_more() -> None:
    old, new = closures().snapshot.entries["layout"], closures(UNRELATED).snapshot.entries["layout"]
    lost = [name for name in old if name not in new]
    assert lost == []
    assert Name("record", "geo::Holder<geo::other(int)::{lambda(int)#1}>") in new


@pytest.mark.parametrize("compiler", CPP)
def test_the_keyword_of_a_closure_is_none(compiler: str) -> None:
    source = """
    template <class F> struct Holder { F f; };
    template <class F> Holder<F> hold(F f) { return {f}; }
    inline auto make() { return hold([](int x) { return x; }); }
    int use(decltype(make()) *p) { return p->f(3); }
    """
    found = layout(source, compiler, flags=("-std=c++17",)).snapshot.entries["layout"]
    (holder,) = [shape for (shape,) in found.values() if isinstance(shape, Record)]
    (field,) = holder.fields
    assert isinstance(field.type, Inline) and isinstance(field.type.shape, Record)
    assert (field.type.shape.sort, field.type.shape.size) == ("struct", 1)


MEMBER_FUNCTIONS = """
struct P { int a; };
using Plain = int (P::*)(int);
using Left = int (P::*)(int) &;
using Right = int (P::*)(int) const volatile &&;
void plain(Plain) {}
void left(Left) {}
void right(Right *) {}
P keep;
"""


@pytest.mark.parametrize("compiler", CPP)
def test_a_pointer_to_a_member_function_tells_the_objects_that_it_can_be_called_on(compiler: str) -> None:
    found = layout(MEMBER_FUNCTIONS, compiler)
    called = Procedure(INT, (INT,))
    aliases = {name: found.shape("alias", name) for name in ("Plain", "Left", "Right")}
    targets = {name: shape.target for name, shape in aliases.items() if isinstance(shape, Alias)}
    assert targets == {
        "Plain": MemberPointer(record("P"), called),
        "Left": MemberPointer(record("P"), Qualified(called, ("&",))),
        "Right": MemberPointer(record("P"), Qualified(called, ("&&", "const", "volatile"))),
    }
    assert [spell(each) for each in targets.values()] == [
        "int (P::*)(int)",
        "int (P::*)(int)&",
        "int (P::*)(int) const volatile&&",
    ]
