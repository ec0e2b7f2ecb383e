"""Gates beside builds of which debug information no longer describes an export or a type that it described."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

POINT = "struct point { int x, y; };\n"
SCALE = "int scale(struct point *p, int k) { return p->x * k; }\n"
OTHER = "int other(int a) { return a; }\nint shared = 3;\n"
HIDDEN = (
    "#pragma GCC visibility push(hidden)\nlong impl(double k, long z) { return k * z; }\n#pragma GCC visibility pop\n"
)
LOST = {
    "assembly": '__asm__(".globl scale\\n.type scale,@function\\nscale:\\n ret\\n.size scale,.-scale\\n");\n',
    "trampoline": HIDDEN
    + '__asm__(".globl scale\\n.type scale,@function\\nscale:\\n jmp impl\\n.size scale,.-scale\\n");\n',
    "chosen at load time": "static int one(int a) { return a; }\nstatic void *choose(void) { return one; }\n"
    + 'int scale(int a) __attribute__((ifunc("choose")));\n',
}
KEPT = {
    "alias": "static int impl(struct point *p, int k) { return p->y * k; }\n"
    + 'extern __typeof__(impl) scale __attribute__((alias("impl")));\n',
    "another body": SCALE.replace("p->x", "p->y"),
}


def built(source: str) -> Path:
    return build_library(POINT + source + OTHER)


@pytest.fixture
def based(abistore: Call) -> Call:
    """A store whose one release is the baseline."""
    assert abistore("ingest", built(SCALE), "--version", "1.0", "--set-baseline").code == 0
    return abistore


@pytest.mark.parametrize("how", LOST)
@pytest.mark.parametrize("words", [(), ("--require", "layout"), ("--require", "old")])
def test_an_export_that_lost_its_description_passes_no_gate(based: Call, how: str, words: tuple[str, ...]) -> None:
    done = based("gate", built(LOST[how]), "--version", "1.1", *words)
    assert done.code == 72, done.out
    assert "1 export is described by the other side only" in done.err


@pytest.mark.parametrize("how", LOST)
def test_a_report_says_which_one(based: Call, how: str) -> None:
    told = based("compare", "libcase@baseline", built(LOST[how])).out
    assert "in what could be checked" in told
    assert "layout of the new side: 1 export is described by the other side only (export-not-described)" in told
    assert "type_removed.unused" not in told


@pytest.mark.parametrize("how", KEPT)
def test_what_is_described_still_passes(based: Call, how: str) -> None:
    assert based("gate", built(KEPT[how]), "--version", "1.1").code == 0


def test_headers_of_both_releases_stand_in_for_it(abistore: Call, tmp_path: Path) -> None:
    header = tmp_path / "case.h"
    header.write_text(POINT + SCALE.partition("{")[0] + ";\n" + "int other(int);\nextern int shared;\n")
    ingested = abistore("ingest", built(SCALE), "--version", "1.0", "--set-baseline", "--header", header)
    assert ingested.code == 0
    assert abistore("gate", built(LOST["assembly"]), "--version", "1.1", "--header", header).code == 0


CLASS = "struct Arg { Arg(); int x; };\nint match(const Arg *arg) { return arg != nullptr; }\n"


@pytest.mark.full
def test_a_class_that_another_compiler_only_declares_passes_no_gate(abistore: Call) -> None:
    old, new = (build_library(CLASS, language="c++", compiler=each) for each in ("g++", "clang++"))
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("gate", new, "--version", "1.1")
    assert done.code == 72, done.out
    assert "the debug information only declares 1 type that the other side defines" in done.err
    assert "COMPATIBLE in what could be checked" in done.out


@pytest.mark.full
def test_a_struct_of_c_is_described_wherever_it_is_defined_whoever_compiles(abistore: Call) -> None:
    opaque = "struct point;\nint get(struct point *);\nint scale(struct point *p, int k) { return get(p) * k; }\n"
    assert abistore("ingest", built(SCALE), "--version", "1.0", "--set-baseline").code == 0
    new = build_library(opaque + "int get(struct point *p) { return p != 0; }\n" + OTHER, compiler="clang")
    assert abistore("gate", new, "--version", "1.1").code == 4
