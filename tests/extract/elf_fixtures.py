"""One library with every sort of symbol, for every machine that the compilers here can build for."""

from __future__ import annotations

from pathlib import Path

from tests.build import build_library

MACHINES = {
    "x86_64": "gcc",
    "i386": "i686-linux-gnu-gcc",
    "aarch64": "aarch64-linux-gnu-gcc",
    "armhf": "arm-linux-gnueabihf-gcc",
    "riscv64": "riscv64-linux-gnu-gcc",
    "ppc64le": "powerpc64le-linux-gnu-gcc",
    "s390x": "s390x-linux-gnu-gcc",
}

SOURCE = """
int plain(int a) { return a; }
int twin(int a) __attribute__((alias("plain")));
__attribute__((weak)) int feeble(void) { return 1; }
__attribute__((visibility("hidden"))) int hidden(void) { return 2; }
__attribute__((visibility("protected"))) int guarded(void) { return 3; }
static int local(void) { return hidden(); }
int caller(void) { return local(); }
int old_shape(int a) { return a; }
int new_shape(int a) { return a + 1; }
__asm__(".symver old_shape, shaped@V1");
__asm__(".symver new_shape, shaped@@V2");
char data[24] = "data";
const int constant = 7;
short tentative[5];
_Thread_local int thread_local_one = 5;
_Thread_local long thread_local_two;
extern int elsewhere(const char *format);
extern int maybe(void) __attribute__((weak));
int uses(void) { return maybe ? maybe() : elsewhere(data); }
"""

VERSIONS = """
V1 { global: shaped; plain; twin; feeble; guarded; local: *; };
V2 { global: shaped; caller; data; constant; tentative; thread_local_*; uses; _edata; } V1;
"""


def every_sort_of_symbol(machine: str, *flags: str) -> Path:
    """The library for ``machine``, without debug information unless ``flags`` ask for it."""
    return build_library(
        SOURCE,
        compiler=MACHINES[machine],
        flags=("-O1", "-nostdlib", "-fcommon", "-Wl,--version-script=versions.map", "-Wl,--build-id=sha1", *flags),
        files={"versions.map": VERSIONS},
        soname="libsorts.so.3",
        name="libsorts.so",
    )


def without_section_headers(data: bytes) -> bytes:
    """What ``sstrip`` leaves: e_shoff, e_shnum and e_shstrndx are zero."""
    changed = bytearray(data)
    offset, count, names = ((0x28, 8), (0x3C, 2), (0x3E, 2)) if data[4] == 2 else ((0x20, 4), (0x30, 2), (0x32, 2))
    for start, size in (offset, count, names):
        changed[start : start + size] = bytes(size)
    return bytes(changed)
