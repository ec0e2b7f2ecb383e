"""The pages of the site and a report in a browser: what is wrong with them, and the pictures of the documentation.

::

    python -m examples.two_libraries.picturing abi.db public      # writes docs/images/site-*.png and report.png

They are large; `pngquant --force --ext .png 64 docs/images/site-*.png docs/images/report.png` makes them small.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from abistore.cli.main import run
from examples.browser import Browser, Screen, browser
from examples.obtain import PROJECT

IMAGES = PROJECT / "docs" / "images"
WIDE, PHONE = (1280, 900), (390, 844)
SCREENS = tuple(Screen(*size, dark) for size in (WIDE, PHONE) for dark in (False, True))
PAGES = {
    "libraries": "index.html",
    "library": "libraries/libshapes-*/index.html",
    "accident": "libraries/libshapes-*/1-2-0-*.html",
    "allowed": "libraries/libshapes-*/2-0-0-*.html",
    "waived": "libraries/libtally-*/2-3-0-*.html",
    "matrix": "libraries/libshapes-*/matrix.html",
    "kind": "kinds/func_removed.html",
}
"""A page of every sort, as a pattern in the folder of the site."""


class Shown(NamedTuple):
    """A picture of the documentation: its name, the page, and the screen."""

    name: str
    page: str
    screen: Screen


SHOWN = (
    Shown("site-libraries", "libraries", Screen(1280, 480)),
    Shown("site-library", "library", Screen(1280, 1160)),
    Shown("site-accident", "accident", Screen(1280, 820)),
    Shown("site-matrix", "matrix", Screen(1280, 640)),
    Shown("site-phone", "library", Screen(390, 844, dark=True)),
)
REPORT = Shown("report", "libshapes@1.2.0", Screen(1100, 860))
"""Of the verdict about a release, as HTML."""

CLIPPED = """
[...document.querySelectorAll("body *")].filter((node) => {
  const box = node.getBoundingClientRect(), style = getComputedStyle(node);
  if (node.closest(".pan, .scroll, .grid, .bars, .sprite, .skip, svg, select") || !box.width) return false;
  return box.right > innerWidth + 1 || box.left < -1 ||
    (style.overflowX === "hidden" && node.scrollWidth > node.clientWidth + 1);
}).map((node) => `${node.tagName.toLowerCase()}.${node.className}: ${node.textContent.trim().slice(0, 60)}`)
"""
"""What is cut at the edge of the screen or of its own box; charts and matrices scroll, and show that they do."""


def page_of(site: Path, name: str) -> str:
    """The address of a page of the site."""
    return next(site.glob(PAGES[name])).resolve().as_uri()


def faults(shown: Browser) -> Iterator[str]:
    """What a reader of the page that is shown would complain about."""
    width = shown.evaluate("document.documentElement.scrollWidth - innerWidth")
    if width > 0:
        yield f"the page is {width} pixels wider than the screen"
    yield from (f"cut: {each}" for each in shown.evaluate(CLIPPED))
    yield from shown.errors


def main() -> None:
    """Write the pictures of the documentation."""
    database, site = sys.argv[1], Path(sys.argv[2])
    with browser() as shown, TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        run(["verdict", REPORT.page, "-o", str(report), "--db", database])
        pages = {each: page_of(site, each.page) for each in SHOWN} | {REPORT: report.as_uri()}
        for each, address in pages.items():
            shown.show(address, each.screen)
            (IMAGES / f"{each.name}.png").write_bytes(shown.picture())


if __name__ == "__main__":
    main()
