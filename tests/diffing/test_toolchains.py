"""The same source built in another way is no break, and a build that shows less is no change."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Impact, Verdict
from abistore.model.snapshot import Snapshot
from tests.build import build_library

pytestmark = pytest.mark.full

C = """
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
enum level { LOW, MIDDLE, HIGH = 40 };
struct point { int x, y; };
struct node { struct node *next; enum level level; union { long l; double d; } value; unsigned flag : 3, rest : 5; };
typedef int (*callback)(const struct node *, void *);
typedef struct { char name[16]; struct point where; } place;
struct handle { struct node *first; callback call; void *data; };
struct handle *handle_new(callback call, void *data) {
  struct handle *h = calloc(1, sizeof *h);
  if (h) { h->call = call; h->data = data; }
  return h;
}
void handle_free(struct handle *h) { free(h); }
int handle_each(struct handle *h, ...) {
  int n = 0;
  for (struct node *i = h->first; i; i = i->next) n += h->call(i, h->data);
  return n;
}
static int sum(struct point p) { return p.x + p.y; }
int place_sum(place p) { return sum(p.where) + (int)strlen(p.name); }
int place_vsum(place p, va_list rest) { return place_sum(p) + va_arg(rest, int); }
struct point origin = {1, 2};
const char *const names[] = {"low", "middle", "high"};
__thread int last;
"""

CXX = """
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace geo {
enum class Unit : unsigned char { mm, inch };
struct Point { double x = 0, y = 0; Point operator+(const Point &other) const { return {x + other.x, y + other.y}; } };
class Shape {
public:
  virtual ~Shape();
  virtual double area() const = 0;
  std::string name() const;
protected:
  std::string name_;
  Unit unit_ = Unit::mm;
};
template <class T> class Bag {
public:
  void add(const T &item) { items_.push_back(item); }
  int size() const { return (int)items_.size(); }
private:
  std::vector<T> items_;
};
class Polygon : public Shape {
public:
  Polygon(std::vector<Point> points);
  double area() const override;
  void move(Point by);
  int corners() const;
private:
  std::vector<Point> points_;
  Bag<int> tags_;
  std::map<std::string, std::shared_ptr<Point>> marks_;
};
Shape::~Shape() = default;
std::string Shape::name() const { return name_; }
Polygon::Polygon(std::vector<Point> points) : points_(std::move(points)) { tags_.add(3); }
double Polygon::area() const { return points_.size() * 2.0; }
void Polygon::move(Point by) {
  for (auto &each : points_) each = each + by;
  marks_["moved"] = std::make_shared<Point>(by);
}
int Polygon::corners() const { return (int)points_.size() + tags_.size(); }
std::unique_ptr<Shape> make(const std::string &name) {
  return name.empty() ? nullptr : std::make_unique<Polygon>(std::vector<Point>(3));
}
extern "C" int geo_version(void) { return 3; }
}
"""

SOURCES = {"c": C, "c++": CXX}
GCC = {"c": "gcc", "c++": "g++"}
CLANG = {"c": "clang", "c++": "clang++"}
OTHER_STANDARD = {"c": "-std=gnu11", "c++": "-std=c++20"}
STANDARD = {"c": "-std=gnu17", "c++": "-std=c++17"}


def read(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions(library="libcase"))


def built(language: str, *flags: str, compiler: str | None = None) -> Path:
    return build_library(SOURCES[language], language=language, compiler=compiler, flags=flags)


def stripped(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    shutil.copy(path, copy)
    subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
    return copy


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_stripped_build_is_no_change_in_either_direction_and_says_what_was_not_checked(
    language: str, tmp_path: Path
) -> None:
    full = built(language, "-g", "-O2")
    whole, bare = read(full), read(stripped(full, tmp_path))
    for old, new, side in ((whole, bare, "new"), (bare, whole, "old")):
        comparison = compare(old, new)
        assert comparison.verdict is Verdict.NO_CHANGE
        assert [
            (each.facet, each.side, each.reason) for each in comparison.not_checked if each.reason == "no-debug-info"
        ] == [("layout", side, "no-debug-info")]


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("way", ["compiler", "optimisation", "standard"])
def test_another_build_of_the_same_source_is_at_most_a_risk(language: str, way: str) -> None:
    plain = built(language, "-g", "-O2", STANDARD[language])
    other = {
        "compiler": lambda: built(language, "-g", "-O2", STANDARD[language], compiler=CLANG[language]),
        "optimisation": lambda: built(language, "-g", "-O0", STANDARD[language]),
        "standard": lambda: built(language, "-g", "-O2", OTHER_STANDARD[language]),
    }[way]()
    for old, new in ((plain, other), (other, plain)):
        worse = [each for each in compare(read(old), read(new)).findings if each.impact > Impact.RISK]
        assert worse == []
