"""The examples' steps on two releases built here; obtaining and building the real ones takes a network and minutes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from examples import histories, obtain
from examples.recipes import LZ4, RECIPES, Recipe
from tests.build import build_library

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


def test_every_recipe_has_eight_releases_in_order_and_a_type_to_show() -> None:
    assert set(histories.SHOWN) == set(RECIPES)
    for recipe in RECIPES.values():
        versions = recipe.version_numbers()
        assert len(set(versions)) == len(versions) >= 8


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
    assert "gcc libc6-dev python3 python3-venv" in done.stderr
