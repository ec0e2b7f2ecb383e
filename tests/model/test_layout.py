"""Alignment, size, packing and holes, checked against what compilers for seven machines believe."""

from __future__ import annotations

import subprocess

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.layout import Hole, Layouts, primitive_alignment
from abistore.model.shapes import Field, Named, Pointer, Primitive, Record
from abistore.model.snapshot import Snapshot, Target
from tests.build import build_library

MACHINES = [
    ("gcc", "x86_64", 64),
    ("i686-linux-gnu-gcc", "i386", 32),
    ("aarch64-linux-gnu-gcc", "aarch64", 64),
    ("arm-linux-gnueabihf-gcc", "armhf", 32),
    ("riscv64-linux-gnu-gcc", "riscv64", 64),
    ("powerpc64le-linux-gnu-gcc", "ppc64le", 64),
    ("s390x-linux-gnu-gcc", "s390x", 64),
]

SOURCE = """
#define MEMBER(n, ...) struct m##n { char c; __VA_ARGS__ x; };
MEMBER(1, short) MEMBER(2, int) MEMBER(3, long) MEMBER(4, long long) MEMBER(5, float) MEMBER(6, double)
MEMBER(7, long double) MEMBER(8, _Complex double) MEMBER(9, _Complex float) MEMBER(10, void *)
MEMBER(11, _Atomic long long) MEMBER(12, enum { A }) MEMBER(13, struct { short s[3]; }) typedef int (*calls[2])(void);
MEMBER(14, calls) typedef int v4 __attribute__((vector_size(16))); MEMBER(15, v4)
struct m16 { char c; struct { char c; int i; } __attribute__((packed)) x; };
struct m17 { char c; struct { char c; int i; } __attribute__((aligned(32))) x; };
struct m18 { char c; union { char c; double d; } x; };
#define USE(n) struct m##n *f##n(struct m##n *p) { return p; }
USE(1) USE(2) USE(3) USE(4) USE(5) USE(6) USE(7) USE(8) USE(9) USE(10) USE(11) USE(12) USE(13) USE(14) USE(15)
USE(16) USE(17) USE(18)
"""


def library(compiler: str) -> Snapshot:
    flags = ("-g", "-O0", "-nostdlib", "-Wno-psabi")
    return read_snapshot(build_library(SOURCE, compiler=compiler, flags=flags), ExtractOptions())


@pytest.mark.parametrize(("compiler", "machine", "bits"), MACHINES, ids=[machine for _, machine, _ in MACHINES])
def test_alignment_is_where_the_compiler_puts_a_member_behind_a_char(compiler, machine, bits):
    snapshot = library(compiler)
    layouts = Layouts(snapshot)
    assert (snapshot.target.machine, snapshot.target.bits) == (machine, bits)
    records = {
        name.spelling: snapshot.entries["layout"][name][0]
        for name in snapshot.entries["layout"]
        if name.spelling[0] == "m"
    }
    placed = {name: record.fields[1].offset // 8 for name, record in records.items()}
    assert {name: layouts.alignment(record.fields[1].type) for name, record in records.items()} == placed
    assert len(placed) == 18


@pytest.mark.parametrize(("compiler", "machine", "bits"), MACHINES, ids=[machine for _, machine, _ in MACHINES])
def test_a_record_has_the_alignment_that_the_compiler_asserts(compiler, machine, bits):
    snapshot = library(compiler)
    layouts = Layouts(snapshot)
    claims = [
        f'_Static_assert(_Alignof(struct {name.spelling}) == {layouts.alignment(Named(name))}, "{name.spelling}");'
        for name in snapshot.entries["layout"]
        if name.kind == "record" and (machine, name.spelling) != ("s390x", "m15")  # laid out by 16, said to be 8
    ]
    command = [compiler, "-fsyntax-only", "-Wno-psabi", "-xc", "-"]
    checked = subprocess.run(command, input=SOURCE + "\n".join(claims), capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert len(claims) >= 17


CHAR, INT = Primitive("char", 1), Primitive("int", 4)
NOTHING = Snapshot("lib", None, Target("elf", "x86_64", 64, "little"), {})


def test_holes_are_between_members_and_behind_the_last():
    record = Record("struct", 16, (Field("c", CHAR, 0), Field("i", INT, 32), Field("b", INT, 64, 3)))
    assert Layouts(NOTHING).holes(record) == (Hole(8, 24), Hole(67, 61, tail=True))


def test_members_of_a_union_leave_no_hole():
    assert Layouts(NOTHING).holes(Record("union", 4, (Field("c", CHAR, 0), Field("i", INT, 0)))) == ()


def test_a_member_off_its_alignment_tells_a_packed_record():
    assert Layouts(NOTHING).is_packed(Record("struct", 5, (Field("c", CHAR, 0), Field("i", INT, 8))))
    assert Layouts(NOTHING).is_packed(Record("struct", 5, (Field("i", INT, 0), Field("c", CHAR, 32))))
    assert not Layouts(NOTHING).is_packed(Record("struct", 8, (Field("c", CHAR, 0), Field("i", INT, 32))))


def test_a_type_that_is_not_described_has_no_layout():
    layouts = Layouts(NOTHING)
    assert layouts.size(Named(Name("record", "r"))) is None
    assert layouts.alignment(Named(Name("record", "r"))) is None
    assert layouts.size(Pointer(Named(Name("record", "r")))) == 8
    assert primitive_alignment(Primitive("void", 0), NOTHING.target) is None
