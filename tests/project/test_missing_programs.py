"""A test that needs a program which is not installed is skipped, and says which; where all must run, it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from examples.obtain import Missing, require
from tests.build import build_library
from tests.conftest import missing_program

ROOT = Path(__file__).parents[2]
NEEDING = (
    "tests/cli/test_show.py",
    "tests/diffing/test_placement.py",
    "tests/extract/test_argument_lists.py",
    "tests/extract/test_line_tables.py",
    "tests/fuzz",
    "tests/mcp/conformance",
    "tests/model/test_layout.py",
    "tests/test_rules.py::test_a_sample_is_compiled_and_read_as_it_was_kept[abi]",
)
"""Tests that start compilers themselves, in fixtures, and in processes of their own."""


def outcomes(folder: Path, *modules: str, **environment: str) -> str:
    """What pytest prints where there is no program at all, and nothing that was built before."""
    (folder / "bin").mkdir()
    told = {"PATH": str(folder / "bin"), "ABISTORE_TEST_CACHE": str(folder / "cache")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ABISTORE_TEST", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-rsfE", "--tb=no", "-p", "no:cacheprovider", *modules]
    done = subprocess.run(command, cwd=ROOT, env=kept | told | environment, capture_output=True, text=True, timeout=600)
    return done.stdout + done.stderr


def test_a_test_without_its_compiler_is_skipped_and_says_which(tmp_path: Path) -> None:
    told = outcomes(tmp_path, *NEEDING)
    assert re.search(r"^(\d+ passed, )?\d+ skipped in", told, re.MULTILINE), told
    reasons = set(re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", told, re.MULTILINE))
    assert reasons >= {"gcc is not installed", "g++ is not installed"}
    assert all(re.fullmatch(r"[\w+.-]+ is not installed", reason) for reason in reasons), reasons
    for module in NEEDING:
        assert f" {module.partition('::')[0]}" in told, module


@pytest.fixture(scope="module")
def where_all_must_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    return outcomes(tmp_path_factory.mktemp("all"), "tests/cli/test_show.py", ABISTORE_TEST_ALL="1")


def test_a_test_without_its_compiler_fails_where_all_must_run(where_all_must_run: str) -> None:
    assert re.search(r"skipped, where no test may be: [\w+-]+ is not installed$", where_all_must_run, re.MULTILINE)
    assert " skipped in" not in where_all_must_run


def test_a_failure_is_named_when_it_happens(where_all_must_run: str) -> None:
    progress, _, _ = where_all_must_run.partition("= short test summary info =")
    assert re.search(r"^FAILED tests/cli/test_show.py::\S+: skipped, where", progress, re.MULTILINE), progress


def raised(act: Callable[[], object]) -> BaseException:
    try:
        act()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def wrapped() -> None:
    try:
        require("no-such-program", "nothing")
    except Missing as error:
        raise RuntimeError("the build failed") from error


def disagreeing() -> None:
    raise Missing("libpoint 1.0 and 1.1: stored and fresh comparisons differ")


@pytest.mark.parametrize(
    ("act", "program"),
    [
        (lambda: subprocess.run(["no-such-program"]), "no-such-program"),
        (lambda: require("no-such-program", "nothing"), "no-such-program"),
        (wrapped, "no-such-program"),
        (lambda: Path("no-such-file").read_text(), None),
        (lambda: subprocess.run([sys.executable], cwd="/no-such-folder"), None),
        (disagreeing, None),
    ],
    ids=["started", "required", "required by a build", "a file", "a folder", "another failure"],
)
def test_only_a_program_that_was_not_found_is_a_reason_to_skip(act: Callable[[], object], program: str | None) -> None:
    assert missing_program(raised(act)) == program


@pytest.mark.parametrize(
    ("said", "program"),
    [
        ("gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory", "cc1plus"),
        ("clang: error: invalid linker name in argument '-fuse-ld=lld'", "lld"),
        ("case.c:1:1: error: unknown type name 'executes'", None),
    ],
)
def test_what_a_compiler_does_not_find_is_a_reason_to_skip(said: str, program: str | None, tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] || {{ echo "{said}" >&2; exit 1; }}\n')
    compiler.chmod(0o755)
    assert missing_program(raised(lambda: build_library("int f;", compiler=str(compiler)))) == program
