"""Sources that every DWARF format is tried on, what must be found in them, and how to read a built library."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.elf.container import ElfFile
from abistore.extract.elf.reader import read_tables
from tests.build import build_library

SOURCE = """
namespace shapes {
struct Point {
    int x, y;
    struct Corner { int radius; } corner;
    virtual ~Point();
    double norm() const;
    static int count;
};
Point::~Point() {}
double Point::norm() const { return x; }
int Point::count = 3;
enum class Color : unsigned char { red, green = 200 };
enum Wide : long long { lowest = -0x7fffffffffffffffLL - 1, highest = 0x7fffffffffffffffLL };
union Number { int whole; float broken; };
struct Empty {};
template <class T, int N> struct Box { T cells[N]; };
Box<int, 3> box;
namespace { struct Hidden { int z; }; Hidden hidden; }
inline namespace v2 {
int versioned(Color color, Wide wide, Number *number, Empty) {
    return static_cast<int>(color) + (wide == lowest) + number->whole;
}
}
int peek() { return ++hidden.z; }
__attribute__((noinline)) int local(int seed) {
    struct Local { int a; struct Deep { int d; } deep; };
    Local value = {seed, {3}};
    if (seed) {
        struct Blocky { long b; };
        static Blocky kept;
        return ++kept.b + value.deep.d;
    }
    return value.a;
}
}
thread_local int padding = 4;
thread_local int slot = 4;
extern "C" __attribute__((cold, noinline)) void fail() { asm volatile(""); }
extern "C" int plain(const shapes::Point *p) {
    if (__builtin_expect(p->x > 7, 0)) { fail(); asm volatile("" : : : "memory"); fail(); }
    return p->x + shapes::local(p->y) + slot + padding;
}
extern "C" int table[7] = {1};
"""

FOUND = {
    ("function", "shapes::Point::~Point"),
    ("function", "shapes::Point::norm"),
    ("function", "shapes::v2::versioned"),
    ("function", "shapes::peek"),
    ("function", "shapes::local"),
    ("function", "fail"),
    ("function", "plain"),
    ("variable", "shapes::Point::count"),
    ("variable", "shapes::box"),
    ("variable", "table"),
    ("tls", "padding"),
    ("tls", "slot"),
}

DEFINED = {"Point", "Color", "Wide", "Number", "Empty", "Box<int, 3>", "Hidden"}

MORE = """
namespace shapes {
struct Point;
struct Line { Point *from; long length; };
long measure(Line *line) { return line->length; }
}
"""
"""A second unit, for what several units share."""


def sample(*flags: str, compiler: str = "g++", more: bool = False, name: str = "libcase.so") -> Path:
    """The library of ``SOURCE``, and of ``MORE`` if asked for."""
    files = {"more.cc": MORE} if more else None
    sources = ["more.cc"] if more else []
    return build_library(
        SOURCE, language="c++", compiler=compiler, flags=["-std=c++17", *flags, *sources], files=files, name=name
    )


def open_info(path: Path, *, alternate: Path | None = None, debug_dirs: Sequence[Path] = ()) -> DebugInfo:
    """The debug information of a library, with all that describes its exports found."""
    elf = ElfFile(path)
    exports = read_tables(elf).exports
    described = [
        address for address, names in exports.by_address.items() if not any(name.startswith("_ZT") for name in names)
    ]
    info = DebugInfo(
        elf,
        alternate=ElfFile(alternate) if alternate else None,
        debug_dirs=tuple(debug_dirs),
        progress=None,
        addresses=exports.by_address,
        tls_offsets=exports.tls_by_offset,
    )
    info.locate(described, exports.tls_by_offset)
    return info


def found_names(info: DebugInfo) -> set[tuple[str, str]]:
    """What was found at exported places, by qualified source name."""
    return {(kind, qualified(info, handle)) for kind, _, handle in info.found}


def qualified(info: DebugInfo, handle: int) -> str:
    """The source name of an entry."""
    handle = declaration(info, handle)
    names: list[str] = []
    for step in info.scope(handle):
        names = [*names, step] if isinstance(step, str) else [qualified(info, step)]
    return "::".join([*names, info.attributes(handle).get(dw.AT_NAME, "?")])


def declaration(info: DebugInfo, handle: int) -> int:
    """The first declaration of what an entry completes: it has the name, the file and the scope."""
    while True:
        attributes = info.attributes(handle)
        outer = attributes.get(dw.AT_ABSTRACT_ORIGIN, attributes.get(dw.AT_SPECIFICATION))
        if outer is None:
            return handle
        handle = outer


def defined_names(info: DebugInfo) -> set[str]:
    """Those of the sample's types that are defined at namespace scope."""
    return {name for name in DEFINED | {"Line"} if info.definitions(name)}


def run(*command: str | Path, folder: Path) -> None:
    """Runs a tool, which must succeed."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, f"{command}: {done.stderr}"
