"""The templates of pages: one environment that escapes whatever is put into them, and what they call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.model.judging.kinds import kind_of, variant_of
from abistore.model.labels.sonames import name_word, word_on
from abistore.model.words.counting import counted
from abistore.report.document import FindingBlock, ImpactBlock, document
from abistore.report.drawing import drawing
from abistore.report.heading import REQUIRED, advice, allowance, extent, name_like, passing, ruled_by, tone
from abistore.report.model import Report
from abistore.report.releases.table import library_table
from abistore.report.style import Style
from abistore.report.wording import counts, differing, distinct, several, unchecked

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

OPEN = 60
"""A kind with more findings than this is folded at first."""

NAMES_SHOWN = 30
WIDE = 100
"""Values that are longer together are shown below each other."""

CONSEQUENCES_OPEN = 6
SIGNS = {"-": "del", "+": "ins", "!": "em"}


def told_in_pages(report: Report, style: Style) -> dict[str, object]:
    """What ``findings.html`` shows of a report: all findings, whatever the style's limit.

    ``remarks`` are said of a finding, by its id; ``kinds_at`` is the folder of the pages about kinds, with a slash.
    """
    whole = document(report, replace(style, limit=None, detail=True))
    groups = tuple(block for block in whole.body if isinstance(block, ImpactBlock))
    return {
        "report": report,
        "suppressed": whole.suppressed,
        "groups": groups,
        "libraries": library_table(report),
        "kinds": sorted({kind.kind for group in groups for kind in group.kinds}),
        "remarks": {},
        "kinds_at": "",
    }


def environment(*folders: str) -> Environment:
    """The environment of the templates in ``abistore/report/page`` and further folders of ``abistore/report``."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # a tenth of a second, for HTML only

    made = Environment(
        loader=ChoiceLoader([PackageLoader("abistore.report", each) for each in ("page", *folders)]),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    told = (
        advice,
        allowance,
        counted,
        counts,
        diff,
        differing,
        drawing,
        extent,
        kind_page,
        name_items,
        name_like,
        name_word,
        passing,
        prose,
        ruled_by,
        tone,
        unchecked,
        value_lines,
        word_on,
    )
    made.filters |= {function.__name__: function for function in told}
    made.globals |= {"asset": asset, "named": named}
    made.globals |= {"CONSEQUENCES_OPEN": CONSEQUENCES_OPEN, "OPEN": OPEN, "REQUIRED": REQUIRED}
    return made


def kind_page(name: str) -> str:
    """The file of a kind's page in a site, and the place of its variant there."""
    kind, variant = kind_of(name), variant_of(name)
    return f"{kind}.html#{variant}" if variant else f"{kind}.html"


def asset(name: str) -> Markup:
    """One of our own files, to be put into the page unescaped."""
    from markupsafe import Markup

    return Markup(files("abistore.report").joinpath("page", name).read_text(encoding="utf-8"))


def value_lines(finding: FindingBlock) -> Sequence[str]:
    """The values line by line, if they have several lines or are too long to stand side by side."""
    if sum(map(len, finding.values)) <= WIDE:
        return finding.lines
    signs = "-+" if len(finding.values) > 1 else " "
    return [f"{sign} {value}".rstrip() for sign, value in zip(signs, finding.values, strict=True)]


def named(symbols: Sequence[str]) -> tuple[list[tuple[str, str]], int]:
    """The first of ``symbols`` as a programmer calls them, each with its number of symbols, and how many are left."""
    told, more = distinct(symbols, NAMES_SHOWN)
    return [(name, several(count)) for name, count in told.items()], more


@lru_cache(maxsize=256)
def name_items(symbols: tuple[str, ...]) -> Markup:
    """What :func:`named` gives, as items of a list. Thousands of findings affect the same exports."""
    from markupsafe import Markup, escape

    told, more = named(symbols)
    left = f"<li>and {more} more, all in the JSON report</li>" if more else ""
    return Markup("".join(f"<li><code>{escape(name)}</code>{count}</li>" for name, count in told) + left)


def prose(text: str) -> Markup:
    """``text`` escaped, with the words between backticks as code."""
    from markupsafe import Markup, escape

    parts = enumerate(map(escape, text.split("`")))
    return Markup("".join(f"<code>{part}</code>" if number % 2 else part for number, part in parts))


def diff(lines: Iterable[str]) -> Markup:
    """Lines of a difference escaped, each marked by its sign."""
    from markupsafe import Markup, escape

    return Markup("".join(_line(SIGNS.get(text[:1]), escape(text)) for text in lines))


def _line(tag: str | None, text: str) -> str:
    return f"<{tag}>{text}</{tag}>" if tag else f"{text}\n"
