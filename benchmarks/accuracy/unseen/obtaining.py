"""The packages that carry the unseen releases, through pip and npm; wheels without what no tool looks at."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from examples.obtain import BUILD_BACKENDS as FEW
from examples.obtain import CACHE, once, require, run, source

BACKENDS = (
    *(*FEW, "cffi", "cmake", "distro", "hatchling", "meson", "meson-python", "ninja", "numpy", "poetry-core"),
    *("py-cpuinfo", "pybind11", "scikit-build", "scikit-build-core"),
)
"""What the sdists of these libraries need to say their own name."""

MANYLINUX = ("manylinux1", "manylinux2014", *(f"manylinux_2_{number}" for number in (17, 24, 27, 28, 31, 34, 35)))


def unpacked(told: Mapping[str, Any], version: str) -> Path:
    """The package that carries a release of the library, unpacked once."""
    carrier = told["releases"][version]
    if told["origin"] == "wheel":
        return wheel(told["package"], carrier, told.get("python"))
    if told["origin"] == "npm":
        return source("npm", told["package"], carrier)
    return source("pypi", told["package"], carrier, BACKENDS, _blas())


def wheel(package: str, version: str, python: str | None = None) -> Path:
    """The shared libraries and headers of a wheel, made for ``python`` where one fits no other."""

    def kept(work: Path) -> Path:
        _unpack(_downloaded(package, version, python, work), work / "kept")
        return work / "kept"

    return once(CACHE / "sources" / f"wheel-{package}-{version}", kept)


def _downloaded(package: str, version: str, python: str | None, work: Path) -> Path:
    pip = [require("python3", "python3"), "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    platforms = [word for name in MANYLINUX for word in ("--platform", f"{name}_x86_64")]
    made_for = ["--python-version", python] if python else []
    run([*pip, *platforms, *made_for, f"{package}=={version}"], work)
    return next(work.glob("*.whl"))


def _unpack(archive: Path, folder: Path) -> None:
    """Keep libraries, folders of headers, whose headers may have no ending, and headers that lie elsewhere."""
    with ZipFile(archive) as opened:
        kept = [each for each in opened.namelist() if ".so" in each or "/include/" in each or each.endswith(".h")]
        opened.extractall(folder, kept)


def _blas() -> dict[str, str]:
    """What makes an sdist content that looks for a BLAS before it says its name: one that holds nothing."""
    folder = CACHE / "no-blas"
    if not (folder / "openblas.pc").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run([require("gcc", "gcc"), "-shared", "-x", "c", "/dev/null", "-o", folder / "libopenblas.so"], folder)
        (folder / "openblas.pc").write_text("Name: openblas\nDescription: none\nVersion: 1\nLibs: -lopenblas\n")
    return {"LIBRARY_PATH": str(folder), "PKG_CONFIG_PATH": str(folder)}
