"""The examples' steps on two releases built here; obtaining and building the real ones takes a network and minutes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from examples import histories, obtain
from examples.recipes import LZ4, RECIPES, Recipe
from tests.build import build_library

pytestmark = pytest.mark.full

PROJECT = Path(__file__).parents[2]
OLD = "struct point { int x; }; int norm(struct point *p) { return p->x; } int gone(void) { return 0; }"
NEW = "struct point { int x; int y; }; int norm(struct point *p) { return p->x + p->y; }"

RECIPE = replace(LZ4, library="libpoint", soname="libpoint.so.1", releases=(("1.0", "1.0"), ("1.1", "1.1")))


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two releases of libpoint, each in its version's folder, and an empty database."""
    for version, source in (("1.0", OLD), ("1.1", NEW)):
        (tmp_path / version).mkdir()
        library = build_library(source, soname="libpoint.so.1", flags=("-g", "-O2"))
        shutil.copyfile(library, tmp_path / version / "libpoint.so.1")

    def build(recipe: Recipe, version: str) -> Path:
        return tmp_path / version / recipe.soname

    monkeypatch.setattr(histories, "build", build)
    monkeypatch.setattr(histories, "DATABASE", tmp_path / "history.db")
    return tmp_path


def test_ingested_releases_are_in_the_timeline_under_their_folders_names(built: Path) -> None:
    histories.ingest(RECIPE)
    timeline = histories.abistore("--db", histories.DATABASE, "history", "libpoint")
    assert "1.0" in timeline
    assert "1.1" in timeline
    assert "BREAKING" in timeline


def test_stored_comparisons_equal_those_of_the_binaries(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    histories.ingest(RECIPE)
    histories.check(RECIPE)
    assert "libpoint 1.0 -> 1.1: equal, BREAKING" in capsys.readouterr().out


def test_a_matrix_has_the_verdicts_of_its_pairs(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    histories.ingest(RECIPE)
    histories.matrix(RECIPE)
    assert "libpoint: 2 pairs equal" in capsys.readouterr().out


def test_the_check_notices_a_store_that_says_something_else(built: Path) -> None:
    histories.ingest(RECIPE)
    shutil.copyfile(built / "1.0" / "libpoint.so.1", built / "1.1" / "libpoint.so.1")
    with pytest.raises(obtain.Missing, match=r"libpoint 1\.0 and 1\.1"):
        histories.check(RECIPE)


def test_a_command_without_an_answer_is_reported_with_its_words(built: Path) -> None:
    with pytest.raises(obtain.Missing, match="history libpoint"):
        histories.abistore("--db", histories.DATABASE, "history", "libpoint")


def test_every_recipe_has_eight_releases() -> None:
    for recipe in RECIPES.values():
        versions = recipe.version_numbers()
        assert len(set(versions)) == len(versions) >= 8


def test_dates_are_of_releases_and_in_their_order() -> None:
    for recipe in RECIPES.values():
        if recipe.origin == "pypi":  # packages of npm have no times
            versions, days = zip(*recipe.released, strict=True)
            assert versions == recipe.version_numbers()
            assert [date.fromisoformat(day) for day in days] == sorted(map(date.fromisoformat, days))


def test_a_release_is_stored_with_its_day(built: Path) -> None:
    histories.ingest(replace(RECIPE, released=(("1.0", "2018-02-01"), ("1.1", "2018-04-03"))))
    timeline = histories.abistore("--db", histories.DATABASE, "history", "libpoint")
    assert re.findall(r"^(1\.\d) +(\S+)", timeline, re.MULTILINE) == [("1.0", "2018-02-01"), ("1.1", "2018-04-03")]


def test_a_build_says_which_release_it_is_at(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    histories.build_all(RECIPE)
    assert re.fullmatch(
        r"libpoint 1\.0 \(1 of 2\): built in \d+ s\nlibpoint 1\.1 \(2 of 2\): built in \d+ s\n", capsys.readouterr().out
    )


def test_the_demo_says_which_packages_a_machine_without_a_compiler_needs(tmp_path: Path) -> None:
    for program in ("bash", "dirname"):
        found = shutil.which(program)
        assert found
        (tmp_path / program).symlink_to(found)
    done = subprocess.run(
        [tmp_path / "bash", PROJECT / "examples" / "demo"],
        env={"PATH": str(tmp_path), "HOME": os.environ.get("HOME", "/")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 69
    assert "missing on this machine: gcc libc6-dev" in done.stderr


@pytest.fixture
def demo(tmp_path: Path) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """The demo in a project of its own, with a program in the place of Python."""
    (tmp_path / "examples").mkdir()
    script = shutil.copy(PROJECT / "examples" / "demo", tmp_path / "examples" / "demo")
    python = tmp_path / "python"

    def run(text: str) -> subprocess.CompletedProcess[str]:
        python.write_text(f"#!/bin/sh\n{text}\n")
        python.chmod(0o755)
        variables = {**os.environ, "ABISTORE_PYTHON": str(python), "ABISTORE_EXAMPLES": str(tmp_path / "cache")}
        return subprocess.run([script], env=variables, capture_output=True, text=True)

    return run


def test_a_python_that_is_asked_for_and_too_old_is_refused(
    demo: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = demo("exit 1")
    assert done.returncode == 69
    assert "no Python 3.11 or newer with venv" in done.stderr


def test_a_step_that_fails_ends_the_demo_with_its_last_lines(
    demo: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = demo("""[ "$1" = -c ] && exit 0\nseq 100\necho 'no space left' >&2\nexit 7""")
    assert done.returncode == 7
    assert "== 1 of 5: abistore" in done.stdout
    assert "step 1 of 5 failed with exit code 7" in done.stderr
    assert done.stderr.endswith("\n99\n100\nno space left\n")
    assert "\n9\n" not in done.stderr
