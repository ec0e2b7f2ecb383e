"""``va_list`` by four compilers and on several machines: one name and one meaning for each machine."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot
from examples.obtain import require
from tests.build import build_library

pytestmark = pytest.mark.full

SOURCE = """
typedef __builtin_va_list va_list;
#ifdef __cplusplus
extern "C" {
#endif
struct keeper { va_list list; va_list *other; };
int direct(va_list list) { return __builtin_va_arg(list, int); }
int by_pointer(struct keeper *keeper, va_list *list) { return keeper->other != list; }
int through(int (*print)(const char *, va_list), struct keeper kept) { return print("", kept.list); }
#ifdef __cplusplus
}
#endif
"""

MACHINES = {
    "x86_64": ("x86_64-linux-gnu", "__va_list_tag"),
    "aarch64": ("aarch64-linux-gnu", "__va_list"),
    "arm": ("arm-linux-gnueabihf", "__va_list"),
    "s390x": ("s390x-linux-gnu", "__va_list_tag"),
    "i686": ("i686-linux-gnu", ""),
    "ppc64le": ("powerpc64le-linux-gnu", ""),
    "riscv64": ("riscv64-linux-gnu", ""),
}


@cache
def libraries(machine: str) -> dict[str, Path]:
    """The library of ``SOURCE`` by each compiler that there is for the machine, which are two at least."""
    target = MACHINES[machine][0]
    commands = {
        "gcc": f"{target}-gcc",
        "g++": f"{target}-g++",
        "clang": f"clang --target={target} --ld-path={target}-ld",
        "clang++": f"clang++ --target={target} --ld-path={target}-ld",
    }
    require(f"{target}-ld", f"binutils-{target}")
    present = {name: command for name, command in commands.items() if shutil.which(command.split()[0])}
    if len(present) < 2:
        require(next(command for name, command in commands.items() if name not in present).split()[0], "clang")
    return {
        name: build_library(
            SOURCE,
            language="c++" if "++" in name else "c",
            compiler=command,
            flags=("-g", "-O0", "-nostdlib", "-w"),
        )
        for name, command in present.items()
    }


def snapshot(path: Path) -> Snapshot:
    return read_snapshot(path, ExtractOptions(library="libcase"))


@pytest.mark.parametrize("machine", MACHINES)
def test_an_argument_list_has_one_name_whatever_compiled_it(machine: str) -> None:
    snapshots = {name: snapshot(path) for name, path in libraries(machine).items()}
    name = MACHINES[machine][1]
    for found in snapshots.values():
        mentioned = {each.spelling for each in found.entries["layout"] if "va_list" in each.spelling}
        assert mentioned == ({name, "va_list"} if name else {"va_list"})


@pytest.mark.parametrize("machine", MACHINES)
def test_an_argument_list_is_no_difference_between_compilers_and_languages(machine: str) -> None:
    snapshots = [snapshot(path) for path in libraries(machine).values()]
    for old in snapshots:
        for new in snapshots:
            found = [each for each in compare(old, new).findings if each.facet == "layout"]
            assert [each for each in found if each.kind != "evidence_narrowed.options"] == []  # Clang records none
