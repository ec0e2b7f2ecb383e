"""What is said about the place of a new field: padding is not where a removed field lay."""

from __future__ import annotations

import pytest

from abistore.compare.comparison import compare
from abistore.model.findings import Finding, Impact
from abistore.model.snapshot import Snapshot
from abistore.service.snapshots import capture
from tests.build import build_library

USE = "int use(struct s *p) { return (int)sizeof *p; }"
PADDED = "struct s { char tag; long value; };"


def snapshot(members: str) -> Snapshot:
    return capture(build_library(f"{members}\n{USE}"))


def added(old: str, new: str) -> Finding:
    found = compare(snapshot(old), snapshot(new)).findings
    (finding,) = (each for each in found if each.kind == "field_unset_added")
    return finding


def test_a_field_in_padding_is_said_to_be_there() -> None:
    finding = added(PADDED, "struct s { char tag; short kind; long value; };")
    assert finding.description == "a field was added in padding"


@pytest.mark.parametrize("new", ["float other", "unsigned char other[4]"])
def test_a_field_in_place_of_a_removed_one_names_it(new: str) -> None:
    old = "struct s { int first; int second; long value; };"
    comparison = compare(snapshot(old), snapshot(f"struct s {{ int first; {new}; long value; }};"))
    found = {finding.kind: finding for finding in comparison.findings}
    said = found["type_field_added_compatible"].description
    assert said == "a field was added in place of second, which was removed"
    assert found["type_field_removed"].impact is Impact.BREAKING
    assert not any("unused" in finding.description for finding in comparison.findings)
