"""One query over all lines finds what looking at each name of each line finds."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.model.names.qualified import demangle, normal_name, without_parameters
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot
from abistore.store import names as naming
from abistore.store.names import beginning, beginnings
from abistore.store.store import Store
from tests.build import build_library
from tests.store.builders import EXPORTED, INT, function, snapshot

SAMPLES = 150
SOURCE = """
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>
namespace geo {
inline namespace v1 {
struct Base { virtual ~Base(); virtual int area() const; };
struct Other { virtual ~Other(); virtual int side(); };
struct Shape : virtual Base, Other {
    Shape(); explicit Shape(int); ~Shape() override; int area() const override; int side() override;
    operator bool() const; operator std::string() const; bool operator<(const Shape &) const; int operator()(int);
    Shape &operator=(const Shape &); int operator[](int) &&; static int count; template <class T> T as() const;
};
Base::~Base() {} int Base::area() const { return 0; } Other::~Other() {} int Other::side() { return 1; }
Shape::Shape() {} Shape::Shape(int) {} Shape::~Shape() {} int Shape::area() const { return 2; }
int Shape::side() { return 3; } Shape::operator bool() const { return true; }
Shape::operator std::string() const { return {}; } bool Shape::operator<(const Shape &) const { return false; }
int Shape::operator()(int x) { return x; } Shape &Shape::operator=(const Shape &) { return *this; }
int Shape::operator[](int i) && { return i; } int Shape::count = 1;
template <class T> T Shape::as() const { return T(); }
template int Shape::as<int>() const; template std::string Shape::as<std::string>() const;
}
template <class T, int N> struct Box { T items[N]; T at(int i) const { return items[i]; } struct In { int f(); }; };
template <class T, int N> int Box<T, N>::In::f() { return N; }
template struct Box<int, 3>; template struct Box<std::vector<std::string>, 2>;
template <class T> auto largest(const std::vector<T> &all) -> T { return all.back(); }
template unsigned int largest(const std::vector<unsigned int> &);
template std::map<std::string, int> largest(const std::vector<std::map<std::string, int>> &);
std::ostream &operator<<(std::ostream &out, const Shape &) { return out; }
int norm(int x) { static int calls; auto twice = [](int y) { return 2 * y; }; return twice(x) + ++calls; }
int norm(const char *text, unsigned long) { std::stringstream all; all << text; return all.str().size(); }
int (*chosen(int))(char) { return nullptr; }
namespace { struct Hidden { int x; }; }
int uses(std::unique_ptr<Hidden> *) { return 0; }
void *keep[] = {(void *)&uses};
}
int norm(long x) { return geo::norm(int(x)); }
int operator+(const geo::Shape &, int) { return 1; }
long long operator""_km(unsigned long long x) { return x; }
extern "C" int geo_norm(int x) { return x; }
extern "C" int other_name(int) __asm__("asm_label"); int other_name(int x) { return x; }
"""


@cache
def read(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions())


@cache
def own(compiler: str) -> Snapshot:
    flags = ("-g", "-O1", "-std=c++17")
    return read(build_library(SOURCE, language="c++", compiler=compiler, flags=flags))


@cache
def runtime() -> Snapshot:
    words = ["g++", "-print-file-name=libstdc++.so.6"]
    return read(Path(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()))


class Looked:
    """What a look at each name of a snapshot finds."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.names = {name for names in snapshot.entries.values() for name in names}
        self.exact: dict[str, set[Name]] = defaultdict(set)
        self.displayed: dict[str, set[Name]] = defaultdict(set)
        self.demangled: dict[str, set[Name]] = defaultdict(set)
        for name in self.names:
            self.exact[name.spelling].add(name)
            if name.kind in {"function", "variable"} and name.spelling.startswith("_Z"):
                text = demangle(name.spelling)
                for each in (text, normal_name(text), without_parameters(text)):
                    self.demangled[each].add(name)
        for names in snapshot.entries.values():
            for name, shapes in names.items():
                for shape in shapes:
                    if isinstance(shape, Function | Variable):
                        self.displayed[shape.display].add(name)

    def called(self, spelling: str) -> set[Name]:
        words = {spelling, normal_name(spelling)}
        exact = {name for word in words for name in self.exact[word]}
        displayed = {name for word in words for name in self.displayed[word]} if "(" not in spelling else set()
        return exact | displayed if exact else displayed | {name for word in words for name in self.demangled[word]}

    def spellings(self) -> Iterator[str]:
        """All that a name may be asked for by, as tools write it too, and what is none."""
        yield from sorted({*self.exact, *self.displayed, *self.demangled})
        yield from (
            "geo::nothing",
            "",
            "(",
            "~",
            "operator",
            "std",
            "std::",
            "vtable for geo::Shape",
            "::geo::norm(int)",
        )
        yield from ("geo::norm(const char *, unsigned long)", "geo :: v1::Shape", "norm(long int)", "int", "operator<<")


@pytest.mark.parametrize("of", ["g++", "clang++", "libstdc++"])
def test_names_are_found_as_if_each_was_looked_at(of: str, path: Path) -> None:
    read_here = runtime() if of == "libstdc++" else own(of)
    looked = Looked(read_here)
    spellings = list(looked.spellings())
    step = max(1, len(spellings) // SAMPLES) if of == "libstdc++" else 1
    with Store.open(path, write=True) as store:
        store.ingest(read_here, IngestRequest("1"))
        for spelling in spellings[::step]:
            found = {event.name for events in store.logs([spelling]).values() for event in events}
            assert found == looked.called(spelling), spelling


@pytest.mark.parametrize("of", ["g++", "clang++", "libstdc++"])
def test_every_symbol_begins_with_a_scope_of_what_it_is_demangled_to(of: str) -> None:
    read_here = runtime() if of == "libstdc++" else own(of)
    symbols = {name.spelling for names in read_here.entries.values() for name in names if name.spelling[:2] == "_Z"}
    for symbol in sorted(symbols):
        text = demangle(symbol)
        for called in (text, without_parameters(text)):
            assert beginning(symbol) in set(beginnings(called)), (symbol, called)


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("geo_norm", None),
        ("_ZN3geo4normEi", "geo::norm"),
        ("_ZN3geo3BoxIiLi3EE2atEi", "geo::Box"),
        ("_ZNK3geo2v15ShapecvbEv", "geo::v1::Shape"),
        ("_Z4norml", "norm"),
        ("_Z6createN3geo5ShapeE", "create"),
        ("_ZTv0_n24_NK3geo5Shape4areaEv", "geo::Shape::area"),
        ("_ZTVN3geo5ShapeE", "geo::Shape"),
        ("_ZZN3geo4normEiE5calls", "geo::norm"),
        ("_ZN12_GLOBAL__N_16HiddenC1Ev", "Hidden"),
        ("_ZN3geo12_GLOBAL__N_16HiddenC1Ev", "geo"),
        ("_ZStlsRSoRKN3geo5ShapeE", "std"),
        ("_ZNSs6appendEPKc", "std"),
        ("_ZNSt6vectorIiE9push_backEi", "std::vector"),
        ("_ZN4_$LT$5alloc", ""),
        ("_Z999999999999x", "x"),
        ("_ZdlPv", ""),
    ],
)
def test_the_beginning_of_a_symbol_is_read_without_demangling_it(symbol: str, found: str | None) -> None:
    assert beginning(symbol) == found


def test_a_name_that_its_symbol_does_not_tell_is_found_by_what_its_shape_displays(address: str) -> None:
    label, renamed, longer = function("asm_label"), function("_ZN3old4nameEv"), function("_ZN3geo4normEv")
    with Store.open(address, write=True) as store:
        for version, display in (("1", "geo::label"), ("2", "geo::other")):
            shown = {label: display, renamed: f"{display}_too", longer: "geo::norm2"}
            layout = {name: Function(one, INT) for name, one in shown.items()}
            symbols = dict.fromkeys(layout, EXPORTED)
            store.ingest(snapshot(version, symbols=symbols, layout=layout), IngestRequest(version))
        for spelling, name in (
            ("geo::label", label),
            ("geo::other", label),
            ("geo::other_too", renamed),
            ("geo::norm2", longer),
        ):
            assert {event.name for event in next(iter(store.logs([spelling]).values()))} == {name}


@pytest.mark.parametrize(
    "symbol", ["_ZTIDn", "_ZTISo", "_ZNSdC1EPSt15basic_streambufIcSt11char_traitsIcEE", "_ZNSaIcED1Ev"]
)
def test_a_name_is_found_that_its_symbol_abbreviates(symbol: str, path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(snapshot(symbols={function(symbol): EXPORTED}), IngestRequest("1"))
        for called in {demangle(symbol), without_parameters(demangle(symbol))}:
            assert [event.name.spelling for events in store.logs([called]).values() for event in events] == [symbol]


def test_one_query_tells_of_all_lines_that_had_the_name(address: str) -> None:
    with Store.open(address, write=True) as store:
        for number in range(12):
            symbols = {function(f"_ZN3geo{len(str(number)) + 4}norm{number}Ev"): EXPORTED, function("common"): EXPORTED}
            store.ingest(snapshot(library=f"lib{number:02}", symbols=symbols), IngestRequest("1"))
        assert [line.library for line in store.logs(["geo::norm7"])] == ["lib07"]
        assert [line.library for line in store.logs(["common"])] == [f"lib{number:02}" for number in range(12)]
        assert [line.library for line in store.logs(["common"], "lib03")] == ["lib03"]
        assert store.logs(["geo::norm12()", "geo::norm3()"]).keys() == store.logs(["geo::norm3"]).keys()


def test_near_names_of_many_are_found_without_reading_all(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["_ZN3geo9normalizeEv", "geo_area", *(f"filler_{number:04}" for number in range(1000))]
    with Store.open(address, write=True) as store:
        store.ingest(snapshot(symbols={function(name): EXPORTED for name in names}), IngestRequest("1"))
        few = store.spellings_near("geo::normalise")
        monkeypatch.setattr(naming, "_FEW", 10)
        assert set(few) > {"geo::normalize()", "geo_area"}
        assert (
            store.spellings_near("geo::normalise")
            == store.spellings_near("geo::normlize(int)")
            == ("geo::normalize()",)
        )
        assert "geo_area" in store.spellings_near("geo_aera")
        assert store.spellings_near("100%") == ()
        assert len(store.spellings_near("filler_")) == naming._ENOUGH
