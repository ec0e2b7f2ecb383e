"""The documentation is built without a warning, loads nothing from other hosts, and is read and searched from disk."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from abistore import __version__
from docs.__main__ import list_versions
from docs.site import generated
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
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this version of the site alone."""
    folder = tmp_path_factory.mktemp("published")
    done = subprocess.run([sys.executable, "-m", "docs", "--publish", folder], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def site(published: Path) -> Path:
    return published / __version__


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
    for version in ("1.9.0", "1.10.0", "1.10.0rc1"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    list_versions(tmp_path)
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [(each["version"], each["aliases"]) for each in listed] == [
        ("1.10.0", ["latest"]),
        ("1.10.0rc1", []),
        ("1.9.0", []),
    ]
    assert "url=1.10.0/index.html" in (tmp_path / "index.html").read_text()


def test_the_first_page_of_a_published_folder_leads_to_this_version(published: Path) -> None:
    assert f"url={__version__}/index.html" in (published / "index.html").read_text()
    assert '"provider": "mike"' in (published / __version__ / "index.html").read_text()


def chromium(profile: Path, *arguments: str) -> str:
    program = shutil.which("chromium")
    assert program is not None
    call = [program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True, timeout=120).stdout


def test_search_works_from_disk(site: Path, tmp_path: Path) -> None:
    address = f"{(site / 'index.html').as_uri()}?q=type_size_changed"
    shown = chromium(tmp_path, "--virtual-time-budget=10000", "--dump-dom", address)
    assert re.search(r'href="[^"]*/reference/kinds/type_size_changed.html', shown)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", ["index", "start/quickstart", "reference/commands", "reference/kinds/func_removed"])
def test_a_page_fits_its_window(page: str, width: int, site: Path, tmp_path: Path) -> None:
    """A frame tells how far the text reaches, as a headless window has a least width."""
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<iframe width="{width}" height="800" src="{(site / page).with_suffix(".html").as_uri()}" onload="'
        "const text = this.contentDocument.querySelector('article');"
        'document.title = Math.ceil(text.getBoundingClientRect().left + text.scrollWidth)"></iframe>'
    )
    arguments = ("--allow-file-access-from-files", "--window-size=1600,900", "--dump-dom", frame.as_uri())
    told = re.search(r"<title>(\d+)</title>", chromium(tmp_path / "profile", *arguments))
    assert told is not None
    assert width / 2 < int(told[1]) <= width


@pytest.mark.parametrize(("scheme", "told"), [(0, "slate"), (1, "default")], ids=["dark", "light"])
def test_a_page_is_dark_or_light_as_the_system_is(scheme: int, told: str, site: Path, tmp_path: Path) -> None:
    address = (site / "start/quickstart.html").as_uri()
    shown = chromium(tmp_path, f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", address)
    assert re.search(rf'<body[^>]* data-md-color-scheme="{told}"', shown)
