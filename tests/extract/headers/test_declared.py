"""What only the text of a declaration tells: a test for each fact."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import LimitExceeded
from abistore.extract.headers.walk import Walked
from abistore.model.declarations import Argument, Declared, InlineBody, Kind, Name, WrittenBase
from abistore.model.shapes import Alias, Function, Opaque, Record, Special, Variable
from tests.extract.headers.agreement import X86_64, builtin_headers, walked
from tests.public_headers import read_texts


class Read:
    """What one header declares, with look-ups that fail where there is no such declaration."""

    def __init__(self, found: Walked) -> None:
        self.found = found

    def declared(self, kind: Kind, spelling: str) -> Declared:
        (shape,) = [each for each in self.found.entries[Name(kind, spelling)] if isinstance(each, Declared)]
        return shape

    def names(self, kind: Kind) -> set[str]:
        """The names that are public."""
        return {
            name.spelling
            for name, shapes in self.found.entries.items()
            if name.kind == kind and any(isinstance(each, Declared) for each in shapes)
        }

    def body(self, symbol: str) -> InlineBody:
        body = self.declared("function", symbol).body
        assert body is not None
        return body


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def cpp(header: str, folder: Path, *arguments: str) -> Read:
    standard = "-std=c++20"
    return Read(walked(header, folder, ["-xc++", standard, *builtin_headers(X86_64, "c++"), *arguments]))


def c(header: str, folder: Path) -> Read:
    return Read(walked(header, folder, ["-xc", "-std=gnu11", *builtin_headers(X86_64, "c")]))


def test_traits_of_functions(folder: Path) -> None:
    read = cpp(
        """
        #define PURE [[nodiscard]]
        #define LATE constexpr
        void plain(); PURE int asked(); [[deprecated("use plain")]] void old(); inline void here() {}
        LATE int worked_out() { return 1; } void safe() noexcept; void safe_too() noexcept(sizeof(int) == 4);
        void unsafe() noexcept(false); static int own() { return 1; }
        struct Base { virtual void last() final; virtual ~Base(); };
        """,
        folder,
    )
    assert read.declared("function", "_Z5plainv").traits == ()
    assert read.declared("function", "_Z5askedv").traits == ("nodiscard",)
    assert read.declared("function", "_Z3oldv").traits == ("deprecated",)
    assert read.declared("function", "_Z4herev").traits == ("inline",)
    assert read.declared("function", "_Z10worked_outv").traits == ("constexpr", "inline")
    assert read.declared("function", "_Z4safev").traits == ("noexcept",)
    assert read.declared("function", "_Z8safe_toov").traits == ("noexcept",)
    assert read.declared("function", "_Z6unsafev").traits == ()
    assert read.declared("function", "_Z3ownv").traits == ("defined", "inline")
    assert read.declared("function", "_ZN4Base4lastEv").traits == ("final",)
    assert read.declared("function", "_ZN4BaseD1Ev") == read.declared("function", "_ZN4BaseD0Ev")


def test_a_later_declaration_adds_to_the_first(folder: Path) -> None:
    read = cpp("int f(int, int b = 2); int f(int a = 1 , int); inline int f(int, int) { return 2; }", folder)
    declared = read.declared("function", "_Z1fii")
    assert declared.parameters == (Argument("a", "1"), Argument("b", "2"))
    assert declared.traits == ("inline",)
    assert declared.body is not None


def test_default_arguments_are_spelled_alike(folder: Path) -> None:
    one = cpp('void f(int a = sizeof( int )*2, const char *b="x , y", int c = -1) ;', folder)
    other = cpp('void f(int a = sizeof(int) * 2 /* why */, const char *b = "x , y", int c = - 1);', folder)
    expected = (Argument("a", "sizeof(int) * 2"), Argument("b", '"x , y"'), Argument("c", "-1"))
    assert one.declared("function", "_Z1fiPKci").parameters == expected
    assert other.declared("function", "_Z1fiPKci").parameters == expected


def test_inline_bodies_tell_what_they_use(folder: Path) -> None:
    read = cpp(
        """
        int helper(int); extern int counter; inline int inlined() { return 1; }
        class Box {
         public:
          Box(int v) : value(v) {}
          int get() const { return value + helper(counter) + inlined(); }
          int more() { return hidden(); }
          int plain;
          int open() { return plain; }
         protected:
          int hidden();
         private:
          int value;
        };
        """,
        folder,
    )
    get = read.body("_ZNK3Box3getEv")
    assert (get.members, get.calls) == (("Box::value",), ("_Z6helperi", "counter"))
    assert read.body("_ZN3Box4moreEv").members == ("Box::hidden",)
    assert read.body("_ZN3Box4moreEv").calls == ("_ZN3Box6hiddenEv",)
    assert read.body("_ZN3Box4openEv").members == ()
    assert read.body("_ZN3BoxC1Ei").members == ("Box::value",)


def test_a_body_is_told_by_its_tokens(folder: Path) -> None:
    one = cpp("inline int f(int a) { return a+1; /* one */ }", folder).body("_Z1fi")
    other = cpp("inline int f(int a)\n{\n  return a + 1; // other\n}", folder).body("_Z1fi")
    changed = cpp("inline int f(int a) { return a + 2; }", folder).body("_Z1fi")
    assert one == other != changed


def test_an_initializer_is_part_of_a_body(folder: Path) -> None:
    bodies = {
        cpp(f"struct S {{ int a; S(); }}; inline S::S() : a({value}) {{}}", folder).body("_ZN1SC1Ev")
        for value in (1, 2)
    }
    assert len(bodies) == 2


def test_constants_have_values(folder: Path) -> None:
    read = cpp(
        """
        const int limit = 4 * 16; constexpr unsigned all = ~0u; inline constexpr bool yes = 2 > 1;
        constexpr double half = 0.5; constexpr const char *name = "a b"; const int table[] = {1,2};
        extern const int unknown; extern int variable; constexpr char letter = 'a';
        struct S { static const int member = 7; static constexpr long other{8}; };
        enum { first = 3, second };
        namespace n { enum { third = first + 10 }; }
        template <class T> constexpr T pi = T(3);
        """,
        folder,
    )
    values = {name: read.declared("variable", name) for name in read.names("variable")}
    constants = {name: each.value for name, each in values.items() if "constant" in each.traits}
    assert constants == {
        **{"limit": "64", "all": "4294967295", "yes": "true", "half": "0.5", "name": '"a b"'},
        **{"table": "{1, 2}", "letter": "97", "_ZN1S6memberE": "7", "_ZN1S5otherE": "8"},
        **{"first": "3", "second": "4", "n::third": "13", "pi": "T(3)"},
    }
    assert values["unknown"].value is None


def test_macros_with_a_value_are_constants(folder: Path) -> None:
    read = c(
        """
        #ifndef API_H
        #define API_H
        #define VERSION  "1.2" /* the release */
        #define SIZE (4 *1024)
        #define NEGATIVE -1
        #define OTHER SIZE
        #define EMPTY
        #define CALL(x) x
        #define EXPORT __attribute__((visibility("default")))
        #define BEGIN extern "C" {
        #define _RESERVED 1
        #define GONE 5
        #undef GONE
        #define TWICE 1
        #undef TWICE
        #define TWICE 2
        #ifdef NOBODY_DEFINES_IT
        #define ABSENT 1
        #endif
        int EXPORT f(void);
        #endif
        """,
        folder,
    )
    found = {name: read.declared("variable", name) for name in read.names("variable")}
    assert {name for name, each in found.items() if each.replacement} == {"EMPTY", "CALL", "EXPORT", "BEGIN"}
    assert {name: each.value for name, each in found.items() if not each.replacement} == {
        **{"VERSION": '"1.2"', "SIZE": "(4 * 1024)", "NEGATIVE": "-1", "OTHER": "SIZE", "TWICE": "2"}
    }
    assert read.declared("variable", "SIZE").traits == ("constant", "macro")


def test_macros_that_name_others_have_the_value_in_the_end(folder: Path) -> None:
    read = c(
        """
        #include <stdint.h>
        enum color { RED = 3, BLUE };
        #define BASE 4
        #define NEXT (BASE + 1)
        #define LAST RED
        #define BLUE BLUE
        #define LEAST INT8_MIN
        #define PAIR(a, b) (((a) << 8) | (b))
        #define VERSION PAIR(BASE, NEXT)
        #define TEXT(x) #x
        #define TOLD(x) TEXT(x)
        #define WORD TOLD(BASE) ".1"
        #define JOINED(a, b) a##b
        #define LONG JOINED(1, 2u)
        #define open_again open_file
        #define CIRCLE OTHER
        #define OTHER CIRCLE
        #define D0 1 + 1
        #define D1 D0 + D0 + D0 + D0 + D0 + D0 + D0 + D0
        #define D2 D1 + D1 + D1 + D1 + D1 + D1 + D1 + D1
        #define D3 D2 + D2 + D2 + D2 + D2 + D2 + D2 + D2
        #define API HIDDEN(default)
        #define HIDDEN(word) __attribute__((visibility(#word)))
        #define NOTHING EMPTY
        #define EMPTY
        """,
        folder,
    )
    found = {name: read.declared("variable", name) for name in read.names("variable")}
    meanings = {name: each.meaning for name, each in found.items() if each.replacement is None}
    assert {name: each and (each.value, each.borrowed) for name, each in meanings.items()} == {
        **{"BASE": None, "NEXT": ("5", False), "LAST": ("3", False), "BLUE": ("4", False), "LEAST": ("-128", True)},
        **{"VERSION": ("1029", False), "WORD": ('"4.1"', False), "LONG": ("12u", False), "open_again": None},
        **{"CIRCLE": None, "OTHER": None, "D0": None, "D1": ("16", False), "D2": None, "D3": None},
    }


def test_traits_of_classes(folder: Path) -> None:
    read = cpp(
        """
        struct Plain { int a; }; struct Last final { int a; private: int b; };
        class Abstract { virtual void f() = 0; }; struct state { int dummy; }; struct [[deprecated]] Old;
        struct Handle; struct Real { int dummy; int other; };
        """,
        folder,
    )
    traits = {name: read.declared("record", name).traits for name in read.names("record")}
    assert traits == {
        **{"Plain": (), "Last": ("final",), "Abstract": ("abstract",)},
        **{"state": ("dummy",), "Old": ("deprecated",), "Handle": (), "Real": ()},
    }
    assert set(read.found.entries[Name("record", "Handle")]) == {Declared(), Opaque("struct")}


def test_enumerators_are_told_as_written(folder: Path) -> None:
    read = cpp("enum class E { a, b = 4, c = b|  8, d = 'x', e = a + 1 };", folder)
    assert read.declared("enum", "E").expressions == (("c", "b | 8"), ("e", "a + 1"))


def test_templates_and_concepts(folder: Path) -> None:
    read = cpp(
        """
        namespace n {
        template <class T> concept Small = sizeof(T)<9;
        template <class T, int N = 3> requires Small<T> struct Box {
          T items[N]; using value_type = T; void add(const T &, int = 1); int size() const; T *begin();
         private:
          int hidden;
        };
        template <Small T> const T &pick(const T &one, T (&all)[2]);
        template <class T> using Ref = T &;
        }
        """,
        folder,
    )
    box = read.declared("record", "n::Box")
    assert (box.traits, box.template) == (("template",), (Argument("class T"), Argument("int N", "3")))
    assert box.requires == "Small<T>"
    small = read.declared("variable", "n::Small")
    assert (small.traits, small.template) == (("concept",), (Argument("class T"),))
    assert small.requires == "sizeof(T)<9"
    assert read.names("function") == {
        *("n::Box::add(const #0 &, int)", "n::Box::size() const", "n::Box::begin()"),
        "n::pick<Small>(const #0 &, #0 (&)[2])",
    }
    assert read.declared("function", "n::Box::add(const #0 &, int)").parameters == (Argument(), Argument("", "1"))
    assert read.names("alias") == {"n::Ref", "n::Box::value_type"}
    assert Alias(Special("#0 &")) in read.found.entries[Name("alias", "n::Ref")]
    (items,) = [each for each in read.found.entries[Name("variable", "n::Box::items")] if isinstance(each, Variable)]
    assert items.type == Special("#0[#1]")


def test_a_renamed_template_parameter_changes_no_name(folder: Path) -> None:
    one = cpp("template <class T, int N> struct B { T a[N]; T get(T (&)[N]); }; template <class T> T f(T);", folder)
    other = cpp("template <class X, int M> struct B { X a[M]; X get(X (&)[M]); }; template <class Y> Y f(Y);", folder)
    assert one.found.entries.keys() == other.found.entries.keys()
    assert len(one.found.entries) == 4


def test_hidden_friends_and_using_declarations(folder: Path) -> None:
    read = cpp(
        """
        namespace a { int area(int); struct P { friend bool operator==(P, P); friend int shown(P); }; int shown(P); }
        namespace b { using a::area; using a::P; }
        """,
        folder,
    )
    assert read.declared("function", "_ZN1aeqENS_1PES0_").traits == ("friend",)
    assert read.declared("function", "_ZN1a5shownENS_1PE").traits == ()
    assert read.declared("alias", "b::area") == Declared(traits=("using",), value="a::area")
    assert read.declared("alias", "b::P") == Declared(traits=("using",), value="a::P")


def test_availability(folder: Path) -> None:
    read = cpp("void f() __attribute__((availability(macos,introduced=10.15,deprecated=11.0)));", folder)
    assert read.declared("function", "_Z1fv").availability == ("macos introduced=10.15 deprecated=11.0",)


def test_methods_tell_access_and_more(folder: Path) -> None:
    read = cpp(
        "class S { public: explicit S(int); S(const S &) = delete; S(S &&) = default; private: static void f(); };",
        folder,
    )
    methods = {
        name.spelling: shape.method
        for name, shapes in read.found.entries.items()
        for shape in shapes
        if isinstance(shape, Function) and shape.method
    }
    assert methods["_ZN1SC1Ei"].explicit
    assert methods["_ZN1SC1ERKS_"].deleted
    assert methods["_ZN1SC1EOS_"].defaulted
    assert (methods["_ZN1S1fEv"].static, methods["_ZN1S1fEv"].access) == (True, "private")


def test_only_given_headers_are_public(folder: Path) -> None:
    (folder / "private.h").write_text(
        "struct inside { int a; }; struct unused { int b; }; int hidden(void); enum e { x };"
    )
    read = c('#include "private.h"\nstruct outside { struct inside held; }; enum e kind(struct outside *);', folder)
    assert read.names("record") == {"outside"}
    assert read.names("function") == {"kind"}
    inside = read.found.entries[Name("record", "inside")]
    assert [type(each) for each in inside] == [Record]
    assert Name("record", "unused") not in read.found.entries
    assert Name("enum", "e") in read.found.entries


def test_places_are_those_of_definitions(folder: Path) -> None:
    read = c("struct s;\nstruct s {\n  int a;\n};\nint f(struct s *);\n", folder)
    assert str(read.found.locations[Name("record", "s")]) == "api.h:2"
    assert str(read.found.locations[Name("function", "f")]) == "api.h:5"


@pytest.mark.parametrize(
    "header",
    [
        f"extern int {'*' * 120}deep;",
        "namespace a {" * 120 + "}" * 120,
        "".join(f"struct a{i} {{" for i in range(120)) + "};" * 120,
    ],
    ids=["pointers", "namespaces", "classes"],
)
def test_what_is_nested_too_deep_is_refused(header: str, folder: Path) -> None:
    with pytest.raises(LimitExceeded, match="levels deep"):
        cpp(header, folder, "-fbracket-depth=1000")


def test_a_declaration_with_errors_has_no_made_up_type(folder: Path) -> None:
    header = "struct good { int a; }; struct bad { int a; nobody b; }; int f(nobody); int g(struct bad *); nobody v;"
    read = Read(walked(header, folder, ["-xc++"], sound=False))
    assert read.names("function") == {"_Z1gP3bad"}
    assert read.names("variable") == set()
    assert Name("record", "bad") not in read.found.entries
    assert len(read.found.entries[Name("record", "good")]) == 2


def test_what_has_no_name_is_called_the_same_wherever_it_stands(folder: Path) -> None:
    """libclang names it after its file and line: no folder of a machine belongs into what is remembered."""
    text = "template <class T> struct mode { enum { begin, run } delay; };"
    places = [folder / name for name in ("one", "another")]
    for place in places:
        place.mkdir()
    first, second = (cpp(f"{lines}{text}", place) for lines, place in zip(("", "\n\n"), places, strict=True))
    assert first.found.entries == second.found.entries
    assert not any(str(folder) in repr(shapes) for shapes in first.found.entries.values())


def test_a_function_of_the_compiler_is_no_function_of_the_library(folder: Path) -> None:
    read = cpp(
        """
        #define LIKELY(x) __builtin_expect(bool(x), 1)
        int helper(int);
        inline int ask(int a) { if (LIKELY(a)) return helper(a); return __builtin_popcount(a); }
        """,
        folder,
    )
    assert read.body("_Z3aski").calls == ("_Z6helperi",)


def test_signatures_have_the_names_of_their_own_template_whatever_was_declared_before(folder: Path) -> None:
    first = "namespace std { template <class _Tp, unsigned long _Nm> struct row { _Tp at[_Nm]; };\n"
    first += "template <class _Tp, unsigned long _Nm> void fill(row<_Tp, _Nm> &); }\n"
    second = "template <class T, unsigned long N> void f(std::row<T, N> &, T (&)[N]);\n"
    second += "template <class T> struct part;\n"
    second += "template <class T, unsigned long N> struct part<std::row<T, N>> { T one; };\n"
    alone = "namespace std { template <class T, unsigned long N> struct row { T at[N]; }; }\n"
    names = [{name.spelling for name in cpp(text + second, folder).found.entries} for text in (first, alone)]
    assert names[1] <= names[0]
    assert {"f<typename, unsigned long>(row<#0, #1> &, #0 (&)[#1])", "part<row<#0, N>>"} <= names[0]


def test_each_of_several_declarators_has_its_own_initializer(folder: Path) -> None:
    read = cpp(
        """
        struct P {
            int width = 1, height = 2, depth, first{3}, last{4};
            char end = ';', *name = nullptr;
            int (*call)(int, int) = nullptr, plain, list[2] = {5, 6};
        };
        struct Q { int width = (1, 2), height; };
        inline const char *const one[] = {"a"}, *const two[] = {"b"};
        """,
        folder,
    )
    assert read.declared("record", "P").expressions == (
        *(("width", "1"), ("height", "2"), ("first", "{3}"), ("last", "{4}"), ("end", "';'"), ("name", "nullptr")),
        *(("call", "nullptr"), ("list", "{5, 6}")),
    )
    assert read.declared("record", "Q").expressions == (("width", "(1, 2)"),)
    assert (read.declared("variable", "one").value, read.declared("variable", "two").value) == ('{"a"}', '{"b"}')


def test_macros_for_the_place_of_a_declaration_are_no_constants(folder: Path) -> None:
    read = c(
        """
        #define VISIBLE __attribute__((visibility("default")))
        #define EMPTY
        #define OTHER_API EMPTY
        #define SHOWN_API VISIBLE
        #define BOTH_API EMPTY VISIBLE
        #define FOREIGN_API foreign_attribute
        #define HIDING_API PASTED(VISI, BLE)
        #define PASTED(a, b) a##b
        #define LIMIT NUMBER
        #define NUMBER 4
        SHOWN_API int f(void);
        FOREIGN_API_USED
        """.replace("FOREIGN_API_USED", ""),
        folder,
    )
    found = {name: read.declared("variable", name) for name in read.names("variable")}
    assert {name for name, each in found.items() if each.replacement is None} == {"FOREIGN_API", "LIMIT", "NUMBER"}


def test_macros_with_parameters_are_told_by_their_number_and_text(folder: Path) -> None:
    read = c(
        """
        #define PICK(a, b) ((a) > (b) ? (a) : (b))
        #define SAME(x, y) ((x) > (y) ? (x) : (y))
        #define LOG(text, ...) log_it(text, __VA_ARGS__)
        #define ALL(all...) log_it(all)
        #define MARK
        MARK int log_it(const char *, ...);
        """,
        folder,
    )
    found = {name: read.declared("variable", name).replacement for name in read.names("variable")}
    told = {name: each and (each.parameters, each.variadic, each.used) for name, each in found.items()}
    assert told == {
        **{"PICK": (2, False, ()), "SAME": (2, False, ()), "LOG": (1, True, ()), "ALL": (0, True, ())},
        **{"MARK": (None, False, ("declaration",))},
    }
    assert found["PICK"] == found["SAME"]


def test_headers_use_macros_in_declarations_conditions_and_other_macros(folder: Path) -> None:
    read = c(
        """
        #define EXPORT(type) type
        #define HALF(x) ((x) / 2)
        #define QUARTER(x) HALF(HALF(x))
        #define THREADS
        #if defined(HALF) && \\
            defined(THREADS)
        EXPORT(int) run(void);
        #endif
        static inline int half(int x) { return HALF(x); }
        #define TAKEN(x) x
        #undef TAKEN
        """,
        folder,
    )
    found = {name: read.declared("variable", name).replacement for name in read.names("variable")}
    assert {name: each and each.used for name, each in found.items()} == {
        **{"EXPORT": ("declaration",), "HALF": ("asked", "macro"), "QUARTER": (), "THREADS": ("asked",)},
    }


def test_class_templates_tell_their_bases_by_qualified_names(folder: Path) -> None:
    read = cpp(
        """
        namespace geo {
        namespace detail { template <class T, int N> struct sized {}; struct plain {}; }
        template <class T> using one = detail::sized<T, 1>;
        template <class T, int N> class box : public detail::sized<T, N>, virtual detail::plain {};
        template <class T> struct box<T, 1> : one<T>, T {};
        template <class T> struct lid;
        }
        """,
        folder,
    )
    found = {name: read.declared("record", name).bases for name in read.names("record")}
    assert {name: bases for name, bases in found.items() if bases} == {
        "geo::box": (
            WrittenBase("geo::detail::sized<#0, #1>"),
            WrittenBase("geo::detail::plain", virtual=True, access="private"),
        ),
        "geo::box<#0, 1>": (WrittenBase("geo::detail::sized<#0, 1>"), WrittenBase("#0")),
    }


def test_a_template_that_derives_from_its_own_specialization_is_read() -> None:
    """The base is known by its template alone, as long as no argument is: it is no base of itself."""
    text = """
template <class... Ts> struct seq {};
template <class T, class... Ts> struct plus : plus<seq<T, Ts...>> {};
template <class T> struct plus<T> { int rule; };
template <class T> struct one : plus<T, char> { int more; };
struct grammar : one<int> { plus<int, char> held; };
int parse(const grammar &);
"""
    found = read_texts((("a.hpp", text),)).entries
    (record,) = [each for each in found[Name("record", "grammar")] if isinstance(each, Record)]
    assert (record.size, record.fields[0].offset) == (12, 64)
