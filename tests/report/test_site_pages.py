"""What a site looks like: marks that need no colour, colours that can be read, and histories in other formats."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from abistore.cli.main import in_plain_letters
from abistore.model.decision import Counterpart, Decision, Outcome, Reason, ReasonCode
from abistore.model.findings import Churn, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Target
from abistore.report.history import (
    COLOURS,
    FIRST,
    LEVELS,
    MARKS,
    OUTCOMES,
    UNJUDGED_MARK,
    History,
    HistoryRow,
    Matrix,
    MatrixRelease,
    bar,
    cells_of,
    decision_of,
    mark,
    markdown,
    outcome_mark,
    plot,
    sonames,
    sparkline,
)
from abistore.report.model import Style
from abistore.report.site import (
    LISTED,
    OURS,
    RECENT,
    ROWS,
    Frame,
    LibraryCard,
    Searched,
    address,
    asset,
    badges,
    chart,
    feed,
    feed_entries,
    history_page,
    library_folder,
    overview,
    overview_files,
    overview_index,
    search_index,
    sharded,
)

LINE = LineKey("libgeo", "elf-x86_64-64-little")
TEXTS = (
    "ink",
    "dim",
    "breaking",
    "api_break",
    "risk",
    "compatible",
    "unchanged",
    "unchecked",
    "waived",
    "notice",
    "link",
)
GROUNDS = ("ground", "sheet", "soft", "band")
AA, AA_LARGE = 4.5, 3.0


OUTCOME_OF: Mapping[ReasonCode, Outcome] = {"breaking": "fail", "evidence-missing": "undecided"}


def row(
    number: int,
    verdict: Verdict | None,
    exports: int = 10,
    version: str = "",
    *,
    soname: str = "",
    reason: ReasonCode | None = None,
) -> HistoryRow:
    day = datetime(2020, 1, 1 + number, tzinfo=UTC)
    evidence = (Evidence("symbol", "full"),)
    release = Release(
        *(LINE, version or f"1.{number}", number, f"{number:032x}", Target("elf", "x86_64", 64, "little")),
        *(soname or "libgeo.so.1", exports, exports, day, day, None, None, Provenance(), evidence),
    )
    churn = Churn(number, 1, 2) if number else None
    why = reason or ("breaking" if verdict is Verdict.BREAKING else "no-break")
    outcome, said = OUTCOME_OF.get(why, "pass"), (Reason(why, "because"),)
    against = Counterpart("previous", f"1.{number - 1}") if number else Counterpart("first")
    decision = Decision("libgeo", release.version, against, None, outcome, 0, "because", said)
    return HistoryRow(release, f"1.{number - 1}" if number else None, churn, verdict, None, decision=decision)


def history(*rows: HistoryRow) -> History:
    return History(LINE, "release", None, rows)


def test_each_verdict_has_a_letter_and_a_tone_of_its_own_and_a_break_a_shape_of_its_own() -> None:
    marks = [*MARKS.values(), UNJUDGED_MARK, FIRST]
    assert len({one.letter for one in marks}) == len(marks)
    assert len({one.tone for one in marks}) == len(marks)
    shapes = [MARKS[verdict].points for verdict in Verdict if verdict > Verdict.COMPATIBLE]
    assert len(set(shapes)) == len(shapes) and all(shapes)
    assert set(MARKS) == set(Verdict)


def test_each_outcome_has_a_letter_a_shape_and_a_word_of_its_own() -> None:
    marks = list(OUTCOMES.values())
    for seen in ("letter", "tone", "words", "points"):
        assert len({getattr(one, seen) for one in marks}) == len(marks)


@pytest.mark.parametrize("verdict", [Verdict.NO_CHANGE, Verdict.COMPATIBLE])
def test_a_good_verdict_with_less_evidence_does_not_look_good(verdict: Verdict) -> None:
    assert mark(verdict, "layout not compared").tone == "unchecked"
    assert mark(Verdict.BREAKING, "layout not compared").tone == "breaking"


def palettes() -> dict[str, dict[str, str]]:
    """The colours of both schemes, as the last rule that names one sets it."""
    found: dict[str, dict[str, str]] = {"light": {}, "dark": {}}
    for sheet in ("page.css", "site.css"):
        css = asset(sheet)
        dark = "".join(re.findall(r"@media \(prefers-color-scheme: dark\) \{(.*?)\n\}", css, re.DOTALL))
        light = re.sub(r"@media \(prefers-color-scheme: dark\) \{.*?\n\}", "", css, flags=re.DOTALL)
        for scheme, text in (("light", light), ("dark", dark)):
            found[scheme] |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", text))
    return found


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = (int(whole[start : start + 2], 16) / 255 for start in (0, 2, 4))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_text_can_be_read_on_every_ground(scheme: str) -> None:
    colours = palettes()[scheme]
    assert colours.keys() >= {*TEXTS, *GROUNDS}
    weak = {
        (text, ground): round(contrast(colours[text], colours[ground]), 2)
        for text in TEXTS
        for ground in GROUNDS
        if contrast(colours[text], colours[ground]) < AA
    }
    assert not weak


def test_a_chart_has_a_place_for_every_release_and_bands_for_sonames() -> None:
    rows = [row(number, Verdict.COMPATIBLE, 10 + number, soname=f"libgeo.so.{number // 3}") for number in range(9)]
    drawn = chart(rows)
    assert [column.row.release.version for column in drawn.columns] == [f"1.{number}" for number in range(9)]
    assert [band.soname for band in drawn.bands] == ["libgeo.so.0", "libgeo.so.1", "libgeo.so.2"]
    edges = [(band.x, round(band.x + band.width, 1)) for band in drawn.bands]
    assert [left for left, _ in edges[1:]] == [right for _, right in edges[:-1]]
    assert all(0 <= column.x <= drawn.width for column in drawn.columns)
    heights = [column.y for column in drawn.columns]
    assert heights == sorted(heights, reverse=True)


def test_the_axis_of_a_chart_begins_at_zero_however_alike_the_counts_are() -> None:
    drawn = chart([row(0, None, 1000), row(1, Verdict.COMPATIBLE, 1010)])
    assert [count for _, count in drawn.ticks] == [0, 1010]
    zero, most = (height for height, _ in drawn.ticks)
    heights = [column.y for column in drawn.columns]
    assert heights[1] == most < heights[0] < most + 0.02 * (zero - most)


@pytest.mark.parametrize("count", [1, 2, 60, 1000])
def test_a_chart_of_any_length_is_finite_and_its_labels_fit(count: int) -> None:
    rows = [row(number % 20, None, 0, version="9" * 200) for number in range(count)]
    drawn = chart(rows)
    assert len(drawn.columns) == count
    assert all(len(column.label) <= 12 for column in drawn.columns)
    assert "nan" not in drawn.line


def test_a_history_is_one_page_without_other_files() -> None:
    page = history_page([history(row(0, None), row(1, Verdict.BREAKING, version="<script>alert(1)</script>"))])
    assert "<script" not in page and not re.findall(r'(?:src|href)="(?!#)', page)
    assert "&lt;script&gt;" in page and "Breaking</span>" in page


def test_a_markdown_table_has_its_columns_whatever_versions_are_called() -> None:
    text = markdown([history(row(0, None), row(1, Verdict.API_BREAK, version="a|b`c\\|"))])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    bars = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in rows}
    assert len(rows) == 4 and bars == {10}
    assert "API break" in rows[2]


def test_a_markdown_table_has_the_same_words_for_both_verdicts_and_names_tags() -> None:
    same = msgspec.structs.replace(row(1, Verdict.API_BREAK), against_baseline=Verdict.NO_CHANGE)
    worse = msgspec.structs.replace(row(2, Verdict.COMPATIBLE), against_baseline=Verdict.API_BREAK)
    tagged = msgspec.structs.replace(worse.release, tags=(ReleaseTag("withdrawn"),))
    text = markdown([history(row(0, None), same, msgspec.structs.replace(worse, release=tagged))])
    assert [line.split("|")[-3:-1] for line in text.splitlines() if line.startswith("| `1")][:2] == [
        [" Compatible ", " API break "],
        [" API break ", " No change "],
    ]
    assert "| `1.2` (withdrawn) |" in text


def test_a_plot_shows_a_bar_a_letter_and_the_changes_of_each_release() -> None:
    rows = (row(0, None, 5), row(1, Verdict.COMPATIBLE, 10), row(2, Verdict.BREAKING, 8, soname="libgeo.so.2"))
    lines = plot(history(*rows), Style(width=80)).splitlines()
    assert lines[0].endswith(sparkline(rows)) and sparkline(rows) == "5 ▁█▅ 10"
    assert [line.split()[:3] for line in lines if line.startswith("1.")] == [
        ["1.0", "1", "5"],
        ["1.1", "C", "10"],
        ["1.2", "B", "8"],
    ]
    assert [line.strip() for line in lines if "libgeo.so" in line] == ["libgeo.so.1", "libgeo.so.2"]
    assert lines[-2].endswith("+2 -1 ~2")
    assert max(map(len, lines[1:-1])) <= 80


def test_a_plot_needs_no_more_than_ascii() -> None:
    text = plot(history(*(row(number, Verdict.COMPATIBLE, number) for number in range(9))), Style())
    import codecs

    codecs.register_error("abistore", in_plain_letters)
    plain = text.encode("ascii", "abistore").decode()
    assert len(plain) == len(text) and "\\u" not in plain


def test_bars_grow_by_eighths_and_never_leave_their_width() -> None:
    lengths = [bar(count, 64, 8) for count in range(65)]
    assert {len(one) for one in lengths} == {8}
    assert len(set(lengths)) == 65
    assert len(set(LEVELS)) == 8


def test_addresses_are_short_plain_and_told_apart_without_case() -> None:
    names = ["a", "A", "../x", "", "\udcff", "n" * 300, "n" * 301, "con", "\u0131", "i", "ä", "a\u0308"]
    made = [address(name) for name in names]
    assert len({one.casefold() for one in made}) == len(names)
    assert all(OURS.fullmatch(one) and len(one) < 64 for one in made)


def test_a_search_index_is_a_script_whatever_names_are(tmp_path: Path) -> None:
    text = search_index([Searched("</script>\u2028\udcff\x00", "a", "b.html")])
    assert text.isascii() and "\x00" not in text
    assert json.loads(text[len("abistore_index(") : -3]) == [["</script>\u2028\udcff\x00", "a", "b.html"]]


def test_an_allowed_break_a_waived_one_and_an_accident_are_marked_differently() -> None:
    rows = [row(1, Verdict.BREAKING, reason=reason) for reason in ("breaking", "allowed", "waived", "evidence-missing")]
    assert [outcome_mark(decision_of(each)).words for each in rows] == ["Fail", "Pass", "Waived", "Undecided"]


def card(number: int, verdict: Verdict) -> LibraryCard:
    line = History(LineKey(f"lib{number:03}", LINE.target), "release", None, (row(0, None), row(1, verdict)))
    return LibraryCard(line.line.library, f"lib{number}", line, 1, 2)


def test_the_overview_begins_with_what_needs_attention_and_lists_the_rest_by_letter() -> None:
    cards = [card(number, Verdict.BREAKING if number == 204 else Verdict.COMPATIBLE) for number in range(205)]
    pages = dict(overview(Frame("ABI"), cards))
    assert tuple(pages) == overview_files(each.library for each in cards) == LISTS
    assert "<b>1 of 205 libraries</b> needs attention" in pages["index.html"]
    told = re.findall(r'class="who"><a href="libraries/(\w+)/', pages["index.html"])
    assert told == ["lib204", *(f"lib{number}" for number in range(ROWS - 1))]
    assert all(f'<a href="{name}"' in text for text in pages.values() for name in LISTS[1:])
    listed = [name for page in LISTS[1:] for name in re.findall(r'<li><a href="libraries/(\w+)/', pages[page])]
    assert listed == [f"lib{number}" for number in range(205)]
    rows = json.loads(overview_index(cards).removeprefix("abistore_libraries(").removesuffix(");\n"))
    assert [each[1] for each in rows][:ROWS] == told and len(rows) == 205


LISTS = ("index.html", "list-0.html", "list-1.html", "list-2.html")


def test_an_overview_that_shows_all_libraries_needs_no_lists() -> None:
    pages = dict(overview(Frame("ABI"), [card(number, Verdict.COMPATIBLE) for number in range(ROWS)]))
    assert tuple(pages) == overview_files(f"lib{number}" for number in range(ROWS)) == ("index.html",)
    assert "All libraries by letter" not in pages["index.html"]


def test_names_are_listed_by_the_letter_that_tells_them_apart() -> None:
    names = [
        "libzstd",
        "zlib",
        "LibZ",
        "Qt5Core",
        "lib",
        "_x",
        "äther",
        *(f"liba{number}" for number in range(LISTED + 1)),
    ]
    assert overview_files(names) == (
        *("index.html", "list-a.html", "list-a-2.html", "list-other.html", "list-q.html", "list-z.html"),
    )


def test_pages_of_ten_thousand_libraries_are_small() -> None:
    rows = (row(0, None), *(row(each, Verdict.BREAKING, version=f"12.10.{each}-rc2") for each in range(1, RECENT + 1)))
    lines = (History(LineKey(f"libx265-{number:04}", LINE.target), "release", None, rows) for number in range(10_000))
    cards = [LibraryCard(each.line.library, library_folder(each.line.library), each, 1, RECENT) for each in lines]
    pages = dict(overview(Frame("ABI"), cards))
    assert max(len(text.encode()) for text in pages.values()) <= 200_000
    assert sum(text.count("<li><a ") for text in pages.values()) == 10_000


def test_a_feed_is_atom_whatever_releases_are_called() -> None:
    named = row(1, Verdict.BREAKING, version="<&>\x0b")
    frame = Frame("ABI", "https://abi.example.org/")
    root = ElementTree.fromstring(feed(frame, "a & b", "libraries/x/", feed_entries([history(row(0, None), named)])))
    atom = "{http://www.w3.org/2005/Atom}"
    entries = root.findall(f"{atom}entry")
    ids = [each.findtext(f"{atom}id") for each in (root, *entries)]
    assert len(set(ids)) == 3 and all(str(each).startswith("urn:abistore:") for each in ids)
    assert [each.findtext(f"{atom}updated") for each in entries] == ["2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z"]
    assert str(entries[0].findtext(f"{atom}title")).startswith("libgeo <&>")
    links = [str(each.get("href")) for each in root.iter(f"{atom}link")]
    assert all(each.startswith("https://abi.example.org/libraries/x/") for each in links)


def test_a_badge_says_the_outcome_in_words_and_as_badge_services_read_it() -> None:
    made = badges([history(row(0, None), row(1, Verdict.BREAKING, version="<2>"))])
    assert json.loads(made["badge.json"]) == {
        "schemaVersion": 1,
        "label": "ABI",
        "message": "<2> fail",
        "color": COLOURS["fail"],
    }
    drawn = ElementTree.fromstring(made["badge.svg"])
    assert drawn.get("aria-label") == "ABI: <2> fail"
    assert badges([history()]) == {}


@pytest.mark.parametrize("colour", COLOURS.values())
def test_a_badge_can_be_read(colour: str) -> None:
    assert contrast("#ffffff", f"#{colour}") >= AA


def test_many_names_are_told_apart_by_how_their_words_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.report.site.TOGETHER", 1)
    names = [Searched(each, "", "a.html") for each in ("tally_new", "geo::sumOfAreas(const Point&)")]
    assert {start: [each.text for each in found] for start, found in sharded(names).items()} == {
        "ar": [names[1].text],
        "ge": [names[1].text],
        "ne": [names[0].text],
        "of": [names[1].text],
        "su": [names[1].text],
        "ta": [names[0].text],
    }


def test_a_matrix_marks_where_another_soname_begins() -> None:
    releases = tuple(MatrixRelease(name, datetime(2020, 1, 1, tzinfo=UTC), soname) for name, soname in SONAMES)
    broken = Verdict.BREAKING
    matrix = Matrix(
        LINE,
        releases,
        ((None, broken, broken), (None, None, broken), (None,) * 3),
        ((False,) * 3,) * 3,
        ((None, "fail", None), (None, None, "pass"), (None,) * 3),
    )
    assert sonames(matrix) == [("libgeo.so.1", 2), ("libgeo.so.2", 1)]
    (_, first), (_, second), _ = cells_of(matrix)
    assert [cell.tone for cell in first] == ["self", "breaking", "apart"]
    assert [cell.begins for cell in second] == [False, False, True]
    assert [cell.sign for cell in (*first, *second)] == ["\\", "X", "X", "", "\\", "Xp"]
    assert second[2].title.endswith("under another SONAME; outcome pass")


SONAMES = (("1.0", "libgeo.so.1"), ("1.1", "libgeo.so.1"), ("2.0", "libgeo.so.2"))
