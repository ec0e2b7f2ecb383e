"""Texts of ours that are read behind the headers of a unit, which were parsed once and are not parsed again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from abistore.extract.headers import clang
from abistore.extract.headers.language import Reading
from abistore.extract.headers.parsing import HeaderParser, HeaderUnit
from abistore.extract.headers.umbrella import UMBRELLA, umbrella

FILE: Final = "/abistore/behind.cpp"
"""What such a text is called. It is on no disk."""

_WITH_ERRORS: Final = ("-Xclang", "-fallow-pch-with-compiler-errors")


class TextBehind(NamedTuple):
    """A unit that was made of such a text. Its line 1 is the one behind ``before`` of ``file``."""

    unit: clang.TranslationUnit
    file: str
    before: int

    def lines_with_errors(self) -> dict[int, clang.Diagnostic]:
        """The first error that each line of the text has or leads to."""
        return {line - self.before: said for line, said in clang.lines_with_errors(self.unit, self.file).items()}


class BehindUnit:
    """Reads texts behind a unit, which is written to a file of ``folder`` for the first of them."""

    def __init__(self, parser: HeaderParser, reading: Reading, unit: HeaderUnit, folder: Path) -> None:
        self.parser = parser
        self.reading = reading
        self.unit = unit
        self._path = folder / "unit.ast"

    def read(self, text: str, *, bodies: bool = False) -> TextBehind:
        """The unit that ``text`` makes; without ``bodies`` those of functions are passed over."""
        found = self._on_saved(text, bodies=bodies)
        if found is not None:
            return TextBehind(found, FILE, 0)
        again = self.parser.with_text(self.reading, self.unit, text, bodies=bodies)
        return TextBehind(again.unit, UMBRELLA[self.reading.language], self._headers.count("\n"))

    @property
    def _headers(self) -> str:
        return umbrella(self.unit.headers, expected=self.unit.expected)

    def _on_saved(self, text: str, *, bodies: bool) -> clang.TranslationUnit | None:
        """``None`` where the unit cannot be gone on from, as where arguments include further files."""
        if not self._path.exists() and not clang.saved(self.unit.unit, str(self._path)):
            return None
        invocation = self.parser.invocation
        arguments = [*invocation.arguments(self.reading), "-include-pch", str(self._path), *_WITH_ERRORS]
        files = {
            **invocation.toolchain.replaced,
            **invocation.edited,
            UMBRELLA[self.reading.language]: self._headers,
        }
        found = clang.parsed(FILE, text, arguments, files, bodies=bodies)
        refused = found is None or any(each.fatal and each.file != FILE for each in clang.errors(found))
        return None if refused else found


@contextmanager
def behind(parser: HeaderParser, reading: Reading, unit: HeaderUnit) -> Iterator[BehindUnit]:
    """Reads texts behind a unit; what that needs on the disk is removed in the end."""
    with TemporaryDirectory(prefix="abistore-") as folder:
        yield BehindUnit(parser, reading, unit, Path(folder))
