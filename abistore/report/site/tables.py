"""A history as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.model.labels.sonames import word_on
from abistore.model.words.characters import visible
from abistore.report.formats.markdown import code, plain
from abistore.report.heading import ruling
from abistore.report.site.marks import mark, mark_of
from abistore.report.site.timeline import History, HistoryRow

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
        f"{_cell(release.version)}{tags}",
        f"{release.released or release.ingested:%Y-%m-%d}",
        _cell(release.soname) if release.soname else "",
        str(release.exports),
        *((str(churn.added), str(churn.removed), str(churn.changed)) if churn else ("", "", "")),
        mark_of(row).words,
        "baseline" if release.version == history.baseline else against,
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """A label as code. A bar would end the cell even there, so that such a label is text with a reference for it."""
    return plain(text).replace("\\|", BAR).replace("|", BAR) if "|" in text else code(text)
