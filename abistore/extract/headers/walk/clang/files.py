"""Which file of a translation unit a declaration stands in, and what that file is to the library."""

from __future__ import annotations

from ctypes import byref, c_size_t
from typing import Any, Protocol

from abistore.extract.headers.walk.clang.cursors import MACROS, Cursor, LibClang, SourceLocation
from abistore.model.snapshot import Location


class HeaderNames(Protocol):
    """What files are called that libclang names."""

    def public(self, path: str, /) -> str | None:
        """The name of a file where it is one of the given headers."""

    def beside(self, path: str, /, *, system: bool) -> str | None:
        """That of one beside a given header or below. ``system``: it was found where the system's headers are."""

    def surrounds(self, path: str, /) -> bool:
        """Whether a file lies in a folder of given headers, or below, public or not."""


class PublicFiles:
    """The given headers. Files are told apart by libclang's handles: each is asked about once.

    Most of what a unit holds stands in files of others, one thing behind the other: the last such file is kept by
    where it begins and ends among the places of the unit, and what stands there needs no further question.
    """

    def __init__(self, lib: LibClang, names: HeaderNames, unit: Any) -> None:
        self._lib = lib
        self._unit = unit
        self._names = names
        self._files: dict[int | None, str | None] = {None: None}
        self._given: dict[int | None, bool] = {None: False}
        self._around: dict[int | None, bool] = {None: False}
        self._beside = False
        self._foreign = 0, 0

    def take_those_beside(self) -> None:
        """From now on what lies beside a given header is public as well."""
        self._files = {file: name for file, name in self._files.items() if file is None or name is not None}
        self._beside = True
        self._foreign = 0, 0

    def place(self, cursor: Cursor) -> Location | None:
        """Where a public declaration stands; ``None`` for one of another file."""
        location = self._lib.getCursorLocation(cursor)
        if self._foreign[0] <= location.data < self._foreign[1]:
            return None
        file, line, offset = self._lib.place(location)
        name = self._files[file] if file in self._files else self._name(file, location)
        if name is not None:
            return Location(name, line)
        if file is not None and location.data < MACROS:
            begin = location.data - offset
            self._foreign = begin, begin + self._size(file)
        return None

    def is_public_file(self, file: int | None) -> bool:
        """Whether a file of the unit is one of the given headers."""
        if not file:
            return False
        if file not in self._files:
            self._name(file, self._lib.getLocationForOffset(self._unit, file, 0))
        return self._files[file] is not None

    def is_given(self, cursor: Cursor) -> bool:
        """Whether a declaration stands in one of the given headers, whatever lies beside them."""
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        if file not in self._given:
            self._given[file] = self._names.public(self._lib.text(self._lib.getFileName(file))) is not None
        return self._given[file]

    def _size(self, file: int) -> int:
        size = c_size_t()
        self._lib.getFileContents(self._unit, file, byref(size))
        return size.value

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration may be the library's: it stands beside public ones, or is no part of the system."""
        if self.place(cursor) is not None:
            return True
        location = self._lib.getCursorLocation(cursor)
        if not self._lib.Location_isInSystemHeader(location):
            return True
        file, _, _ = self._lib.place(location)
        if file not in self._around:
            self._around[file] = self._names.surrounds(self._lib.text(self._lib.getFileName(file)))
        return self._around[file]

    def is_own_file(self, file: int, location: SourceLocation) -> bool:
        """Whether a file may be the library's, of which ``location`` is a place."""
        public = self._files[file] if file in self._files else self._name(file, location)
        return public is not None or not self._lib.Location_isInSystemHeader(location)

    def _name(self, file: int | None, location: SourceLocation) -> str | None:
        path = self._lib.text(self._lib.getFileName(file))
        found = self._names.public(path)
        if found is None and self._beside:
            found = self._names.beside(path, system=bool(self._lib.Location_isInSystemHeader(location)))
        self._files[file] = found
        return found
