"""What a browser shows of a site: nothing is cut, nothing fails, and people find what they look for."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from abistore.interface import SitePlan, build_site
from examples.browser import Browser, Screen
from examples.two_libraries.__main__ import store
from examples.two_libraries.picturing import IMAGES, PAGES, REPORT, SCREENS, SHOWN, faults, page_of
from examples.two_libraries.sources import PROJECTS
from tests.build import command_of

pytestmark = pytest.mark.full
LARGEST = 80_000
WIDE = Screen(1280, 900)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of both libraries."""
    folder = tmp_path_factory.mktemp("site")
    for program in ("gcc", "g++"):
        command_of(program)
    for project in PROJECTS:
        store(project, folder / "abi.db")
    plan = SitePlan(commit_url="https://git.example.org/commit/{revision}")
    build_site(folder / "site", plan, database=folder / "abi.db")
    return folder / "site"


@pytest.mark.parametrize("screen", SCREENS, ids=lambda each: f"{each.width}-{'dark' if each.dark else 'light'}")
def test_nothing_is_cut_and_nothing_fails_on_any_page(site: Path, shown: Browser, screen: Screen) -> None:
    wrong = {}
    for name in PAGES:
        shown.show(page_of(site, name), screen)
        if found := list(faults(shown)):
            wrong[name] = found
    assert wrong == {}


def test_what_is_cut_is_noticed(site: Path, shown: Browser) -> None:
    shown.show(page_of(site, "libraries"), SCREENS[-1])
    shown.evaluate("document.querySelector('h1').style.cssText = 'width: 40rem; white-space: nowrap'")
    assert any("h1" in each for each in faults(shown))


FIRST_FOUND = """
new Promise((done) => {
  const look = () => { const one = document.querySelector("#found a"); one ? done(one.href) : setTimeout(look, 20); };
  look();
})
"""


def typed(shown: Browser, field: str, text: str) -> None:
    shown.evaluate(
        f"(() => {{ const field = document.querySelector('{field}'); field.focus(); field.value = '{text}';"
        " field.dispatchEvent(new Event('input')); })()"
    )


def test_a_name_that_never_changed_is_found_from_every_page(site: Path, shown: Browser) -> None:
    for name in ("libraries", "accident", "kind"):
        shown.show(page_of(site, name), WIDE)
        typed(shown, "#find", "tally_new" if name != "accident" else "add(const")
        shown.show(shown.evaluate(FIRST_FOUND), WIDE)
        assert list(faults(shown)) == []


def test_the_overview_is_filtered_and_sorted(site: Path, shown: Browser) -> None:
    shown.show(page_of(site, "libraries"), WIDE)
    names = "[...document.querySelectorAll('#libraries .who a')].map((one) => one.textContent)"
    assert shown.evaluate(names) == ["libshapes", "libtally"]
    shown.evaluate("document.querySelector('.choose button.fail').click()")
    assert shown.evaluate(names) == ["libtally"]
    shown.evaluate("document.querySelector('.choose button.fail').click()")
    shown.evaluate("sort.value = 'old', sort.dispatchEvent(new Event('change'))")
    assert shown.evaluate(names) == ["libtally", "libshapes"]
    typed(shown, "#choose", "shap")
    assert shown.evaluate(names) == ["libshapes"]
    assert shown.errors == []


def test_the_rows_that_the_script_makes_are_those_of_the_page(site: Path, shown: Browser) -> None:
    shown.show(page_of(site, "libraries"), WIDE)
    rows = "[...document.querySelectorAll('#libraries tr')].map((one) => one.className + one.innerText)"
    before = shown.evaluate(rows)
    shown.evaluate("sort.dispatchEvent(new Event('change'))")
    assert shown.evaluate(rows) == before


def test_the_pictures_of_the_documentation_are_there_and_small() -> None:
    for name, _, screen in (*SHOWN, REPORT):
        data = (IMAGES / f"{name}.png").read_bytes()
        assert struct.unpack(">II", data[16:24]) == (screen.width, screen.height), name
        assert len(data) < LARGEST, name
