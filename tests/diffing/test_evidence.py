"""What one side could not see is not a difference, and is said."""

from __future__ import annotations

import msgspec
import pytest

from abistore.diffing.context import Context
from abistore.diffing.declarations import FacetDeclarations
from abistore.diffing.evidence_gaps import comparable
from abistore.diffing.exports import export_deltas
from abistore.diffing.judge.judged import compare
from abistore.diffing.parts import DefinitionKind, TagName, Variant
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import InnerField
from abistore.errors import Incomparable
from abistore.model.declarations import Added, Changed, Delta, Name, Removed
from abistore.model.findings import Verdict
from abistore.model.shapes import Array, ElfLibrary, Field, Inline, Library, Named, Opaque, Record, Symbol
from abistore.model.snapshot import Evidence, Snapshot
from tests.diffing.model import CHAR, INT, LONG, TARGET, function, record, snapshot, struct, to, uses

USE, OTHER, P, Q = function("use"), function("other"), record("P"), record("Q")


def seen(old: Snapshot, new: Snapshot) -> list[Delta[object]]:
    """Deltas of the layout facet, without what only counts exports."""
    context = Context(SideFacts(old), SideFacts(new))
    found = [*export_deltas(context)]
    if comparable(context, "layout"):
        declarations = FacetDeclarations(context, "layout")
        found += [delta for name in sorted(context.differing["layout"]) for delta in declarations.deltas(name)]
    return [each for each in found if each.subject.name.kind in ("record", "enum", "alias", "function")]


def skipped(old: Snapshot, new: Snapshot) -> list[tuple[str, str, tuple[str, ...]]]:
    found = compare(old, new).not_checked
    return [(each.side, each.reason, tuple(name.spelling for name in each.names)) for each in found]


def test_snapshots_of_two_targets_are_incomparable() -> None:
    old = snapshot({USE: uses()})
    new = msgspec.structs.replace(old, target=msgspec.structs.replace(TARGET, bits=32))
    with pytest.raises(Incomparable) as caught:
        compare(old, new)
    assert "elf-x86_64-32-little" in caught.value.message


def test_a_side_without_debug_information_is_no_change_and_is_said() -> None:
    full = snapshot({USE: uses(to(P)), P: struct(INT)})
    bare = snapshot({}, state="missing", symbols={USE: full.entries["symbol"][USE][0]})
    assert compare(full, bare).verdict is Verdict.NO_CHANGE
    assert skipped(full, bare) == [("new", "missing-debug-info", ())]
    assert skipped(bare, full) == [("old", "missing-debug-info", ())]
    assert skipped(bare, bare) == [("both", "missing-debug-info", ())]


def test_what_no_debug_information_leaves_unchecked_is_said_and_what_headers_stand_for() -> None:
    full = snapshot({USE: uses(INT)})
    bare = snapshot({}, state="missing", symbols={USE: full.entries["symbol"][USE][0]})
    (layout,) = compare(bare, bare).not_checked
    assert layout.detail.endswith("parameters, callbacks, constants and the layouts of types are not compared")
    told = msgspec.structs.replace(
        bare, entries={**bare.entries, "source": {}}, evidence=(*bare.evidence, Evidence("source", "full"))
    )
    details = {each.facet: each.detail for each in compare(told, told).not_checked}
    assert details["layout"].endswith("are compared as declared in headers, not as built")


def test_an_export_that_one_side_does_not_describe_is_named() -> None:
    old = snapshot({USE: uses(INT), OTHER: uses(to(P)), P: struct(INT)})
    new = snapshot(
        {USE: uses(INT)},
        state="partial",
        symbols={USE: old.entries["symbol"][USE][0], OTHER: old.entries["symbol"][USE][0]},
    )
    assert compare(old, new).verdict is Verdict.NO_CHANGE
    assert ("new", "partial-debug-info", ("other",)) in skipped(old, new)


def test_a_type_that_a_described_export_no_longer_uses_is_removed_even_from_partial_evidence() -> None:
    old = snapshot({USE: uses(to(P)), P: struct(INT)})
    new = snapshot({USE: uses(to(INT))}, state="partial")
    assert Removed in [type(each) for each in seen(old, new)]


def test_a_type_that_only_removed_exports_used_is_not_visited() -> None:
    old = snapshot({USE: uses(INT), OTHER: uses(to(P)), P: struct(INT)})
    new = snapshot({USE: uses(INT), P: struct(LONG)})
    assert [each.subject.name for each in seen(old, new)] == [OTHER]


def test_a_type_that_no_export_reaches_does_not_matter() -> None:
    old, new = (snapshot({USE: uses(INT), P: struct(each)}) for each in (INT, LONG))
    assert seen(old, new) == []


def test_a_record_under_another_name_is_renamed_and_not_removed() -> None:
    old = snapshot({USE: uses(to(P)), P: struct(INT, LONG)})
    new = snapshot({USE: uses(to(Q)), Q: struct(INT, LONG)})
    assert [type(each.old) for each in seen(old, new) if isinstance(each, Changed)].count(TagName) == 1
    assert not [each for each in seen(old, new) if isinstance(each, Added | Removed)]


def test_a_spelling_that_means_another_kind_of_thing_is_one_change() -> None:
    enum = Name("enum", "P")
    old = snapshot({USE: uses(to(P)), P: struct(INT)})
    new = snapshot({USE: uses(to(enum)), enum: Opaque("enum")})
    assert [type(each.old) for each in seen(old, new) if each.subject.name == P] == [DefinitionKind]


def test_a_record_that_is_only_declared_now_is_another_definition() -> None:
    old, new = (snapshot({USE: uses(to(P)), P: each}) for each in (struct(INT), Opaque("struct")))
    (delta,) = seen(old, new)
    assert isinstance(delta, Changed)
    assert (type(delta.old), type(delta.new)) == (DefinitionKind, DefinitionKind)


def test_shapes_that_both_sides_have_do_not_differ_whatever_else_the_name_means() -> None:
    old = snapshot({USE: uses(to(P)), P: (struct(INT), struct(LONG))})
    new = snapshot({USE: uses(to(P)), P: (struct(INT),)})
    (delta,) = seen(old, new)
    assert isinstance(delta, Removed)
    assert delta.old == Variant(struct(LONG))


def fields_of(before: Record, after: Record) -> list[tuple[type, str]]:
    from abistore.diffing.members import children

    old, new = (snapshot({USE: uses(to(P)), P: each}) for each in (before, after))
    (delta,) = seen(old, new)
    assert isinstance(delta, Changed)
    return [(type(each), each.subject.part) for each in children(delta, Context(SideFacts(old), SideFacts(new)))]


def test_a_field_that_moves_into_an_anonymous_union_at_its_place_has_not_changed() -> None:
    inner = Record("union", 4, (Field("a", INT, 0), Field("other", INT, 0)))
    after = Record("struct", 16, (Field("", Inline(inner), 0), Field("b", LONG, 64)))
    assert fields_of(struct(INT, LONG), after) == [(Added, "other")]


def test_a_field_of_another_name_at_the_same_place_is_renamed() -> None:
    assert fields_of(struct(INT, LONG), struct(INT, LONG, names="ac")) == [(Changed, "b")]


def test_reordered_fields_are_not_removed_fields() -> None:
    assert fields_of(struct(INT, INT), struct(INT, INT, names="ba")) == [(Changed, "a"), (Changed, "b")]


def test_members_of_anonymous_members_are_inner_fields_at_their_absolute_offset() -> None:
    from abistore.diffing.types.sameness import flat_fields

    inner = Record("struct", 8, (Field("x", INT, 0), Field("y", INT, 32)))
    outer = Record("struct", 16, (Field("a", LONG, 0), Field("", Inline(inner), 64)))
    assert flat_fields(outer) == [
        Field("a", LONG, 0),
        InnerField(Field("x", INT, 64)),
        InnerField(Field("y", INT, 96)),
    ]


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ({"make": uses(result=to(P)), "use": uses(to(P))}, True),
        ({"open": uses(to(to(P)), result=INT), "use": uses(to(P))}, True),
        ({"use": uses(to(P))}, False),
        ({"make": uses(result=to(P)), "use": uses(Named(P))}, False),
        ({"make": uses(result=to(P)), "use": uses(to(Q)), "embed": uses(Named(Q))}, False),
    ],
)
def test_a_library_allocates_what_it_hands_out_and_nobody_holds(functions: dict[str, object], expected: bool) -> None:
    layout = {function(name): shape for name, shape in functions.items()}
    side = snapshot({**layout, P: struct(Array(CHAR, 8)), Q: Record("struct", 8, (Field("p", Named(P), 0),))})
    assert Context(SideFacts(side), SideFacts(side)).old.consumers.library_allocates(P) is expected


def test_every_version_of_a_symbol_is_compared_with_itself() -> None:
    table = Name("variable", "table")

    def sized(old: int, new: int) -> tuple[Symbol, ...]:
        return (
            Symbol("data", size=old, version="V1", default=False),
            Symbol("data", size=new, version="V2", default=True),
        )

    def side(*variants: Symbol) -> Snapshot:
        found = snapshot({}, library=Library("shared", elf=ElfLibrary(version_definitions=("V1", "V2"))))
        return msgspec.structs.replace(
            found, entries={**found.entries, "symbol": {**found.entries["symbol"], table: variants}}
        )

    (finding,) = compare(side(*sized(8, 16)), side(*sized(12, 16))).findings
    assert (finding.kind, finding.part, finding.old_value) == ("symbol_size_changed", "version V1", "8")
    first = Symbol("data", size=8, version="V1", default=True)
    assert {each.kind for each in compare(side(first), side(*sized(8, 16))).findings} == {
        "symbol_version_defined_added",
        "symbol_version_alias_changed",
    }
