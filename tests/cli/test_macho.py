"""Tests of commands on Mach-O files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abistore.cli.main import run
from tests.extract.macho_fixtures import ARM, INTEL, build_dylib, re_exporting, universal

pytestmark = pytest.mark.full

SOURCE = "int f(void) { return 1; }\n#ifdef __x86_64__\nint only_intel(void) { return 2; }\n#endif"


def _universal(folder: Path) -> Path:
    return universal([build_dylib(SOURCE, target=each) for each in (INTEL, ARM)], folder / "libcase.1.dylib")


def test_arch_takes_one_architecture_of_a_universal_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(_universal(tmp_path))
    assert run(["dump", path, "--arch", "arm64", "-o", str(tmp_path / "one.json")]) == 0
    assert json.loads((tmp_path / "one.json").read_text())["target"]["machine"] == "aarch64"
    assert run(["dump", path]) == 65
    assert "--target" in capsys.readouterr().err


def test_each_architecture_of_a_universal_file_has_a_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, database = str(_universal(tmp_path)), str(tmp_path / "abi.db")
    for machine in ("x86_64", "arm64"):
        assert run(["ingest", path, "--version", "1", "--arch", machine, "--db", database]) == 0
        assert "stored" in capsys.readouterr().out
    assert run(["ingest", path, "--version", "1", "--arch", "x86_64", "--db", database]) == 0
    assert "known" in capsys.readouterr().out
    assert run(["list", "libcase", "--db", database]) == 0
    listed = capsys.readouterr().out
    assert "macho-x86_64-64-little" in listed
    assert "macho-aarch64-64-little" in listed


@pytest.mark.parametrize("shape", ["universal", "thin"])
def test_a_gate_misses_an_architecture_that_the_release_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shape: str
) -> None:
    """Programs for it have no library at all; who means one architecture names it."""
    database = ("--db", str(tmp_path / "abi.db"))
    assert run(["ingest", str(_universal(tmp_path)), "--version", "1.0", "--set-baseline", *database]) == 0
    built = build_dylib(SOURCE, target=INTEL)
    path = universal([built], tmp_path / "libcase.2.dylib") if shape == "universal" else built
    gate = ["gate", str(path), "--library", "libcase", "--version", "1.1", *database]
    capsys.readouterr()
    assert run(gate) == 4
    assert "bundle_library_removed" in capsys.readouterr().out
    assert run(["ingest", *gate[1:], "--against", "baseline", "--set-baseline"]) == 4
    assert run([*gate, "--arch", "x86_64"]) == 0


def test_releases_of_one_architecture_each_are_judged_alone(tmp_path: Path) -> None:
    database = ("--db", str(tmp_path / "abi.db"))
    for target in (INTEL, ARM):
        built = str(build_dylib(SOURCE, target=target))
        assert run(["ingest", built, "--library", "libcase", "--version", "1.0", "--set-baseline", *database]) == 0
        assert run(["gate", built, "--library", "libcase", "--version", "1.1", *database]) == 0


def test_a_universal_file_is_one_release_of_all_its_architectures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, database = str(_universal(tmp_path)), str(tmp_path / "abi.db")
    assert run(["ingest", path, "--version", "1", "--arch", "x86_64", "--db", database]) == 0
    capsys.readouterr()
    assert run(["ingest", path, "--version", "1", "--db", database]) == 0
    first = capsys.readouterr().out
    assert "known     libcase 1 (macho-x86_64-64-little)" in first
    assert "stored    libcase 1 (macho-aarch64-64-little)" in first
    assert run(["ingest", path, "--version", "1", "--db", database]) == 0
    assert capsys.readouterr().out.count("known  ") == 2


def test_what_a_dylib_is_told_to_bump_is_its_install_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SONAME is ELF's word."""
    old, new = (build_dylib(f"int f(void) {{ return 1; }} int {name}(void) {{ return 2; }}") for name in ("g", "h"))
    database = str(tmp_path / "abi.db")
    assert run(["ingest", str(old), "--version", "1", "--set-baseline", "--db", database]) == 0
    capsys.readouterr()
    assert run(["gate", str(new), "--version", "1.1", "--db", database]) == 4
    told = " ".join(capsys.readouterr().out.split())
    assert "bump the install name" in told
    assert "SONAME" not in told


def test_a_function_that_moved_to_a_re_exported_library_is_found_in_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = "int one(void) { return 1; }\n", "int two(void) { return 2; }\n"
    old, new, alone = (tmp_path / each for each in ("old", "new", "alone"))
    for folder in (old, new, alone):
        folder.mkdir()
    (old / "libcase.1.dylib").write_bytes(build_dylib(one + two).read_bytes())
    for folder in (new, alone):
        (folder / "libcase.1.dylib").write_bytes(re_exporting(build_dylib(one), "@rpath/libmore.1.dylib"))
    moved = build_dylib(two, install_name="@rpath/libmore.1.dylib", name="libmore.1.dylib")
    (new / "libmore.1.dylib").write_bytes(moved.read_bytes())
    assert run(["compare", str(old), str(new), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["kind"] for each in found["changes"] if each["impact"] != "compatible"} >= {"forwarder_moved"}
    assert run(["compare", str(old), str(alone), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "needed-library-not-given" in {each["reason"] for each in found["not_checked"]}
