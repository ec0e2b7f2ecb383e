"""Builds the documentation: ``python -m docs`` writes ``build/docs/index.html``, which needs no server.

``python -m docs FOLDER --publish`` writes the folder of this version into FOLDER, which a web server serves: beside
those of other versions, with the list that the selector reads, and a first page that leads to the latest release.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

from abistore import __version__

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "docs"
FIRST_PAGE = """<!doctype html>
<meta http-equiv="refresh" content="0; url={0}/index.html">
<a href="{0}/index.html">abistore {0}</a>
"""


def build(folder: Path, *, selector: bool) -> None:
    """Write the site into a folder, with a selector of versions if there are several.

    Raises :class:`mkdocs.exceptions.Abort` if there is a warning.
    """
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # Material's advertisement of its successor
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    from mkdocs.commands.build import build as write
    from mkdocs.config import load_config

    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder.absolute()))
    if selector:
        config.extra["version"] = {"provider": "mike"}  # the form of the list, which Material reads
    config.plugins.on_startup(command="build", dirty=False)
    try:
        write(config)
    finally:
        config.plugins.on_shutdown()


def list_versions(folder: Path) -> None:
    """Write the list of the versions that a folder has, newest first, and the page that leads to the latest release."""
    found = sorted((each.parent.name for each in folder.glob("*/index.html")), key=Version, reverse=True)
    latest = next((each for each in found if not Version(each).is_prerelease), found[0])
    listed = [{"version": each, "title": each, "aliases": ["latest"] if each == latest else []} for each in found]
    (folder / "versions.json").write_text(json.dumps(listed, indent=2) + "\n")
    (folder / "index.html").write_text(FIRST_PAGE.format(latest))


def main(words: Sequence[str] | None = None) -> None:
    """Build what the words of the command line name."""
    parser = argparse.ArgumentParser(prog="python -m docs", description="Builds the documentation.")
    parser.add_argument("folder", nargs="?", type=Path, default=BUILT, help="where to write it: build/docs by default")
    parser.add_argument("--publish", action="store_true", help="write a folder of this version below it")
    given = parser.parse_args(words)
    if given.publish:
        build(given.folder / __version__, selector=True)
        list_versions(given.folder)
    else:
        build(given.folder, selector=False)


if __name__ == "__main__":
    main()
