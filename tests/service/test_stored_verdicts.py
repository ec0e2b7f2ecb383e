"""A verdict that is read back says what judging now says, to the byte, about the very releases asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import Ruling
from abistore.model.history import IngestRequest, Release
from abistore.model.snapshot import Evidence, Location, Snapshot
from abistore.report.formats.json import encode
from abistore.service.ruling import ruling
from abistore.service.verdicts import Judgement, judged
from abistore.store.store import Store
from tests.cases import RULES, cases, snapshot_of
from tests.subjects import assert_each

FILES = sorted(RULES.glob("*.md"))
SUPPRESSIONS = (
    "suppressions:\n- {symbol_pattern: '.*', change_kind: [func_removed, type_size_changed], reason: known}\n"
)
POLICY = "base: strict_abi\nkinds: {func_added: {impact: breaking, reason: frozen}}\n"


def stored(store: Store, *snapshots: Snapshot, library: str = "libcase") -> list[Release]:
    """Releases 0, 1, ... of one library."""
    return [
        store.ingest(snapshot, IngestRequest(f"{number}", library=library, replace=True)).release
        for number, snapshot in enumerate(snapshots)
    ]


def assert_remembered(store: Store, old: Release, new: Release, by: Ruling | None = None) -> None:
    """Judged now, and read back by a store that has nothing in memory, the report is the same."""
    now = judged(store, old, new, by=by)
    store.save_verdicts([now.given])
    path = store.database.path
    assert path is not None
    with Store.open(path, write=False) as reader:
        assert_same(now, judged(reader, old, new, by=by))


def assert_same(now: Judgement, read_back: Judgement) -> None:
    """A judgement that was read back is the one that was given."""
    assert not now.remembered
    assert read_back.remembered
    assert encode(read_back.report) == encode(now.report)
    assert read_back.given.comparison == now.given.comparison


@pytest.mark.parametrize("place", [0, pytest.param(1, marks=pytest.mark.nightly)], ids=["first", "second"])
def test_every_kind_is_read_back_as_it_was_judged(place: int, tmp_path: Path) -> None:
    """The case of each kind at one place is a library of its own in one store."""
    chosen = [case for file in FILES for case in cases(file)[place : place + 1]]
    path = tmp_path / "store.db"
    with Store.open(path, write=True) as store:
        with store.transaction():
            sides = {case.label: (snapshot_of(case, "old"), snapshot_of(case, "new")) for case in chosen}
            releases = {label: stored(store, *pair, library=f"lib{label}") for label, pair in sides.items()}
        now = {label: judged(store, *pair) for label, pair in releases.items()}
        store.save_verdicts([each.given for each in now.values()])
    with Store.open(path, write=False) as reader:
        assert_each(releases, lambda label: assert_same(now[label], judged(reader, *releases[label])))


@pytest.fixture
def by(tmp_path: Path) -> Ruling:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "known.yaml").write_text(SUPPRESSIONS)
    found = ruling(str(tmp_path / "policy.yaml"), [str(tmp_path / "known.yaml")], today=datetime.now(UTC).date())
    assert found is not None
    return found


@pytest.mark.parametrize("kind", ["func_removed", "type_size_changed", "func_added", "soname_bump_recommended"])
def test_what_a_policy_and_suppressions_did_is_read_back(kind: str, by: Ruling, tmp_path: Path) -> None:
    case = cases(RULES / f"{kind}.md")[0]
    with Store.open(tmp_path / "store.db", write=True) as store:
        assert_remembered(store, *stored(store, snapshot_of(case, "old"), snapshot_of(case, "new")), by)


def test_releases_of_equal_content_keep_their_own_places_and_evidence(tmp_path: Path) -> None:
    """Each report names the lines, files and debug information of its own two releases."""
    case = cases(RULES / "type_size_changed.md")[0]
    old, new = snapshot_of(case, "old"), snapshot_of(case, "new")
    moved = {name: Location("moved.c", place.line + 100) for name, place in new.locations.items()}
    seen = (*new.evidence[:-1], Evidence("layout", "partial", "stale-debug-file", "debug file of build-id beef"))
    again = replace(
        new, locations=moved, evidence=seen, provenance=replace(new.provenance, build_id="beef", sha256="b")
    )
    with Store.open(tmp_path / "store.db", write=True) as store:
        first, second, third = stored(store, old, new, again)
        assert second.digest == third.digest
        assert_remembered(store, first, second)
        assert_remembered(store, first, third)
        for release, told in ((second, b"beef"), (third, b"case.c")):
            assert told not in encode(judged(store, first, release).report)
