"""Copies of one definition that macros make differ, however late the differing one comes."""

from __future__ import annotations

import pytest

from tests.extract.layout_fixtures import Layout, layout

pytestmark = pytest.mark.fast

HEADER = """
struct state {
  long first;
#ifdef EXTRA
  short extra;
#endif
  KIND second;
  long last;
};
"""
SAME = "#define KIND int\n"
PLACES = range(6)


def units(compiler: str, macros: dict[int, str]) -> Layout:
    """Six units that include one header, the numbered ones with further macros."""
    texts = [
        f'{macros.get(at, SAME)}#include "state.h"\nlong f{at}(struct state *p) {{ return p->last; }}\n'
        for at in PLACES
    ]
    files = {"state.h": HEADER, **{f"unit{at}.c": text for at, text in enumerate(texts)}}
    return layout("", compiler, flags=sorted(set(files) - {"state.h"}), files=files)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("place", PLACES)
def test_a_copy_with_another_member_is_seen_wherever_it_is(compiler: str, place: int) -> None:
    found = units(compiler, {place: f"#define EXTRA\n{SAME}"}).variants("record", "state")
    assert {len(getattr(shape, "fields", ())) for shape in found} == {3, 4}


def test_once_copies_differ_all_of_them_are_read() -> None:
    macros = {0: "#define KIND unsigned\n", 3: "#define KIND float\n", 5: "#define KIND char\n"}
    assert len(units("gcc", macros).variants("record", "state")) == 4


def test_copies_that_are_alike_are_one() -> None:
    assert len(units("gcc", {}).variants("record", "state")) == 1
