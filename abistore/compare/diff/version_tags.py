"""Families of version tags (``GLIBC_2.34``) and which of two is higher."""

from __future__ import annotations

import re
from collections.abc import Iterable

RUNTIME_FAMILIES = frozenset({"GLIBC_", "GLIBCXX_", "CXXABI_", "GCC_", "GLIBC_ABI_DT_RELR", "GLIBCPP_"})
"""Version families of the C and C++ runtime: the floor that a system must reach, whichever of its libraries has it."""


OLDEST = {"GLIBC_": (2, 5), "GLIBCXX_": (3, 4), "CXXABI_": (1, 3), "GCC_": (3, 4)}
"""What every system has, by family: the runtime of the present C++ ABI (GCC 3.4, 2004), and the lowest C library that a
platform of Linux packages was ever defined by (``manylinux1``, PEP 513: glibc 2.5, 2006)."""

FIRST_GLIBC = {
    "aarch64": (2, 17),
    "ppc64le": (2, 17),
    "riscv64": (2, 27),
    "riscv32": (2, 32),
    "loongarch64": (2, 36),
}
"""The version that glibc came to a machine with, where that was later: none of its symbols there has a lower one.

``DEFAULT`` of the machine's ``shlib-versions`` in glibc's sources tells; so does the lowest version that its
``libc.so.6`` defines."""


def parsed(version: str) -> tuple[str, tuple[int, ...]]:
    """The family of a version tag and its number: ``GLIBC_2.34`` is ``("GLIBC_", (2, 34))``."""
    match = re.search(r"(?<!\d)\d{1,18}(?:\.+\d{1,18})*\.*$", version, re.ASCII)
    if match is None:
        return version, ()
    return version[: match.start()], tuple(int(each) for each in match[0].split(".") if each)


def raises_floor(version: str, known: Iterable[str], machine: str = "") -> bool:
    """Whether ``version`` is above all ``known`` ones of its family, and above what every system of ``machine`` has."""
    family, number = parsed(version)
    same = [other for other_family, other in map(parsed, known) if other_family == family]
    if family in OLDEST:
        same.append(OLDEST[family])
    if family == "GLIBC_" and machine in FIRST_GLIBC:
        same.append(FIRST_GLIBC[machine])
    return not same or number > max(same)
