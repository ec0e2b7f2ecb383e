"""What version of the C library every system of a machine has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from abistore.diffing.renamed_exports import FIRST_GLIBC, OLDEST, parsed, raises_floor
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot

pytestmark = pytest.mark.full

COMPILERS = {"aarch64": "aarch64", "ppc64le": "powerpc64le", "riscv64": "riscv64", "s390x": "s390x", "armhf": "arm"}


def c_library(prefix: str) -> Snapshot:
    """The C library that a cross compiler links to."""
    compiler = next((c for end in ("", "eabihf") if (c := shutil.which(f"{prefix}-linux-gnu{end}-gcc"))), None)
    assert compiler is not None, prefix
    asked = subprocess.run([compiler, "-print-file-name=libc.so.6"], check=True, capture_output=True, text=True)
    return read_snapshot(Path(asked.stdout.strip()), ExtractOptions(layout=False))


@pytest.mark.parametrize("machine", COMPILERS)
def test_no_version_below_the_first_is_defined_by_the_machines_own_c_library(machine: str) -> None:
    library = c_library(COMPILERS[machine])
    assert library.target.machine == machine
    assert library.facts is not None
    found = [number for family, number in map(parsed, library.facts.on_elf.version_definitions) if family == "GLIBC_"]
    assert max(min(found), OLDEST["GLIBC_"]) == FIRST_GLIBC.get(machine, OLDEST["GLIBC_"])


@pytest.mark.parametrize("machine", FIRST_GLIBC)
def test_the_first_version_of_a_machine_raises_no_floor_and_the_next_does(machine: str) -> None:
    major, minor = FIRST_GLIBC[machine]
    assert not raises_floor(f"GLIBC_{major}.{minor}", (), machine)
    assert raises_floor(f"GLIBC_{major}.{minor + 1}", (), machine)
    assert raises_floor(f"GLIBC_{major}.{minor}", (), "x86_64")
