"""What compilers write in another order or under another name than one would think, and what is read from it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.shapes import Function
from tests.extract.layout_fixtures import CHAR, CPP, DOUBLE, INT, VOID, Layout, layout, pointer

STATICS = """
template <class T> __attribute__((noinline)) bool parse(const char *text, T *into) {
  static const int longest = 200;
  char buffer[longest + 1];
  for (int i = 0; i < longest; i++) buffer[i] = text[i];
  *into = buffer[0];
  return true;
}
template bool parse(const char *, double *);
int sum(int first, ...) { static const int most = 3; return first < most ? most : first; }
int none() { static const int most = 3; return most; }
int raw(void *p) { static const int most = 3; return p ? most : 2; }
extern "C" int plain(int a, int b) { static const int most = 3; return a < most ? b : a; }
"""


@pytest.mark.parametrize("compiler", CPP)
def test_parameters_are_found_behind_static_variables_of_the_body(compiler: str) -> None:
    """LLVM writes these first."""
    read = layout(STATICS, compiler)

    def signature(symbol: str) -> tuple[int, bool]:
        function = read.function(symbol)
        assert isinstance(function, Function)
        return len(function.parameters), function.variadic

    assert read.function("_Z5parseIdEbPKcPT_").parameters[1] == pointer(DOUBLE)
    assert read.function("_Z3rawPv").parameters == (pointer(VOID),)
    assert read.function("plain").parameters == (INT, INT)
    assert signature("_Z3sumiz") == (1, True)
    assert signature("_Z4nonev") == (0, False)


def test_a_built_in_type_under_the_name_of_a_typedef_is_known_by_its_encoding(tmp_path: Path) -> None:
    """g++ writes some as ``type``, where templates compute them."""
    source = "char narrow(char c) { return c; }\ndouble wide(double d) { return d; }\n"
    (tmp_path / "case.cc").write_text(source)
    subprocess.run(["g++", "-g", "-S", "-fPIC", "-fno-merge-debug-strings", "case.cc"], cwd=tmp_path, check=True)
    text = (tmp_path / "case.s").read_text()
    for name, other in (("char", "type"), ("double", "result")):
        assert f'.string\t"{name}"' in text
        text = text.replace(f'.string\t"{name}"', f'.string\t"{other}"')
    (tmp_path / "case.s").write_text(text)
    subprocess.run(["g++", "-shared", "case.s", "-o", "libcase.so"], cwd=tmp_path, check=True)
    read = Layout(read_snapshot(tmp_path / "libcase.so", ExtractOptions()))
    assert read.function("_Z6narrowc").parameters == (CHAR,)
    assert read.function("_Z4wided").parameters == (DOUBLE,)
