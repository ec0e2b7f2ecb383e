"""The pairs of Debian packages: the rule that chooses them, and how answers about them are kept and counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.accuracy.asking import Done
from benchmarks.accuracy.debian import TABLE, DebianPair, pairs, write
from benchmarks.accuracy.debian.answers import HEADERS, Answer, add, answers
from benchmarks.accuracy.debian.asking import answer_of
from benchmarks.accuracy.debian.choosing import QUOTAS, SECURITY_PAIRS, Side, candidate, is_measured, measured, upstream
from benchmarks.accuracy.debian.page import at_gate, judged, of_programs, page
from benchmarks.accuracy.debian.truth import Truth
from examples.archive.apt import NEW, OLD, SECURITY, Package


def package(suite: str, name: str = "libfoo1", version: str = "1.0-1", **others: object) -> Package:
    told = {"source": "foo", "source_version": version, "section": "libs", "architecture": "amd64", "size": 1000}
    told |= {"depends": (("libc6",),), "provides": ()}
    return Package(suite=suite, name=name, version=version, **{**told, **others})  # type: ignore[arg-type]


def side(suite: str, version: str, devel_size: int = 1000, **others: object) -> Side:
    devel = package(suite, "libfoo-dev", version, section="libdevel", size=devel_size, depends=(("libfoo1",),))
    return Side(package(suite, version=version, **others), (devel,))


def test_another_upstream_version_makes_a_pair() -> None:
    pair = candidate(side(OLD, "1.0-1"), side(NEW, "1.1-1"))
    assert pair is not None
    assert (pair.old, pair.new, pair.devel, pair.language) == ("1.0-1", "1.1-1", ("libfoo-dev",), "C")


def test_another_debian_revision_makes_a_pair_of_the_security_suite_alone() -> None:
    assert candidate(side(OLD, "1.0-1"), side(NEW, "1.0-2")) is None
    assert candidate(side(OLD, "1.0-1"), side(SECURITY, "1.0-1+deb12u1")) is not None


def test_the_lower_version_is_the_old_one() -> None:
    pair = candidate(side(OLD, "1.0-1+deb12u10"), side(SECURITY, "1.0-1+deb12u9"))
    assert pair is not None
    assert (pair.old_suite, pair.new_suite) == (SECURITY, OLD)


@pytest.mark.parametrize("others", [{"size": 2_000_001}, {"section": "oldlibs"}, {"source": "bar"}])
def test_what_the_rule_excludes_is_no_candidate(others: dict[str, object]) -> None:
    assert candidate(side(OLD, "1.0-1"), side(NEW, "1.1-1", **others)) is None


def test_large_development_packages_are_excluded() -> None:
    assert candidate(side(OLD, "1.0-1"), side(NEW, "1.1-1", devel_size=3_000_001)) is None


def test_a_dependency_on_libstdcxx_makes_the_language() -> None:
    pair = candidate(side(OLD, "1.0-1"), side(NEW, "1.1-1", depends=(("libstdc++6",),)))
    assert pair is not None
    assert pair.language == "C++"


@pytest.mark.parametrize("version", ["1.2-3", "2:1.2-3+b1", "1.2+dfsg-1", "1.2+ds2-1", "1.2~dfsg.1-1", "1.2"])
def test_epoch_revision_and_repacking_are_no_upstream_version(version: str) -> None:
    assert upstream(version) == "1.2"


def test_the_table_keeps_to_the_quotas_and_to_unmeasured_libraries() -> None:
    chosen, known = list(pairs()), measured()
    security = [pair for pair in chosen if SECURITY in (pair.old_suite, pair.new_suite)]
    assert len(security) == SECURITY_PAIRS
    assert Counter(pair.language for pair in chosen if pair not in security) == QUOTAS
    assert len({pair.source for pair in chosen}) == len(chosen)
    assert not [pair for pair in chosen if is_measured(pair, known)]


def test_a_written_table_is_read_as_it_was(tmp_path: Path) -> None:
    write(pairs(), tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_bytes() == TABLE.read_bytes()


def pair(package: str) -> DebianPair:
    return DebianPair("foo", package, OLD, NEW, "1.0-1", "1.1-1", ("libfoo-dev",), "C")


def answer(package: str, word: str, engine: str = "1") -> Answer:
    return Answer(package, *HEADERS, engine, word, "0", "full", "full", 0, "", 1.0)


def test_totals_leave_doubtful_pairs_out_and_count_each_engine_by_itself() -> None:
    truth = {
        "broken": Truth(True, True, "a function was removed"),
        "source": Truth(False, True, "a macro was removed"),
        "sound": Truth(False, False, "a function was added"),
        "unread": Truth(True, True, "a field was inserted"),
        "doubtful": Truth(False, None, "a macro may be private"),
    }
    words = {
        "broken": "BREAKING",
        "source": "API_BREAK",
        "sound": "BREAKING",
        "unread": "no answer: exit 65: an error",
        "doubtful": "BREAKING",
    }
    said = [answer(package, word) for package, word in words.items()] + [answer("sound", "COMPATIBLE", "2")]
    found = judged(map(pair, truth), truth, said, {"sound": "an enumerator is read as a number"})
    assert of_programs(found, HEADERS, "1").cells == (1, 1, 0, 1, 1, "0.50", "0.50")
    assert at_gate(found, HEADERS, "1").cells == (2, 1, 0, 0, 1, "0.67", "0.67")
    assert of_programs(found, HEADERS, "2").cells == (0, 0, 0, 1, 0, "0.00", "0.00")
    lines = page(found).splitlines()
    assert "| C++ |" not in page(found)
    assert "| all | abistore, headers | 1 | 4 | 2 | 1 | 1 | 0 | 1 | 1 | 0.50 | 0.50 |" in lines
    assert "  - headers, engine 1: false alarm (BREAKING)" in lines
    assert "  - Why: an enumerator is read as a number." in lines
    assert any("| no, no |  | **BREAKING**, then COMPATIBLE |" in line for line in lines)


def test_an_error_of_abistore_is_no_answer_with_its_code(tmp_path: Path) -> None:
    failed = Done(65, '{"data": null, "error": {"code": "limit", "message": "/home/me/a.deb: too costly"}}', "")
    found = answer_of(failed, "libfoo1", HEADERS, "1", 2.5)
    assert (found.word, found.exit, found.breaks) == ("no answer: exit 65: a.deb: too costly", "65 limit", None)
    add(found, tmp_path / "answers.csv")
    add(answer("libfoo1", "NO_CHANGE", "2"), tmp_path / "answers.csv")
    assert list(answers(tmp_path / "answers.csv")) == [found, answer("libfoo1", "NO_CHANGE", "2")]
