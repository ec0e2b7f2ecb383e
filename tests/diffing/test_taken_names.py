"""New exports with the names of functions of the C and C++ libraries: whose function a program calls."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.diffing.surface.export_table import is_allocator, is_of_runtime
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.findings import Verdict
from tests.running import linked, run, versioned

OPTIONS = ExtractOptions()
ONE = "int one(int a) { return a; }\n"
WRITE = ONE + "long write(int file, const void *data, unsigned long size) { return -1; }\n"
PROGRAM = '#include <unistd.h>\nint one(int);\nint main(void) { one(1); return write(1, "hello", 5) != 5; }\n'
SCRIPT = "V1 { global: *; };"
TAKEN = {"func_added.runtime_name", "func_added.runtime_name_versioned", "allocator_replacement_added"}


def kinds(old: Path, new: Path) -> set[str]:
    return {each.kind for each in compare(read_snapshot(old, OPTIONS), read_snapshot(new, OPTIONS)).findings} & TAKEN


def test_a_program_calls_the_library_in_place_of_the_c_library(tmp_path: Path) -> None:
    old, new = versioned(ONE, ""), versioned(WRITE, "")
    built = linked(PROGRAM, old, tmp_path)
    assert (run(built, old), run(built, new)) == ((0, "hello"), (1, ""))
    assert kinds(old, new) == {"func_added.runtime_name"}
    assert compare(read_snapshot(old, OPTIONS), read_snapshot(new, OPTIONS)).verdict is Verdict.BREAKING


def test_a_program_reads_the_variable_of_the_library_in_place_of_the_c_librarys(tmp_path: Path) -> None:
    old, new = versioned(ONE, ""), versioned(f"{ONE}char **environ;\n", "")
    program = "extern char **environ;\nint one(int);\nint main(void) { return one(environ == 0); }\n"
    assert [run(linked(program, each, tmp_path), each) for each in (old, new)] == [(0, ""), (1, "")]
    assert kinds(old, new) == {"func_added.runtime_name"}


def test_a_function_in_a_version_node_leaves_built_programs_alone(tmp_path: Path) -> None:
    old, new = versioned(ONE, SCRIPT), versioned(WRITE, SCRIPT)
    built = linked(PROGRAM, old, tmp_path)
    assert run(built, new) == (0, "hello")
    assert run(linked(PROGRAM, new, tmp_path), new) == (1, "")
    assert kinds(old, new) == {"func_added.runtime_name_versioned"}


@pytest.mark.parametrize("name", ["malloc", "free"])
def test_an_allocator_has_a_kind_of_its_own(name: str) -> None:
    old, new = versioned(ONE, ""), versioned(f"{ONE}void *{name}(unsigned long a) {{ return 0; }}\n", "")
    assert kinds(old, new) == {"allocator_replacement_added"}


def test_so_have_the_operators_that_programs_may_replace() -> None:
    operators = "#include <cstddef>\nvoid *operator new(std::size_t) { return nullptr; }\n"
    old = versioned('extern "C" ' + ONE, "", language="c++")
    new = versioned(operators + 'extern "C" ' + ONE, "", language="c++")
    assert kinds(old, new) == {"allocator_replacement_added"}


def test_what_was_exported_before_stays_silent() -> None:
    assert kinds(versioned(WRITE, ""), versioned(WRITE + "int two(void) { return 2; }\n", "")) == set()


def test_where_names_have_two_levels_none_is_taken() -> None:
    old, new = (read_snapshot(versioned(each, ""), OPTIONS) for each in (ONE, WRITE))
    two_level = replace(new.target, format="macho", os_abi="macos")
    found = compare(replace(old, target=two_level), replace(new, target=two_level)).findings
    assert not {each.kind for each in found} & TAKEN


KNOWN = (
    "write",
    "memcpy",
    "printf",
    "sin",
    "pthread_create",
    "y1",
    "_ZdlPvSt11align_val_t",
    "open64",
    "ioctl",
    "index",
)


@pytest.mark.parametrize("name", KNOWN)
def test_functions_of_the_runtime_are_known(name: str) -> None:
    assert is_of_runtime(name)


@pytest.mark.parametrize("name", ["write_all", "_ZnwmPv", "_Z5writePKc", "# ", "glibc"])
def test_other_functions_are_not(name: str) -> None:
    assert not is_of_runtime(name)
    assert not is_allocator(name)
