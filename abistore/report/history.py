"""The releases of a line as text and pages: their timeline, and which can replace which.

The history of a line in a terminal: a bar of exports for each release, with its verdict and changes.

Terminals that lack the blocks get plain letters for them: see ``PLAIN`` in :mod:`abistore.cli.main`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.model.decision import Decision, Outcome, outcome_over
from abistore.model.findings import Churn, RulingFile, RulingKey, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.labels import word_on
from abistore.model.statements import worst_of
from abistore.model.words import bounded, counted, in_line, visible
from abistore.report.drawing import asset, environment
from abistore.report.formats.markdown import code, plain
from abistore.report.model import Style
from abistore.report.outline import CHECKED, ruling
from abistore.report.reasons import notable_outcome, outcome_words


class MatrixRelease(msgspec.Struct, frozen=True):
    """A release of a matrix."""

    version: str
    date: datetime
    soname: str | None


class UnjudgedPair(msgspec.Struct, frozen=True):
    """Two releases about which there is no verdict, and why."""

    old: str
    new: str
    reason: str


class Matrix(msgspec.Struct, frozen=True):
    """Which of a line's releases can replace which, by ``policy``.

    ``verdicts`` has a row for each release that programs were built against, and in it a verdict for each release that
    they run on, both in the order of ``releases``; ``None`` for a release and itself, for older ones unless
    ``downgrades`` were asked for, and for the ``unjudged``. ``partial`` says in the same way of which verdicts one side
    shows less than the other, so that something may have gone unseen, and
    ``outcomes`` what is decided about a release compared with the previous one or the baseline.
    """

    line: LineKey
    releases: tuple[MatrixRelease, ...]
    verdicts: tuple[tuple[Verdict | None, ...], ...]
    partial: tuple[tuple[bool, ...], ...]
    outcomes: tuple[tuple[Outcome | None, ...], ...]
    downgrades: bool = False
    policy: str = RulingKey().policy
    unjudged: tuple[UnjudgedPair, ...] = ()


class HistoryRow(msgspec.Struct, frozen=True):
    """One release, compared with the one before it and with the baseline.

    ``churn``, ``verdict`` and ``notices`` (how many findings count in no verdict) are against ``previous``; the first
    release has none. ``against_baseline`` is ``None`` for releases before the baseline, and without a baseline.
    ``unjudged`` and ``unjudged_baseline`` say why a verdict is missing. ``evidence_gap`` and ``evidence_gap_baseline``
    say what a verdict does not cover because one side shows less than the other. ``decision`` says whether the release
    may ship, beside ``previous``, and ``baseline_decision`` beside the baseline, where it has a verdict against that.
    """

    release: Release
    previous: str | None
    churn: Churn | None
    verdict: Verdict | None
    against_baseline: Verdict | None
    notices: int = 0
    unjudged: str = ""
    unjudged_baseline: str = ""
    evidence_gap: str = ""
    evidence_gap_baseline: str = ""
    decision: Decision | None = None
    baseline_decision: Decision | None = None


class History(msgspec.Struct, frozen=True):
    """One line's releases in release order, oldest first; ``baseline`` is the version in the channel asked for.

    ``candidates`` failed their gate and were kept; no release is judged against them. The verdicts are by ``policy``
    and the suppressions of the files. ``damaged``: the stored data of a release are damaged. ``remarks`` are sentences
    about several releases: a break that no single step shows, and what a release restores. ``pending`` says what the
    builds that stand after the last release ask of the next one.
    """

    line: LineKey
    channel: str
    baseline: str | None
    rows: tuple[HistoryRow, ...]
    candidates: tuple[Release, ...] = ()
    policy: str = RulingKey().policy
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()
    damaged: bool = False
    remarks: tuple[str, ...] = ()
    pending: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences about several releases."""
        return (*self.remarks, *([f"pending: {self.pending}"] if self.pending else []))


class FoldedRow(msgspec.Struct, frozen=True):
    """A version over all lines of a library: the worst verdict and the outcome, compared with the previous releases.

    The verdict is ``None`` where no line has one, and where a line that is missing (a hole) or not judged may break.
    """

    version: str
    verdict: Verdict | None
    outcome: Outcome
    worst_in: tuple[LineKey, ...] = ()
    holes: tuple[LineKey, ...] = ()


def fold(histories: Sequence[History]) -> tuple[FoldedRow, ...]:
    """The versions of all lines of a library, in release order; empty for one line, and for several libraries."""
    if len(histories) < 2 or len({each.line.library for each in histories}) > 1:
        return ()
    known: dict[str, dict[LineKey, HistoryRow]] = {}
    for history in histories:
        for row in history.rows:
            known.setdefault(row.release.version, {})[history.line] = row
    judged = {version for version, rows in known.items() if any(row.previous is not None for row in rows.values())}
    every = (_folded(version, known[version], histories) for version in _in_order(histories))
    return tuple(row for row in every if row.holes or row.version in judged)


def _in_order(histories: Sequence[History]) -> list[str]:
    """All versions, so that each line's own order holds; where lines do not tell, the earlier ingested comes first."""
    left = [[row.release for row in history.rows] for history in histories]
    found: list[str] = []
    while any(left):
        heads = [line[0] for line in left if line]
        free = [one for one in heads if not any(one.version in {each.version for each in line[1:]} for line in left)]
        version = min(free or heads, key=lambda one: (one.ingested, one.version)).version
        found.append(version)
        left = [[each for each in line if each.version != version] for line in left]
    return found


def _folded(version: str, rows: Mapping[LineKey, HistoryRow], histories: Sequence[History]) -> FoldedRow:
    holes = tuple(history.line for history in histories if history.line not in rows)
    begun = {line: row for line, row in rows.items() if row.previous is not None}
    verdict = worst_of([row.verdict for row in begun.values()] + [None] * len(holes))
    worst_in = tuple(line for line, row in begun.items() if verdict is not None and row.verdict is verdict)
    outcome, _ = outcome_over(map(decision_of, rows.values()), len(holes))
    return FoldedRow(version, verdict, outcome, worst_in, holes)


def history_document(histories: Sequence[History]) -> dict[str, Any]:
    """The timelines; those of several lines with one verdict for each version over all of them."""
    folded = fold(histories)
    return {"histories": tuple(histories)} | ({"folded": folded} if folded else {})


SIGNS: Mapping[Verdict, str] = {
    Verdict.NO_CHANGE: "=",
    Verdict.COMPATIBLE: "+",
    Verdict.COMPATIBLE_WITH_RISK: "?",
    Verdict.API_BREAK: "s",
    Verdict.BREAKING: "X",
}
PARTIAL, SELF, UNJUDGED, UNASKED = "*", "\\", "!", ""
LEGEND = "= no change, + compatible, ? with risk, s sources break, X programs break"
NARROW = 7
"""So many letters of a version stand above a column of text."""

TONES: Mapping[Verdict, str] = {
    Verdict.NO_CHANGE: "compatible",
    Verdict.COMPATIBLE: "compatible",
    Verdict.COMPATIBLE_WITH_RISK: "risk",
    Verdict.API_BREAK: "api_break",
    Verdict.BREAKING: "breaking",
}


class MatrixCell(NamedTuple):
    """One cell of a page: its sign, its colour, what it says in words, and whether another SONAME begins with it."""

    sign: str
    tone: str
    title: str
    begins: bool = False


def as_text(matrices: Sequence[Matrix]) -> str:
    """The matrices as columns of signs."""
    return "\n\n".join("\n".join(_text(matrix)) for matrix in matrices)


def _text(matrix: Matrix) -> Iterator[str]:
    versions = [in_line(each.version, 40) for each in matrix.releases]
    first = max(len("built against"), *map(len, versions))
    heads = [version if len(version) <= NARROW else f"{version[: NARROW - 1]}~" for version in versions]
    wide = max(3, *map(len, heads))
    yield f"{matrix.line}; policy {matrix.policy}"
    yield f"{'built against'.ljust(first)}  runs on"
    yield f"{''.ljust(first)}  {' '.join(head.ljust(wide) for head in heads)}".rstrip()
    for row, version in enumerate(versions):
        cells = (_sign(matrix, row, column).ljust(wide) for column in range(len(versions)))
        yield f"{version.ljust(first)}  {' '.join(cells)}".rstrip()
    yield LEGEND
    signs = {_told_outcome(matrix, row, column) for row in range(len(versions)) for column in range(len(versions))}
    yield from (f"{sign} {said}" for sign, said in TOLD_OUTCOMES.items() if sign in signs)
    if any(_is_partial(matrix, row, column) for row in range(len(versions)) for column in range(len(versions))):
        yield f"{PARTIAL} one of the two releases has less evidence than the other, so changes may be missing"
    yield from (f"{UNJUDGED} {each.new} was not judged against {each.old}: {each.reason}" for each in matrix.unjudged)


def _sign(matrix: Matrix, row: int, column: int) -> str:
    verdict = matrix.verdicts[row][column]
    if verdict is not None:
        return (
            SIGNS[verdict] + _told_outcome(matrix, row, column) + (PARTIAL if _is_partial(matrix, row, column) else "")
        )
    if row == column:
        return SELF
    return UNJUDGED if row < column or matrix.downgrades else UNASKED


TOLD_OUTCOMES = {"p": "breaks, and passes: the line allows it, or it is approved", "u": "undecided", "f": "fails"}
"""Letters behind the sign of a verdict, where the outcome is not what the sign suggests."""


def _told_outcome(matrix: Matrix, row: int, column: int) -> str:
    verdict, outcome = matrix.verdicts[row][column], matrix.outcomes[row][column]
    if verdict is None or outcome is None:
        return ""
    return "" if outcome == ("fail" if verdict >= Verdict.API_BREAK else "pass") else outcome[0]


def _is_partial(matrix: Matrix, row: int, column: int) -> bool:
    return matrix.partial[row][column] and matrix.verdicts[row][column] not in {None, Verdict.BREAKING}


def as_html(matrices: Sequence[Matrix]) -> str:
    """The matrices as one self-contained page."""
    made = environment()
    made.filters["sonames"] = sonames
    return made.get_template("matrix.html").render(
        matrices=[(matrix, cells_of(matrix)) for matrix in matrices],
        style=asset("page.css"),
        matrix_style=asset("matrix.css"),
        counted=counted,
        TOLD_OUTCOMES=TOLD_OUTCOMES,
    )


def cells_of(matrix: Matrix) -> list[tuple[str, list[MatrixCell]]]:
    """The rows of a matrix, each with the version that programs were built against."""
    places = range(len(matrix.releases))
    return [(matrix.releases[row].version, [_cell(matrix, row, column) for column in places]) for row in places]


def _cell(matrix: Matrix, row: int, column: int) -> MatrixCell:
    verdict, sign = matrix.verdicts[row][column], _sign(matrix, row, column)
    old, new = matrix.releases[row], matrix.releases[column]
    begins = column > 0 and new.soname != matrix.releases[column - 1].soname
    if verdict is None:
        tone = "unchecked" if sign == UNJUDGED else "self"
        return MatrixCell(sign, tone, f"{old.version} on {new.version}: not judged", begins)
    partial = _is_partial(matrix, row, column)
    tone = "unchecked" if partial and verdict <= Verdict.COMPATIBLE else TONES[verdict]
    words = f"{verdict.name.replace('_', ' ').lower()}{', checked in part' if partial else ''}"
    if old.soname != new.soname:
        tone, words = "apart", f"{words}, under another SONAME"
    if outcome := matrix.outcomes[row][column]:
        words = f"{words}; outcome {outcome}"
    return MatrixCell(sign, tone, f"built against {old.version}, on {new.version}: {words}", begins)


def sonames(matrix: Matrix) -> list[tuple[str, int]]:
    """The SONAMEs above the columns of a matrix, each with how many releases in a row have it."""
    return [(soname, len(list(group))) for soname, group in groupby(matrix.releases, lambda one: one.soname or "")]


class Mark(NamedTuple):
    """How a verdict is shown. ``tone`` is a CSS class, ``points`` the corners of the shape in a square of 2 by 2.

    Without corners the shape is a circle.
    """

    letter: str
    tone: str
    words: str
    points: tuple[tuple[float, float], ...] = ()


OCTAGON = ((-0.4, -1), (0.4, -1), (1, -0.4), (1, 0.4), (0.4, 1), (-0.4, 1), (-1, 0.4), (-1, -0.4))
_DIAMOND = ((0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0))
_TRIANGLE = ((0, -1.15), (1.15, 0.95), (-1.15, 0.95))
SQUARE = ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9))

MARKS = {
    Verdict.BREAKING: Mark("B", "breaking", "Breaking", OCTAGON),
    Verdict.API_BREAK: Mark("A", "api_break", "API break", _DIAMOND),
    Verdict.COMPATIBLE_WITH_RISK: Mark("R", "risk", "Compatible with risk", _TRIANGLE),
    Verdict.COMPATIBLE: Mark("C", "compatible", "Compatible"),
    Verdict.NO_CHANGE: Mark("N", "unchanged", "No change"),
}
UNJUDGED_MARK = Mark("?", "unchecked", "Not judged", SQUARE)
FIRST = Mark("1", "first", "First stored release", SQUARE)
PARTIAL_MARK = Mark("?", "unchecked", f"No change found {CHECKED}", SQUARE)


def mark_of(row: HistoryRow) -> Mark:
    """The mark of a release and the one before it. A good verdict does not look good if evidence is missing."""
    return FIRST if row.previous is None else mark(row.verdict, row.evidence_gap)


def mark(verdict: Verdict | None, gap: str = "") -> Mark:
    """The mark of a verdict; of none, that nobody judged."""
    if verdict is None:
        return UNJUDGED_MARK
    found = MARKS[verdict]
    if not gap:
        return found
    words = f"{found.words} {CHECKED}"
    if verdict in {Verdict.NO_CHANGE, Verdict.COMPATIBLE}:
        return PARTIAL_MARK._replace(words=words)
    return found._replace(words=words)


ShownOutcome: TypeAlias = Literal["fail", "undecided", "waived", "pass"]
"""An outcome as pages mark it: one that passes by a waiver is told from others. The worst stands first."""

_SHIELD = ((-0.95, -0.95), (0.95, -0.95), (0.95, 0.25), (0, 1.15), (-0.95, 0.25))

OUTCOMES: Mapping[ShownOutcome, Mark] = {
    "fail": Mark("F", "fail", "Fail", OCTAGON),
    "undecided": Mark("?", "undecided", "Undecided", SQUARE),
    "waived": Mark("W", "waived", "Waived", _SHIELD),
    "pass": Mark("P", "pass", "Pass"),
}
MEANINGS: Mapping[ShownOutcome, str] = {
    "fail": "it breaks what its line promises",
    "undecided": "the evidence does not suffice",
    "waived": "it breaks, and somebody approved that",
    "pass": "nothing breaks, or the line allows it",
}
COLOURS: Mapping[ShownOutcome, str] = {
    "fail": "b3261e",
    "undecided": "7d5200",
    "waived": "0b6b5f",
    "pass": "0b5cad",
}
"""The colours of badges, which know no scheme: those of ``page.css`` in the light."""


def decision_of(row: HistoryRow) -> Decision:
    """The decision about a release of a timeline, which every stored history has."""
    if row.decision is None:
        raise ValueError(f"{row.release.reference}: nothing decided about it")
    return row.decision


def shown_outcome(decision: Decision) -> ShownOutcome:
    """The outcome as pages mark it."""
    if decision.outcome == "pass" and any(reason.code == "waived" for reason in decision.reasons):
        return "waived"
    return decision.outcome


def outcome_mark(decision: Decision) -> Mark:
    """The mark of a decision's outcome."""
    return OUTCOMES[shown_outcome(decision)]


def corners(mark: Mark) -> str:
    """The corners of a mark's shape around the origin, as SVG has them; empty for a circle."""
    return " ".join(f"{x:g},{y:g}" for x, y in mark.points)


class BadgeFacts(msgspec.Struct, frozen=True, rename="camel"):
    """What badge services read, by the keys of the endpoint badges of shields.io."""

    label: str
    message: str
    color: str
    schema_version: int = 1


def badge_facts(decision: Decision) -> BadgeFacts:
    """The badge of a release: ``ABI | 2.3.0 waived``."""
    shown = shown_outcome(decision)
    return BadgeFacts("ABI", f"{bounded(decision.version, 40)} {OUTCOMES[shown].words.lower()}", COLOURS[shown])


HEADS = ("exports", "+", "-", "~", "against previous", "against baseline")
RIGHT = frozenset({3, 4, 5, 6})
BAR = "&#124;"


def markdown(histories: Sequence[History]) -> str:
    """The timelines of a library, newest release first, without a newline at the end."""
    return visible("\n\n".join("\n".join(_timeline(history)) for history in histories))


def _timeline(history: History) -> Iterator[str]:
    yield f"### {plain(str(history.line))}"
    yield ""
    by = ruling(history.policy, history.policy_file, history.suppression_files)
    yield plain(f"{f'baseline {history.channel}: {history.baseline}' if history.baseline else 'no baseline'}; {by}")
    yield ""
    heads = ("release", "date", word_on(history.line.target), *HEADS)
    yield _line(heads)
    yield _line(tuple("--:" if column in RIGHT else "---" for column in range(len(heads))))
    yield from (_line(_row(history, row)) for row in reversed(history.rows))
    if history.said:
        yield ""
        yield from (f"- {plain(each)}" for each in history.said)
    for row in history.rows:
        for other, reason in ((row.previous, row.unjudged), (history.baseline, row.unjudged_baseline)):
            if reason:
                yield from ("", plain(f"{row.release.version} was not judged against {other}: {reason}"))


def _row(history: History, row: HistoryRow) -> tuple[str, ...]:
    release, churn = row.release, row.churn
    judged = row.against_baseline is not None or row.unjudged_baseline
    against = mark(row.against_baseline, row.evidence_gap_baseline).words if judged else ""
    tags = f" ({plain(', '.join(tag.name for tag in release.tags))})" if release.tags else ""
    return (
        f"{_table_cell(release.version)}{tags}",
        f"{release.released or release.ingested:%Y-%m-%d}",
        _table_cell(release.soname) if release.soname else "",
        str(release.exports),
        *((str(churn.added), str(churn.removed), str(churn.changed)) if churn else ("", "", "")),
        _with_outcome(mark_of(row).words, row.decision),
        "baseline" if release.version == history.baseline else _with_outcome(against, row.baseline_decision),
    )


def _with_outcome(words: str, decision: Decision | None) -> str:
    """The verdict, and the outcome where something breaks: ``Breaking: pass, waived``."""
    if decision is None or not notable_outcome(decision):
        return words
    return f"{words}: {outcome_words(decision)}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table_cell(text: str) -> str:
    """A label as code. A bar would end the cell even there, so that such a label is text with a reference for it."""
    return plain(text).replace("\\|", BAR).replace("|", BAR) if "|" in text else code(text)


LEVELS = "▁▂▃▄▅▆▇█"
PARTS = " ▏▎▍▌▋▊▉"
WIDEST_VERSION = 24
TERMINAL_TONES = {"unchanged": "dim", "first": "dim"}
TERMINAL_LEGEND = (
    "B breaking, A API break, R risk, C compatible, N no change, ? not judged or not all of it could be checked"
)


def plot(history: History, style: Style) -> str:
    """The releases of a line as bars, oldest first, each beside what changed since the one before."""
    rows = history.rows
    if not rows:
        return str(history.line)
    return "\n".join((f"{history.line}: exports {sparkline(rows)}", *_lines(rows, style), TERMINAL_LEGEND))


def sparkline(rows: Sequence[HistoryRow]) -> str:
    """The exports of all releases in one word of blocks, between the fewest and the most."""
    counts = [row.release.exports for row in rows]
    low, high = min(counts), max(counts)
    blocks = (LEVELS[(count - low) * (len(LEVELS) - 1) // max(high - low, 1)] for count in counts)
    return f"{low} {''.join(blocks)} {high}"


def bar(count: int, most: int, width: int) -> str:
    """A bar of eighths of blocks, as long as ``count`` is part of ``most``."""
    eighths = 8 * width * count // max(most, 1)
    return ("█" * (eighths // 8) + PARTS[eighths % 8]).ljust(width)[:width]


def _lines(rows: Sequence[HistoryRow], style: Style) -> Iterator[str]:
    shown = [in_line(row.release.version, WIDEST_VERSION) for row in rows]
    versions, most = max(map(len, shown)), max(row.release.exports for row in rows)
    digits = len(str(most))
    width = max(8, min(40, style.width - versions - digits - 34))
    before: str | None = None
    for number, (row, version) in enumerate(zip(rows, shown, strict=True)):
        soname = row.release.soname
        if soname != before or not number:
            yield style.paint(f"  {in_line(soname or f'no {word_on(row.release.line.target)}', 80)}", "dim")
        before = soname
        mark = mark_of(row)
        letter = style.paint(mark.letter, TERMINAL_TONES.get(mark.tone, mark.tone))
        drawn = bar(row.release.exports, most, width)
        yield f"{version:>{versions}} {letter} {row.release.exports:>{digits}} {drawn} {_changes(row)}".rstrip()


def _changes(row: HistoryRow) -> str:
    if row.churn is None:
        return ""
    signed = (("+", row.churn.added), ("-", row.churn.removed), ("~", row.churn.changed))
    return " ".join(f"{sign}{count}" for sign, count in signed if count)
