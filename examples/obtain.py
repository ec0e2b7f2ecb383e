"""Where released sources come from: PyPI sdists and npm packages, through their own clients."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("ABISTORE_EXAMPLES") or PROJECT / ".cache" / "examples")
"""Sources and builds are kept here; delete it to start over."""

BUILD_BACKENDS = ("setuptools<81", "wheel", "setuptools_scm", "pkgconfig", "cython")
"""What sdists need to say their own name: ``pip download`` runs a package's metadata step, and no other."""


class Missing(RuntimeError):
    """A program is not installed, or a package cannot be obtained."""


def require(program: str, package: str) -> str:
    """The path of ``program``; raises Missing, which names the Debian ``package`` that has it."""
    found = shutil.which(program)
    if not found:
        raise Missing(f"{program} is not installed; on Debian and Ubuntu: apt-get install {package}")
    return found


def run(command: Sequence[str | Path], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run ``command`` in ``folder`` and return what it printed; raises Missing with its last lines if it fails."""
    surroundings = {**os.environ, **(variables or {})}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=surroundings)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        raise Missing(f"{' '.join(str(word) for word in command)}\nended with {done.returncode}:\n{tail}")
    return done.stdout


def source(
    origin: str,
    package: str,
    version: str,
    backends: Sequence[str] = BUILD_BACKENDS,
    variables: Mapping[str, str] | None = None,
) -> Path:
    """The unpacked source of a release. ``origin`` is ``pypi`` or ``npm``, ``version`` the carrier's.

    ``backends`` and environment ``variables`` are what the metadata step of an sdist needs.
    """
    folder = CACHE / "sources" / f"{origin}-{package}-{version}"
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        work.mkdir(parents=True, exist_ok=True)
        try:
            pinned = f"{package}=={version}"
            unpacked = _npm(package, version, work) if origin == "npm" else _pypi(pinned, work, backends, variables)
            unpacked.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _pypi(pinned: str, work: Path, backends: Sequence[str], variables: Mapping[str, str] | None) -> Path:
    python = _pip_environment(backends)
    found = {**(variables or {}), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
    pip = [python, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "--no-build-isolation"]
    run([*pip, pinned], work, found)
    return _unpack(next(path for path in work.iterdir() if path.name.endswith((".tar.gz", ".zip"))))


def _pip_environment(backends: Sequence[str]) -> Path:
    folder = CACHE / ("pip" if backends == BUILD_BACKENDS else f"pip-{len(backends)}")
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        run([python, "-m", "pip", "install", "-q", *backends], CACHE)
        (folder / "ready").touch()
    return python


def _npm(package: str, version: str, work: Path) -> Path:
    printed = run([require("npm", "npm"), "pack", "--silent", f"{package}@{version}"], work)
    return _unpack(work / printed.split()[-1])


def _unpack(archive: Path) -> Path:
    folder = archive.with_name("unpacked")
    shutil.unpack_archive(archive, folder, "zip" if archive.suffix == ".zip" else "gztar")
    inner = list(folder.iterdir())
    return inner[0] if len(inner) == 1 else folder
