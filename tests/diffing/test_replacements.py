"""What is said of a removed function where another one takes its calls, or has its place."""

from __future__ import annotations

from abistore.diffing.judge.judged import compare
from abistore.model.findings import Finding, Impact
from tests.public_headers import implementing

POINT = "struct Point { int x, y; };\n"
MOVE = f"{POINT}void move(Point to);\n"


def broken(old: str, new: str) -> list[Finding]:
    """The breaks of a library that exports all that its header declares."""
    sides = (implementing({"api.hpp": text}) for text in (old, new))
    return [each for each in compare(*sides).findings if each.impact >= Impact.API_BREAK]


def test_a_function_with_a_new_default_parameter_says_that_sources_still_compile() -> None:
    (found,) = broken(MOVE, f"{POINT}void move(Point to, bool snap = false);\n")
    assert found.kind == "func_removed"
    assert found.description.endswith("sources still compile, with move(Point, bool): programs must be rebuilt")


def test_a_function_with_a_new_parameter_that_has_no_default_does_not_say_so() -> None:
    found = broken(MOVE, f"{POINT}void move(Point to, bool snap);\n")
    assert all("rebuilt" not in each.description for each in found)
    assert "func_removed" in {each.kind for each in found}


def test_two_functions_that_both_take_the_calls_are_ambiguous() -> None:
    found = broken(MOVE, f"{POINT}void move(Point to, bool snap = false);\nvoid move(Point to, int steps = 1);\n")
    assert all("rebuilt" not in each.description for each in found)


def test_a_renamed_function_of_a_public_header_is_one_break() -> None:
    (found,) = broken(f"{POINT}void each(const Point *of);\n", f"{POINT}void visit(const Point *of);\nint more(int);\n")
    assert (found.kind, found.old_value, found.new_value) == (
        "func_likely_renamed",
        "each(const Point*)",
        "visit(const Point*)",
    )
