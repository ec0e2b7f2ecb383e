"""Building the site: one library at a time, and of each only the pages that say something else than before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.model.cycles import with_cycle_collection
from abistore.model.history import Progress
from abistore.report.site import pages
from abistore.report.site.addresses import library_folder
from abistore.service.catalogue import by_kind, changes
from abistore.service.database import Database, using
from abistore.service.examples import case
from abistore.service.site.folder import SiteFolder, Tally, open_site
from abistore.service.site.keys import key
from abistore.service.site.library import LIBRARIES, Made
from abistore.service.site.plan import USUAL, SitePlan, SiteSource
from abistore.service.site.processes import made_of

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling

SHARED = ("index.html", "search.js", *pages.ASSETS)
KINDS = "kinds"


class SiteBuilt(msgspec.Struct, frozen=True):
    """What a build did: the first page, what it shows, and how many files were written, left alone and removed."""

    index: Path
    libraries: int
    releases: int
    written: int
    unchanged: int
    removed: int


def build_site(
    out: str | Path,
    plan: SitePlan = USUAL,
    *,
    database: Database = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
) -> SiteBuilt:
    """Write the whole store as static HTML pages to a folder that is empty, new, or of an earlier build.

    Verdicts that are missing are given now and stored. What changed since the last build is written, what is over is
    removed, and files of others are left alone. Raises :class:`OutputError`.
    """
    tally = Tally()
    top = open_site(Path(out), tally)
    with using(database) as store, with_cycle_collection():
        folders = {name: library_folder(name) for name in sorted({line.library for line in store.lines()})}
        libraries = top.inside(LIBRARIES)
        top.plan(SHARED, (LIBRARIES, KINDS))
        libraries.plan((), folders.values())
        _kinds(top.inside(KINDS), plan)
        made = []
        for each in made_of(folders, libraries, store, SiteSource(plan, database, by)):
            made.append(each)
            if progress:
                progress(each.card.library, len(made) / len(folders))
        _remove_former(libraries, set(folders.values()))
    _top(top, plan, made)
    releases = sum(one.card.releases for one in made)
    return SiteBuilt(top.path / "index.html", len(made), releases, tally.written, tally.unchanged, tally.removed)


def _top(top: SiteFolder, plan: SitePlan, made: Sequence[Made]) -> None:
    cards = tuple(one.card for one in made)
    kinds = (pages.Searched(one, "kind of change", f"{KINDS}/{one}.html") for one in by_kind(changes()))
    found = [*(each for one in made for each in one.found), *kinds]
    top.put("index.html", key(plan, cards), lambda: pages.overview(plan.title, cards))
    top.put("search.js", key(found), lambda: pages.search_index(found))
    for name in pages.ASSETS:
        top.write(name, "", pages.asset(name))
    top.finish()


def _kinds(folder: SiteFolder, plan: SitePlan) -> None:
    """Write the reference of kinds, to which ``helpUri`` of SARIF can point."""
    every = by_kind(changes())
    folder.plan(("index.html", *(f"{kind}.html" for kind in every)))
    folder.put("index.html", key(plan.title), lambda: pages.kinds(plan.title, every))
    for kind, cards in every.items():
        shown = [pages.ShownVariant(card, *case(card.kind)) for card in cards]
        folder.put(f"{kind}.html", key(plan.title, shown), partial(pages.kind, plan.title, kind, shown))
    folder.finish()


def _remove_former(libraries: SiteFolder, now: set[str]) -> None:
    for name in sorted(set(libraries.former) - now):
        libraries.inside(name).clear()
    libraries.finish()
