"""What a finding is called: by what changed, and by nothing that another build of the same sources has otherwise."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import Comparison, Finding, Impact, identified, identity, place
from tests.build import build_library

STRUCT = "struct point {{ int x; {} }};\nint norm(struct point *p) {{ return p->x; }}\n"
OLD = """
struct point { int x; union { int a; float b; }; unsigned long flags; void (*hook)(const char *); };
enum mode { OFF, ON };
struct inner { char text[8]; };
struct outer { struct inner first; int last; };
int norm(struct point *p, enum mode m) { return p->x + (int) m; }
int gone(struct outer *o) { return o->last; }
unsigned long kept(struct outer *o) { return (unsigned long) o->last; }
int limit = 3;
"""
NEW = """
struct point { int x; union { int a; double b; }; unsigned int flags; void (*hook)(char *); };
enum mode { ON, OFF, AUTO };
struct inner { char text[16]; };
struct outer { struct inner first; int last; int more[3]; };
int norm(struct point *p, enum mode m) { return p->x + (int) m; }
long kept(struct outer *o, int depth) { return o->last + depth; }
long limit = 3;
"""
HERE = ("gcc", "-O1", "", "src")


def built(source: str, how: tuple[str, str, str, str], folder: Path) -> Path:
    """``source`` built by a compiler, at an optimization, after some lines, in a folder of its own."""
    compiler, optimization, before, place = how
    work = folder / place
    work.mkdir(parents=True)
    (work / "lib.c").write_text(before + source)
    command = [compiler, "-shared", "-fPIC", "-g", optimization, str(work / "lib.c"), "-o", str(work / "lib.so")]
    subprocess.run([*command, "-Wl,-soname,lib.so.1"], check=True, capture_output=True, text=True)
    return work / "lib.so"


def compared(how: tuple[str, str, str, str], folder: Path) -> Comparison:
    options = ExtractOptions(library="lib")
    return compare(
        *(read_snapshot(built(text, how, folder / side), options) for side, text in (("1", OLD), ("2", NEW)))
    )


def called(findings: tuple[Finding, ...]) -> set[tuple[str, str]]:
    """The kinds and identities of findings about declarations, consequences too."""
    own = {(one.kind, name) for name, one in identified(findings) if one.name.kind != "library"}
    return own.union(*(called(one.consequences) for one in findings))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    return called(compared(HERE, tmp_path_factory.mktemp("here")).findings)


@pytest.mark.parametrize(
    "how",
    [
        ("gcc", "-O0", "", "src"),
        ("gcc", "-O2", "\n" * 40, "src"),
        ("gcc", "-O1", "/* a licence */\n", "another/and longer/folder"),
        ("clang", "-O1", "", "src"),
        ("clang", "-O2", "\n\n\n", "elsewhere"),
    ],
    ids=str,
)
def test_the_same_sources_built_otherwise_give_the_same_identities(
    how: tuple[str, str, str, str], here: set[tuple[str, str]], tmp_path: Path
) -> None:
    found = called(compared(how, tmp_path).findings)
    assert len(found) > 10
    assert found == here


def test_other_fields_at_one_place_are_other_findings() -> None:
    options = ExtractOptions(library="libcase")
    old, one, many = (
        read_snapshot(build_library(STRUCT.format(text)), options) for text in ("", "int y;", "int y[100];")
    )
    added = [next(finding for finding in compare(old, new).findings if finding.part == "y") for new in (one, many)]
    assert place(added[0]) == place(added[1])
    assert identity(added[0]) != identity(added[1])
    assert all(identity(finding).startswith(place(finding)) for finding in added)


def test_an_identity_is_of_the_facts_alone() -> None:
    first = Finding("var_type_changed", Name("variable", "x"), "", "a", Impact.BREAKING, "layout", "int", "long")
    again = Finding(
        "var_type_changed", Name("variable", "x"), "", "b", Impact.RISK, "layout", " int\n", "long", reason="ours"
    )
    assert identity(first) == identity(again)
    assert identity(first) != identity(Finding(*("var_type_changed", first.name, "", "a", Impact.RISK, "layout")))


def test_findings_are_numbered_only_where_their_values_are_equal_too() -> None:
    name = Name("function", "f")
    found = [
        Finding("func_removed", name, "", f"{number}", Impact.BREAKING, "symbol", value)
        for number, value in enumerate(("f(int)", "f(long)", "f(int)"))
    ]
    names = [called for called, _ in identified(found)]
    assert ["-" in each for each in names] == [False, False, True]
    assert names[2] == f"{names[0]}-2"
