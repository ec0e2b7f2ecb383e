"""What a release is made of: its version, its long description, its locked requirements, and their audit."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from markdown_it import MarkdownIt
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    assert len(found) > 10
    assert {link for link in found if not link.startswith(base)} == set()
    assert {link for link in found if not (ROOT / urlsplit(link.removeprefix(base)).path).exists()} == set()


def test_no_link_of_the_long_description_needs_the_files_beside_it() -> None:
    assert {link for link in links(described()) if urlsplit(link).scheme != "https" and link[0] != "#"} == set()
    assert {link for link in links((ROOT / "README.md").read_text()) if not urlsplit(link).scheme} != set()


def test_a_checkout_that_was_never_built_has_a_version() -> None:
    code = "import sys; sys.modules['abistore._version'] = None; import abistore; print(abistore.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == PROJECT["tool"]["hatch"]["version"]["fallback-version"] + "\n"


LOCKED = {
    "dev": ("dask", "dev", "mcp", "postgres", "sign", "test"),
    "run": ("dask", "mcp", "postgres", "sign"),
    "test": ("dask", "mcp", "postgres", "sign", "test"),
}
"""The extras of each lock."""


def locked(name: str) -> dict[str, Requirement]:
    """What a lock pins: a version of each package, for environments that a marker may name."""
    lines = (ROOT / ".ci" / "locked" / f"{name}.txt").read_text().replace("\\\n", "").splitlines()
    pins = [Requirement(line.partition(" --hash=")[0]) for line in lines if not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in pins}


def required(extras: tuple[str, ...]) -> list[Requirement]:
    """What the project requires with extras, and to be built."""
    own = PROJECT["project"]
    words = [*own["dependencies"], *(word for extra in extras for word in own["optional-dependencies"][extra])]
    return [found for found in map(Requirement, words) if found.name != "abistore"]


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_pins_what_the_project_requires_in_a_version_that_it_permits(name: str) -> None:
    built = [] if name == "run" else [Requirement(word) for word in PROJECT["build-system"]["requires"]]
    pins = locked(name)
    wrong = [
        str(each)
        for each in (*required(LOCKED[name]), *built)
        if canonicalize_name(each.name) not in pins
        or not all(each.specifier.contains(pin.version) for pin in pins[canonicalize_name(each.name)].specifier)
    ]
    assert wrong == [], "run .ci/lock"


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_has_a_hash_of_each_package_and_names_no_index(name: str) -> None:
    text = (ROOT / ".ci" / "locked" / f"{name}.txt").read_text()
    lines = text.replace("\\\n", "").splitlines()
    assert [line for line in lines if not line.startswith("#") and "--hash=sha256:" not in line] == []
    assert "://" not in text


@pytest.mark.parametrize("name", ["run", "test"])
def test_the_locks_agree(name: str) -> None:
    all_pins = locked("dev")
    assert {each: pin for each, pin in locked(name).items() if pin.specifier != all_pins[each].specifier} == {}


@pytest.fixture(scope="module")
def script() -> Any:
    """The module that makes releases."""
    found = spec_from_file_location("release", ROOT / ".ci" / "release.py")
    assert found is not None and found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


SOUND = {"name": "click", "version": "8.5.1", "vulns": []}
KNOWN = {"name": "mako", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
SKIPPED = {"name": "alembic", "skip_reason": "not found: alembic (1.20.1)"}


@pytest.mark.parametrize(
    ("packages", "code", "lines"),
    [
        ([SOUND], 0, ("audited: 1 packages of run.txt, no known vulnerability",)),
        ([SOUND, KNOWN], 1, ("mako 1.0: PYSEC-1, fixed in 1.1",)),
        ([SOUND, SKIPPED], 69, ("no data: 1 of 2 packages of run.txt were not audited: not found: alembic (1.20.1)",)),
        ([], 69, ("no data: run.txt has no packages",)),
    ],
)
def test_an_audit_passes_only_what_the_index_knows(script: Any, packages: object, code: int, lines: object) -> None:
    assert script.judged({"dependencies": packages}, "run.txt") == (code, lines)


def test_an_audit_that_cannot_be_made_says_so(script: Any, tmp_path: Path) -> None:
    code, (line,) = script.audit(tmp_path / "run.txt")
    assert code == 69
    assert line.startswith("no data: run.txt was not audited: ")


def test_the_citation_says_what_the_project_does() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    own = PROJECT["project"]
    assert (cited["cff-version"], cited["type"], cited["title"]) == ("1.2.0", "software", own["name"])
    assert (cited["abstract"], cited["license"], cited["keywords"]) == (
        own["description"],
        own["license"],
        own["keywords"],
    )
    assert cited["authors"] and cited["message"]


def test_the_changelog_has_a_section_for_each_version_the_newest_first() -> None:
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    versions = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (?:\d{4}-\d\d-\d\d|not released)", head) for head in heads]
    assert None not in versions
    numbers = [tuple(map(int, found.groups())) for found in versions if found]
    assert numbers and numbers == sorted(numbers, reverse=True)
    assert not any("not released" in head for head in heads[1:])
