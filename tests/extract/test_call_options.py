"""Options for calls are those of the unit that defines an export, and what earlier snapshots lack is not guessed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.format_gaps import in_force
from abistore.model.shapes import Function
from abistore.model.snapshot import Snapshot, Target

X86_64 = Target("elf", "x86_64", 64, "little")
I386 = Target("elf", "i386", 32, "little")


def built(folder: Path, **units: str) -> Snapshot:
    """A library of units that define a function each, with options of their own."""
    folder.mkdir()
    for name, option in units.items():
        (folder / f"{name}.c").write_text(f"int {name}(int a, int b) {{ return a - b; }}\n")
        command = ["gcc", "-g", "-fPIC", *option.split(), "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(command, cwd=folder, check=True)
    objects = [f"{name}.o" for name in units]
    subprocess.run(["gcc", "-shared", *objects, "-o", "libx.so"], cwd=folder, check=True)
    return read_snapshot(folder / "libx.so", ExtractOptions())


def convention(snapshot: Snapshot, name: str) -> str | None:
    (shape,) = snapshot.variants("layout", Name("function", name))
    assert isinstance(shape, Function)
    return shape.calling_convention


def test_each_export_has_the_options_of_its_unit(tmp_path: Path) -> None:
    snapshot = built(tmp_path / "old", one="-mabi=ms", two="")
    assert (convention(snapshot, "one"), convention(snapshot, "two")) == ("-mabi=ms", None)


APART = "-frecord-gcc-switches -gno-record-gcc-switches"
"""The options stand in a section of the file, which does not tell units apart."""


def test_options_that_the_file_keeps_apart_from_units_are_those_of_all(tmp_path: Path) -> None:
    alike = built(tmp_path / "alike", one=f"{APART} -mabi=ms", two=f"{APART} -mabi=ms -O1")
    assert (convention(alike, "one"), convention(alike, "two")) == ("-mabi=ms", "-mabi=ms")
    mixed = built(tmp_path / "mixed", one=f"{APART} -mabi=ms", two=APART)
    assert (convention(mixed, "one"), convention(mixed, "two")) == (None, None)
    told = built(tmp_path / "told", one=f"{APART} -mabi=ms", two="-mabi=sysv")
    assert (convention(told, "one"), convention(told, "two")) == ("-mabi=ms", None)


def test_an_export_in_a_unit_of_other_options_breaks(tmp_path: Path) -> None:
    old = built(tmp_path / "old", one="-mabi=ms", two="")
    new = built(tmp_path / "new", one="-mabi=ms", two="-mabi=ms")
    broken = [each.name.spelling for each in compare(old, new).findings if each.kind == "calling_convention_changed"]
    assert broken == ["two"]


def test_a_snapshot_that_lacks_conventions_is_no_break(tmp_path: Path) -> None:
    now = built(tmp_path / "old", one="-mabi=ms")
    layout = {
        name: tuple(replace(each, calling_convention=None) if isinstance(each, Function) else each for each in shapes)
        for name, shapes in now.entries["layout"].items()
    }
    before = replace(now, entries={**now.entries, "layout": layout})
    for each in (compare(before, now), compare(now, before)):
        assert [finding.kind for finding in each.findings] == ["declaration_changed"]


def test_the_last_option_holds_and_the_usual_one_is_none() -> None:
    assert in_force("GNU C17 12.2.0 -mabi=ms -mabi=sysv -mlong-double-80", X86_64) == ()
    assert in_force("GNU C17 12.2.0 -mregparm=3 -mregparm=2", I386) == (("integer registers", "-mregparm=2"),)
    assert in_force("GNU C17 12.2.0 -mregparm=3", X86_64) == ()


def test_each_platform_has_its_own_usual_options() -> None:
    text = "GNU C17 12.2.0 -freg-struct-return"
    assert in_force(text, I386) == (("small structs", "-freg-struct-return"),)
    assert in_force(text, X86_64) == in_force(text, replace(I386, os_abi="freebsd")) == ()
    assert in_force("GNU C17 12.2.0 -mabi=ms", replace(X86_64, format="pe")) == ()
