"""The pairs that wait for rules not made yet hold together, without obtaining any of them."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest

from benchmarks.accuracy import truth, unseen
from benchmarks.accuracy.asking import FOLDERS, Done, Said, no_answer
from benchmarks.accuracy.unseen import FOLDER, JUDGED, Part, UnseenPair, ceiling, gates, libraries, pairs, recipe
from benchmarks.accuracy.unseen.__main__ import pairs_of
from benchmarks.accuracy.unseen.answers import Binaries, answers, counts, keep, key
from benchmarks.accuracy.unseen.building import public_headers, release
from benchmarks.accuracy.unseen.milder import spared
from benchmarks.accuracy.unseen.page import PAGE, page
from examples.obtain import Missing

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("library", libraries())
def test_every_consecutive_pair_of_a_library_has_its_truth_and_reason(library: str) -> None:
    told = recipe(library)
    rows = list(csv.DictReader((FOLDER / f"{library}.csv").read_text().splitlines()))
    assert told["library"] == library
    assert [(row["old"], row["new"]) for row in rows] == list(pairwise(told["releases"]))
    assert {row[answer] for row in rows for answer in ("break", "source_break")} <= {"yes", "no"}
    assert all(row["reason"] for row in rows)


def test_none_of_the_libraries_was_judged_before() -> None:
    assert not set(libraries()) & {pair.library for pair in truth.pairs()}


def test_about_half_of_the_pairs_that_were_chosen_first_are_kept_for_the_end() -> None:
    first = [pair.part for pair in pairs() if pair.part in (Part.OPEN, Part.KEPT)]
    assert 0.35 < first.count(Part.KEPT) / len(first) < 0.65


@pytest.mark.parametrize("part", [part for part in Part if part not in (Part.OPEN, Part.KEPT)])
def test_a_recipe_that_names_its_part_puts_all_its_pairs_there(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libx.toml").write_text(f'part = "{part}"\n')
    rows = ("old,new,break,source_break,reason", "1,2,no,no,as before", "2,3,yes,yes,gone", "3,4,no,no,as before")
    (tmp_path / "libx.csv").write_text("\n".join(rows))
    monkeypatch.setattr(unseen, "FOLDER", tmp_path)
    assert [pair.part for pair in pairs()] == [part] * 3


def test_a_part_is_judged_when_it_is_asked_for_and_with_no_other() -> None:
    asked = {part: list(pairs_of(part, ())) for part in Part}
    assert all(pair.part is part for part, chosen in asked.items() for pair in chosen)
    assert sum(map(len, asked.values())) == len(list(pairs()))


def test_a_tool_that_gives_no_answer_is_neither_right_nor_wrong_and_has_not_found_the_break() -> None:
    told = [(True, True), (True, None), (False, None), (False, True), (False, False)]
    assert counts(told) == "1 | 1 | 0 | 1 | 2 | 0.50 | 0.50"


def test_a_command_that_was_stopped_or_failed_says_why_in_one_line() -> None:
    assert no_answer(Done(-24, "", "").failure).word.startswith("no answer: stopped after")
    failed = Done(1, "", "reading\nERROR: cannot compile\n  a.h\n")
    assert no_answer(failed.failure) == Said("no answer: exit 1: ERROR: cannot compile", None)


def test_no_answer_names_a_folder_of_a_machine() -> None:
    failed = Done(1, "", "Error: Failed to dump '/home/me/cache/lib/1.2/libx.so': a/b.h of /usr/include/c.h\n")
    assert no_answer(failed.failure).word == "no answer: exit 1: Error: Failed to dump 'libx.so': a/b.h of c.h"
    kept = [each for said in answers().values() for each in (said.word, *said.causes)]
    assert [each for each in kept if FOLDERS.search(each)] == []


def test_answers_are_read_as_they_were_kept(tmp_path: Path) -> None:
    pair = next(pairs())
    found = {
        key(pair, "abistore", "files"): Said("BREAKING", True, ("func_removed f", "type_field_removed s")),
        key(pair, "ABICC", "headers"): no_answer("exit 6"),
    }
    keep(found, pairs(), tmp_path / "answers.csv")
    assert answers(tmp_path / "answers.csv") == found


def test_headers_that_no_client_includes_are_left_out_by_name_or_by_folder(tmp_path: Path) -> None:
    for name in ("include/lib.h", "include/detail.h", "include/private/x.h"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    told = {"public": ["include/*.h", "include/*/*.h"], "private": ["detail.h", "include/private/*.h"]}
    assert list(public_headers(told, tmp_path)) == [tmp_path / "include" / "lib.h"]


def test_a_package_that_holds_no_sources_is_missing_and_no_empty_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").mkdir()
    source = {"root": ".", "sources": ["*.c"], "flags": [], "compiler": "gcc"}
    told = {"library": "libx", "origin": "npm", "releases": {"1": "1"}, "source": source, "headers": {}}
    building = "benchmarks.accuracy.unseen.building"
    monkeypatch.setattr(f"{building}.recipe", lambda library: told)
    monkeypatch.setattr(f"{building}.unpacked", lambda told, version: tmp_path / "package")
    monkeypatch.setattr(f"{building}.CACHE", tmp_path)
    with pytest.raises(Missing, match=r"libx: the package holds none of \*\.c"):
        release("libx", "1")


def test_headers_of_another_library_lie_beside_those_of_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {"libx/lib.c": '#include "uv.h"\nuv_t f;', "uv/include/uv.h": "typedef int uv_t;"}.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    source = {"root": ".", "sources": ["*.c"], "flags": ["-Ifound"], "compiler": "gcc"}
    foreign = {"origin": "pypi", "package": "uv", "version": "2", "folder": "include", "to": "found"}
    told = {"library": "libx", "origin": "npm", "package": "libx", "releases": {"1": "1"}, "language": "c"}
    told |= {"source": source, "foreign": [foreign]}
    told["headers"] = {"public": [], "private": [], "include": ["found"], "defines": []}
    building = "benchmarks.accuracy.unseen.building"
    monkeypatch.setattr(f"{building}.recipe", lambda library: told)
    monkeypatch.setattr(f"{building}.unpacked", lambda told, version: tmp_path / told["package"])
    monkeypatch.setattr(f"{building}.CACHE", tmp_path)
    built = release("libx", "1")
    assert [path.name for path in built.include] == ["found"]
    assert built.binary.exists()


def test_a_release_that_another_has_made_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"library": "libx", "origin": "npm", "releases": {"1": "1"}, "language": "c", "source": {}}
    told["headers"] = {"public": [], "private": [], "include": [], "defines": []}
    others = [Thread(target=lambda: release("libx", "1"))]

    def made(told: object, version: str, folder: Path) -> None:
        maker = "other" if not others else "first"
        if others:
            (other := others.pop()).start()
            other.join()
        folder.mkdir()
        (folder / "libx.so").write_text(maker)

    building = "benchmarks.accuracy.unseen.building"
    monkeypatch.setattr(f"{building}.recipe", lambda library: told)
    monkeypatch.setattr(f"{building}._sources", made)
    monkeypatch.setattr(f"{building}.CACHE", tmp_path)
    found = release("libx", "1")
    assert found.binary.read_text() == "other"
    assert [path.name for path in found.folder.parent.iterdir()] == [found.folder.name]


def test_the_page_is_what_follows_from_the_answers() -> None:
    shown = PAGE.read_text()
    named = re.search(r"Versions: (.+)\.\n", shown)
    assert named
    assert shown == page(named[1]), "run python -m benchmarks.accuracy.unseen --document"


def test_a_part_that_has_answers_tells_the_day_on_which_it_was_judged() -> None:
    asked = {place[:3] for place in answers()}
    parts = {pair.part for pair in pairs() if (pair.library, pair.old, pair.new) in asked}
    assert parts - {Part.OPEN} == set(JUDGED), "name the day in JUDGED of benchmarks/accuracy/unseen/__init__.py"


@pytest.mark.parametrize("part", list(Part))
def test_each_wrong_answer_has_its_cause_and_no_cause_names_a_right_one(part: Part) -> None:
    found = answers()
    asked = [key(pair, "abistore", evidence) for pair in pairs_of(part, ()) for evidence in ("files", "headers")]
    truth = {(pair.library, pair.old, pair.new): pair.breaks for pair in pairs_of(part, ())}
    wrong = {place for place in asked if place in found and found[place].breaks != truth[place[:3]]}
    assert {place for place in ceiling.causes() if place[:3] in truth} == wrong


def test_a_judge_of_files_can_be_no_better_than_what_headers_alone_tell_allows() -> None:
    truth = {"1": True, "2": True, "3": False, "4": False}
    judged = [UnseenPair("libx", version, f"{version}.1", truth[version], False, "", Part.OPEN) for version in truth]
    said = {key(each, "abistore", "files"): Said("BREAKING", each.old in "13") for each in judged}
    beyond = frozenset(key(each, "abistore", "files") for each in judged if each.old in "23")
    shown = " ".join(ceiling.told(judged, said, beyond))
    assert "Of 4 pairs that were judged from the files, 2 have" in shown
    assert "1 false alarm and 1 missed break: **precision 0.50, recall 0.50**" in shown
    assert "0 false alarms and 0 missed breaks: **precision 1.00, recall 1.00**" in " ".join(
        ceiling.told(judged, said, frozenset())
    )


def test_a_judge_of_headers_can_be_no_better_than_what_nothing_tells_allows() -> None:
    truth = {"1": True, "2": True, "3": False, "4": False}
    judged = [UnseenPair("libx", version, f"{version}.1", truth[version], False, "", Part.OPEN) for version in truth]
    places = {each.old: key(each, "abistore", "headers") for each in judged}
    said = {place: Said("BREAKING", version in "134") for version, place in places.items()}
    shown = " ".join(ceiling.told_with_headers(judged, said, frozenset({places["3"]}), frozenset({places["2"]})))
    assert "Of 4 pairs that were judged with headers, 1 cannot be told" in shown
    assert "1 false alarm and 0 missed breaks: **precision 0.67, recall 1.00** at best. Of 1 more" in shown
    assert "1 false alarm and 1 missed break: **precision 0.50, recall 0.50** at best" in shown


@pytest.mark.parametrize("evidence", ["files", "headers"])
def test_a_wrong_answer_has_its_truth_in_what_its_evidence_does_not_show(evidence: str) -> None:
    named = ceiling.only_told_by(*ceiling.SOURCES[evidence])
    assert named
    assert named < {place for place in ceiling.causes() if place[4] == evidence}


def test_no_other_source_is_named() -> None:
    known = ceiling.only_told_by("", *(each for sources in ceiling.SOURCES.values() for each in sources))
    assert known == ceiling.causes().keys()


def test_alarms_rest_on_symbols_alone_only_where_nothing_else_tells_of_a_break() -> None:
    told = {
        ("1", True): Said("BREAKING", True, ("func_removed f", "var_removed v")),
        ("2", False): Said("BREAKING", True, ("func_removed f",)),
        ("3", True): Said("BREAKING", True, ("func_removed f", "vtable_slot_count_changed s")),
        ("4", False): Said("COMPATIBLE_WITH_RISK", False, ("func_removed f",)),
        ("5", True): Said("BREAKING", True, ("func_removed f",)),
    }
    chosen = [UnseenPair("lib", old, "9", breaks, breaks, "", Part.OPEN) for old, breaks in told]
    known = {("lib", each.old, "9"): Binaries(same_soname=True, stripped=each.old != "5") for each in chosen}
    found = {key(each, "abistore", "files"): told[each.old, each.breaks] for each in chosen}
    assert spared(chosen, known, found) == (1, 1)


def test_a_gate_stops_rightly_where_sources_stop_compiling_too() -> None:
    truth = {"1": (True, False), "2": (False, True), "3": (False, False), "4": (False, True), "5": (False, False)}
    words = {"1": "BREAKING", "2": "API_BREAK", "3": "API_BREAK", "4": "COMPATIBLE_WITH_RISK"}
    chosen = [UnseenPair("libx", old, "9", *breaks, "", Part.OPEN) for old, breaks in truth.items()]
    found = {
        key(each, "abistore", "headers"): Said(words[each.old], words[each.old] == "BREAKING")
        for each in chosen
        if each.old in words
    }
    found[key(chosen[4], "abistore", "headers")] = no_answer("exit 6")
    shown = " ".join(gates.told(chosen, found))
    assert "| all (5) | 2 | 1 | 1 | 0 | 1 | 0.67 | 0.67 |" in shown
    assert "| those that break no built program (4) | 1 | 1 | 1 | 0 | 1 | 0.50 | 0.50 |" in shown
    assert "Of 4 pairs that break no built program it stopped 2, 1 of them rightly." in shown
