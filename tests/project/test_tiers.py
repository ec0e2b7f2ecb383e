"""Each tier of ``tests/run`` asks what it says, and a tier leaves only repetitions to the next."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import FAST, LONGEST, is_fast
from tests.project.test_packages import PROGRAMS, packages
from tests.tiers import ON_A_SERVER, OTHER_PROGRAMS

TESTS = Path(__file__).parents[1]
MODULES = sorted(TESTS.rglob("test_*.py"))
PACKAGES = {path.parent.name for path in (TESTS.parent / "abistore").glob("*/__init__.py")}
CHOSEN = re.compile(r"^pytestmark = pytest.mark.fast$", re.MULTILINE)
TIER = re.compile(r"pytest\.mark\.(full|nightly)\b")
FIRST = "first"
CROSS_COMPILER = re.compile(r"(-linux-gnu\w*|mingw32)-(gcc|g\+\+)$")
BUILDING_FOR_OTHERS = {"tests.extract.macho_fixtures", "tests.extract.pe_fixtures"}
NAMED_ONLY = {
    "examples/test_accuracy.py::test_precision_and_recall_count_alarms_and_misses",
    "extract/test_header_toolchain.py::test_a_clang_of_libclangs_own_version_wins_over_any_other",
}
"""What names a program of the other tiers and starts none."""


@cache
def tiers(path: Path) -> dict[str, str]:
    """The tier of each test function of a module; single parameters of it may be of a later one."""
    body = ast.parse(path.read_text()).body
    marks = [node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "pytestmark"]
    whole = _tier(marks) or FIRST
    return {
        node.name: _tier(each for each in node.decorator_list if not isinstance(each, ast.Call)) or whole
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def _tier(marks: Iterator[ast.expr] | list[ast.expr]) -> str:
    found = [name for mark in marks for name in TIER.findall(ast.unparse(mark))]
    return "nightly" if "nightly" in found else "full" if found else ""


@pytest.mark.parametrize("folder", sorted({*FAST, *PACKAGES, "laws"}))
def test_the_first_tier_and_its_fast_part_ask_every_package(folder: str) -> None:
    modules = [path for path in MODULES if path.parent == TESTS / folder and FIRST in tiers(path).values()]
    assert modules
    assert [path for path in modules if is_fast(path) or CHOSEN.search(path.read_text())]


@pytest.mark.parametrize(
    "module", ["cli/test_processes.py", "mcp/test_stdio.py", "mcp/test_http.py", "test_rules.py", *ON_A_SERVER]
)
def test_the_first_tier_asks_every_verb_both_databases_and_both_transports(module: str) -> None:
    assert FIRST in tiers(TESTS / module).values()


def test_what_is_repeated_nightly_is_sampled_before() -> None:
    assert [path for path in MODULES if set(tiers(path).values()) == {"nightly"}] == []


def test_the_first_tier_names_no_program_of_the_others() -> None:
    named = {program for program, package in PROGRAMS.items() if package in packages("others")}
    assert [program for program in sorted(named) if not OTHER_PROGRAMS.search(program)] == []
    assert {test for path in MODULES for test in _naming(path, named)} == NAMED_ONLY


def _naming(path: Path, programs: set[str]) -> Iterator[str]:
    """The tests of the first tier whose own code names such a program; parameters are looked at one by one."""
    body = ast.parse(path.read_text()).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom) and node.module in BUILDING_FOR_OTHERS]
    builders = {each.asname or each.name for node in imports for each in node.names}
    for node in body:
        if isinstance(node, ast.FunctionDef) and tiers(path).get(node.name) == FIRST:
            parts = [each for line in node.body for each in ast.walk(line)]
            texts = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            words = {word for text in texts for word in text.split()[:1]}
            used = {each.id for each in parts if isinstance(each, ast.Name)}
            if words & programs or used & builders or any(CROSS_COMPILER.search(word) for word in words):
                yield f"{path.relative_to(TESTS)}::{node.name}"


def test_what_starts_a_process_or_a_server_is_not_fast() -> None:
    chosen = [path for path in MODULES if CHOSEN.search(path.read_text())]
    assert len(chosen) > 10
    for path in chosen:
        assert not re.search(r"address: str|process: Call|Popen|postgres", path.read_text()), path


@pytest.mark.parametrize("name", LONGEST)
def test_what_takes_longest_is_there(name: str) -> None:
    assert (TESTS / name).is_file()
