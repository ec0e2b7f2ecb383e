"""Types of the standard library that two compilers spell in different ways are one type, and others are not."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.shapes import Alias, AnyShape, Foreign, Function, Method, Named, Record, TypeRef
from abistore.model.snapshot import Snapshot
from tests.diffing.model import INT, LONG, VOID, alias, function, record, snapshot, uses


def aliased(spelling: str, *arguments: TypeRef, size: int = 32) -> Snapshot:
    shapes: dict[Name, AnyShape] = {
        function("use"): uses(Named(alias("callback"))),
        alias("callback"): Alias(Named(record(spelling))),
        record(spelling): Foreign("class", size, 8, arguments),
    }
    return snapshot(shapes)


def kinds(old: Snapshot, new: Snapshot) -> set[str]:
    return {finding.kind for finding in compare(old, new).findings}


@pytest.mark.parametrize("first", [True, False])
def test_a_template_with_the_same_arguments_is_the_same(first: bool) -> None:
    pair = aliased("std::function<void(Box<>)>", INT), aliased("std::function<void(Box<int>)>", INT)
    old, new = pair if first else pair[::-1]
    assert kinds(old, new) == set()


@pytest.mark.parametrize(
    "other",
    [
        aliased("std::function<void(long)>", LONG),
        aliased("std::move_only_function<void(int)>", INT),
        aliased("std::function<void(Box<int>)>", INT, size=40),
        aliased("std::function<void(Box<int>)>"),
    ],
)
def test_another_template_argument_or_size_is_another_type(other: Snapshot) -> None:
    assert "typedef_base_changed" in kinds(aliased("std::function<void(int)>", INT), other)


def test_template_arguments_that_one_compiler_does_not_list_are_no_change() -> None:
    name = record("std::allocator<int>")
    bare, listed = (
        snapshot({function("use"): uses(Named(name)), name: Foreign("class", 1, 1, arguments)})
        for arguments in ((), (INT,))
    )
    assert kinds(bare, listed) == set() == kinds(listed, bare)


def test_the_class_of_a_method_may_be_spelled_in_another_way() -> None:
    def release(spelling: str) -> Snapshot:
        name = record(spelling)
        method = Function("run", VOID, (), method=Method(name))
        return snapshot({function("_ZN3BoxIL1E2EE3runEv"): method, name: Record("struct", 8)})

    assert "declaration_changed" not in kinds(release("Box<(E)2>"), release("Box<two>"))
