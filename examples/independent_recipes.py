"""Libraries that were judged by hand before any tool was run on them; built like those of ``examples/recipes.py``."""

from __future__ import annotations

from examples.obtain import PROJECT
from examples.recipes import Recipe

GENERATED = PROJECT / "examples" / "generated"
"""Headers that a library's own build would write."""

BROTLI = Recipe(
    library="libbrotli",
    soname="libbrotli.so.1",
    compiler="gcc",
    origin="pypi",
    package="brotli",
    releases=tuple((each, each) for each in ("1.0.1", "1.0.4", "1.0.6", "1.0.7", "1.0.9", "1.1.0", "1.2.0")),
    root="c",
    sources=("common/*.c", "dec/*.c", "enc/*.c"),
    flags=("-Iinclude", "-Wl,--no-as-needed", "-lm"),
    remark="Its three libraries in one; of the package's releases those that carry C sources.",
)

ZMQ = Recipe(
    library="libzmq",
    soname="libzmq.so.5",
    compiler="g++",
    origin="pypi",
    package="pyzmq",
    releases=(
        ("4.0.3", "14.0.1"),
        ("4.0.5", "14.4.1"),
        ("4.1.2", "15.0.0"),
        ("4.1.5", "15.4.0"),
        ("4.1.6", "16.0.2"),
        ("4.3.1", "18.0.0"),
        ("4.3.2", "19.0.0"),
        ("4.3.4", "22.3.0"),
    ),
    root="bundled/zeromq",
    sources=("src/*.cpp",),
    unwanted=("src/ws_*.cpp", "src/wss_*.cpp"),
    flags=("-Iinclude", "-Isrc", f"-I{GENERATED}/libzmq", "-D_GNU_SOURCE", "-pthread"),
    remark="C++ behind a C interface, without -fvisibility=hidden, as the package itself builds it.",
)

ADA = Recipe(
    library="libada",
    soname="libada.so.2",
    compiler="g++",
    origin="pypi",
    package="ada-url",
    releases=(
        ("2.6.8", "1.4.1"),
        ("2.7.0", "1.6.0"),
        ("2.7.3", "1.8.0"),
        ("2.7.7", "1.12.0"),
        ("2.9.2", "1.15.3"),
        ("3.1.1", "1.18.0"),
        ("3.2.1", "1.21.0"),
        ("3.2.6", "1.25.0"),
    ),
    root="ada_url",
    sources=("ada.cpp",),
    flags=("-I.", "-std=c++20"),
    remark="One source file and one header made of all, with a C interface beside it.",
)

CHIPMUNK = Recipe(
    library="libchipmunk",
    soname="libchipmunk.so.7",
    compiler="gcc",
    origin="pypi",
    package="pymunk",
    releases=tuple((each, each) for each in ("5.7.0", "6.0.0", "6.4.0", "6.6.0", "6.9.0")),
    root="[Cc]hipmunk*",
    sources=("src/*.c",),
    flags=("-Iinclude", "-std=gnu99", "-DNDEBUG", "-DCHIPMUNK_FFI", "-Wl,--no-as-needed", "-lm"),
    remark="What the package's versions carry of Chipmunk2D, with its own changes; numbered as the package is.",
)

DOUBLE_CONVERSION = Recipe(
    library="libdouble-conversion",
    soname="libdouble-conversion.so.3",
    compiler="g++",
    origin="pypi",
    package="ujson",
    releases=tuple((each, each) for each in ("3.0.0", "4.3.0", "5.8.0")),
    root="deps/double-conversion",
    sources=("double-conversion/*.cc",),
    flags=("-I.",),
    remark="What the package's versions carry of double-conversion; numbered as the package is.",
)

CLIPPER = Recipe(
    library="libpolyclipping",
    soname="libpolyclipping.so.22",
    compiler="g++",
    origin="pypi",
    package="pyclipper",
    releases=(("6.2.1", "1.0.6"), ("6.4.2", "1.1.0.post3")),
    root="pyclipper",
    sources=("clipper.cpp",),
    flags=("-I.",),
    remark="What the package's versions carry of Clipper.",
)

SNAPPY = Recipe(
    library="libsnappy",
    soname="libsnappy.so.1",
    compiler="g++",
    origin="npm",
    package="leveldown",
    releases=(("1.1.0", "0.8.3"), ("1.1.1", "0.10.6"), ("1.1.4", "1.9.0"), ("1.1.7", "5.0.3")),
    root="deps/snappy",
    sources=tuple(f"snappy*/snappy{each}.cc" for each in ("", "-c", "-sinksource", "-stubs-internal")),
    flags=("-Ilinux", "-DHAVE_CONFIG_H", "-DNDEBUG"),
    remark="What the package's versions carry of Snappy.",
)

CMARK = Recipe(
    library="libcmark-gfm",
    soname="libcmark-gfm.so.0",
    compiler="gcc",
    origin="pypi",
    package="cmarkgfm",
    releases=(
        ("0.28.3.gfm.12", "0.4.2"),
        ("0.28.3.gfm.19", "0.6.0"),
        ("0.29.0.gfm.3", "0.8.0"),
        ("0.29.0.gfm.6", "2022.10.27"),
        ("0.29.0.gfm.13", "2024.11.20"),
    ),
    sources=("third_party/cmark/src/*.c", "third_party/cmark/extensions/*.c"),
    unwanted=("third_party/cmark/src/main.c",),
    flags=("-Igenerated/unix", "-Ithird_party/cmark/src", "-Ithird_party/cmark/extensions"),
    remark="What the package's versions carry of cmark-gfm, its extensions included.",
)

EXPAT = Recipe(
    library="libexpat",
    soname="libexpat.so.1",
    compiler="gcc",
    origin="npm",
    package="node-expat",
    releases=(("2.1.0", "2.3.12"), ("2.2.0", "2.3.15"), ("2.2.1", "2.3.18")),
    root="deps/libexpat",
    sources=("lib/xmlparse.c", "lib/xmlrole.c", "lib/xmltok.c"),
    flags=("-I.", "-Ilib", "-DHAVE_EXPAT_CONFIG_H", "-DXML_POOR_ENTROPY"),
    remark="What the package's versions carry of Expat.",
)

SQLITE = Recipe(
    library="libsqlite3",
    soname="libsqlite3.so.0",
    compiler="gcc",
    origin="npm",
    package="better-sqlite3",
    releases=(("3.37.2", "7.5.0"), ("3.39.0", "7.6.0"), ("3.40.0", "8.0.0")),
    root="deps/sqlite3",
    sources=("sqlite3.c",),
    flags=("-I.",),
    remark="The amalgamation of those of the package's versions that carry it unpacked.",
)

INDEPENDENT = (
    *(BROTLI, ZMQ, ADA, CHIPMUNK, DOUBLE_CONVERSION),
    *(CLIPPER, SNAPPY, CMARK, EXPAT, SQLITE),
)
