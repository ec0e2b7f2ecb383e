"""Which exports use a type, each once and with the way to it."""

from __future__ import annotations

from tests.build import build_library
from tests.cli.conftest import Call

SHAPES = """
#include <vector>
struct Point { Point(int x = 0); ~Point(); int x; };
Point::Point(int x) : x(x) {}
Point::~Point() {}
struct Line { std::vector<Point> points; };
struct Drawing { Line *first; };
int draw(const Drawing &drawing) { return drawing.first->points.empty(); }
void add(std::vector<Point> &points, const Point &point) { points.push_back(point); }
template class std::vector<Point>;
"""


def test_variants_of_constructors_are_one_user_and_the_way_to_a_type_is_shown(abistore: Call) -> None:
    library = build_library(SHAPES, language="c++", flags=("-g", "-O0"))
    assert abistore("ingest", library, "--version", "1.0").code == 0
    (found,) = abistore("show", "libcase", "--users", "Point", "--json").json["types"]
    users = {each["display"]: each for each in found["users"]}
    assert [each["display"].partition("(")[0] for each in found["users"]].count("Point::Point") == 1
    assert found["called"] == "struct Point"
    assert found["instances"] > 2
    assert not any("std::__" in name.partition("(")[0] for name in users)
    assert not any(name.startswith("__gnu_cxx::") for name in users)
    (way,) = [each["through"] for name, each in users.items() if name.startswith("draw(")]
    assert (way[0], way[1]) == ("Drawing", "Line")
    text = abistore("show", "libcase", "--users", "Point").out
    assert "through Drawing -> Line" in text
    assert "functions of the standard library's templates" in text
    assert max(map(len, text.splitlines())) < 300


def test_an_export_that_mentions_a_type_is_shown_without_a_way(abistore: Call) -> None:
    source = "struct point { int x; };\nint norm(const struct point *of) { return of->x; }\n"
    assert abistore("ingest", build_library(source), "--version", "1.0").code == 0
    (found,) = abistore("show", "libcase", "--users", "point", "--json").json["types"]
    assert [(each["display"], each["directly"], each["through"]) for each in found["users"]] == [("norm", True, [])]
    assert abistore("show", "libcase", "--users", "point").out.splitlines()[0].endswith(": struct point")
