"""A symbol that stays spells the same types: where debug information says otherwise, it describes them otherwise."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.shapes import Primitive, Record, TypeRef
from abistore.model.snapshot import Snapshot
from tests.diffing.model import INT, function, record, snapshot, to, uses

TOLD = "Box<make()::{lambda(int)#1}>"
UNTOLD = "Box<{lambda}>"
SIZES = {TOLD: 8, "Bag": 24}
PARAMETER = "_Z3putRK3BoxIZ4makevEUliE_E"
RESULT = "_Z3getIiEP3BagT_"
MEMBER = "_ZN3BoxIZ4makevEUliE_E4selfEv"
C_NAME = "put"


def release(symbol: str, type: TypeRef, *, result: bool = False) -> Snapshot:
    shape = uses(result=type) if result else uses(type)
    types = (
        {} if isinstance(type, Primitive) else {record(each): Record("struct", size) for each, size in SIZES.items()}
    )
    return snapshot({function(symbol): shape, **types})


def breaking(old: Snapshot, new: Snapshot) -> set[str]:
    return {finding.kind for finding in compare(old, new).findings if finding.impact.name == "BREAKING"}


@pytest.mark.parametrize(
    ("symbol", "result", "expected"),
    [
        (PARAMETER, False, set()),
        (C_NAME, False, {"func_params_changed"}),
        (RESULT, True, set()),
        (C_NAME, True, {"func_return_changed"}),
        (MEMBER, True, {"func_return_changed"}),  # which its symbol does not spell
    ],
)
def test_another_class_is_no_change_where_the_symbol_spells_it(symbol: str, result: bool, expected: set[str]) -> None:
    old, new = (release(symbol, to(record(each)), result=result) for each in (TOLD, "Bag"))
    assert breaking(old, new) == expected == breaking(new, old)


@pytest.mark.parametrize("symbol", ["_Z3putw", C_NAME])
def test_how_wide_a_built_in_type_is_no_symbol_says(symbol: str) -> None:
    old, new = (release(symbol, Primitive("wchar_t", size)) for size in (4, 2))
    assert breaking(old, new) == {"func_params_changed"}


def test_a_parameter_more_is_told_whatever_the_symbol_says() -> None:
    old, new = (snapshot({function("_Z3puti"): uses(*types)}) for types in ((INT,), (INT, INT)))
    assert breaking(old, new) == {"func_params_changed"}


@pytest.mark.parametrize("symbol", [MEMBER, C_NAME])
@pytest.mark.parametrize("result", [True, False])
def test_a_closure_of_which_one_compiler_tells_nothing_is_no_other_closure(symbol: str, result: bool) -> None:
    old, new = (release(symbol, to(record(each)), result=result) for each in (TOLD, UNTOLD))
    assert breaking(old, new) == set() == breaking(new, old)
    other = release(symbol, to(record("Box<make()::{lambda(int)#2}>")), result=result)
    kind = "template_return_type_changed" if result else "template_param_type_changed"
    assert breaking(old, other) == ({kind} if result or symbol == C_NAME else set())


def test_a_class_that_keeps_its_name_and_changes_is_told() -> None:
    old, new = (
        snapshot({function(PARAMETER): uses(to(record(TOLD))), record(TOLD): Record("struct", size)})
        for size in (8, 16)
    )
    assert breaking(old, new) == {"type_size_changed"}


def test_instances_of_other_sizes_are_not_one() -> None:
    old, new = (
        snapshot({function(C_NAME): uses(to(record(name))), record(name): Record("struct", size)})
        for name, size in ((TOLD, 8), (UNTOLD, 16))
    )
    assert "template_param_type_changed" in breaking(old, new) & breaking(new, old)
