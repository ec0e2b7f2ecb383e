"""Both releases of an unseen pair as their users get them: the shared library and its installed headers.

A wheel holds both. A source package is built by its recipe with ``-g -O2``: by one line of the compiler, or by its own
CMakeLists.txt. What is made lies below ``ABISTORE_EXAMPLES``, in a folder named for the recipe's content.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Any

from benchmarks.accuracy.release import Release
from benchmarks.accuracy.unseen import recipe
from benchmarks.accuracy.unseen.obtaining import unpacked, wheel
from examples.obtain import CACHE, Missing, once, require, run

BUILD = "BUILD"
"""The build folder below the sources, where CMake writes headers too."""


def release(library: str, version: str) -> Release:
    """The release, obtained and built where that is still to do."""
    told = recipe(library)

    def made(work: Path) -> Path:
        (_wheels if told["origin"] == "wheel" else _sources)(told, version, work / "release")
        return work / "release"

    folder = CACHE / "unseen" / library / f"{version}-{_digest(told, version)}"
    return _release(told, version, once(folder, made))


def is_here(library: str, version: str) -> bool:
    """Whether the release was obtained and built before."""
    return (CACHE / "unseen" / library / f"{version}-{_digest(recipe(library), version)}").exists()


def _digest(told: Mapping[str, Any], version: str) -> str:
    """A short digest of all that decides what is built."""
    content = {
        key: value for key, value in told.items() if key not in ("releases", "range", "part", "headers", "beside")
    }
    needed = told["headers"].get("package"), told.get("beside", {}).get(version)
    text = json.dumps([content, needed, told["releases"][version]], sort_keys=True)
    return blake2b(text.encode(), digest_size=6).hexdigest()


def _wheels(told: Mapping[str, Any], version: str, folder: Path) -> None:
    """The library's wheel and those whose headers its own include, in one folder; links, as wheels are large."""
    python, carrier = told.get("python"), told["releases"][version]
    needed = [each.split("==") for each in told.get("beside", {}).get(version, ())]
    needed += [list(each) for each in told.get("needs", {}).items()]
    if "package" in told["headers"]:
        needed.append([told["headers"]["package"], carrier])
    for source in (unpacked(told, version), *(wheel(package, number, python) for package, number in needed)):
        shutil.copytree(source, folder, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    if not Path(target).exists():
        os.link(source, target)


def _sources(told: Mapping[str, Any], version: str, folder: Path) -> None:
    package, source = unpacked(told, version), told["source"]
    roots = source["root"] if isinstance(source["root"], list) else [source["root"]]
    shutil.copytree(next(package / each for each in roots if (package / each).is_dir()), folder, symlinks=True)
    for name, text in (told.get("generated", {}) | source.get("files", {})).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for each in told.get("foreign", ()):
        _foreign(each, folder / each["to"])
    for step in told.get("generated_by", ()):
        _generate(step, folder)
    (_cmake if source.get("build") == "cmake" else _compile)(told, folder)


def _foreign(each: Mapping[str, str], place: Path) -> None:
    """Headers of another library, which this one's own include: one version of them does for all releases."""
    package = unpacked({**each, "releases": {each["version"]: each["version"]}}, each["version"])
    shutil.copytree(package / each["folder"], place, copy_function=_link)


def _generate(step: Mapping[str, Any], folder: Path) -> None:
    """Write a file as the library's own build does: what a command prints of the inputs that this release has."""
    inputs = b"".join((folder / each).read_bytes() for each in step["input"] if (folder / each).exists())
    done = subprocess.run(step["command"], cwd=folder, input=inputs, capture_output=True)
    if done.returncode:
        raise Missing(f"{' '.join(step['command'])} ended with {done.returncode}: {done.stderr.decode()[-400:]}")
    (folder / step["file"]).write_bytes(done.stdout)


def _compile(told: Mapping[str, Any], folder: Path) -> None:
    """One line of the compiler; one SONAME for all releases, so that no tool is told the answer by the name.

    As in a shell, patterns name no hidden files: archives made on macOS have one beside each source (``._main.c``).
    """
    source, name = told["source"], f"{told['library']}.so"
    unwanted = {path for pattern in source.get("unwanted", ()) for path in folder.glob(pattern)}
    found = {path for pattern in source["sources"] for path in folder.glob(pattern)} - unwanted
    files = sorted(path.relative_to(folder) for path in found if not path.name.startswith("."))
    if not files:
        raise Missing(f"{told['library']}: the package holds none of {', '.join(source['sources'])}")
    compiler = require(source["compiler"], source["compiler"])
    link = ["-shared", f"-Wl,-soname,{name}", "-o", name]
    run([compiler, "-fPIC", "-g", "-O2", "-w", *source["flags"], *files, *link], folder)


def _cmake(told: Mapping[str, Any], folder: Path) -> None:
    source, cmake = told["source"], require("cmake", "cmake")
    flags = " ".join(source["flags"])
    options = [*source["options"], f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}"]
    run([cmake, "-S", ".", "-B", BUILD, *options], folder)
    run([cmake, "--build", BUILD, "--parallel", "2", "--target", source["target"]], folder)


def _release(told: Mapping[str, Any], version: str, folder: Path) -> Release:
    headers = told["headers"]
    umbrella = tuple(headers.get("umbrella", ()))
    return Release(
        library=told["library"],
        version=version,
        language=told["language"],
        folder=folder,
        binary=_binary(told, folder),
        headers=tuple(sorted(public_headers(headers, folder), key=lambda path: _after(path, umbrella))),
        umbrella=umbrella,
        include=tuple(_folders([*headers["include"], *told.get("beside", {}).get("include", ())], folder)),
        defines=tuple(headers["defines"]),
        options=tuple(headers.get("options", ())),
    )


def _after(path: Path, umbrella: Sequence[str]) -> int:
    """Where a header stands among those that clients include first; those that need them come behind."""
    places = (place for place, name in enumerate(umbrella) if path.as_posix().endswith(f"/{name}"))
    return next(places, len(umbrella))


def _binary(told: Mapping[str, Any], folder: Path) -> Path:
    pattern = f"{told['library']}.so"
    if "binary" in told:
        pattern = told["binary"]["library"]
    elif "built" in told["source"]:
        pattern = f"{BUILD}/{told['source']['built']}"
    found = sorted({path.resolve() for path in folder.glob(pattern)})
    if not found:
        raise Missing(f"{told['library']}: no {pattern} in {folder}")
    return found[0]


def public_headers(headers: Mapping[str, Any], folder: Path) -> Iterator[Path]:
    """The installed headers, without those that a client cannot or shall not include."""
    found = {path for pattern in headers["public"] for path in folder.glob(pattern)}
    for path in sorted(found):
        if not any(PurePath(path).match(pattern) for pattern in headers["private"]):
            yield path


def _folders(patterns: list[str], folder: Path) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(path for path in folder.glob(pattern) if path.is_dir()) if pattern != "." else [folder]
