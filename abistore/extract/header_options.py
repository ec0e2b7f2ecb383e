"""Which headers are public and how a compiler would read them, edits of them, and what they declare."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from abistore.files import exists
from abistore.model.declarations import Name
from abistore.model.labels import Given, check_not_blank
from abistore.model.snapshot import Evidence, HeadersRead, Location, Target, Variants

Language: TypeAlias = Literal["c", "c++"]
"""The language of consumers that include the headers."""


class HeaderOptions(Given, frozen=True):
    """The public headers of a library.

    ``headers`` are files, and folders of which all headers are public but those that match a pattern of ``private``
    (relative to the folder: ``detail/*``, ``*_p.h``). What a header declares only where an undefined macro is defined
    is not public unless ``defines`` has the macro (``NAME`` or ``NAME=VALUE``). ``include_dirs`` are searched for what
    headers include, and ``named_dirs`` behind them: one that would hide a header of the system, behind its folders.
    ``lent_dirs`` are those of them that belong to other projects: what stands there is none of the library's.
    ``standard`` is as for ``-std``. ``compile_commands`` is a file that CMake and others write, from which include
    folders, macros and the standard are taken. ``target`` is a triple, else what the binary is for; ``clang_args`` are
    passed on last. With ``projects``, only what these name in the folders is public: a header, or a folder with all in
    it. With ``library``, they are the headers of that library only, and ``others`` are those of other libraries that
    are read with it. ``configured`` headers are those of a project, and not of one file: a JSON snapshot is read
    without them.
    """

    headers: tuple[Path, ...]
    private: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    named_dirs: tuple[Path, ...] = ()
    lent_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    language: Language | None = None
    compile_commands: Path | None = None
    target: str | None = None
    sysroot: Path | None = None
    clang_args: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    library: str | None = None
    others: tuple[HeaderOptions, ...] = ()
    configured: bool = False

    @classmethod
    def given(cls, headers: Sequence[str | Path], **said: Any) -> HeaderOptions | None:
        """The options for files and folders, each of which may name its library: ``libfoo=include/foo``.

        ``said`` is about all of them. A path that there is names none, whatever is in it. ``None`` without headers.
        """
        found: dict[str, list[Path]] = {}
        for each in headers:
            library, path = _named(str(each))
            found.setdefault(library, []).append(path)
        made = [cls(tuple(found[name]), library=name or None, **said) for name in sorted(found)]
        return msgspec.structs.replace(made[0], others=tuple(made[1:])) if made else None

    def of(self, library: str) -> HeaderOptions | None:
        """The headers of one library: those that name it, else those that name none."""
        for wanted in (library, None):
            for each in (self, *self.others):
                if each.library == wanted:
                    return msgspec.structs.replace(each, others=())
        return None

    @property
    def named(self) -> frozenset[str]:
        """The libraries that are named."""
        return frozenset(each.library for each in (self, *self.others) if each.library is not None)


def _named(text: str) -> tuple[str, Path]:
    """The library that ``LIBRARY=PATH`` names, if any, and the path."""
    library, equals, path = text.partition("=")
    if not equals or "/" in library or os.sep in library or exists(Path(text)):
        return "", Path(text)
    for each in (library, path):
        check_not_blank(f"one side of {text}", each)
    return library, Path(path)


class EditedHeader(msgspec.Struct, frozen=True):
    """What a header would hold; ``None`` where an edit takes it away."""

    path: Path
    text: str | None


class HeaderEdits(msgspec.Struct, frozen=True):
    """What is read in place of what the headers hold on disk.

    ``declarations`` is text in C or C++ of which each declaration takes the place of the one of its name.
    """

    files: tuple[EditedHeader, ...] = ()
    declarations: str = ""


NO_EDITS = HeaderEdits()


class HeaderRequest(msgspec.Struct, frozen=True):
    """Which headers to read for which binary, below which folders (``roots``), within which limits.

    ``cpp_exports`` tells that the binary exports C++ symbols, ``runtime`` that it is the C++ runtime itself.
    ``silence`` is for how many seconds nothing may happen. ``edits`` are read in place of what is on disk.
    """

    options: HeaderOptions
    target: Target
    cpp_exports: bool
    runtime: bool
    roots: tuple[str, ...] | None
    seconds: int
    memory: int
    silence: float
    edits: HeaderEdits = NO_EDITS


class HeaderReading(msgspec.Struct, frozen=True):
    """What headers declare, and how much of them could be read; ``read`` is ``None`` where nothing could."""

    entries: tuple[tuple[Name, Variants], ...]
    locations: tuple[tuple[Name, Location], ...]
    evidence: Evidence
    read: HeadersRead | None = None
