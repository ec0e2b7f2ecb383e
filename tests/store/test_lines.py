"""Lines of one version: real builds for two machines, holes, symbols of one machine, and packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.errors import UsageError
from abistore.model.findings import Verdict
from abistore.model.history import IngestRequest
from abistore.model.shapes import Library
from abistore.model.snapshot import PackageRead, Snapshot
from abistore.service.administration import BaselinePlan, set_release_baseline
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import IngestPlan
from abistore.service.ledger import ledger, lines_of_release
from abistore.store.store import Store
from examples.obtain import Missing
from tests.build import build_library
from tests.store.builders import ARM, EXPORTED, SELF, X86, function, snapshot

OLD = """
struct sample { int count; double value; };
double mean(const struct sample *s) { return s->value / s->count; }
"""
NEW = OLD.replace("int count; ", "int count; int unit; ")
MACHINES = ("x86_64", "i386")


def built(source: str, machine: str) -> Path:
    flags = ("-g", "-O1", "-nostdlib", "-m32" if machine == "i386" else "-m64")
    try:
        return build_library(source, flags=flags, soname="libsample.so.1", name="libsample.so")
    except (AssertionError, Missing):  # this compiler has one machine only
        target = {"x86_64": "x86_64-linux-gnu", "i386": "x86-linux-gnu"}[machine]
        flags = ("-target", target, "-g", "-O1", "-nostdlib")
        return build_library(source, compiler="zig cc", flags=flags, soname="libsample.so.1", name="libsample.so")


def test_a_field_in_padding_is_compatible_on_one_machine_and_breaks_the_other_and_the_release(address: str) -> None:
    for version, source in (("1.0", OLD), ("1.1", NEW)):
        for machine in MACHINES:
            (done,) = ingest(built(source, machine), IngestPlan(version=version), database=address)
            assert done.status == "stored", done.error
    found = lines_of_release("libsample@1.1", database=address)
    worst = {row.line.target.split("-")[1]: row.ledger.worst for row in found.rows if row.ledger}
    assert worst.keys() == set(MACHINES)
    assert worst["x86_64"] is not None and worst["x86_64"] < Verdict.API_BREAK
    assert worst["i386"] is Verdict.BREAKING
    assert (found.verdict, found.holes, found.differences) == (Verdict.BREAKING, 0, ())
    assert any(said.startswith("the lines differ: BREAKING on elf-i386") for said in found.remarks)


def release(
    *exports: str, library: str = "libgeo", target: object = X86, package: tuple[str, int] | None = None
) -> Snapshot:
    symbols = {SELF: Library("shared", f"{library}.so.1")} | {function(name): EXPORTED for name in exports}
    made = snapshot(library=library, symbols=symbols, target=target)  # type: ignore[arg-type]
    if package:
        read = PackageRead(
            "geo.deb", "geo", "1", f"usr/lib/{library}.so.1", sha256=package[0] * 64, libraries=package[1]
        )
        made = replace(made, provenance=replace(made.provenance, package=read))
    return made


@pytest.fixture
def two_lines(address: str) -> str:
    with Store.open(address, write=True) as store:
        store.ingest(release("f", "_Z4areaj"), IngestRequest("1.0"))
        store.ingest(release("f", "_Z4areaj", "g"), IngestRequest("1.1"))
        store.ingest(release("f", "_Z4aream", target=ARM), IngestRequest("1.0"))
        store.ingest(release("f", "_Z4areaj", "g", "h"), IngestRequest("1.2"))
        store.ingest(release("f", "_Z4aream", "simd", target=ARM), IngestRequest("1.2"))
    return address


def test_a_line_that_is_missing_is_a_hole_and_never_compatible(two_lines: str) -> None:
    found = lines_of_release("libgeo@1.1", database=two_lines)
    assert [(row.line.target, row.release and row.release.version) for row in found.rows] == [
        (str(ARM), None),
        (str(X86), "1.1"),
    ]
    assert found.rows[1].ledger is not None
    assert (found.verdict, found.holes, found.rows[1].ledger.worst) == (None, 1, Verdict.COMPATIBLE)
    assert found.rows[0].missing == "no release 1.1: its releases are 1.0 to 1.2"


def test_lines_that_differ_are_told_by_what_a_programmer_calls_the_symbols(two_lines: str) -> None:
    found = lines_of_release("libgeo", database=two_lines)
    assert found.version == "1.2"
    told = [(each.name, [line.target for line in each.only_in]) for each in found.differences]
    assert told == [("g", [str(X86)]), ("h", [str(X86)]), ("simd", [str(ARM)])]
    assert len(ledger("libgeo@1.2", database=two_lines)) == 2


def test_the_libraries_of_a_package_are_lines_of_its_release_and_one_that_left_is_a_hole(address: str) -> None:
    with Store.open(address, write=True) as store:
        for name in ("liba", "libb"):
            made = release("f", library=name, package=("1", 2))
            store.ingest(made, IngestRequest("1.0", read_here=True))
        store.ingest(release("f", "g", library="liba", package=("2", 1)), IngestRequest("1.1", read_here=True))
    whole = lines_of_release("liba@1.0", database=address)
    assert (whole.libraries, whole.holes) == (("liba", "libb"), 0)
    left = lines_of_release("liba@1.1", database=address)
    assert (left.libraries, left.holes, left.verdict) == (("liba", "libb"), 1, None)


def test_one_move_puts_a_baseline_at_all_lines_of_a_release_or_at_none(two_lines: str) -> None:
    moved = set_release_baseline("libgeo@1.2", BaselinePlan(reason="shipped"), database=two_lines)
    assert [(move.line.target, move.version) for move in moved] == [(str(ARM), "1.2"), (str(X86), "1.2")]
    with pytest.raises(UsageError, match=r"no release 1\.1"):
        set_release_baseline("libgeo@1.1", BaselinePlan(), database=two_lines)
    with Store.open(two_lines, write=False) as store:
        assert {move.version for move in store.baselines("libgeo")} == {"1.2"}
