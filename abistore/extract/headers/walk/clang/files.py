"""Which file of a translation unit a declaration stands in, and what that file is to the library."""

from __future__ import annotations

from collections.abc import Callable

from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.model.snapshot import Location


class PublicFiles:
    """The given headers. Files are told apart by libclang's handles: each is asked about once."""

    def __init__(self, lib: LibClang, public: Callable[[str], str | None]) -> None:
        self._lib = lib
        self._public = public
        self._files: dict[int | None, str | None] = {None: None}

    def place(self, cursor: Cursor) -> Location | None:
        """Where a public declaration stands; ``None`` for one of another file."""
        file, line, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        name = self._files[file] if file in self._files else self._name(file)
        return None if name is None else Location(name, line)

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration may be the library's: it is public, or no part of the system."""
        if self.place(cursor) is not None:
            return True
        return not self._lib.Location_isInSystemHeader(self._lib.getCursorLocation(cursor))

    def _name(self, file: int | None) -> str | None:
        found = self._files[file] = self._public(self._lib.text(self._lib.getFileName(file)))
        return found
