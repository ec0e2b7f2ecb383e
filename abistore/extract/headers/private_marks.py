"""Comments that mark members of a struct as private, by the rules of three documentation tools."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from abistore.extract.headers import cursors
from abistore.extract.headers.collected import PublicFiles
from abistore.extract.headers.cursors import Cursor, LibClang
from abistore.extract.headers.tokens import SourceText

_PIECE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|[{}]", re.DOTALL)
_MARK: Final = re.compile(
    rb"""/\*\s*<\s*(?P<gtk>private|public|protected)\s*>\s*\*/      # gtk-doc: /*< private >*/
    | /\*\s*(?P<kernel>private|public):                            # kernel-doc: /* private: */
    | /[/*]{2}[!*/<\s]*[@\\](?P<doxygen>private|public|protected)section\b  # Doxygen: /** @privatesection */
    """,
    re.VERBOSE,
)
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MEMBER: Final = re.compile(rb"(?:->|\.)\s*([A-Za-z_]\w*)")


class PrivateMarks:
    """The members of public structs behind such a mark, which C has no other words for.

    A mark is valid up to the next one, in its own braces. Members that the code of public headers uses are none: the
    macros and inline functions that programs compile need them where they lie.
    """

    def __init__(self, lib: LibClang, text: SourceText, files: PublicFiles, top: Iterable[Cursor]) -> None:
        self._lib, self._text, self._files, self._top = lib, text, files, top

    def of(self, record: Cursor, fields: Iterable[Cursor]) -> frozenset[str]:
        """The names of the members of a record that are marked."""
        file, begin, end = self._text.extent(record)
        if file is None or not self._files.is_public_file(file):
            return frozenset()
        marks = list(_marks(self._text.between(file, begin, end)))
        if not any(private for _, private in marks):
            return frozenset()
        places = [place for place, _ in marks]
        found = {
            self._lib.spelling(field)
            for field in fields
            if (before := bisect(places, self._offset(field) - begin)) and marks[before - 1][1]
        }
        return frozenset(found) - self._used

    def _offset(self, field: Cursor) -> int:
        return self._lib.place(self._lib.getCursorLocation(field))[2]

    @cached_property
    def _used(self) -> frozenset[str]:
        """The members of anything that code in public headers uses."""
        included = {self._lib.getIncludedFile(each) for each in self._top if each.kind == cursors.INCLUSION}
        texts = (_COMMENT.sub(b" ", self._text.file(file)) for file in filter(self._files.is_public_file, included))
        return frozenset(member.decode() for text in texts for member in _MEMBER.findall(text))


def _marks(text: bytes) -> Iterator[tuple[int, bool]]:
    """Where a record's own marks stand in its text, and whether what follows is private."""
    if b"private" not in text:
        return
    depth = 0
    for piece in _PIECE.finditer(text):
        if piece[0] in (b"{", b"}"):
            depth += 1 if piece[0] == b"{" else -1
        elif depth == 1 and (mark := _MARK.match(piece[0])):
            yield piece.start(), b"private" in (mark["gtk"], mark["kernel"], mark["doxygen"])
