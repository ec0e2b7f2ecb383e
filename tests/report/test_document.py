"""The document of blocks: what a report says, before any format decides how it looks."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from abistore.report.document import (
    DeclarationBlock,
    ImpactBlock,
    ImpactTable,
    OmittedBlock,
    ReportDocument,
    cut,
    document,
)
from abistore.report.model import ComparedDeclaration, Mode, Style
from abistore.report.outline import outline
from tests.report.comparisons import ADDED, MOVED, REMOVED, comparison, many
from tests.report.golden import report

WHOLE = Style(limit=None, detail=True)


def made(mode: Mode = "full") -> ReportDocument:
    return document(report(), replace(WHOLE, mode=mode))


def blocks(block: type[Any], mode: Mode = "full") -> list[Any]:
    return [each for each in made(mode).body if isinstance(each, block)]


def test_the_findings_of_every_mode_are_those_of_the_report() -> None:
    by_impact = [each.id for group in blocks(ImpactBlock) for kind in group.kinds for each in kind.findings]
    by_declaration = [each.id for root in blocks(DeclarationBlock, "leaf") for each in root.findings]
    assert sorted(by_impact) == sorted(by_declaration) == sorted(change.id for change in report().changes)
    (table,) = blocks(ImpactTable, "impact")
    assert [row.name for row in table.rows] == ["geo::Shape", "old_norm", "geo::Mode"]


def test_a_declaration_is_shown_with_its_first_finding_and_later_ones_refer_to_that() -> None:
    found = [each for group in blocks(ImpactBlock) for kind in group.kinds for each in kind.findings]
    of_shape = [each for each in found if each.name == "geo::Shape"]
    assert [each.declared is not None for each in of_shape] == [True, False]
    assert [each.shown_at for each in of_shape] == ["", of_shape[0].id]


@pytest.mark.parametrize("mode", ["full", "leaf"])
def test_what_is_left_out_is_counted(mode: Mode) -> None:
    body = tuple(document(outline(many(30)), Style(mode=mode, limit=10)).body)
    if mode == "leaf":
        assert body[-1] == OmittedBlock("20 more declarations")
        assert len(body) == 11
    else:
        (group,) = body
        assert isinstance(group, ImpactBlock)
        (kind,) = group.kinds
        assert (group.total, kind.total, len(list(kind.findings)), kind.more) == (30, 30, 10, 20)


def test_what_is_left_out_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    real = document.__globals__["finding_block"]
    monkeypatch.setitem(
        document.__globals__, "finding_block", lambda change, **more: built.append(change.id) or real(change)
    )
    for block in document(outline(many(500)), Style(limit=3)).body:
        assert isinstance(block, ImpactBlock)
        for kind in block.kinds:
            list(kind.findings)
    assert len(built) == 3


def test_values_of_several_lines_stand_only_where_the_declaration_does_not_show_them() -> None:
    old = "struct s {\n    int a;  // 0\n};"
    found = replace(MOVED, old_value=old, new_value=old.replace("a", "b"), consequences=())
    shown = ComparedDeclaration(
        "geo::Shape", "record", "struct geo::Shape {\n    int a;\n};", "struct geo::Shape {\n};"
    )
    for declarations, lines in (((), 4), ((shown,), 0)):
        (group,) = document(outline(comparison(found), declarations=declarations), WHOLE).body
        assert isinstance(group, ImpactBlock)
        (one,) = group.kinds[0].findings
        assert (one.values, len(one.lines)) == ((), lines)


def test_a_description_that_all_findings_of_a_kind_share_belongs_to_the_kind() -> None:
    twin = replace(REMOVED, name=ADDED.name, description="another one")
    (group, *_) = document(outline(comparison(REMOVED, twin)), WHOLE).body
    assert isinstance(group, ImpactBlock)
    assert group.kinds[0].description == ""
    (group, *_) = document(outline(comparison(REMOVED)), WHOLE).body
    assert isinstance(group, ImpactBlock)
    assert group.kinds[0].description == REMOVED.description


def test_a_cut_says_how_many_are_left_out() -> None:
    assert cut("abc", 2) == ("ab", 1)
    assert cut("abc", 3) == ("abc", 0)
    assert cut("abc", None) == ("abc", 0)
