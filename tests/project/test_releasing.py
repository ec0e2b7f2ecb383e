"""The script that makes releases, from a tag to an installation without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable
from email.parser import BytesParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest

from tests.build import build_library
from tests.project.test_release import ROOT, links, locked

pytestmark = pytest.mark.full

VERSION = "9.8.7"
WHEEL, SDIST = f"abistore-{VERSION}-py3-none-any.whl", f"abistore-{VERSION}.tar.gz"
BILL = f"abistore-{VERSION}.cdx.json"


class Released(NamedTuple):
    """A repository with a tag, the release that was made of it, and who may sign."""

    repository: Path
    folder: Path
    signers: Path

    def call(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, self.repository / ".ci" / "release.py", *words]
        return subprocess.run(call, capture_output=True, text=True)

    def verify(self, folder: Path) -> subprocess.CompletedProcess[str]:
        return self.call("verify", folder, "--allowed-signers", self.signers)


def git(repository: Path, *words: str) -> str:
    author = ("-c", "user.name=ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *author, *words], cwd=repository, capture_output=True, text=True, check=True).stdout


def key(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True)
    return path


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a release holds of the project as it is, in one commit with a tag."""
    copy = tmp_path_factory.mktemp("release") / "repository"
    for name in git(ROOT, "ls-files", "-z", "abistore", "docs", "migrations", ".ci", ":(glob)*").split("\0"):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    changes = copy / "CHANGELOG.md"
    changes.write_text(re.sub(r"^## \[.*", f"## [{VERSION}] - 2026-11-29", changes.read_text(), count=1, flags=re.M))
    (copy / "tests").mkdir()
    (copy / "tests" / "test_nothing.py").touch()
    git(copy, "init", "-q")
    git(copy, "add", "-A")
    git(copy, "commit", "-q", "-m", "all")
    git(copy, "tag", f"v{VERSION}")
    git(copy, "tag", "v9.9.9")
    return copy


@pytest.fixture(scope="module")
def released(repository: Path) -> Released:
    signing = key(repository.with_name("key"))
    signers = repository.with_name("signers")
    signers.write_text(f"ana@example.org {signing.with_suffix('.pub').read_text()}")
    made = Released(repository, repository.with_name("made"), signers)
    done = made.call("build", f"v{VERSION}", "--to", made.folder, "--key", signing)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("signed\n")
    return made


def test_a_release_is_verified(released: Released) -> None:
    done = released.verify(released.folder)
    assert (done.stdout, done.stderr) == ("verified: 3 files, signed by ana@example.org\n", "")
    names = {path.name for path in released.folder.iterdir()}
    assert names == {WHEEL, SDIST, BILL, "SHA256SUMS", "SHA256SUMS.sig"}


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def sign_anew(folder: Path) -> None:
    """As somebody else."""
    (folder / "SHA256SUMS.sig").unlink()
    other = key(folder.with_name("other"))
    call = ["ssh-keygen", "-q", "-Y", "sign", "-f", other, "-n", "abistore-release", folder / "SHA256SUMS"]
    subprocess.run(call, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda folder: flip(folder / WHEEL), f"changed, missing, or not in SHA256SUMS: {WHEEL}"),
        (lambda folder: (folder / SDIST).unlink(), f"changed, missing, or not in SHA256SUMS: {SDIST}"),
        (lambda folder: (folder / "more.whl").touch(), "changed, missing, or not in SHA256SUMS: more.whl"),
        (lambda folder: flip(folder / "SHA256SUMS"), "incorrect signature"),
        (lambda folder: (folder / "SHA256SUMS.sig").unlink(), "has no SHA256SUMS.sig"),
        (sign_anew, "ended with 255"),
    ],
    ids=["changed", "missing", "more", "sums", "unsigned", "stranger"],
)
def test_a_release_that_was_tampered_with_is_refused(
    released: Released, tamper: Callable[[Path], object], message: str, tmp_path: Path
) -> None:
    folder = tmp_path / "made"
    shutil.copytree(released.folder, folder)
    tamper(folder)
    done = released.verify(folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("refused: ") and message.lower() in done.stderr.lower()


def test_a_tag_without_a_section_of_the_changelog_is_refused(released: Released, tmp_path: Path) -> None:
    done = released.call("build", "v9.9.9", "--to", tmp_path / "made")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("refused: CHANGELOG.md of v9.9.9 has no section '## [9.9.9] - ")


def test_a_folder_with_files_is_not_released_into(released: Released) -> None:
    done = released.call("build", f"v{VERSION}", "--to", released.folder)
    assert (done.returncode, done.stderr) == (1, f"refused: {released.folder} is not empty\n")


def test_an_sdist_has_sources_and_documents_and_no_tests(released: Released) -> None:
    with tarfile.open(released.folder / SDIST) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"abistore/__init__.py", "abistore/_version.py", "docs/generate.py", "migrations/env.py"} <= names
    assert {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "SUPPORT.md"} <= names
    assert {name.partition("/")[0] for name in names if "/" in name} == {"abistore", "docs", "migrations"}


def test_the_bill_has_the_locked_packages_and_names_no_folder(released: Released) -> None:
    text = (released.folder / BILL).read_text()
    bill = json.loads(text)
    own = bill["metadata"]["component"]
    assert (bill["bomFormat"], own["name"], own["version"]) == ("CycloneDX", "abistore", VERSION)
    pins = {str(pin.specifier) for pin in locked("run").values() if not pin.marker or pin.marker.evaluate()}
    assert {f"=={each['version']}" for each in bill["components"]} == pins
    assert "file:" not in text and str(released.repository.parent) not in text


def test_the_description_of_a_wheel_links_to_its_tag(released: Released) -> None:
    with ZipFile(released.folder / WHEEL) as wheel:
        metadata = BytesParser().parsebytes(wheel.read(f"abistore-{VERSION}.dist-info/METADATA"))
    found = {link for link in links(str(metadata.get_payload())) if not link.startswith("#")}
    assert {urlsplit(link).scheme for link in found} == {"https"}
    assert any(f"/blob/v{VERSION}/docs/" in link for link in found)


def test_a_release_is_installed_without_a_network_and_compares(released: Released, tmp_path: Path) -> None:
    wheels = ROOT / ".cache" / "wheelhouse"
    lock = ROOT / ".ci" / "locked" / "run.txt"
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "download", "-q", "--require-hashes", "-r", lock, "-d", wheels], check=True)
    venv.create(tmp_path / "venv")
    scripts = tmp_path / "venv" / "bin"
    offline = [*pip, "--python", scripts / "python", "install", "-q", "--no-index", "--find-links", wheels]
    subprocess.run([*offline, released.folder / WHEEL], check=True)
    old, new = (build_library(f"int {name}(void) {{ return 1; }}\n") for name in ("one", "two"))

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([scripts / "abistore", *words], cwd=tmp_path, capture_output=True, text=True)

    assert call("--version").stdout == f"abistore {VERSION}\n"
    done = call("compare", old, new)
    assert (done.returncode, done.stderr) == (4, "")
    assert "func_removed" in done.stdout
