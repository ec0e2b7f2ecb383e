"""What is said about the place of a new field: padding is not where a removed field lay."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
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
    (finding,) = (each for each in found if each.kind == "type_field_added.unset")
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


GIVEN = "struct s { long value; char tag; }; struct s get(void) { struct s s = {1, 0}; return s; }"


@pytest.mark.parametrize(
    "taken",
    [
        "long put(struct s s) { return s.value; }",
        "typedef struct s t; long put(t *all, int n) { return all[n].value; }",
        "struct s last; long put(void) { return last.value; }",
        "void visit(void (*fill)(struct s *)) { fill(0); }",
        "void ask(struct s (*give)(void)) { give(); }",
        "struct box { struct s *s; }; long put(struct box *b) { return b->s->value; }",
        "struct box { struct s s; }; struct box give(void) { struct box b = {{1, 0}}; return b; } "
        "long put(struct box *b) { return b->s.value; }",
        "struct any { void *it; }; long put(struct any any) { return ((struct s *)any.it)->value; }",
        "long put(int n, ...) { return n; }",
        "long put(); long put(s) struct s *s; { return s->value; }",
        "struct s *keep(void) { static struct s s; return &s; }",
    ],
)
def test_a_struct_that_is_returned_may_come_back_unset(taken: str) -> None:
    old, new = (capture(build_library(f"{given}\n{taken}")) for given in (GIVEN, GIVEN.replace("tag;", "tag, more;")))
    (finding,) = (each for each in compare(old, new).findings if each.part == "more")
    assert finding.kind == "type_field_added.unset"
