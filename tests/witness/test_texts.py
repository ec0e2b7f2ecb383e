"""The texts of witnesses: declarations of a snapshot, and the code that uses them."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Name
from abistore.model.shapes import Alias, AnyShape, Field, Foreign, Function, Named, Record
from abistore.model.snapshot import Snapshot
from abistore.witness.declarations import SnapshotText, Unspellable
from abistore.witness.programs import layout_program, lines_with, using_program
from abistore.witness.uses import call, facts
from tests.diffing.model import CHAR, INT, alias, function, record, snapshot, struct, to

pytestmark = pytest.mark.fast

LEAF, NODE, HANDLE = record("leaf"), record("node"), alias("handle_t")
TREE: dict[Name, AnyShape] = {
    LEAF: struct(INT, CHAR),
    NODE: Record("struct", 24, (Field("leaf", Named(LEAF), 0), Field("next", to(NODE), 64))),
    HANDLE: Alias(to(NODE)),
    function("walk"): Function("walk", INT, (Named(HANDLE), to(LEAF))),
}


def known(held: Snapshot, name: Name) -> AnyShape:
    return held.described(name)[0]


def test_a_type_is_declared_behind_those_that_it_holds() -> None:
    assert SnapshotText(snapshot(TREE), c=True).of([NODE]) == (
        "struct leaf {\n    int a;\n    char b;\n};\nstruct node {\n    struct leaf leaf;\n    struct node* next;\n};\n"
    )


def test_a_function_needs_no_more_than_names_behind_pointers() -> None:
    assert SnapshotText(snapshot(TREE), c=False).of([function("walk")]) == (
        'struct node;\ntypedef node* handle_t;\nstruct leaf;\nextern "C" int walk(handle_t, leaf*);\n'
    )


@pytest.mark.parametrize(
    ("leaf", "why"),
    [({}, "nothing describes leaf"), ({LEAF: Foreign("struct", 8, 4)}, "only the size of leaf is known")],
)
def test_a_type_that_is_not_described_is_not_spelled(leaf: dict[Name, AnyShape], why: str) -> None:
    with pytest.raises(Unspellable, match=why):
        SnapshotText(snapshot(leaf), c=True).of([LEAF])


def test_a_program_prints_what_it_was_compiled_with() -> None:
    held = snapshot(TREE)
    text = SnapshotText(held, c=True)
    found = list(facts(LEAF, known(held, LEAF), lambda name: known(held, name), text.type, c=True))
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
    text = SnapshotText(snapshot(TREE), c=True)
    walk = TREE[function("walk")]
    assert isinstance(walk, Function)
    code = call(walk, text.type, c=True)
    assert code == "int use(handle_t a1, struct leaf* a2) { return walk(a1, a2); }"
    assert using_program(["tree.h"], code, c=True).splitlines() == [
        '#include "tree.h"',
        "",
        code,
        "",
        "int main(void) { return 0; }",
    ]
