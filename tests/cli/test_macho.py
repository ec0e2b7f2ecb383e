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
    assert run(["export", path, "--arch", "arm64", "-o", str(tmp_path / "one.json")]) == 0
    assert json.loads((tmp_path / "one.json").read_text())["target"]["machine"] == "aarch64"
    assert run(["export", path]) == 65
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
    """Programs for it have no library; who means one architecture names it."""
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
    found = json.loads(capsys.readouterr().out)["data"]
    assert {each["kind"] for each in found["changes"] if each["impact"] != "compatible"} >= {
        "pe_forwarder_changed.moved"
    }
    assert run(["compare", str(old), str(alone), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    assert "needed-library-not-given" in {each["reason"] for each in found["not_checked"]}


def _two(folder: Path, old: str, new: str) -> tuple[Path, Path]:
    """Two universal files of the same name, each of both architectures."""
    paths = []
    for side, source in (("old", old), ("new", new)):
        (folder / side).mkdir()
        built = [build_dylib(source, target=each) for each in (INTEL, ARM)]
        paths.append(universal(built, folder / side / "libcase.1.dylib"))
    return paths[0], paths[1]


def test_each_architecture_of_two_universal_files_is_judged_in_one_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = _two(tmp_path, f"{SOURCE}\nint g(void) {{ return 3; }}", "int f(void) { return 1; }")
    assert run(["compare", str(old), str(new), "--json"]) == 4
    found = json.loads(capsys.readouterr().out)["data"]
    assert [(each["target"], each["verdict"], each["summary"]["breaking"]) for each in found["libraries"]] == [
        ("macho-aarch64-64-little", "BREAKING", 1),
        ("macho-x86_64-64-little", "BREAKING", 2),
    ]
    told = {each["display"]: each["libraries"] for each in found["changes"] if each["kind"] == "func_removed"}
    assert told == {"g": ["libcase"], "only_intel": ["libcase (macho-x86_64-64-little)"]}
    assert run(["compare", str(old), str(new)]) == 4
    assert "bump the install name" in " ".join(capsys.readouterr().out.split())


def test_an_architecture_that_a_universal_file_loses_is_a_library_that_is_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thin = build_dylib(SOURCE, target=INTEL)
    assert run(["compare", str(_universal(tmp_path)), str(thin), "--json"]) == 4
    (finding,) = json.loads(capsys.readouterr().out)["data"]["changes"]
    assert finding["kind"] == "bundle_library_removed" and "macho-aarch64-64-little" in finding["description"]
    assert run(["compare", str(thin), str(_universal(tmp_path)), "--json"]) == 0
    assert [each["kind"] for each in json.loads(capsys.readouterr().out)["data"]["changes"]] == ["bundle_library_added"]


def test_a_dump_of_one_architecture_says_nothing_about_the_others(tmp_path: Path) -> None:
    path, dump = str(_universal(tmp_path)), str(tmp_path / "one.json")
    assert run(["export", path, "--arch", "arm64", "-o", dump]) == 0
    assert run(["compare", path, dump]) == 0
    assert run(["compare", dump, path]) == 0


def test_universal_files_without_an_install_name_may_be_called_as_they_like(tmp_path: Path) -> None:
    old, new = (
        universal([build_dylib(SOURCE, target=each, install_name="") for each in (INTEL, ARM)], tmp_path / name)
        for name in ("before.dylib", "after.dylib")
    )
    assert run(["compare", str(old), str(new)]) == 0


def test_no_advice_to_keep_an_install_name_where_layouts_were_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The structure grew, which is why the name was changed: nothing here shows it."""
    paths = []
    for version, members in (("1", "int a;"), ("2", "int a; int b;")):
        source = f"struct s {{ {members} }}; int f(struct s *p) {{ return p->a; }}"
        name = f"@rpath/libcase.{version}.dylib"
        paths.append(str(build_dylib(source, flags=("-O1",), install_name=name)))
    assert run(["compare", *paths]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "as far as that could be checked" in told
    assert "keep the old" not in told
