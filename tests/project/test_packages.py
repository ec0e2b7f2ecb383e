"""``tests/run`` installs every program that tests use."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from abistore.cli.main import cli
from abistore.diffing.rules import CASES

TESTS = Path(__file__).parents[1]
SOURCES = [path for folder in (TESTS, TESTS.parent / "examples") for path in folder.rglob("*.py")]
CROSS = re.compile(r"\b([a-z0-9_]+-linux-gnu[a-z0-9]*)-(gcc|g\+\+)")

PROGRAMS = {
    "abidiff": "abigail-tools",
    "abidw": "abigail-tools",
    "ar": "binutils",
    "autoreconf": "autoconf",
    "clang": "clang",
    "clang++": "clang",
    "cc": "gcc",
    "cmake": "cmake",
    "ctest": "cmake",
    "chromium": "chromium",
    "dsymutil": "llvm",
    "debuginfod": "debuginfod",
    "dwp": "binutils",
    "dwz": "dwz",
    "eu-strip": "elfutils",
    "g++": "g++",
    "gcc": "gcc",
    "git": "git",
    "groff": "groff-base",
    "initdb": "postgresql",
    "ld.lld": "lld",
    "llvm-cxxfilt": "llvm",
    "lintian": "lintian",
    "lld-link": "lld",
    "llvm-ar": "llvm",
    "llvm-dwp": "llvm",
    "llvm-objdump": "llvm",
    "llvm-pdbutil": "llvm",
    "llvm-strip": "llvm",
    "llvm-undname": "llvm",
    "meson": "meson",
    "mount": "mount",
    "nm": "binutils",
    "objcopy": "binutils",
    "openssl": "openssl",
    "pahole": "dwarves",
    "readelf": "binutils",
    "rustc": "rustc",
    "ssh-add": "openssh-client",
    "ssh-keygen": "openssh-client",
    "strip": "binutils",
}


def packages(*lists: str) -> set[str]:
    """The Debian packages that ``tests/run`` installs where they are missing, for the first tier or the others."""
    script = (TESTS / "run").read_text()
    listed = [re.search(rf"^{name}=\(\n(.*?)^\)$", script, re.MULTILINE | re.DOTALL) for name in lists]
    lines = [line for found in listed if found for line in found[1].splitlines()]
    return {word for line in lines for word in line.partition("#")[0].split()}


def test_every_cross_compiler_of_a_test_is_installed() -> None:
    texts = [path.read_text() for path in (*SOURCES, *CASES.glob("*.md"))]
    used = {f"{compiler}-{target}" for text in texts for target, compiler in CROSS.findall(text)}
    assert len(used) > 6
    assert used <= packages("first", "others")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_a_test_is_installed(program: str) -> None:
    assert PROGRAMS[program] in packages("first", "others")


def test_what_tests_run_by_name_is_known() -> None:
    """Only what is given as a literal; abistore's own verbs and what each Debian has are no programs to install."""
    called = re.compile(r"(?:subprocess\.run\(|\brun\(|which\()\s*\[?\"([a-z][a-z0-9+.-]+)\"")
    own = {
        "abistore",
        *cli.list_commands(click.Context(cli)),
        "baseline",
        "bash",
        "c++filt",
        "cp",
        "pg_ctl",
        "sh",
        "sha256sum",
        "unshare",
    }
    own |= {"chromium-browser", "google-chrome", "no-such-program", "node", "npm"}
    found = {name for path in SOURCES for name in called.findall(path.read_text())}
    assert len(found) > 8
    assert found <= PROGRAMS.keys() | own
