"""``generate``: files that other tools take, checked by these tools."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call
from tests.editing import undigested

FUNCTIONS = {"1.0": ("open_it", "close_it"), "1.1": ("open_it", "close_it", "more"), "1.2": ("open_it", "more", "last")}
SCRIPT = "CASE_1 { global: open_it; close_it; local: *; };\n"
LATER = SCRIPT + "CASE_2 { global: more; } CASE_1;\n"


def source(functions: tuple[str, ...]) -> str:
    return "".join(f"int {name}(int value) {{ return value + {len(name)}; }}\n" for name in functions)


@pytest.fixture
def plain(abistore: Call) -> Call:
    """Three releases of a library without symbol versions; one function goes, and two come."""
    for version, functions in FUNCTIONS.items():
        assert abistore("ingest", build_library(source(functions)), "--version", version).code == 0
    return abistore


@pytest.fixture
def versioned(abistore: Call) -> Call:
    for version, script in {"1.0": SCRIPT, "1.1": LATER}.items():
        flags = ("-g", "-Wl,--version-script=map")
        library = build_library(source(FUNCTIONS[version]), flags=flags, files={"map": script})
        assert abistore("ingest", library, "--version", version).code == 0
    return abistore


def test_symbols_of_debian_tell_which_release_brought_each(plain: Call) -> None:
    assert plain("export", "--format", "debian-symbols", "libcase").out == (
        "libcase.so.1 libcase1 #MINVER#\n last@Base 1.2\n more@Base 1.1\n open_it@Base 1.0\n"
    )
    assert " close_it@Base 1.0\n" in plain("export", "--format", "debian-symbols", "libcase@1.1").out


def test_a_function_that_comes_back_is_counted_from_then(plain: Call) -> None:
    plain("ingest", build_library(source(("open_it", "close_it", "more"))), "--version", "1.3")
    assert " close_it@Base 1.3\n" in plain("export", "--format", "debian-symbols", "libcase").out


@pytest.mark.full
@pytest.mark.parametrize(("history", "latest"), [("plain", "1.2"), ("versioned", "1.1")])
def test_dpkg_finds_nothing_to_add_to_the_symbols(
    history: str, latest: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    call: Call = request.getfixturevalue(history)
    flags = ("-g", "-Wl,--version-script=map") if history == "versioned" else ("-g", "-O1")
    library = build_library(
        source(FUNCTIONS[latest]), flags=flags, files={"map": LATER} if history == "versioned" else None
    )
    (tmp_path / "debian").mkdir()
    (tmp_path / "debian/control").write_text(
        "Source: case\nMaintainer: A <a@example.org>\n\nPackage: libcase1\nArchitecture: any\n"
    )
    (tmp_path / "debian/changelog").write_text(
        f"case ({latest}) unstable; urgency=low\n\n  * New.\n\n -- A <a@example.org>  Thu, 01 Jan 2026 00:00:00 +0000\n"
    )
    symbols = tmp_path / "symbols"
    assert call("export", "--format", "debian-symbols", "libcase", "-o", symbols).code == 0
    command = ["dpkg-gensymbols", "-plibcase1", f"-v{latest}", f"-e{library}", f"-I{symbols}", "-Oout", "-c4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "out").read_text() == symbols.read_text()


def test_the_linker_gives_symbols_the_version_of_the_release_that_brought_them(plain: Call, tmp_path: Path) -> None:
    script = tmp_path / "libcase.map"
    assert plain("export", "--format", "version-script", "libcase", "-o", script).code == 0
    flags = ("-g", "-Wl,--version-script=map")
    library = build_library(source(FUNCTIONS["1.2"]), flags=flags, files={"map": script.read_text()})
    assert exported(library) == {"open_it": "LIBCASE_1.0", "more": "LIBCASE_1.1", "last": "LIBCASE_1.2"}


def test_the_linker_makes_the_versions_again_that_a_library_has(versioned: Call, tmp_path: Path) -> None:
    script = versioned("export", "--format", "version-script", "libcase").out
    flags = ("-g", "-Wl,--version-script=map")
    library = build_library(source(FUNCTIONS["1.1"]), flags=flags, files={"map": script})
    assert exported(library) == {"open_it": "CASE_1", "close_it": "CASE_1", "more": "CASE_2"}


def exported(library: Path) -> Mapping[str, str]:
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = (line.split()[-1].partition("@@") for line in listed.splitlines() if " T " in line)
    return {name: version for name, _, version in rows}


def test_exports_that_no_header_declares_are_left_out_by_other_checkers(abistore: Call, tmp_path: Path) -> None:
    header = tmp_path / "api.h"
    header.write_text("int open_it(int value);\n")
    old, new = build_library(source(("open_it", "inner"))), build_library(source(("open_it",)))
    abistore("ingest", old, "--version", "1.0", "--header", header)
    suppressions = tmp_path / "skip.ini"
    assert abistore("export", "--format", "abigail-suppressions", "libcase", "-o", suppressions).code == 0
    assert abistore("compare", old, new).code == 4
    assert abistore("compare", old, new, "--suppress", suppressions).code == 0
    assert abistore("export", "--format", "abicc-skip-symbols", "libcase").out == "inner\n"


def test_what_is_approved_is_left_out_with_who_approved_it(plain: Call) -> None:
    (finding,) = [
        each for each in plain("verdict", "libcase@1.2", "--json").json["changes"] if each["kind"] == "func_removed"
    ]
    plain("approve", finding["id"], "--reason", "nobody calls it", "--approver", "ana")
    assert plain("export", "--format", "abigail-suppressions", "libcase").out == (
        "[suppress_function]\n  label = accepted by ana: nobody calls it\n  symbol_name = close_it\n\n"
        "[suppress_variable]\n  label = accepted by ana: nobody calls it\n  symbol_name = close_it\n"
    )


def test_a_format_that_is_not_for_this_library_says_so(abistore: Call) -> None:
    abistore("ingest", build_library(source(("open_it",)), soname=None), "--version", "1.0")
    done = abistore("export", "--format", "debian-symbols", "libcase")
    assert done.code == 64
    assert "are for ELF libraries with a SONAME" in done.err


def named(abistore: Call, folder: Path, name: str, of: str = "inner", library: Path | None = None) -> None:
    """Store a release that has ``name`` in place of an export, or a symbol version."""
    header = folder / "api.h"
    header.write_text("int open_it(int value);\n")
    built = library or build_library(source(("open_it", "inner")))
    text = undigested(abistore("export", built, "--header", header).out)
    assert f'"{of}"' in text
    (folder / "edited.json").write_text(text.replace(f'"{of}"', json.dumps(name)))
    done = abistore("import", folder / "edited.json", "--version", "1.0")
    assert done.code == 0, done.err


@pytest.mark.parametrize("format", ["debian-symbols", "version-script", "abigail-suppressions", "abicc-skip-symbols"])
@pytest.mark.parametrize("name", ["a\n[suppress_type]\n  name_regexp = .*", "a;\n};\nV2 {", "a\r", "a\x1b[0m"])
def test_no_name_of_an_export_is_an_entry_of_its_own(abistore: Call, tmp_path: Path, format: str, name: str) -> None:
    named(abistore, tmp_path, name)
    done = abistore("export", "--format", format, "libcase")
    assert (done.code, done.out) == (64, "")
    assert "cannot name a" in done.err


@pytest.mark.parametrize("name", ["*", "a;b", "type..eq.struct { a int }", "a[b]", "}"])
def test_a_linker_takes_an_odd_name_for_nothing_but_a_name(abistore: Call, tmp_path: Path, name: str) -> None:
    named(abistore, tmp_path, name)
    script = abistore("export", "--format", "version-script", "libcase").out
    assert f'    "{name}";\n' in script
    build = build_library(source(("open_it", "other")), flags=("-Wl,--version-script=map",), files={"map": script})
    told = abistore("export", build, "--symbols-only").out
    assert '"open_it"' in told
    assert '"other"' not in told


@pytest.mark.parametrize("format", ["debian-symbols", "version-script"])
def test_no_version_of_a_symbol_is_an_entry_of_its_own(abistore: Call, tmp_path: Path, format: str) -> None:
    flags = ("-g", "-Wl,--version-script=map")
    library = build_library(source(("open_it", "close_it")), flags=flags, files={"map": SCRIPT})
    named(abistore, tmp_path, "CASE_1 { global: *; }; V2", "CASE_1", library)
    done = abistore("export", "--format", format, "libcase")
    assert (done.code, done.out) == (64, "")


@pytest.mark.parametrize(
    ("versions", "pin"),
    [
        (("1.0.0", "1.1.0", "2.0.0"), 'max_pin="x"'),
        (("1.0.0", "1.0.1", "1.1.0", "BREAK 1.2.0"), 'max_pin="x.x"'),
        (("1.0.0", "1.0.1", "BREAK 1.0.2"), 'max_pin="x.x.x"'),
        (("1.0.0.1", "BREAK 1.0.0.2"), "exact=True"),
    ],
)
def test_conda_gets_the_loosest_pin_that_no_release_contradicts(
    abistore: Call, versions: tuple[str, ...], pin: str
) -> None:
    functions = ["open_it", "close_it"]
    for version in versions:
        functions = functions[1:] if version.startswith("BREAK") else [*functions, f"more_{len(functions)}"]
        library = build_library(source(tuple(functions)))
        assert abistore("ingest", library, "--version", version.removeprefix("BREAK ")).code == 0
    done = abistore("export", "--format", "conda-pin", "libcase")
    assert f'    - {{{{ pin_subpackage("libcase", {pin}) }}}}\n' in done.out
    assert done.out.startswith(f"# run_exports of libcase, from {len(versions)} releases of elf-x86_64-64-little: ")


def test_a_pin_says_which_releases_contradict_looser_ones(abistore: Call) -> None:
    for version, functions in {"1.0": ("open_it", "close_it"), "1.1": ("open_it",), "1.2": ("open_it", "more")}.items():
        assert abistore("ingest", build_library(source(functions)), "--version", version).code == 0
    lines = abistore("export", "--format", "conda-pin", "libcase").out.splitlines()
    assert lines[1] == "# x      2 steps between releases that share it: 1.0 -> 1.1 (BREAKING) broke programs"
    assert lines[2] == "# x.x    0 steps between releases that share it: nothing supports it"


def test_another_soname_counts_as_a_break_and_one_release_supports_nothing(abistore: Call) -> None:
    text = source(("open_it",))
    assert abistore("ingest", build_library(text, soname="libcase.so.1"), "--version", "1.0").code == 0
    alone = abistore("export", "--format", "conda-pin", "libcase")
    assert (alone.code, "nothing supports a pin" in alone.err) == (64, True)
    assert abistore("ingest", build_library(text, soname="libcase.so.2"), "--version", "1.1").code == 0
    assert 'max_pin="x.x")' in abistore("export", "--format", "conda-pin", "libcase").out
