"""One source text that includes all headers, and the arguments with which it is compiled."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

import msgspec

from abistore.confinement import is_file
from abistore.errors import HeaderError
from abistore.extract.headers.compile_commands import CommonFlags
from abistore.extract.headers.given import GivenHeader, GivenHeaders
from abistore.extract.headers.language import Reading
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.headers.standard.asked import StandardIncludes
from abistore.extract.headers.toolchain import HeaderToolchain

UMBRELLA = {"c": "/abistore/headers.c", "c++": "/abistore/headers.cpp"}
"""What the text is called. It is on no disk."""

_EXPECTED = ("stdarg.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h", "sys/types.h")
"""Headers of the system that old C headers use and leave to their consumers to include (``FILE``, ``size_t``)."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_FOLDER = re.compile("-isystem|-iquote|-idirafter|-I")
_MOST_PARENTS = 8


def umbrella(
    headers: Iterable[GivenHeader],
    *,
    expected: bool = False,
    without: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> str:
    """The text that includes ``headers`` in this order, after what some of them expect if that is wanted.

    Each is included ``without`` the macros that are given for its name.
    """
    lines = [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in _EXPECTED] if expected else []
    for each in headers:
        lines += [
            *(f"#undef {macro}" for macro in sorted(without.get(each.name, ()))),
            f"#include {_quoted(each.path)}",
        ]
    return "".join(f"{line}\n" for line in lines)


def _quoted(path: Path) -> str:
    """A path as ``#include`` takes it. Raises :class:`HeaderError` for one that it cannot take."""
    text = str(path)
    if "\n" in text or ('"' in text and ">" in text):
        raise HeaderError(f"{path.name}: its path has characters that no #include can name", "move it elsewhere")
    return f"<{text}>" if '"' in text else f'"{text}"'


class SearchedFolders(msgspec.Struct, frozen=True):
    """Where given headers are found: the ``first`` folders before those of the system, the ``last`` behind them."""

    first: tuple[Path, ...]
    last: tuple[Path, ...] = ()


class Invocation(msgspec.Struct, frozen=True):
    """How the umbrella is compiled, but for its language and standard.

    ``edited`` are files that are read from memory instead of from the disk. ``standard`` is what the
    headers include of the C++ library. ``mode`` are the arguments for programs that are built in another mode.
    """

    toolchain: HeaderToolchain
    options: HeaderOptions
    flags: CommonFlags
    folders: SearchedFolders
    edited: Mapping[str, str] = {}
    standard: StandardIncludes = StandardIncludes()
    mode: tuple[str, ...] = ()

    @property
    def system_folders(self) -> tuple[Path, ...]:
        """Where the system's headers are, without links."""
        return tuple(Path(os.path.realpath(folder)) for folder in self.toolchain.folders)

    def with_types_alone(self) -> Invocation:
        """The same, with the types of intrinsics alone."""
        return msgspec.structs.replace(self, toolchain=self.toolchain.with_types_alone())

    def arguments(self, reading: Reading) -> list[str]:
        """The arguments for one reading. What the caller passes on comes last, so that it wins."""
        return [
            *self.own_arguments(reading),
            *(f"-I{folder}" for folder in self.folders.first),
            *(f"-I{folder.absolute()}" for folder in self.options.include_dirs),
            *self._named,
            *self.flags.folders,
            *(f"-idirafter{folder}" for folder in self.folders.last),
            *self.options.clang_args,
            *self.mode,
        ]

    def own_arguments(self, reading: Reading) -> list[str]:
        """The arguments for the headers of the system alone."""
        return [
            f"-x{reading.language}",
            f"-std={reading.standard}",
            *self.toolchain.arguments,
            "-w",
            "-ferror-limit=0",
            "-fno-spell-checking",  # takes long where much is misspelled, and tells names of other files
            *self.flags.macros,
            *(f"-D{macro}" for macro in self.options.defines),
        ]

    @property
    def _named(self) -> Iterator[str]:
        """The folders by which headers name others: behind the system's where one has a ``features.h`` as these do."""
        for folder in self.options.named_dirs:
            hides = _hides(folder, tuple(self.toolchain.folders))
            yield f"{'-idirafter' if hides else '-I'}{folder.absolute()}"

    @property
    def searched(self) -> Iterator[Path]:
        """The folders that are searched before those of the system, or may be."""
        yield from self.folders.first
        yield from (folder.absolute() for folder in (*self.options.include_dirs, *self.options.named_dirs))
        yield from (Path(_FOLDER.sub("", each)) for each in self.flags.folders)


@cache
def _hides(folder: Path, system: tuple[Path, ...]) -> bool:
    """Whether a folder has a file that is called like a header of the system."""
    names = [each.name for each in folder.iterdir() if each.is_file()]
    return any(is_file(each / name) for each in system for name in names)


def include_folders(given: GivenHeaders, texts: Sequence[str]) -> SearchedFolders:
    """The folders that given headers are found from: their own, and folders around them that they name.

    ``#include <foo/bar.h>`` in ``include/foo/baz.h`` is found from ``include``, where only ``include/foo`` was given.
    Consumers do not search ``include/foo`` then: a ``features.h`` in it is not what the C library means by its own.
    """
    own = dict.fromkeys(folder.path for folder in given.folders)
    named = {name for text in texts for name in _INCLUDE.findall(text) if "/" in name and not name.startswith("/")}
    folders = tuple(dict.fromkeys((*own, *_around(tuple(own), sorted(named)))))
    last = set(_named_from_above(folders, named))
    return SearchedFolders(
        tuple(each for each in folders if each not in last), tuple(each for each in folders if each in last)
    )


def _named_from_above(folders: Sequence[Path], named: Iterable[str]) -> Iterator[Path]:
    """The folders of which headers include files by a name that begins in another one, in which they lie."""
    files = dict[str, list[str]]()
    for name in named:
        for slash in re.finditer("/", name):
            files.setdefault(name[: slash.start()], []).append(name[slash.end() :])
    known = set(folders)
    for folder in folders:
        starts = (each for each in folder.parents if each in known)
        if any(is_file(folder / file) for each in starts for file in files.get(str(folder.relative_to(each)), ())):
            yield folder


def _around(folders: Sequence[Path], named: Sequence[str]) -> Iterator[Path]:
    missing = [name for name in named if not any(is_file(folder / name) for folder in folders)]
    for folder in folders:
        for name in missing:
            first = name.partition("/")[0]
            for each in (folder, *folder.parents[:_MOST_PARENTS]):
                if each.name == first and is_file(each.parent / name):
                    yield each.parent
