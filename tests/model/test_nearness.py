"""What is proposed for a word that nothing is called."""

from __future__ import annotations

import pytest

from abistore.model.words import did_you_mean, near, near_name

LIBRARIES = ("libcurl", "libre2", "libuv", "libxml2")
NAMES = ("geo::Point", "geo::Point::norm(const geo::Box&)", "geo::Pointer", "uv_timer_s", "uv_timer_t")


@pytest.mark.parametrize(("word", "found"), [("libvu", ["libuv"]), ("libssl", []), ("libx", ["libxml2"]), ("", [])])
def test_a_library_is_proposed_where_its_whole_name_is_alike(word: str, found: list[str]) -> None:
    assert near(word, LIBRARIES) == found


def test_the_last_of_what_was_begun_is_proposed() -> None:
    assert near("1", ["1.0", "1.1", "1.2", "1.10", "2.0"]) == ["1.1", "1.2", "1.10"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Point", ["geo::Point", "geo::Pointer", "geo::Point::norm(const geo::Box&)"]),
        ("uv_timr_s", ["uv_timer_s", "uv_timer_t"]),
        ("geo::Point::nrom", ["geo::Point::norm(const geo::Box&)"]),
        ("socket", []),
    ],
)
def test_a_declaration_is_proposed_by_a_part_of_its_name_else_by_its_spelling(text: str, found: list[str]) -> None:
    assert near_name(text, NAMES)[: len(found) or None] == found


@pytest.mark.parametrize(
    ("found", "said"),
    [([], "see the list"), (["a"], "did you mean a?"), (["a", "b", "c"], "did you mean a, b or c?")],
)
def test_the_hint_is_a_question(found: list[str], said: str) -> None:
    assert did_you_mean(found, "see the list") == said
