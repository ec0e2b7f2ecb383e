"""String sections as lazily decoded tables: every string is decoded once."""

from __future__ import annotations

from collections.abc import Callable

from abistore.extract.dwarf.bytes.faults import MalformedDwarf


class StringTable(dict[int, str]):
    """The strings of one section, by their offset in it."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data

    def close(self) -> None:
        """Forgets the section; the strings live on where they are used."""
        self.clear()
        self.data = b""

    def __missing__(self, offset: int) -> str:
        data = self.data
        if not 0 <= offset < len(data):
            raise MalformedDwarf(f"string offset {offset:#x} lies outside its section")
        text = self[offset] = data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")
        return text


class NoStrings(StringTable):
    """Stands for the strings of a file that was not found: all empty."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(b"")

    def __missing__(self, offset: int) -> str:
        return ""


class IndexedStrings(dict[int, str]):
    """The strings of one unit, by their index in its string offsets table (DWARF 5, section 7.26)."""

    __slots__ = ("offset_of", "strings")

    def __init__(self, strings: StringTable, offset_of: Callable[[int], int]) -> None:
        super().__init__()
        self.strings = strings
        self.offset_of = offset_of

    def __missing__(self, index: int) -> str:
        text = self[index] = self.strings[self.offset_of(index)]
        return text
