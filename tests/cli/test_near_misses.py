"""A word that names nothing is answered with what was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

OF_A_LIBRARY = [
    ("history",),
    ("list",),
    ("db", "baseline", "list"),
    ("db", "baseline", "history"),
    ("db", "baseline", "clear"),
    ("db", "scheme"),
    ("log", "norm", "--library"),
]


@pytest.mark.parametrize("words", OF_A_LIBRARY)
def test_a_misspelled_library_is_told_by_every_command(stored: Call, words: tuple[str, ...]) -> None:
    done = stored(*words, "libcaes")
    assert done.code == 67
    assert "libcaes: no such library" in done.err
    assert "hint: did you mean libcase?" in done.err


@pytest.mark.parametrize("words", OF_A_LIBRARY)
def test_a_release_is_told_from_a_library_by_every_command(stored: Call, words: tuple[str, ...]) -> None:
    done = stored(*words, "libcase@1.0")
    assert done.code == 64
    assert done.err.endswith("error: libcase@1.0: a release, where a library is wanted\nhint: say libcase\n")


def test_libraries_that_merely_begin_alike_are_not_proposed(stored: Call) -> None:
    assert "hint: stored: libcase\n" in stored("history", "libxml").err


@pytest.mark.parametrize("reference", ["libcase@stable", "libcase@baseline:stabel"])
def test_a_channel_is_proposed_as_a_baseline(stored: Call, reference: str) -> None:
    stored("db", "baseline", "set", "libcase@1.0", "--channel", "stable")
    assert "hint: did you mean baseline:stable?" in stored("show", reference).err


def test_a_channel_is_proposed_to_a_verdict(stored: Call) -> None:
    stored("db", "baseline", "set", "libcase@1.0", "--channel", "stable")
    assert "hint: did you mean baseline:stable?" in stored("verdict", "libcase@2.0", "--against", "stable").err


@pytest.mark.parametrize("label", ["1.1", "latest"])
def test_a_label_beside_a_reference_is_taken_for_one_of_its_library(stored: Call, label: str) -> None:
    for operands in (("libcase@1.0", label), (label, "libcase@1.0")):
        done = stored("compare", *operands)
        assert done.code == 65
        assert f"hint: did you mean libcase@{label}?" in done.err


def test_a_version_without_a_library_is_told_to_need_one(stored: Call) -> None:
    assert "a stored release (LIBRARY@1.7)" in stored("compare", "libcase@1.0", "1.7").err


def test_a_misspelled_declaration_is_told_by_the_log_as_by_show(stored: Call) -> None:
    for words in (("log", "nrom"), ("log", "nrom", "--library", "libcase"), ("show", "libcase@1.0", "nrom")):
        done = stored(*words)
        assert done.code == 67
        assert "hint: did you mean norm?" in done.err


@pytest.mark.parametrize(("words", "said"), [(("db", "vacum"), "vacuum"), (("db", "baseline", "lst"), "list")])
def test_a_misspelled_command_of_a_group_is_told(abistore: Call, words: tuple[str, ...], said: str) -> None:
    done = abistore(*words)
    assert done.code == 64
    assert f"hint: did you mean {said}?" in done.err


def test_a_missing_word_is_told_in_one_line(abistore: Call) -> None:
    assert abistore("config", "completion").err.splitlines() == [
        "error: Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish",
        "hint: see `abistore config completion --help`",
    ]


def test_an_empty_store_says_so(abistore: Call, tmp_path: Path) -> None:
    abistore("db", "init")
    assert "hint: nothing is stored yet" in abistore("history", "libcase").err


def test_a_name_that_only_a_release_had_that_was_taken_back_is_not_proposed(stored: Call) -> None:
    stored("db", "forget", "libcase@2.0")
    stored("db", "forget", "libcase@1.1")
    for words in (("log", "fresh"), ("log", "fresh", "--library", "libcase"), ("log", "fres")):
        done = stored(*words)
        assert done.code == 67
        assert "did you mean" not in done.err


def test_a_name_of_another_target_is_told_with_the_line_that_has_it(stored: Call) -> None:
    for words in (("--target", "aarch64"), ("--profile", "debug"), ("--library", "libcase", "--target", "aarch64")):
        done = stored("log", "norm", *words)
        assert done.code == 67
        assert "did you mean" not in done.err
        assert "libcase (elf-x86_64-64-little, default)" in done.err


@pytest.mark.parametrize("option", ["version", "library", "profile"])
def test_a_label_that_is_empty_is_told_as_such(abistore: Call, old: Path, option: str) -> None:
    given = {"--version": "1.0", f"--{option}": ""}
    done = abistore("ingest", old, *(word for each in given.items() for word in each))
    assert done.code == 64
    assert f"error: --{option} is empty\nhint: is a variable of the script unset?" in done.err
    assert "latest" not in done.err
