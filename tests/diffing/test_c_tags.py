"""Values of findings about C: shown with the keywords of tags, and identified without them."""

from __future__ import annotations

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from abistore.diffing.context import declare, in_c, listed, spell
from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.findings import Finding, identity
from abistore.model.names.spelling import mention_of
from abistore.model.shapes import Named, Pointer
from abistore.model.snapshot import Provenance, Snapshot, Tags
from abistore.service.snapshots import capture
from tests.build import build_library

OLD = "struct s { int x; }; struct t { int x; }; int take(struct s *p, int n) { return p->x + n; }\n"
NEW = "struct s { int x; }; struct t { int x; }; int take(struct t *p) { return p->x; }\n"

POINT = Pointer(Named(Name("record", "point")))
IN_C = mention_of(Provenance(tags=Tags()))


def untold(snapshot: Snapshot) -> Snapshot:
    """The snapshot as former versions read it, without the tags."""
    return replace(snapshot, provenance=replace(snapshot.provenance, tags=UNSET))


@pytest.fixture(scope="module")
def old() -> Snapshot:
    return capture(build_library(OLD, flags=("-g",)))


@pytest.fixture(scope="module")
def new() -> Snapshot:
    return capture(build_library(NEW, flags=("-g",)))


def changed(old: Snapshot, new: Snapshot) -> Finding:
    return next(each for each in compare(old, new).findings if each.kind == "func_params_changed")


def test_values_are_shown_with_the_keywords_of_tags(old: Snapshot, new: Snapshot) -> None:
    found = changed(old, new)
    assert (found.old_value, found.new_value) == ("int take(s*, int)", "int take(t*)")
    assert found.shown == ("int take(struct s*, int)", "int take(struct t*)")


def test_identities_are_those_of_readers_that_told_no_tags(old: Snapshot, new: Snapshot) -> None:
    former = changed(untold(old), untold(new))
    assert former.shown == ("int take(s*, int)", "int take(t*)")
    assert identity(former) == identity(changed(old, new))


def test_a_side_that_tells_no_tags_is_shown_as_the_other(old: Snapshot, new: Snapshot) -> None:
    assert changed(untold(old), new).shown == changed(old, untold(new)).shown == changed(old, new).shown


def test_tags_that_only_one_side_tells_are_no_change(old: Snapshot) -> None:
    assert not compare(untold(old), old).findings
    assert not compare(old, untold(old)).findings


def test_a_composed_value_is_spelled_again_in_all_its_parts() -> None:
    composed = listed((declare(POINT, "p") + " at 8", "plain", spell(POINT)))
    assert composed == "point* p at 8, plain, point*"
    assert in_c(composed, IN_C) == "struct point* p at 8, plain, struct point*"


def test_other_texts_are_the_same_in_c() -> None:
    assert in_c("point is a word", IN_C) == "point is a word"
