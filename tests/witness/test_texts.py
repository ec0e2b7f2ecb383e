"""The texts of witnesses: declarations of a snapshot, and the code that uses them."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Name
from abistore.model.shapes import Alias, AnyShape, Field, Foreign, Function, Named, Record, Symbol
from abistore.model.snapshot import Snapshot
from abistore.witness.compilers import faults
from abistore.witness.declarations import SnapshotText, Unspellable
from abistore.witness.facts import Idiom, facts
from abistore.witness.programs import all_uses, instructions, layout_program, lines_with, stub_library, using_program
from abistore.witness.uses import call
from tests.diffing.model import INT, alias, function, record, snapshot, struct, to

pytestmark = pytest.mark.fast

LEAF, NODE, HANDLE = record("leaf"), record("node"), alias("handle_t")
TREE: dict[Name, AnyShape] = {
    LEAF: struct(INT, INT),
    NODE: Record("struct", 24, (Field("leaf", Named(LEAF), 0), Field("next", to(NODE), 64))),
    HANDLE: Alias(to(NODE)),
    function("walk"): Function("walk", INT, (Named(HANDLE), to(LEAF))),
}


def idiom(held: Snapshot) -> Idiom:
    """How programs in C name what a snapshot has."""
    return Idiom(lambda name: held.described(name)[0], lambda name: None, SnapshotText(held, c=True).type, c=True)


def test_a_type_is_declared_behind_those_that_it_holds() -> None:
    assert SnapshotText(snapshot(TREE), c=True).of([NODE]) == (
        "struct leaf {\n    int a;\n    int b;\n};\nstruct node {\n    struct leaf leaf;\n    struct node* next;\n};\n"
    )


def test_a_function_needs_no_more_than_names_behind_pointers() -> None:
    assert SnapshotText(snapshot(TREE), c=False).of([function("walk")]) == (
        'struct node;\ntypedef node* handle_t;\nstruct leaf;\nextern "C" int walk(handle_t, leaf*);\n'
    )


def test_a_type_that_nothing_describes_is_not_spelled() -> None:
    with pytest.raises(Unspellable, match="nothing describes leaf"):
        SnapshotText(snapshot({}), c=True).of([LEAF])


def test_a_type_of_the_standard_library_has_its_header_or_storage_of_its_size() -> None:
    text, box = record("std::vector<leaf>"), record("std::__detail::box<int>")
    held: dict[Name, AnyShape] = {**TREE, text: Foreign("class", 24, 8, (Named(LEAF),)), box: Foreign("struct", 8, 4)}
    held[NODE] = Record("struct", 32, (Field("all", Named(text), 0), Field("box", Named(box), 192)))
    assert SnapshotText(snapshot(held), c=False).of([NODE]) == (
        "#include <vector>\nstruct leaf;\n"
        "struct std___detail_box_int { __attribute__((aligned(4))) char storage[8]; };\n"
        "struct node {\n    std::vector<leaf> all;\n    std___detail_box_int box;\n};\n"
    )


def test_a_program_prints_what_it_was_compiled_with() -> None:
    found = list(facts(LEAF, "", TREE[LEAF], idiom(snapshot(TREE))))
    assert [each.label for each in found[:3]] == [
        "sizeof(struct leaf)",
        "_Alignof(struct leaf)",
        "offsetof(struct leaf, a)",
    ]
    program = layout_program(["tree.h"], found[:1], c=True)
    assert '#include "tree.h"' in program
    assert 'printf("sizeof(struct leaf) = %lld\\n", facts[0]);' in program
    assert lines_with(program, ["sizeof(struct leaf),"]) == (7,)


def test_a_call_passes_on_what_it_was_given() -> None:
    walk = TREE[function("walk")]
    assert isinstance(walk, Function)
    code = call(walk, idiom(snapshot(TREE)))
    assert code == "int old_user(handle_t a1, struct leaf* a2) { return walk(a1, a2); }"
    assert using_program(["tree.h"], code, c=True).splitlines() == [
        '#include "tree.h"',
        "",
        code,
        "",
        "int main(void) { return 0; }",
    ]


def test_several_codes_are_one_source_and_have_instructions_of_their_own() -> None:
    source, places = all_uses(["tree.h"], ["int old_user(int a1) {\n    return walk(a1);\n}", "void old_user(void) {}"])
    lines = source.splitlines()
    assert [lines[place[0] - 1] for place in places] == [
        "int old_user0_(int a1) {",
        "void old_user1_(void) {}",
    ]
    assembly = "_Z9old_user0_i:\n.LFB0:\n\t.cfi_startproc\n\tcall\twalk\n\tjne\t.L3\n\tret\nold_user1_:\n\tret\n"
    assert instructions(assembly) == {0: ["call walk", "jne .L", "ret"], 1: ["ret"]}


def test_an_error_in_a_header_counts_for_the_line_that_led_there() -> None:
    said = """\
w1.cpp: In instantiation of 'struct box<int>':
w1.cpp:4:12:   required from here
case.h:2:30: error: no type named 'x'
w1.cpp:7:3: error: 'gone' was not declared
case.h:9:17: error: 'UINT32_C' was not declared
w1.cpp:8:5: note: in expansion of macro 'LIMIT'
"""
    assert faults(said, "w1.cpp") == {
        4: "error: no type named 'x'",
        7: "error: 'gone' was not declared",
        8: "error: 'UINT32_C' was not declared",
    }
    assert faults("case.h:1:1: error: #error no\n", "w1.cpp") == {0: "error: #error no"}


def test_a_library_of_the_recorded_exports_has_their_versions_and_sizes() -> None:
    exports = {
        function("walk"): Symbol("function"),
        Name("variable", "limit"): Symbol("data", size=8),
        function('hostile"\n.include "secret'): Symbol("function"),
    }
    assembly, script = stub_library(snapshot({}, symbols=exports))
    assert script == '{ global: "walk"; "limit"; local: *; };\n'
    assert '.set "limit", stub1' in assembly
    assert ".size stub1, 8" in assembly
    assert "secret" not in assembly
    versioned = {function("walk"): Symbol("function", version="TREE_1", default=False)}
    assembly, script = stub_library(snapshot({}, symbols=versioned))
    assert script == "TREE_1 { };\n"
    assert ".symver stub0, walk@TREE_1" in assembly
