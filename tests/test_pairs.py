"""Kept pairs of real releases: what abistore says of each, and how often that is right."""

from __future__ import annotations

import tarfile
from dataclasses import replace

import pytest

from abistore.model.snapshot import Snapshot, Target
from abistore.model.snapshot_files import from_json
from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import answers, archives
from benchmarks.accuracy.kept.answers import Answer, Place
from benchmarks.accuracy.kept.making import chosen
from benchmarks.accuracy.kept.page import PAGE, page, totals
from benchmarks.accuracy.unseen import PARTS, UnseenPair

LARGE = 80_000
"""Bytes of an archive beyond which its pairs are compared apart: a sixth of the pairs, and half of the time."""

PAIR = UnseenPair("libfoo", "1", "2", False, False, "", PARTS["open"])


def libraries(*, large: bool) -> set[str]:
    archived = archives.FOLDER.glob(f"*{archives.SUFFIX}")
    return {archives.library_of(path) for path in archived if (path.stat().st_size > LARGE) is large}


@pytest.mark.parametrize("large", [False, True])
def test_each_kept_pair_has_its_verdict_and_its_findings(large: bool, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-cases"):
        found = dict(answers.answers(kept.pairs()))
        answers.write(found)
        PAGE.write_text(page(found))
    some = libraries(large=large)
    then = {place: answer for place, answer in answers.read().items() if place.library in some}
    lines = answers.differences(then, dict(answers.answers(kept.pairs(some))))
    assert then
    assert not lines, "\n".join(["`python -m benchmarks.accuracy.kept --answers` keeps what is said now:", *lines])


def test_the_page_says_how_many_answers_are_right() -> None:
    assert "\n".join(totals(answers.read())) in PAGE.read_text()


def test_every_archive_belongs_to_a_kept_pair() -> None:
    assert libraries(large=False) | libraries(large=True) == {place.library for place in answers.read()}


def test_pairs_next_to_a_break_are_chosen() -> None:
    numbered = [replace(PAIR, old=str(number), new=str(number + 1), breaks=number == 4) for number in range(1, 8)]
    assert [pair.old for pair in chosen(numbered)] == ["3", "4", "5"]
    assert [pair.old for pair in chosen(numbered[:3])] == ["1", "2"]


def test_another_answer_is_told_with_the_kinds_that_moved() -> None:
    place = Place("libfoo", "1", "2", "headers")
    then = Answer("BREAKING", "aa", 3, "field_removed 1; func_removed 2")
    now = Answer("COMPATIBLE", "bb", 2, "field_removed 1; func_added 1")
    assert answers.differences({place: then}, {place: then}) == []
    assert answers.differences({place: then}, {place: now}) == [
        "libfoo 1 -> 2, headers: BREAKING -> COMPATIBLE (func_added 0 -> 1, func_removed 2 -> 0)"
    ]
    assert answers.differences({place: then}, {place: then._replace(digest="cc")}) == [
        "libfoo 1 -> 2, headers: BREAKING, other values of the same kinds"
    ]


def test_an_archive_is_the_same_bytes_for_the_same_snapshots() -> None:
    old, new = (Snapshot("libfoo", version, Target("elf", "x86_64", 64, "little", "sysv"), {}) for version in "12")
    packed = archives.pack({"1": old, "2": new})
    assert packed == archives.pack({"1": old, "2": new}) != archives.pack({"2": new, "1": old})
    assert archives.unpack(packed) == {"1": old, "2": new}


def test_an_archive_is_read_as_its_snapshots_are() -> None:
    path = archives.path_of("libargon2")
    with tarfile.open(path) as archive:
        texts = {member.name: archive.extractfile(member) for member in archive}
        read = [from_json(text.read()) for text in texts.values() if text]
    assert read
    assert read == list(archives.read("libargon2").values())
