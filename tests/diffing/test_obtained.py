"""Classes of which programs can come by an object: every way that a header may give."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.side import SideFacts
from abistore.extract.capture import read_snapshot
from abistore.extract.header_options import HeaderOptions
from abistore.extract.reader import ExtractOptions
from abistore.model.names.qualified import demangle
from tests.build import build_library

WAYS = {
    "by_result": ("", "Part &first();"),
    "by_static": ("static Part make();", ""),
    "by_smart_pointer": ("", "std::shared_ptr<const Part> first();"),
    "by_alias": ("", "typedef std::vector<Part> Parts; const Parts &all();"),
    "by_auto": ("", "class Whole { Part *part_; public: Whole(); auto part() const { return part_; } };"),
    "by_pointer_to_fill": ("", "bool first(Part **found);"),
    "by_reference_to_fill": ("", "bool first(const Part *&found);"),
    "by_container_to_fill": ("", "void all(std::vector<Part> &found);"),
    "by_callback": ("", "void each(void (*seen)(const Part &));"),
    "by_any_callback": ("", "void each(const std::function<void(const Part &)> &seen);"),
    "by_listener": ("", "class Listener { public: virtual void seen(const Part &); };"),
    "by_member": ("", "struct Whole { Part *part; };"),
    "by_protected_member": ("", "class Whole { protected: Part *part_; public: Whole(); };"),
    "by_object": ("", "extern Part unit;"),
    "by_static_member": ("static Part unit;", ""),
    "by_nullable": ("explicit Part(const Json *json);", ""),
    "by_constructor": ("explicit Part(double size);", ""),
    "by_default": ("Part() = default;", ""),
    "by_deriving": ("protected: Part();", ""),
    "by_friend": ("friend class Maker;", "class Maker {};"),
    "by_what_it_takes": ("", "const Json &json();"),
    "by_base": ("", "class Special : public Part { public: Special(); };"),
    "by_derived": (": Root", "Root &root();"),
    "by_conversion": ("", "class Whole { public: Whole(); operator Part &(); };"),
    "by_inline_call": ("", "class Whole { Part *part_; public: double area() const { return part_->area(); } };"),
    "by_throwing": ("", ""),
}
CLASS = """
class Json;
class Root {{}};
class Part {base} {{
public:
  explicit Part(const Json &json);
  double area() const;
  {inside}
private:
  double size_;
}};
{after}
"""
BODIES = """
class Json { public: double size = 1; };
Part::Part(const Json &json) : size_(json.size) {}
double Part::area() const { return size_; }
double use(const Json &json) { return Part(json).area(); }
"""
INCLUDES = "#pragma once\n#include <functional>\n#include <memory>\n#include <vector>\n"


def header(space: str, inside: str, after: str) -> str:
    base = inside if inside.startswith(":") else ""
    text = CLASS.format(base=base, inside="" if base else inside, after=after)
    return f"namespace {space} {{{text}}}\n"


def lacking(folder: Path, text: str, source: str) -> set[str]:
    """The namespaces in which programs can come by no object of the class."""
    (folder / "way.h").write_text(text)
    library = build_library(f'#include "way.h"\n{source}', language="c++", files={"way.h": text})
    snapshot = read_snapshot(library, ExtractOptions(headers=HeaderOptions((folder / "way.h",), language="c++")))
    assert snapshot.evidence_of("source").declares_all
    consumers = SideFacts(snapshot).consumers
    methods = {name: demangle(name.spelling) for name in snapshot.entries["symbol"] if name.kind == "function"}
    return {each.partition("::")[0] for name, each in methods.items() if consumers.lack_object(name)}


def bodies(space: str, more: str = "") -> str:
    return f"namespace {space} {{{BODIES}{more}}}\n"


def test_each_way_to_an_object_is_one(tmp_path: Path) -> None:
    ways = {"by_nothing": ("", ""), "by_private_member": ("", "class Whole { Part *part_; public: Whole(); };"), **WAYS}
    text = INCLUDES + "".join(header(space, *way) for space, way in ways.items())
    more = {"by_throwing": "void fail(const Json &json) { throw Part(json); }"}
    source = "".join(bodies(space, more.get(space, "")) for space in ways)
    assert lacking(tmp_path, text, source) == {"by_nothing", "by_private_member"}


@pytest.mark.parametrize(
    "text",
    [
        "void *first();",
        "void each(void (*seen)(void *user), void *user);",
        "void fill(const void *found);",
        "struct Options { void *value; }; void set(Options &options);",
        "template <class T> T make(double size);",
        "template <class T> class Holder;",
        "#include <any>\nstd::any first();",
    ],
)
def test_what_may_be_of_any_class_may_be_of_this_one(tmp_path: Path, text: str) -> None:
    assert lacking(tmp_path, f"{INCLUDES}{header('geo', '', '')}{text}", bodies("geo")) == set()


def test_a_class_that_headers_only_declare_may_be_for_programs_to_define(tmp_path: Path) -> None:
    source = "namespace geo { Part::Part(const Json &) {} double Part::area() const { return size_; } }"
    assert lacking(tmp_path, INCLUDES + header("geo", "", ""), source) == set()
