"""Which facets one side saw less of."""

from __future__ import annotations

from abistore.model.findings import unequal_evidence
from abistore.model.snapshot import Evidence

TABLES = Evidence("symbol", "full")


def test_a_stripped_side_is_unequal_in_its_layout_whichever_side_it_is() -> None:
    seen, stripped = (TABLES, Evidence("layout", "full")), (TABLES, Evidence("layout", "missing", "no-debug-info"))
    assert unequal_evidence(seen, stripped) == ("layout",)
    assert unequal_evidence(stripped, seen) == ("layout",)


def test_two_stripped_sides_are_equal() -> None:
    asked, unasked = (TABLES, Evidence("layout", "missing", "no-debug-info")), (TABLES,)
    assert unequal_evidence(asked, unasked) == ()


def test_debug_information_of_some_units_is_less_than_that_of_all() -> None:
    assert unequal_evidence((Evidence("layout", "full"),), (Evidence("layout", "partial"),)) == ("layout",)


def test_a_library_with_nothing_to_describe_lacks_no_evidence() -> None:
    nothing = Evidence("layout", "missing", "nothing-to-describe")
    assert unequal_evidence((Evidence("layout", "full"),), (nothing,)) == ()
