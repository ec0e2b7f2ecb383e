"""The pages of a site, each rendered by itself from what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from abistore.model.findings import Impact, Verdict
from abistore.model.history import Release
from abistore.model.words.characters import bounded, json_text, spelled
from abistore.report.history.matrix import cells_of
from abistore.report.history.model import Matrix
from abistore.report.model import ChangeKind, Report, every
from abistore.report.page.templates import environment, told_in_pages
from abistore.report.site.addresses import library_folder, release_file
from abistore.report.site.chart import chart, corners, spark
from abistore.report.site.examples import blocks
from abistore.report.site.marks import FIRST, MARKS, UNJUDGED, mark, mark_of
from abistore.report.site.timeline import History, HistoryRow
from abistore.report.style import Style

if TYPE_CHECKING:
    from jinja2 import Environment

LEGEND = (*(MARKS[verdict] for verdict in sorted(Verdict, reverse=True)), UNJUDGED, FIRST)
ASSETS = ("style.css", "site.js", "findings.js")
NAMES_SEARCHED = 500
"""How many names of a release can be searched for: those of its first findings."""

RECENT = 24
"""How many of the latest releases the overview draws."""


class Searched(NamedTuple):
    """A hit of the search: its name, its sort, and the path of its page from the folder of the index."""

    text: str
    about: str
    address: str


class LibraryCard(NamedTuple):
    """A library in the overview: its folder, and the line with the newest release."""

    library: str
    folder: str
    line: History
    lines: int
    releases: int


class ReleasePage(NamedTuple):
    """What the page of a release shows beside its timeline row.

    ``report`` is against the release before, if it was judged; ``remarks`` are said of findings, by their ids;
    ``channels`` are the baselines that stand at it.
    """

    line: History
    number: int
    report: Report | None
    remarks: Mapping[str, Sequence[str]]
    channels: Sequence[str] = ()

    @property
    def row(self) -> HistoryRow:
        """The release in its timeline."""
        return self.line.rows[self.number]


def overview(title: str, cards: Sequence[LibraryCard]) -> str:
    """The first page: all libraries."""
    names = [f"libraries/{card.folder}/names.js" for card in cards]
    return _page("index.html", title=title, cards=cards, root="", names=" ".join(names))


def library(title: str, histories: Sequence[History], channels: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The page of a library: the timeline of each line. ``channels`` are those at each version of each line."""
    name = histories[0].line.library
    return _page(
        "library.html",
        title=title,
        library=name,
        histories=histories,
        channels=channels,
        has_matrix=any(len(one.rows) > 1 for one in histories),
        root="../../",
        linked=True,
    )


def replacements(title: str, matrices: Sequence[Matrix], more: int) -> str:
    """The page that tells which release of a library can replace which; ``more`` older releases are left out."""
    told = [(matrix, cells_of(matrix)) for matrix in matrices]
    return _page(
        "matrix_page.html", title=title, library=matrices[0].line.library, matrices=told, more=more, root="../../"
    )


def release(title: str, shown: ReleasePage) -> str:
    """The page of a release: what is known of it, and what it changed."""
    rows, number = shown.line.rows, shown.number
    told = told_in_pages(shown.report, Style()) if shown.report else {"report": None, "groups": ()}
    return _page(
        "release.html",
        **{**told, "remarks": shown.remarks, "kinds_at": "../../kinds/"},
        title=title,
        shown=shown,
        older=rows[number - 1].release if number else None,
        newer=rows[number + 1].release if number + 1 < len(rows) else None,
        root="../../",
    )


def kinds(title: str, every_kind: Mapping[str, Sequence[ChangeKind]]) -> str:
    """The list of all kinds of change, each by its first variant."""
    return _page("kinds.html", title=title, every_kind=every_kind, root="../")


class ShownVariant(NamedTuple):
    """A variant of a kind, with its case and near-misses as Markdown."""

    card: ChangeKind
    example: str
    near_misses: str


def kind(title: str, name: str, variants: Sequence[ShownVariant]) -> str:
    """The page of a kind: of each variant what happens, how to avoid it, and a case."""
    return _page("kind.html", title=title, kind=name, variants=variants, root="../")


def history_page(histories: Sequence[History]) -> str:
    """The timelines of a library as one page that needs no other file, without a newline at its end."""
    name = histories[0].line.library
    return _page("history.html", title=name, library=name, histories=histories, channels={}, root="", linked=False)


def asset(name: str) -> str:
    """One of the files that pages share."""
    if name == "style.css":
        return f"{_source('page.css')}{_source('matrix.css')}{_source('site.css')}"
    return _source({"findings.js": "page.js"}.get(name, name))


def search_index(found: Iterable[Searched]) -> str:
    """An index as a script: pages that are read from a disk may load scripts, and nothing else."""
    rows = json.dumps([[bounded(one.text, 200), one.about, one.address] for one in found], separators=(",", ":"))
    return f"abistore_index({json_text(rows)});\n"


def names_in(report: Report, page: str) -> tuple[Searched, ...]:
    """The declarations that a release changed, each once, with the place on its page."""
    found: dict[str, Searched] = {}
    for finding in every(report.changes):
        found.setdefault(finding.display, Searched(finding.display, f"{finding.kind}, {report.new}", f"{page}#"))
        if len(found) == NAMES_SEARCHED:
            break
    first = {finding.display: finding.id for finding in reversed(report.changes)}
    return tuple(one._replace(address=f"{page}#{first.get(one.text, '')}".rstrip("#")) for one in found.values())


def _page(name: str, **shown: object) -> str:
    return spelled(_environment().get_template(name).render(**shown))


@cache
def _environment() -> Environment:
    made = environment("site/templates")
    made.filters |= {
        "mark_of": mark_of,
        "release_page": lambda shown: release_file(shown.line, shown.version),
        "day": _day,
        "web": _web,
        "groupby_impact": _by_impact,
        "blocks": blocks,
    }
    made.globals |= {
        "LEGEND": LEGEND,
        "RECENT": RECENT,
        "Verdict": Verdict,
        "chart": chart,
        "corners": corners,
        "library_folder": library_folder,
        "mark": mark,
        "source": _marked,
        "spark": spark,
    }
    return made


def _day(shown: Release) -> str:
    return f"{shown.released or shown.ingested:%Y-%m-%d}"


def _by_impact(
    every_kind: Mapping[str, Sequence[ChangeKind]],
) -> Iterator[tuple[str, list[tuple[str, Sequence[ChangeKind]]]]]:
    found: dict[str, list[tuple[str, Sequence[ChangeKind]]]] = {impact.label: [] for impact in reversed(Impact)}
    for kind, cards in every_kind.items():
        found[cards[0].impact].append((kind, cards))
    return ((impact, kinds) for impact, kinds in found.items() if kinds)


def _web(address: str | None) -> bool:
    """Whether an address opens a page of the web, and runs nothing here."""
    return (address or "").lower().startswith(("https://", "http://"))


@cache
def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _marked(name: str) -> object:
    from markupsafe import Markup

    return Markup(asset(name))
