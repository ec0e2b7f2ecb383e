"""The pages of a site, each rendered by itself from what it shows, and the chart of a line."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from hashlib import blake2b
from itertools import groupby
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import msgspec

from abistore.model.findings import Impact, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.words import bounded, json_text, spelled
from abistore.report.drawing import environment, told_in_pages
from abistore.report.history import (
    FIRST,
    MARKS,
    MEANINGS,
    OUTCOMES,
    TOLD_OUTCOMES,
    UNJUDGED_MARK,
    History,
    HistoryRow,
    Mark,
    Matrix,
    badge_facts,
    cells_of,
    corners,
    decision_of,
    mark,
    mark_of,
    outcome_mark,
    shown_outcome,
    sonames,
)
from abistore.report.model import ChangeKind, Report, Style, every
from abistore.report.plain import labelled
from abistore.report.since import Commit

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


VERDICTS = (*(MARKS[verdict] for verdict in sorted(Verdict, reverse=True)), UNJUDGED_MARK, FIRST)
ASSETS = ("style.css", "site.js", "findings.js")
RECENT = 12
"""How many of the latest releases a row of the overview marks."""

ROWS = 80
"""How many libraries the overview shows at once, as :file:`site.js` does: a row takes up to 2 kB."""

ENTRIES = 50
"""How many releases a feed tells of, the newest first."""


class Frame(NamedTuple):
    """What stands around every page: the site's title and address, and where the project and its revisions are.

    ``revisions`` is the address of a commit, with ``{revision}`` in its place. What is empty is not shown.
    """

    title: str
    url: str = ""
    project: str = ""
    revisions: str = ""

    def commit(self, revision: str) -> str:
        """The address of a commit; empty without a template."""
        return self.revisions.replace("{revision}", quote(revision, safe="")) if self.revisions else ""


class LibraryCard(NamedTuple):
    """A library in the overview: its folder, and the line with the newest release."""

    library: str
    folder: str
    line: History
    lines: int
    releases: int

    @property
    def newest(self) -> HistoryRow:
        """The latest release."""
        return self.line.rows[-1]

    @property
    def recent(self) -> Sequence[HistoryRow]:
        """The releases that its row marks."""
        return self.line.rows[-RECENT:]

    @property
    def urgency(self) -> tuple[int, float, str]:
        """Its place in the overview: problems first, and of each outcome the newest."""
        return (_place(self.newest), -_moment(self.newest.release).timestamp(), self.library)


def _place(row: HistoryRow) -> int:
    return [*OUTCOMES].index(shown_outcome(decision_of(row)))


def _moment(shown: Release) -> datetime:
    return shown.released or shown.ingested


class ReleasePage(NamedTuple):
    """What the page of a release shows beside its timeline row.

    ``report`` is against the release before, if it was judged; ``remarks`` are said of findings, by their ids;
    ``channels`` are the baselines that stand at it. ``commit`` is what is known of the revision that was built.
    """

    line: History
    number: int
    report: Report | None
    remarks: Mapping[str, Sequence[str]]
    channels: Sequence[str] = ()
    commit: Commit | None = None

    @property
    def row(self) -> HistoryRow:
        """The release in its timeline."""
        return self.line.rows[self.number]


def overview(frame: Frame, cards: Sequence[LibraryCard]) -> Iterator[tuple[str, str]]:
    """The page of all libraries, problems first, and plain lists of them by letter where one page has not all.

    The first page has :data:`ROWS`, however many there are: its script shows, filters and sorts the others.
    """
    ordered = sorted(cards, key=lambda card: card.urgency)
    counts = Counter(shown_outcome(decision_of(card.newest)) for card in cards)
    by_name = {card.library: card for card in cards}
    lists = _lists(by_name)
    yield (
        OVERVIEW,
        _page(
            "index.html",
            frame,
            cards=ordered[:ROWS],
            counts=counts,
            attention=counts["fail"] + counts["undecided"],
            releases=sum(card.releases for card in cards),
            lists=lists,
            listed=None,
            root="",
        ),
    )
    for one in lists:
        listed = [by_name[name] for name in one.names]
        yield one.file, _page("list.html", frame, cards=listed, listed=one, lists=lists, root="")


OVERVIEW = "index.html"
LISTED = 500
"""So many libraries stand on one list."""

NOT_A_LETTER = "other"


class LetterList(NamedTuple):
    """A plain list of libraries whose names begin alike."""

    label: str
    file: str
    names: Sequence[str]


def _lists(names: Iterable[str]) -> Sequence[LetterList]:
    """The libraries by letter, each once; none where the overview shows all."""
    letters: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=lambda name: (name.lower(), name)):
        letters[_letter(name)].append(name)
    if sum(map(len, letters.values())) <= ROWS:
        return ()
    return tuple(each for letter in sorted(letters) for each in _of_letter(letter, letters[letter]))


def _letter(name: str) -> str:
    """The letter that tells names apart: nearly all of C libraries begin with ``lib``."""
    first = name.lower().removeprefix("lib")[:1]
    return first if first.isascii() and first.isalnum() else NOT_A_LETTER


def _of_letter(letter: str, names: Sequence[str]) -> Iterator[LetterList]:
    for number, start in enumerate(range(0, len(names), LISTED), 1):
        label, file = (f"{letter} {number}", f"list-{letter}-{number}") if number > 1 else (letter, f"list-{letter}")
        yield LetterList(label, f"{file}.html", names[start : start + LISTED])


def overview_files(libraries: Iterable[str]) -> tuple[str, ...]:
    """The files of an overview of these libraries."""
    return (OVERVIEW, *(one.file for one in _lists(libraries)))


def overview_index(cards: Sequence[LibraryCard]) -> str:
    """What filters and sorts the overview, as a script: a row a library, problems first."""
    rows = [_indexed(card) for card in sorted(cards, key=lambda card: card.urgency)]
    return f"abistore_libraries({json_text(json.dumps(rows, separators=(',', ':')))});\n"


def _indexed(card: LibraryCard) -> tuple[object, ...]:
    row = card.newest
    outcomes = "".join(outcome_mark(decision_of(one)).letter for one in card.recent)
    name, version, day = bounded(card.library, 200), bounded(row.release.version, 80), _day(row.release)
    return name, card.folder, version, outcomes, mark_of(row).tone, row.release.exports, day


def library(frame: Frame, histories: Sequence[History], channels: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The page of a library: the timeline of each line. ``channels`` are those at each version of each line."""
    name = histories[0].line.library
    return _page(
        "library.html",
        frame,
        library=name,
        histories=histories,
        newest=_newest(histories),
        channels=channels,
        has_matrix=any(len(one.rows) > 1 for one in histories),
        root="../../",
        linked=True,
    )


def _newest(histories: Sequence[History]) -> HistoryRow | None:
    rows = [one.rows[-1] for one in histories if one.rows]
    return max(rows, key=lambda row: row.release.ingested, default=None)


class FeedEntry(NamedTuple):
    """A release in a feed, and its page from the folder of the feed."""

    row: HistoryRow
    address: str


def feed_entries(histories: Sequence[History], folder: str = "") -> tuple[FeedEntry, ...]:
    """The newest releases of some lines, newest first; their pages lie in ``folder``, which ends with a slash."""
    rows = [row for one in histories for row in one.rows]
    rows.sort(key=lambda row: (_moment(row.release), row.release.reference), reverse=True)
    return tuple(
        FeedEntry(row, f"{folder}{release_file(row.release.line, row.release.version)}") for row in rows[:ENTRIES]
    )


def newest_entries(entries: Iterable[FeedEntry]) -> tuple[FeedEntry, ...]:
    """The newest of the entries of many feeds."""
    ordered = sorted(entries, key=lambda one: (_moment(one.row.release), one.address), reverse=True)
    return tuple(ordered[:ENTRIES])


def feed(frame: Frame, name: str, where: str, entries: Sequence[FeedEntry]) -> str:
    """An Atom feed of releases and their outcomes; ``where`` is its folder in the site."""
    base = f"{frame.url.rstrip('/')}/{where}" if frame.url else ""
    return _page("feed.xml", frame, called=name, entries=entries, base=base)


def badges(histories: Sequence[History]) -> dict[str, str]:
    """The badge of the newest release, as a picture and for badge services; none without a release."""
    newest = _newest(histories)
    if newest is None:
        return {}
    decision = decision_of(newest)
    facts, mark = badge_facts(decision), outcome_mark(decision)
    left, right = (round(len(text) * LETTER) + 16 for text in (facts.label, facts.message))
    picture = _page("badge.svg", Frame(""), facts=facts, mark=mark, left=left, right=right + 14)
    return {"badge.svg": picture, "badge.json": f"{msgspec.json.encode(facts).decode()}\n"}


def replacements(frame: Frame, matrices: Sequence[Matrix], more: int) -> str:
    """The page that tells which release of a library can replace which; ``more`` older releases are left out."""
    told = [(matrix, cells_of(matrix)) for matrix in matrices]
    return _page("matrix_page.html", frame, library=matrices[0].line.library, matrices=told, more=more, root="../../")


def release(frame: Frame, shown: ReleasePage) -> str:
    """The page of a release: what is known of it, and what it changed."""
    rows, number = shown.line.rows, shown.number
    told = told_in_pages(shown.report, Style()) if shown.report else {"report": None, "groups": ()}
    return _page(
        "release.html",
        frame,
        **{**told, "remarks": _remarks(shown), "kinds_at": "../../kinds/"},
        shown=shown,
        previous=next((row.release for row in rows[:number] if row.release.version == shown.row.previous), None),
        decision=decision_of(shown.row),
        older=rows[number - 1].release if number else None,
        newer=rows[number + 1].release if number + 1 < len(rows) else None,
        root="../../",
    )


def _remarks(shown: ReleasePage) -> dict[str, Sequence[str]]:
    """What people say of findings, and who approved them."""
    found = dict(shown.remarks)
    for one in decision_of(shown.row).waived:
        found[one.finding] = (*found.get(one.finding, ()), f"Waived by {one.approver or 'somebody'}: {one.reason}")
    return found


def kinds(frame: Frame, every_kind: Mapping[str, Sequence[ChangeKind]]) -> str:
    """The list of all kinds of change, each by its first variant."""
    return _page("kinds.html", frame, every_kind=every_kind, root="../")


class ShownVariant(NamedTuple):
    """A variant of a kind, with its case and near-misses as Markdown."""

    card: ChangeKind
    example: str
    near_misses: str


def kind(frame: Frame, name: str, variants: Sequence[ShownVariant]) -> str:
    """The page of a kind: of each variant what happens, how to avoid it, and a case."""
    return _page("kind.html", frame, kind=name, variants=variants, root="../")


def history_page(histories: Sequence[History]) -> str:
    """The timelines of a library as one page that needs no other file, without a newline at its end."""
    name = histories[0].line.library
    return _page("history.html", Frame(name), library=name, histories=histories, channels={}, root="", linked=False)


def asset(name: str) -> str:
    """One of the files that pages share."""
    if name == "style.css":
        return f"{_source('page.css')}{_source('matrix.css')}{_source('site.css')}"
    return _source({"findings.js": "page.js"}.get(name, name))


NAMES_SEARCHED = 500
"""How many changed names of a release can be searched for: those of its first findings."""

TOGETHER = 20_000
"""So many names are one script; more are told apart by how their words begin."""

ALL = "all"
WORD = re.compile(r"[a-z0-9]{2,}|[A-Z][a-z0-9]+")
ENTRY, END = "abistore_index(", ");\n"


class Searched(NamedTuple):
    """A hit of the search: its name, its sort, and the path of its page from the folder of the script."""

    text: str
    about: str
    address: str


def search_index(found: Iterable[Searched], shards: Sequence[str] = ()) -> str:
    """An index as a script. ``shards`` are the scripts of names, which the search loads when they are asked for."""
    rows = json.dumps([[bounded(one.text, 200), one.about, one.address] for one in found], separators=(",", ":"))
    listed = f"abistore_shards({json.dumps(shards, separators=(',', ':'))});\n" if shards else ""
    return f"{ENTRY}{json_text(rows)}{END}{listed}"


def read_index(script: str) -> Iterator[Searched]:
    """The entries of a library's index, as :func:`search_index` wrote it."""
    yield from (Searched(*row) for row in json.loads(script.removeprefix(ENTRY).removesuffix(END)))


def names_in(report: Report, page: str) -> tuple[Searched, ...]:
    """The declarations that a release changed, each once, with the place on its page."""
    found: dict[str, Searched] = {}
    for finding in every(report.changes):
        found.setdefault(finding.display, Searched(finding.display, f"{finding.kind}, {report.new}", f"{page}#"))
        if len(found) == NAMES_SEARCHED:
            break
    first = {finding.display: finding.id for finding in reversed(report.changes)}
    return tuple(one._replace(address=f"{page}#{first.get(one.text, '')}".rstrip("#")) for one in found.values())


def sharded(found: Sequence[Searched]) -> Mapping[str, Sequence[Searched]]:
    """The names by their scripts: all in one, or each in those of its words' first two letters."""
    if len(found) <= TOGETHER:
        return {ALL: found}
    shards: dict[str, list[Searched]] = defaultdict(list)
    for one in found:
        for start in sorted(beginnings(one.text)):
            shards[start].append(one)
    return dict(sorted(shards.items()))


def beginnings(name: str) -> set[str]:
    """The first two letters of each word of a name, as :file:`site.js` asks for them, without its parameters."""
    words = re.findall(r"[A-Za-z0-9]{2,}", name.partition("(")[0])
    inner = (part for word in words for part in (word, *WORD.findall(word)))
    return {part[:2].lower() for part in inner if part[:2].isascii()}


def _page(name: str, frame: Frame, **shown: object) -> str:
    return spelled(_environment().get_template(name).render(frame=frame, title=frame.title, **shown))


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
        "by_soname": by_soname,
        "decision_of": decision_of,
        "corners": corners,
        "sonames": sonames,
        "moment": lambda shown: f"{_moment(shown):%Y-%m-%dT%H:%M:%SZ}",
        "outcome_mark": outcome_mark,
        "uri": lambda text: quote(text.encode("utf-8", "surrogatepass"), safe=""),
    }
    made.globals |= {
        "MEANINGS": MEANINGS,
        "OUTCOMES": OUTCOMES,
        "TOLD_OUTCOMES": TOLD_OUTCOMES,
        "VERDICTS": VERDICTS,
        "Verdict": Verdict,
        "chart": chart,
        "library_folder": library_folder,
        "mark": mark,
        "source": _marked,
    }
    return made


def _day(shown: Release) -> str:
    return f"{_moment(shown):%Y-%m-%d}"


def by_soname(rows: Sequence[HistoryRow]) -> list[tuple[str, list[HistoryRow]]]:
    """The releases newest first, in groups of one SONAME."""
    grouped = groupby(reversed(rows), key=lambda row: row.release.soname or "")
    return [(soname, list(group)) for soname, group in grouped]


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


LEFT, RIGHT = 62, 26
NARROWEST, WIDEST, WANTED = 18, 112, 890
"""The width of a release in the chart, and of all of them where there is room."""

TOP, BOTTOM = 38.0, 126.0
"""Between which heights the exports are drawn, from none to the most; above them stand the SONAMEs."""

MIDDLE, TALLEST = 168.0, 28.0
"""Added and changed grow up from the middle, removed down, at most so far."""

LABELS, LEVEL, TILTED = 270, 282, 336
"""The height of the labels, and of a chart whose labels lie level or are tilted."""

LETTER = 6.6
"""The width of a letter, so that labels are cut before they leave their place."""

LABEL_LETTERS = 12
SIZE = 22.0
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
    """One release: the marks of its outcome and verdict, its label (cut), and what the pointer shows."""

    row: HistoryRow
    x: float
    y: float
    outcome: Mark
    verdict: Mark
    label: str
    title: str


class Chart(NamedTuple):
    """All places; ``line`` are the exports as the points of a path, ``ticks`` the numbers beside it."""

    width: float
    height: int
    bands: tuple[Band, ...]
    line: str
    ticks: tuple[tuple[float, int], ...]
    bars: tuple[Bar, ...]
    columns: tuple[Column, ...]
    step: float
    tilted: bool
    size: float


def chart(rows: Sequence[HistoryRow]) -> Chart:
    """The chart of releases in release order, oldest first; there is at least one. Its axis begins at zero."""
    step = round(max(NARROWEST, min(WIDEST, WANTED / len(rows))), 1)
    most = max(row.release.exports for row in rows)
    tilted = any(len(_cut(row.release.version, LABEL_LETTERS)) * LETTER > step - 4 for row in rows)
    return Chart(
        round(LEFT + step * len(rows) + RIGHT, 1),
        TILTED if tilted else LEVEL,
        tuple(_bands(rows, step)),
        _path([_height(row.release.exports, most) for row in rows], step),
        tuple((_height(count, most), count) for count in sorted({0, most})),
        tuple(_bars(rows, step)),
        tuple(_columns(rows, step, most)),
        step,
        tilted,
        round(min(SIZE, step * 1.1), 1),
    )


def _height(count: int, most: int) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * count / max(most, 1), 1)


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


def _columns(rows: Sequence[HistoryRow], step: float, most: int) -> Iterator[Column]:
    for number, row in enumerate(rows):
        verdict, outcome = mark_of(row), outcome_mark(decision_of(row))
        yield Column(
            row,
            round(LEFT + step * (number + 0.5), 1),
            _height(row.release.exports, most),
            outcome,
            verdict,
            _cut(row.release.version, LABEL_LETTERS),
            _title(row, outcome, verdict),
        )


def _title(row: HistoryRow, outcome: Mark, verdict: Mark) -> str:
    churn = row.churn
    changes = f", +{churn.added} -{churn.removed} ~{churn.changed}" if churn else ""
    compared = f" compared with {row.previous}" if row.previous else ""
    return f"{row.release.version}: {outcome.words}; {verdict.words}{compared}; {row.release.exports} exports{changes}"


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…" if letters > 2 else ""
