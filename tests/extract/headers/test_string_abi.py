"""Headers are read with the strings of libstdc++ that the library was built with."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.headers.subprocess import takes_former
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import Name
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.cases import kinds

HEADER = """
#include <string>
struct Builder { int start(const std::string &name) const; };
"""
SOURCE = '#include "case.h"\nint Builder::start(const std::string &name) const { return name.size(); }\n'


def snapshot(abi: int, header: str, folder: Path, *defines: str) -> Snapshot:
    flags = ("-O1", "-s", f"-D_GLIBCXX_USE_CXX11_ABI={abi}")
    source = SOURCE.replace("int Builder", header.partition("{ ")[2].partition(" start")[0] + " Builder")
    library = build_library(source, language="c++", flags=flags, files={"case.h": header})
    folder.mkdir(exist_ok=True)
    (folder / "case.h").write_text(header)
    options = HeaderOptions(headers=(folder / "case.h",), defines=defines)
    return read_snapshot(library, ExtractOptions(library="libcase", headers=options))


@pytest.mark.parametrize("abi", [0, 1])
def test_what_takes_a_string_has_its_declaration(abi: int, tmp_path: Path) -> None:
    """The result of a member function is no part of its symbol: headers alone tell that it changed."""
    old = snapshot(abi, HEADER, tmp_path / "old")
    new = snapshot(abi, HEADER.replace("int start", "double start"), tmp_path / "new")
    assert "func_return_changed" in kinds(compare(old, new))


def test_what_the_caller_defines_is_read_so(tmp_path: Path) -> None:
    found = snapshot(0, HEADER, tmp_path / "given", "_GLIBCXX_USE_CXX11_ABI=1")
    assert Name("function", "_ZNK7Builder5startERKSs") in found.entries["symbol"]
    assert Name("function", "_ZNK7Builder5startERKSs") not in found.entries["source"]


@pytest.mark.parametrize(
    ("exports", "former"),
    [
        (["_ZNK7Builder5startERKSs"], True),
        (["_ZNK7Builder5startERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"], False),
        (["_ZNK7Builder5startERKSs", "_ZN7Builder5titleB5cxx11Ev"], False),
        (["_ZNK7Builder5startERKSs", "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4sizeEv"], True),
        (["_ZNK7Builder5startERKSs", "_ZGTtNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcEE"], True),
        (["_ZNKSs4sizeEv"], False),
        (["_Z7OpenSslv", "_ZN3SslC1Ev"], False),
        (["_ZNK7Builder5startERKNSt3__112basic_stringIcNS1_11char_traitsIcEENS1_9allocatorIcEEEE"], False),
        ([], False),
    ],
)
def test_the_exports_tell_which_strings_they_take(exports: list[str], former: bool) -> None:
    assert takes_former(exports) == former
