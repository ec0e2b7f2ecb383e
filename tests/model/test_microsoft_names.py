"""Decorated names of Visual C++, against recorded pairs and against LLVM's own reader."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from abistore.model.names.microsoft import MOST, decoration, demangled, qualified_name
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import is_declared, is_mangled

PAIRS = {
    "?area@geo@@YAHAEBUPoint@1@_K@Z": "geo::area(geo::Point const&, unsigned long long)",
    "??0Point@geo@@QEAA@XZ": "geo::Point::Point()",
    "??1Point@geo@@UEAA@XZ": "geo::Point::~Point()",
    "?norm@Point@geo@@UEBAHXZ": "geo::Point::norm() const",
    "?counter@geo@@3HA": "geo::counter",
    "??HPoint@geo@@QEBA?AU01@AEBU01@@Z": "geo::Point::operator+(geo::Point const&) const",
    "??BPoint@geo@@QEBAHXZ": "geo::Point::operator int() const",
    "?f@@YAHPEBDZZ": "f(char const*, ...)",
    "?call@@YAXP6AHH@Z@Z": "call(int (*)(int))",
    "?rows@@YAXQEAY03H@Z": "rows(int (* const)[4])",
    "??$max@H@@YAHHH@Z": "max<int>(int, int)",
    "?twice@@YAHHPEAU?$Box@H@@0@Z": "twice(int, Box<int>*, Box<int>*)",
    "?old@@YGHH@Z": "old(int)",
    "??_7Shape@geo@@6B@": "vtable for geo::Shape",
}


@pytest.mark.parametrize("symbol", PAIRS)
def test_a_decorated_name_is_read_as_people_write_it(symbol: str) -> None:
    assert demangled(symbol) == PAIRS[symbol]
    assert is_mangled(symbol)


def plain(text: str) -> str:
    """Without the words and blanks in which the two differ."""
    text = re.sub(r"\b(class|struct|enum|union) ", "", text).replace("(void)", "()").replace("__cdecl ", "")
    return re.sub(r" ", "", text.replace("unsigned __int64", "unsigned long long"))


@pytest.mark.full
@pytest.mark.skipif(shutil.which("llvm-undname") is None, reason="llvm-undname is not installed")
def test_names_are_read_as_llvm_reads_them() -> None:
    options = ["--no-calling-convention", "--no-return-type", "--no-access-specifier", "--no-member-type"]
    symbols = [each for each in PAIRS if not each.startswith("??_7") and "?counter" not in each]
    done = subprocess.run(
        ["llvm-undname", *options], input="\n".join([*symbols, ""]), check=True, capture_output=True, text=True
    )
    theirs = [line for line in done.stdout.split("\n") if line and line not in symbols]
    assert [plain(demangled(each)) for each in symbols] == [plain(each) for each in theirs]


@pytest.mark.parametrize(
    ("symbol", "access"),
    [
        ("?f@A@@AEAAXXZ", "private"),
        ("?f@A@@IEAAXXZ", "protected"),
        ("?f@A@@QEAAXXZ", "public"),
        ("?count@A@@0HA", "private"),
        ("?f@@YAXXZ", None),
    ],
)
def test_the_letters_tell_the_access_of_members(symbol: str, access: str | None) -> None:
    found = decoration(symbol)
    assert found
    assert found.access == access


def test_what_compilers_make_is_not_declared() -> None:
    assert not is_declared("??_7Shape@geo@@6B@")
    assert not is_declared("??_R0?AVShape@geo@@@8")
    assert is_declared("??0Shape@geo@@QEAA@XZ")


def test_what_is_not_of_the_grammar_stays_as_it_is() -> None:
    for symbol in (
        "?",
        "??",
        "?a",
        "?a@",
        "?a@@",
        "?a@@Y",
        "??0@@QEAA@XZ",
        "?f@@YAH9@Z",
        "?f@@YA" + "PEA" * 200 + "H@Z",
    ):
        assert demangle(symbol) == symbol or demangled(symbol)


def test_names_that_mention_each_other_do_not_grow_beyond_a_limit() -> None:
    growing = "?f@@YAX" + "U?$A@" * 30 + "H" + "@@" * 30 + "".join("U?$B@" + "0" * 9 + "@@" for _ in range(200)) + "@Z"
    assert len(demangled(growing)) <= 2 * MOST
    assert qualified_name("?" + "a@" * 5000) == ""
