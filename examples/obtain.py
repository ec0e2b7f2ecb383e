"""Where released sources come from: PyPI sdists and npm packages, through their own clients."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Sequence
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


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run ``command`` in ``folder`` and return what it printed; raises Missing with its last lines if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        raise Missing(f"{' '.join(str(word) for word in command)}\nended with {done.returncode}:\n{tail}")
    return done.stdout


def source(origin: str, package: str, version: str) -> Path:
    """The unpacked source of a release. ``origin`` is ``pypi`` or ``npm``, ``version`` the carrier's."""
    folder = CACHE / "sources" / f"{origin}-{package}-{version}"
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        work.mkdir(parents=True, exist_ok=True)
        try:
            unpacked = {"pypi": _pypi, "npm": _npm}[origin](package, version, work)
            unpacked.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _pypi(package: str, version: str, work: Path) -> Path:
    python = _pip_environment()
    pip = [python, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "--no-build-isolation"]
    run([*pip, f"{package}=={version}"], work)
    return _unpack(next(path for path in work.iterdir() if path.name.endswith((".tar.gz", ".zip"))))


def _pip_environment() -> Path:
    folder = CACHE / "pip"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        run([python, "-m", "pip", "install", "-q", *BUILD_BACKENDS], CACHE)
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
