"""The oracle of random edits: compilers tell what breaks, whoever is asked about it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.oracle.asking import Answer, Way, breaks, wrong
from benchmarks.oracle.building import Library, built
from benchmarks.oracle.drawing import drawn
from benchmarks.oracle.facts import broken
from benchmarks.oracle.pieces import Language
from benchmarks.oracle.probe import tables
from benchmarks.oracle.text import header, source

pytestmark = pytest.mark.full

SEED = 7
COUNT = 4


@pytest.fixture(scope="module", params=["c++", "c"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    language: Language = request.param
    return built(SEED, COUNT, language, tmp_path_factory.mktemp("oracle"))


def test_a_seed_always_gives_the_same_piece() -> None:
    one, same, other = (drawn("amber", "c++", Random(seed)) for seed in (3, 3, 4))
    assert header(one) + source(one) == header(same) + source(same)
    assert header(one) != header(other)


def test_abistore_answers_as_the_compilers_do(library: Library) -> None:
    assert len(library.pieces) == COUNT
    assert any(breaks(library, each) for each in library.pieces)
    assert not all(breaks(library, each) for each in library.pieces)
    assert [str(each) for each in wrong(library)] == []


def test_a_judge_who_sees_nothing_misses_what_compilers_know(library: Library) -> None:
    blind = {"blind": Way(lambda _: Answer([]), "gcc", headers=True)}
    missed = list(wrong(library, blind))
    assert {each.piece for each in missed} == {each.old.prefix for each in library.pieces if breaks(library, each)}
    assert {each.word for each in missed} == {"missed"}


class Alarm(Answer):
    def breaking(self, prefix: str) -> list[str]:
        return [prefix]


def test_a_judge_who_sees_breaks_everywhere_is_found_out(library: Library) -> None:
    told = list(wrong(library, {"alarmed": Way(lambda _: Alarm([]), "gcc", headers=True)}))
    assert {each.piece for each in told} == {each.old.prefix for each in library.pieces if not breaks(library, each)}
    assert {each.word for each in told} == {"false"}


@pytest.mark.parametrize(
    ("asked", "was", "now", "breaks"),
    [
        ("size of S", "8", "16", True),
        ("size of S", "8", "8", False),
        ("place of S.a", "4", None, True),
        ("end of S", "12", "16", True),
        ("end of S", "12", "8", False),
        ("copying of S", "1", None, False),
        ("type of S.a", "char", "unsigned char", False),
        ("type of S.a", "unsigned long long", "long", False),
        ("type of S.a", "E", "int", False),
        ("type of S.a", "char const*", "void*", False),
        ("type of S.a", "int", "int [1]", False),
        ("type of S.a", "int", "double", True),
        ("type of f", "E (*)(E)", "int (*)(E)", False),
        ("type of f", "E (*)(E)", "long (*)(E)", True),
        ("type of S::f()", "int (S::*)() const", "int (S::*)()", False),
        ("symbol f", "", None, True),
    ],
)
def test_which_facts_programs_depend_on(asked: str, was: str, now: str | None, breaks: bool) -> None:
    known = {"integer of E": "unsigned int"}
    assert bool(broken(known | {asked: was}, known if now is None else known | {asked: now})) is breaks


def test_a_destructor_has_a_slot_behind_what_is_declared_before_it() -> None:
    table = """Vtable for amber1qS1
amber1qS1::_ZTV9amber1qS1: 5 entries
0     (int (*)(...))0
8     (int (*)(...))(& _ZTI9amber1qS1)
16    (int (*)(...))amber1qS1::f
24    (int (*)(...))amber1qS1::~amber1qS1
32    (int (*)(...))amber1qS1::~amber1qS1

Class amber1qS1
"""
    assert tables(table) == "amber1q\ttable of amber1qS1\t5\namber1q\tslot of amber1qS1::~\t2\n"


def test_pieces_of_c_need_no_words_of_cpp(tmp_path: Path) -> None:
    for seed in range(20):
        text = header(drawn("amber", "c", Random(seed)))
        assert not {"class", "virtual", "template<class", "public:"} & set(text.split())
