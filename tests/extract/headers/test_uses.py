"""What templates, default arguments and initialisers of members use of the library's inside."""

from __future__ import annotations

from abistore.model.declarations import Declared, Uses
from tests.public_headers import implementing


def uses(text: str) -> dict[str, Uses]:
    """What each declaration of a public header uses."""
    entries = implementing({"w.h": text}).entries["source"]
    return {
        name.spelling: each.uses
        for name, shapes in entries.items()
        for each in shapes
        if isinstance(each, Declared) and each.uses is not None
    }


LOG = "class Log { int grow(int); int grow(const char *); static int first(); %s };"
BOTH = ("_ZN3Log4growEPKc", "_ZN3Log4growEi")


def test_a_template_uses_each_function_that_its_argument_may_choose() -> None:
    found = uses(LOG % "public: template <class T> int all(T n) { return grow(n); }")
    assert found == {"Log::all<typename>(#0)": Uses(("Log::grow",), BOTH)}


def test_a_template_without_access_uses_no_private_function() -> None:
    assert uses(LOG % "" + "template <class T> int all(Log &log, T n) { return log.grow(n); }") == {}


def test_a_friend_is_who_the_class_names_and_no_other_template() -> None:
    text = LOG % "template <class T> friend int mine(Log &, T);"
    bodies = "template <class T> int {}(Log &log, T n) {{ return log.grow(n); }}"
    found = uses(text + bodies.format("mine") + bodies.format("other"))
    assert found == {"mine<typename>(Log &, #0)": Uses(("Log::grow",), BOTH)}


def test_what_depends_on_an_argument_is_nothing_yet() -> None:
    assert uses(LOG % "" + "template <class T> int all(T &log) { return log.grow(1) + T::first(); }") == {}


def test_private_members_of_a_class_template_use_what_they_call() -> None:
    helper = "namespace detail { int area(int); int width(int); int depth(int); int sides(int); }"
    box = """
        template <class T> class Box {
            void shrink();
            int sides() { return detail::sides(1); }
            int size = detail::width(2);
            struct Node { int depth() { return detail::depth(3); } };
        };
        template <class T> void Box<T>::shrink() { detail::area(4); }
    """
    called = ("_ZN6detail4areaEi", "_ZN6detail5depthEi", "_ZN6detail5sidesEi", "_ZN6detail5widthEi")
    assert uses(helper + box) == {"Box": Uses(calls=called)}


def test_a_default_argument_uses_what_it_calls_and_not_the_type_of_the_parameter() -> None:
    found = uses(LOG % "struct Part {}; public: int from(Part *part = nullptr, int n = first());")
    assert list(found.values()) == [Uses(("Log::first",), ("_ZN3Log5firstEv",))]


def test_initialisers_count_where_programs_compile_a_constructor() -> None:
    text = LOG % "int size = first(); public: Log(); %s"
    assert uses(text % "") == uses(text % "Log(const Log &) = default; Log(Log &&) = default;") == {}
    assert uses(text % "Log(int) {}") == {"Log": Uses(("Log::first",), ("_ZN3Log5firstEv",))}


def test_a_template_constructor_uses_what_it_initialises_members_with() -> None:
    found = uses(LOG % "int size; public: template <class T> Log(T *) : size(first()) {}")
    used = Uses(("Log::first", "Log::size"), ("_ZN3Log5firstEv",), fields=("Log::size",))
    assert list(found.values()) == [used]
