"""The page of a case study's library in the site, as a browser shows it."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from examples.case_studies.case import Case
from examples.case_studies.storing import database
from examples.histories import abistore
from examples.obtain import CACHE, PROJECT, Missing, run

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
WIDTH, HEIGHT = 1100, 760
"""What fits a page of the documentation, and shows the timeline down to its legend."""


def picture(case: Case) -> Path:
    """Where the page of a case study finds the picture."""
    return PROJECT / "docs" / "images" / f"case-{case.name}.png"


def depict(case: Case) -> None:
    """Build the site, and take a picture of its first library's page; raises Missing where there is no browser."""
    site = CACHE / "cases" / f"{case.name}-site"
    print(abistore("--db", database(case), "site", "-o", site, "--title", f"{case.name}: ABI history"), end="")
    stem = case.libraries[0].name.removesuffix(".so")
    page = next(site.glob(f"libraries/{stem.lower()}-*/index.html"))
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        raise Missing("chromium is not installed; on Debian and Ubuntu: apt-get install chromium")
    with TemporaryDirectory() as profile:
        sized = f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture(case)}"
        run([browser, *FLAGS, f"--user-data-dir={profile}", *sized, page.as_uri()], site)
