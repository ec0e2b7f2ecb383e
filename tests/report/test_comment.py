"""A comment on a pull request is whole Markdown at every length, and says what it leaves out."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from abistore.interface import compare
from abistore.model.words import counted
from abistore.report.comment import ROOM, comment
from abistore.report.model import Report
from tests.build import build_library
from tests.report import golden

REST = "All findings: `abistore compare`."


def source(field: str, count: int = 12) -> str:
    """Structs that callers allocate, each with a function; and a function that only the old side has."""
    structs = "".join(
        f"struct s{number} {{ int a; {field} int b; }};\n"
        f"int f{number}(struct s{number} *one, struct s{number} two) {{ return one->a + two.b; }}\n"
        for number in range(count)
    )
    return structs if field else structs + "int gone(void) { return 1; }\n"


@pytest.fixture(scope="module")
def broken() -> Report:
    sides = [build_library(source(field), soname="libgeo.so.1", name="libgeo.so") for field in ("", "long z;")]
    return compare(*sides)


def fences(text: str) -> int:
    return sum(token.type == "fence" for token in MarkdownIt().parse(text))


def breaks(report: Report) -> set[str]:
    return {each.display for each in report.changes if each.impact in {"breaking", "api_break"}}


@pytest.mark.parametrize("room", [ROOM, 6_000, 4_000, 3_000, 2_000, 1_500, 1_000])
def test_a_comment_is_whole_markdown_and_fits(broken: Report, room: int) -> None:
    told = comment(broken, rest=REST, room=room)
    assert len(told.text.encode()) <= room
    assert len(re.findall(r"^ *```", told.text, re.MULTILINE)) == 2 * fences(told.text), "no fence stays open"
    assert told.text.splitlines()[-1].endswith(REST)
    said = [counted(number, word) for number, word in ((told.breaks, "break"), (told.diffs, "diff")) if number]
    assert all(each in told.text.splitlines()[-1] for each in said)


def test_diffs_are_left_out_before_a_break_is(broken: Report) -> None:
    whole, short = comment(broken, room=60_000), comment(broken, room=3_000)
    assert whole.is_whole
    assert fences(whole.text) == sum(bool(each.before and each.after) for each in broken.declarations)
    assert (short.breaks, short.diffs > 0) == (0, True)
    for text in (whole.text, short.text):
        assert all(f"`{name}" in text for name in breaks(broken))


def test_risks_are_left_out_before_the_diff_of_a_break(broken: Report) -> None:
    """Fifty risks took the place of the one diff that says what to mend."""
    grown = next(each for each in broken.changes if each.subject == "record")
    risks = tuple(replace(grown, impact="risk", symbol=f"r{number}", display="r" * 100) for number in range(60))
    told = comment(replace(broken, changes=(grown, *risks)), rest=REST, room=3_000)
    assert (told.breaks, told.diffs, fences(told.text)) == (0, 0, 1)
    assert 0 < told.risks < len(risks)
    assert f"Left out: {told.risks} risks" in told.text.splitlines()[-1]


def test_the_last_line_counts_every_break_that_has_no_room(broken: Report) -> None:
    told = comment(broken, room=700)
    listed = sum(line.startswith("- `") for line in told.text.partition("### Not checked")[0].splitlines())
    assert told.breaks and told.breaks + listed == broken.summary.breaking


def test_a_comment_says_the_decision_the_way_to_pass_and_what_was_not_checked() -> None:
    report = golden.report()
    text = comment(report).text
    assert text.startswith("## libgeo 1.2.0 → libgeo 1.3.0: BREAKING in what could be checked\n")
    assert report.decision and f"**{report.decision.headline.partition(':')[0]}: " in text
    assert "\n### Not checked" in text
    assert "\n- release it as 2.0.0 and bump the SONAME\n" in text


def test_a_comment_lists_as_many_findings_as_asked_for(broken: Report) -> None:
    told = comment(broken, items=2)
    assert told.breaks == broken.summary.breaking - 2
    assert f"Left out: {counted(told.breaks, 'break')}" in told.text


def test_a_hostile_name_is_escaped(broken: Report) -> None:
    """As in every report."""
    hostile = replace(broken, changes=tuple(replace(each, display="f\x1b[31m") for each in broken.changes))
    text = comment(hostile).text
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
