"""The judged pairs and their recipes fit together, without obtaining any of them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from itertools import groupby, pairwise
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from benchmarks.accuracy import truth
from benchmarks.accuracy.asking import FOLDERS, Done, Said, is_break, no_answer
from benchmarks.accuracy.unseen import PARTS, RECIPES, TABLE, UnseenPair, libraries, pairs, recipe, write
from benchmarks.accuracy.unseen.__main__ import ask_all, compared
from benchmarks.accuracy.unseen.building import public_headers, release
from benchmarks.accuracy.unseen.totals import PAGE, at_gate, counts, page
from examples.obtain import Missing

pytestmark = pytest.mark.fast


def judged(word: str, *, breaks: bool = False, breaks_source: bool = False) -> UnseenPair:
    """A pair, and what abistore answered with headers."""
    words = {("abistore", "headers"): word}
    return UnseenPair("libx", "1", "2", breaks, breaks_source, "a reason", PARTS["open"], words=words)


def test_every_pair_has_its_truth_and_a_reason() -> None:
    allowed = {"break": ("yes", "no"), "source_break": ("yes", "no"), "part": tuple(PARTS)}
    allowed |= {"same_soname": ("yes", "no", ""), "stripped": ("yes", "no", "")}
    with TABLE.open(newline="") as table:
        rows = list(csv.DictReader(table))
    wrong = [f"{row}: {column}" for row in rows for column, words in allowed.items() if row[column] not in words]
    assert wrong + [f"{row}: reason" for row in rows if not row["reason"]] == []


def test_the_pairs_of_a_library_are_all_consecutive_releases_of_its_recipe() -> None:
    found = {
        name: [(each.old, each.new) for each in group] for name, group in groupby(pairs(), lambda each: each.library)
    }
    assert list(found) == libraries() == list(tomllib.loads(RECIPES.read_text()))
    wrong = [name for name, versions in found.items() if versions != list(pairwise(recipe(name)["releases"]))]
    assert wrong == []


def test_all_pairs_of_a_library_were_judged_together() -> None:
    """But for those of the first libraries: a digest of each pair's name decided."""
    parts = {(each.library, each.part.name) for each in pairs() if each.part.name not in ("open", "kept")}
    assert len(parts) == len({library for library, _ in parts})
    first = [each.part.name for each in pairs() if each.part.name in ("open", "kept")]
    assert 0.35 < first.count("kept") / len(first) < 0.65


def test_none_of_the_libraries_was_judged_before() -> None:
    assert not set(libraries()) & {each.library for each in truth.pairs()}


def test_every_answer_is_a_word_of_its_tool_and_names_no_folder_of_a_machine() -> None:
    wrong = []
    for each in pairs():
        for (tool, _), word in each.words.items():
            try:
                is_break(tool, word)
            except ValueError as problem:
                wrong.append(f"{each}: {problem}")
            if FOLDERS.search(word):
                wrong.append(f"{each}: {word}")
    assert wrong == []


def test_the_table_is_written_as_it_was_read(tmp_path: Path) -> None:
    write(pairs(), tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_bytes() == TABLE.read_bytes()


def test_the_page_follows_from_the_table() -> None:
    assert PAGE.read_text() == page(list(pairs())), "run python -m benchmarks.accuracy.unseen --document"


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("abistore", {"BREAKING": True, "API_BREAK": False, "NO_CHANGE": False, "no answer: exit 65": None}),
        ("abidiff", {"incompatible": True, "change": False, "none": False}),
        ("ABICC", {"99.9 %": True, "100 %": False, "100 %, headers with errors": False}),
    ],
)
def test_a_word_is_a_break_by_the_rule_of_its_tool(tool: str, words: Mapping[str, bool | None]) -> None:
    assert {word: is_break(tool, word) for word in words} == words
    with pytest.raises(ValueError, match=f"no word of {tool}: perhaps"):
        is_break(tool, "perhaps")


def test_a_tool_that_gives_no_answer_is_neither_right_nor_wrong_and_has_not_found_the_break() -> None:
    found = counts([(True, True), (True, None), (False, None), (False, True), (False, False)])
    assert found.cells == (1, 1, 0, 1, 2, "0.50", "0.50")


def test_a_gate_stops_rightly_where_sources_no_longer_compile() -> None:
    chosen = [
        judged("BREAKING", breaks=True),
        judged("API_BREAK", breaks_source=True),
        judged("API_BREAK"),
        judged("COMPATIBLE_WITH_RISK", breaks_source=True),
        judged("no answer: exit 6"),
    ]
    assert at_gate(chosen).cells == (2, 1, 1, 0, 1, "0.67", "0.67")


def test_an_answer_is_shown_beside_the_truth_and_the_earlier_answer() -> None:
    kept, now = judged("BREAKING", breaks=True), judged("COMPATIBLE", breaks=True)
    assert list(compared(kept, now)) == ["libx 1 -> 2: break abistore headers: !COMPATIBLE (when judged: BREAKING)"]
    assert list(compared(kept, kept)) == ["libx 1 -> 2: break abistore headers: BREAKING"]


def test_an_answer_in_the_table_stays_and_one_to_a_new_question_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asking = tmp_path / "pairs.csv", "benchmarks.accuracy.unseen.__main__"
    write([judged("BREAKING", breaks=True)], table)
    binaries = {version: tmp_path / version for version in ("1", "2")}
    monkeypatch.setattr(f"{asking}.release", lambda library, version: SimpleNamespace(binary=binaries[version]))
    monkeypatch.setattr(f"{asking}.ask", lambda tool, evidence, old, new: Said("COMPATIBLE", False))
    monkeypatch.setattr(f"{asking}.soname", lambda binary: "libx.so")
    monkeypatch.setattr(f"{asking}.has_debug", lambda binary: True)
    ask_all(list(pairs(table)), [("abistore", "files"), ("abistore", "headers")], 1, table)
    (found,) = pairs(table)
    assert found.words == {("abistore", "files"): "COMPATIBLE", ("abistore", "headers"): "BREAKING"}
    assert (found.same_soname, found.stripped) == (True, False)


def test_a_command_that_was_stopped_or_failed_says_why_in_one_line() -> None:
    assert no_answer(Done(-24, "", "").failure).word.startswith("no answer: stopped after")
    failed = Done(1, "", "reading\nERROR: cannot compile\n  a.h\n")
    assert no_answer(failed.failure) == Said("no answer: exit 1: ERROR: cannot compile", None)


def test_no_answer_names_a_folder_of_a_machine() -> None:
    failed = Done(1, "", "Error: Failed to dump '/home/me/cache/lib/1.2/libx.so': a/b.h of /usr/include/c.h\n")
    assert no_answer(failed.failure).word == "no answer: exit 1: Error: Failed to dump 'libx.so': a/b.h of c.h"


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
