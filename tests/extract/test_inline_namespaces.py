"""Debug information and headers tell which of a library's namespaces are inline."""

from __future__ import annotations

import msgspec
import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.extract.types import with_inline
from abistore.model.declarations import Facet
from abistore.model.snapshot import MOST_INLINE, Snapshot
from tests.build import build_library
from tests.public_headers import implementing

SOURCE = """
#include <string>
namespace lib { inline namespace stable { struct Item { int size; }; namespace deep { inline namespace v1 {
int open(Item &item, const std::string &) { return item.size; } } } }
namespace plain { int close(Item &) { return 1; } } }
namespace { inline namespace hidden { int count; } }
int touch() { return ++count; }
"""

INLINE = ("lib::stable", "lib::stable::deep::v1")


def inline(snapshot: Snapshot, facet: Facet) -> object:
    return snapshot.evidence_of(facet).inline_namespaces


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_debug_information_tells(compiler: str) -> None:
    library = build_library(SOURCE, language="c++", compiler=compiler, flags=("-gdwarf-5", "-O1"))
    assert inline(read_snapshot(library, ExtractOptions()), "layout") == INLINE


def test_a_library_without_any_says_nothing() -> None:
    library = build_library("namespace lib { int open(int) { return 1; } }", language="c++", flags=("-g",))
    assert inline(read_snapshot(library, ExtractOptions()), "layout") is msgspec.UNSET


def test_headers_tell() -> None:
    header = "#pragma once\nnamespace lib { inline namespace stable { struct Item { int size; }; } struct Other {}; }\n"
    assert inline(implementing({"case.h": header}, "c++", ""), "source") == ("lib::stable",)


def test_so_many_are_noted_at_most() -> None:
    library = build_library("int open(int) { return 1; }", language="c++", flags=("-g",))
    evidence = read_snapshot(library, ExtractOptions()).evidence_of("layout")
    many = with_inline(evidence, (f"n{number:03}" for number in range(2 * MOST_INLINE)))
    assert many.inline_namespaces == tuple(f"n{number:03}" for number in range(MOST_INLINE))
