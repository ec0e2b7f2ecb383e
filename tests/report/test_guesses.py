"""What a report says of guesses: which types and exports are taken for private, and why."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.model.declarations import SELF, Name
from abistore.model.findings import Comparison, Finding, Impact, Verdict
from abistore.model.snapshot import Evidence, Location
from abistore.report import render
from abistore.report.model import Style
from abistore.report.outline import WHAT_BREAKS, guessed, outline
from tests.report.comparisons import ADDED, FULL, NEW, OLD

BY_VALUE = "no function that programs can call takes or returns it by value"
OPAQUE = replace(
    ADDED,
    kind="type_private_changed",
    name=Name("record", "link"),
    impact=Impact.RISK,
    location=Location("src/link.c", 7),
)
GONE = replace(
    ADDED, kind="symbols_removed.private", name=SELF, impact=Impact.RISK, affected=(Name("function", "_lib_swap"),)
)
READ = Evidence("source", "full", source="headers")


def compared(*findings: Finding, verdict: Verdict = Verdict.COMPATIBLE_WITH_RISK) -> Comparison:
    return Comparison(OLD, NEW, verdict, findings, engine="e1")


def test_what_is_guessed_to_be_private_is_named_with_the_reason() -> None:
    shown = replace(OPAQUE, name=Name("record", "state"), location=Location("src/state.h", 2))
    assert guessed(compared(OPAQUE, shown, GONE)) == (
        f"link is guessed to be opaque: only a source file defines it, and {BY_VALUE}; "
        f"state is guessed to be opaque: nothing shows that programs look into it, and {BY_VALUE}; "
        "_lib_swap is guessed to be private: no public header is known to declare it; give --header to know"
    )


def test_many_names_are_counted() -> None:
    many = (replace(OPAQUE, name=Name("record", f"link_{number}")) for number in range(5))
    assert guessed(compared(*many)).startswith("link_0, link_1, link_2 and 2 more are guessed to be opaque: only")


def test_a_break_that_rests_on_a_guess_is_said_first() -> None:
    removed = replace(ADDED, kind="func_removed", impact=Impact.BREAKING)
    said = guessed(compared(removed, OPAQUE, verdict=Verdict.BREAKING))
    assert said.startswith(f"{WHAT_BREAKS}; ")
    assert "; link is guessed to be opaque: " in said


def test_headers_leave_nothing_to_guess() -> None:
    read = replace(OLD, evidence=(*FULL, READ))
    assert guessed(Comparison(read, NEW, Verdict.COMPATIBLE_WITH_RISK, (OPAQUE, GONE), engine="e1")) == ""


@pytest.mark.parametrize("format", ["text", "markdown", "html", "json"])
def test_every_format_has_the_sentence(format: str) -> None:
    text = render(outline(compared(OPAQUE)), format, Style(width=300))
    assert "link is guessed to be opaque: only a source file defines it" in text
