"""A release that goes from one database to another is the same release there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from abistore.model.history import Release, ReleaseFacts
from abistore.model.snapshot import Snapshot
from abistore.service import imports
from abistore.service.imports import export, import_
from abistore.service.ingest import ingest
from abistore.service.ingest_gates import IngestPlan
from abistore.service.snapshots import written
from abistore.store.store import Store
from tests.build import build_library
from tests.store.builders import EXPORTED, function, snapshot

EXPORT = function("norm")
SOURCE = "struct point { int x, y; }; int norm(const struct point *p) { return p->x + p->y; }"
PLANS = (
    IngestPlan(version="1.0", released=datetime(2024, 5, 6, tzinfo=UTC), revision="abc", url="https://ci.example/7"),
    IngestPlan(version="1.0", library="libother", profile="debug", revision="abc"),
    IngestPlan(version="2.0", profile="musl", released=datetime(2024, 5, 6, 12, 30, tzinfo=UTC)),
    IngestPlan(version="nightly"),
)


def told(address: str) -> list[tuple[Release, object]]:
    """All releases with their snapshots; when each was ingested is nobody else's business."""
    with Store.open(address, write=False) as store:
        found = [one for line in store.lines() for one in store.releases(line.library, line.target, line.profile)]
        never = datetime(1970, 1, 1, tzinfo=UTC)
        return [(msgspec.structs.replace(one, ingested=never, sequence=0), store.load(one)) for one in found]


def test_releases_are_the_same_after_a_journey(address: str, tmp_path: Path) -> None:
    library, other = build_library(SOURCE), str(tmp_path / "other.db")
    files = []
    for plan in PLANS:
        (done,) = ingest([library], plan, database=address)
        assert done.release is not None
        files.append(tmp_path / f"{len(files)}.json")
        line = done.release.line
        reference = f"{line.library}@{plan.version}"
        data = export(reference, database=address, target=line.target, profile=line.profile).json
        files[-1].write_bytes(data)
    assert {one.status for one in import_(files, IngestPlan(), database=other)} == {"stored"}
    assert told(other) == told(address)
    assert {one.status for one in import_(files, IngestPlan(), database=address)} == {"known"}


def test_what_was_taken_away_comes_back_with_the_snapshot(address: str, tmp_path: Path) -> None:
    library, file = build_library(SOURCE), tmp_path / "libcase.json"
    (done,) = ingest([library], PLANS[0], database=address)
    assert done.release is not None
    file.write_bytes(export("libcase@1.0", database=address).json)
    with Store.open(address, write=True) as store:
        store.amend(done.release, ReleaseFacts(None, "def"), clear=("url",), actor="", reason="")
    (again,) = import_([file], IngestPlan(), database=address)
    assert (again.status, again.mended) == ("known", ("url",))
    assert again.notes == ("revision stays def (to change it: abistore db release edit libcase@1.0 --revision)",)


def test_a_folder_of_snapshots_comes_in_release_order_and_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, database = tmp_path / "snapshots", tmp_path / "store.db"
    folder.mkdir()
    for version in ("1.0", "1.2", "1.10"):
        (folder / f"libgeo-{version}.json").write_bytes(written(snapshot(version, symbols={EXPORT: EXPORTED})))
    opened: list[object] = []
    whole = imports.ingest
    monkeypatch.setattr(
        imports,
        "ingest",
        lambda paths, plan, *, database: opened.append(database) or whole(paths, plan, database=database),
    )
    done = import_(folder, IngestPlan(), database=database)
    assert [(one.status, Path(one.path).name) for one in done] == [
        ("stored", f"libgeo-{version}.json") for version in ("1.0", "1.2", "1.10")
    ]
    assert len(opened) == 3 and len(set(map(id, opened))) == 1  # one connection for all
    assert {one.status for one in import_(folder, IngestPlan(), database=database)} == {"known"}


def test_what_is_read_of_a_folder_holds_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libgeo-1.0.json").write_bytes(written(snapshot(symbols={EXPORT: EXPORTED})))
    held: list[object] = []
    whole = imports._stored

    def noting(release: imports.DumpedRelease, *more: object) -> object:
        held.extend(release)
        return whole(release, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(imports, "_stored", noting)
    assert [one.status for one in import_(tmp_path, IngestPlan(), database=tmp_path / "store.db")] == ["stored"]
    assert held
    assert not any(isinstance(one, Snapshot) for one in held)
