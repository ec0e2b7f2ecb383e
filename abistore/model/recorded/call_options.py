"""Compiler options that decide how values get into functions and out of them, as ``DW_AT_producer`` records them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from abistore.model.snapshot import Target

Concern: TypeAlias = Literal[
    "arguments", "empty classes", "every call", "floats", "float results", "floats alone", "integer registers",
    "long double", "shown elsewhere", "small structs", "stack", "vectors of 32", "vectors of 64",
]  # fmt: skip
"""What is passed differently with an option; ``shown elsewhere`` is what sizes, offsets and symbols tell."""

X86: Final = r"(?:x86_64|i386)\b"
IN_MEMORY: Final = r"i386 elf (?!freebsd|netbsd|openbsd)"
"""The systems that return every struct in memory without being asked."""

BEFORE_12: Final = r"(?:[2-9]|1[01])"
"""The versions of GCC's C++ ABI that pass empty classes and those without usable copies in another way."""


class CallOption(msgspec.Struct, frozen=True):
    """Options for one thing, on the platforms that begin so. The last one holds, or any where each asks for ``more``.

    ``usual`` is what is as without any option. ``written`` is what stands for all others, where they are all alike.
    """

    concern: Concern
    options: str
    usual: str
    platforms: str = ""
    written: str | None = None
    more: bool = False

    def of(self, words: Iterable[str]) -> str | None:
        """The option among ``words`` that is in force, where it is not the usual one."""
        said = [word for word in words if re.fullmatch(self.options, word)]
        in_force = [word for word in (said if self.more else said[-1:]) if not re.fullmatch(self.usual, word)]
        return (self.written or in_force[-1]) if in_force else None


CALL_OPTIONS: Final = (
    CallOption("arguments", r"-mabi=(?:ms|sysv)", "-mabi=sysv", r"x86_64 (?!pe)"),
    CallOption("arguments", r"-mabi=(?:ms|sysv)", "-mabi=ms", r"x86_64 pe"),
    CallOption("small structs", r"-f(?:pcc|reg)-struct-return", "-fpcc-struct-return", IN_MEMORY),
    CallOption("small structs", r"-f(?:pcc|reg)-struct-return", "-freg-struct-return", rf"(?!{IN_MEMORY})"),
    CallOption("integer registers", r"-mregparm=\d", "-mregparm=0", "i386"),
    CallOption("stack", r"-m(?:no-)?rtd", "-mno-rtd", "i386|m68k"),
    CallOption("floats alone", r"-m(?:no-)?sseregparm", "-mno-sseregparm", "i386"),
    CallOption("long double", r"-mlong-double-\d+", "-mlong-double-(?:64|80)", X86),
    CallOption("float results", r"-m(?:hard|soft)-float|-m(?:no-)?(?:80387|fp-ret-in-387)",
               "-mhard-float|-m80387|-mfp-ret-in-387", "i386", "-msoft-float", more=True),
    CallOption("floats", r"-mfloat-abi=\w+|-m(?:hard|soft)-float", "-m(?:float-abi=)?soft.*", r"arm "),
    CallOption("floats", r"-mfloat-abi=\w+|-m(?:hard|soft)-float", "-m(?:float-abi=)?hard.*", r"(?!arm |i386)"),
    CallOption("vectors of 32", r"-m(?:no-)?avx\S*|-march=x86-64-v\d", "-mno-.*|-march=x86-64-v2", X86, "-mavx", True),
    CallOption("vectors of 64", r"-m(?:no-)?avx512\w+|-march=x86-64-v4", "-mno-.*", X86, "-mavx512f", more=True),
    CallOption("every call", r"-fcall-(?:used|saved)-\S+", "", more=True),
    CallOption("empty classes", r"-fabi-version=\d+", rf"-fabi-version=(?!{BEFORE_12}$)\d+", "x86_64",
               "-fabi-version=11"),
    CallOption("shown elsewhere", r"-fabi-version=\d+|-mlong-double-64", "-fabi-version=0"),
)  # fmt: skip
"""What psABIs and compilers let options decide: the manual of GCC, "C++ Dialect", "Code Gen" and "Submodel" options."""


def in_force(producer: str, target: Target) -> tuple[tuple[Concern, str], ...]:
    """What one unit's options decide about its calls for a target, without what is usual there."""
    return _in_force(producer, _platform(target))


@cache
def _in_force(producer: str, platform: str) -> tuple[tuple[Concern, str], ...]:
    words = [word for word in producer.split() if word.startswith("-")]
    chosen = (each for each in _options_of(platform) if each.concern != "shown elsewhere")
    return tuple((each.concern, word) for each in chosen if (word := each.of(words)))


def about_calls(words: Iterable[str], target: Target) -> tuple[frozenset[str], frozenset[str]]:
    """The options of which it is known what they concern on a target, and those of them that are not usual there."""
    options = _options_of(_platform(target))
    known = {word: [each for each in options if re.fullmatch(each.options, word)] for word in words}
    unusual = (word for word, own in known.items() if any(not re.fullmatch(each.usual, word) for each in own))
    return frozenset(word for word, own in known.items() if own), frozenset(unusual)


@cache
def _options_of(platform: str) -> tuple[CallOption, ...]:
    return tuple(each for each in CALL_OPTIONS if re.match(each.platforms, platform))


def _platform(target: Target) -> str:
    return f"{target.machine} {target.format} {target.os_abi}"


def passes_deleted_by_value(producer: str) -> bool:
    """Whether a class without usable copies still goes by value: before version 12 of GCC's C++ ABI."""
    said = re.findall(r" -fabi-version=(\d+)", producer)
    return bool(said) and re.fullmatch(BEFORE_12, said[-1]) is not None
