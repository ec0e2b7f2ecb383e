"""Which headers are public, and how a compiler of consumers would read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Language: TypeAlias = Literal["c", "c++"]
"""The language of consumers that include the headers."""


class HeaderOptions(msgspec.Struct, frozen=True):
    """The public headers of a library.

    ``headers`` are files, and folders of which all headers are public but those that match a pattern of ``private``
    (relative to the folder: ``detail/*``, ``*_p.h``). What a header declares only where an undefined macro is defined
    is not public unless ``defines`` has the macro (``NAME`` or ``NAME=VALUE``). ``include_dirs`` are searched for what
    headers include; ``standard`` is as for ``-std``. ``compile_commands`` is a file that CMake and others write, from
    which include folders, macros and the standard are taken. ``target`` is a triple, else what the binary is for;
    ``clang_args`` are passed on last. With ``projects``, only what these name in the folders is public: a header, or a
    folder with all in it. With ``library``, they are the headers of that library only. ``configured``
    headers are those of a project, and not of one file: a JSON snapshot is read without them.
    """

    headers: tuple[Path, ...]
    private: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    language: Language | None = None
    compile_commands: Path | None = None
    target: str | None = None
    sysroot: Path | None = None
    clang_args: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    library: str | None = None
    configured: bool = False


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
