"""What a library imports, and where its dependencies are looked for: nobody who uses its API sees these."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import SELF, Name
from abistore.model.findings import Impact, Verdict
from abistore.model.shapes import Import, Library
from abistore.model.snapshot import Evidence, Snapshot, Target
from tests.diffing.model import CODE, function

pytestmark = pytest.mark.fast

LINUX, WINDOWS = Target("elf", "x86_64", 64, "little"), Target("pe", "x86_64", 64, "little")


def library(target: Target, imported: str, needed: tuple[str, ...], paths: tuple[str, ...] = ()) -> Snapshot:
    entries = {
        SELF: (Library("shared", "libcase", needed=needed, search_paths=paths),),
        function("keep"): (CODE,),
        Name("import", imported): (Import(),),
    }
    return Snapshot("libcase", None, target, {"symbol": entries}, (Evidence("symbol", "full"),))


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        (
            library(LINUX, "malloc", ("libc.so.6",), ("/opt/a",)),
            library(LINUX, "calloc", ("libc.so.6", "libm.so.6"), ("/opt/b",)),
            {"imported_symbol_added", "imported_symbol_removed", "needed_added", "runpath_changed"},
        ),
        (
            library(WINDOWS, "malloc", ("msvcrt.dll",)),
            library(WINDOWS, "calloc", ("api-ms-win-crt-heap-l1-1-0.dll",)),
            {"imported_symbol_added", "imported_symbol_removed", "needed_added", "needed_removed"},
        ),
    ],
)
def test_what_a_library_needs_of_its_system_is_a_notice(old: Snapshot, new: Snapshot, kinds: set[str]) -> None:
    found = compare(old, new)
    assert {each.kind for each in found.findings} == kinds
    assert {each.impact for each in found.findings} == {Impact.NOTICE}
    assert found.verdict is Verdict.NO_CHANGE
