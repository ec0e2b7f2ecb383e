"""Where released sources come from: PyPI sdists and npm packages, through their own clients."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import threading
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace", env=surroundings)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        raise Missing(f"{' '.join(str(word) for word in command)}\nended with {done.returncode}:\n{tail}")
    return done.stdout


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Whoever holds a lock of this file, in any thread of any process, is waited for."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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

    def unpacked(work: Path) -> Path:
        if origin == "npm":
            return _npm(package, version, work)
        return _pypi(f"{package}=={version}", work, backends, variables)

    return once(CACHE / "sources" / f"{origin}-{package}-{version}", unpacked)


def once(folder: Path, obtain: Callable[[Path], Path]) -> Path:
    """``folder``, which ``obtain`` makes within a folder of its own; where several do at a time, the first one's stays.

    Neighbouring pairs share a release, so that threads meet here.
    """
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}.{threading.get_ident()}")
        work.mkdir(parents=True, exist_ok=True)
        try:
            _place(obtain(work), folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _place(made: Path, folder: Path) -> None:
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def _pypi(pinned: str, work: Path, backends: Sequence[str], variables: Mapping[str, str] | None) -> Path:
    """pip asks an sdist for its metadata once it has unpacked it; one that cannot answer is taken as unpacked."""
    python, temporary = _pip_environment(backends), work / "temporary"
    temporary.mkdir()
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    found = {**(variables or {}), "PATH": path, "TMPDIR": str(temporary)}
    pip = [python, "-m", "pip", "download", "-q", "--no-clean", "--no-binary", ":all:", "--no-deps"]
    try:
        run([*pip, "--no-build-isolation", pinned], work, found)
    except Missing:
        left = [path.parent for path in temporary.glob("pip-download-*/*/PKG-INFO")]
        if not left:
            raise
        return left[0]
    return _unpack(next(path for path in work.iterdir() if path.name.endswith((".tar.gz", ".zip"))))


def _pip_environment(backends: Sequence[str]) -> Path:
    folder = CACHE / ("pip" if backends == BUILD_BACKENDS else f"pip-{len(backends)}")
    python = folder / "bin" / "python"
    with alone(CACHE / "locks" / folder.name):  # making it clears what another one has begun
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
