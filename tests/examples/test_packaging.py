"""The Debian package, the conda recipe and the container recipe contain what the project says, and work when built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from examples.packaging.wheelhouse import unlocked

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "packaging"
DEBIAN = FOLDER / "debian"
RECIPE = FOLDER / "conda" / "recipe.yaml"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())

IN_CONDA = {"libclang": "python-clang"}
"""Packages that conda-forge names differently."""


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    read = yaml.safe_load(RECIPE.read_text())
    assert isinstance(read, dict)
    return read


def bounds(*lines: str) -> dict[str, set[str]]:
    """The bounds of each package that requirements name, of Python's and of conda's spelling."""
    read = [Requirement(re.sub(r" ([\d.]+\.\*)$", r" ==\1", line)) for line in lines if not line.startswith("__")]
    return {IN_CONDA.get(each.name, each.name): {str(bound) for bound in each.specifier} for each in read}


def test_the_conda_package_requires_what_the_project_requires(recipe: dict[str, Any]) -> None:
    run = bounds(*recipe["requirements"]["run"])
    assert PROJECT["project"]["requires-python"] in run.pop("python")
    assert run == bounds(*PROJECT["project"]["dependencies"])


def test_the_conda_package_is_built_with_what_the_project_requires(recipe: dict[str, Any]) -> None:
    host = bounds(*recipe["requirements"]["host"])
    assert host.items() >= bounds(*PROJECT["build-system"]["requires"]).items()


def test_the_conda_package_bounds_what_extras_install(recipe: dict[str, Any]) -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = bounds(*(line for extra in ("dask", "mcp", "postgres") for line in extras[extra]))
    assert bounds(*recipe["requirements"]["run_constraints"]) == wanted


def test_the_conda_package_has_the_commands_of_the_project(recipe: dict[str, Any]) -> None:
    scripts = PROJECT["project"]["scripts"]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {entry}" for name, entry in scripts.items()]


@pytest.mark.full
def test_the_conda_recipe_is_rendered(recipe: dict[str, Any]) -> None:
    rattler_build = pytest.importorskip("rattler_build")
    read = rattler_build.Stage0Recipe.from_yaml(RECIPE.read_text())
    (rendered,) = read.render(rattler_build.VariantConfig())
    written = rendered.recipe.to_dict()
    assert written["package"] == {"name": "abistore", "version": recipe["context"]["version"]}
    assert written["build"]["string"].startswith("py")
    assert [line for line in written["requirements"]["run"] if line.startswith("sqlalchemy")] == [
        "sqlalchemy >=2.1,<2.2"
    ]


def test_packages_of_one_release_have_one_version(recipe: dict[str, Any]) -> None:
    newest = re.match(r"abistore \(([^)]+)-\d+\) ", (DEBIAN / "changelog").read_text())
    assert newest and newest[1] == recipe["context"]["version"]


def test_the_debian_package_is_for_the_oldest_python() -> None:
    """Wheels with compiled modules are for one minor version, that of Debian 12."""
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    above = f"3.{int(oldest.partition('.')[2]) + 1}"
    control = (DEBIAN / "control").read_text()
    assert control.count(f"python3 (>= {oldest}~), python3 (<< {above}~)") == 2


def test_every_test_of_the_debian_package_is_there_and_executable() -> None:
    named = re.findall(r"^Tests: (\w+)$", (DEBIAN / "tests" / "control").read_text(), re.MULTILINE)
    scripts = sorted(path for path in (DEBIAN / "tests").iterdir() if path.name != "control")
    assert sorted(named) == [path.name for path in scripts]
    assert all(os.access(path, os.X_OK) for path in scripts)


def test_every_override_of_lintian_has_a_reason() -> None:
    lines = (DEBIAN / "abistore.lintian-overrides").read_text().splitlines()
    assert lines[0].startswith("# ")
    assert {line.partition(" ")[0] for line in lines} == {"#", "abistore:"}


def test_a_wheelhouse_is_compared_with_its_lock(tmp_path: Path) -> None:
    for name in ("known-1.0-py3-none-any.whl", "strange-1.0-py3-none-any.whl"):
        (tmp_path / name).write_text(name)
    digest = sha256(b"known-1.0-py3-none-any.whl").hexdigest()
    lock = f"known==1.0 \\\n    --hash=sha256:{digest}\n"
    assert unlocked(tmp_path, lock) == ["strange-1.0-py3-none-any.whl"]


def run(*words: str | Path, **variables: str) -> str:
    """The output of a program, which fails the test where it fails."""
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | variables, errors="replace")
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two folders with the Debian package of this commit, from one wheelhouse, built without a network."""
    if os.geteuid() != 0:
        pytest.skip("a bare Debian is made as root")
    folder = tmp_path_factory.mktemp("debian")
    run("/usr/bin/python3", FOLDER / "wheelhouse.py", folder / "wheelhouse")
    first, second = folder / "first", folder / "built" / "again"
    for each in (first, second):
        run("unshare", "--net", FOLDER / "build-debian", each, folder / "wheelhouse")
    yield first, second
    shutil.rmtree(folder)


@pytest.mark.nightly
def test_the_debian_package_is_the_same_when_built_again(built: tuple[Path, Path]) -> None:
    first, second = built
    names = [path.name for path in first.iterdir() if path.suffix in (".deb", ".dsc", ".gz", ".xz")]
    assert len(names) == 5
    assert {name for name in names if (first / name).read_bytes() != (second / name).read_bytes()} == set()


@pytest.mark.nightly
def test_lintian_finds_nothing_in_the_debian_package(built: tuple[Path, Path]) -> None:
    (changes,) = built[0].glob("*.changes")
    assert run("lintian", "--allow-root", "--profile", "debian", "--fail-on", "warning,error", changes) == ""


@pytest.mark.nightly
def test_the_debian_package_passes_its_tests_in_a_bare_debian_and_leaves_nothing(built: tuple[Path, Path]) -> None:
    run(FOLDER / "test-debian", built[0])
    summary = (built[0] / "tests" / "summary").read_text()
    assert re.findall(r"^(\w+) +PASS$", summary, re.MULTILINE) == ["gate", "manual", "completion", "server"]


@pytest.mark.nightly
def test_the_container_image_has_abistore_git_and_a_compiler(built: tuple[Path, Path], tmp_path: Path) -> None:
    (deb,) = built[0].glob("*.deb")
    storage = ["buildah", "--root", str(tmp_path / "images"), "--storage-driver", "vfs"]
    run(FOLDER / "build-container", deb, tmp_path / "files", *storage, "build", "--isolation=chroot", "--tag=abistore")
    container = run(*storage, "from", "--pull=never", "localhost/abistore").strip()
    inside = (*storage, "run", "--isolation=chroot", container, "--")
    assert "abistore" in run(*inside, "abistore", "--version")
    assert "ingest" in run(*inside, "sh", "-c", "git --version && g++ --version && abistore --help")
    config = run(*storage, "inspect", "--format", "{{.OCIv1.Config.Entrypoint}}", container)
    assert config.strip() == "[abistore]"
    run(*storage, "rm", container)
    run(*storage, "rmi", "localhost/abistore")
