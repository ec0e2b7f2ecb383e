"""Whatever the command line takes as a library, agents compare, read, gate and store: packages, dumps, DLLs, dylibs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.interface import BaselinePlan, IngestPlan, ingest, open_store, set_baseline
from abistore.mcp.jobs import Jobs
from abistore.mcp.settings import Settings
from benchmarks.dumps import FORMATS, dumped
from tests import packages
from tests.build import build_library
from tests.extract.macho_fixtures import build_with_dsym
from tests.extract.pe_fixtures import msvc
from tests.mcp.conftest import Agent

pytestmark = pytest.mark.full

USE = "struct p {{ int a{more}; }}; {export}int use(struct p *p) {{ return p->a; }}"
C = USE + " {export}int gone(int a) {{ return a; }}"
OLD, SHORT = C.format(more="", export=""), C.format(more=", b", export="").partition(" int gone")[0]
DECLSPEC = "__declspec(dllexport) "
DLL_OLD = C.format(more="", export=DECLSPEC)
DLL_NEW = C.format(more=", b", export=DECLSPEC).partition(f" {DECLSPEC}int gone")[0]
OTHER = "int other(int a) { return a; }"

Pair = tuple[Path, Path]


def elf(source: str, soname: str = "libcase.so.1") -> Path:
    return build_library(source, soname=soname, name="libcase.so")


def _packed(kind: str) -> Callable[[Path], Pair]:
    def pack(place: Path) -> Pair:
        made = []
        for version, source in (("1.0", OLD), ("2.0", SHORT)):
            (place / version).mkdir()
            held: dict[str, Path | bytes | str] = {"usr/lib/libcase.so.1": elf(source)}
            if kind == "folder":
                made.append(packages.folder(place / version / "case", held))
            elif kind == "tar":
                made.append(packages.tar(place / version, held, name=f"case-{version}"))
            else:
                made.append(getattr(packages, kind)(place / version, held, version=version))
        return made[0], made[1]

    return pack


def _foreign(form: str) -> Callable[[Path], Pair]:
    def dump(place: Path) -> Pair:
        if shutil.which(FORMATS[form][0]) is None:
            pytest.skip(f"{FORMATS[form][0]} is not installed")
        old, new = dumped(elf(OLD), form), dumped(elf(SHORT), form)
        return shutil.copy(old, place / f"old{old.suffix}"), shutil.copy(new, place / f"new{new.suffix}")

    return dump


def _dlls(place: Path) -> Pair:
    return msvc(DLL_OLD, language="c"), msvc(DLL_NEW, language="c")


def _dylibs(place: Path) -> Pair:
    return build_with_dsym(OLD, place / "old"), build_with_dsym(SHORT, place / "new")


INPUTS: dict[str, Callable[[Path], Pair]] = {
    **{kind: _packed(kind) for kind in ("deb", "wheel", "conda", "tar", "folder")},
    **{form: _foreign(form) for form in FORMATS},
    "pdb": _dlls,
    "dsym": _dylibs,
}


@pytest.fixture(params=INPUTS)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    """An old and a new operand: the new library lacks a function, and its record has a field more."""
    return INPUTS[request.param](tmp_path)


def test_each_kind_of_operand_is_compared(pair: Pair, modern: Agent) -> None:
    answer = modern("abi_compare", old_input=str(pair[0]), new_input=str(pair[1]))
    assert (answer["verdict"], answer["exit_code"]) == ("BREAKING", 4)
    assert {"func_removed", "type_field_added"} <= {each["kind"] for each in answer["changes"]}
    gate = modern("abi_gate", comparison_id=answer["comparison_id"])
    assert (gate["would_fail"], gate["exit_code"]) == (True, 4)


def test_each_kind_of_operand_is_read(pair: Pair, modern: Agent) -> None:
    summary = modern("abi_dump", library_path=str(pair[0]))["summary"]
    assert (summary["functions"], summary["types"]) == (2, 1)


def test_each_kind_of_operand_is_stored_and_gated(pair: Pair, tmp_path: Path, jobs: Jobs) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        (done,) = ingest(pair[0], IngestPlan(version="1.0"), database=store)
        assert done.release is not None, done.error
        library = done.release.line.library
        set_baseline(f"{library}@1.0", BaselinePlan(reason="the first"), database=store)
    writer = Agent(Settings(database=str(database), allow_write=True, approvals="auto"), jobs, "2026-07-28")
    answer = writer("abi_ingest", library=library, version="2.0", library_path=str(pair[1]), against="baseline")
    assert (answer["state"], answer["verdict"], answer["exit_code"]) == ("refused", "BREAKING", 4)
    assert writer("abi_ingest", library=library, version="2.0", library_path=str(pair[1]))["state"] == "stored"
    gate = writer("abi_gate", library=library, version="2.0")
    assert (gate["would_fail"], gate["verdict"]) == (True, "BREAKING")


def several(place: Path, version: str, *libraries: Path) -> Path:
    held = {f"usr/lib/lib{number}.so.1": library for number, library in enumerate(libraries)}
    return packages.deb(place, held, name="libcases1", version=version)


def test_a_library_that_left_a_package_of_several_is_told(tmp_path: Path, modern: Agent) -> None:
    old = several(tmp_path, "1.0", elf(OLD), elf(OTHER, "libother.so.1"))
    new = several(tmp_path, "2.0", elf(OLD))
    answer = modern("abi_compare", old_input=str(old), new_input=str(new))
    assert (answer["verdict"], [each["kind"] for each in answer["changes"]]) == (
        "BREAKING",
        ["bundle_library_removed"],
    )


def test_a_package_of_several_libraries_says_how_to_pick_one(tmp_path: Path, modern: Agent) -> None:
    package = several(tmp_path, "1.0", elf(OLD), elf(OTHER, "libother.so.1"))
    error = modern.refused("abi_dump", library_path=str(package))
    assert "libcase" in error["error"] + error["hint"] and "libother" in error["error"] + error["hint"]


def test_what_is_said_of_a_package_reaches_agents(tmp_path: Path, modern: Agent) -> None:
    old = packages.tar(tmp_path, {"usr/lib/libcase.so.1": elf(OLD)}, name="case-1.0")
    new = packages.tar(tmp_path, {"usr/lib64/libcase.so.1": elf(OLD)}, name="case-1.1")
    assert "lies elsewhere" in modern.call("abi_compare", old_input=str(old), new_input=str(new)).text
