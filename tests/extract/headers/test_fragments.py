"""Headers that others include in the midst of a declaration declare what they do there, and nothing by themselves."""

from __future__ import annotations

import pytest

from abistore.extract.reader import Language
from tests.public_headers import read_texts

pytestmark = pytest.mark.fast

PART = "struct Problem { int size; };\nint solve(Problem *);\n"
GUARDED = f"#ifndef PART_H\n#define PART_H\n{PART}#endif\n"
TEMPLATE = "template <class T> T twice(T n) { return n + n; }\n"


def declared(*files: tuple[str, str], language: Language = "c++") -> set[str]:
    """What headers with these texts declare, by symbol, signature or name."""
    return {name.spelling for name in read_texts(files, language).entries if name.spelling != "PART_H"}


@pytest.mark.parametrize("part", [PART, GUARDED, f"#pragma once\n{PART}"])
@pytest.mark.parametrize("names", [("a.hpp", "part.hpp"), ("whole.hpp", "part.hpp")])
def test_what_is_included_in_a_namespace_is_of_that_namespace_alone(part: str, names: tuple[str, str]) -> None:
    whole, name = names
    files = (whole, f'namespace solver {{\n#include "{name}"\n}}\n'), (name, part)
    assert declared(*files) == {"solver::Problem", "_ZN6solver5solveEPNS_7ProblemE"}


def test_the_parts_of_a_part_are_where_it_is() -> None:
    files = (
        ("whole.hpp", 'namespace solver {\n#include "parts.hpp"\n}\n'),
        ("parts.hpp", '#include "twice.hpp"\n#include "problem.hpp"\n'),
        ("problem.hpp", PART),
        ("twice.hpp", TEMPLATE),
    )
    assert declared(*files) == {
        "solver::Problem",
        "_ZN6solver5solveEPNS_7ProblemE",
        "solver::twice<typename>(#0)",
    }


def test_a_header_with_a_guard_that_a_part_includes_stays_one_by_itself() -> None:
    files = (
        ("base.hpp", "#pragma once\ntypedef int number;\nint base(number);\n"),
        ("part.hpp", '#include "base.hpp"\nint more(number);\n'),
        ("whole.hpp", '#include "base.hpp"\nnamespace solver {\n#include "part.hpp"\n}\n'),
    )
    assert declared(*files) == {"number", "_Z4basei", "_ZN6solver4moreEi"}


def test_fields_that_a_class_includes_are_no_declarations() -> None:
    whole = ("whole.h", 'struct Problem {\n#include "fields.h"\n};\nint solve(struct Problem *);\n')
    assert declared(whole, ("fields.h", "int rows;\nint columns;\n"), language="c") == {"Problem", "solve"}


def test_a_header_that_includes_itself_within_a_declaration_is_no_part_of_another() -> None:
    """It lists something once, and takes the list in again with another macro."""
    listed = "#ifdef ITEM\nITEM(red)\nITEM(blue)\n#else\n#define ITEM(name) item_##name,\nenum item {\n"
    listed += '#include "items.h"\n};\n#undef ITEM\nint paint(enum item);\n#endif\n'
    assert declared(("items.h", listed), ("other.h", "int other(void);\n"), language="c") >= {"item", "paint", "other"}


def test_c_functions_stay_those_of_c_where_only_the_header_around_says_so() -> None:
    around = ("a.hpp", 'extern "C" {\n#include "core.h"\n}\nint more();\n')
    assert declared(around, ("core.h", "#pragma once\nint core(int);\n")) == {"core", "_Z4morev"}
    before = ("zz.hpp", 'extern "C" {\n#include "core.h"\n}\nint more();\n')
    assert declared(before, ("core.h", "#pragma once\nint core(int);\n")) == {"core", "_Z4morev"}


def test_a_header_that_says_its_linkage_itself_is_one_by_itself() -> None:
    core = '#pragma once\n#ifdef __cplusplus\nextern "C" int core(int);\ntemplate <class T> int of(T);\n#endif\n'
    files = ("core.h", core), ("zz.hpp", 'extern "C" {\n#include "core.h"\n}\nint more();\n')
    assert declared(*files) == {"core", "of<typename>(#0)", "_Z4morev"}


def test_parts_that_err_where_they_are_included_are_read_by_themselves() -> None:
    part = ("part.hpp", "#pragma once\ntemplate <class T> int of(T);\nint part();\n")
    files = part, ("zz.hpp", 'extern "C" {\n#include "part.hpp"\n}\nint more();\n')
    assert declared(*files) == {"_Z4partv", "of<typename>(#0)", "_Z4morev"}
