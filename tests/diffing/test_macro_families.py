"""Macros that number something cost what their number costs: each is asked about its own families alone."""

from __future__ import annotations

from abistore.diffing.judge.judged import compare
from abistore.model.snapshot import Snapshot
from tests.effort import steps
from tests.public_headers import implementing


def kinds(count: int, first: int) -> Snapshot:
    """A library with so many macros of one numbering, which begins with ``first``, and a function that takes them."""
    text = [f"#define GEO_KIND_{number} {first + number}\n" for number in range(count)]
    return implementing({"geo.h": "".join([*text, "int geo_draw(int kind);\n"])}, "c")


def test_many_macros_that_move_are_judged_in_linear_work() -> None:
    def work(count: int) -> int:
        old, new = kinds(count, 0), kinds(count, 1)
        assert sum(each.kind == "constant_changed.integer" for each in compare(old, new).findings) == count
        return steps(lambda: compare(old, new))

    assert work(800) <= 6 * work(200)


def test_a_name_of_many_words_is_judged_in_linear_work() -> None:
    def work(words: int) -> int:
        name = "_".join(["GEO", *(["A"] * words)])
        texts = (f"#define {name} {number}\nint geo_draw(int kind);\n" for number in (1, 2))
        old, new = (implementing({"geo.h": text}, "c") for text in texts)
        return steps(lambda: compare(old, new))

    assert work(8_000) <= 6 * work(2_000)
