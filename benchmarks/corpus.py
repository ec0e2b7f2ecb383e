"""The libraries that the benchmarks read, as pairs of an older and a newer binary.

``python -m benchmarks.corpus [NAME ...]`` obtains them and prints what it has. Debian's own debug packages are merged
with their libraries (``eu-unstrip``, uncompressed); the others are built by ``examples.recipes``. Where the package
archive has two versions these are the pair; where it has one, the newer side is a copy with one export renamed, so that
no tool can answer from equal bytes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from examples.obtain import PROJECT, require, run
from examples.recipes import JSONNET, LZ4, RE2, ZSTD, Recipe, build

CACHE = Path(os.environ.get("ABISTORE_BENCH") or PROJECT / ".cache" / "bench")


@dataclass(frozen=True)
class Pair:
    """Two releases of a library. ``debug_bytes`` is the size of the older one's ``.debug_info``, uncompressed."""

    name: str
    language: str
    old: Path
    new: Path
    debug_bytes: int
    releases: bool
    """Whether these are two real releases, and not a release and its altered copy."""


@dataclass(frozen=True)
class Packaged:
    """A library with debug information in Debian: ``packages`` are the library's and its debug package.

    With one package the library in it carries the debug information itself.
    """

    name: str
    language: str
    packages: tuple[str, ...]
    library: str


PACKAGED = (
    Packaged("libkrb5", "C", ("libkrb5-3", "libkrb5-dbg"), "libkrb5.so.3.*"),
    Packaged("libbfd", "C", ("libbinutils", "libbinutils-dbg"), "libbfd-*.so"),
    Packaged("libgsl", "C", ("libgsl27", "libgsl-dbg"), "libgsl.so.27.*"),
    Packaged("libstdc++", "C++", ("libstdc++6-12-dbg",), "libstdc++.so.6.*.*[0-9]"),
    Packaged("libc", "C", ("libc6", "libc6-dbg"), "libc.so.6"),
    Packaged("libpython3.11d", "C", ("libpython3.11-dbg",), "libpython3.11d.so.1.0"),
    Packaged("librados", "C++", ("librados2", "librados2-dbg"), "librados.so.2.0.0"),
    Packaged("libceph-common", "C++", ("librados2", "librados2-dbg"), "libceph-common.so.2"),
)

CLANG = replace(JSONNET, library="libjsonnet-clang", compiler="clang++")

BUILT = {
    "liblz4": (LZ4, "C", "1.9.3", "1.9.4"),
    "libzstd": (ZSTD, "C", "1.5.5", "1.5.6"),
    "libre2": (RE2, "C++", "1.17.4", "1.19.0"),
    "libjsonnet": (JSONNET, "C++", "0.17.0", "0.18.0"),
    "libjsonnet-clang": (CLANG, "C++", "0.17.0", "0.18.0"),
}


def pairs(names: Sequence[str] = ()) -> list[Pair]:
    """The corpus (or ``names`` of it), smallest first; obtains what is not there yet."""
    makers = {name: partial(_built, name, *recipe) for name, recipe in BUILT.items()}
    makers |= {packaged.name: partial(_packaged, packaged) for packaged in PACKAGED}
    return sorted((makers[name]() for name in names or makers), key=lambda pair: pair.debug_bytes)


def _built(name: str, recipe: Recipe, language: str, old: str, new: str) -> Pair:
    before, after = build(recipe, old), build(recipe, new)
    return Pair(name, language, before, after, debug_info_bytes(before), releases=True)


def _packaged(packaged: Packaged) -> Pair:
    versions = _versions(packaged.packages[0])
    old = _merged(packaged, versions[0])
    new = _merged(packaged, versions[-1]) if len(versions) > 1 else _altered(old)
    return Pair(packaged.name, packaged.language, old, new, debug_info_bytes(old), releases=len(versions) > 1)


def _versions(package: str) -> list[str]:
    """The versions of ``package`` that the machine's archives offer, oldest first: at most two."""
    printed = run([require("apt-cache", "apt"), "madison", package], Path.cwd())
    found = {line.split("|")[1].strip() for line in printed.splitlines() if line.rstrip().endswith("Packages")}
    ordered: list[str] = []
    for version in sorted(found):
        place = sum(_older(known, version) for known in ordered)
        ordered.insert(place, version)
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


def _older(one: str, other: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", one, "lt", other]).returncode == 0


def _merged(packaged: Packaged, version: str) -> Path:
    """The library with its debug information inside, uncompressed."""
    target = CACHE / "libraries" / f"{packaged.name}-{version.replace('/', '_')}" / f"{packaged.name}.so"
    if target.exists():
        return target
    folders = [_unpacked(package, version) for package in packaged.packages]
    library = next(path for path in sorted(folders[0].rglob(packaged.library)) if path.is_file() and _is_elf(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".partial")
    if len(folders) == 1:
        shutil.copyfile(library, unfinished)
    else:
        debug = folders[1] / "usr/lib/debug/.build-id" / _build_id(library)
        run([require("eu-unstrip", "elfutils"), library, debug, "-o", unfinished], CACHE)
    run([require("eu-elfcompress", "elfutils"), "-q", "-t", "none", unfinished], CACHE)
    unfinished.rename(target)
    for shared in folders[-1].glob("usr/lib/debug/.dwz/*/*.debug"):
        _lay_beside(shared, target)
    return target


def _lay_beside(shared: Path, library: Path) -> None:
    """Put an alternate debug file next to ``library``, and make its link relative, in as many bytes as it was."""
    data = library.read_bytes()
    name = f"/usr/lib/debug/.dwz/{shared.parent.name}/{shared.name}"
    if name.encode() in data:
        relative = "." + shared.name.rjust(len(name) - 1, "/")
        library.write_bytes(data.replace(name.encode(), relative.encode()))
        shutil.copyfile(shared, library.with_name(shared.name))


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _unpacked(package: str, version: str) -> Path:
    folder = CACHE / "packages" / f"{package}-{version}"
    if not folder.exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        work.mkdir(parents=True)
        run(["apt-get", "download", "-q", f"{package}={version}"], work)
        run(["dpkg", "-x", next(work.glob("*.deb")), work / "tree"], work)
        (work / "tree").rename(folder)
        shutil.rmtree(work)
    return folder


def _build_id(library: Path) -> str:
    """The build-id as the debug tree spells it: ``ab/cdef....debug``."""
    printed = run([require("readelf", "binutils"), "-n", library], CACHE)
    found = re.search(r"Build ID: (\w\w)(\w+)", printed)
    assert found, f"{library} has no build-id"
    return f"{found[1]}/{found[2]}.debug"


def _altered(library: Path) -> Path:
    """A copy of ``library`` in which one exported function has another name of the same length and the same GNU hash.

    By another hash the dynamic linker would not find it: the hash is 33 times that of what stands before, and a byte.
    """
    target = library.with_name(f"{library.stem}-renamed.so")
    if not target.exists():
        data = library.read_bytes()
        name = next(name for name in _functions(library) if data.count(b"\0" + name + b"\0"))
        renamed = re.sub(rb"[a-y][b-z](?=\w)", lambda found: bytes((found[0][0] + 1, found[0][1] - 33)), name, count=1)
        target.write_bytes(data.replace(b"\0" + name + b"\0", b"\0" + renamed + b"\0"))
    return target


def _functions(library: Path) -> Iterator[bytes]:
    """Exported functions with a lower-case word in their name, the strings of which no longer name ends with."""
    printed = run([require("nm", "binutils"), "-D", "--defined-only", library], CACHE)
    for line in printed.splitlines():
        _, kind, name = line.split()
        if kind == "T" and re.search("[a-z]{5}", name):
            yield name.split("@")[0].encode()


def debug_info_bytes(library: Path) -> int:
    """The size of ``.debug_info`` in bytes."""
    printed = run([require("readelf", "binutils"), "-SW", library], Path.cwd())
    found = re.search(r"\.debug_info\s+PROGBITS\s+\w+\s+\w+\s+(\w+)", printed)
    return int(found[1], 16) if found else 0


def main() -> None:
    for pair in pairs(sys.argv[1:]):
        kind = "releases" if pair.releases else "altered copy"
        print(f"{pair.name:16} {pair.language:4} {pair.debug_bytes / 1e6:7.1f} MB  {kind:12} {pair.old} {pair.new}")


if __name__ == "__main__":
    main()
