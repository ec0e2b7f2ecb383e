"""Headers of the C++ library that given headers include, parsed once and kept between runs.

A unit that goes on from them means the same as one that includes them where no macro says otherwise: one of theirs that
a header would have met, or one of a header that they would not have met yet.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec

from abistore.extract.headers import clang, cursors
from abistore.extract.headers.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.macros import UNDEFINED
from abistore.extract.headers.tokens import TOKEN, SourceText
from abistore.files import is_file
from abistore.model.declarations import blake2b

STANDARD: Final = frozenset(
    {
        *("algorithm", "any", "array", "atomic", "barrier", "bit", "bitset", "ccomplex", "cctype", "cerrno"),
        *("cfenv", "cfloat", "charconv", "chrono", "cinttypes", "ciso646", "climits", "clocale", "cmath"),
        *("codecvt", "compare", "complex", "concepts", "condition_variable", "coroutine", "csetjmp", "csignal"),
        *("cstdalign", "cstdarg", "cstdbool", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctgmath"),
        *("ctime", "cuchar", "cwchar", "cwctype", "deque", "exception", "execution", "expected", "filesystem"),
        *("format", "forward_list", "fstream", "functional", "future", "generator", "initializer_list", "iomanip"),
        *("ios", "iosfwd", "iostream", "istream", "iterator", "latch", "limits", "list", "locale", "map"),
        *("mdspan", "memory", "memory_resource", "mutex", "new", "numbers", "numeric", "optional", "ostream"),
        *("print", "queue", "random", "ranges", "ratio", "regex", "scoped_allocator", "semaphore", "set"),
        *("shared_mutex", "source_location", "span", "spanstream", "sstream", "stack", "stacktrace", "stdexcept"),
        *("stdfloat", "stop_token", "streambuf", "string", "string_view", "strstream", "syncstream"),
        *("system_error", "thread", "tuple", "type_traits", "typeindex", "typeinfo", "unordered_map"),
        *("unordered_set", "utility", "valarray", "variant", "vector", "version"),
    }
)
"""The headers of C++23 ([headers]) and those that it took out. They mean the same in any order and any number of times
([using.headers]); ``<cassert>``, which does not, is none of them."""

DIRECTIVE: Final = re.compile(r"^[ \t]*#[ \t]*([a-z]+)[ \t]*(.*)", re.MULTILINE)
MOST_FILES: Final = 2000

TextOf = Callable[[Path], str]
"""The text of a header."""


class StandardIncludes(msgspec.Struct, frozen=True):
    """The names of headers of the C++ library, and a digest of the text of those that include them."""

    names: tuple[str, ...] = ()
    consumers: str = ""


def standard_includes(starts: Mapping[Path, str], folders: Sequence[Path], text: TextOf) -> StandardIncludes:
    """What headers include of the C++ library outside of any condition, in the order in which a compiler meets it.

    ``starts`` are headers with their texts. What these include from beside them, or from ``folders``, is followed.
    """
    walk = _StandardWalk(folders, text)
    for path, written in starts.items():
        walk.follow(path, written)
    digest = blake2b("\0".join(starts.values()).encode(errors="surrogateescape"), digest_size=16).hexdigest()
    return StandardIncludes(tuple(walk.found), digest)


class _StandardWalk:
    """Follows includes as a compiler does."""

    def __init__(self, folders: Sequence[Path], text: TextOf) -> None:
        self.found: dict[str, None] = {}
        self._folders = folders
        self._text = text
        self._seen = set[str]()
        self._place = lru_cache(None)(self._find)

    def follow(self, path: Path, text: str) -> None:
        """Note what ``text`` includes, and what that includes."""
        pending = [self._next(path, text)]
        while pending:
            found = next(pending[-1], None)
            if found is None:
                pending.pop()
            elif len(self._seen) < MOST_FILES:
                pending.append(self._next(found, self._text(found)))

    def _next(self, path: Path, text: str) -> Iterator[Path]:
        """The headers of no system that a header includes, where they were not met."""
        if (real := os.path.realpath(path)) in self._seen:
            return
        self._seen.add(real)
        for name, quoted in included(text):
            place = self._place(name, path.parent if quoted else None)
            if place is not None:
                yield place
            elif name in STANDARD:
                self.found[name] = None

    def _find(self, name: str, beside: Path | None) -> Path | None:
        around = [beside, *self._folders] if beside is not None else self._folders
        return next((found for folder in around if is_file(found := folder / name)), None)


def included(text: str) -> Iterator[tuple[str, bool]]:
    """What a header includes outside of any condition but its own guard; whether it is in quotation marks."""
    directives = DIRECTIVE.findall(text)
    guarded = len(directives) > 1 and directives[0][0].startswith("if") and directives[1][0] == "define"
    depth = 0
    for word, rest in directives:
        if word.startswith("if"):
            depth += 1
        elif word == "endif":
            depth -= 1
        elif word == "include" and depth <= guarded:
            name = rest[1:].partition(">" if rest[:1] == "<" else '"')[0]
            if rest[:1] in ("<", '"') and name:
                yield name, rest[0] == '"'


State: TypeAlias = tuple[int, int, int, int]
"""A file's size, the times of its last writing and change in nanoseconds, and its number on its disk."""


class StandardRecord(msgspec.Struct, frozen=True):
    """Headers of the C++ library, parsed as one text. All paths are without links.

    ``files`` are what was read, ``folders`` where it was looked for, with the times of their last writing; ``None``
    for one that was not there. ``headers`` are the files of the headers asked for. ``includes`` tells which files each
    includes, ``names`` which files are meant by what stands in their includes. ``words`` are all words in them,
    ``usual`` those of them that are macros before anything is read, ``macros`` those that are at the end, with the
    files that define them.
    """

    digest: str
    headers: tuple[str, ...]
    files: Mapping[str, State]
    folders: Mapping[str, int | None]
    includes: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    words: frozenset[str]
    usual: frozenset[str]
    macros: Mapping[str, tuple[str, ...]]

    def is_current(self) -> bool:
        """Whether all files are as they were, and none that would be found before them may have come."""
        try:
            return all(state(path) == known for path, known in self.files.items()) and all(
                written(folder) == known for folder, known in self.folders.items()
            )
        except OSError:
            return False

    def is_shadowed(self, folders: Iterable[Path]) -> bool:
        """Whether one of ``folders``, which are searched before those of the system, has another file of a name."""
        for folder in folders:
            for name, files in self.names.items():
                found = os.path.join(folder, name)  # noqa: PTH118 - a thousand of them
                if os.path.exists(found) and os.path.realpath(found) not in files:  # noqa: PTH110 - as many
                    return True
        return False

    def reached(self, files: Sequence[str]) -> Iterator[str]:
        """``files``, and what they include."""
        seen, pending = set(files), list(files)
        while pending:
            file = pending.pop()
            yield file
            for each in self.includes.get(file, ()):
                if each not in seen:
                    seen.add(each)
                    pending.append(each)


def state(path: str) -> State:
    """What tells whether a file was changed. Raises :class:`OSError`."""
    found = Path(path).stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def written(folder: str) -> int | None:
    """When something came into a folder or left it; ``None`` where there is none."""
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return None


def searched(names: Mapping[str, Iterable[str]], more: Iterable[str]) -> dict[str, int | None]:
    """The folders in which files of these names would be found, with the times of their last writing."""
    found = [(name, file) for name, files in names.items() for file in files if file.endswith(f"/{name}")]
    roots = {Path(file.removesuffix(f"/{name}")) for name, file in found}
    inner = {Path(name).parent for name in names}
    places = {str(root / each) for root in roots.union(map(Path, more)) for each in inner}
    return {place: written(place) for place in sorted(places)}


VARIABLE: Final = "ABISTORE_HEADER_CACHE"
"""Names another folder; ``off`` keeps nothing."""

MOST_KEPT_BYTES: Final = 256 << 20
"""What is kept at most. What was not used for longest goes first."""

BLOCK: Final = 4096
"""What a file takes at least."""

UNFINISHED: Final = 3600
"""Seconds after which a file that nobody finished is left by a process that was ended."""


class KeptFiles:
    """Files by a key, each with a record that tells its digest: one that was damaged is as good as none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, key: str) -> bytes | None:
        """What was recorded of a file; ``None`` where nothing is kept."""
        try:
            return self._path(key, "json").read_bytes()
        except OSError:
            return None

    def file(self, key: str, digest: str) -> Path | None:
        """The file itself; ``None`` where it is not as it was when it was kept."""
        path = self._path(key, f"{digest}.pch")
        try:
            if _digest(path) != digest:
                path.unlink()
                return None
            os.utime(path)
        except OSError:
            return None
        return path

    def count(self, key: str) -> int:
        """How often this was asked before. Raises :class:`OSError`."""
        with self._path(key, "count").open("ab") as file:
            file.write(b".")
            return file.tell() - 1

    def mark(self, key: str) -> None:
        """Remember something of a key. Raises :class:`OSError`."""
        self._path(key, "mark").touch()

    def is_marked(self, key: str) -> bool:
        """Whether something was remembered of a key."""
        return self._path(key, "mark").exists()

    def begin(self) -> Path:
        """An empty file to write into. Raises :class:`OSError`."""
        descriptor, name = tempfile.mkstemp(".new", dir=self.folder)
        os.close(descriptor)
        return Path(name)

    def keep(self, key: str, written: Path) -> tuple[str, Path]:
        """Give a finished file its name, and tell its digest. Raises :class:`OSError`."""
        digest = _digest(written)
        path = self._path(key, f"{digest}.pch")
        written.replace(path)
        self._shorten(path)
        return digest, path

    def note(self, key: str, record: bytes) -> None:
        """Record what a file is that was kept. Raises :class:`OSError`."""
        new = self.begin()
        new.write_bytes(record)
        new.replace(self._path(key, "json"))

    def _path(self, key: str, suffix: str) -> Path:
        return self.folder / f"{key}.{suffix}"

    def _shorten(self, but: Path) -> None:
        """Take away what is too much, and what nobody finished."""
        now, held = time.time(), 0
        found = [(path, state) for path in self.folder.iterdir() if (state := _state(path)) is not None]
        for path, state in sorted(found, key=lambda each: -each[1].st_mtime):
            held += max(state.st_size, BLOCK)
            abandoned = path.suffix == ".new" and now - state.st_mtime > UNFINISHED
            if path != but and (abandoned or held > MOST_KEPT_BYTES):
                with suppress(OSError):  # another process did it
                    path.unlink()


def kept_files() -> KeptFiles | None:
    """The user's folder; ``None`` where it is switched off, cannot be written, or others may write to it."""
    named = os.environ.get(VARIABLE)
    if named == "off":
        return None
    try:
        folder = Path(named) if named else _usual()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):
        return None
    own = not hasattr(os, "geteuid") or (
        state.st_uid == os.geteuid() and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
    return KeptFiles(folder) if own and os.access(folder, os.W_OK | os.X_OK) else None


def _usual() -> Path:
    """Where the user's programs keep what can be made again. Raises :class:`RuntimeError` where there is no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "abistore" / "headers"


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


PREFIX: Final = "/abistore/standard.hpp"
"""What the text that includes them is called. It is on no disk."""

FORMAT: Final = "1"

USES: Final = 2
"""How often headers are parsed with all others before they are kept, which takes longer than to parse them once: both
sides of one comparison on a machine that forgets everything need not pay for that."""

ASKED: Final = re.compile(rb"""\b__has_include(?:_next)?[ \t]*\([ \t]*[<"]([^>"\n]+)""")
"""A file of which a header wants to know whether it is there."""

DEFINED: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
COMMENTS: Final = re.compile(rb"""//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""", re.DOTALL)
"""Comments, or literals, which may hold what looks like one."""

WORDS: Final = bytes(each if (chr(each).isalnum() and each < 128) or each in b"_$" else 32 for each in range(256))
"""Turns what stands between words into spaces."""


class Precompiled(NamedTuple):
    """A file for ``-include-pch``, and what is recorded of it."""

    path: Path
    record: StandardRecord
    kept: KeptFiles
    consumers: str

    def refuse(self) -> None:
        """Remember that for these headers they make a difference."""
        with suppress(OSError):  # next time that is found out again
            self.kept.mark(self.consumers)


class StandardText(NamedTuple):
    """Headers by their names, and how they are parsed. ``memory`` are files that are read from there.

    ``system`` are the folders below which all must lie, ``canonical`` takes the links out of a path. ``consumers`` is a
    digest of the headers that include them.
    """

    names: Sequence[str]
    arguments: Sequence[str]
    memory: Mapping[str, str]
    system: Sequence[Path]
    canonical: Callable[[str], str]
    consumers: str


def precompiled(text: StandardText) -> Precompiled | None:
    """The headers as they are kept, or made where they were asked for before; ``None`` where there are none."""
    kept = kept_files()
    if kept is None:
        return None
    key = _key(text)
    consumers = f"{key}-{text.consumers}"
    if kept.is_marked(consumers):
        return None
    with suppress(OSError):  # a full disk: the headers are parsed with all others
        found = _known(kept, key) or (_made(kept, key, text) if kept.count(key) >= USES else None)
        return None if found is None else Precompiled(*found, kept, consumers)
    return None


def _key(text: StandardText) -> str:
    """What all that decides what the headers mean comes to, but for the files themselves."""
    parts = [
        FORMAT,
        clang.full_version(),
        repr(list(text.arguments)),
        repr(list(text.names)),
        repr(sorted(text.memory.items())),
    ]
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _known(kept: KeptFiles, key: str) -> tuple[Path, StandardRecord] | None:
    data = kept.record(key)
    if data is None:
        return None
    try:
        record = msgspec.json.decode(data, type=StandardRecord)
    except msgspec.MsgspecError:
        return None
    path = kept.file(key, record.digest) if record.is_current() else None
    return None if path is None else (path, record)


def _made(kept: KeptFiles, key: str, text: StandardText) -> tuple[Path, StandardRecord] | None:
    """Parse them and keep that."""
    source = "".join(f"#include <{name}>\n" for name in text.names)
    unit = clang.parsed(PREFIX, source, text.arguments, text.memory, prefix=True)
    if unit is None or any(clang.errors(unit)):
        return None
    includes = list(_includes(unit, text.canonical))
    paths = {each.file for each in includes}
    if not all(any(Path(path).is_relative_to(folder) for folder in text.system) for path in paths):
        return None
    states = {path: state(path) for path in sorted(paths)}
    parsed = {text.canonical(name): held for name, held in clang.included_texts(unit) if name not in text.memory}
    if any(Path(path).read_bytes() != held for path, held in parsed.items()):
        return None  # what was changed since it was parsed would pass for it from now on
    new = kept.begin()
    unit.save(str(new))
    digest, path = kept.keep(key, new)
    record = _recorded((digest, path), includes, text, states)
    kept.note(key, msgspec.json.encode(record))
    return path, record


class _Include(NamedTuple):
    by: str
    name: str
    file: str


def _includes(unit: clang.TranslationUnit, canonical: Callable[[str], str]) -> Iterator[_Include]:
    """Each inclusion, also of what was included before."""
    lib = libclang()
    paths: dict[int | None, str] = {}

    def path(file: int | None) -> str:
        if file not in paths:
            paths[file] = canonical(lib.text(lib.getFileName(file))) if file is not None else ""
        return paths[file]

    for each in lib.top(unit):
        if each.kind == cursors.INCLUSION and (file := lib.getIncludedFile(each)):
            by, _, _ = lib.place(lib.getCursorLocation(each))
            yield _Include(path(by), lib.spelling(each), path(file))


def _recorded(
    kept: tuple[str, Path], includes: Sequence[_Include], text: StandardText, states: Mapping[str, State]
) -> StandardRecord:
    digest, path = kept
    texts = {file: Path(file).read_bytes() for file in sorted({each.file for each in includes})}
    words = sorted({word.decode() for data in texts.values() for word in words_of(COMMENTS.sub(rb" \1", data))})
    usual = frozenset(_defined(words, text, ()))
    defined = {file: set(DEFINED.findall(data.decode(errors="replace"))) for file, data in texts.items()}
    macros = [name for name in _defined(words, text, ("-include-pch", str(path))) if name not in usual]
    asked = {name.decode(errors="surrogateescape"): () for data in texts.values() for name in ASKED.findall(data)}
    names = asked | _grouped((each.name, each.file) for each in includes)
    return StandardRecord(
        digest=digest,
        headers=tuple(dict.fromkeys(each.file for each in includes if each.by == PREFIX)),
        files=states,
        folders=searched(names, map(str, text.system)),
        includes=_grouped((each.by, each.file) for each in includes),
        names=names,
        words=frozenset(words),
        usual=usual,
        macros={name: tuple(file for file in texts if name in defined[file]) for name in macros},
    )


def words_of(text: bytes) -> set[bytes]:
    """The words of a file, those in its comments too."""
    return set(text.translate(WORDS).split())


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}


def _defined(names: Sequence[str], text: StandardText, more: Sequence[str]) -> Iterator[str]:
    """Which of ``names`` are macros, as the compiler itself tells."""
    asked = "".join(f"#ifdef {name}\nint abistore_{name};\n#endif\n" for name in names if not name[0].isdigit())
    unit = clang.parsed("/abistore/defined.cpp", asked, [*text.arguments, *more], text.memory)
    lib = libclang()
    for each in lib.top(unit) if unit is not None else ():
        if each.kind == cursors.VARIABLE:
            yield lib.spelling(each).removeprefix("abistore_")


NEVER: Final = 1 << 62
MOST_BYTES: Final = 4 << 20
"""How large a file may be of which the words are looked at."""

Canonical = Callable[[str], str]
Public = Callable[[str], str | None]


def is_indifferent(unit: clang.TranslationUnit, record: StandardRecord, canonical: Canonical, public: Public) -> bool:
    """Whether the unit, which goes on from the headers of ``record``, would be the same if it had included them itself.

    Precondition: the unit includes every header of ``record``. ``public`` maps a path without links, as ``canonical``
    gives it, to the library's own header there, if any.
    """
    return _Order(unit, record, canonical, public).is_indifferent()


class _Order:
    """The files of a unit, and when in it each file of the library was included for the first time."""

    def __init__(
        self, unit: clang.TranslationUnit, record: StandardRecord, canonical: Canonical, public: Public
    ) -> None:
        self._lib: LibClang = libclang()
        self._record = record
        self._canonical = canonical
        self._public = public
        self._text = SourceText(self._lib, unit.obj)
        self._defining = {name.encode(): files for name, files in record.macros.items()}
        self._paths: dict[int | None, str] = {None: ""}
        self._entered: dict[int, int] = {}
        self._directives: dict[int, list[tuple[int, int]]] = {}
        self._sorted: dict[int, tuple[list[int], list[int]]] = {}
        self._first: dict[str, int] = {}
        top = self._lib.top(unit)
        self._macros = [each for each in top if each.kind == cursors.MACRO]
        self._read([each for each in top if each.kind == cursors.INCLUSION])

    def _read(self, inclusions: Sequence[Cursor]) -> None:
        """Note each inclusion: in which file and where, and what can be seen from then on."""
        lib = self._lib
        for number, each in enumerate(inclusions):
            by, _, offset = lib.place(lib.getCursorLocation(each))
            file = lib.getIncludedFile(each)
            if by is not None:
                self._directives.setdefault(by, []).append((offset, number))
            if file is None:
                continue
            path = self._path(file)
            if path not in self._record.files:
                self._entered.setdefault(file, number)
            elif path not in self._first:
                for found in self._record.reached([path]):
                    self._first.setdefault(found, number)

    def _path(self, file: int) -> str:
        if file not in self._paths:
            self._paths[file] = self._canonical(self._lib.text(self._lib.getFileName(file)))
        return self._paths[file]

    def is_indifferent(self) -> bool:
        if not all(header in self._first for header in self._record.headers):
            return False
        if not self._record.words.isdisjoint(map(self._lib.spelling, filter(self._is_own, self._macros))):
            return False
        return all(self._is_sound(file) for file in self._entered)

    def _is_own(self, macro: Cursor) -> bool:
        """Whether no header of the system defines a macro. Those of C mean the same in any order, too."""
        location = self._lib.getCursorLocation(macro)
        file, _, _ = self._lib.place(location)
        return file is not None and (
            self._public(self._path(file)) is not None or not self._lib.Location_isInSystemHeader(location)
        )

    def _is_sound(self, file: int) -> bool:
        text = self._text.file(file)
        if len(text) > MOST_BYTES:
            return False
        if any(match[1].decode() in self._record.usual for match in UNDEFINED.finditer(text)):
            return False
        met = self._defining.keys() & words_of(text)
        return not met or self._are_seen(file, met, text)

    def _are_seen(self, file: int, macros: Iterable[bytes], text: bytes) -> bool:
        """Whether each of ``macros`` that is used in a file was defined by then without what was read before."""
        since = {
            name: min((self._first.get(each, NEVER) for each in self._defining[name]), default=NEVER) for name in macros
        }
        if max(since.values()) <= self._entered[file]:
            return True
        return all(
            self._latest(file, match.start()) >= since[match[0]] for match in TOKEN.finditer(text) if match[0] in since
        )

    def _latest(self, file: int, offset: int) -> int:
        """The last inclusion that surely came before a place of a file."""
        if file not in self._sorted:
            found = sorted(self._directives.get(file, ()))
            latest = accumulate((number for _, number in found), max, initial=self._entered[file])
            self._sorted[file] = [place for place, _ in found], list(latest)
        places, latest_before = self._sorted[file]
        return latest_before[bisect_left(places, offset)]
