"""Errors in headers, and how to mend them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from abistore.errors import HeaderError

MISSING = "file not found"
"""In what clang says of an include that it does not find; it may go on with what finds it."""


_OF_CPP = re.compile(r"[a-z][a-z_0-9]*")

MOST_LACKING = 20
"""How many missing files the evidence names."""


class HeaderFault(msgspec.Struct, frozen=True):
    """An error in a header, or in what it includes. ``header`` is the given one that leads there, if any does.

    ``own`` tells that it stands in the text of given headers; elsewhere it need not concern what they declare.
    ``defines`` are definitions of macros that its line uses as attributes and that nothing defines. ``refuses`` tells
    that the header itself says so, with ``#error``.
    """

    header: str
    own: bool
    said: str
    defines: tuple[str, ...] = ()
    refuses: bool = False

    @property
    def is_missing_file(self) -> bool:
        """Whether a file is not found, which no other language or standard mends."""
        return MISSING in self.said

    @property
    def missing(self) -> str:
        """The name of a file that is not found, as it is included; empty for other errors."""
        return self.said.split("'")[1] if self.is_missing_file and "'" in self.said else ""


def is_of_cpp(fault: HeaderFault) -> bool:
    """Whether the missing file may be a header of C++ itself: lower case, and without a suffix ([headers])."""
    return _OF_CPP.fullmatch(fault.missing) is not None


def nothing_parsed(count: int, aside: Mapping[str, Sequence[HeaderFault]]) -> HeaderError:
    """The error where no header parses: the first three causes, and how to mend them."""
    first = once_each(faults[0] for faults in aside.values())[:3]
    said = "; ".join(fault.said for fault in first)
    return HeaderError(
        f"{'the header does not parse' if count == 1 else f'none of the {count} headers parses'}: {said}",
        hint_of([*first, *with_missing_macros(aside)]),
        lacking(fault for faults in aside.values() for fault in faults),
    )


def once_each(faults: Iterable[HeaderFault]) -> list[HeaderFault]:
    """The errors, each file that is missing once."""
    found = dict[str, HeaderFault]()
    for fault in faults:
        found.setdefault(fault.missing or fault.said, fault)
    return list(found.values())


def lacking(faults: Iterable[HeaderFault]) -> tuple[str, ...]:
    """The files that are not found, first those that the most headers miss; :data:`MOST_LACKING` at most."""
    told = {(fault.missing, fault.header) for fault in faults if fault.missing}
    count = Counter(name for name, _ in told)
    return tuple(sorted(count, key=lambda name: (-count[name], name))[:MOST_LACKING])


def with_missing_macros(aside: Mapping[str, Sequence[HeaderFault]]) -> list[HeaderFault]:
    """The errors of headers that are set aside at which a macro may be missing."""
    return [fault for faults in aside.values() for fault in faults if fault.defines]


def hint_of(faults: Iterable[HeaderFault], *, hide: Sequence[str] = ()) -> str:
    """How to mend what did not parse: what to give, or which headers to ``hide``, which are then not parsed at all."""
    cure = _cure(list(faults))
    if not hide:
        return cure
    options = " ".join(f"--private-header {each}" for each in hide)
    return f"{cure}; where programs do not include {'it' if len(hide) == 1 else 'them'} by name: {options}"


def _cure(faults: Sequence[HeaderFault]) -> str:
    names = sorted({fault.missing for fault in faults} - {""})
    if standard := sorted({fault.missing for fault in faults if fault.missing and is_of_cpp(fault)}):
        return (
            f"{' and '.join(standard[:3])}: headers of C++ itself: name the folder of the library's system with "
            "--sysroot, or install a C++ compiler for it"
        )
    if names:
        return f"name the folder that holds {' and '.join(names[:3])} with --include-dir"
    if macros := sorted({each for fault in faults for each in fault.defines})[:3]:
        named = " and ".join(each.partition("=")[0].partition("(")[0] for each in macros)
        defines = " ".join(f"--define {each}" if "(" not in each else f"--define '{each}'" for each in macros)
        return (
            f"if the build defines {named}: {defines}; or give the header that does, or its folder with --include-dir"
        )
    return "name what is missing with --define, --std, --language or --clang-arg, or hide it with --private-header"
