"""The parts of qualified names."""

from __future__ import annotations

import pytest

from abistore.model.names.qualified import (
    entity,
    last_component,
    outermost,
    plain_template,
    scope,
    template_of,
    without_arguments,
    without_parameters,
)


@pytest.mark.parametrize(
    ("demangled", "expected"),
    [
        ("geo::norm(geo::Point const&)", "geo::norm"),
        ("vtable for geo::Shape", "geo::Shape"),
        ("non-virtual thunk to geo::Shape::area() const", "geo::Shape::area"),
        ("int geo::max<int>(int, int)", "geo::max<int>"),
        ("bool geo::operator< <int>(geo::Box<int> const&)", "geo::operator< <int>"),
        ("geo::operator<(geo::Point, geo::Point)", "geo::operator<"),
        ("geo::operator>>(geo::Point, int)", "geo::operator>>"),
        ("geo::Less::operator()(int, int) const", "geo::Less::operator()"),
        ("geo::Handle::operator->() const", "geo::Handle::operator->"),
        ("geo::Point::operator unsigned int() const", "geo::Point::operator unsigned int"),
        ("(anonymous namespace)::run(int)", "(anonymous namespace)::run"),
        ("geo::Chosen<(1 > 0)>::get()", "geo::Chosen<(1 > 0)>::get"),
    ],
)
def test_the_entity_of_a_symbol_has_no_parameters_and_no_result(demangled: str, expected: str) -> None:
    assert entity(demangled) == expected


@pytest.mark.parametrize(
    ("qualified", "expected"),
    [
        ("geo::Box<a::b>::get", "geo::Box<a::b>"),
        ("geo::operator<", "geo"),
        ("geo::Box<(a::x > 1)>", "geo"),
        ("norm", ""),
    ],
)
def test_a_scope_ends_before_the_last_component(qualified: str, expected: str) -> None:
    assert scope(qualified) == expected


@pytest.mark.parametrize(
    ("qualified", "expected"),
    [
        ("ns::Box<int>::get", ("ns::Box", "<int>")),
        ("ns::Box<ns::Box<int>>", ("ns::Box", "<ns::Box<int>>")),
        ("ns::Box<int>::operator->", ("ns::Box", "<int>")),
        ("ns::operator>>", ("ns::operator>>", "")),
        ("ns::get", ("ns::get", "")),
    ],
)
def test_a_template_is_told_from_an_operator(qualified: str, expected: tuple[str, str]) -> None:
    assert template_of(qualified) == expected


def test_the_outermost_scope_of_a_global_function_is_none() -> None:
    assert [outermost(each) for each in ("norm(int)", "geo::norm(int)", "Box<int>::get()")] == ["", "geo", "Box"]


def test_the_last_component_of_an_operator_is_its_name() -> None:
    assert last_component("geo::Box<int>::operator<") == "operator<"


def test_arguments_and_parameters_are_left_out() -> None:
    assert without_arguments("geo::Box<geo::Box<int>>::operator<<") == "geo::Box<...>::operator<<"
    assert without_parameters("geo::call(void (*)(int), int) const") == "geo::call"
    assert without_parameters("geo::call") == "geo::call"


def test_a_plain_template_is_cut_at_the_commas_of_its_own_arguments() -> None:
    assert plain_template("Map<Pair<int, long>, f(a, b)>") == ("Map", ["Pair<int, long>", "f(a, b)"])
    assert plain_template("Map<int>::Map<int>") is None
