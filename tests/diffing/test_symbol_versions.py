"""Symbols with several versions: what programs of the old release get from the new one, run and compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import SELF, Name
from abistore.model.findings import Verdict
from abistore.model.shapes import Library, Symbol
from abistore.model.snapshot import Snapshot
from tests.running import linked, run, versioned

OPTIONS = ExtractOptions()
FIRST = "V1 { global: f; local: *; };"
BOTH = f"{FIRST} V2 {{ global: f; }} V1;"
NAMED = '__asm__(".symver f_1,f@V1"); __asm__(".symver f_2,f@@V2");\n'
OLD = "int f_1(int a) { return a; }\n"
NEW = "int f_2(int a, int b) { return a + b; }\n"
OF_OLD = '#include <stdio.h>\nint f(int);\nint main(void) { printf("%d", f(4)); }\n'
OF_NEW = '#include <stdio.h>\nint f(int, int);\nint main(void) { printf("%d", f(4, 5)); }\n'
ALONE = "int f(int a) { return a; }\n"
ON_BOTH = (NAMED + OLD + NEW, BOTH)


def snapshot(source: str, script: str, *flags: str) -> Snapshot:
    return read_snapshot(versioned(source, script, flags=flags or ("-g", "-O1")), OPTIONS)


def kinds(old: Snapshot, new: Snapshot) -> set[str]:
    return {each.kind for each in compare(old, new).findings}


def verdict(old: Snapshot, new: Snapshot) -> Verdict:
    return compare(old, new).verdict


CHANGED = {
    "the default": (OF_NEW, NAMED + OLD + NEW.replace("int b", "double b")),
    "the default, defined first": (OF_NEW, NAMED + NEW.replace("int b", "double b") + OLD),
    "the former version": (OF_OLD, NAMED + OLD.replace("int a", "double a") + NEW),
    "the former version, defined last": (OF_OLD, NAMED + NEW + OLD.replace("int a", "double a")),
}


@pytest.mark.parametrize("which", CHANGED)
def test_a_changed_declaration_of_any_version_breaks_its_programs(which: str, tmp_path: Path) -> None:
    program, source = CHANGED[which]
    built = linked(program, versioned(ALONE, FIRST) if program is OF_OLD else versioned(*ON_BOTH), tmp_path)
    assert run(built, versioned(*ON_BOTH)) != run(built, versioned(source, BOTH))
    old, new = snapshot(*ON_BOTH), snapshot(source, BOTH)
    assert kinds(old, new) >= {"func_params_changed"}
    assert verdict(old, new) is Verdict.BREAKING


def test_so_does_one_that_an_attribute_names() -> None:
    named = '__attribute__((symver("f@V1"))) ' + OLD + '__attribute__((symver("f@@V2"))) ' + NEW
    old, new = snapshot(named, BOTH), snapshot(named.replace("(int a)", "(int a, int c)"), BOTH)
    assert verdict(old, new) is Verdict.BREAKING


def test_a_structure_that_only_the_former_version_takes_counts() -> None:
    former = "struct point { int x; };\nint f_1(struct point *p) { return p->x; }\n"
    grown = former.replace("int x", "int id, x")
    old, new = snapshot(NAMED + former + NEW, BOTH), snapshot(NAMED + grown + NEW, BOTH)
    assert "type_field_added" in kinds(old, new)
    assert verdict(old, new) is Verdict.BREAKING


def test_a_variable_of_two_versions_counts() -> None:
    named = '__asm__(".symver v_1,f@V1"); __asm__(".symver v_2,f@@V2");\nint v_1 = 1; long v_2 = 2;\n'
    old, new = snapshot(named, BOTH), snapshot(named.replace("int v_1", "unsigned v_1"), BOTH)
    assert [each.part for each in compare(old, new).findings] == ["version V1"]


def test_a_member_function_of_two_versions_counts() -> None:
    script = "V1 { global: _ZN1a1fEi; local: *; }; V2 { global: _ZN1a1fEi; } V1;"
    source = (
        '__asm__(".symver _ZN1a1gEi,_ZN1a1fEi@V1"); __asm__(".symver _ZN1a1hEi,_ZN1a1fEi@@V2");\n'
        "struct a { int g(int); int h(int); };\nint a::g(int n) { return n; }\nint a::h(int n) { return n + 1; }\n"
    )
    old = read_snapshot(versioned(source, script, language="c++"), OPTIONS)
    new = read_snapshot(versioned(source.replace("int g(int)", "long g(int)").replace("int a::g", "long a::g"), script,
                         language="c++"), OPTIONS)  # fmt: skip
    assert [(each.kind, each.part) for each in compare(old, new).findings] == [
        ("func_return_changed", "version V1.result")
    ]


@pytest.mark.parametrize("script", [FIRST, ""])
def test_a_new_default_beside_the_unchanged_old_version_breaks_sources_only(script: str, tmp_path: Path) -> None:
    built = linked(OF_OLD, versioned(ALONE, script), tmp_path)
    new_source = NAMED + OLD + NEW.replace("int b", "double b")
    assert run(built, versioned(new_source, BOTH)) == (0, "4")
    old, new = snapshot(ALONE, script), snapshot(new_source, BOTH)
    assert "symbol_version_alias_changed.redeclared" in kinds(old, new)
    assert verdict(old, new) is Verdict.API_BREAK


def test_so_does_a_structure_that_grows_for_the_new_default_only() -> None:
    before = "struct point { int x; };\nint f(struct point *p) { return p->x; }\n"
    after = (
        "struct former { int x; }; struct point { int x, y; };\n"
        "int f_1(struct former *p) { return p->x; }\nint f_2(struct point *p) { return p->x + p->y; }\n"
    )
    old, new = snapshot(before, FIRST), snapshot(NAMED + after, BOTH)
    assert verdict(old, new) is Verdict.API_BREAK


def test_a_new_default_that_is_declared_alike_is_a_risk() -> None:
    old, new = snapshot(ALONE, FIRST), snapshot(NAMED + OLD + "int f_2(int a) { return a + 1; }\n", BOTH)
    assert "symbol_version_alias_changed" in kinds(old, new)
    assert verdict(old, new) is Verdict.COMPATIBLE_WITH_RISK


def test_an_old_version_that_is_bound_to_the_new_code_breaks(tmp_path: Path) -> None:
    lost = (
        '__asm__(".symver g,f@V1"); __asm__(".symver f_2,f@@V2");\nint f_2(int a, double b) { return a * b + 20; }\n'
        '__typeof__(f_2) g __attribute__((alias("f_2")));\n'
    )
    built = linked(OF_OLD, versioned(ALONE, FIRST), tmp_path)
    assert run(built, versioned(lost, BOTH)) != (0, "4")
    assert verdict(snapshot(ALONE, FIRST), snapshot(lost, BOTH)) is Verdict.BREAKING


def test_an_old_version_without_code_of_its_own_breaks_in_stripped_libraries_too(tmp_path: Path) -> None:
    two = NAMED + OLD + "int f_2(int a) { return 10 * a; }\n"
    one = (
        '__asm__(".symver g,f@V1"); __asm__(".symver f_2,f@@V2");\nint f_2(int a) { return 10 * a; }\n'
        '__typeof__(f_2) g __attribute__((alias("f_2")));\n'
    )
    built = linked(OF_OLD, versioned(ALONE, FIRST), tmp_path)
    assert (run(built, versioned(two, BOTH)), run(built, versioned(one, BOTH))) == ((0, "4"), (0, "40"))
    old, new = snapshot(two, BOTH, "-O1"), snapshot(one, BOTH, "-O1")
    assert kinds(old, new) == {"symbol_version_code_changed"}


def test_versions_that_always_shared_their_code_stay_silent() -> None:
    shared = (
        '__asm__(".symver g,f@V1"); __asm__(".symver f_2,f@@V2");\nint f_2(int a) { return 10 * a; }\n'
        '__typeof__(f_2) g __attribute__((alias("f_2")));\n'
    )
    other = shared.replace("10 * a", "11 * a")
    assert kinds(snapshot(shared, BOTH), snapshot(other, BOTH)) == set()


def test_so_it_does_where_the_headers_no_longer_have_the_structure(tmp_path: Path) -> None:
    header = tmp_path / "case.h"
    header.write_text("int f(int a, int b);\n")
    former = "struct point { int x; };\nint f_1(struct point *p) { return p->x; }\n"
    sources = (NAMED + former + NEW, NAMED + former.replace("int x", "int id, x") + NEW)
    options = ExtractOptions(headers=HeaderOptions((header,)))
    old, new = (read_snapshot(versioned(each, BOTH), options) for each in sources)
    assert verdict(old, new) is Verdict.BREAKING


IMPORTS = '#include <stdio.h>\nint f(int a) { if (a > 100) puts("x"); return a; }\n'


def test_programs_abort_where_no_table_of_versions_is_left(tmp_path: Path) -> None:
    built = linked(OF_OLD, versioned(ALONE, FIRST), tmp_path)
    assert run(built, versioned(ALONE, ""))[0] != 0
    old, new = snapshot(ALONE, FIRST), snapshot(ALONE, "")
    assert kinds(old, new) >= {"version_script_missing.table"}
    assert verdict(old, new) is Verdict.BREAKING


def test_programs_start_where_the_table_of_what_the_library_needs_is_left(tmp_path: Path) -> None:
    built = linked(OF_OLD, versioned(IMPORTS, FIRST), tmp_path)
    assert run(built, versioned(IMPORTS, "")) == (0, "4")
    old, new = snapshot(IMPORTS, FIRST), snapshot(IMPORTS, "")
    assert kinds(old, new) == {"version_script_missing.nodes"}


def test_programs_of_a_version_that_is_lost_with_all_others_get_another_function(tmp_path: Path) -> None:
    built = linked(OF_OLD, versioned(ALONE, FIRST), tmp_path)
    two = NAMED + OLD + "int f_2(int a) { return 10 * a; }\n"
    one = IMPORTS.replace("return a", "return 10 * a")
    assert (run(built, versioned(two, BOTH)), run(built, versioned(one, ""))) == ((0, "4"), (0, "40"))
    assert verdict(snapshot(two, BOTH), snapshot(one, "")) is Verdict.BREAKING


def test_programs_without_versions_need_the_first_or_a_default(tmp_path: Path) -> None:
    hidden = '__asm__(".symver f_2,f@V2");\nint other(void) { return 0; }\nint f_2(int a) { return a; }\n'
    script = "V1 { global: other; local: *; }; V2 { global: f; } V1;"
    plain = ALONE + "int other(void) { return 0; }\n"
    built = linked(OF_OLD, versioned(plain, ""), tmp_path)
    assert run(built, versioned(hidden, script))[0] != 0
    assert verdict(snapshot(plain, ""), snapshot(hidden, script)) is Verdict.BREAKING
    first = hidden.replace("f@V2", "f@V1")
    assert run(built, versioned(first, "V1 { global: f; other; local: *; };")) == (0, "4")


def test_which_version_a_former_snapshot_describes_is_not_guessed() -> None:
    new = snapshot(CHANGED["the former version"][1], BOTH)
    comparison = compare(as_before(snapshot(*ON_BOTH)), new)
    assert comparison.verdict is Verdict.NO_CHANGE
    assert [(each.side, each.reason) for each in comparison.not_checked] == [("old", "version-not-recorded")]
    assert comparison.not_checked[0].names == (Name("function", "f"),)


def as_before(read: Snapshot) -> Snapshot:
    """What was stored of a library when one declaration of a name was kept, and nothing of places."""
    symbols = {
        name: tuple(replace(each, elf=None) if isinstance(each, Symbol) else each for each in shapes)
        if name != SELF
        else tuple(
            replace(each, elf=replace(each.on_elf, first_version="")) for each in shapes if isinstance(each, Library)
        )
        for name, shapes in read.entries["symbol"].items()
    }
    layout = {name: shapes for name, shapes in read.entries["layout"].items() if "@" not in name.spelling}
    return replace(read, entries={**read.entries, "symbol": symbols, "layout": layout})
