"""Tests of commands on Mach-O files."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from abistore.cli.main import main
from tests.extract.macho_fixtures import ARM, INTEL, build_dylib, universal

SOURCE = "int f(void) { return 1; }\n#ifdef __x86_64__\nint only_intel(void) { return 2; }\n#endif"


def _universal(folder: Path) -> Path:
    return universal([build_dylib(SOURCE, target=each) for each in (INTEL, ARM)], folder / "libcase.1.dylib")


def test_arch_takes_one_architecture_of_a_universal_file(tmp_path: Path) -> None:
    path = str(_universal(tmp_path))
    done = CliRunner().invoke(main, ["dump", path, "--arch", "arm64"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["target"]["machine"] == "aarch64"
    refused = CliRunner().invoke(main, ["dump", path])
    assert refused.exit_code == 65
    assert "choose one with --target" in refused.stderr


def test_each_architecture_of_a_universal_file_has_a_history(tmp_path: Path) -> None:
    path, database = str(_universal(tmp_path)), str(tmp_path / "abi.db")
    for machine in ("x86_64", "arm64"):
        command = ["ingest", path, "--version", "1", "--arch", machine, "--db", database]
        assert "stored" in CliRunner().invoke(main, command).output
    again = CliRunner().invoke(main, ["ingest", path, "--version", "1", "--arch", "x86_64", "--db", database])
    assert again.exit_code == 0 and "known" in again.output, again.output
    listed = CliRunner().invoke(main, ["list", "libcase", "--db", database]).output
    assert "macho-x86_64-64-little" in listed
    assert "macho-aarch64-64-little" in listed
