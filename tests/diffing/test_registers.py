"""In which registers objects are passed by value, as each machine's calling convention has it."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Comparison
from tests.build import build_library

pytestmark = pytest.mark.full

COMPILERS = {
    "x86_64": "gcc",
    "aarch64": "aarch64-linux-gnu-gcc",
    "armhf": "arm-linux-gnueabihf-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "ppc64le": "powerpc64le-linux-gnu-gcc",
    "s390x": "s390x-linux-gnu-gcc",
    "i386": "i686-linux-gnu-gcc",
}
EVERYWHERE = frozenset(COMPILERS)
FLOATING = EVERYWHERE - {"i386", "s390x"}


def compared(machine: str, old: str, new: str) -> Comparison:
    """Two libraries with a function that takes a ``V`` of these members."""
    snapshots = []
    for body in (old, new):
        source = f"{body}; int take(V value) {{ return sizeof value; }}"
        path = build_library(source, compiler=COMPILERS[machine], flags=("-g", "-O1", "-w", "-nostdlib"))
        snapshots.append(read_snapshot(path, ExtractOptions(library="libcase")))
    return compare(*snapshots)


@pytest.mark.parametrize("machine", sorted(COMPILERS))
@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        ("float f[2]", "float f[2]; int i", FLOATING - {"riscv64"}),
        ("double d[4]", "double d[4]; int i", frozenset({"aarch64", "armhf", "ppc64le"})),
        ("int i[2]", "int i[2]; short s", frozenset()),
    ],
)
def test_an_alternative_of_another_kind_moves_the_union_where_machines_look_at_kinds(
    old: str, new: str, moves: frozenset[str], machine: str
) -> None:
    comparison = compared(machine, f"typedef union {{ {old}; }} V", f"typedef union {{ {new}; }} V")
    kinds = [each.kind for each in comparison.findings]
    assert ("value_abi_trait_changed" in kinds) is (machine in moves)
