"""Records drawn as memory, and the templates of HTML pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from abistore.model.kind_names import kind_of, variant_of
from abistore.model.labels import name_word, word_on
from abistore.model.words import counted
from abistore.report.document import FindingBlock, ImpactBlock, document
from abistore.report.model import ComparedDeclaration, Member, RecordLayout, Report, Style
from abistore.report.outline import advice, extent, is_first, name_like, ruled_by, sides, tone
from abistore.report.reasons import outcome_tone, said
from abistore.report.releases import library_table
from abistore.report.witnesses import witness_lines, witness_title
from abistore.report.wording import counts, differing, distinct, found_counts, several, shortened, unchecked

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ROW = 64
"""Bits a row."""

MOST_ROWS = 80
TINY = 18
"""A box of fewer bits has room for a name only; one of fewer than :data:`BARE` bits for nothing."""

BARE = 5

STATES = (("changed", "changed or new"), ("moved", "moved"), ("gone", "gone"), ("padding", "hole or padding"))


class Cell(NamedTuple):
    """A box of a drawing: its text, its place in CSS, and its ``title``, which browsers show under the pointer.

    ``states`` are its CSS classes; ``None`` for a row's offset, which is no member.
    """

    text: str
    place: str
    states: str | None = None
    title: str = ""


class DrawnLayout(NamedTuple):
    """One layout. Members that overlap, as in a union, are ``bars`` below each other; others share rows."""

    label: str
    cells: tuple[Cell, ...]
    bars: bool


class Drawing(NamedTuple):
    """The layouts before and after; ``legend`` has the states that occur, with their meanings."""

    sides: tuple[DrawnLayout, ...]
    legend: tuple[tuple[str, str], ...]


def drawing(declared: ComparedDeclaration) -> Drawing | None:
    """The record's two layouts; ``None`` if they are equal, for example if only virtual functions differ."""
    before, after = declared.layout_before, declared.layout_after
    if before == after:
        return None
    old, new = _states(before, after, "gone"), _states(after, before, "new")
    sides = (
        _side(f"{label}, {counted(layout.size, 'byte')}", layout, states)
        for label, layout, states in (("before", before, old), ("after", after, new))
        if layout is not None
    )
    used = {"changed" if state == "new" else state for states in (old, new) for state in states.values()}
    return Drawing(tuple(sides), tuple(each for each in STATES if each[0] in used))


def _side(label: str, layout: RecordLayout, states: dict[Member, str]) -> DrawnLayout:
    drawn = [member for member in layout.members if member.length]
    bars = _overlap(drawn)
    return DrawnLayout(label, tuple(_bars(layout, states) if bars else _grid(drawn, states)), bars)


def _states(layout: RecordLayout | None, other: RecordLayout | None, alone: str) -> dict[Member, str]:
    """What became of each member: ``moved``, ``changed``, ``padding``, ``alone``, or nothing."""
    members = layout.members if layout else ()
    others = other.members if other else ()
    counterparts: dict[tuple[str, str], Member] = {(each.role, each.name): each for each in others}
    states = {}
    for member in members:
        twin = counterparts.get((member.role, member.name))
        if member.role == "padding":
            states[member] = "padding"
        elif other is None:
            states[member] = ""
        elif twin is None:
            states[member] = alone
        elif (twin.text, twin.length) != (member.text, member.length):
            states[member] = "changed"
        else:
            states[member] = "moved" if twin.offset != member.offset else ""
    return states


def _overlap(members: Iterable[Member]) -> bool:
    end = 0
    for member in members:
        if member.offset < end:
            return True
        end = member.offset + member.length
    return False


def _grid(members: Iterable[Member], states: dict[Member, str]) -> Iterator[Cell]:
    line, last = 0, -1
    for member in members:
        for row, start, stop in _stretches(member):
            if row is None:
                line, last = line + 1, -1
                yield Cell("⋮", f"grid-area:{line}/2/auto/66", f"break more cut {states[member]}")
                continue
            if row != last:
                line, last = line + 1, row
                if line > MOST_ROWS:
                    yield Cell("the rest is in the declaration", f"grid-area:{line}/2/auto/66", "break")
                    return
                yield Cell(str(row * ROW // 8), f"grid-row:{line}")
            yield _stretch(member, states[member], line, (row * ROW + start, row * ROW + stop))


def _stretches(member: Member) -> Iterator[tuple[int | None, int, int]]:
    """(Row, first bit, bit behind the last) of each row that a member takes; a long middle is one row ``None``."""
    end = member.offset + member.length
    first, last = member.offset // ROW, (end - 1) // ROW
    rows = range(first, last + 1) if last - first <= 3 else (first, None, last)
    for row in rows:
        if row is None:
            yield None, 0, ROW
        else:
            yield row, max(member.offset - row * ROW, 0), min(end - row * ROW, ROW)


def _stretch(member: Member, state: str, line: int, span: tuple[int, int]) -> Cell:
    start, stop = span
    begins, ends = start == member.offset, stop == member.offset + member.length
    tiny = "tiny" if stop - start < TINY else ""
    classes = (state, tiny, "" if begins else "more", "" if ends else "cut")
    low = start % ROW + 2
    return Cell(
        _label(member, stop - start) if begins else "",
        f"grid-area:{line}/{low}/auto/{low + stop - start}",
        " ".join(filter(None, classes)),
        place(member),
    )


def _text(member: Member) -> str:
    return shortened(member.text) or ""


def _label(member: Member, bits: int) -> str:
    """The text that fits into ``bits``."""
    if bits < BARE or (bits < TINY and member.role == "padding"):
        return ""
    return member.name if bits < TINY else _text(member)


def _bars(layout: RecordLayout, states: dict[Member, str]) -> Iterator[Cell]:
    """Members that overlap, as in a union: each on a line of its own."""
    whole = max(layout.size * 8, 1)
    for member in layout.members:
        style = f"left:{100 * member.offset / whole:.2f}%;width:{100 * member.length / whole:.2f}%"
        yield Cell(_text(member), style, states[member], place(member))


def place(member: Member) -> str:
    """A member with its offset and size, in bytes where it has whole ones."""
    offset, bit = divmod(member.offset, 8)
    bits = member.length % 8 or bit
    length = counted(member.length, "bit") if bits else counted(member.length // 8, "byte")
    return f"{_text(member)}: offset {offset}{f':{bit}' if bits else ''}, {length}"


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
    """The environment of the templates in ``abistore/report/templates`` and further folders of ``abistore/report``."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # a tenth of a second, for HTML only

    made = Environment(
        loader=ChoiceLoader([PackageLoader("abistore.report", each) for each in ("templates", *folders)]),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    told = (
        advice,
        outcome_tone,
        counted,
        counts,
        found_counts,
        diff,
        differing,
        drawing,
        extent,
        kind_page,
        name_items,
        name_like,
        is_first,
        name_word,
        said,
        sides,
        prose,
        ruled_by,
        tone,
        unchecked,
        value_lines,
        witness_lines,
        witness_title,
        word_on,
    )
    made.filters |= {function.__name__: function for function in told}
    made.globals |= {"asset": asset, "named": named}
    made.globals |= {"CONSEQUENCES_OPEN": CONSEQUENCES_OPEN, "OPEN": OPEN}
    return made


def kind_page(name: str) -> str:
    """The file of a kind's page in a site, and the place of its variant there."""
    kind, variant = kind_of(name), variant_of(name)
    return f"{kind}.html#{variant}" if variant else f"{kind}.html"


def asset(name: str) -> Markup:
    """One of our own files, to be put into the page unescaped."""
    from markupsafe import Markup

    return Markup(files("abistore.report").joinpath("templates", name).read_text(encoding="utf-8"))


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
