"""Types without a name are spelled out so far only; what is beyond is told as too large, and evidence says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.shapes import (
    AnyShape,
    Array,
    Field,
    Function,
    Inline,
    Pointer,
    Primitive,
    Procedure,
    Record,
    TypeRef,
)
from abistore.model.snapshot_files import from_json, to_json
from abistore.model.structure import (
    MOST_DEPTH,
    MOST_PARTS,
    PARTS_PER_MENTION,
    SPARE_PARTS,
    TOO_LARGE,
    TypeBudget,
    fitted,
)
from tests.bounds import abistore
from tests.build import build_library

INT = Primitive("int", 4)


def structs(levels: int) -> str:
    """Structures without a name, each with two members of the one before."""
    further = (f"struct {{ __typeof__(v{n - 1}) a, b; }} v{n};" for n in range(1, levels))
    return "\n".join(["struct { int a, b; } v0;", *further])


def unions(levels: int) -> str:
    further = (
        f"struct {{ union {{ __typeof__(v{n - 1}) a; long b; }}; union {{ __typeof__(v{n - 1}) c; long d; }}; }} v{n};"
        for n in range(1, levels)
    )
    return "\n".join(["union { int a; long b; } v0;", *further])


def procedures(levels: int) -> str:
    further = (f"int (*v{n})(__typeof__(v{n - 1}), __typeof__(v{n - 1}));" for n in range(1, levels))
    return "\n".join(["int (*v0)(int, int);", *further])


def pointers(levels: int) -> str:
    """A chain, each link of which is another variable's type: none is deep by itself."""
    return "\n".join(["int *v0;", *(f"__typeof__(v{n - 1}) *v{n};" for n in range(1, levels))])


FANS: dict[str, Callable[[int], str]] = {"structs": structs, "unions": unions, "procedures": procedures}


@pytest.fixture(
    params=["structs", *(pytest.param(each, marks=pytest.mark.full) for each in ("unions", "procedures"))],
    scope="module",
)
def fan(request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Two libraries with a fan of 20 and one of 40 levels, which stand for millions and for millions of millions."""
    return build_library(FANS[request.param](20)), build_library(FANS[request.param](40))


def test_a_fan_is_read_as_far_as_it_can_be_spelled_out(fan: tuple[Path, Path]) -> None:
    for path in fan:
        snapshot = read_snapshot(path, ExtractOptions())
        evidence = snapshot.evidence_of("layout")
        assert (evidence.state, evidence.reason) == ("partial", "type-too-large")
        assert "too large to be spelled out" in evidence.detail
        assert len(to_json(snapshot)) < 2 << 20
        same = from_json(to_json(snapshot)) == snapshot  # not shown where they differ: that would be endless
        assert same
        assert "type-too-large" in {each.reason for each in compare(snapshot, snapshot).not_checked}


def test_every_command_takes_a_fan(fan: tuple[Path, Path], tmp_path: Path) -> None:
    database = tmp_path / "abi.db"

    def call(*words: str | Path) -> str:
        done = abistore(*words, ABISTORE_DB=str(database))
        assert done.code in (0, 2, 4), done.err
        return done.out

    for version, path in enumerate(fan):
        assert "type-too-large" in call("ingest", path, "--version", f"1.{version}")
        call("export", path, "-o", tmp_path / f"{version}.json")
    assert database.stat().st_size < 8 << 20
    call("import", tmp_path / "0.json", "--library", "other", "--version", "1")
    for format in ("text", "html", "json"):
        call("compare", *fan, "--format", format)
        call("compare", tmp_path / "1.json", fan[0], "--format", format)
    call("compare", "libcase@1.0", "libcase@1.1")
    call("history", "libcase")
    call("log", "v19")
    call("show", "libcase@1.1", "v39")


def test_a_chain_is_read_as_deep_as_it_can_be_walked() -> None:
    snapshot = read_snapshot(build_library(pointers(2_000)), ExtractOptions())
    assert snapshot.evidence_of("layout").reason == "type-too-large"
    same = from_json(to_json(snapshot)) == snapshot
    assert same


def test_small_types_that_many_declarations_spell_out_are_too_large_together() -> None:
    """Each has fewer parts than one type may have; a thousand times they are more than a small file can make."""
    type: TypeRef = INT
    for _ in range(11):
        type = Inline(Record("struct", 8, (Field("a", type, 0), Field("b", type, 32))))
    assert TypeBudget().within(type) is type
    entries = {Name("function", f"f{n}"): (Function(f"f{n}", INT, (type,)),) for n in range(1_000)}
    found, refused = fitted(entries)
    assert refused
    budget = TypeBudget()
    assert (
        sum(budget.parts(shape) for shapes in found.values() for shape in shapes)
        <= SPARE_PARTS + 3_000 * PARTS_PER_MENTION
    )
    few: dict[Name, tuple[AnyShape, ...]] = dict(list(entries.items())[:5])
    assert fitted(few) == (few, 0)


def test_what_is_replaced_does_not_depend_on_what_was_read_before() -> None:
    def fan(levels: int, budget: TypeBudget) -> TypeRef:
        found: TypeRef = INT
        for _ in range(levels):
            found = budget.within(Procedure(INT, (found, found)))
        return found

    first, second = TypeBudget(), TypeBudget()
    assert fan(20, first) == fan(20, second)
    assert first.refused == second.refused > 0
    deep: TypeRef = INT
    for _ in range(MOST_DEPTH):
        deep = first.within(Pointer(deep))
    assert deep == TOO_LARGE
    assert first.within(Array(INT, 1 << 60)) == Array(INT, 1 << 60)
    assert MOST_PARTS > 100 * 97  # far beyond the largest of real code
