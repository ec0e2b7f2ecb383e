"""Whether headers mean the same where those of the C++ library are read before them all.

They do unless a macro says otherwise: one of theirs that such a header would have met, or one of such a header that
they would not have met yet.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final

from abistore.extract.headers import clang
from abistore.extract.headers.standard.precompiled import words_of
from abistore.extract.headers.standard.record import StandardRecord
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.walk.written.macros import UNDEFINED
from abistore.extract.headers.walk.written.tokens import TOKEN, SourceText

NEVER: Final = 1 << 62
MOST_BYTES: Final = 4 << 20
"""How large a file may be of which the words are looked at."""

Path = Callable[[str], str]
Public = Callable[[str], str | None]


def is_indifferent(unit: clang.TranslationUnit, record: StandardRecord, canonical: Path, public: Public) -> bool:
    """Whether the unit, which goes on from the headers of ``record``, would be the same if it had included them itself.

    It must include them all: what it does not include must not be there. ``public`` tells of a file's path without
    links, as ``canonical`` gives it, which of the library's own headers it is, if any.
    """
    return _Order(unit, record, canonical, public).is_indifferent()


class _Order:
    """The files of a unit, and when in it each file of the library was included for the first time."""

    def __init__(self, unit: clang.TranslationUnit, record: StandardRecord, canonical: Path, public: Public) -> None:
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
        self._macros = [each for each in top if each.kind == kinds.MACRO]
        self._read([each for each in top if each.kind == kinds.INCLUSION])

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
        """Whether all headers were included, and no macro matters."""
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
