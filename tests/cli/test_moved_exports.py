"""Exports that move to another library of a folder: whether programs find them there."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.bundles import completed
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import SELF, Name
from abistore.model.shapes import Library, MachoLibrary
from abistore.model.snapshot import Snapshot
from tests.cli.conftest import Call
from tests.running import GLIBC

A, B = "int a(int x) { return x; }\n", "int b(int x) { return x; }\n"
PROGRAM = '#include <stdio.h>\nint a(int), b(int);\nint main(void) { printf("%d", a(1) + b(2)); }\n'
X1 = "X1 { global: a; b; local: *; };"
Libraries = Mapping[str, tuple[str, str, str]]
"""By name: the source, the version script, and what the library needs."""

OLD: Libraries = {"x": (A + B, "", "")}
VERSIONED: Libraries = {"x": (A + B, X1, "")}
FOUND: dict[str, tuple[Libraries, Libraries]] = {
    "in a library that is needed": (OLD, {"y": (B, "", ""), "x": (A, "", "y")}),
    "in one that this needs": (OLD, {"z": (B, "", ""), "y": ("", "", "z"), "x": (A, "", "y")}),
    "with the version of before": (VERSIONED, {"y": (B, X1, ""), "x": (A, X1, "y")}),
    "without a version": (VERSIONED, {"y": (B, "", ""), "x": (A, X1, "y")}),
    "in a version, where none was": (OLD, {"y": (B, "Y1 { global: *; };", ""), "x": (A, "", "y")}),
}
LOST: dict[str, tuple[Libraries, Libraries]] = {
    "in a library that nothing needs": (OLD, {"y": (B, "", ""), "x": (A, "", "")}),
    "under another version": (VERSIONED, {"y": (B, "Y1 { global: *; };", ""), "x": (A, X1, "y")}),
    "with other parameters": (OLD, {"y": (B.replace("int x", "double x"), "", ""), "x": (A, "", "y")}),
    "nowhere": (OLD, {"y": ("int c(int x) { return x; }\n", "", ""), "x": (A, "", "y")}),
}


def folder(libraries: Libraries, at: Path) -> Path:
    at.mkdir()
    for name, (source, script, needs) in libraries.items():
        (at / f"{name}.c").write_text(source)
        command = ["gcc", "-g", "-O1", "-shared", "-fPIC", f"-Wl,-soname,lib{name}.so.1", f"{name}.c"]
        if script:
            (at / f"{name}.map").write_text(script)
            command.append(f"-Wl,--version-script={name}.map")
        command += ["-Wl,--no-as-needed", "-o", f"lib{name}.so.1", *([f"lib{needs}.so.1"] if needs else [])]
        subprocess.run(command, cwd=at, check=True, capture_output=True)
        for left in (at / f"{name}.c", at / f"{name}.map"):
            left.unlink(missing_ok=True)
    return at


def runs(old: Path, new: Path) -> bool:
    """Whether a program of the old folder gives its result with the new one."""
    if not GLIBC:
        pytest.skip("the dynamic linker is not glibc's")
    program = old.parent / "program"
    (old.parent / "program.c").write_text(PROGRAM)
    link = ["gcc", f"{program}.c", "-o", program, old / "libx.so.1", "-Wl,-z,now"]
    subprocess.run(link, check=True, capture_output=True)
    done = subprocess.run([program], env={"LD_LIBRARY_PATH": str(new)}, capture_output=True, text=True)
    return (done.returncode, done.stdout) == (0, "3")


@pytest.mark.parametrize("where", FOUND)
def test_a_moved_export_that_programs_find_is_a_risk(abistore: Call, where: str, tmp_path: Path) -> None:
    old, new = (folder(each, tmp_path / side) for each, side in zip(FOUND[where], ("old", "new"), strict=True))
    assert runs(old, new)
    done = abistore("compare", old, new)
    assert (done.code, "pe_forwarder_changed.moved" in done.out) == (0, True), done.out


@pytest.mark.parametrize("where", LOST)
def test_one_that_they_do_not_find_is_a_break(abistore: Call, where: str, tmp_path: Path) -> None:
    old, new = (folder(each, tmp_path / side) for each, side in zip(LOST[where], ("old", "new"), strict=True))
    assert not runs(old, new)
    assert abistore("compare", old, new).code == 4


def test_of_one_library_alone_the_report_says_where_it_may_be(abistore: Call, tmp_path: Path) -> None:
    sides = FOUND["in a library that is needed"]
    old, new = (folder(each, tmp_path / side) for each, side in zip(sides, ("old", "new"), strict=True))
    done = abistore("compare", old / "libx.so.1", new / "libx.so.1")
    told = " ".join(done.out.split())
    assert (done.code, "liby.so.1: newly needed, and may provide 1 export that this library lost" in told) == (4, True)


def test_what_a_dylib_re_exports_counts_as_its_own(tmp_path: Path) -> None:
    old, new = (
        folder(each, tmp_path / side)
        for each, side in zip(FOUND["in a library that is needed"], ("old", "new"), strict=True)
    )
    before, after, other = (
        read_snapshot(path, ExtractOptions()) for path in (old / "libx.so.1", new / "libx.so.1", new / "liby.so.1")
    )
    found = completed(as_dylib(before), as_dylib(after, "liby.so.1"), [as_dylib(after, "liby.so.1"), as_dylib(other)])
    assert found.has(Name("function", "b"))
    alone = completed(as_dylib(before), as_dylib(after), [as_dylib(after), as_dylib(other)])
    assert not alone.has(Name("function", "b"))


def as_dylib(snapshot: Snapshot, *reexports: str) -> Snapshot:
    facts = snapshot.facts
    assert facts is not None
    library = Library("shared", facts.name, facts.needed, macho=MachoLibrary(reexports=reexports))
    symbols = {**snapshot.entries["symbol"], SELF: (library,)}
    target = replace(snapshot.target, format="macho", os_abi="macos")
    return replace(snapshot, target=target, entries={**snapshot.entries, "symbol": symbols})
