"""Where released sources come from: PyPI sdists, npm packages and Debian source packages, through their own clients."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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
    """The unpacked source of a release. ``origin`` is ``pypi``, ``npm`` or ``debian``; ``version`` the carrier's."""
    folder = CACHE / "sources" / f"{origin}-{package}-{version or 'current'}"
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        work.mkdir(parents=True, exist_ok=True)
        try:
            unpacked = {"pypi": _pypi, "npm": _npm, "debian": _debian}[origin](package, version, work)
            unpacked.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _pypi(package: str, version: str, work: Path) -> Path:
    python = _pip_environment()
    pip = [python, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "--no-build-isolation"]
    run([*pip, f"{package}=={version}"], work)
    return _unpack(next(path for path in work.iterdir() if re.search(r"\.(tar\.\w+|zip)$", path.name)))


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


def _debian(package: str, version: str, work: Path) -> Path:
    require("dpkg-source", "dpkg-dev")
    options = _source_index()
    run(["apt-get", *options, "source", "-q", f"{package}={version}" if version else package], work)
    return next(path for path in work.iterdir() if path.is_dir())


def _source_index() -> list[str]:
    """apt options for an index of source packages beside the machine's own, derived from its configured archives."""
    folder = CACHE / "apt"
    options = ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={folder / 'parts'}"]
    options += ["-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder / 'cache'}"]
    if not (folder / "ready").exists():
        for name in ("parts", "lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        configured = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
        for path in filter(Path.is_file, configured):
            text = re.sub(r"(?m)^Types:.*$", "Types: deb-src", re.sub(r"(?m)^deb\s", "deb-src ", path.read_text()))
            if "debian" in text:
                (folder / "parts" / path.name).write_text(text)
        run(["apt-get", *options, "-q", "update"], CACHE)
        (folder / "ready").touch()
    return options


def _unpack(archive: Path) -> Path:
    folder = archive.with_name("unpacked")
    shutil.unpack_archive(archive, folder, "zip" if archive.suffix == ".zip" else "gztar")
    inner = list(folder.iterdir())
    return inner[0] if len(inner) == 1 else folder


if __name__ == "__main__":
    print(source(*sys.argv[1:4]))
