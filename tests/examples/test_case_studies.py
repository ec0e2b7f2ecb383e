"""The pages of case studies show what their commands print, and name all that they are made from."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from abistore.cli.main import run
from examples.case_studies import pages, storing
from examples.case_studies.case import Case, case, names
from examples.case_studies.pages import PAGES, SHOWN, asked, filled
from examples.case_studies.picturing import picture
from examples.histories import VERDICTS

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", names())
def test_a_case_has_ten_releases_each_with_version_day_and_digest(name: str) -> None:
    study = case(name)
    versions = [release.version for release in study.releases]
    assert len(set(versions)) == len(versions) >= 10
    for release in study.releases:
        assert re.fullmatch(r"[0-9a-f]{64}", release.sha256)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", release.released)


@pytest.mark.parametrize("name", names())
def test_a_page_shows_the_commands_and_the_picture_that_every_page_shows(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text()
    assert asked(page) >= set(SHOWN)
    assert f"(../../images/{picture(case(name)).name})" in page
    assert picture(case(name)).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", names())
def test_a_page_shows_what_its_commands_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def database(case: Case) -> Path:
        return tmp_path / f"{case.name}.db"

    def abistore(*words: str | Path) -> str:
        capsys.readouterr()
        assert run([str(word) for word in words]) in VERDICTS
        return capsys.readouterr().out

    monkeypatch.setenv("COLUMNS", "100")  # as the pages are written
    monkeypatch.setattr(storing, "database", database)
    for module in (storing, pages):
        monkeypatch.setattr(module, "abistore", abistore)
    storing.restore(case(name))
    page = (PAGES / f"{name}.md").read_text()
    assert filled(page, database(case(name))) == page


@pytest.mark.parametrize("name", names())
def test_a_bundle_names_no_folder_of_a_machine(name: str) -> None:
    kept = gzip.decompress(storing.bundle(case(name)).read_bytes()).decode()
    assert not re.findall(r"(?<![\w.])/(?:home|root|tmp|work)/[^\"]*", kept)


def test_every_case_has_its_page_and_its_row() -> None:
    overview = (PAGES / "README.md").read_text()
    for name in names():
        assert (PAGES / f"{name}.md").exists()
        assert f"({name}.md)" in overview


@pytest.mark.parametrize("name", names())
def test_a_new_page_begins_with_the_commands_that_every_page_shows(name: str) -> None:
    assert asked(pages.skeleton(case(name))) == set(SHOWN)
