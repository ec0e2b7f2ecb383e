"""How given headers are compiled: language, standard, folders, macros, and the text that includes them all."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from abistore.errors import HeaderError
from abistore.extract.headers.given import GivenHeader, GivenHeaders
from abistore.extract.headers.precompiled import StandardIncludes
from abistore.extract.headers.toolchain import HeaderToolchain
from abistore.extract.reader import HeaderOptions, Language
from abistore.files import is_file, open_file

MOST_DATABASE_BYTES = 64 << 20

_FOLDER_OPTIONS = ("-isystem", "-iquote", "-idirafter", "-I")

_HINT = "create it again, e.g. with cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"


class CompileCommand(msgspec.Struct):
    """One entry of the file (the JSON Compilation Database format of clang)."""

    directory: str
    file: str
    arguments: list[str] | None = None
    command: str | None = None


class CommonFlags(msgspec.Struct, frozen=True):
    """The flags shared by the compile commands of a library. ``folders`` are arguments, ``-I/src/include``."""

    folders: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    standards: dict[Language, str] = {}


class _Flags(NamedTuple):
    folders: list[str]
    macros: list[str]
    standard: str | None


def common_flags(options: HeaderOptions, given: GivenHeaders) -> CommonFlags:
    """The flags of the compile commands that ``options`` name, if any. Raises :class:`HeaderError`."""
    if options.compile_commands is None:
        return CommonFlags()
    return read_compile_commands(options.compile_commands, (folder.path for folder in given.folders))


def read_compile_commands(path: Path, beside: Iterable[Path]) -> CommonFlags:
    """The flags of the entries whose sources are beside the folders ``beside``; of all, where none is.

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
    return CommonFlags(tuple(folders), tuple(macros), _named_standards(each.standard for each in flags))


def _read(path: Path) -> list[CompileCommand]:
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        with os.fdopen(open_file(path), "rb") as file:
            data = file.read(MOST_DATABASE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise HeaderError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}", _HINT) from None
    if len(data) > MOST_DATABASE_BYTES:
        raise HeaderError(
            f"{path}: more than {MOST_DATABASE_BYTES >> 20} MB", "pass only the compile commands of the library"
        )
    try:
        found = msgspec.json.decode(data, type=list[CompileCommand])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise HeaderError(f"{path}: not a compile_commands.json: {error}", _HINT) from None
    if not found:
        raise HeaderError(f"{path}: the list of compile commands is empty", _HINT)
    return found


def _project(folder: Path) -> Path:
    """The project's folder for headers in ``folder``: the one around ``include``, or ``folder`` itself."""
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
        kind = next((each for each in (*_FOLDER_OPTIONS, "-D", "-U", "-std=") if word.startswith(each)), None)
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


def _named_standards(found: Iterable[str | None]) -> dict[Language, str]:
    """The standard of each language that most commands name; the newest of several."""
    counts = Counter(each for each in found if each)
    by_language: dict[Language, str] = {}
    for standard in _by_frequency(counts):
        by_language.setdefault("c++" if "++" in standard else "c", standard)
    return by_language


def _by_frequency(counts: Counter[str]) -> Sequence[str]:
    newest = sorted(counts, reverse=True)
    return sorted(newest, key=lambda standard: -counts[standard])


CPP_SUFFIXES = (".hh", ".hpp", ".hxx", ".h++", ".H", ".hp", ".cuh")
STANDARDS: dict[Language, tuple[str, ...]] = {
    "c++": ("gnu++17", "gnu++20", "gnu++23", "gnu++14"),
    "c": ("gnu17", "gnu23"),
}
"""What is tried, in this order, while headers do not parse. The first are what GCC 11 and clang 16 and later take."""

_TOKENS = re.compile(
    r"""//[^\n]* | /\*(?:.*?\*/|.*) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*(?P<directive>if|ifdef|ifndef|elif|else|endif)\b(?P<condition>(?:\\\n|[^\n])*)
    | ^[ \t]*\#(?:\\\n|[^\n])*
    | \b(?P<word>namespace\s+[A-Za-z_{] | class\s+[A-Za-z_] | template\s*< | (?:public|protected|private)\s*:
        | (?:virtual|explicit|constexpr|typename|friend)\s | operator\s*[^\w\s] | using\s+[A-Za-z_]\w*\s*[=;:])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_MENTIONS = re.compile(r"\b__cplusplus\b")
_UNLESS = re.compile(r"!\s*(?:defined\s*\(?\s*)?__cplusplus\b")


class Reading(msgspec.Struct, frozen=True):
    """One way to read headers."""

    language: Language
    standard: str


def is_newer(reading: Reading, than: Reading) -> bool:
    """Whether a reading is of a later standard of the same language."""
    return reading.language == than.language and _year(reading) > _year(than)


def newest(readings: Sequence[Reading], than: Reading) -> Reading:
    """The latest standard after that of a reading, or else the first of the others.

    Errors that it does not remove, no standard between the two does.
    """
    newer = [each for each in readings if is_newer(each, than)]
    return max(newer, key=_year) if newer else readings[0]


def _year(reading: Reading) -> int:
    """The year of a standard: 2017 of ``gnu++17``."""
    digits = re.sub(r"\D", "", reading.standard.replace("2x", "23").replace("2a", "20").replace("2b", "23"))
    return (int(digits or 0) - 89) % 100


def is_cpp(name: str, text: str) -> bool:
    """Whether only a C++ compiler can read a header: by its name, or by words outside of ``#ifdef __cplusplus``."""
    return Path(name).suffix in CPP_SUFFIXES or any(_cpp_words(text))


def readings(
    options: HeaderOptions, usual: Mapping[Language, str], headers: Iterable[tuple[str, str]], *, cpp_exports: bool
) -> Sequence[Reading]:
    """The languages and standards to try for headers (names and texts), the best guess first.

    ``usual`` are the standards of the library's own build, where known.

    C++ where a C compiler could not read them, or where the library exports C++ symbols, so that declarations get
    mangled names. Otherwise C, as their C consumers read them.
    """
    language, standard = options.language, options.standard
    if language is None and standard is not None:
        language = "c++" if "++" in standard else "c"
    if language is not None:
        return [Reading(language, each) for each in ([standard] if standard else _standards(language, usual))]
    only_cpp = any(is_cpp(name, text) for name, text in headers)
    order: tuple[Language, Language] = ("c++", "c") if only_cpp or cpp_exports else ("c", "c++")
    first, second = ([Reading(each, standard) for standard in _standards(each, usual)] for each in order)
    return first if only_cpp else [*first, second[0]]


def _standards(language: Language, usual: Mapping[Language, str]) -> Sequence[str]:
    known = [usual[language]] if language in usual else []
    return list(dict.fromkeys((*known, *STANDARDS[language])))


def _cpp_words(text: str) -> Iterator[str]:
    """The words of C++ outside of conditions on ``__cplusplus``, where a C compiler meets them."""
    guards: list[bool | None] = []
    for token in _TOKENS.finditer(text):
        directive = token["directive"]
        if directive is None:
            if token["word"] and True not in guards:
                yield token["word"]
        elif directive.startswith("if"):
            guards.append(_asks_for_cpp(directive, token["condition"]))
        elif guards:
            _go_on(guards, directive, token["condition"])


def _asks_for_cpp(directive: str, condition: str) -> bool | None:
    """Whether a condition holds only in C++ (true) or only in C (false); ``None`` for other conditions."""
    if not _MENTIONS.search(condition):
        return None
    return directive != "ifndef" and not _UNLESS.search(condition)


def _go_on(guards: list[bool | None], directive: str, condition: str) -> None:
    before = guards.pop()
    if directive == "else":
        guards.append(None if before is None else not before)
    elif directive == "elif":
        guards.append(_asks_for_cpp(directive, condition))


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
    """A text that includes ``headers`` in this order, after common system headers if ``expected``.

    Each is included ``without`` the macros listed for its name.
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
    """Include folders of given headers: the ``first`` before those of the system, the ``last`` behind them."""

    first: tuple[Path, ...]
    last: tuple[Path, ...] = ()


class Invocation(msgspec.Struct, frozen=True):
    """How the umbrella is compiled, except for its language and standard.

    ``edited`` are files read from memory. ``standard`` are the included headers of the C++ library. ``mode`` are the
    arguments of another build mode.
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
        """The include folders of packages; behind the system's if they have a file like one of the system's."""
        for folder in self.options.named_dirs:
            hides = _hides(folder, tuple(self.toolchain.folders))
            yield f"{'-idirafter' if hides else '-I'}{folder.absolute()}"

    @property
    def searched(self) -> Iterator[Path]:
        """The folders that may be searched before those of the system."""
        yield from self.folders.first
        yield from (folder.absolute() for folder in (*self.options.include_dirs, *self.options.named_dirs))
        yield from (Path(_FOLDER.sub("", each)) for each in self.flags.folders)


@cache
def _hides(folder: Path, system: tuple[Path, ...]) -> bool:
    names = [each.name for each in folder.iterdir() if each.is_file()]
    return any(is_file(each / name) for each in system for name in names)


def include_folders(given: GivenHeaders, texts: Sequence[str]) -> SearchedFolders:
    """The include folders of given headers: their own, and folders around them that their includes need.

    ``#include <foo/bar.h>`` in ``include/foo/baz.h`` needs ``include``, where only ``include/foo`` was given. Consumers
    do not search ``include/foo`` then: a ``features.h`` in it must not replace that of the C library.
    """
    own = dict.fromkeys(folder.path for folder in given.folders)
    named = {name for text in texts for name in _INCLUDE.findall(text) if "/" in name and not name.startswith("/")}
    folders = tuple(dict.fromkeys((*own, *_around(tuple(own), sorted(named)))))
    last = set(_named_from_above(folders, named))
    return SearchedFolders(
        tuple(each for each in folders if each not in last), tuple(each for each in folders if each in last)
    )


def _named_from_above(folders: Sequence[Path], named: Iterable[str]) -> Iterator[Path]:
    """The folders whose headers include files by a name that starts in a folder above them."""
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


SEARCHED: Final = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")
"""The environment's folders, which compilers search as well."""


def may_be_precompiled(invocation: Invocation) -> bool:
    """Whether headers of the C++ library are included, and nothing unknown changes where they are found."""
    plain = not (invocation.options.clang_args or invocation.edited or any(map(os.environ.get, SEARCHED)))
    return plain and bool(invocation.standard.names)
