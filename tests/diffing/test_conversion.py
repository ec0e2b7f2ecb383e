"""Types that convert to others: abistore says what the compilers say of a source that was written for the old ones."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Impact
from tests.build import build_library

TYPES = (
    *("struct a *", "struct b *", "void *", "const void *", "struct a **", "void **", "char *", "const char *"),
    *("char **", "const char **", "const char *const *", "unsigned char *", "callback", "untyped"),
    *("int", "unsigned", "long", "long long", "enum e", "enum other"),
)
BEFORE = """
struct a { int x; }; struct b { long y; }; enum e { E0, E1 }; enum other { O0, O1 };
typedef int (*callback)(struct a *); typedef int (*untyped)(void *);
int known(struct a *, struct b *, enum e, enum other, callback, untyped);
"""
BODY = """
int known(struct a *a, struct b *b, enum e e, enum other o, callback c, untyped u)
{ return a->x + (int)b->y + (int)e + (int)o + (c != 0) + (u != 0); }
"""
PAIRS = tuple(permutations(TYPES, 2))
USES = {
    **dict.fromkeys(("struct a *", "struct b *", "char *", "const char *", "unsigned char *"), "(void)*{0};"),
    **dict.fromkeys(("struct a **", "void **", "char **", "const char **", "const char *const *"), "(void)*{0};"),
}
"""What sources do with a value beside keeping it."""
PLACES = {
    "parameter": ("int f{0}({1} p);", "int f{0}({1} p) {{ return !p; }}", "void g{0}({1} v) {{ f{0}(v); }}"),
    "result": (
        "{1} f{0}(void);",
        "{1} f{0}(void) {{ return ({1})0; }}",
        "void g{0}(void) {{ {1} v = f{0}(); (void)v; {2} }}",
    ),
    "member": (
        "struct s{0} {{ {1} m; }}; int f{0}(struct s{0} *p);",
        "int f{0}(struct s{0} *p) {{ return !p->m; }}",
        "void g{0}(struct s{0} *p, {1} v) {{ p->m = v; v = p->m; {2} }}",
    ),
}
VALUES = {"parameter": "v", "result": "f{0}()", "member": "p->m"}
STRICT = ("-Werror=incompatible-pointer-types", "-Werror=discarded-qualifiers", "-Werror=pointer-sign")
"""Constraints of the standard that GCC 12 only warns about in C."""


def library(place: str, side: int) -> Path:
    declared, defined, _ = PLACES[place]
    lines = [line.format(number, pair[side]) for number, pair in enumerate(PAIRS) for line in (declared, defined)]
    return build_library("\n".join([BEFORE, BODY, *lines]))


def refused(place: str, compiler: str, folder: Path) -> set[int]:
    """The pairs of types of which a compiler does not compile the old source with the new declaration."""
    declared, _, client = PLACES[place]
    source = folder / ("client.c" if compiler == "gcc" else "client.cc")
    lines = []
    for number, (old, new) in enumerate(PAIRS):
        use = USES.get(old, "").format(VALUES[place].format(number))
        lines.append(f"{declared.format(number, new)} {client.format(number, old, use)}")
    source.write_text("\n".join([BEFORE.replace("\n", " "), *lines]))
    flags = STRICT if compiler == "gcc" else ()
    ran = subprocess.run([compiler, "-fsyntax-only", "-fmax-errors=0", *flags, source], capture_output=True, text=True)
    return {int(line) - 2 for line in re.findall(r"client\.cc?:(\d+):\d+: error:", ran.stderr)}


def judged(place: str) -> Iterator[tuple[int, Impact]]:
    """The pairs that built programs survive, with the worst impact that is found of each."""
    old, new = (read_snapshot(library(place, side), ExtractOptions(library="libcase")) for side in (0, 1))
    comparison = compare(old, new)
    worst = dict.fromkeys(range(len(PAIRS)), Impact.COMPATIBLE)
    for finding in comparison.findings:
        if (found := re.fullmatch(r"[fs](\d+)", finding.name.spelling)) is not None:
            number = int(found[1])
            worst[number] = max(worst[number], finding.impact)
    return ((number, impact) for number, impact in worst.items() if impact is not Impact.BREAKING)


@pytest.mark.parametrize("place", PLACES)
def test_a_source_that_compiles_no_more_is_an_api_break(place: str, tmp_path: Path) -> None:
    errors = refused(place, "gcc", tmp_path) | refused(place, "g++", tmp_path)
    survive = dict(judged(place))
    wrong = [
        f"{old} -> {new}: {survive[number].name}, {'refused' if number in errors else 'compiled'}"
        for number, (old, new) in enumerate(PAIRS)
        if number in survive and (survive[number] is Impact.API_BREAK) != (number in errors)
    ]
    assert len(survive) > 80
    assert not wrong, "\n".join(wrong)
