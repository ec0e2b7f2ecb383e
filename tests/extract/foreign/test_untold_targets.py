"""Dumps name the processor, and not which of its ABIs a library is for: that is told, and refuses nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import Incomparable
from abistore.extract.capture import read_snapshot
from abistore.model.findings import Comparison, Verdict
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.extract.elf_fixtures import MACHINES
from tests.extract.foreign.reading import OPTIONS, dump_of

pytestmark = pytest.mark.full

OLD = "double half(double x) { return x / 2; } int add(int a, int b) { return a + b; }"
NEW = "double half(double x) { return x / 2; }"
CODE = "which ABI of the machine"


def library(machine: str, source: str = OLD) -> Path:
    return build_library(source, compiler=MACHINES[machine], flags=("-g", "-nostdlib"))


def told(found: Comparison) -> list[str]:
    return [each.side for each in found.not_checked if CODE in each.detail]


@pytest.mark.parametrize("form", ["abixml", "abicc"])
@pytest.mark.parametrize("machine", ["armhf", "ppc64le", "riscv64"])
def test_a_dump_is_compared_with_its_library_and_says_what_was_not_checked(form: str, machine: str) -> None:
    binary = read_snapshot(library(machine), OPTIONS)
    dump = dump_of(library(machine), form)
    for old, new, side in ((dump, binary, "old"), (binary, dump, "new")):
        found = compare(old, new)
        assert found.verdict is Verdict.NO_CHANGE
        assert told(found) == [side]


@pytest.mark.parametrize("machine", ["armhf", "ppc64le", "riscv64"])
def test_a_break_is_found_against_a_dump_that_leaves_the_abi_open(machine: str) -> None:
    found = compare(dump_of(library(machine), "abixml"), read_snapshot(library(machine, NEW), OPTIONS))
    assert found.verdict is Verdict.BREAKING
    assert "func_removed" in [each.kind for each in found.findings]


def test_two_dumps_that_leave_the_abi_open_are_told() -> None:
    dump = dump_of(library("armhf"), "abixml")
    assert told(compare(dump, dump)) == ["both"]


@pytest.mark.parametrize("machine", ["x86_64", "i386", "s390x", "aarch64"])
def test_a_machine_with_one_abi_leaves_nothing_open(machine: str) -> None:
    assert not told(compare(dump_of(library(machine), "abixml"), read_snapshot(library(machine), OPTIONS)))


def test_what_the_caller_said_of_a_dump_is_known() -> None:
    from benchmarks.dumps import dumped

    asked = msgspec.structs.replace(OPTIONS, platform="armhf")
    dump = read_snapshot(dumped(library("armhf"), "abixml"), asked)
    assert not told(compare(dump, read_snapshot(library("armhf"), OPTIONS)))


def test_other_machines_stay_refused() -> None:
    arm = dump_of(library("armhf"), "abixml")
    for machine in ("aarch64", "riscv64", "i386"):
        with pytest.raises(Incomparable):
            compare(arm, read_snapshot(library(machine), OPTIONS))


def test_two_binaries_of_two_abis_stay_refused() -> None:
    hard = read_snapshot(library("armhf"), OPTIONS)
    soft: Snapshot = msgspec.structs.replace(hard, target=msgspec.structs.replace(hard.target, machine="arm"))
    with pytest.raises(Incomparable):
        compare(hard, soft)
