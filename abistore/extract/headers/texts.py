"""The texts of headers: unchanged while they are read, their digests, and which headers they include."""

from __future__ import annotations

import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from abistore.errors import HeaderError, PathDenied
from abistore.extract.headers.clang import IncludedFile, contents
from abistore.extract.headers.cursors import CLASSES, ENUM, INCLUSION, LINKAGE, NAMESPACE, Cursor, libclang
from abistore.extract.headers.given import GivenHeaders
from abistore.extract.headers.precompiled import StandardRecord
from abistore.files import READ, open_file

MOST_TEXT: Final = 1 << 20
"""How much of a header is looked at to tell its language."""

CLOCK: Final = 20_000_000
"""Nanoseconds by which the times of files may stand behind the clock: kernels stamp them by ticks."""

HINT: Final = "read them again after their build or installation has finished"


class ReadTexts:
    """The texts of headers, by path. Headers are read several times; :meth:`check` tells whether that was all one."""

    def __init__(self) -> None:
        self.standard: StandardRecord | None = None
        """Headers of the C++ library that were parsed before, and gone on from."""
        self._texts: dict[str, bytes] = {}
        self._differing: dict[str, None] = {}
        self._began = time.time_ns() - CLOCK

    def beginning(self, path: Path) -> str:
        """The beginning of a header. Raises :class:`HeaderError`."""
        try:
            with os.fdopen(open_file(path), "rb") as file:
                text = file.read(MOST_TEXT)
        except OSError as error:
            raise HeaderError(f"{path}: cannot be read: {error.strerror}", "check its permissions") from None
        self.note(str(path), text)
        return text.decode(errors="replace")

    def beginning_if_readable(self, path: Path) -> str:
        """The beginning of an included header; empty if unreadable, as libclang reports that."""
        try:
            return self.beginning(path)
        except (HeaderError, PathDenied):
            return ""

    def note(self, path: str, text: bytes) -> None:
        """Remember the text that a reading of a file, or of its beginning, had."""
        known = self._texts.get(path)
        if known is None or _agree(known, text):
            self._texts[path] = text if known is None or len(text) > len(known) else known
        else:
            self._differing[path] = None

    def check(self, folders: Iterable[Path]) -> None:
        """Raise :class:`HeaderError` where a file had two texts, has changed, or another file now hides it.

        ``folders`` are searched for headers, in this order. Messages name a file from the one that it is below.
        """
        folders = tuple(folders)
        changed = next(iter(self._differing), None) or next(
            (path for path, text in self._texts.items() if not _agree(text, _now(path, len(text)))), None
        )
        if changed is not None:
            raise HeaderError(f"{_name_below(changed, folders)}: changed while the headers were read", HINT)
        if came := self._came(folders):
            raise HeaderError(f"{_name_below(came, folders)}: added while the headers were read", HINT)
        if self.standard is not None and not self.standard.is_current():
            raise HeaderError("the headers of the C++ library were changed while the headers were read", HINT)

    def _came(self, folders: Sequence[Path]) -> str | None:
        """A new file that would hide one that was read."""
        searched = [os.path.realpath(folder).rstrip("/") + "/" for folder in folders]
        for real in map(os.path.realpath, self._texts if len(searched) > 1 else ()):
            for number, folder in enumerate(searched):
                name = real.removeprefix(folder)
                for other in (before + name for before in searched[:number] if name != real):
                    if other not in self._texts and _changed(other) >= self._began:
                        return other
        return None


def check_listed(before: GivenHeaders, after: GivenHeaders) -> None:
    """Raise :class:`HeaderError` where the given paths lead to other headers than they did."""
    was, now = ({each.name: each.path for each in given.headers} for given in (before, after))
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            what = "added" if name not in was else "removed" if name not in now else "moved to another path"
            raise HeaderError(f"{name}: {what} while the headers were read", HINT)


def _agree(one: bytes, other: bytes | None) -> bool:
    """Whether two readings are of the same text: one of them may be its beginning."""
    if other is None:
        return False
    short, long = sorted((one, other), key=len)
    return long.startswith(short) if len(short) == MOST_TEXT else short == long


def _now(path: str, expected: int) -> bytes | None:
    """What a file holds, as far as it matters beside ``expected`` bytes; ``None`` where it is none any more."""
    with suppress(OSError, ValueError):
        descriptor = os.open(path, READ)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file.read(max(expected, MOST_TEXT) + 1)
    return None


def _changed(path: str) -> int:
    """When a file came or was changed, in nanoseconds; 0 where there is none."""
    try:
        return Path(path).stat().st_ctime_ns
    except (OSError, ValueError):
        return 0


def _name_below(path: str, folders: Iterable[Path]) -> str:
    real = Path(os.path.realpath(path))
    for folder in map(Path, map(os.path.realpath, folders)):
        if real.is_relative_to(folder) and real != folder:
            return real.relative_to(folder).as_posix()
    return Path(path).name


Canonical = Callable[[str], str]
"""Where a file is, without links."""

Named = Callable[[str], str | None]
"""What a file is called that was given; ``None`` for any other."""

_ONCE: Final = re.compile(
    r"^[ \t]*#[ \t]*(?:ifndef[ \t]+|if[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(?P<guard>\w+)[^\n]*\n"
    r"\s*#[ \t]*include[ \t]*[<\"](?P<name>[^\">\n]+)[\">]",
    re.MULTILINE,
)
"""An include that is left out where the file was read before: ``#ifndef FOO_H`` before ``#include "foo.h"``."""

Includes = Mapping[str, Set[str]]
"""The files that each file includes, as paths without links."""


def include_graph(units: Iterable[Any], real: Canonical) -> Includes:
    """The files that each file includes, repeated includes counted too."""
    includes = dict[str, set[str]]()
    for unit in units:
        for by, file in _directives(unit, real):
            includes.setdefault(by, set()).add(file)
    return includes


def inclusions(includes: Includes, named: Named, texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The given headers that each of these includes; ``texts`` are those of all given headers by their names."""
    names = {
        file: name for file in {*includes, *_values(includes)} if (name := named(file)) is not None and name in texts
    }
    leading = _leading(includes, names)
    found = {name: set(_given(file, includes, names, leading)) for file, name in names.items()}
    for name, text in texts.items():
        found.setdefault(name, set()).update(_once(name, text, texts))
    return {name: tuple(sorted(each - {name})) for name, each in sorted(found.items()) if each - {name}}


def files_behind(start: str, includes: Includes, given: Container[str], own: Callable[[str], bool]) -> frozenset[str]:
    """The ``own`` files that a header includes without passing through a given one."""
    found, pending = set[str](), [start]
    while pending:
        more = {file for file in includes.get(pending.pop(), ()) if file not in given and own(file)} - found
        found |= more
        pending += more
    return frozenset(found)


def _directives(unit: Any, real: Canonical) -> Iterator[tuple[str, str]]:
    lib, known = libclang(), dict[int, str]()

    def path(file: int) -> str:
        if file not in known:
            known[file] = real(lib.text(lib.getFileName(file)))
        return known[file]

    for by, _, file in directives(unit):
        yield path(by), path(file)


def directives(unit: Any) -> Iterator[tuple[int, int, int]]:
    """Each include that the preprocessor followed: file and offset of its directive, and the included file."""
    lib = libclang()
    for each in lib.top(unit):
        if each.kind == INCLUSION and (file := lib.getIncludedFile(each)):
            by, _, offset = lib.place(lib.getCursorLocation(each))
            if by:
                yield by, offset, file


def _values(includes: Mapping[str, Iterable[str]]) -> Iterator[str]:
    return (file for files in includes.values() for file in files)


def _leading(includes: Mapping[str, Iterable[str]], names: Mapping[str, str]) -> set[str]:
    """The files that lead to a given header; system headers lead to none."""
    included_by = dict[str, list[str]]()
    for by, files in includes.items():
        for file in files:
            included_by.setdefault(file, []).append(by)
    found, pending = set[str](), list(names)
    while pending:
        for by in included_by.get(pending.pop(), ()):
            if by not in found:
                found.add(by)
                pending.append(by)
    return found


def _given(
    start: str, includes: Mapping[str, Iterable[str]], names: Mapping[str, str], leading: set[str]
) -> Iterator[str]:
    seen, pending = {start}, [start]
    while pending:
        for file in includes.get(pending.pop(), ()):
            if file in names:
                yield names[file]
            elif file in leading and file not in seen:
                seen.add(file)
                pending.append(file)


def _once(name: str, text: str, texts: Mapping[str, str]) -> Iterator[str]:
    """The headers that a header includes only if their guard is undefined."""
    for match in _ONCE.finditer(text):
        defines = re.compile(rf"#[ \t]*define[ \t]+{match['guard']}\b")
        for other in _may_mean(name, match["name"], texts):
            if defines.search(texts[other]):
                yield other


def _may_mean(by: str, name: str, texts: Mapping[str, str]) -> Sequence[str]:
    """The given headers that an include may mean: the one beside it, else all whose names end so."""
    beside = by.rpartition("/")[0] + "/" + name if "/" in by else name
    return [beside] if beside in texts else [each for each in texts if f"/{each}".endswith(f"/{name}")]


_AROUND: Final = frozenset({NAMESPACE, LINKAGE, ENUM, *CLASSES})


def fragments(unit: Any, entered: Iterable[IncludedFile], named: Named) -> frozenset[str]:
    """The given headers that another given one includes within a namespace, a class, an enumeration or ``extern "C"``.

    ``namespace casadi { #include "runtime.hpp" }`` makes members of the namespace of what that header declares; read
    by itself too, it would declare them all once more at global scope. What such a header includes in turn is
    in the same place, where it is read each time that it is included: ``entered`` are the files that the parser read.
    One that says ``extern "C"`` to C++ by itself declares the same wherever it is included.
    """
    found = set(_within_declarations(unit, named))
    if not found:
        return frozenset()
    entries = [(file, named(each.by)) for each in entered if (file := named(each.file)) is not None]
    times = Counter(file for file, _ in entries)
    while more := {file for file, by in entries if by in found and times[file] > 1} - found:
        found |= more
    return frozenset(found)


def _within_declarations(unit: Any, named: Named) -> Iterator[str]:
    """Headers included inside a declaration; a header that includes itself is none."""
    known = lru_cache(None)(lambda file: named(libclang().text(libclang().getFileName(file))))
    between = dict[int, list[tuple[int, int, str]]]()
    for by, offset, file in directives(unit):
        if (name := known(file)) is not None and known(by) not in (None, name):
            between.setdefault(by, []).append((offset, file, name))
    for around in libclang().top(unit) if between else ():
        if around.kind in _AROUND:
            by, begin, end = _extent_of(around)
            for offset, file, name in between.get(by, ()):
                if begin < offset < end and not (around.kind == LINKAGE and _says_linkage(unit, file)):
                    yield name


def _extent_of(cursor: Cursor) -> tuple[int, int, int]:
    """The file and offsets between which a declaration stands; an empty extent where it ends in another file."""
    lib = libclang()
    extent = lib.getCursorExtent(cursor)
    file, _, begin = lib.place(lib.getRangeStart(extent))
    last, _, end = lib.place(lib.getRangeEnd(extent))
    return (file or 0, begin, end) if file == last else (0, 0, 0)


def _says_linkage(unit: Any, file: int) -> bool:
    """Whether a header tells C++ apart, as it does for its own ``extern "C"``."""
    return b"__cplusplus" in contents(unit, file)
