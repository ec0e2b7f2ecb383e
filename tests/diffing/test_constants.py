"""What macros that name others are worth, on the same machine and on two."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from abistore.diffing.judge.judged import compare
from abistore.model.constants import constant
from abistore.model.declarations import SELF, Declared, Meaning, Name
from abistore.model.shapes import Library
from abistore.model.snapshot import INITIALIZERS, LATER_FACTS, Evidence, HeadersRead, Snapshot
from tests.draws import draws
from tests.laws.test_against_laws import judged_in_turn, unlocated
from tests.public_headers import TARGET, implementing

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1u << 3 | 1", "9u"),
        ("~0u", "4294967295u"),
        ("-1 + 2u", "1u"),
        ("(uint8_t)3 + 1", "4"),
        ("((uint8_t) 3)", "(uint8_t)3"),
        ("1ULL << 40", "1099511627776llu"),
        ('"a" "b"', '"ab"'),
        ("'x'", "'x'"),
        ("2.5", "2.5"),
    ],
)
def test_values_with_their_types(text: str, value: str) -> None:
    assert constant(text) == value


@pytest.mark.parametrize(
    "text",
    ["1L << 40", "~0UL", "(size_t)-1", "1u + 1l", "(uint8_t)300 NAME", "NAME", "f(1)", "(int)", "1 +", "x.y", ""],
)
def test_what_machines_see_differently_has_no_value(text: str) -> None:
    assert constant(text) is None


NAMES = ("BASE", "NEXT", "MOST", "GEO_VERSION")
TEXTS = {
    "BASE": ("4", "5"),
    "NEXT": ("(BASE + 1)", "5", "MOST"),
    "MOST": ("NEXT", "BASE", "9"),
    "GEO_VERSION": ("1", "2"),
}


def release(texts: Mapping[str, str], *, borrowed: bool = False, **system: str) -> Snapshot:
    """A library whose headers define macros, some by those of the system."""
    entries = {Name("variable", name): (macro(text, {**system, **texts}, borrowed),) for name, text in texts.items()}
    evidence = Evidence("symbol", "full"), Evidence("source", "full")
    return Snapshot("libgeo", None, TARGET, {"symbol": {SELF: (Library("shared"),)}, "source": entries}, evidence)


def macro(text: str, texts: Mapping[str, str], borrowed: bool) -> Declared:
    value = text
    for _ in texts:
        value = re.sub(r"[A-Z_]+", lambda word: f"({texts[word[0]]})" if word[0] in texts else word[0], value)
    known = constant(value)
    named = known is not None and value != text
    return Declared(("constant", "macro"), value=text, meaning=Meaning(known or "", borrowed) if named else None)


def found(old: Snapshot, new: Snapshot) -> list[tuple[str, str, list[str]]]:
    findings = compare(old, new).findings
    return [(each.kind, each.name.spelling, [one.name.spelling for one in each.consequences]) for each in findings]


def test_a_macro_changes_with_the_one_that_it_names() -> None:
    old, new = ({"BASE": value, "NEXT": "(BASE + 1)"} for value in "45")
    assert found(release(old), release(new)) == [("constant_changed", "BASE", ["NEXT"])]


def test_another_system_is_no_change_of_the_library() -> None:
    macros = {"NEXT": "BUFSIZ", "BASE": "4"}
    old, new = (release(macros, borrowed=True, BUFSIZ=size) for size in ("512", "8192"))
    assert not found(old, new)
    assert found(release(macros, BUFSIZ="512"), release(macros, BUFSIZ="8192"))


def test_a_macro_by_way_of_the_system_changes_with_the_librarys_own() -> None:
    old, new = ({"BASE": value, "NEXT": "(BASE + LIMIT)"} for value in "45")
    assert found(release(old, borrowed=True, LIMIT="7"), release(new, borrowed=True, LIMIT="7")) == [
        ("constant_changed", "BASE", ["NEXT"])
    ]


def test_what_was_stored_without_a_meaning_is_compared_by_its_text() -> None:
    new = release({"NEXT": "LIMIT"}, LIMIT="7")
    assert not found(release({"NEXT": "LIMIT"}), new)
    assert found(release({"NEXT": "OTHER"}), new) == [("constant_changed", "NEXT", [])]


def lock(macro: str, *, looked_for: bool) -> Snapshot:
    """A library with a header, read by a version that looks for macros of first values or by one of before."""
    snapshot = implementing({"lock.h": f"{macro}\nint lock(int *lock);"}, "c")
    facts = tuple(each for each in LATER_FACTS if looked_for or each != INITIALIZERS)
    read = replace(snapshot.provenance.headers or HeadersRead(), facts=facts)
    return replace(snapshot, provenance=replace(snapshot.provenance, headers=read))


def kinds(old: Snapshot, new: Snapshot) -> list[str]:
    return [each.kind for each in compare(old, new).findings]


def test_first_values_that_a_former_version_passed_over_are_neither_new_nor_gone() -> None:
    before, former = lock("", looked_for=True), lock("", looked_for=False)
    with_macro = lock("#define LOCK_INIT {17, 0}", looked_for=True)
    assert kinds(before, with_macro) == ["constant_added"]
    assert kinds(with_macro, before) == ["constant_removed"]
    assert not kinds(former, with_macro) and not kinds(with_macro, former)


@settings(deadline=None, max_examples=draws(60))
@given(st.lists(st.fixed_dictionaries({name: st.sampled_from(TEXTS[name]) for name in NAMES}), min_size=3, max_size=6))
def test_releases_in_turn_are_judged_as_each_by_itself(history: Sequence[Mapping[str, str]]) -> None:
    releases = [release(texts) for texts in history]
    for new, judged in zip(releases[1:], judged_in_turn(releases), strict=True):
        assert unlocated(judged) == unlocated(compare(releases[0], new))
