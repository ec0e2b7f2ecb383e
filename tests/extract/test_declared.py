"""Exported functions stand where headers declare them, as far as units that call them tell."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from tests.build import build_library

PUBLIC = "struct P { int x; };\nint take(struct P);\n"
CALLER = '#include "include/lib.h"\n#include "src/helper.h"\nint take(struct P p) { return helper(p.x); }\n'
MORE = "int twice(struct P p) { return helper(p.x) + helper(p.x + 1); }\n"
HELPER = '#include "src/helper.h"\nint helper(int n) { return n * n; }\n'


def place(
    files: dict[str, str], name: str, *, language: str = "c", caller: str = CALLER, sources: tuple[str, ...] = ()
) -> str:
    suffix = {"c": ".c", "c++": ".cc"}[language]
    path = build_library(
        caller,
        language=language,
        files={"include/lib.h": PUBLIC, "src/helper.h": "int helper(int);\n", f"other{suffix}": HELPER, **files},
        flags=("-g", "-O1", "-I.", f"other{suffix}", *sources),
    )
    snapshot = read_snapshot(path, ExtractOptions())
    return snapshot.locations[Name("function", name)].file


@pytest.mark.parametrize(("language", "symbol"), [("c", "helper"), ("c++", "_Z6helperi")])
def test_a_function_that_another_unit_calls_stands_in_its_header(language: str, symbol: str) -> None:
    assert place({}, symbol, language=language) == "src/helper.h"


def test_a_function_that_nobody_calls_stands_where_it_is_defined() -> None:
    assert place({}, "take") == "case.c"


def test_a_header_in_an_include_folder_comes_before_others() -> None:
    more = {"include/lib.h": PUBLIC + "int helper(int);\n", "more.c": '#include "include/lib.h"\n' + MORE}
    caller = '#include "src/helper.h"\nint once(int n) { return helper(n); }\n'
    assert place(more, "helper", caller=caller, sources=("more.c",)) == "include/lib.h"


@pytest.mark.parametrize(
    ("language", "symbol", "file"), [("c", "helper", "src/helper.h"), ("c++", "_Z6helperi", "other.cc")]
)
def test_without_an_include_folder_headers_are_looked_for_in_c(language: str, symbol: str, file: str) -> None:
    caller = CALLER.replace("include/lib.h", "src/lib.h")
    assert place({"src/lib.h": PUBLIC}, symbol, language=language, caller=caller) == file


IMPL = {"src/impl.h": "int grow(int n) { return n + 1; }\n"}
INCLUDES = CALLER.replace("int take", '#include "src/impl.h"\nint take')


def test_a_function_that_a_header_defines_stands_in_the_source_file_that_includes_it() -> None:
    assert place(IMPL, "grow", caller=INCLUDES) == "case.c"


def test_a_function_that_a_header_defines_stands_in_the_header_that_other_units_see() -> None:
    more = {"include/lib.h": PUBLIC + "int grow(int);\n", "more.c": f'#include "include/lib.h"\n{MORE}'}
    more["more.c"] = more["more.c"].replace("helper", "grow")
    assert place({**IMPL, **more}, "grow", caller=INCLUDES, sources=("more.c",)) == "include/lib.h"


def test_an_inline_function_stands_in_the_header_that_defines_it() -> None:
    impl = {"src/impl.h": "inline int grow(int n) { return n + 1; }\nextern inline int grow(int n);\n"}
    caller = INCLUDES.replace("helper(p.x)", "grow(helper(p.x))")
    assert place(impl, "grow", caller=caller) == "src/impl.h"
