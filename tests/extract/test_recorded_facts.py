"""What each compiler records at each version of DWARF, as the table in ``docs/lab/recorded.md`` says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import NOT_RECORDED
from abistore.model.shapes import Enum, Function, Record
from abistore.model.snapshot import Snapshot
from examples.obtain import PROJECT
from tests.build import build_library

SOURCE = """
enum class Scoped : short { A, B };
struct alignas(32) Aligned { int a; };
struct Base { virtual int pure() = 0; virtual int slot(); };
struct Special {
  Special(const Special &) = delete;
  Special() = default;
  explicit Special(int);
  void on() &&;
  mutable int m;
};
class Nest { class In { public: int f(); int i; }; enum Mode { X }; In in; Mode e; public: int run(); };
Scoped scoped;
Aligned aligned;
Nest nest;
[[noreturn]] void die();
void die() { __builtin_trap(); }
int Base::slot() { return 1; }
Special::Special(int) {}
void Special::on() && {}
int Nest::In::f() { return i; }
int Nest::run() { return in.f() + e; }
int special(Special *s) { return s->m; }
"""
COMPILERS = {"GCC 12": "g++", "GCC 12 `-gstrict-dwarf`": "g++ -gstrict-dwarf", "Clang 14": "clang++"}
VERSIONS = (2, 3, 4, 5)


def _record(snapshot: Snapshot, name: str) -> Record:
    shape = snapshot.entries["layout"][Name("record", name)][0]
    assert isinstance(shape, Record)
    return shape


def _enum(snapshot: Snapshot, name: str) -> Enum:
    shape = snapshot.entries["layout"][Name("enum", name)][0]
    assert isinstance(shape, Enum)
    return shape


def _function(snapshot: Snapshot, symbol: str) -> Function:
    shape = snapshot.entries["layout"][Name("function", symbol)][0]
    assert isinstance(shape, Function)
    return shape


def _explicit(snapshot: Snapshot) -> bool:
    method = _function(snapshot, "_ZN7SpecialC2Ei").method
    return method is not None and method.explicit


def _reference(snapshot: Snapshot) -> bool:
    method = _function(snapshot, "_ZNO7Special2onEv").method
    return method is not None and method.reference == "&&"


FACTS: Mapping[str, Callable[[Snapshot], bool]] = {
    "`alignas`": lambda it: _record(it, "Aligned").alignment == 32,
    "scoped enumerations": lambda it: _enum(it, "Scoped").scoped,
    "underlying types of enumerations": lambda it: _enum(it, "Scoped").underlying is not None,
    "pure virtual methods": lambda it: any(each.pure for each in _record(it, "Base").virtuals),
    "slots of virtual methods": lambda it: all(each.slot is not None for each in _record(it, "Base").virtuals),
    "how classes are passed": lambda it: _record(it, "Special").passing is not None,
    "`= delete`": lambda it: bool(_record(it, "Special").deleted),
    "`explicit`": _explicit,
    "ref-qualifiers": _reference,
    "`noreturn`": lambda it: _function(it, "_Z3diev").noreturn,
    "access of nested classes": lambda it: _record(it, "Nest::In").access == "private",
    "access of nested enumerations": lambda it: _enum(it, "Nest::Mode").access == "private",
    "`mutable`": lambda it: any(each.mutable for each in _record(it, "Special").fields),
}


def built(compiler: str, version: int) -> Snapshot:
    flags = (f"-gdwarf-{version}", "-O1", "-std=c++17")
    return read_snapshot(build_library(SOURCE, language="c++", compiler=compiler, flags=flags), ExtractOptions())


def measured() -> str:
    """The table: the versions of DWARF at which each compiler records a fact."""
    found = {label: {each: built(compiler, each) for each in VERSIONS} for label, compiler in COMPILERS.items()}
    lines = [f"| fact | {' | '.join(COMPILERS)} |", "|---|" + "---|" * len(COMPILERS)]
    for fact, is_recorded in FACTS.items():
        told = [[each for each, it in by.items() if is_recorded(it)] for by in found.values()]
        lines.append(f"| {fact} | {' | '.join(map(_versions, told))} |")
    return "\n".join(lines)


def _versions(recorded: list[int]) -> str:
    if not recorded:
        return "never"
    return "always" if len(recorded) == len(VERSIONS) else f"from {recorded[0]}"


@pytest.mark.full
def test_the_table_in_the_documentation_is_what_compilers_record(request: pytest.FixtureRequest) -> None:
    page = PROJECT / "docs" / "lab" / "recorded.md"
    text = page.read_text()
    table = re.search(r"(?<=<!-- recorded -->\n).*?(?=\n<!-- end of recorded -->)", text, re.DOTALL)
    assert table is not None
    if request.config.getoption("--update-cases"):
        page.write_text(text[: table.start()] + measured() + text[table.end() :])
    else:
        assert table[0] == measured()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("compiler", COMPILERS.values())
def test_what_one_compiler_does_not_record_is_not_checked(compiler: str, version: int) -> None:
    one, other = built("g++", 5), built(compiler, version)
    for old, new in ((one, other), (other, one)):
        comparison = compare(old, new)
        assert not [each.kind for each in comparison.findings if each.name.kind in ("record", "enum", "function")]
        lacking = [each for each in comparison.not_checked if each.reason == NOT_RECORDED]
        assert bool(lacking) == (version < 5 and compiler != "g++")
