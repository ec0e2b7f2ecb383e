"""The sources of both libraries: the first release, and the edits of each one after it."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """Text of a file, and what takes its place. Each occurs once."""

    file: str
    old: str
    new: str


class Step(NamedTuple):
    """A release: its version and day, what it does in one word, and how its sources differ from the one before.

    With ``waiver``, every break of it is approved for this reason.
    """

    version: str
    day: str
    story: str
    edits: tuple[Edit, ...] = ()
    waiver: str = ""


class Project(NamedTuple):
    """A library with its sources at the first release, and all its releases, oldest first."""

    name: str
    language: str
    header: str
    source: str
    files: dict[str, str]
    steps: tuple[Step, ...]


TALLY_H = """\
#ifndef TALLY_H
#define TALLY_H

struct tally;

struct tally_options {
  unsigned limit;
  int sorted;
};

enum tally_status { TALLY_OK, TALLY_FULL };

typedef int tally_callback(const char *name, unsigned count, void *context);

struct tally *tally_new(const struct tally_options *options);
void tally_free(struct tally *tally);
enum tally_status tally_add(struct tally *tally, const char *name);
unsigned tally_count(const struct tally *tally, const char *name);
int tally_each(const struct tally *tally, tally_callback *callback, void *context);
__attribute__((deprecated("use tally_count"))) unsigned tally_total(const struct tally *tally);
int tally_dump(const struct tally *tally, int descriptor);

#endif
"""
TALLY_C = """\
#include "tally.h"

struct tally {
  struct tally_options options;
  unsigned used;
};

static struct tally only;

struct tally *tally_new(const struct tally_options *options) {
  only.options = *options;
  return &only;
}
void tally_free(struct tally *tally) { tally->used = 0; }
enum tally_status tally_add(struct tally *tally, const char *name) {
  return name && tally->used++ < tally->options.limit ? TALLY_OK : TALLY_FULL;
}
unsigned tally_count(const struct tally *tally, const char *name) { return name ? tally->used : 0; }
int tally_each(const struct tally *tally, tally_callback *callback, void *context) {
  return callback("all", tally->used, context);
}
unsigned tally_total(const struct tally *tally) { return tally->used; }
int tally_dump(const struct tally *tally, int descriptor) { return descriptor < 0 ? -1 : (int)tally->used; }
"""
H, C = "tally.h", "tally.c"
TALLY = Project(
    "libtally",
    "c",
    H,
    C,
    {H: TALLY_H, C: TALLY_C},
    (
        Step("1.0.0", "2024-02-05", "first"),
        Step(
            *("1.1.0", "2024-05-13", "growth"),
            (
                Edit(
                    H,
                    "unsigned tally_count(",
                    "enum tally_status tally_remove(struct tally *tally, const char *name);\nunsigned tally_count(",
                ),
                Edit(
                    C,
                    "unsigned tally_count(",
                    "enum tally_status tally_remove(struct tally *tally, const char *name) {\n"
                    "  return name && tally->used-- ? TALLY_OK : TALLY_FULL;\n}\nunsigned tally_count(",
                ),
            ),
        ),
        Step(
            *("1.2.0", "2024-09-02", "accident"),
            (Edit(H, "  unsigned limit;\n", "  unsigned limit;\n  unsigned long weight;\n"),),
        ),
        Step(
            *("2.0.0", "2025-01-20", "allowed major"),
            (
                Edit(
                    H,
                    "tally_add(struct tally *tally, const char *name)",
                    "tally_add(struct tally *tally, const char *name, unsigned times)",
                ),
                Edit(
                    C,
                    "tally_add(struct tally *tally, const char *name)",
                    "tally_add(struct tally *tally, const char *name, unsigned times)",
                ),
                Edit(C, "name && tally->used++ <", "name && (tally->used += times) <"),
            ),
        ),
        Step(
            *("2.1.0", "2025-05-06", "rename"),
            (Edit(H, "int tally_each(", "int tally_visit("), Edit(C, "int tally_each(", "int tally_visit(")),
        ),
        Step(
            *("2.1.1", "2025-06-17", "private change"),
            (Edit(C, "  unsigned used;\n", "  unsigned used;\n  unsigned peak;\n"),),
        ),
        Step(
            *("2.2.0", "2025-10-01", "deprecated removal"),
            (
                Edit(
                    H,
                    '__attribute__((deprecated("use tally_count"))) unsigned tally_total(const struct tally *tally);\n',
                    "",
                ),
                Edit(C, "unsigned tally_total(const struct tally *tally) { return tally->used; }\n", ""),
            ),
        ),
        Step(
            *("2.3.0", "2026-02-11", "waived break"),
            (
                Edit(H, "int tally_dump(const struct tally *tally, int descriptor);\n", ""),
                Edit(C, "int tally_dump(const", "static __attribute__((unused)) int tally_dump(const"),
            ),
            "for debugging only, never documented; no user left",
        ),
    ),
)

SHAPES_H = """\
#pragma once

namespace shapes {

struct Point {
  double x = 0, y = 0;
};

class Shape {
 public:
  virtual ~Shape();
  virtual double area() const;
  virtual void move(Point by);

 protected:
  Point origin_;
};

class Circle : public Shape {
 public:
  explicit Circle(double radius);
  double area() const override;

 private:
  double radius_;
};

class Canvas {
 public:
  Canvas();
  ~Canvas();
  void add(const Shape &shape);
  double total_area() const;
  [[deprecated("use total_area")]] double area() const;
  Point scaled(Point point, double factor) const;

 private:
  class Impl;
  Impl *impl_;
};

}
"""
SHAPES_CPP = """\
#include "shapes.hpp"

namespace shapes {

class Canvas::Impl {
 public:
  double sum = 0;
};

Shape::~Shape() = default;
double Shape::area() const { return 0; }
void Shape::move(Point by) { origin_.x += by.x; origin_.y += by.y; }

Circle::Circle(double radius) : radius_(radius) {}
double Circle::area() const { return 3.14159265 * radius_ * radius_; }

Canvas::Canvas() : impl_(new Impl) {}
Canvas::~Canvas() { delete impl_; }
void Canvas::add(const Shape &shape) { impl_->sum += shape.area(); }
double Canvas::total_area() const { return impl_->sum; }
double Canvas::area() const { return impl_->sum; }
Point Canvas::scaled(Point point, double factor) const { return {point.x * factor, point.y * factor}; }

}
"""
HPP, CPP = "shapes.hpp", "shapes.cpp"
SHAPES = Project(
    "libshapes",
    "c++",
    HPP,
    CPP,
    {HPP: SHAPES_H, CPP: SHAPES_CPP},
    (
        Step("1.0.0", "2024-03-11", "first"),
        Step(
            *("1.1.0", "2024-06-24", "growth"),
            (
                Edit(
                    HPP,
                    "class Canvas {",
                    "class Square : public Shape {\n public:\n  explicit Square(double side);\n"
                    "  double area() const override;\n\n private:\n  double side_;\n};\n\nclass Canvas {",
                ),
                Edit(
                    CPP,
                    "Canvas::Canvas()",
                    "Square::Square(double side) : side_(side) {}\n"
                    "double Square::area() const { return side_ * side_; }\n\nCanvas::Canvas()",
                ),
            ),
        ),
        Step(
            *("1.2.0", "2024-10-07", "accident"),
            (
                Edit(HPP, "  virtual void move(", "  virtual double perimeter() const;\n  virtual void move("),
                Edit(CPP, "void Shape::move(", "double Shape::perimeter() const { return 0; }\nvoid Shape::move("),
            ),
        ),
        Step(
            *("2.0.0", "2025-02-03", "allowed major"),
            (Edit(HPP, "  double x = 0, y = 0;\n", "  double x = 0, y = 0, z = 0;\n"),),
        ),
        Step(
            *("2.1.0", "2025-06-02", "rename"),
            (
                Edit(HPP, "  double total_area() const;", "  double sum_of_areas() const;"),
                Edit(CPP, "Canvas::total_area() const", "Canvas::sum_of_areas() const"),
            ),
            "one user, who is told: the paint program is built again with every release",
        ),
        Step(
            *("2.1.1", "2025-07-14", "private change"),
            (Edit(CPP, "  double sum = 0;\n", "  double sum = 0;\n  unsigned count = 0;\n"),),
        ),
        Step(
            *("2.2.0", "2025-11-24", "waived break"),
            (
                Edit(
                    HPP,
                    "scaled(Point point, double factor) const",
                    "scaled(Point point, double factor, bool round) const",
                ),
                Edit(CPP, "scaled(Point point, double factor) const", "scaled(Point point, double factor, bool) const"),
            ),
            "it never worked; nobody can have used it",
        ),
        Step(
            *("2.3.0", "2026-03-30", "deprecated removal"),
            (
                Edit(HPP, '  [[deprecated("use total_area")]] double area() const;\n', ""),
                Edit(CPP, "double Canvas::area() const { return impl_->sum; }\n", ""),
            ),
        ),
    ),
)
PROJECTS = (TALLY, SHAPES)
