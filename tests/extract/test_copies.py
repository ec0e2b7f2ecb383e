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


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(("line", "told"), [(9, True), (2, False)])
def test_definitions_from_two_lines_of_one_file_are_told(compiler: str, line: int, told: bool) -> None:
    """An object file that was not compiled again has the header as it was; macros choose within one definition."""
    stale = f'#line {line} "state.h"\nstruct state {{ int early; }};\nint g(struct state *p) {{ return p->early; }}\n'
    files = {"state.h": "#define KIND int" + HEADER, "one.c": stale}
    found = layout(
        '#include "state.h"\nlong f(struct state *p) { return p->last; }', compiler, flags=["one.c"], files=files
    )
    assert len(found.variants("record", "state")) == 2
    seen = found.snapshot.evidence_of("layout")
    assert (seen.state, "state in state.h" in seen.detail) == ("full", told)
