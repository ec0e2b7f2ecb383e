"""What templates and friends show of internal namespaces."""

from __future__ import annotations

from abistore.model.declarations import Declared
from tests.public_headers import implementing

DETAIL = """
    namespace detail {
    template <class T> struct base {}; template <class T> struct held {}; struct plain {};
    template <class T> struct is_flat { static const bool value = true; };
    template <class T> struct result { typedef T type; };
    template <class T> base<T> make(T value);
    }
    template <bool, class T = void> struct only_if { typedef T type; };
"""


def shown(text: str) -> dict[str, tuple[str, ...]]:
    """What each public declaration shows."""
    entries = implementing({"w.h": f"namespace geo {{ {DETAIL} {text} }}"}).entries["source"]
    return {
        name.spelling: each.shown
        for name, shapes in entries.items()
        for each in shapes
        if isinstance(each, Declared) and each.shown and not name.spelling.startswith("geo::detail::")
    }


def test_a_class_template_shows_bases_members_and_what_its_classes_and_friends_have() -> None:
    found = shown(
        """
        template <class T> class one : detail::base<T> { detail::held<T> hidden; };
        template <class T> class two { detail::held<T> hidden; public: detail::base<T> all() { detail::held<T> x; } };
        template <class T> class three { public: struct part : detail::plain {}; };
        template <class T> class four { friend detail::base<T> all(const four &) { return {}; } friend class one<T>; };
        class five { template <class T> friend detail::base<T> all(const five &, T); friend struct detail::plain; };
        """
    )
    base, plain = ("geo::detail::base",), ("geo::detail::plain",)
    assert found == {"geo::one": base, "geo::two": base, "geo::three": plain, "geo::four": base, "geo::five": base}


def test_a_function_template_shows_types_and_what_they_are_deduced_from() -> None:
    found = shown(
        """
        template <class T> typename detail::result<T>::type one(T);
        template <class T> auto two(T value) { return detail::make(value); }
        template <class T> auto three(T value) -> decltype(detail::make(value));
        template <class T, class U = detail::base<T>> void four(T);
        """
    )
    assert sorted(found.values()) == [
        *[("geo::detail::base",), ("geo::detail::make",), ("geo::detail::make",), ("geo::detail::result",)],
    ]


def test_what_is_asked_for_its_value_is_not_shown() -> None:
    text = """
        template <class T> typename only_if<detail::is_flat<T>::value>::type one(T);
        template <class T, typename only_if<detail::is_flat<T>::value, int>::type = 0> void two(T);
        template <class T> void three(T) { detail::held<T> value; }
    """
    assert shown(text) == {}


def test_templates_of_variables_and_types_show_what_they_are() -> None:
    found = shown("template <class T> detail::base<T> one; template <class T> using two = detail::held<T>;")
    assert "geo::detail::base" in found["geo::one"]
    assert found["geo::two"] == ("geo::detail::held",)
