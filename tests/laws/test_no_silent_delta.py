"""No silent difference: what differs in a declaration that exports reach is a finding, or is named as meaningless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from abistore.diffing.context import Context
from abistore.diffing.judge.judged import compare
from abistore.diffing.kinds.equivalent_declarations import is_meaningless
from abistore.diffing.side import SideFacts
from abistore.model.declarations import SELF, Changed, Kind, Name, Subject
from abistore.model.findings import Comparison, Finding, Verdict
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Enum,
    Function,
    Library,
    Named,
    Pointer,
    Primitive,
    Record,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Evidence, Snapshot, Target
from tests.draws import draws
from tests.laws.strategies import aliases, enums, foreigns, functions, opaques, records, type_references, variables

SUBJECT, BYSTANDER = "subject", Name("record", "bystander")
USE, KEEP = Name("function", "use"), Name("function", "keep")
CODE, DATA = Symbol("function"), Symbol("data", size=8)
INT = Primitive("int", 4)

relaxed = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    deadline=None,
    max_examples=draws(150),
)


def snapshot(name: Name, shape: AnyShape, by_value: bool) -> Snapshot:
    """A library whose one export reaches ``shape``, or is it; all of it is described."""
    layout: dict[Name, AnyShape] = {name: shape, BYSTANDER: Record("struct", 4)}
    layout[KEEP] = Function("keep", VOID, (Pointer(Named(BYSTANDER)),))
    if name.kind not in ("function", "variable"):
        reference: TypeRef = Named(name)
        layout[USE] = Function("use", VOID, (reference if by_value else Pointer(reference),))
    exports = {each: (DATA if each.kind == "variable" else CODE,) for each in layout if each.kind in EXPORTS}
    return Snapshot(
        "lib",
        None,
        Target("elf", "x86_64", 64, "little"),
        {"symbol": {**exports, SELF: (Library("shared"),)}, "layout": {each: (held,) for each, held in layout.items()}},
        (Evidence("symbol", "full"), Evidence("layout", "full")),
    )


EXPORTS = ("function", "variable")
TYPES: tuple[Kind, ...] = ("alias", "enum", "record")
DECLARED: dict[Kind, st.SearchStrategy[AnyShape]] = {
    "record": records(type_references) | opaques | foreigns,
    "enum": enums | opaques,
    "alias": aliases,
    "function": functions,
    "variable": variables,
}


@st.composite
def mutations(draw: st.DrawFn) -> tuple[Name, AnyShape, AnyShape]:
    """A declaration, and the same with one fact of it, or of one of its parts, taken from another one."""
    kind = draw(st.sampled_from(sorted(DECLARED)))
    old = draw(DECLARED[kind])
    other = draw(DECLARED[kind].filter(lambda shape: type(shape) is type(old)))
    name = Name(kind, SUBJECT)
    return name, old, draw(_mixed(old, other))


@st.composite
def _mixed(draw: st.DrawFn, old: Any, other: Any) -> Any:
    fact = draw(st.sampled_from(old.__struct_fields__))
    own, foreign = getattr(old, fact), getattr(other, fact)
    deeper = isinstance(own, tuple) and own and foreign and all(_is_part(each) for each in (*own, *foreign))
    if deeper and draw(st.booleans()):
        index = draw(st.integers(0, len(own) - 1))
        part = draw(_mixed(own[index], draw(st.sampled_from(foreign))))
        return msgspec.structs.replace(old, **{fact: (*own[:index], part, *own[index + 1 :])})
    if _is_part(own) and _is_part(foreign) and draw(st.booleans()):
        return msgspec.structs.replace(old, **{fact: draw(_mixed(own, foreign))})
    return msgspec.structs.replace(old, **{fact: foreign})


def _is_part(value: object) -> bool:
    return type(value).__name__ in ("Field", "Base", "VirtualMethod", "Enumerator", "Method")


def findings(comparison: Comparison) -> Iterator[Finding]:
    pending = list(comparison.findings)
    while pending:
        finding = pending.pop()
        yield finding
        pending += finding.consequences


@relaxed
@given(mutations(), st.booleans())
@example((Name("record", SUBJECT), Record("struct", 4), Record("struct", 4, has_vptr=True)), False)
@example((Name("enum", SUBJECT), Enum(4, ()), Enum(4, (), None, True)), True)
@example((Name("alias", SUBJECT), Alias(INT), Alias(Pointer(INT))), True)
@example((Name("variable", SUBJECT), Variable("a", INT), Variable("a", INT, BYSTANDER)), True)
def test_what_differs_is_a_finding_or_is_named_as_meaningless(
    mutation: tuple[Name, AnyShape, AnyShape], by_value: bool
) -> None:
    name, before, after = mutation
    old, new = snapshot(name, before, by_value), snapshot(name, after, by_value)
    comparison = compare(old, new)
    told = any(finding.name == name for finding in findings(comparison))
    meaningless = is_meaningless(Changed(Subject(name), before, after), Context(SideFacts(old), SideFacts(new)))
    assert told or meaningless or before == after
    assert (comparison.verdict is Verdict.NO_CHANGE) <= (meaningless or before == after)


@relaxed
@given(st.sampled_from(TYPES).flatmap(lambda kind: st.tuples(st.just(kind), DECLARED[kind])))
def test_a_type_that_vanishes_changes_its_users(declared: tuple[Kind, AnyShape]) -> None:
    kind, shape = declared
    name = Name(kind, SUBJECT)
    old = snapshot(name, shape, False)
    layout = {each: held for each, held in old.entries["layout"].items() if each != name}
    layout[USE] = (Function("use", VOID, (Pointer(VOID),)),)
    new = msgspec.structs.replace(old, entries={**old.entries, "layout": layout})
    assert any(finding.name == USE for finding in findings(compare(old, new)))


@relaxed
@given(mutations())
def test_a_declaration_that_no_export_reaches_is_nobodys_change(mutation: tuple[Name, AnyShape, AnyShape]) -> None:
    name, before, after = mutation
    if name.kind in EXPORTS or name.kind == "enum":  # programs may pass an enumerator as a plain number
        return
    old, new = (_unreached(snapshot(name, shape, True)) for shape in (before, after))
    assert compare(old, new).verdict is Verdict.NO_CHANGE


def _unreached(reached: Snapshot) -> Snapshot:
    entries = {
        facet: {name: held for name, held in each.items() if name != USE} for facet, each in reached.entries.items()
    }
    return msgspec.structs.replace(reached, entries=entries)
