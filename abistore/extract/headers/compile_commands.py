"""What a compilation database says about reading headers: include folders, macros, the standard."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from abistore.confinement import open_file
from abistore.errors import HeaderError
from abistore.extract.headers.options import Language

MOST_BYTES = 64 << 20
_FOLDERS = ("-isystem", "-iquote", "-idirafter", "-I")
_HINT = "write it again, e.g. with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"


class CompileCommand(msgspec.Struct):
    """One entry of the file (the JSON Compilation Database format of clang)."""

    directory: str
    file: str
    arguments: list[str] | None = None
    command: str | None = None


class CommonFlags(msgspec.Struct, frozen=True):
    """What the commands of a library share. ``folders`` are arguments, ``-I/src/include``, in the order found."""

    folders: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    standards: dict[Language, str] = {}


class _Flags(NamedTuple):
    folders: list[str]
    macros: list[str]
    standard: str | None


def read_compile_commands(path: Path, beside: Iterable[Path]) -> CommonFlags:
    """The flags of the entries whose sources lie beside the folders ``beside``; of all, where none does.

    Include folders are those of any entry, macros those that all entries have, the standard is the most frequent of
    each language. Raises :class:`HeaderError`.
    """
    entries = _read(path)
    projects = [_project(folder) for folder in beside]
    own = [each for each in entries if any(_source(each).is_relative_to(project) for project in projects)]
    flags = [_flags(each) for each in own or entries]
    folders = dict.fromkeys(folder for each in flags for folder in each.folders)
    shared = set.intersection(*(set(each.macros) for each in flags)) if flags else set()
    macros = dict.fromkeys(macro for each in flags for macro in each.macros if macro in shared)
    return CommonFlags(tuple(folders), tuple(macros), _standards(each.standard for each in flags))


def _read(path: Path) -> list[CompileCommand]:
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        with os.fdopen(open_file(path), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise HeaderError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}", _HINT) from None
    if len(data) > MOST_BYTES:
        raise HeaderError(f"{path}: more than {MOST_BYTES >> 20} MB", "name the compile commands of the library alone")
    try:
        found = msgspec.json.decode(data, type=list[CompileCommand])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HeaderError(f"{path}: no compile commands: {error}", _HINT) from None
    if not found:
        raise HeaderError(f"{path}: no compile commands: the list is empty", _HINT)
    return found


def _project(folder: Path) -> Path:
    """The folder of a project that has headers in ``folder``: around ``include``, or that of the headers itself."""
    for each in (folder, *folder.parents):
        if each.name == "include" and each != Path("/usr/include"):
            return each.parent
    return folder


def _source(entry: CompileCommand) -> Path:
    return Path(os.path.normpath(Path(entry.directory) / entry.file))


def _flags(entry: CompileCommand) -> _Flags:
    found = _Flags([], [], None)
    words = _words(entry)
    for word in words:
        kind = next((each for each in (*_FOLDERS, "-D", "-U", "-std=") if word.startswith(each)), None)
        if kind is None:
            continue
        value = word[len(kind) :] or next(words, "")
        if kind == "-std=":
            found = found._replace(standard=value)
        elif kind in ("-D", "-U"):
            found.macros.append(kind + value)
        elif value:
            found.folders.append(kind + os.path.normpath(Path(entry.directory) / value))
    return found


def _words(entry: CompileCommand) -> Iterator[str]:
    if entry.arguments is not None:
        return iter(entry.arguments)
    try:
        return iter(shlex.split(entry.command or ""))
    except ValueError:
        return iter(())


def _standards(found: Iterable[str | None]) -> dict[Language, str]:
    """The standard of each language that most commands name; the newest of several."""
    counts = Counter(each for each in found if each)
    by_language: dict[Language, str] = {}
    for standard in _by_frequency(counts):
        by_language.setdefault("c++" if "++" in standard else "c", standard)
    return by_language


def _by_frequency(counts: Counter[str]) -> Sequence[str]:
    newest = sorted(counts, reverse=True)
    return sorted(newest, key=lambda standard: -counts[standard])
