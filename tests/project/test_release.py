"""What a release is made of: its version, its long description, and its locked requirements."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REPOSITORY: str = PROJECT["project"]["urls"]["Source"]
"""The address of the repository, a placeholder until there is one."""


def described() -> str:
    """README.md as a package index shows it."""
    text = (ROOT / "README.md").read_text()
    for each in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    return text.replace("$HFPR_VERSION", "1.2.3")


def links(text: str) -> set[str]:
    """Where the links and pictures of a page lead."""
    tokens = [child for token in MarkdownIt().parse(text) for child in token.children or ()]
    found = [token.attrs.get("href" if token.type == "link_open" else "src") for token in tokens]
    return {str(link) for link in found if link}


def test_the_links_of_the_long_description_lead_to_files_of_the_tag() -> None:
    found = {link for link in links(described()) if link.startswith(REPOSITORY)}
    base = f"{REPOSITORY}/blob/v1.2.3/"
    assert len(found) > 20
    assert {link for link in found if not link.startswith(base)} == set()
    assert {link for link in found if not (ROOT / urlsplit(link.removeprefix(base)).path).exists()} == set()


def test_no_link_of_the_long_description_needs_the_files_beside_it() -> None:
    assert {link for link in links(described()) if urlsplit(link).scheme != "https" and link[0] != "#"} == set()
    assert {link for link in links((ROOT / "README.md").read_text()) if not urlsplit(link).scheme} != set()


def test_a_checkout_that_was_never_built_has_a_version() -> None:
    code = "import sys; sys.modules['abistore._version'] = None; import abistore; print(abistore.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == PROJECT["tool"]["hatch"]["version"]["fallback-version"] + "\n"
