"""More libraries whose releases the page on accuracy judges; built like those of ``examples/recipes.py``."""

from __future__ import annotations

from examples.independent_recipes import INDEPENDENT
from examples.obtain import PROJECT
from examples.recipes import RECIPES, Recipe

GENERATED = PROJECT / "examples" / "generated"
"""Headers that a library's own build would write."""

HIREDIS = Recipe(
    library="libhiredis",
    soname="libhiredis.so",
    compiler="gcc",
    origin="pypi",
    package="hiredis",
    releases=(
        ("0.12.1", "0.2.0"),
        ("0.13.3", "1.1.0"),
        ("1.0.0", "2.0.0"),
        ("1.1.0", "2.2.3"),
        ("1.2.0", "3.1.0"),
        ("1.3.0", "3.2.1"),
    ),
    root="vendor/hiredis",
    sources=("alloc.c", "async.c", "hiredis.c", "net.c", "read.c", "sds.c", "sockcompat.c", "dict.c"),
    unwanted=("dict.c",),
    flags=("-I.", "-std=gnu99"),
    remark="What the package's versions carry of hiredis, headers in the top folder.",
)

UV = Recipe(
    library="libuv",
    soname="libuv.so.1",
    compiler="gcc",
    origin="pypi",
    package="uvloop",
    releases=(
        ("1.9.1", "0.5.5"),
        ("1.11.0", "0.8.1"),
        ("1.17.0", "0.9.1"),
        ("1.22.0", "0.11.3"),
        ("1.23.0", "0.12.2"),
        ("1.40.0", "0.15.3"),
        ("1.42.0", "0.16.0"),
        ("1.43.0", "0.17.0"),
        ("1.46.0", "0.18.0"),
        ("1.48.0", "0.20.0"),
    ),
    root="vendor/libuv",
    sources=("src/*.c", "src/unix/*.c"),
    unwanted=tuple(
        f"src/unix/{each}.c"
        for each in (
            *("aix*", "android*", "bsd*", "cygwin", "darwin*", "epoll", "freebsd*", "fsevents", "haiku", "hurd"),
            *("ibmi", "kqueue", "netbsd", "no-*", "openbsd", "os390*", "posix-*", "pthread-*", "qnx"),
            *("random-getentropy", "sunos", "sysinfo-*"),
        )
    ),
    also=tuple((version, "src/unix/sysinfo-*.c") for version in ("1.17.0", "1.22.0", "1.23.0")),
    flags=("-Iinclude", "-Isrc", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-fvisibility=hidden", "-pthread"),
    remark="What the package's versions carry of libuv.",
)

HTTP_PARSER = Recipe(
    library="libhttp_parser",
    soname="libhttp_parser.so.2",
    compiler="gcc",
    origin="pypi",
    package="httptools",
    releases=(("2.7.0", "0.0.9"), ("2.9.0", "0.1.2"), ("2.9.4", "0.5.0")),
    root="vendor/http-parser",
    sources=("http_parser.c",),
    flags=("-I.",),
    remark="What the package's versions carry of http-parser.",
)

LLHTTP = Recipe(
    library="libllhttp",
    soname="libllhttp.so",
    compiler="gcc",
    origin="pypi",
    package="httptools",
    releases=(("4.0.0", "0.3.0"), ("6.0.6", "0.4.0"), ("6.0.9", "0.5.0"), ("8.1.1", "0.6.1"), ("9.2.1", "0.6.4")),
    root="vendor/llhttp",
    sources=("src/*.c",),
    flags=("-Iinclude",),
    remark="What the package's versions carry of llhttp.",
)

XXHASH = Recipe(
    library="libxxhash",
    soname="libxxhash.so.0",
    compiler="gcc",
    origin="pypi",
    package="xxhash",
    releases=(("0.6.5", "1.3.0"), ("0.7.3", "1.4.4"), ("0.8.0", "2.0.2"), ("0.8.1", "3.2.0"), ("0.8.2", "3.5.0")),
    root="deps/xxhash",
    sources=("xxhash.c",),
    flags=("-I.",),
    remark="What the package's versions carry of xxHash.",
)

YARA = Recipe(
    library="libyara",
    soname="libyara.so",
    compiler="gcc",
    origin="pypi",
    package="yara-python",
    releases=tuple(
        (each, each)
        for each in (
            *("3.6.3", "3.7.0", "3.8.1", "3.10.0", "3.11.0"),
            *("4.0.5", "4.1.3", "4.2.3", "4.3.1", "4.5.1"),
        )
    ),
    root="yara/libyara",
    sources=("*.c", "proc/linux.c", "modules/*.c", "modules/*/*.c", "tlshc/*.c"),
    unwanted=(
        "modules/cuckoo*",
        "modules/magic*",
        "modules/hash*",
        "modules/pb_tests/*",
        "modules/*/cuckoo.c",
        "modules/*/magic.c",
        "modules/*/hash.c",
        "modules/demo.c",
        "modules/dotnet.c",
        "modules/macho.c",
        "modules/dex.c",
    ),
    flags=(
        "-I.",
        "-Iinclude",
        "-D_GNU_SOURCE",
        "-DUSE_LINUX_PROC",
        "-DHAVE_STDBOOL_H",
        "-DHAVE_MEMMEM",
        "-pthread",
        "-DBUCKETS_128=1",
        "-DCHECKSUM_1B=1",
        "-fvisibility=hidden",
    ),
    remark="The library of each release, without the modules that need other libraries.",
)

TREE_SITTER = Recipe(
    library="libtree-sitter",
    soname="libtree-sitter.so.0",
    compiler="gcc",
    origin="pypi",
    package="tree-sitter",
    releases=tuple((each, each) for each in ("0.19.0", "0.20.4", "0.21.3", "0.22.3", "0.23.2", "0.24.0", "0.25.2")),
    root="tree_sitter/core/lib",
    sources=("src/lib.c",),
    flags=("-Iinclude", "-Isrc", "-std=gnu11", "-D_GNU_SOURCE"),
    remark="The core library in the Python package of the same number; patch releases may differ by a few commits.",
)

LEVELDB = Recipe(
    library="libleveldb",
    soname="libleveldb.so.1",
    compiler="g++",
    origin="npm",
    package="leveldown",
    releases=(
        ("1.11", "0.8.3"),
        ("1.14", "0.10.6"),
        ("1.17", "1.2.2"),
        ("1.18", "1.4.6"),
        ("1.20", "1.9.0"),
    ),
    root="deps/leveldb/leveldb-*",
    sources=("db/*.cc", "table/*.cc", "util/*.cc", "port/port_posix*.cc"),
    unwanted=("*/*_test.cc", "*/*_bench.cc", "*/leveldb_main.cc", "util/testharness.cc", "util/testutil.cc"),
    flags=("-I.", "-Iinclude", "-std=c++11", "-DLEVELDB_PLATFORM_POSIX", "-DOS_LINUX", "-pthread"),
    remark="What the package's versions carry of LevelDB.",
)

YOGA = Recipe(
    library="libyoga",
    soname="libyoga.so.1",
    compiler="gcc",
    origin="npm",
    package="yoga-layout",
    releases=tuple((each, each) for each in ("1.0.1", "1.2.0", "1.5.0", "1.6.0", "1.8.0", "1.9.3")),
    root="sources",
    sources=("yoga/*.c", "yoga/*.cpp"),
    flags=("-I.", "-Wl,--no-as-needed", "-lstdc++", "-lm"),
    remark="Yoga's C interface, written in C first and in C++ later.",
)

MINIUPNPC = Recipe(
    library="libminiupnpc",
    soname="libminiupnpc.so",
    compiler="gcc",
    origin="pypi",
    package="miniupnpc",
    releases=tuple((each, each) for each in ("1.9", "2.2.7", "2.2.8", "2.3.1", "2.3.2", "2.3.3")),
    root=".",
    sources=tuple(
        f"{folder}{each}.c"
        for folder in ("", "src/")
        for each in (
            *("addr_is_reserved", "connecthostport", "igd_desc_parse", "minisoap", "minissdpc", "miniupnpc"),
            *("miniwget", "minixml", "portlistingparse", "receivedata", "upnpcommands", "upnpdev", "upnperrors"),
            "upnpreplyparse",
        )
    ),
    flags=(
        "-I.",
        "-Iinclude",
        f"-I{GENERATED}/miniupnpc",
        "-D_DEFAULT_SOURCE",
        "-D_GNU_SOURCE",
        "-DMINIUPNPC_SET_SOCKET_TIMEOUT",
        "-DMINIUPNPC_GET_SRC_ADDR",
        "-fvisibility=hidden",
    ),
    remark="All releases with sources.",
)

CARES = Recipe(
    library="libcares",
    soname="libcares.so.2",
    compiler="gcc",
    origin="pypi",
    package="pycares",
    releases=(
        ("1.13.0", "2.3.0"),
        ("1.15.0", "3.0.0"),
        ("1.17.0", "4.0.0"),
        ("1.17.2", "4.2.2"),
        ("1.18.1", "4.3.0"),
        ("1.34.5", "4.9.0"),
    ),
    root="deps",
    sources=(
        "c-ares/src/ares_*.c",
        "c-ares/src/bitncmp.c",
        "c-ares/src/inet_*.c",
        "c-ares/src/windows_port.c",
        "c-ares/src/lib/*.c",
        "c-ares/src/lib/*/*.c",
    ),
    unwanted=("c-ares/src/ares_getopt.c", "c-ares/src/lib/ares_getopt.c", "c-ares/src/lib/windows_port.c"),
    flags=(
        "-Ic-ares/include",
        "-Ic-ares/src",
        "-Ic-ares/src/lib",
        "-Ic-ares/src/lib/include",
        "-Ic-ares/src/config_linux",
        "-Ibuild-config/config_linux",
        "-Ibuild-config/include",
        "-DHAVE_CONFIG_H",
        "-D_GNU_SOURCE",
        "-DCARES_BUILDING_LIBRARY",
        "-DCARES_SYMBOL_HIDING",
        "-fvisibility=hidden",
        "-pthread",
    ),
    remark="What the package's versions carry of c-ares.",
)

MORE = (HIREDIS, UV, HTTP_PARSER, LLHTTP, XXHASH, YARA, TREE_SITTER, LEVELDB, YOGA, MINIUPNPC, CARES)
ALL = RECIPES | {recipe.library: recipe for recipe in (*MORE, *INDEPENDENT)}
