"""The pages of a site, each rendered by itself from what it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import groupby
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from abistore.model.findings import Impact, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.words import bounded, json_text, spelled
from abistore.report.drawing import environment, told_in_pages
from abistore.report.history import (
    FIRST,
    MARKS,
    UNJUDGED_MARK,
    History,
    HistoryRow,
    Mark,
    Matrix,
    cells_of,
    mark,
    mark_of,
)
from abistore.report.model import ChangeKind, Report, Style, every
from abistore.report.plain import labelled

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 40
OTHERS = re.compile(r"[^a-z0-9]+")
OURS = re.compile(r"[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9]+)?")
"""What the name of each of our files and folders is made of."""


def address(shown: str, *meant: str) -> str:
    """A name of small letters, digits and hyphens for what ``meant`` says, exactly; ``shown`` is its readable part.

    The digest tells apart what file systems take for one (``libA``, ``liba``), and what was cut.
    """
    said = "\0".join(meant or (shown,)).encode("utf-8", "surrogatepass")
    readable = OTHERS.sub("-", shown.lower())[:LONGEST].strip("-")
    return "-".join(filter(None, (readable, blake2b(said, digest_size=8).hexdigest())))


def library_folder(library: str) -> str:
    """The folder of a library's pages."""
    return address(library)


def release_file(line: LineKey, version: str) -> str:
    """The page of a release, in its library's folder."""
    return f"{address(version, line.target, line.profile, version)}.html"


LEFT, RIGHT = 58, 26
NARROWEST, WIDEST, WANTED = 14, 96, 870
"""The width of a release in the chart, and of all of them where there is room."""

TOP, BOTTOM = 34.0, 138.0
"""Between which heights the exports are drawn; above them stand the SONAMEs."""

MIDDLE, TALLEST = 184.0, 28.0
"""Added and changed grow up from the middle, removed down, at most so far."""

MARKED = 234.0
LETTER = 6.6
"""The width of a letter, so that labels are cut before they leave their place."""

LABEL_LETTERS = 12
RADIUS = 7.0
"""Of a mark; less where the releases stand closer."""


class Band(NamedTuple):
    """Releases in a row that have one SONAME; ``text`` is cut to their width."""

    x: float
    width: float
    text: str
    soname: str


class Bar(NamedTuple):
    """How many exports or declarations were ``added``, ``changed`` or ``removed``."""

    tone: str
    x: float
    y: float
    width: float
    height: float


class Column(NamedTuple):
    """One release: its verdict's mark, its label (cut), and what the pointer shows."""

    row: HistoryRow
    x: float
    y: float
    mark: Mark
    corners: str
    label: str
    title: str


class Chart(NamedTuple):
    """All places; ``line`` are the exports as the points of a path, ``ticks`` the numbers beside it."""

    width: float
    bands: tuple[Band, ...]
    line: str
    ticks: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]
    columns: tuple[Column, ...]
    step: float
    tilted: bool
    radius: float


def chart(rows: Sequence[HistoryRow]) -> Chart:
    """The chart of releases in release order, oldest first; there is at least one."""
    step = max(NARROWEST, min(WIDEST, WANTED / len(rows)))
    low, high = _range([row.release.exports for row in rows])
    tilted = any(len(_cut(row.release.version, LABEL_LETTERS)) * LETTER > step - 4 for row in rows)
    return Chart(
        round(LEFT + step * len(rows) + RIGHT, 1),
        tuple(_bands(rows, step)),
        _path([_height(row.release.exports, low, high) for row in rows], step),
        tuple((_height(count, low, high), count) for count in sorted({low, high})),
        tuple(_bars(rows, step)),
        tuple(_columns(rows, step, (low, high))),
        round(step, 1),
        tilted,
        round(min(RADIUS, step * 0.43), 1),
    )


def spark(rows: Sequence[HistoryRow], width: float, height: float) -> str:
    """The exports of releases as the points of a small line."""
    counts = [row.release.exports for row in rows]
    low, high = min(counts), max(counts)
    run = width / max(len(counts) - 1, 1)
    rise = (height - 2) / max(high - low, 1)
    heights = [height / 2 if low == high else height - 1 - (count - low) * rise for count in counts]
    places = [(number * run, y) for number, y in enumerate(heights)]
    if len(places) == 1:
        places.append((width, places[0][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def corners(mark: Mark, x: float, y: float, radius: float) -> str:
    """The corners of a mark's shape around a place, as SVG has them; empty for a circle."""
    return " ".join(f"{x + radius * dx:.1f},{y + radius * dy:.1f}" for dx, dy in mark.points)


def _range(counts: Sequence[int]) -> tuple[int, int]:
    """The range of the chart: from 0 if the counts differ much, else from the least to the most."""
    low, high = min(counts), max(counts)
    return (0 if 2 * low < high else low), high


def _height(count: int, low: int, high: int) -> float:
    return round((TOP + BOTTOM) / 2 if low == high else BOTTOM - (BOTTOM - TOP) * (count - low) / (high - low), 1)


def _path(heights: Sequence[float], step: float) -> str:
    """Steps, not slopes: a release has what it has until the next one."""
    moves = [f"M{LEFT:.1f} {heights[0]:.1f}"]
    for number, height in enumerate(heights):
        moves.append(f"V{height:.1f}H{LEFT + step * (number + 1):.1f}")
    return "".join(moves)


def _bands(rows: Sequence[HistoryRow], step: float) -> Iterator[Band]:
    start = 0
    for soname, group in groupby(rows, key=lambda row: row.release.soname or ""):
        length = len(tuple(group))
        width = step * length
        yield Band(round(LEFT + step * start, 1), round(width, 1), _cut(soname, int((width - 8) / LETTER)), soname)
        start += length


def _bars(rows: Sequence[HistoryRow], step: float) -> Iterator[Bar]:
    churns = [row.churn for row in rows if row.churn]
    most = max((max(one.added + one.changed, one.removed) for one in churns), default=0)
    scale = TALLEST / sqrt(most) if most else 0.0
    width = round(min(step * 0.56, 22.0), 1)
    for number, row in enumerate(rows):
        if row.churn is None:
            continue
        x = round(LEFT + step * (number + 0.5) - width / 2, 1)
        both = sqrt(row.churn.added + row.churn.changed) * scale
        added = both * row.churn.added / max(row.churn.added + row.churn.changed, 1)
        removed = sqrt(row.churn.removed) * scale
        for tone, y, height in (
            ("added", MIDDLE - added, added),
            ("changed", MIDDLE - both, both - added),
            ("removed", MIDDLE, removed),
        ):
            if height:
                yield Bar(tone, x, round(y, 1), width, round(max(height, 1.0), 1))


def _columns(rows: Sequence[HistoryRow], step: float, span: tuple[int, int]) -> Iterator[Column]:
    for number, row in enumerate(rows):
        mark, x = mark_of(row), LEFT + step * (number + 0.5)
        yield Column(
            row,
            round(x, 1),
            _height(row.release.exports, *span),
            mark,
            corners(mark, x, MARKED, min(RADIUS, step * 0.43)),
            _cut(row.release.version, LABEL_LETTERS),
            _title(row, mark),
        )


def _title(row: HistoryRow, mark: Mark) -> str:
    churn = row.churn
    changes = f", +{churn.added} -{churn.removed} ~{churn.changed}" if churn else ""
    since = f" since {row.previous}" if row.previous else ""
    return f"{row.release.version}: {mark.words}{since}; {row.release.exports} exports{changes}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…" if letters > 2 else ""


FENCE = "```"


class Block(NamedTuple):
    """A paragraph, or code."""

    text: str
    is_code: bool


def blocks(markdown: str) -> tuple[Block, ...]:
    """The paragraphs and the code of a case, in order."""
    return tuple(_blocks(labelled(markdown))) if markdown else ()


def _blocks(markdown: str) -> Iterator[Block]:
    for number, part in enumerate(f"\n{markdown}".split(f"\n{FENCE}")):
        if number % 2:
            yield Block(part.partition("\n")[2], True)
        else:
            paragraphs = (text.strip() for text in part.split("\n\n"))
            yield from (Block(text, False) for text in paragraphs if text)


LEGEND = (*(MARKS[verdict] for verdict in sorted(Verdict, reverse=True)), UNJUDGED_MARK, FIRST)
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
    made = environment("templates/site")
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
