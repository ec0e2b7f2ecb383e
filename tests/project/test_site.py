"""The documentation is built without a warning, loads nothing from other hosts, and is read and searched from disk."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from abistore import __version__
from docs.__main__ import list_versions, main
from docs.site import generated
from examples.browser import Browser, Screen
from tests.subjects import assert_each

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""What a browser loads by itself, in distinction from what a reader follows."""

KINDS_OF_LINK = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch"}


class Linked(HTMLParser):
    """The identifiers of a page, what it loads, and what its links name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.identifiers: set[str] = set()
        self.loaded: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.identifiers |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        for name in given:
            if (tag, name) in LOADS and (tag != "link" or KINDS_OF_LINK & {*given.get("rel", "").split()}):
                self.loaded.add(given[name])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "docs", folder], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Linked]:
    return {path: Linked(path.read_text()) for path in sorted(site.rglob("*.html"))}


def test_every_page_that_is_generated_is_in_the_site(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    assert {place.replace(".md", ".html") for place in generated()} <= built


def test_no_page_loads_anything_from_another_host(site: Path, pages: dict[Path, Linked]) -> None:
    assert {each for page in pages.values() for each in page.loaded if urlsplit(each).netloc} == set()
    styles = [path for path in site.rglob("*.css") if re.search(r"url\(\W*https?:|@import", path.read_text())]
    assert styles == []


def test_every_link_leads_to_a_page_and_a_heading(site: Path, pages: dict[Path, Linked]) -> None:
    def law(path: Path) -> None:
        if path.name == "404.html":  # its links begin at the root of the host, as it stands for every address
            return
        for link in pages[path].links | pages[path].loaded:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            aim = aim / "index.html" if aim.is_dir() else aim
            assert aim.is_file(), link
            fragment = unquote(parts.fragment)
            assert not fragment or aim.suffix != ".html" or fragment in pages[aim].identifiers, link

    assert_each(pages, law, named=lambda path: path.relative_to(site).as_posix())


def test_versions_are_listed_newest_first(tmp_path: Path) -> None:
    for version in ("1.9.0", "1.10.0", "1.11.0rc1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    list_versions(tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [(each["version"], each["aliases"]) for each in listed] == [
        ("1.11.0rc1", []),
        ("1.10.0", ["latest"]),
        ("1.9.0", []),
    ]
    assert "url=1.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_a_published_version_has_a_folder_and_a_selector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(folder: Path, *, selector: bool) -> None:
        folder.mkdir()
        (folder / "index.html").write_text("selector" if selector else "")

    monkeypatch.setattr("docs.__main__.build", build)
    main([str(tmp_path), "--publish"])
    assert (tmp_path / __version__ / "index.html").read_text() == "selector"
    assert f"url={__version__}/index.html" in (tmp_path / "index.html").read_text()


SCREENS = tuple(Screen(*size, dark) for size in ((1280, 900), (390, 844)) for dark in (False, True))
PAGES = ("index", "start/quickstart", "reference/commands", "reference/kinds/func_removed", "quality/index")
EDGE = """
Math.ceil(Math.max(...[...document.querySelectorAll("article > *")].map((one) => one.getBoundingClientRect().right)))
"""
"""How far to the right a page's text reaches; wide tables and code scroll within their boxes."""


@pytest.mark.parametrize("screen", SCREENS, ids=lambda each: f"{each.width}-{'dark' if each.dark else 'light'}")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_its_screen_and_has_its_colours(page: str, screen: Screen, site: Path, shown: Browser) -> None:
    shown.show((site / page).with_suffix(".html").as_uri(), screen)
    assert shown.errors == []
    assert screen.width / 2 < shown.evaluate(EDGE) <= screen.width
    assert shown.evaluate("document.body.dataset.mdColorScheme") == ("slate" if screen.dark else "default")
    assert struct.unpack(">II", shown.picture()[16:24]) == (screen.width, screen.height)


FIRST_FOUND = """
new Promise((done) => {
  const look = () => {
    const one = document.querySelector(".md-search-result__link");
    one ? done(one.href) : setTimeout(look, 20);
  };
  look();
})
"""


def test_search_works_from_disk(site: Path, shown: Browser) -> None:
    shown.show(f"{(site / 'index.html').as_uri()}?q=type_size_changed", SCREENS[0])
    found = urlsplit(shown.evaluate(FIRST_FOUND)).path
    assert found == str(site / "reference" / "kinds" / "type_size_changed.html")
    assert shown.errors == []
