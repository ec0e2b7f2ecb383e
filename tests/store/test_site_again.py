"""A second build of a site: it neither judges nor renders what stands, and misses nothing that changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from abistore.interface import (
    ApprovalPlan,
    BaselinePlan,
    BindingPlan,
    Ruling,
    SiteBuilt,
    SitePlan,
    TagPlan,
    approve,
    bind,
    build_site,
    changes,
    history,
    release_tag,
    ruling,
    set_baseline,
    verdict,
)
from abistore.model.history import IngestRequest
from abistore.report import site as rendering
from abistore.service import site as building
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot
from tests.store.test_site import contents, ingest, stamps

Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def few_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "changes", lambda: changes(impact="risk", element="enums"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two libraries: the last release of one lacks what the one before had."""
    found = tmp_path / "store.db"
    ingest(found, "libgeo", 3)
    ingest(found, "libother", 2)
    with Store.open(found, write=True) as store:
        store.ingest(broken("less"), IngestRequest("1.4"))
    return found


def broken(marker: str) -> object:
    return snapshot(marker, library="libgeo", symbols={function("norm"): EXPORTED})


def approved(database: Path, until: str = "") -> None:
    found = verdict("libgeo@1.4", database=database).report.changes[0]
    approve(found.id, ApprovalPlan("agreed", library="libgeo", until=until), database=database)


def kept_candidate(database: Path) -> None:
    with Store.open(database, write=True) as store:
        store.ingest(broken("candidate"), IngestRequest("1.5", candidate=True))


def replaced(database: Path) -> None:
    with Store.open(database, write=True) as store:
        store.ingest(broken("again"), IngestRequest("1.4", replace=True))


def refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("judged, or rendered")


@pytest.fixture
def nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def arrange() -> None:
        for name in ("history", "matrix", "report"):
            monkeypatch.setattr(building, name, refuse)
        monkeypatch.setattr(rendering, "_page", refuse)

    return arrange


@pytest.mark.parametrize("plan", [SitePlan(), SitePlan(judge=False)])
def test_what_stands_is_neither_judged_nor_rendered(
    plan: SitePlan, database: Path, tmp_path: Path, nothing_is_made: Callable[[], None]
) -> None:
    site = tmp_path / "site"
    first = build_site(site, plan, database=database)
    before = stamps(site)
    nothing_is_made()
    again = build_site(site, plan, database=database)
    assert (again.libraries, again.releases) == (first.libraries, first.releases) == (2, 6)
    assert (again.written, again.unchanged, again.removed) == (0, first.written, 0)
    assert stamps(site) == before


def test_what_stands_has_the_day_of_the_build(
    database: Path, tmp_path: Path, nothing_is_made: Callable[[], None]
) -> None:
    site = tmp_path / "site"
    first = build_site(site, SitePlan(built=datetime(2026, 1, 1, tzinfo=UTC)), database=database)
    nothing_is_made()
    again = build_site(site, SitePlan(built=datetime(2026, 1, 2, tzinfo=UTC)), database=database)
    assert (again.written, again.unchanged) == (1, first.written - 1)
    assert "2026-01-02" in (site / "built.js").read_text()


def test_one_library_that_changed_is_made_alone(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    build_site(site, database=database)
    ingest(database, "libother", 1, first=3)
    asked: list[str] = []
    whole = building.LibraryPages.write
    monkeypatch.setattr(
        building.LibraryPages, "write", lambda pages, name, *more: asked.append(name) or whole(pages, name, *more)
    )
    build_site(site, database=database)
    assert asked == ["libother"]


CHANGES: dict[str, Change] = {
    "an approval": approved,
    "a candidate": kept_candidate,
    "a release": lambda database: ingest(database, "libgeo", 1, first=5),
    "a release that is replaced": replaced,
    "a tag": lambda database: release_tag("libgeo@1.2", "lts", TagPlan("until 2030"), database=database),
    "a baseline": lambda database: set_baseline("libgeo@1.2", database=database),
    "a bound policy": lambda database: bind("libgeo", BindingPlan("an SDK", policy="sdk_vendor"), database=database),
    "a bound rule": lambda database: bind("lib*", BindingPlan("kept", since_soname=True), database=database),
    "another library": lambda database: ingest(database, "libnew", 1),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_second_build_has_what_a_first_one_has_after(what: str, database: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(site, database=database)
    before = contents(site)
    CHANGES[what](database)
    build_site(site, database=database)
    build_site(tmp_path / "fresh", database=database)
    assert contents(site) == contents(tmp_path / "fresh") != before


def test_verdicts_that_others_give_show_where_none_is_judged(database: Path, tmp_path: Path) -> None:
    site, plan = tmp_path / "site", SitePlan(judge=False)
    build_site(site, plan, database=database)
    history("libgeo", database=database)
    build_site(site, plan, database=database)
    build_site(tmp_path / "fresh", plan, database=database)
    assert contents(site) == contents(tmp_path / "fresh")


def suppressing(folder: Path) -> Ruling | None:
    (folder / "known.yaml").write_text("suppressions:\n  - symbol_pattern: call_.*\n    reason: private\n")
    return ruling("sdk_vendor", [str(folder / "known.yaml")])


@pytest.mark.parametrize(
    "plan", [SitePlan("Other title"), SitePlan(channel="stable"), SitePlan(project_url="https://example.org")]
)
def test_another_plan_makes_pages_anew(plan: SitePlan, database: Path, tmp_path: Path) -> None:
    set_baseline("libgeo@1.2", BaselinePlan(channel="stable"), database=database)
    build_site(tmp_path / "site", database=database)
    build_site(tmp_path / "site", plan, database=database)
    build_site(tmp_path / "fresh", plan, database=database)
    assert contents(tmp_path / "site") == contents(tmp_path / "fresh")


def test_another_policy_makes_pages_anew(database: Path, tmp_path: Path) -> None:
    site, by = tmp_path / "site", suppressing(tmp_path)
    build_site(site, database=database)
    build_site(site, database=database, by=by)
    build_site(tmp_path / "fresh", database=database, by=by)
    assert contents(site) == contents(tmp_path / "fresh")


@pytest.mark.parametrize("changed", ["_sources", "__version__"])
def test_another_template_or_version_makes_pages_anew(
    changed: str, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    build_site(site, database=database)
    asked: list[str] = []
    said = {"_sources": lambda *_: iter((("release.html", b"other"),)), "__version__": "999"}
    monkeypatch.setattr(building, changed, said[changed])
    monkeypatch.setattr(rendering, "_page", partial(_noting, asked, rendering._page))
    building.renderer.cache_clear()
    try:
        build_site(site, database=database)
    finally:
        building.renderer.cache_clear()
    assert {"release.html", "library.html", "matrix_page.html", "index.html", "kind.html"} <= set(asked)


def _noting(asked: list[str], whole: Callable[..., str], name: str, *more: object, **shown: object) -> str:
    asked.append(name)
    return whole(name, *more, **shown)


class Later(datetime):
    """A clock that goes a year ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(days=366)


@pytest.mark.parametrize("until", ["", "date"])
def test_a_day_passes_for_what_was_approved_until_a_day(
    until: str, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(database, f"{date.today() + timedelta(days=9)}" if until else "")
    with Store.open(database, write=False) as store:
        source = building.SiteSource(SitePlan(), database, None)
        today = building.cursors(store, source)
        monkeypatch.setattr(building, "datetime", Later)
        later = building.cursors(store, source)
    assert {name for name in today if today[name] != later[name]} == ({"libgeo"} if until else set())


def test_a_file_that_is_gone_is_written_again(database: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build_site(site, database=database)
    before = contents(site)
    for pattern in ("names/all.js", "kinds/index.html", "style.css", "libraries/libgeo-*/feed.xml"):
        next(site.glob(pattern)).unlink()
    assert isinstance(build_site(site, database=database), SiteBuilt)
    assert contents(site) == before
