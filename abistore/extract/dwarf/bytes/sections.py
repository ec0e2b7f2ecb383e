"""The debug sections of one file, read when first needed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from abistore.extract.dwarf.bytes.strings import StringTable
from abistore.extract.dwarf.bytes.tables import read_table

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
    from abistore.extract.dwarf.bytes.debug_file import DebugFile
    from abistore.extract.dwarf.bytes.forms import UnitFormat


class DebugSections:
    """The debug sections of ``file``; with ``suffix`` ``.dwo`` those of a split DWARF file."""

    def __init__(self, file: DebugFile, suffix: Literal["", ".dwo"] = "") -> None:
        self.file = file
        self.suffix = suffix
        self.prefix = "<" if file.little else ">"
        self.order: Literal["little", "big"] = "little" if file.little else "big"
        self._bytes: dict[str, bytes] = {}
        self._tables: dict[tuple[int, UnitFormat], list[Abbreviation]] = {}

    def read(self, name: str) -> bytes:
        """The bytes of ``.debug_<name>``, empty where absent; in split files, of all sections of that name."""
        data = self._bytes.get(name)
        if data is None:
            full = f".debug_{name}{self.suffix}"
            data = b"".join(self.file.sections_named(full)) if self.suffix else self.file.section(full)
            self._bytes[name] = data
        return data

    def close(self) -> None:
        """Forgets what was read."""
        self._bytes.clear()
        for name in ("strings", "line_strings"):
            if name in vars(self):
                vars(self)[name].close()

    @property
    def info(self) -> bytes:
        """The units."""
        return self.read("info")

    @property
    def types(self) -> bytes:
        """The type units of DWARF 4."""
        return self.read("types")

    def is_types(self, data: bytes) -> bool:
        """Whether ``data`` is .debug_types."""
        return data is self.types and bool(data)

    @cached_property
    def strings(self) -> StringTable:
        """The strings of .debug_str."""
        return StringTable(self.read("str"))

    @cached_property
    def line_strings(self) -> StringTable:
        """The strings of .debug_line_str, which split files share with none."""
        return StringTable(self.read("line_str"))

    def table(self, offset: int, format: UnitFormat) -> list[Abbreviation]:
        """The abbreviation table at ``offset``."""
        key = (offset, format)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = read_table(self.read("abbrev"), offset, format)
        return table
