"""How much debug information was asked for, and in which form: less shows as less evidence, never as a change."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Impact
from abistore.model.shapes import Function
from abistore.model.snapshot import Snapshot
from tests.build import build_library
from tests.diffing.test_toolchains import CXX, C

LEAST = [("gcc", "-g1"), ("g++", "-g1"), ("gcc", "-ggdb1")] + [
    (compiler, flag) for compiler in ("clang", "clang++") for flag in ("-g1", "-gline-tables-only", "-gmlt")
]

FORMS = {
    "gcc": ["-gdwarf-2", "-gdwarf-3", "-gdwarf-3 -gstrict-dwarf", "-gdwarf-5 -gstrict-dwarf", "-g3", "-g -gdwarf64"],
    "g++": [
        "-gdwarf-2",
        "-gdwarf-3",
        "-gdwarf-4 -gstrict-dwarf",
        "-g -fdebug-types-section",
        "-gdwarf-4 -fdebug-types-section",
        "-g -gsplit-dwarf -fdebug-types-section",
        "-g -femit-class-debug-always",
        "-g -fno-eliminate-unused-debug-types",
    ],
    "clang": ["-gdwarf-2", "-g -fdebug-macro", "-g -gembed-source", "-g -flto -fuse-ld=lld"],
    "clang++": [
        "-gdwarf-4",
        "-g -fstandalone-debug",
        "-g -gsimple-template-names",
        "-g -mllvm -minimize-addr-in-v5=Expressions",
        "-g -mllvm -minimize-addr-in-v5=Form",
        "-g -mllvm -generate-type-units",
    ],
}


@cache
def snapshot(compiler: str, flags: str) -> Snapshot:
    language = "c++" if "++" in compiler else "c"
    standard = "-std=c++17" if language == "c++" else "-std=gnu17"
    source = CXX if language == "c++" else C
    path = build_library(source, language=language, compiler=compiler, flags=("-O1", standard, *flags.split()))
    return read_snapshot(path, ExtractOptions(library="libcase"))


@pytest.mark.parametrize(("compiler", "flag"), LEAST)
def test_units_without_types_are_no_evidence_of_types(compiler: str, flag: str) -> None:
    whole, least = snapshot(compiler, "-g"), snapshot(compiler, flag)
    evidence = least.evidence_of("layout")
    assert (evidence.state, evidence.reason, evidence.described) == ("missing", "types-not-recorded", 0)
    assert "-g1" in evidence.hint
    for old, new in ((whole, least), (least, whole)):
        assert [each for each in compare(old, new).findings if each.impact > Impact.NOTICE] == []


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_one_unit_without_types_is_told_beside_others(compiler: str) -> None:
    command = [compiler, "-g1", "-O1", "-fPIC", f"-ffile-prefix-map={Path.cwd()}=.", "-S", "-o-", "-xc", "-"]
    source = "int more(long count) { return count; }"
    assembly = subprocess.run(command, input=source, capture_output=True, check=True, text=True).stdout
    mixed = build_library(
        "struct s { int a; }; int full(struct s *p) { return p->a; }",
        compiler=compiler,
        flags=("-g", "more.s"),
        files={"more.s": assembly},
    )
    found = read_snapshot(mixed, ExtractOptions())
    evidence = found.evidence_of("layout")
    assert (evidence.state, evidence.reason) == ("partial", "types-not-recorded")
    assert (evidence.described, evidence.expected) == (1, 2)
    assert Name("function", "more") not in found.entries["layout"]


@pytest.mark.parametrize(("compiler", "flags"), [(name, each) for name, forms in FORMS.items() for each in forms])
def test_another_form_of_debug_information_is_no_difference(compiler: str, flags: str) -> None:
    usual, other = snapshot(compiler, "-g"), snapshot(compiler, flags)
    assert other.evidence_of("layout").state == "full"
    for old, new in ((usual, other), (other, usual)):
        worse = [each for each in compare(old, new).findings if each.impact > Impact.COMPATIBLE]
        assert [each.kind for each in worse if each.facet == "layout"] == []


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("rustc"), reason="rustc is not installed")
@pytest.mark.parametrize(("level", "state"), [("1", "missing"), ("2", "full")])
def test_rust_is_read_as_far_as_it_tells_types(level: str, state: str, tmp_path: Path) -> None:
    source = """
    #[repr(C)] pub struct Pair { a: i32, b: i64 }
    #[no_mangle] pub extern "C" fn add(pair: &Pair, more: u32) -> i64 { pair.b + pair.a as i64 + more as i64 }
    """
    (tmp_path / "case.rs").write_text(source)
    command = ["rustc", "--crate-type", "cdylib", "-C", f"debuginfo={level}", "case.rs", "-o", "libcase.so"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = read_snapshot(tmp_path / "libcase.so", ExtractOptions())
    assert found.evidence_of("layout").state == state
    assert compare(found, found).findings == ()
    if state == "full":
        (function,) = found.variants("layout", Name("function", "add"))
        assert isinstance(function, Function)
        assert len(function.parameters) == 2
