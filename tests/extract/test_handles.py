"""Records that callers within the library know by a declaration only."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import Record
from tests.build import build_library

FILES = {
    "api.h": "struct item; struct item *item_new(void); int item_get(const struct item *);",
    "impl.h": "struct item { int value; };",
    "call.src": '#include "api.h"\nint twice(void) { return 2 * item_get(item_new()); }',
}
SOURCE = """
#include "api.h"
#include "impl.h"
static struct item one;
struct item *item_new(void) { return &one; }
int item_get(const struct item *item) { return item->value; }
"""


def is_handle(compiler: str, language: str, caller: str, *flags: str) -> bool:
    suffix = {"c": ".c", "c++": ".cc"}[language]
    files = {"call" + suffix if name == "call.src" else name: text for name, text in FILES.items()}
    files["call" + suffix] = caller + files["call" + suffix]
    library = build_library(
        SOURCE, language=language, compiler=compiler, files=files, flags=("-g", "-O1", "call" + suffix, *flags)
    )
    (shape,) = read_snapshot(library, ExtractOptions()).entries["layout"][Name("record", "item")]
    assert isinstance(shape, Record)
    return shape.handle


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_record_is_a_handle_where_a_caller_has_its_declaration_only(compiler: str) -> None:
    assert is_handle(compiler, "c", "")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_is_none_where_the_caller_includes_its_definition(compiler: str) -> None:
    assert not is_handle(compiler, "c", '#include "impl.h"\n')


def test_a_type_unit_is_no_declaration() -> None:
    assert not is_handle("gcc", "c", '#include "impl.h"\n', "-fdebug-types-section")


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_declaration_in_cpp_tells_nothing(compiler: str) -> None:
    assert not is_handle(compiler, "c++", "")
