"""The sdists of a case study, through pip, which refuses one whose digest is not the one that is named."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from examples.case_studies.case import Case, Release
from examples.obtain import CACHE, run

BACKEND = """
from pathlib import Path
import sys

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    lines = Path("PKG-INFO").read_text(errors="replace").splitlines()
    told = dict(line.split(": ", 1) for line in lines if line.startswith(("Name: ", "Version: ")))
    written = Path(folder) / f"{told['Name']}-{told['Version']}.dist-info"
    written.mkdir()
    (written / "METADATA").write_text("".join(f"{key}: {told[key]}\\n" for key in ("Name", "Version")))
    return written.name

__legacy__ = sys.modules[__name__]
"""
"""What ``pip download`` asks for a package's name instead of its own build: that runs no code of the package."""

BACKENDS = "setuptools/build_meta.py", "scikit_build_core/build.py"
"""The modules that packages name as their build."""


def unpacked(case: Case, release: Release) -> Path:
    """The library's folder in the source of a release, obtained once."""
    package = release.package or case.package
    folder = CACHE / "sources" / f"pypi-{package}-{release.carrier}"
    if not folder.exists():
        archive = _downloaded(package, release)
        work = archive.with_name(f"{folder.name}.partial")
        shutil.unpack_archive(archive, work, "zip" if archive.suffix == ".zip" else "gztar")
        (inner,) = work.iterdir()
        inner.rename(folder)
        shutil.rmtree(work)
    return folder / case.root


def _downloaded(package: str, release: Release) -> Path:
    folder = CACHE / "sdists"
    for backend in BACKENDS:
        (folder / backend).parent.mkdir(parents=True, exist_ok=True)
        (folder / backend).with_name("__init__.py").touch()
        (folder / backend).write_text(BACKEND)
    wanted = folder / f"{package}-{release.carrier}.txt"
    wanted.write_text(f"{package}=={release.carrier} --hash=sha256:{release.sha256}\n")
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "--use-pep517")
    place = ("--no-build-isolation", "--require-hashes", "-d", folder, "-r", wanted)
    run((*pip, *place), folder, {"PYTHONPATH": str(folder)})
    return next(path for path in folder.glob(f"{package}-{release.carrier}.*") if path.suffix in (".gz", ".zip"))
